"""Which triggers a question fires: by its runs of words, at a cost that is the question's."""

from __future__ import annotations

from agent_memfas.text.record import Record
from agent_memfas.text.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Trigger(Record):
    """keyword: as written. hint: what it brings. path, line (1-based): where it stands. links:
    memories that belong to it, `path#L12` or `path#L12-L15`.
    """

    keyword: str
    hint: str
    path: str
    line: int
    links: tuple[str, ...] = ()


def key_of(keyword: str) -> str:
    """The words of a keyword, joined: equal for whatever is the same trigger."""
    return " ".join(words(keyword))


def read_link(link: str) -> tuple[str, int, int] | None:
    """`path#L12` or `path#L12-L15` -> the path, the first and the last line; else None."""
    path, mark, lines = link.rpartition("#L")
    first, _, last = lines.partition("-")
    last = last.removeprefix("L") if "-" in lines else first
    if not mark or not path or any(c.isspace() for c in path):
        return None
    if not all(n.isascii() and n.isdigit() and len(n) < 10 for n in (first, last)):
        return None
    return path, int(first), int(last)


def fired(
    question: str,
    lengths: Sequence[int],
    find: Callable[[list[str]], Mapping[str, Iterable[Trigger]]],
) -> list[Trigger]:
    """The triggers whose keyword stands in the question as whole words, in its order.

    lengths: how many words the known keywords have, each number once, ascending. find: keys ->
    the triggers of those that there are. What stands twice, say in TRIGGERS.md and in memfas.yaml,
    comes once.
    """
    asked = words(question)
    runs = [
        " ".join(asked[at : at + length])
        for at in range(len(asked)) for length in lengths if at + length <= len(asked)
    ]  # fmt: skip
    known = find(list(dict.fromkeys(runs)))
    found: dict[tuple[str, str, tuple[str, ...]], Trigger] = {}
    for run in runs:
        for trigger in known.get(run, ()):
            found.setdefault((run, trigger.hint, trigger.links), trigger)
    return list(found.values())
