"""The lines of overviews (`.abstract`): in no index, so read and ranked when they are asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.index.bare import BareRanking
from agent_memfas.index.extract import extract, load
from agent_memfas.index.fusion import named
from agent_memfas.index.postings import asked_terms, idf, summed
from agent_memfas.index.rows import Found, Row
from agent_memfas.index.scope import scope_of
from agent_memfas.index.tiers import ABSTRACT
from agent_memfas.store.listing import join
from agent_memfas.store.overviews import abstract_files
from agent_memfas.store.places import PUT_AWAY, kind_of, log_day

_ENDS = (":", " - ", " – ", " — ", "`", "]", "*", " ")  # of a file's name at the head of a bullet


def files(root: str) -> list[str]:
    """The overviews of a memory folder that count, archives aside: relative paths, in order."""
    found = abstract_files(root, scope_of(root, ()).enters)
    return [path for path in found if kind_of(path) not in PUT_AWAY]


class Overviews:
    """The overviews of a memory folder as they stand right now, archives aside."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.rows = [(path, row) for path in files(root) for row in self._rows_of(path)]

    def ranked(self, question: str) -> list[Found]:
        """The lines that share a word with the question, best first; Found.row.heading is what a
        line is about (see `about`).

        Each line stands by itself, for its neighbours speak of other files. The words that no line
        has count, too: so few lines know few of a question's words, and to hold all of these says
        little.
        """
        ranking = BareRanking(self.rows)
        asked, lines = asked_terms(question), len(self.rows)
        parts = ranking.parts(question)
        known = {term: idf(lines, n) for term, n in ranking.holding(asked).items()}
        whole = sum(weight * known.get(term, idf(lines, 0)) for term, weight in asked.items())
        share = sum(asked[term] * weight for term, weight in known.items()) / whole if whole else 0
        own = {n: sum_ * share for n, sum_ in summed(parts).items()}
        return [
            Found(self.rows[n][0], ABSTRACT, self.rows[n][1], named(own[n]))
            for n in sorted(own, key=lambda n: (-own[n], n))
        ]  # fmt: skip

    def _rows_of(self, path: str) -> list[Row]:
        try:
            data = load(self._root, path).data
        except (FileFault, UsageError):
            return []
        return [self._told(path, row) for row in extract(f"{path}.md", data).rows]

    def _told(self, path: str, row: Row) -> Row:
        """A line with what it is about; about a daily log, with the day of the log."""
        place = about(self._root, path, row.text)
        return Row(**{**vars(row), "heading": place, "day": log_day(place) or row.day})


def about(root: str, path: str, text: str) -> str:
    """What a line of an overview is about: the file or folder that it names first, where that is
    there, else the overview's own folder. Relative to the root; a folder ends with `/`.
    """
    folder = os.path.dirname(path)
    for name in _names(text):
        place = os.path.normpath(join(folder, name))
        if name.startswith(("/", "..")) or place in ("", ".") or "\0" in place:
            continue
        real = os.path.join(root, place)
        if os.path.lexists(real):
            return f"{place}/" if os.path.isdir(real) else place
    return f"{folder or '.'}/"


def _names(text: str) -> Iterator[str]:
    """What may be the name of a file at the head of a bullet, likeliest first."""
    head = text.lstrip()
    if not head.startswith(("- ", "* ", "+ ")):
        return
    head = head[2:].lstrip()
    if head.startswith('"'):
        try:
            name, _ = json.JSONDecoder().raw_decode(head)
        except ValueError:
            return
        yield str(name)
        return
    for end in _ENDS:
        name = head.lstrip("`*[_ ").partition(end)[0].rstrip("`*]_ ")
        if name:
            yield name
