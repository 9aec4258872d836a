r"""A markdown file as lines of bytes and the blocks they form.

`parse` splits on `\n` only and keeps every terminator, so that `b"".join(document.lines)` is the
file again, byte for byte, whatever it holds. The structure comes from markdown-it-py's block pass
(CommonMark); its spans are line numbers over those same bytes: 0-based, end exclusive.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from agent_memfas.text.managed import managed_blocks
from agent_memfas.text.marks import hide_code

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

BOM = b"\xef\xbb\xbf"
FRONT_MATTER_BYTES = 64 * 1024
_KEY_LINE = re.compile(r"[\w.\"'-]{1,80}[ \t]*:(?:[ \t]|$)")
_OPENING = re.compile(r"<!--|^[ \t]{0,3}<(pre|details)(?=[\s>])")
_REGION_KINDS = {"-->": "comment", "</pre>": "html", "</details>": "html"}


@dataclass(frozen=True)
class Block:
    """One block: kind is heading, paragraph, list, item, fence, code, html, quote or rule.

    start, end: lines, 0-based, end exclusive, trailing blank lines left out. depth: how many
    blocks it stands in. level: of a heading (1 to 6). markup: of a list item (`-`, `*`, `1.`).
    """

    kind: str
    start: int
    end: int
    depth: int
    level: int = 0
    markup: str = ""
    text: str = ""


@dataclass(frozen=True)
class Region:
    """Lines in which nothing is an entry: fence, code, html, comment, quote or front matter.

    closed is False where it runs to the end of the file for want of its closing mark.
    """

    kind: str
    start: int
    end: int
    closed: bool = True


@dataclass(frozen=True)
class Document:
    """A parsed file. lines: bytes with terminators; decodable: whether they are UTF-8."""

    data: bytes
    lines: tuple[bytes, ...]
    decodable: bool

    @cached_property
    def text_lines(self) -> tuple[str, ...]:
        r"""The lines as text: no terminator (`\n` or `\r\n`), no BOM, bad bytes as U+FFFD."""
        return tuple(_line_text(line, first=n == 0) for n, line in enumerate(self.lines))

    @cached_property
    def front_matter(self) -> Region | None:
        """The YAML header between `---` lines, if the file has one that is closed."""
        return _front_matter(self.text_lines)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in document order, containers before their content."""
        return _blocks(self.text_lines, self.front_matter)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """Everything in which text is not memory, by first line; regions may nest."""
        return _regions(self)

    @cached_property
    def opaque(self) -> frozenset[int]:
        """The lines that stand in any region, and those that are managed."""
        found = frozenset(n for r in self.regions for n in range(r.start, r.end))
        return found | self.managed if self.managed else found

    @cached_property
    def managed(self) -> frozenset[int]:
        """The lines that another program replaces as it likes; they are opaque, too."""
        if b"openclaw:dreaming:" not in self.data.lower():
            return frozenset()
        blocks = managed_blocks(self.text_lines, {heading.start for heading in self.headings})
        return frozenset(n for start, end in blocks for n in range(start, end))

    @cached_property
    def headings(self) -> tuple[Block, ...]:
        """Top-level headings, ATX and Setext, in order."""
        return tuple(b for b in self.blocks if b.kind == "heading" and b.depth == 0)

    @cached_property
    def _heading_paths(self) -> tuple[list[int], list[tuple[str, ...]]]:
        starts, paths, stack = [], [], list[Block]()
        for heading in self.headings:
            while stack and stack[-1].level >= heading.level:
                stack.pop()
            stack.append(heading)
            starts.append(heading.start)
            paths.append(tuple(h.text for h in stack))
        return starts, paths

    def heading_path(self, line: int) -> tuple[str, ...]:
        """The headings above a line (a heading stands under itself), outermost first."""
        starts, paths = self._heading_paths
        at = bisect_right(starts, line)
        return paths[at - 1] if at else ()

    def conflict_marker(self) -> int | None:
        """The first line of an unresolved git conflict, or None."""
        for n, line in enumerate(self.lines):
            if line.removeprefix(BOM).startswith((b"<<<<<<< ", b">>>>>>> ")):
                return n
        return None


def parse(data: bytes) -> Document:
    """Bytes of a file -> Document. Never fails: text that is not UTF-8 is marked, not refused."""
    return Document(data, split(data), _is_utf8(data))


def split(data: bytes) -> tuple[bytes, ...]:
    r"""Lines with their terminators; `b"".join` gives the same bytes. Only `\n` ends a line."""
    pieces = data.split(b"\n")
    last = pieces.pop()
    return (*(piece + b"\n" for piece in pieces), *([last] if last else []))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _line_text(line: bytes, *, first: bool) -> str:
    if first and line.startswith(BOM):
        line = line[len(BOM) :]
    if line.endswith(b"\n"):
        line = line[:-2] if line.endswith(b"\r\n") else line[:-1]
    return line.decode("utf-8", "replace")


def _front_matter(lines: tuple[str, ...]) -> Region | None:
    """A first line `---`, then `key:`, then a closing `---` or `...` within 64 KB."""
    if not lines or lines[0].rstrip() != "---":
        return None
    size, keyed = 0, False
    for n, line in enumerate(lines[1:], start=1):
        size += len(line) + 1
        if size > FRONT_MATTER_BYTES:
            return None
        if line.rstrip() in ("---", "..."):
            return Region("front matter", 0, n + 1) if keyed or n == 1 else None
        if not keyed and line.strip() and not line.lstrip().startswith("#"):
            if not _KEY_LINE.match(line):
                return None
            keyed = True
    return None


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
}


def _blocks(lines: tuple[str, ...], front: Region | None) -> tuple[Block, ...]:
    r"""The block pass. A lone `\r` would start a line for the parser and not for us: a space."""
    hidden = front.end if front else 0
    source = "\n".join(
        "" if n < hidden else line.replace("\r", " ") for n, line in enumerate(lines)
    )
    tokens = _parser().parse(source)
    out = []
    for n, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        start, end = token.map
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
        level, text = 0, ""
        if kind == "heading":
            level, text = int(token.tag[1]), tokens[n + 1].content.strip()
        markup = f"{token.info}{token.markup}" if kind == "item" else token.markup
        out.append(Block(kind, start, end, token.level, level, markup, text))
    return tuple(out)


def _regions(document: Document) -> tuple[Region, ...]:
    lines = document.text_lines
    found = [document.front_matter] if document.front_matter else []
    text_end = max((n + 1 for n, line in enumerate(lines) if line.strip()), default=0)
    for block in document.blocks:
        if block.kind == "fence":
            closed = _fence_closed(lines, block) or block.end < text_end
            found.append(Region("fence", block.start, block.end, closed))
        elif block.kind in ("code", "html", "quote"):
            found.append(Region(block.kind, block.start, block.end))
    unparsed = [r for r in found if r.kind in ("fence", "code", "front matter")]
    raw = {n for r in unparsed for n in range(r.start, r.end)}
    found += _tag_regions(lines, raw, document.blocks)
    return tuple(sorted(found, key=lambda r: (r.start, -r.end)))


def _fence_closed(lines: tuple[str, ...], block: Block) -> bool:
    last = lines[block.end - 1].strip(" \t>")
    mark = block.markup
    return block.end - block.start > 1 and len(last) >= len(mark) and set(last) == {mark[0]}


def _tag_regions(lines: tuple[str, ...], raw: set[int], blocks: tuple[Block, ...]) -> list[Region]:
    """Comments, `<pre>` and `<details>` over several lines, also where CommonMark ends them early.

    A person who opens a comment means everything up to its end, whatever blocks lie between; so
    does this, for nothing doubtful may expire. A comment inside one list item belongs to it.
    """
    items = {b.start: b.end for b in blocks if b.kind == "item" and b.depth == 1}
    starts = sorted(items)
    out: list[Region] = []
    opened, closer = -1, ""
    for n, line in enumerate(lines):
        if "<" not in line and "-->" not in line:
            continue
        if n in raw and opened < 0:
            continue
        shown = (line if n in raw else hide_code(line)).lower()
        at = 0
        while True:
            if opened < 0:
                opening = _OPENING.search(shown, at)
                if opening is None:
                    break
                opened, closer = n, f"</{opening[1]}>" if opening[1] else "-->"
                at = opening.end() if opening[1] else opening.start() + 2
            cut = shown.find(closer, at)
            if cut < 0:
                break
            if opened < n and not _inside_item(items, starts, opened, n):
                out.append(Region(_REGION_KINDS[closer], opened, n + 1))
            at, opened = cut + len(closer), -1
    if opened >= 0:
        out.append(Region(_REGION_KINDS[closer], opened, len(lines), closed=False))
    return out


def _inside_item(items: dict[int, int], starts: list[int], first: int, last: int) -> bool:
    at = bisect_right(starts, first)
    return at > 0 and items[starts[at - 1]] > last
