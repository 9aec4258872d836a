"""What two machines have archived at the same time: each entry once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agent_memfas.text.documents import split
from agent_memfas.text.units import ARCHIVED, BLOCK, Unit, key_of

_FROM = re.compile(rb"<!-- from (?P<path>.+?):[0-9]+(?: \| .*?)? -->\r?\n?")

Moved = tuple[bytes, bytes]  # the path that an entry came from, and its lines


def without_repeats(
    found: list[Unit], base: Sequence[bytes], one: Sequence[bytes], two: Sequence[bytes]
) -> list[Unit]:
    """The units without what a pass on one side and a pass on the other have both archived: it
    stays in the block of the pass with the lower id. base, one, two: the keys of all units there.
    """
    known, first, second = set(base), set(one), set(two)
    fresh = [u for u in found if _is_archived(u) and u.key not in known]
    here = _moved(u for u in fresh if u.key in first)
    there = _moved(u for u in fresh if u.key in second)
    room = here | there
    if not here or not there or not (_moved(fresh) - room):
        return found
    seen, cut = Counter[Moved](), dict[bytes, Unit | None]()
    for unit in sorted(fresh, key=lambda u: u.key):
        cut[unit.key] = _cut(unit, seen, room)
    changed = (cut.get(unit.key, unit) for unit in found)
    return [unit for unit in changed if unit is not None]


def _is_archived(unit: Unit) -> bool:
    return unit.kind == BLOCK and ARCHIVED.match(unit.key) is not None


def _moved(blocks: Iterable[Unit]) -> Counter[Moved]:
    return Counter(moved for unit in blocks for moved, _ in _pieces(unit.raw) if moved)


def _pieces(raw: bytes) -> list[tuple[Moved | None, bytes]]:
    """A block in pieces: its head, the entries with the comments before them, and its end."""
    lines = split(raw)
    starts = [n for n, line in enumerate(lines[:-1]) if _FROM.fullmatch(line)]
    out: list[tuple[Moved | None, bytes]] = [(None, b"".join(lines[: [*starts, -1][0]]))]
    for start, end in zip(starts, [*starts[1:], len(lines) - 1], strict=True):
        came = _FROM.fullmatch(lines[start])
        moved = (came["path"], key_of(b"".join(lines[start + 1 : end]))) if came else None
        out.append((moved, b"".join(lines[start:end])))
    return [*out, (None, lines[-1])]


def _cut(unit: Unit, seen: Counter[Moved], room: Counter[Moved]) -> Unit | None:
    """A block without the entries of which enough were seen already; None where none is left."""
    kept, entries = list[bytes](), 0
    for moved, raw in _pieces(unit.raw):
        if moved is not None:
            seen[moved] += 1
            if seen[moved] > room[moved]:
                continue
            entries += 1
        kept.append(raw)
    if not entries:
        return None
    raw = b"".join(kept)
    return Unit(unit.kind, key_of(raw), raw, unit.gap, unit.path, unit.level, unit.after)
