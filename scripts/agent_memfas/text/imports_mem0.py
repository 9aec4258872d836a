"""Memories of mem0: `get_all` of the library, pages of the platform, a bare list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agent_memfas.text.imports import Said, digest, items, source
from agent_memfas.text.moments import moment
from agent_memfas.text.recalled import without_recalled

KIND = "mem0"
LISTS = ("results", "memories")


def messages(rows: Iterable[object]) -> Iterator[Said]:
    """The memories. rows: JSON values, each a memory or an object with a list of them.

    One whose text was changed since is another one: both versions were true at their time.
    """
    for row in rows:
        for item in items(row, *LISTS):
            yield from _memory(item)


def _memory(item: Mapping[str, object]) -> Iterator[Said]:
    told = next((item[n] for n in ("memory", "data", "text") if isinstance(item.get(n), str)), "")
    text = without_recalled(str(told)).strip()
    if text:
        at = moment(item.get("created_at")) or moment(item.get("updated_at"))
        name = str(item.get("id") or digest(text, str(item.get("created_at"))))
        yield Said("", text, source(KIND, name, digest(text)), at, None, at is None)
