"""One table of a command's options for its two readers: a small parser that is there at once, and
typer, which takes eight times as long to load as a bare Python to start.

The small one reads plain forms and leaves everything else (help, mistakes, completion) to typer.
"""

from __future__ import annotations

from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FLAG, TEXT, NUMBER, LIST = "flag", "text", "number", "list"


class Option(Record):
    """name: the parameter's. flags: `--limit`, `-n`. kind: FLAG, TEXT, NUMBER or LIST."""

    name: str
    flags: tuple[str, ...]
    kind: str
    help: str
    metavar: str = ""


class Table(Record):
    """A command: the words it takes, then its options. least: how many words there must be."""

    words: str
    metavar: str
    help: str
    options: tuple[Option, ...]


ROOT = Option(
    "root", ("--root",), TEXT, "The memory folder (else $MEMFAS_ROOT, else the nearest one).", "DIR"
)
CONFIG = Option(
    "config", ("--config", "-c"), TEXT,
    "The configuration file (else memfas.yaml in the folder).", "FILE",
)  # fmt: skip
JSON = Option("json", ("--json",), FLAG, "Print one JSON object.")
TODAY = Option("today", ("--today",), TEXT, "Take this day (YYYY-MM-DD) for today.", "DAY")


def read(table: Table, arguments: list[str]) -> dict[str, Any] | None:
    """The values of a command line by parameter name; None for whatever is not a plain form."""
    by_flag = {flag: option for option in table.options for flag in option.flags}
    values: dict[str, Any] = {
        option.name: False if option.kind == FLAG else None for option in table.options
    }
    words, at = list[str](), 0
    while at < len(arguments):
        given = arguments[at]
        at += 1
        if given == "--":
            words += arguments[at:]
            break
        if given == "-" or not given.startswith("-"):
            words.append(given)
            continue
        flag, equals, value = given.partition("=")
        option = by_flag.get(flag)
        if option is None or (equals and (option.kind == FLAG or not flag.startswith("--"))):
            return None
        if option.kind == FLAG:
            values[option.name] = True
            continue
        if not equals:
            if at >= len(arguments):
                return None
            value, at = arguments[at], at + 1
        if not _put(values, option, value):
            return None
    if not words:
        return None
    values[table.words] = words
    return values


def _put(values: dict[str, Any], option: Option, value: str) -> bool:
    """Set one value; False where it is not of its kind."""
    if option.kind == LIST:
        values[option.name] = [*(values[option.name] or ()), value]
    elif option.kind == NUMBER:
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            return False
        values[option.name] = int(value)
    else:
        values[option.name] = value
    return True


def as_command(table: Table, run: Callable[[dict[str, Any]], int]) -> Callable[..., None]:
    """The same table as a function that typer can read."""
    import inspect
    from typing import Annotated, Optional

    import typer

    kinds: dict[str, Any] = {
        FLAG: bool,
        TEXT: Optional[str],  # noqa: UP045 - typer reads these at run time on Python 3.10
        NUMBER: Optional[int],  # noqa: UP045
        LIST: Optional[list[str]],  # noqa: UP045
    }  # fmt: skip
    types: dict[str, Any] = {
        table.words: Annotated[list[str], typer.Argument(metavar=table.metavar, help=table.help)]
    }
    for option in table.options:
        given = typer.Option(*option.flags, help=option.help, metavar=option.metavar or None)
        types[option.name] = Annotated[kinds[option.kind], given]

    def command(**values: Any) -> None:
        if status := run(values):
            raise typer.Exit(status)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    command.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(
            name, positional, annotation=kind,
            default=inspect.Parameter.empty if name == table.words
            else False if kind.__origin__ is bool else None,
        )
        for name, kind in types.items()
    ])  # fmt: skip
    command.__annotations__ = types
    command.__doc__ = run.__doc__
    return command
