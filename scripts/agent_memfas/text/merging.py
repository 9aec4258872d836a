"""Merging two versions of a memory file that come from a third: as sets of units, no conflicts.

Each unit (`text/units`) that either side has stays, but for those that were in the base and that
one side has taken out while the other left them as they were. One that both sides have changed
stays in both versions, next to each other; what both have added stands once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from agent_memfas.text.documents import BOM
from agent_memfas.text.record import Record
from agent_memfas.text.repeats import without_repeats
from agent_memfas.text.units import BLOCK, ENTRY, HEADING, ITEM, LINE, OPEN, Unit, Units, units

SIMILAR = 0.6
MANY = 10_000  # pairs of units that are compared by their text, at most
TOO_MANY = 20_000_000  # pairs of equal units, from where on frequent ones are no anchors

Side = Sequence[Unit]


class Edits(Record):
    """What a side did to the base. kept, replaced: by number of the base's unit; inserted: by
    number of the base's unit that stands behind.
    """

    kept: dict[int, Unit]
    replaced: dict[int, Unit]
    inserted: dict[int, list[Unit]]


class Placed(Record):
    """A unit in its place in the result. stays is False for one that was taken out."""

    unit: Unit
    stays: bool = True


def merge(base: bytes, ours: bytes, theirs: bytes, *, markdown: bool = True) -> bytes:
    """The merged file: byte order mark, line ends and the end of the last line are those of ours.

    A side that is as the base gives the other side, byte for byte; so does one whose units are
    what is to stay. The order does not depend on which side is ours.
    """
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    old, mine, other = (
        units(data.removeprefix(BOM), markdown=markdown) for data in (base, ours, theirs)
    )
    one, two = sorted((mine, other), key=_keys)
    target = _target(_keys(old), _keys(one), _keys(two))
    pairs = ((mine, other),) if _keys(mine) == _keys(other) else ((one, two), (two, one))
    for side, rest in pairs:
        if Counter(_keys(side)) == target and _is_within(_keys(rest), _keys(side), target):
            return _written(side.units, side.tail, ours, theirs)
    placed = _woven(old.units, one.units, two.units)
    placed = _without_surplus(placed, old.units, one.units, two.units)
    placed = _with_all(placed, target)
    staying = without_repeats(
        [p.unit for p in placed if p.stays], _keys(old), _keys(one), _keys(two)
    )
    return _written(staying, _three_way(old.tail, one.tail, two.tail), ours, theirs)


def _keys(side: Units) -> list[bytes]:
    return [unit.key for unit in side.units]


def _target(
    base: Sequence[object], one: Sequence[object], two: Sequence[object]
) -> Counter[object]:
    """How often each thing is to stand in the result, at least."""
    before, first, second = Counter(base), Counter(one), Counter(two)
    wanted = Counter[object]()
    for key in before | first | second:
        b, f, s = before[key], first[key], second[key]
        fewer = f < b and s < b
        count = f + s - b if b in (f, s) else min(f, s) if fewer else max(f, s)
        if count:
            wanted[key] = count
    return wanted


def _is_within(rest: list[bytes], side: list[bytes], target: Counter[object]) -> bool:
    """Whether what is to stay of one side stands in the other in the same order."""
    ahead = iter(side)
    return all(key in ahead for key in rest if key in target)


# What each side did


def _codes(one: Sequence[Unit], two: Sequence[Unit]) -> Sequence[tuple[str, int, int, int, int]]:
    """How two becomes of one, as difflib tells it; rules and brackets are no anchors."""
    mute = {u.key for u in (*one, *two) if not u.says}
    first, second = [u.key for u in one], [u.key for u in two]
    often, again = Counter(first), Counter(second)
    crowded = sum(count * again[key] for key, count in often.items()) > TOO_MANY
    return SequenceMatcher(mute.__contains__, first, second, autojunk=crowded).get_opcodes()


def _edits(base: Side, side: Side) -> Edits:
    edits = Edits({}, {}, {})
    for tag, i1, i2, j1, j2 in _codes(base, side):
        if tag == "equal":
            edits.kept.update(zip(range(i1, i2), side[j1:j2], strict=True))
            continue
        pairs = dict(_pairs(base[i1:i2], side[j1:j2]))
        slot = i1
        for n, unit in enumerate(side[j1:j2]):
            if n in pairs:
                edits.replaced[i1 + pairs[n]] = unit
                slot = i1 + pairs[n] + 1
            else:
                edits.inserted.setdefault(slot, []).append(unit)
    return edits


def _pairs(old: Side, new: Side) -> list[tuple[int, int]]:
    """Which new units (by number) are edited old ones, in the order of both."""
    if len(old) == len(new):
        return [(n, n) for n in range(len(new))]
    if len(old) * len(new) > MANY:
        return []
    out, at = list[tuple[int, int]](), 0
    for n, unit in enumerate(new):
        found = next((k for k in range(at, len(old)) if _alike(old[k], unit)), None)
        if found is not None:
            out.append((n, found))
            at = found + 1
    return out


def _alike(one: Unit, two: Unit) -> bool:
    if one.kind != two.kind:
        return False
    first, second = one.key[:2000].split(), two.key[:2000].split()
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= SIMILAR


# Both sides together


def _woven(base: Side, one: Side, two: Side) -> list[Placed]:
    first, second = _edits(base, one), _edits(base, two)
    out = list[Placed]()
    for n in range(len(base) + 1):
        both = _combined(first.inserted.get(n, []), second.inserted.get(n, []))
        out += [Placed(unit) for unit in both]
        if n < len(base):
            out += _decided(base[n], n, first, second)
    return out


def _decided(old: Unit, n: int, one: Edits, two: Edits) -> list[Placed]:
    """What becomes of one unit of the base: it stays, it goes, or what it was changed to."""
    if n in one.kept and n in two.kept:
        return [Placed(_same(old, one.kept[n], two.kept[n]))]
    changed = [side.replaced[n] for side in (one, two) if n in side.replaced]
    if len(changed) == 2:
        changed = _aligned(changed[:1], changed[1:])
    return [*map(Placed, changed), Placed(old, stays=False)]


def _same(old: Unit, one: Unit, two: Unit) -> Unit:
    """A unit that both sides have kept: its bytes and the blank lines before it may differ."""
    return Unit(
        one.kind, one.key, _three_way(old.raw, one.raw, two.raw),
        _three_way(old.gap, one.gap, two.gap), one.path, one.level, one.after,
    )  # fmt: skip


def _three_way(old: bytes, one: bytes, two: bytes) -> bytes:
    if old in (one, two):
        return two if old == one else one
    return max(one, two, key=lambda blank: (len(blank), blank))


def _combined(one: list[Unit], two: list[Unit]) -> list[Unit]:
    """What both sides have put into the same place: section by section where they have sections."""
    if not one or not two:
        return one or two
    if _is_open(one) != _is_open(two):
        return [*two, *one] if _is_open(one) else [*one, *two]
    first, second = _sections(one), _sections(two)
    out = _aligned(first.pop(0), second.pop(0))
    names = [section[0].path for section in first], [section[0].path for section in second]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if tag == "equal":
            for a, b in zip(first[i1:i2], second[j1:j2], strict=True):
                out += _aligned(a, b)
            continue
        # The deeper ones first: they belong to the section above.
        parts = sorted((first[i1:i2], second[j1:j2]), key=_depth_and_text)
        out += [unit for part in parts for section in part for unit in section]
    return out


def _sections(side: list[Unit]) -> list[list[Unit]]:
    """Cut before each heading; the first part has none, and may be empty."""
    out: list[list[Unit]] = [[]]
    for unit in side:
        if unit.kind == HEADING:
            out.append([])
        out[-1].append(unit)
    return out


def _depth_and_text(part: list[list[Unit]]) -> tuple[bool, int, list[bytes]]:
    is_open, text = _text([unit for section in part for unit in section])
    return (is_open, -part[0][0].level if part else 0, text)


def _text(part: list[Unit]) -> tuple[bool, list[bytes]]:
    """What parts are ordered by; one that would take in all behind it comes last."""
    return (_is_open(part), [unit.key for unit in part])


def _is_open(part: Side) -> bool:
    return any(unit.kind == OPEN for unit in part)


def _aligned(one: list[Unit], two: list[Unit]) -> list[Unit]:
    """Units of both, those that are the same once; between them the smaller text first."""
    out = list[Unit]()
    for tag, i1, i2, j1, j2 in _codes(one, two):
        if tag == "equal":
            pairs = zip(one[i1:i2], two[j1:j2], strict=True)
            out += [max(pair, key=lambda unit: (len(unit.gap), unit.raw)) for pair in pairs]
        else:
            parts = (one[i1:i2], two[j1:j2])
            out += [unit for part in sorted(parts, key=_text) for unit in part]
    return out


# As sets


def _without_surplus(placed: list[Placed], base: Side, one: Side, two: Side) -> list[Placed]:
    """Without what both sides have moved to, or added in, different places: the first one stays."""
    wanted = _target(*([_mark(u) for u in side if _counts(u)] for side in (base, one, two)))
    seen, out = Counter[object](), list[Placed]()
    for p in placed:
        stays = p.stays
        if stays and _counts(p.unit):
            seen[_mark(p.unit)] += 1
            stays = seen[_mark(p.unit)] <= wanted[_mark(p.unit)]
        out.append(Placed(p.unit, stays))
    return out


def _counts(unit: Unit) -> bool:
    """Whether it says something of its own: not headings, code and rows of tables, which belong
    to what is around them.
    """
    if unit.kind in (ENTRY, ITEM):
        return True
    return unit.kind in (LINE, OPEN) and unit.says and not unit.key.lstrip().startswith(b"|")


def _mark(unit: Unit) -> tuple[tuple[str, ...], bytes]:
    """An entry is the same wherever it stands; anything else, under the same heading."""
    return ((), unit.key) if unit.kind == ENTRY else (unit.path, unit.key)


def _with_all(placed: list[Placed], target: Counter[object]) -> list[Placed]:
    """With what is to stay and would be gone, for each side has taken out another copy of it."""
    missing = target - Counter[object](p.unit.key for p in placed if p.stays)
    out = list[Placed]()
    for p in placed:
        back = not p.stays and missing[p.unit.key] > 0
        missing[p.unit.key] -= back
        out.append(Placed(p.unit, p.stays or back))
    return out


# Bytes again


def _written(staying: Sequence[Unit], tail: bytes, ours: bytes, theirs: bytes) -> bytes:
    """The units as a file in the manner of ours."""
    style = _line_end(ours) or b"\n"
    out, before = [BOM] if ours.startswith(BOM) else [], ""
    for n, unit in enumerate(staying):
        gap = unit.gap if unit.after == before or not n else _gap_behind(before, unit, style)
        out += [gap, unit.raw if unit.raw.endswith(b"\n") else unit.raw + style]
        before = unit.kind
    ends = not ours or ours.endswith(b"\n")
    data = b"".join([*out, tail if ends else b""])
    if _line_end(ours) and _line_end(theirs) not in (None, style):
        data = data.replace(b"\r\n", b"\n").replace(b"\n", style)
    if not ends:
        data = data.removesuffix(b"\n").removesuffix(b"\r")
    return data


def _gap_behind(before: str, unit: Unit, style: bytes) -> bytes:
    """The blank lines before a unit that stands behind one of another kind than in its own file:
    items come together, and nothing becomes a part of what is before it.
    """
    item = before in (ENTRY, ITEM)
    if item and unit.kind in (ENTRY, ITEM):
        return b""
    apart = before == BLOCK or unit.kind == HEADING or (item and unit.kind in (LINE, OPEN))
    return unit.gap or (style if apart else b"")


def _line_end(data: bytes) -> bytes | None:
    """How all lines of a file end, None where they do not agree or there are none."""
    both, all_ = data.count(b"\r\n"), data.count(b"\n")
    if not all_ or both not in (0, all_):
        return None
    return b"\r\n" if both else b"\n"
