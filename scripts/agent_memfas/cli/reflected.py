"""What `memfas compound` prints, for a person or as data."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memfas.cli import out
from agent_memfas.tasks.compounding import Compounded, Due, Report
from agent_memfas.text.logs import SHORTEST, Waiting

MOST_TOLD = 10  # reasons for what was dropped; --json has all of them


def waiting(found: Sequence[Waiting], due: Due, *, json: bool) -> None:
    """The logs that wait, and whether they are due."""
    if json:
        out.data({"pending": [row(each) for each in found], "due": due.is_due,
                  "importance": due.importance, "threshold": due.threshold})  # fmt: skip
        return
    for each in found:
        short = f" (under {SHORTEST} characters: waits for more)"
        asked = " (asked for)" if each.queued else short if each.is_short else ""
        out.say(f"{each.where}  {each.tokens} tokens, importance {each.importance}{asked}")
    out.say(whether_due(due) if found else "Every log before today has its insights.")


def whether_due(due: Due) -> str:
    """A sentence on whether it is time."""
    if due.is_due:
        return f"Due: importance {due.importance} of {due.threshold}, oldest {due.oldest} d"
    return (
        f"Not due: importance {due.importance} of {due.threshold}, "
        f"oldest {due.oldest} d of {due.after_days}"
    )


def plan(todo: Sequence[Waiting], name: str, *, json: bool) -> None:
    """What a model of that name would be asked about."""
    if json:
        out.data({"dry_run": True, "model": name, "would_ask": [row(each) for each in todo]})
        return
    for each in todo:
        out.say(f"would ask {name} about {each.where} ({each.tokens} tokens)")
    out.say("[DRY RUN] Nothing was sent, no changes made.")


def one_done(done: Compounded) -> None:
    """A line for a log that was compounded."""
    count = out.count(len(done.kept), "insight")
    more = f", {len(done.dropped)} dropped" if done.dropped else ""
    out.say(f"✓ {done.log} → {done.path}:{done.line}: {count}{more}")


def report(report: Report, *, json: bool, dry_run: bool, quiet: bool) -> None:
    """What was done, and what could not be. quiet: it was said already why nothing was."""
    if json:
        out.data({
            "compounded": [_done_row(done) for done in report.done], "left": report.left,
            "errors": [{"error": f.message, "remedy": f.remedy} for f in report.faults],
            "dry_run": dry_run,
        })  # fmt: skip
    elif dry_run:
        for done in report.done:
            out.say(f"would be appended to {done.path}:")
            out.block(done.text)
        out.say("[DRY RUN] No changes made.")
    elif not report.done and not report.faults and not quiet:
        out.say("Nothing to compound.")
    for done in report.done:
        _tell_dropped(done)
    for fault in report.faults:
        out.error(fault, as_data=False)
    if report.left:
        out.tell(f"left for another time: {', '.join(report.left)}")


def _tell_dropped(done: Compounded) -> None:
    for why in done.dropped[:MOST_TOLD]:
        out.tell(f"{done.log.path}: dropped: {why}")
    if len(done.dropped) > MOST_TOLD:
        out.tell(f"{done.log.path}: dropped: {len(done.dropped) - MOST_TOLD} more")


def row(each: Waiting) -> dict[str, object]:
    """A log that waits, as data."""
    return {"date": str(each.day), "file": each.where.path, "start_line": each.where.start,
            "end_line": each.where.end, "chars": each.characters, "tokens": each.tokens,
            "importance": each.importance, "queued": each.queued,
            "short": each.is_short}  # fmt: skip


def _done_row(done: Compounded) -> dict[str, object]:
    return {
        "date": str(done.day), "log": str(done.log), "path": done.path, "line": done.line,
        "insights": [
            {"section": i.section, "text": i.text, "quote": i.quote or None,
             "cites": [str(c) for c in i.cites], "importance": i.importance or None}
            for i in done.kept
        ],
        "known": done.known,
        "dropped": list(done.dropped),
    }  # fmt: skip
