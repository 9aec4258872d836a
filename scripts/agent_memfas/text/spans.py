"""The words of memory files as they are written: which follow each other, which capitals tell.

What is no prose is left out: front matter, code, comments, HTML, URLs, paths, numbers, days, keys.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agent_memfas.text import secrets
from agent_memfas.text.documents import Document
from agent_memfas.text.marks import without_comments
from agent_memfas.text.parts import parts_of
from agent_memfas.text.stopwords import is_stop_word

LONGEST_LINE = 10_000  # characters looked at
_SLICE = 500  # characters normalised at a time; quadratic in a run of marks
_SKIPPED = frozenset(("front matter", "fence", "code", "comment", "html"))

# Letters, digits, `_`, and the marks that python's \w leaves out.
_LETTER = (
    r"[\w\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u065f\u06d6-\u06ed\u0900-\u0963"
    r"\u0966-\u109f\u1780-\u17d3\u3099\u309a\u200c\u200d\ufffd]"
)
_TOKEN = re.compile(rf"{_LETTER}+(?:['.&/+#-]{_LETTER}+)*(?:\+\+|#)?")
_HEADING = re.compile("#{1,6} ")
_CODE = re.compile(r"`+([^`\n]*)`+")
_MARKUP = re.compile(
    r"""
    ^\s*(?:[-*+]|[0-9]{1,9}[.)])\s+\[[ xX]\]                            # a task's box
    | \[(?:[pP]-?[0-9]|(?:ttl|until|superseded):[^\]\n]{0,40})\]        # an entry's tags
    | \]\([^()\n]{0,300}\)                                              # a link's target
    | </?[A-Za-z][^<>\n]{0,200}> | &\#?[A-Za-z0-9]{1,10};               # HTML
    | (?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[!-~]* | www\.[!-~]+
    | (?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9-]{1,64}\.[A-Za-z0-9.-]+    # mail
    | [A-Za-z]:\\[!-~]* | \\\\[!-~]+                                    # paths
    | (?<![\w./~@-])(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]*)*
    | (?<![A-Za-z0-9_./@-])[A-Za-z0-9_.@-]{1,80}(?:/[A-Za-z0-9_.@-]{0,80}){2,}
    | (?<![A-Za-z0-9_./@-])[A-Za-z0-9_.@-]{1,80}/[A-Za-z0-9_@-]{0,80}\.[a-z][a-z0-9]{0,4}\b[!-~]*
    """,
    re.VERBOSE,
)
_CONTROL = re.compile("[\0-\x08\x0e-\x1a]")
_EMPHASIS = str.maketrans(
    {"*": None, "`": None, "~": None, "\u2019": "'", "\u02bc": "'", "\xad": None,
     "\u200b": None, "\u2060": None, "\ufeff": None, "\u2011": "-", "\u2010": "-"}
)  # fmt: skip
_ENDS = frozenset(".!?:;|=<>()\"'“”‘«»„—–-•·→。「」『』《》…")
_TIED = frozenset(("-", "_", "run"))
_ABBREVIATIONS = frozenset("mr mrs ms dr prof st vs jr sr no".split())


class Span(NamedTuple):
    """Words in a row with nothing but a blank or a hyphen between them.

    joints: what stands before each word (" ", "-", "_"; the first's means nothing). named: whether
    a capital at that place makes a name of the word: inside a sentence that is no title.
    """

    words: tuple[str, ...]
    joints: tuple[str, ...]
    named: tuple[bool, ...]


class Line(NamedTuple):
    """One line with words in it. number: 1-based. text: without keys and comments. runs: of
    scripts without spaces.
    """

    path: str
    number: int
    heading: bool
    text: str
    spans: tuple[Span, ...]
    runs: tuple[str, ...]


class _Item(NamedTuple):
    """A word, or "" for something that is none. first: whether no word of the sentence is before
    it."""

    joint: str
    word: str
    first: bool


def read_lines(documents: Iterable[tuple[str, Document | Sequence[str]]]) -> Iterator[Line]:
    """The lines of documents (or of plain lines) that hold words, in order."""
    for path, document in documents:
        texts, skipped, headings = _texts(path, document)
        for n, text in enumerate(_without_secrets(texts)):
            if n in skipped or not _is_text(text):
                continue
            spans, found = _take_apart(text, heading=n in headings)
            if spans or found:
                yield Line(path, n + 1, n in headings, text, spans, found)


def _texts(
    path: str, document: Document | Sequence[str]
) -> tuple[Sequence[str], set[int], set[int]]:
    """The lines of a document, the places of those that are no prose, and of headings."""
    lines = document.text_lines if isinstance(document, Document) else document
    if path.endswith(".jsonl"):
        return [*map(_values, lines)], set(), set()
    if not isinstance(document, Document):
        return lines, set(), {n for n, line in enumerate(lines) if _HEADING.match(line)}
    skipped = {n for r in document.regions if r.kind in _SKIPPED for n in range(r.start, r.end)}
    return lines, skipped, {b.start for b in document.blocks if b.kind == "heading"}


def _is_text(line: str) -> bool:
    """Whether a line holds something and is not binary."""
    if line.isspace() or not line:
        return False
    return not _CONTROL.search(line) and line.count("\ufffd") * 10 <= len(line)


def _values(line: str) -> str:
    """The texts in a line of JSON, without the names of its fields; anything else as it is."""
    try:
        found = [json.loads(line)]
    except (ValueError, RecursionError):
        return line
    texts: list[str] = []
    while found:
        value = found.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, (dict, list)):
            found += reversed([*value.values()] if isinstance(value, dict) else value)
    return " | ".join(texts)


def _without_secrets(lines: Sequence[str]) -> list[str]:
    """The lines, each cut to a bearable length, with an ellipsis in place of every secret."""
    text = "\n".join(line[:LONGEST_LINE].replace("\n", " ") for line in lines)
    pieces, at = [], 0
    for secret in secrets.find(text):
        pieces += [text[at : secret.start], "…", "\n" * text.count("\n", secret.start, secret.end)]
        at = secret.end
    return "".join([*pieces, text[at:]]).split("\n")


def _take_apart(text: str, *, heading: bool) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    plain = without_comments(text) if "<!--" in text else text
    plain = _normal(plain) if not plain.isascii() else plain
    plain = _CODE.sub(lambda code: "|" if " " in code[1].strip() else f" {code[1]} ", plain)
    plain = _MARKUP.sub("|", plain).translate(_EMPHASIS)
    spans: list[Span] = []
    found: list[str] = []
    sentence: list[_Item] = []
    for item, end in _items(plain):
        if end:
            spans += _spans(sentence, title=heading, label=end == ":")
            sentence = []
        if item is None:
            continue
        if item.joint == "run":
            found.append(item.word)
            sentence.append(_Item("", "", first=False))
        else:
            sentence.append(item)
    spans += _spans(sentence, title=heading, label=False)
    return tuple(spans), tuple(found)


def _normal(text: str) -> str:
    pieces = (text[at : at + _SLICE] for at in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)


def _items(text: str) -> Iterator[tuple[_Item | None, str]]:
    """The words in order, each with the mark that ends a sentence before it, or ""."""
    at, before, begun = 0, "", False
    for match in _TOKEN.finditer(text):
        gap, at = text[at : match.start()], match.end()
        joint, end = (" ", "") if gap == " " else _between(gap, before)
        begun = begun and not end
        for part, word in parts_of(match[0]):
            if part == ".":
                begun, end = False, "."
            yield _Item(part if part in _TIED else joint, word, not begun), end
            begun, joint, end, before = begun or bool(word), "", "", word
    if ":" in text[at:]:
        yield None, ":"


def _between(gap: str, before: str) -> tuple[str, str]:
    """What stands between two words: (the blank that joins them or "", what ends a sentence)."""
    if gap.isspace():
        return " ", ""
    if _ENDS.isdisjoint(gap):
        return "", ""
    if gap == ". " and before.lower() in _ABBREVIATIONS:
        return " ", ""
    return "", ":" if ":" in gap or gap in (" - ", " – ", " — ") else "."


def _spans(sentence: list[_Item], *, title: bool, label: bool) -> Iterator[Span]:
    """The spans of one sentence. A capital tells nothing in a title, nor in a label that is all
    capitals, nor at the first place."""
    capitals = [i.word for i in sentence if i.word[:1].isupper()]
    quiet = title or not any(i.word[:1].isupper() and not i.first for i in sentence)
    shouting = not quiet and _is_shouted(sentence)
    quiet = quiet or shouting or _is_title(sentence, capitals, label=label)
    words: list[str] = []
    joints: list[str] = []
    named: list[bool] = []
    for item in sentence:
        if words and (not item.joint or not item.word):
            yield Span(tuple(words), tuple(joints), tuple(named))
            words, joints, named = [], [], []
        if item.word:
            words.append(item.word.lower() if shouting else item.word)
            joints.append(item.joint)
            named.append(not (item.first or quiet) and item.word[0].isupper())
    if words:
        yield Span(tuple(words), tuple(joints), tuple(named))


def _is_shouted(sentence: list[_Item]) -> bool:
    """``DO NOT DEPLOY TODAY``; a list of acronyms has no word of grammar."""
    loud = [i.word for i in sentence if i.word.isupper() and i.word.isalpha()]
    return len(loud) >= max(3, 0.6 * len(sentence)) and any(is_stop_word(w.lower()) for w in loud)


def _is_title(sentence: list[_Item], capitals: list[str], *, label: bool) -> bool:
    """Whether all words that say something have a capital: in a label, or three and no others."""
    if label:
        return len(capitals) >= sum(bool(i.word) and not is_stop_word(i.word) for i in sentence)
    return 3 <= len(capitals) == sum(bool(i.word) for i in sentence)
