"""What memfas puts into the settings of a host, and how it is taken out again; pure.

Claude Code: hooks in settings.json, the server in .claude.json or a project's .mcp.json. Codex:
hooks.json, and a block in config.toml. Cursor: mcp.json.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memfas.hooks.event import COMPACT, END, EVENTS, PROMPT, START, STOP
from agent_memfas.text import json_edit, toml_server
from agent_memfas.text.record import Record

HOSTS = ("claude-code", "codex", "cursor")
SECONDS = {START: 10, PROMPT: 5, COMPACT: 20, STOP: 10, END: 2}  # that a host waits at most
NAME = "memfas"
BEGIN = "# >>> memfas: `memfas uninstall codex` takes this out"
FINISH = "# <<< memfas"
HOOKS, SERVER, BLOCK = "hooks", "server", "block"


class Piece(Record):
    """Something of ours in a file of a host. kind: HOOKS, SERVER or BLOCK. value: by event the
    group, the server, or the lines.
    """

    file: str
    kind: str
    value: Any


def pieces(
    host: str, call: Sequence[str], root: str, agent: str, homes: Mapping[str, str], project: str
) -> list[Piece]:
    """What goes where. call: the program with its first arguments. root: of the memory, "" for the
    one that the host works in. homes: `home`, and `claude`, `codex` where they are elsewhere.
    project: a folder, "" for all of them.
    """
    home = homes["home"]
    more = [*(("--root", root) if root else ()), *(("--agent", agent) if agent else ())]
    if host == "claude-code":
        folder = homes.get("claude") or os.path.join(home, ".claude")
        settings = os.path.join(project or folder, *((".claude",) if project else ()),
                                "settings.json")  # fmt: skip
        beside = homes.get("claude") or home
        servers = os.path.join(project, ".mcp.json") if project else (
            os.path.join(beside, ".claude.json"))  # fmt: skip
        return [
            Piece(settings, HOOKS, _groups(host, call, more)),
            Piece(servers, SERVER, _server(call, more)),
        ]
    if host == "codex":
        folder = os.path.join(project, ".codex") if project else (
            homes.get("codex") or os.path.join(home, ".codex"))  # fmt: skip
        return [
            Piece(os.path.join(folder, "hooks.json"), HOOKS, _groups(host, call, more)),
            Piece(os.path.join(folder, "config.toml"), BLOCK, _block(call, more)),
        ]
    folder = os.path.join(project or home, ".cursor")
    return [Piece(os.path.join(folder, "mcp.json"), SERVER, _server(call, more))]


def _groups(host: str, call: Sequence[str], more: Sequence[str]) -> dict[str, Any]:
    """A group of hooks for each event."""
    found = dict[str, Any]()
    for event in EVENTS:
        words = shlex.join([*call, "hook", event, "--host", host, *more])
        handler = {"type": "command", "command": words, "timeout": SECONDS[event]}
        matcher = {"matcher": "startup|resume|clear|compact"} if event == START else {}
        found[event] = {**matcher, "hooks": [handler]}
    return found


def _server(call: Sequence[str], more: Sequence[str]) -> dict[str, Any]:
    return {"command": call[0], "args": [*call[1:], "mcp", *more]}


def _block(call: Sequence[str], more: Sequence[str]) -> str:
    told = _server(call, more)
    return toml_server.table(NAME, BEGIN, FINISH, told["command"], told["args"])


def put_in(piece: Piece, text: str) -> str:
    """The text of a file with a piece in it; what is there of an earlier one goes. Conflict where
    the file is no JSON, or has a server of our name that is not ours.
    """
    text = take_out(piece, text)
    if piece.kind == BLOCK:
        return toml_server.with_table(text, piece.value, NAME, piece.file)
    if piece.kind == SERVER:
        return json_edit.with_member(text, ("mcpServers", NAME), piece.value, piece.file)
    for event, group in piece.value.items():
        text = json_edit.with_element(text, ("hooks", event), group, piece.file)
    return text


def take_out(piece: Piece, text: str) -> str:
    """The text of a file without what is ours; lists and objects that were there before stay, empty
    ones go.
    """
    if piece.kind == BLOCK:
        return toml_server.without_table(text, NAME, BEGIN, FINISH, piece.file)
    if not text.strip():
        return text
    if piece.kind == SERVER:
        there = json_edit.value_of(text, piece.file)
        servers = there.get("mcpServers") if isinstance(there, dict) else None
        ours = servers.get(NAME) if isinstance(servers, dict) else None
        args = ours.get("args") if isinstance(ours, dict) else None
        if not isinstance(args, list) or "mcp" not in args:
            return text
        text = json_edit.without_member(text, ("mcpServers", NAME), piece.file)
        return _without_empty(text, ("mcpServers",), piece.file)
    for event in EVENTS:
        before = text
        text = json_edit.without_elements(text, ("hooks", event), is_ours, piece.file)
        for n in range(_groups_of(text, event, piece.file)):  # where somebody has added to ours
            path = ("hooks", event, n, "hooks")
            text = json_edit.without_elements(text, path, _is_ours_alone, piece.file)
        if text != before:
            text = _without_empty(text, ("hooks", event), piece.file)
            text = _without_empty(text, ("hooks",), piece.file)
    return text


def is_ours(group: Any) -> bool:
    """Whether a group of hooks is one of ours: each of its commands calls `memfas hook`."""
    handlers = group.get("hooks") if isinstance(group, dict) else None
    commands = [
        one.get("command", "") for one in handlers if isinstance(one, dict)
    ] if isinstance(handlers, list) else []  # fmt: skip
    return bool(commands) and all(map(_calls_hook, commands))


def _is_ours_alone(handler: Any) -> bool:
    return isinstance(handler, dict) and _calls_hook(handler.get("command"))


def _groups_of(text: str, event: str, file: str) -> int:
    hooks = json_edit.value_of(text, file).get("hooks")
    groups = hooks.get(event) if isinstance(hooks, dict) else None
    return len(groups) if isinstance(groups, list) else 0


def _calls_hook(command: Any) -> bool:
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    if "hook" not in words[1:5]:
        return False
    before = words[: words.index("hook")]
    return any(os.path.basename(one) in (NAME, f"{NAME}.py", "agent_memfas.cli") for one in before)


def _without_empty(text: str, path: tuple[str, ...], file: str) -> str:
    found = json_edit.value_of(text, file)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return json_edit.without_member(text, path, file) if found in ([], {}) else text
