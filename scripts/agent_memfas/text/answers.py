"""An answer of recall as data: the documented JSON object."""

from __future__ import annotations

from datetime import datetime

from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def answer_data(answer: Any, now: datetime) -> dict[str, Any]:
    """An Answer (see tasks/recall) as plain values. now: aware, for the zone of `as_of`."""
    state = answer.freshness
    looked = datetime.fromtimestamp(state.as_of / 1e9, now.tzinfo)
    return {
        "query": answer.query,
        "always": [plain(quote) for quote in answer.always],
        "hits": [hit_data(hit) for hit in answer.hits],
        "triggers": [
            {**plain(trigger), "links": list(trigger.links), "memories": [plain(q) for q in quotes]}
            for trigger, quotes in zip(answer.triggers, answer.quotes, strict=True)
        ],
        "fresh": state.fresh,
        "as_of": looked.isoformat(timespec="milliseconds"),
        "files_seen": state.seen,
        "files_indexed": state.indexed,
        "files_skipped": [plain(skipped) for skipped in state.skipped],
        "files_behind": state.behind,
        "source": state.source,
        "notes": list(state.notes),
    }


def hit_data(hit: Any) -> dict[str, Any]:
    """A hit without what only programs of ours want to know."""
    hidden = ("seals", "features")
    return {name: value for name, value in plain(hit).items() if name not in hidden}


def plain(record: Record | Any) -> dict[str, Any]:
    """The fields of a record, its tuples as lists."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(record).items()
    }
