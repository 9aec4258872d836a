"""Which words are names, told by how they are written: people, products, places, acronyms.

A capital makes a name where nothing else asks for it: inside a sentence that is no title. A word
that never stands there is a name only if it is never written small, is no word of every day, and
does not give orders (``Deploy the ...``). Some need no such evidence: ``AWS``, ``iPhone``,
``GPT4``, ``node.js``, ``C++``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from agent_memfas.text.everyday import is_everyday, is_grammar, is_order, looks_derived
from agent_memfas.text.firing import key_of
from agent_memfas.text.spans import Line, Span

LINKS = frozenset("of de del della den der des di du la le the van von zu bin al el".split())
_SHAPED = re.compile(
    r"[A-Z][A-Z0-9]+s?|[A-Z]\d+[a-z]?"  # AWS, APIs, S3, H100
    r"|[A-Za-z]*[a-z][A-Z]\w*"  # iPhone, PostgreSQL
    r"|[A-Za-z]{2,}\d+\w*|[a-z]\d+[a-z]+"  # GPT4, k8s
    r"|\w+\.\w+|[A-Z]+[/&][A-Z]+|\w+\+\+|[A-Z]#"  # node.js, CI/CD, R&D, C++, C#
    r"|[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)+|[\w-]+-\d+"  # DATABASE_URL, GPT-4
)
_DETERMINERS = frozenset(
    "a an the this that these those your my our his her its their any all each every".split()
)


@dataclass(frozen=True)
class Tally:
    """On how many lines each word (by its key) stands: at all, written small, written as a name,
    with a form that only names have, and giving an order at the start of a sentence.
    """

    lines: Counter[str] = field(default_factory=Counter)
    small: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    shaped: Counter[str] = field(default_factory=Counter)
    orders: Counter[str] = field(default_factory=Counter)

    @cached_property
    def total(self) -> int:
        """Of all words together."""
        return self.lines.total()

    def is_name(self, key: str) -> bool:
        """Whether a single word is a name."""
        if len(key) < 2 or is_grammar(key):
            return False
        small, named, shaped = self.small[key], self.named[key], self.shaped[key]
        everyday = all(map(is_everyday, key.split()))
        if shaped and shaped >= small and 2 * shaped >= self.lines[key] - small:
            return not everyday
        if everyday:
            return named >= 3 and named >= 4 * small and 2 * named >= self.lines[key]
        if named:
            return named > small or (named > 2 and 2 * named > small)
        derived = looks_derived(key) or is_order(key) or self.orders[key]
        return not small and not derived


class Form(NamedTuple):
    """A word of a span. key: of the trigger it would be (`firing.key_of`). capital: whether it is
    written as a name would be. shaped: whether its form alone shows a name, by capitals or digits
    where plain words have none.
    """

    key: str
    capital: bool
    shaped: bool


@lru_cache(maxsize=1 << 16)
def form_of(word: str) -> Form:
    """How one word is written."""
    shaped = _SHAPED.fullmatch(word) is not None
    return Form(key_of(word), shaped or word[0].isupper(), shaped)


def count_words(lines: Iterable[Line]) -> Tally:
    """Count the words of lines, each once a line."""
    tally = Tally()
    for line in lines:
        seen: set[str] = set()
        small: set[str] = set()
        named: set[str] = set()
        shaped: set[str] = set()
        for span in line.spans:
            follows = False  # a capital behind a capital tells of both words, not of this one
            forms = [form_of(word) for word in span.words]
            for form, tells in zip(forms, span.named, strict=True):
                seen.add(form.key)
                if not form.capital:
                    small.add(form.key)
                elif form.shaped:
                    shaped.add(form.key)
                elif tells and not follows:
                    named.add(form.key)
                follows = form.capital and not is_grammar(form.key)
            if forms[0].capital and len(forms) > 1 and span.words[1] in _DETERMINERS:
                tally.orders[forms[0].key] += 1
        tally.lines.update(seen)
        tally.small.update(small)
        tally.named.update(named)
        tally.shaped.update(shaped)
    return tally


def is_written_as_name(span: Span, start: int, end: int) -> bool:
    """Whether the words start..end all have their capital, links (``of``, ``van``) aside."""
    return all(form_of(w).capital or w in LINKS for w in span.words[start:end])
