"""Normal form and runs of texts that are not all ASCII: accents, unspaced scripts, emoji."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from agent_memfas.text.characters import BREAK, EMOJI, JOINERS, MARK, UNSPACED, WORD

_ZERO_WIDTH_JOINER, _KEYCAP = "\u200d", "\u20e3"
_SLICE = 512

_REPLACED: dict[int, str | None] = {
    **dict.fromkeys(range(0x300, 0x370)),  # accents
    **dict.fromkeys((0xAD, 0x200B, 0x200C, 0x2060, 0xFEFF)),  # invisible
    **dict.fromkeys((0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))),  # direction
    **dict.fromkeys((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),  # variation selectors
    **dict.fromkeys((0x2BC, 0x2018, 0x2019, 0x201B), "'"),
    **dict.fromkeys((0x2010, 0x2212), "-"),  # U+2011 has become U+2010 by then
    0x131: "i",  # dotless, as İ has become I
}
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x4DBF),  # Han, kana, bopomofo
    (0x4E00, 0xA4CF),  # Han, Yi
    (0xA960, 0xA97F),  # Hangul letters
    (0xA9E0, 0xA9FF),  # Myanmar
    (0xAA60, 0xAA7F),  # Myanmar
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # Han
    (0x1AFF0, 0x1B16F),  # kana
    (0x20000, 0x3FFFF),  # Han
)
_PICTURE_BLOCKS = (
    (0x2194, 0x2199),
    (0x231A, 0x231B),
    (0x23E9, 0x23FA),
    (0x2600, 0x2767),
    (0x2776, 0x27BF),  # between them, brackets
    (0x2B00, 0x2BFF),
    (0x1F000, 0x1FAFF),
)


def normal_form(text: str) -> str:
    """`text` in NFKC without accents and invisible characters, in linear time."""
    return "".join(map(_normal_slice, _slices(text)))


def _normal_slice(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFKC", decomposed.translate(_REPLACED))


def _slices(text: str) -> Iterator[str]:
    """Cut `text` where nothing combines across the cut.

    Normalising is quadratic in a run of marks, so it is never given more than a slice.
    """
    start = 0
    while len(text) - start > _SLICE:
        cut = start + _SLICE
        while cut > start and _combines(text[cut]):
            cut -= 1
        cut = cut if cut > start else start + _SLICE
        yield text[start:cut]
        start = cut
    yield text[start:]


def _combines(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"


def runs_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """The runs of a normal text in order, as `characters.runs` gives them."""
    kinds = _kinds(text)
    here = 0
    while here < len(text):
        kind, start = kinds[here], here
        here += 1
        if kind == EMOJI:
            here = _end_of_emoji(text, kinds, start)
            yield EMOJI, [text[start:here]]
        elif kind == WORD:
            while kinds[here] == WORD or (kinds[here] == MARK and text[here - 1] not in JOINERS):
                here += 1
            yield WORD, [_without_joiner(text[start:here])]
        elif kind == UNSPACED:
            here, characters = _unspaced(text, kinds, start)
            yield UNSPACED, characters


def _kinds(text: str) -> list[int]:
    """The kind of each character, and a BREAK behind the last."""
    kinds = [*map(_kind, text), BREAK]
    at = text.find(_KEYCAP)
    while at >= 0:
        if at and text[at - 1] in "0123456789#":
            kinds[at - 1] = EMOJI
        at = text.find(_KEYCAP, at + 1)
    return kinds


@lru_cache(maxsize=1 << 13)
def _kind(char: str) -> int:
    if char in JOINERS:
        return WORD
    category, code = unicodedata.category(char), ord(char)
    if category[0] == "M" or char == _ZERO_WIDTH_JOINER:
        return MARK
    if category[0] in "LN":
        return UNSPACED if category != "Nd" and _inside(code, _UNSPACED_BLOCKS) else WORD
    return EMOJI if _inside(code, _PICTURE_BLOCKS) else BREAK


def _inside(code: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= code <= high for low, high in blocks)


def _unspaced(text: str, kinds: list[int], start: int) -> tuple[int, list[str]]:
    """The end of the run that starts at `start`, and its characters."""
    characters = []
    here = start
    while kinds[here] == UNSPACED:
        start, here = here, here + 1
        while kinds[here] == MARK:
            here += 1
        characters.append(_without_joiner(text[start:here]))
    return here, characters


def _without_joiner(text: str) -> str:
    return text.replace(_ZERO_WIDTH_JOINER, "")


def _end_of_emoji(text: str, kinds: list[int], start: int) -> int:
    """Where the sequence ends: after two letters of a flag, else after the last skin tone, keycap,
    tag or joined picture.
    """
    here = start + 1
    if _is_flag_letter(text[start]) and here < len(text) and _is_flag_letter(text[here]):
        return here + 1
    while here < len(text):
        char = text[here]
        if char == _ZERO_WIDTH_JOINER and kinds[here + 1] == EMOJI:
            here += 2
        elif char != _ZERO_WIDTH_JOINER and (kinds[here] == MARK or _is_modifier(char)):
            here += 1
        else:
            break
    return here


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_modifier(char: str) -> bool:
    return "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f"
