"""The plain forms of the commands that are asked all day, answered before typer is loaded."""

from __future__ import annotations

COMMANDS = ("recall", "search")


def run(arguments: list[str]) -> int | None:
    """The status of a plain `recall …` or `search …`; None for whatever typer has to look at."""
    if arguments[:1] == ["hook"] and "--help" not in arguments:
        from agent_memfas.cli import hooking

        return hooking.run(arguments[1:])
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
