"""Whether the words of a quotation stand in a file, as it is or as a model was shown it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from agent_memfas.llm.redaction import redact
from agent_memfas.text.citations import Quotable


class Evidence:
    """A file in which quotations are looked for. lines: without terminators."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._plain = Quotable(lines)

    @cached_property
    def _redacted(self) -> Quotable:
        return Quotable(redact("\n".join(self._lines)).text.split("\n"))

    def place(self, quote: str, start: int, end: int) -> tuple[int, int] | None:
        """The lines (first, last; 1-based) of the quotation, those nearest to start..end; None."""
        found = self._plain.place(quote, start, end)
        if found is None and "redacted" in quote:
            return self._redacted.place(quote, start, end)
        return found
