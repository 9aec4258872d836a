"""The page of an `.abstract`: what a folder holds, in about 100 tokens and one line a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent_memfas.text.lines import plain, safe, safe_name, shorten
from agent_memfas.text.summary import Summary
from agent_memfas.text.tokens import estimate
from agent_memfas.text.topics import choose, spread

MOST_FILES = 200
MOST_FOLDERS = 200
MOST_TOKENS = 100
HEADING_TOKENS = 35
LINE_TOKENS = 40
FEWEST_TOPICS = 3  # for fewer the beginning is not cut short
LEAD_TOKENS = 18  # of them for what the file begins with
MOST_TERMS = 12
STRONGEST = 9  # what one file can give to a term: a long one does not drown the others
PRIORITIES = ("P0", "P1", "P2")
_MARK = re.compile(
    rb"<!-- Auto-generated: [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} \| memfas abstract"
    rb" \| sources sha256:([0-9a-f]{16})( \| words by [^\r\n]{1,200})? -->\r?"
)
_FIGURES = re.compile(
    r"[0-9,]+ files?(?: here and in [0-9,]+ folders? below)?"
    r"(?:, [0-9-]{10}(?: to [0-9-]{10})?)?(?:, ~[0-9,]+ tokens)?\."
    r"(?: Entries: [^.]{1,40}\.)?(?: Archived: [^.]{1,60}\.)?"
)
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}")


@dataclass(frozen=True)
class Item:
    """A file as listed. summary: None where its text is not read; note: said behind the rest."""

    name: str
    summary: Summary | None = None
    note: str = ""


@dataclass(frozen=True)
class Totals:
    """A folder and everything below it, save that of archives only files and entries count."""

    files: int = 0
    folders: int = 0
    first: str = ""
    last: str = ""
    counts: tuple[int, int, int] = (0, 0, 0)
    tokens: int = 0
    archived_files: int = 0
    archived_entries: int = 0
    terms: tuple[tuple[str, int], ...] = ()


def add_up(items: Sequence[Item], below: Iterable[tuple[Totals, bool]], *, bare: bool) -> Totals:
    """The totals of a folder from its files and its subfolders' totals (each: is it an archive?).

    bare: the folder is itself an archive, whose words are not repeated.
    """
    found = [item.summary for item in items if item.summary]
    live, archives = list[Totals](), list[Totals]()
    for totals, is_archive in below:
        (archives if is_archive and not bare else live).append(totals)
    parts: list[Summary | Totals] = [*found, *live]
    terms = Counter[str]()
    for summary in found if not bare else ():
        terms.update({word: min(weight, STRONGEST) for word, weight in summary.terms})
    for totals in live:
        terms.update(dict(totals.terms))
    return Totals(
        files=len(items) + sum(t.files for t in live),
        folders=sum(t.folders + 1 for t in [*live, *archives]),
        first=min((p.first for p in parts if p.first), default=""),
        last=max((p.last for p in parts if p.last), default=""),
        counts=_sum(p.counts for p in parts),
        tokens=sum(p.tokens for p in parts),
        archived_files=sum(t.files for t in archives) + sum(t.archived_files for t in live),
        archived_entries=sum(sum(t.counts) for t in archives)
        + sum(t.archived_entries for t in live),
        terms=tuple(terms.items()),
    )


def _sum(counts: Iterable[tuple[int, int, int]]) -> tuple[int, int, int]:
    rows = list(counts)
    return sum(r[0] for r in rows), sum(r[1] for r in rows), sum(r[2] for r in rows)


def write_page(
    name: str,
    stamp: str,
    sources: str,
    items: Sequence[Item],
    folders: Mapping[str, str],
    totals: Totals,
    *,
    said: str = "",
    bare: bool,
) -> str:
    """The whole text of an `.abstract`.

    name: the folder's own. stamp: `YYYY-MM-DD HH:MM`. sources: 16 hex digits. items, folders: in
    any order; of each folder a safe line of what somebody has written about it, or "". said: the
    same about this folder. bare: counts only, nothing of what the files say.
    """
    lines = [
        f"# {safe_name(name)}/ L0 Abstract",
        f"<!-- Auto-generated: {stamp} | memfas abstract | sources sha256:{sources} -->",
        "",
        _overview(items, totals, said, bare=bare),
    ]
    if items:
        ordered = sorted(sorted(items, key=lambda i: i.name), key=lambda i: _age(i.name))
        listed = ordered[:MOST_FILES]
        among = spread(item.summary.topics for item in listed if item.summary)
        lines += ["", "**Files:**", *(_line(i, among, len(listed), bare=bare) for i in listed)]
        if len(items) > MOST_FILES:
            lines.append(f"- … and {len(items) - MOST_FILES} more")
    if folders:
        names = [safe_name(folder) for folder in sorted(folders)[:MOST_FOLDERS]]
        if len(folders) > MOST_FOLDERS:
            names.append(f"… and {len(folders) - MOST_FOLDERS} more")
        lines += ["", f"**Subdirectories:** {', '.join(names)}"]
        lines += [f"- {safe_name(f)}: {folders[f]}" for f in sorted(folders)[:MOST_FOLDERS]
                  if folders[f]]  # fmt: skip
    return "\n".join(lines) + "\n"


def read_mark(page: bytes) -> str | None:
    """The sources of an `.abstract` that memfas has written, or None: it is somebody else's."""
    lines = page[:4096].split(b"\n")
    match = _MARK.fullmatch(lines[1]) if len(lines) > 1 else None
    return match[1].decode() if match else None


def read_words(page: bytes) -> bool:
    """Whether a model has worded an `.abstract` that memfas has written."""
    lines = page[:4096].split(b"\n")
    match = _MARK.fullmatch(lines[1]) if len(lines) > 1 else None
    return bool(match and match[2])


def reworded(page: str, words: str, by: str) -> str:
    """A page of `write_page` whose overview says, behind its figures, what a model has written.

    words: of any origin; cut so that the overview has at most MOST_TOKENS. by: the model's name.
    """
    head, mark, blank, overview, *rest = page.split("\n")
    found = _FIGURES.match(overview)
    figures = f"{found[0]} " if found else ""
    said = shorten(plain(words), MOST_TOKENS - estimate(figures) - 1)
    mark = mark.replace(" -->", f" | words by {plain(by)[:80] or 'a model'} -->")
    return "\n".join([head, mark, blank, figures + said, *rest])


def _age(name: str) -> tuple[int, ...]:
    """Undated names first, then the newest of the dated ones: a log of today stands on top."""
    dated = _DATED.match(name)
    return (1, *(-ord(c) for c in name[:10])) if dated else (0,)


def _line(item: Item, among: Mapping[str, int], files: int, *, bare: bool) -> str:
    summary = item.summary or Summary("")
    dates = _dates(summary.first, summary.last)
    figures = ["" if item.name.startswith(dates) else dates, _entries(summary.counts)]
    figures += [f"~{summary.tokens:,} tokens" if summary.tokens else "", safe(item.note)]
    says = "" if bare else _says(summary, among, files)
    tail = "; ".join(filter(None, figures))
    if not says:
        return f"- {safe_name(item.name)}: {tail or 'empty'}"
    return f"- {safe_name(item.name)}: {says}{f' ({tail})' if tail else ''}"


def _says(summary: Summary, among: Mapping[str, int], files: int) -> str:
    """What a file says and what it is about, within the tokens of a line. among: see `choose`."""
    lead = summary.says if summary.is_talk else shorten(summary.says, LEAD_TOKENS)
    about = choose(summary.topics, among, files, lead, LINE_TOKENS - estimate(lead) - 2)
    if len(about) < FEWEST_TOPICS and not summary.is_talk:
        return summary.says
    if summary.is_talk:
        return f"{lead}: {', '.join(about)}" if about else lead
    room = LINE_TOKENS - estimate(", ".join(about)) - 2
    lead = shorten(summary.says, max(room, LEAD_TOKENS))
    return f"{lead}; also {', '.join(about)}" if lead else ", ".join(about)


def _overview(items: Sequence[Item], totals: Totals, written: str, *, bare: bool) -> str:
    where = f" here and in {_number(totals.folders, 'folder')} below" if totals.folders else ""
    figures = [
        f"{_number(totals.files, 'file')}{where}",
        _dates(totals.first, totals.last),
        f"~{totals.tokens:,} tokens" if totals.tokens else "",
    ]
    said = [f"{', '.join(filter(None, figures))}."]
    if any(totals.counts):
        said.append(f"Entries: {_entries(totals.counts)}.")
    if totals.archived_files:
        number = totals.archived_entries
        entries = f"{number} {'entry' if number == 1 else 'entries'}"
        said.append(f"Archived: {entries} in {_number(totals.archived_files, 'file')}.")
    if written:
        said.append(f'Others say: "{written}".')
    if not bare:
        summaries = [item.summary for item in items if item.summary]
        headings = Counter(section for s in summaries for section in s.sections)
        by_number = sorted(headings, key=lambda heading: -headings[heading])
        room = min(HEADING_TOKENS, MOST_TOKENS - estimate(" ".join(said)))
        said.append(_fit("Sections", [shorten(h, 12) for h in by_number], room))
        ranked = sorted(totals.terms, key=lambda pair: (-pair[1], pair[0]))[:MOST_TERMS]
        left = MOST_TOKENS - estimate(" ".join(said))
        said.append(_fit("Often", [word for word, _ in ranked], left))
    return " ".join(filter(None, said))


def _fit(label: str, names: list[str], tokens: int) -> str:
    """`Label: a, b, c.` with as many names as fit into so many tokens; "" where none does."""
    kept: list[str] = []
    for name in names:
        if estimate(f"{label}: {', '.join([*kept, name])}. ") > tokens:
            break
        kept.append(name)
    return f"{label}: {', '.join(kept)}." if kept else ""


def _dates(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _entries(counts: tuple[int, int, int]) -> str:
    named = zip(counts, PRIORITIES, strict=True)
    return ", ".join(f"{count} {priority}" for count, priority in named if count)


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
