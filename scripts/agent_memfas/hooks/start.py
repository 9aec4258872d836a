"""What a session begins with: the state, what lasts, the last two days, what is in the folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from agent_memfas.errors import MemfasError
from agent_memfas.hooks.answer import length
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import Terms, entries
from agent_memfas.text.recalled import frame
from agent_memfas.text.record import Record
from agent_memfas.text.rights import BASE, Rights
from agent_memfas.text.tokens import estimate

LARGEST = 2 * 1024 * 1024  # bytes of a file that is looked at
LINE = 400  # characters of a line that are given
STATE_SHARE, LOG_SHARE = 0.4, 0.5  # of what is left, that the state or a log may have
HEAD = "Memory of this workspace (memfas), quoted "


class Piece(Record):
    """Lines of a file, the most important first: (number, text). share: of the room that is left
    that it may have.
    """

    path: str
    lines: tuple[tuple[int, str], ...]
    share: float = 1.0


def gather(folder: Folder, today: date, terms: Terms, rights: Rights) -> list[Piece]:
    """What there is, the most important first. Files that cannot be read are passed over."""
    yesterday = today - timedelta(days=1)
    found = [
        Piece("SESSION-STATE.md", _all(folder, "SESSION-STATE.md", rights), STATE_SHARE),
        Piece("MEMORY.md", _entries(folder, "MEMORY.md", today, terms, rights)),
        Piece("shared/MEMORY.md", _entries(folder, "shared/MEMORY.md", today, terms, rights)),
        Piece(BASE, _all(folder, BASE, rights), LOG_SHARE),
        *(
            Piece(name, tuple(reversed(_all(folder, name, rights))), LOG_SHARE)
            for name in (f"memory/{today}.md", f"memory/{yesterday}.md")
        ),
        Piece(".abstract", _all(folder, ".abstract", rights)),
    ]
    return [piece for piece in found if piece.lines]


def compose(
    pieces: Sequence[Piece], tokens: int, characters: int, mark: str
) -> tuple[str, list[tuple[str, str]]]:
    """The pieces as text, as much of them as there is room for: tokens, and characters as JSON; ""
    where there is none. And which lines these are: (path, line). mark: a word that no file can
    know, which ends it.
    """
    head = f"{HEAD}{frame(mark)}"
    left = [tokens - estimate(f"{head}\n{mark}\n"), characters - length(f"{head}\n{mark}\n")]
    told, given = list[str](), list[tuple[str, str]]()
    for piece in pieces:
        title = f"[{piece.path}]"
        room = [left[0] * piece.share - estimate(title), left[1] * piece.share - length(title)]
        chosen = list[tuple[int, str]]()
        for number, text in piece.lines:
            said = f"{number}: {text}"
            cost = [estimate(f"{said}\n"), length(f"{said}\n")]
            if cost[0] > room[0] or cost[1] > room[1]:
                break
            room = [have - one for have, one in zip(room, cost, strict=True)]
            left = [have - one for have, one in zip(left, cost, strict=True)]
            chosen.append((number, said))
            given.append((piece.path, text))
        if chosen:
            left = [left[0] - estimate(f"{title}\n"), left[1] - length(f"{title}\n")]
            told += [title, *(said for _, said in sorted(chosen))]
    return "\n".join([head, *told, mark]) if told else "", given


def _all(folder: Folder, name: str, rights: Rights) -> tuple[tuple[int, str], ...]:
    """The lines of a file that say something; no heading that nothing stands under."""
    found = list(telling(_lines(folder, name, rights)))
    below = [*found[1:], (0, "#")]
    return tuple(
        line for n, line in enumerate(found)
        if not (_is_heading(line[1]) and _is_heading(below[n][1]))
    )  # fmt: skip


def _entries(
    folder: Folder, name: str, today: date, terms: Terms, rights: Rights
) -> tuple[tuple[int, str], ...]:
    """The live entries of P0, then those of P1, the newest first."""
    data = _data(folder, name, rights)
    document = parse(data)
    live = [
        entry for entry in (entries(document) if data else ())
        if entry.tag.priority in ("P0", "P1") and entry.tag.superseded is None
        and not entry.tag.expired(today, terms)
    ]  # fmt: skip
    live.sort(key=lambda e: (e.tag.priority, -(e.tag.date or date.min).toordinal(), e.start))
    numbered = [(n + 1, document.text_lines[n]) for e in live for n in range(e.start, e.end)]
    return tuple(_said(numbered))


def telling(lines: Sequence[str]) -> Iterable[tuple[int, str]]:
    """The lines that say something, as they are given: (number, text). No comment, none empty."""
    return _said(enumerate(lines, 1))


def _is_heading(text: str) -> bool:
    return text.startswith("#")


def _said(lines: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    inside = False
    for number, line in lines:
        text = line.rstrip()
        if text.lstrip().startswith("<!--"):
            inside = "-->" not in text
            continue
        if inside:
            inside = "-->" not in text
            continue
        if text.strip():
            yield number, text[:LINE]


def _lines(folder: Folder, name: str, rights: Rights) -> tuple[str, ...]:
    return parse(_data(folder, name, rights)).text_lines


def _data(folder: Folder, name: str, rights: Rights) -> bytes:
    # An overview tells what is in the files around it, those of other agents, too.
    if not rights.may_read(name) or (name == ".abstract" and rights.hidden):
        return b""
    try:
        return read(folder.place(name), LARGEST).data
    except MemfasError:
        return b""
