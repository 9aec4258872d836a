"""The plain forms of the commands that are asked all day, answered before typer is loaded."""

from __future__ import annotations

COMMANDS = ("recall", "search")


def run(arguments: list[str]) -> int | None:
    """The status of a plain `recall …` or `search …`; None for whatever typer has to look at."""
    if arguments[:1] == ["hook"] and "--help" not in arguments:
        from agent_memfas.cli import hooking

        return hooking.run(arguments[1:])
    if arguments[:1] == ["mcp"]:
        return _mcp(arguments[1:])
    if not arguments or arguments[0] not in COMMANDS:
        return None
    from agent_memfas.cli import asking, options, out
    from agent_memfas.errors import MemfasError

    searching = arguments[0] == "search"
    values = options.read(asking.SEARCH if searching else asking.TABLE, arguments[1:])
    if values is None:
        return None
    try:
        return asking.search(values) if searching else asking.recall(values)
    except MemfasError as error:
        out.error(error, as_data=values["json"])
        return error.status


def _mcp(arguments: list[str]) -> int | None:
    """A server over standard input: a client waits for its first answer."""
    found = dict[str, str]()
    for name, value in zip(arguments[::2], arguments[1::2], strict=False):
        if name not in ("--root", "--agent"):
            return None
        found[name] = value
    if len(arguments) != 2 * len(found):
        return None
    from agent_memfas.cli import greeting, out
    from agent_memfas.errors import MemfasError

    try:
        greeting.serve(found.get("--root"), None, found.get("--agent"))
    except MemfasError as error:
        out.error(error, as_data=False)
        return error.status
    return 0
