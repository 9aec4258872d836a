"""`memfas skill install` and `uninstall`: this package as a skill of an agent's host."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.families import AsJson, family
from agent_memfas.cli.session import DryRun
from agent_memfas.errors import UsageError
from agent_memfas.store import skills

PANEL = "Connect"
HOSTS = ("claude", "codex", "openclaw")
For = Annotated[
    str, typer.Option("--for", metavar="HOST", help="claude (the default), codex or openclaw.")
]
Dir = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads this at run time on Python 3.10
    typer.Option("--dir", metavar="DIR", help="Another folder of skills; the skill is DIR/memfas."),
]

app = family("skill", "This package as a skill of Claude Code, Codex or OpenClaw.",
             "install or uninstall")  # fmt: skip


def register(above: typer.Typer) -> None:
    """Put these commands into the table."""
    above.add_typer(app, name="skill", rich_help_panel=PANEL)


def place_of(host: str, folder: Path | None) -> Path:
    """Where the skill of a host is. UsageError for a host that is not known."""
    if host not in HOSTS:
        raise UsageError(f"--for {host}: no such host", f"there are {', '.join(HOSTS)}")
    if folder is None:
        claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        folder = {"claude": claude, "codex": Path.home() / ".agents",
                  "openclaw": Path.home() / ".openclaw"}[host] / "skills"  # fmt: skip
    return folder.expanduser().absolute() / skills.NAME


@app.command()
def install(
    host: For = "claude",
    folder: Dir = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also over files that are not ours; those are kept.")
    ] = False,
    dry_run: DryRun = False,
    json: AsJson = False,
) -> None:
    """Copy SKILL.md, references, templates and scripts to where the host looks for skills."""
    place = place_of(host, folder)
    here = skills.home_of_this()
    if here is not None and Path(os.path.realpath(place)) == here:
        if json:
            out.data({"path": str(place), "written": [], "removed": [], "kept": [], "same": 0,
                      "dry_run": dry_run})  # fmt: skip
            return
        out.say(f"{place} is this very folder: it is the skill as it stands")
        return
    wanted = skills.contents()
    plan = skills.planned(place, wanted) if dry_run else (
        skills.install(place, wanted, force=force)
    )  # fmt: skip
    _report(place, plan, dry_run=dry_run, json=json)
    if not json and not dry_run:
        out.say("sessions that are open see it when they are started again")


@app.command()
def uninstall(
    host: For = "claude", folder: Dir = None, dry_run: DryRun = False, json: AsJson = False
) -> None:
    """Remove what install has copied; what was changed or added since stays, and is named."""
    place = place_of(host, folder)
    plan = skills.planned(place, {}) if dry_run else skills.uninstall(place)
    _report(place, plan, dry_run=dry_run, json=json)


def _report(place: Path, plan: skills.Plan, *, dry_run: bool, json: bool) -> None:
    if json:
        out.data({"path": str(place), "written": list(plan.write), "removed": list(plan.remove),
                  "kept": list(plan.kept), "same": plan.same, "dry_run": dry_run})  # fmt: skip
        return
    would = "would be " if dry_run else ""
    told = [f"{out.count(len(plan.write), 'file')} {would}written"] if plan.write else []
    told += [f"{out.count(len(plan.remove), 'file')} {would}removed"] if plan.remove else []
    told += [f"{out.count(plan.same, 'file')} as it should be"] if plan.same else []
    out.say(f"{place}: {'; '.join(told) or 'nothing to do'}")
    for name in plan.kept:
        out.tell(f"{place / name} is not as memfas installed it: it is kept")
