"""Where a document points: markdown links and images, `-> path#L12` hints, `<!-- source: … -->`.

Links come from markdown-it-py's own rules, so that code, escapes and comments are what CommonMark
says they are; each rule here notes where it stands, for the parser itself keeps no columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_memfas.text.documents import Document
from agent_memfas.text.marks import find_comments

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

LONGEST = 20_000
_WORTH_A_LOOK = re.compile(r"\]\(|\]:|(?<!-)->|<!--\s{0,99}source:")
_PLACE = r"(?:#L[0-9]{1,9}(?:-L?[0-9]{1,9})?|:[0-9]{1,9}(?:-[0-9]{1,9})?)"
_TEXT_FILE = r"\.(?:md|markdown|txt|jsonl)"
# `a.md -> b.md` in prose is no hint; one has a folder in it, or a line.
_HINT = re.compile(
    rf"->[ \t]{{1,8}}((?=[^\s.]\S*/|\S*{_TEXT_FILE}[#:])"
    rf"[^\s`<>\[\]()\"']{{1,999}}{_TEXT_FILE}{_PLACE}?)"
    r"(?![^\s.,;!?)])"
)
_PATH = re.compile(rf"\S.*\.[A-Za-z]{{1,8}}{_PLACE}?")
_LINES = re.compile(r"(.+?)(?:#L([0-9]{1,9})(?:-L?([0-9]{1,9}))?|:([0-9]{1,9})(?:-([0-9]{1,9}))?)")
_ELSEWHERE = re.compile(r"[/\\#~?]|[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:-[0-9]+)?$)")
_STAND_IN = re.compile(r"YYYY|\{.*\}|<.*>|\.\.\.|…|\*")


@dataclass(frozen=True)
class Link:
    """A relative target. line: 0-based, where it stands. target: as written (unquoted).

    path: the file it names. last: the highest line that it names (1-based), 0 where it names none.
    """

    line: int
    target: str
    path: str
    last: int = 0


def links(document: Document) -> list[Link]:
    """The relative links, hints and sources of a document, in order.

    URLs, addresses, absolute paths, bare anchors and stand-ins (`memory/YYYY-MM-DD.md`) are left
    out, and so are paragraphs of more than LONGEST characters.
    """
    text = document.text_lines
    if not any(_WORTH_A_LOOK.search(line) for line in text):
        return []
    hidden = document.front_matter.end if document.front_matter else 0
    source = "\n".join("" if n < hidden else line.replace("\r", " ") for n, line in enumerate(text))
    parser, found = _parser(), list[tuple[int, str]]()
    env: dict[str, Any] = {}
    for token in parser.parse(source, env):
        if token.map is None or len(token.content) > LONGEST:
            continue
        first, content = token.map[0], token.content
        if token.type == "html_block":
            spots = [(at, t) for at, _, inside in find_comments(content) for t in _sources(inside)]
        elif token.type == "inline" and (_WORTH_A_LOOK.search(content) or env.get("references")):
            spots = []
            env.update(spots=spots, size=len(content))
            parser.inline.parse(content, parser, env, [])
        else:
            continue
        found += [(first + content.count("\n", 0, at), target) for at, target in spots]
    return sorted(filter(None, (_link(*spot) for spot in found)), key=lambda link: link.line)


def _link(line: int, target: str) -> Link | None:
    """A target as a link, or None where it does not name a file beside this one."""
    if not target or _ELSEWHERE.match(target) or _STAND_IN.search(target):
        return None
    lines = _LINES.fullmatch(target)
    if lines is None:
        return Link(line, target, re.split("[#?]", target, maxsplit=1)[0])
    return Link(line, target, lines[1], max(int(n) for n in lines.groups()[1:] if n))


def _sources(comment: str) -> list[str]:
    """What a comment `source: a.md#L3, b.md by scout` names; words of other kinds are no paths."""
    if not comment.startswith("source:"):
        return []
    named = re.split(r"\sby\s", f"{comment[7:]} ", maxsplit=1)[0]
    return [part for p in named.split(",") if _PATH.fullmatch(part := p.strip())]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import html_inline, image, link

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.inline.ruler.disable("emphasis")
    parser.inline.ruler2.enableOnly([])
    parser.inline.ruler.at("link", _noting(link, _href))
    parser.inline.ruler.at("image", _noting(image, _source_of_image))
    parser.inline.ruler.at("html_inline", _noting(html_inline, _comment))
    parser.inline.ruler.before("link", "hint", _hint)
    return parser


Rule = Callable[["StateInline", bool], bool]
Look = Callable[["StateInline", int, int], list[str]]


def _noting(rule: Rule, look: Look) -> Rule:
    """A rule of the parser that also notes what it found, and where."""

    def noting(state: StateInline, silent: bool) -> bool:
        start, made = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        if not silent:
            _note(state, start, look(state, start, made))
        return True

    return noting


def _note(state: StateInline, at: int, targets: list[str]) -> None:
    """Keep targets with their place, unless the text is only the description of an image."""
    if len(state.src) == state.env["size"]:
        state.env["spots"] += [(at, target) for target in targets]


def _href(state: StateInline, _: int, made: int) -> list[str]:
    opened = next(t for t in state.tokens[made : made + 2] if t.type == "link_open")
    return [unquote(str(opened.attrs["href"]))]


def _source_of_image(state: StateInline, _: int, made: int) -> list[str]:
    shown = next(t for t in state.tokens[made : made + 2] if t.type == "image")
    return [unquote(str(shown.attrs["src"]))]


def _comment(state: StateInline, start: int, _: int) -> list[str]:
    found = find_comments(state.src[start : state.pos])
    return [target for _, _, inside in found for target in _sources(inside)]


def _hint(state: StateInline, silent: bool) -> bool:
    if silent or not state.src.startswith("->", state.pos):
        return False
    match = _HINT.match(state.src, state.pos)
    if match is None:
        return False
    _note(state, state.pos, [match[1]])
    state.pos = match.end()
    return True
