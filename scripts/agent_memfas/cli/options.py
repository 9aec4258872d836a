"""One table of a command's options for its two readers: a small parser that is there at once, and
typer, which takes eight times as long to load as a bare Python to start.

The small one reads plain forms and leaves everything else (help, mistakes, completion) to typer.
"""

from __future__ import annotations

from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
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
AGENT = Option(
    "agent", ("--agent",), TEXT, "Who asks or writes (else $MEMFAS_AGENT, else you).", "NAME"
)
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
