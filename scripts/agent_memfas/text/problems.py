"""What is wrong with a memory file, as lines of a report, and the file with its near misses mended.

A message never shows a secret: whatever is quoted in it is masked first.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import date

from agent_memfas.text.contradictions import Claim, contradictions, duplicates, split_key
from agent_memfas.text.documents import BOM, Document, parse
from agent_memfas.text.marks import clip
from agent_memfas.text.nearmiss import NearMiss, near_misses
from agent_memfas.text.secrets import find, mask, names_secret

# A corrected bullet can make a bullet of what stands under it; CommonMark nests 20 deep here.
ROUNDS = 25
QUOTED = 50


@dataclass(frozen=True)
class Problem:
    """path, line (1-based): where. rule: a short code. message: one line. fixed: the corrected
    line, or None where only a person can tell what it should be.
    """

    path: str
    line: int
    rule: str
    message: str
    fixed: str | None = None


def in_bytes(path: str, document: Document) -> list[Problem]:
    """What keeps a program from changing the file at all, and secrets: for files of any kind."""
    out = []
    if not document.decodable:
        message = f"{_encoding(document.data)}: memfas does not change this file; save it as UTF-8"
        out.append(Problem(path, _bad_line(document.data), "not-utf8", message))
    marker = document.conflict_marker()
    if marker is not None:
        message = (
            "an unresolved git conflict: memfas does not change this file until it is resolved"
        )
        out.append(Problem(path, marker + 1, "conflict-marker", message))
    return out + _secrets(path, document)


def in_entries(path: str, document: Document, today: date) -> list[Problem]:
    """Near misses, and fences and comments that are never closed."""
    unclosed = {region.start for region in document.regions if not region.closed}
    return [
        Problem(
            path,
            miss.line + 1,
            "open-fence" if miss.line in unclosed and _opens(miss) else "near-miss",
            mask(miss.problem),
            None if miss.fixed is None else mask(miss.fixed),
        )
        for miss in near_misses(document, today)
    ]


def _opens(miss: NearMiss) -> bool:
    return miss.fixed is None and "never closed" in miss.problem


def between(claims: list[Claim]) -> list[Problem]:
    """Entries that say the same as an earlier one, or something else than a newer one."""
    same = [
        Problem(a.path, a.line + 1, "duplicate", f"says the same as {_place(b)}")
        for a, b in duplicates(claims)
    ]
    return same + [
        Problem(old.path, old.line + 1, "contradiction", _contradiction(old, new))
        for old, new in contradictions(claims)
    ]


def _contradiction(old: Claim, new: Claim) -> str:
    name, before = _spoken(old)
    _, after = _spoken(new)
    there, place = _place(new), shlex.quote(_place(old))
    said = f"is {before} here and {after} at {there}" if before else f"has another value at {there}"
    return f'"{name}" {said}; if that one holds: memfas supersede {place} "…"'


def _place(claim: Claim) -> str:
    return f"{claim.path}:{claim.line + 1}".replace("\n", "␊")


def _spoken(claim: Claim) -> tuple[str, str]:
    """The subject and the value as they may be shown: the value quoted, or "" for a secret."""
    name, value = split_key(mask(claim.text)) or (" ".join(claim.key), "")
    name = quoted(name.strip(" *_`~"))
    if names_secret(name):
        return name, ""
    return name, f'"{quoted(value.strip(" *_`~") or " ".join(claim.value))}"'


def quoted(text: str) -> str:
    """The beginning of a text on one line, cut between characters as a reader sees them."""
    return clip(" ".join(text.split()), QUOTED)


def mended(document: Document, today: date) -> tuple[bytes, list[NearMiss]]:
    """The file with every line corrected of which a correction is known, and those corrections.

    Each keeps its line end and the file its BOM; all other lines keep their bytes. Correcting the
    outcome again changes nothing.
    """
    done: dict[int, NearMiss] = {}
    for _ in range(ROUNDS):
        known = {m.line: m for m in near_misses(document, today) if m.fixed is not None}
        if not known:
            break
        lines = list(document.lines)
        for n, miss in known.items():
            lines[n] = _replaced(lines[n], miss.fixed or "", first=n == 0)
            done[n] = NearMiss(n, done[n].problem if n in done else miss.problem, miss.fixed)
        document = parse(b"".join(lines))
    return document.data, [done[n] for n in sorted(done)]


def _replaced(line: bytes, text: str, *, first: bool) -> bytes:
    mark = BOM if first and line.startswith(BOM) else b""
    ending = next((end for end in (b"\r\n", b"\n") if line.endswith(end)), b"")
    return mark + text.encode() + ending


def _encoding(data: bytes) -> str:
    return "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"


def _bad_line(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1


def _secrets(path: str, document: Document) -> list[Problem]:
    text = "\n".join(document.text_lines)
    out, line, at = [], 1, 0
    for secret in find(text):
        line, at = line + text.count("\n", at, secret.start), secret.start
        message = (
            f"looks like a secret ({secret.kind}, {secret.hint(text)}): "
            "note where it is kept, not what it is"
        )
        out.append(Problem(path, line, "secret", message))
    return out
