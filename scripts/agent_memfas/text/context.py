"""An answer as text for a prompt: sections of blocks, each quoted, within a budget of tokens."""

from __future__ import annotations

from agent_memfas.text.record import Record
from agent_memfas.text.tokens import estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

TITLE = "📚 Memory Context:"
ALWAYS, TRIGGERED, RELATED = "Always Loaded", "Triggered Memories", "Related Memories"
LARGEST = 1000  # hits of an answer
NAMED = 5  # places that are named beside a hit that says the same
SECTIONS = (ALWAYS, TRIGGERED, RELATED)


class Block(Record):
    """A piece of an answer. section: one of SECTIONS. text: its lines. item: what it shows."""

    section: str
    text: str
    item: Any = None


def trigger_block(trigger: Any, quotes: Iterable[Any]) -> Block:
    """A trigger with the lines that it links. trigger: a Trigger; quotes: path, lines, text."""
    lines = [_line(f"[{trigger.keyword}] {trigger.hint}  ({trigger.path}:{trigger.line})")]
    for quote in quotes:
        if quote.text:
            lines.append(_line(f"  [{quote.path}:{span(quote.start_line, quote.end_line)}]"))
            lines += quoted(quote.text)
    return Block(TRIGGERED, "\n".join(lines), trigger)


def hit_block(hit: Any) -> Block:
    """A hit of recall: where it stands, what is known of it, where else it stands, its lines."""
    heading = hit.heading
    if hit.kind == "insights":  # the headings above the last repeat the file's name and the day
        heading = heading.rpartition(" > ")[2]
    about = [heading, hit.date or "", *(label.upper() for label in hit.labels), also(hit)]
    told = " | ".join(part for part in about if part)
    place = _line(f"[{hit.path}:{span(hit.start_line, hit.end_line)}] {told}".rstrip())
    text = "\n".join([f"{place} (score: {hit.score:.2f})", *quoted(hit.text)])
    return Block(RELATED, text, hit)


def also(hit: Any) -> str:
    """Where else the same is said: `also memory/2026-02-24.md:12`; "" for nowhere."""
    more = [f"and {len(hit.also) - NAMED} more"] if len(hit.also) > NAMED else []
    return f"also {', '.join([*hit.also[:NAMED], *more])}" if hit.also else ""


def always_block(quote: Any) -> Block:
    """A file that is always part of an answer. quote: path, lines, text."""
    place = _line(f"[{quote.path}:{span(quote.start_line, quote.end_line)}]")
    return Block(ALWAYS, "\n".join([place, *quoted(quote.text)]), quote)


def blocks_of(answer: Any) -> list[Block]:
    """The pieces of an answer (see tasks/recall) in the order in which they are given."""
    return [
        *(always_block(quote) for quote in answer.always),
        *(trigger_block(trigger, quotes)
          for trigger, quotes in zip(answer.triggers, answer.quotes, strict=True)),
        *(hit_block(hit) for hit in answer.hits),
    ]  # fmt: skip


def quoted(text: str) -> list[str]:
    """The lines of a text behind `> `: nothing in it can be taken for a line of ours."""
    return [f"  > {line}" for line in text.split("\n")]


def composed(blocks: Iterable[Block], title: str = TITLE, end: str = "") -> str:
    """The blocks under their sections, in the order of SECTIONS; "" where there are none."""
    chosen = list(blocks)
    lines = [title] if chosen else []
    for section in SECTIONS:
        texts = [block.text for block in chosen if block.section == section]
        if texts:
            lines += ["", f"**{section}:**", *texts]
    return "\n".join([*lines, end] if end and chosen else lines)


def fitting(
    blocks: list[Block],
    budget: int,
    compose: Callable[[list[Block]], str] = composed,
    count: Callable[[str], int] = estimate,
    most: int = LARGEST,
) -> tuple[list[Block], list[Block]]:
    """The blocks that fit, and those that do not: each in turn where the text with it is not over
    the budget.

    budget: tokens of the whole text as `compose` makes it; count: tokens of a text. A block that
    is too long gives way to shorter ones after it. most: hits that are wanted; what comes after
    those is neither.
    """
    kept, left, hits = list[Block](), list[Block](), 0
    for block in blocks:
        hits += block.section == RELATED
        if hits > most:
            break
        if count(compose([*kept, block])) <= budget:
            kept.append(block)
        else:
            left.append(block)
            hits -= block.section == RELATED
    return kept, left


def span(start: int, end: int) -> str:
    """Lines as they stand behind a path: `12`, or `12-15`."""
    return str(start) if start == end else f"{start}-{end}"


def _line(text: str) -> str:
    """A line of ours: a line end inside it, from a file's name say, is shown as one."""
    return text.replace("\n", "␊")
