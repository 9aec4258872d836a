"""`memfas install` and `memfas uninstall`: into the settings of an agent host, and out of them."""

from __future__ import annotations

import json as json_text
import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import agent_of
from agent_memfas.cli.calling import program
from agent_memfas.cli.session import Agent, DryRun, Json, Root
from agent_memfas.errors import MemfasError, UsageError
from agent_memfas.hooks.hosts import HOSTS, SERVER, Piece, pieces, put_in, take_out
from agent_memfas.store import hosted
from agent_memfas.store.places import MARKS, OWN, has_any, nearest

PANEL = "Connect"
Host = Annotated[str, typer.Argument(metavar="HOST", help=f"{', '.join(HOSTS)}, or mcp.")]
Project = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--project", metavar="DIR", help="Only for this project (else for all)."),
]
AFTER = {
    "claude-code": "restart open sessions of Claude Code",
    "codex": "in Codex, /hooks shows the new hooks: they run once you trust them",
    "cursor": "Cursor asks once whether it may use the server",
}


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("install", rich_help_panel=PANEL)(install)
    app.command("uninstall", rich_help_panel=PANEL)(uninstall)
    app.command("hook", rich_help_panel=PANEL)(hook)


def hook(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="session-start, user-prompt-submit, pre-compact, "
                            "stop or session-end; its JSON comes on standard input.")
    ],
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Who calls.")] = HOSTS[0],
    agent: Agent = None,
    root: Root = None,
) -> None:  # fmt: skip
    """What agent hosts call; see memfas install. Always ends with status 0."""
    from agent_memfas.cli import hooking

    given = [f"--host={host}", *([f"--root={root}"] if root else [])]
    hooking.run([event, *given, *([f"--agent={agent}"] if agent else [])])


def install(
    host: Host, project: Project = None, agent: Agent = None, root: Root = None,
    dry_run: DryRun = False, json: Json = False,
) -> None:  # fmt: skip
    """Add memfas to an agent host: hooks and the MCP server. `mcp` shows what any client needs."""
    memory = _memory(root, project)
    if host == "mcp":
        piece = pieces("cursor", program(), memory, agent_of(agent), _homes(), "")[0]
        out.block(json_text.dumps({"mcpServers": {"memfas": piece.value}}, indent=2))
        return
    found = _pieces(host, project, memory, agent)
    # All are tried before the first is written: a file that cannot be changed stops the others.
    for piece in found:
        hosted.change(piece.file, _state(), partial(put_in, piece), dry_run=True)
    done = [
        hosted.change(piece.file, _state(), partial(put_in, piece), dry_run=dry_run)
        for piece in found
    ]
    if json:
        out.data({"host": host, "root": memory, "files": [vars(one) for one in done],
                  "dry_run": dry_run})  # fmt: skip
        return
    for piece, one in zip(found, done, strict=True):
        what = "the MCP server" if piece.kind == SERVER or piece.file.endswith(".toml") else "hooks"
        verb = "would get" if dry_run and one.changed else "has" if one.changed else "had"
        out.say(f"{'[DRY RUN] ' if dry_run else '✓ '}{one.file} {verb} {what}")
    out.say(f"memory: {memory or 'that of the folder the host works in'}")
    out.tell(AFTER[host])


def uninstall(
    host: Host, project: Project = None, dry_run: DryRun = False, json: Json = False
) -> None:
    """Take memfas out of an agent host again: its settings are as they were, byte for byte."""
    found, done, failed = _pieces(host, project, "", None), list[hosted.Done](), list[MemfasError]()
    for piece in reversed(found):  # the folder goes with the file that it was made for
        try:
            edit = partial(take_out, piece)
            done.append(hosted.restore(piece.file, _state(), edit, dry_run=dry_run))
        except MemfasError as error:  # the others are still to be taken out
            failed.append(error)
    if json:
        out.data({"host": host, "files": [vars(one) for one in done], "dry_run": dry_run})
    for one in done if not json else ():
        how = "as it was" if one.exact else "without memfas; the rest as it is now"
        verb = "would be" if dry_run else "is"
        said = f"{verb} {how}" if one.changed else "has nothing of memfas"
        out.say(f"{'[DRY RUN] ' if dry_run else '✓ '}{one.file} {said}")
    if failed:
        raise failed[0]
    if not any(one.changed for one in done):
        raise typer.Exit(1)


def _pieces(host: str, project: Path | None, memory: str, agent: str | None) -> list[Piece]:
    if host not in HOSTS:
        raise UsageError(f"no host {host!r}", f"one of {', '.join(HOSTS)}, or mcp")
    place = str(project.expanduser().absolute()) if project else ""
    if place and not os.path.isdir(place):
        raise UsageError(f"{place} is no folder")
    return pieces(host, program(), memory, agent_of(agent), _homes(), place)


def _memory(root: Path | None, project: Path | None) -> str:
    """The memory that a host is to use: the named one, or the one that the current folder lies in;
    of a project's own hooks the one that the project lies in.
    """
    named = root or (Path(os.environ["MEMFAS_ROOT"]) if os.environ.get("MEMFAS_ROOT") else None)
    if named is not None:
        real = os.path.realpath(named.expanduser())
        if not has_any(real, (*MARKS, *OWN)):
            what = "no memory folder" if os.path.isdir(real) else "no folder"
            raise UsageError(f"{named} is {what}", "make one: memfas init --root DIR")
        return real
    return "" if project else os.path.realpath(found) if (found := nearest(os.getcwd())) else ""


def _homes() -> dict[str, Any]:
    return {
        "home": os.path.expanduser("~"), "claude": os.environ.get("CLAUDE_CONFIG_DIR"),
        "codex": os.environ.get("CODEX_HOME"),
    }  # fmt: skip


def _state() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(home) / "memfas" / "hosts"
