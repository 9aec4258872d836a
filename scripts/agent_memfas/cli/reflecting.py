"""The command that reflects: compound, with the reference's queue and both ways to ask a model."""

from __future__ import annotations

import os
import sys
from contextlib import closing, nullcontext
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.modeling import model_of
from agent_memfas.cli.reflectors import due_of, modeled, reflector
from agent_memfas.cli.session import Config, DryRun, Json, Root, Session, Today, day, open_up
from agent_memfas.errors import MemfasError, NothingFound, TryAgain, UsageError
from agent_memfas.llm import reflecting
from agent_memfas.llm.base import LanguageModel
from agent_memfas.store import queue
from agent_memfas.tasks import compounding
from agent_memfas.tasks.compounding import Compounded
from agent_memfas.text.logs import SHORTEST, Waiting
from agent_memfas.text.reflection import Judged, day_in

PANEL = "Tend"
BY_AGENT = "agent"
MOST_TOLD = 10  # reasons for what was dropped; --json has all of them


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("compound", rich_help_panel=PANEL)(compound)


def compound(
    days: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--date", metavar="DAY", help="Only this day's logs; may be given again."),
    ] = None,
    process: Annotated[
        bool, typer.Option("--process", help="All logs that lack insights (the default).")
    ] = False,
    if_due: Annotated[
        bool, typer.Option("--if-due", help="Only if enough of importance has come together.")
    ] = False,
    limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--limit", metavar="N", min=1, help="At most so many logs, the oldest first."),
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="By extraction, although a model is configured.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--list", help="What waits to be compounded; change nothing.")
    ] = False,
    mark_pending: Annotated[
        bool,
        typer.Option("--mark-pending", help="Have yesterday (or --date) compounded once more."),
    ] = False,
    batch_mark: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--batch-mark", metavar="N", min=1, help="The same for the last N days."),
    ] = None,
    print_prompt: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--print-prompt", "--extract", metavar="DAY",
                     help="Print what a model would be asked, for an agent to answer."),
    ] = None,
    accept: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--accept", metavar="FILE", help="Take an agent's answer; - is stdin."),
    ] = None,
    done: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--done", metavar="DAY", help="Mark a day's logs that have their insights."),
    ] = None,
    show_payload: Annotated[
        bool, typer.Option("--show-payload", help="Print what would be sent; send nothing.")
    ] = False,
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Turn daily logs into insights, each with the lines of the log that it rests on."""
    chosen = [show, mark_pending or batch_mark is not None, print_prompt is not None,
              accept is not None, done is not None, show_payload, process or if_due]  # fmt: skip
    if sum(chosen) > 1:
        raise UsageError("these options do different things", "give one of them at a time")
    session = open_up(_root(root), config, today)
    work = _Work(session, json, [found for d in days or () if (found := day("--date", d))])
    if show:
        work.show()
    elif mark_pending or batch_mark is not None:
        work.mark_pending(batch_mark, dry_run=dry_run)
    elif print_prompt is not None:
        work.print_prompt(day("--print-prompt", print_prompt))
    elif accept is not None:
        work.accept(accept, dry_run=dry_run)
    elif done is not None:
        work.done(day("--done", done), dry_run=dry_run)
    elif show_payload:
        work.show_payload()
    else:
        work.process(if_due=if_due, limit=limit, no_model=no_model, dry_run=dry_run)


def _root(root: Path | None) -> Path | None:
    """The memory folder that the reference's MEMORY_DIR means, where nothing else names one."""
    named = os.environ.get("MEMORY_DIR", "")
    if not named or root is not None or os.environ.get("MEMFAS_ROOT"):
        return root
    path = Path(named).expanduser().absolute()
    if path.name != "memory":
        out.tell(f"MEMORY_DIR={named} is not used: logs are in the folder memory/")
        return None
    return path.parent


class _Work:
    """What the command does, one method for each of its ways."""

    def __init__(self, session: Session, json: bool, days: list[date]) -> None:
        self._session, self._json, self._days = session, json, days
        self._folder = session.folder

    def show(self) -> None:
        """What waits, and whether it is due."""
        found = self._waiting()
        due = self._due(found)
        rows = [_row(each) for each in found]
        if self._json:
            out.data({"pending": rows, "due": due.is_due, "importance": due.importance,
                      "threshold": due.threshold})  # fmt: skip
        for each in found if not self._json else ():
            short = f" (under {SHORTEST} characters: waits for more)"
            asked = " (asked for)" if each.queued else short if each.is_short else ""
            out.say(f"{each.where}  {each.tokens} tokens, importance {each.importance}{asked}")
        if not self._json:
            out.say(_told(due) if found else "Every log before today has its insights.")

    def mark_pending(self, count: int | None, *, dry_run: bool) -> None:
        """Note days in the queue."""
        last = self._session.today - timedelta(days=1)
        wanted = self._days or [last - timedelta(days=n) for n in reversed(range(count or 1))]
        rows = list[dict[str, object]]()
        for each in compounding.whole(self._folder, wanted):
            if each.characters < SHORTEST:
                out.tell(f"{each.where.path}: under {SHORTEST} characters, skipped")
                continue
            if not dry_run:
                now = self._session.now
                queue.put(self._folder, each.day, each.where.path, each.characters, now)
            rows.append(_row(each))
            if not self._json:
                word = "would be pending" if dry_run else "✓ pending"
                out.say(f"{word}: {each.day} ({each.characters} characters)")
        if self._json:
            out.data({"marked": rows, "dry_run": dry_run})
        if not rows:
            raise NothingFound("none of these days has a log that is long enough")

    def print_prompt(self, wanted: date | None) -> None:
        """The prompt of a day's logs, for an agent."""
        found = compounding.whole(self._folder, [wanted] if wanted else [])
        if not found:
            raise NothingFound(f"there is no log of {wanted}", "see: memfas compound --list")
        texts = [
            reflecting.prompt_for_agent(each.document.text_lines, each.where, str(each.day))
            for each in (self._rest(each) for each in found)
        ]
        if self._json:
            out.data(
                {"prompts": [{**_row(e), "prompt": t} for e, t in zip(found, texts, strict=True)]}
            )
        else:
            for text in texts:
                out.block(text)

    def _rest(self, each: Waiting) -> Waiting:
        """What is new in a log; all of it where nothing is."""
        new = compounding.waiting(self._folder, self._session.today, [each.day])
        return next((other for other in new if other.where.path == each.where.path), each)

    def accept(self, file: Path, *, dry_run: bool) -> None:
        """Judge an agent's answer and write what stands."""
        text = _text_of(file)
        wanted = self._days or [found for found in [day_in(text)] if found]
        if not wanted:
            raise UsageError("the answer names no day", "say which: --date YYYY-MM-DD")

        def judge(each: Waiting) -> Judged:
            try:
                return reflecting.accepted(text, each.document.text_lines, each.where)
            except ValueError as error:
                raise NothingFound(
                    f"{file}: {error}", "see: memfas compound --print-prompt"
                ) from None

        with nullcontext() if dry_run else compounding.alone(self._folder):
            log = self._answered(text, wanted)
            self._report(self._run([log], judge, BY_AGENT, dry_run=dry_run), dry_run=dry_run)

    def _answered(self, answer: str, days: list[date]) -> Waiting:
        """The log that an answer is about: the only one of these days, or the only one it names."""
        found = compounding.whole(self._folder, days)
        if not found:
            raise NothingFound(f"there is no log of {days[0]}", "see: memfas compound --list")
        named = found if len(found) == 1 else [e for e in found if e.where.path in answer]
        if len(named) != 1:
            raise NothingFound(
                f"there are {len(found)} logs of {days[0]}, and the answer names "
                f"{'several' if named else 'none'} of them",
                "one answer is for one log: give it each with its lines, (PATH#L3-L4)",
            )
        return self._rest(named[0])

    def done(self, wanted: date | None, *, dry_run: bool) -> None:
        """Mark the logs of a day, if all of them have their insights."""
        left = compounding.waiting(self._folder, self._session.today, [wanted] if wanted else [])
        logs = [path for at, path in compounding.logs(self._folder) if at == wanted]
        if not logs:
            raise NothingFound(f"there is no log of {wanted}")
        if left:
            raise NothingFound(
                f"{left[0].where} has no insights yet; nothing was marked",
                f"write them: memfas compound --date {wanted}",
            )
        for path in logs if not dry_run else ():
            compounding.mark(self._folder, path, self._session.run("compound"))
        if self._json:
            out.data({"done": logs, "dry_run": dry_run})
        for path in logs if not self._json else ():
            out.say(f"{'would mark' if dry_run else '✓ done'}: {path}")

    def show_payload(self) -> None:
        """What would be sent, and send nothing."""
        with closing(_needed(model_of(self._session, "compound"))) as model:
            requests = [
                {"log": str(each.where), **model.payload(prompt)}
                for each in self._worth(self._waiting())
                for prompt in reflecting.prompts(
                    model, each.document.text_lines, each.where, str(each.day)
                )
            ]
        out.data({"model": model.name, "requests": requests})

    def process(self, *, if_due: bool, limit: int | None, no_model: bool, dry_run: bool) -> None:
        """Compound what waits."""
        with nullcontext() if dry_run else compounding.alone(self._folder):
            self._process(if_due=if_due, limit=limit, no_model=no_model, dry_run=dry_run)

    def _process(self, *, if_due: bool, limit: int | None, no_model: bool, dry_run: bool) -> None:
        found = self._waiting()
        due = self._due(found)
        if if_due and not due.is_due:
            if not self._json:
                out.say(_told(due))
            self._report(compounding.Report(), dry_run=dry_run, quiet=True)
            return
        todo = self._worth(found)[:limit]
        with modeled(self._session, model=bool(todo) and not no_model) as model:
            if model is not None and dry_run:
                self._plan(todo, model)
                return
            reflect, by = reflector(self._session, todo, model)
            self._report(self._run(todo, reflect, by, dry_run=dry_run), dry_run=dry_run)

    def _plan(self, todo: list[Waiting], model: LanguageModel) -> None:
        """What a model would be asked about."""
        if self._json:
            out.data({"dry_run": True, "model": model.name, "would_ask": [_row(e) for e in todo]})
            return
        for each in todo:
            out.say(f"would ask {model.name} about {each.where} ({each.tokens} tokens)")
        out.say("[DRY RUN] Nothing was sent, no changes made.")

    def _waiting(self) -> list[Waiting]:
        return compounding.waiting(self._folder, self._session.today, self._days)

    def _worth(self, found: list[Waiting]) -> list[Waiting]:
        """A day that was named is done however short it is."""
        return [each for each in found if self._days or not each.is_short]

    def _due(self, found: list[Waiting]) -> compounding.Due:
        return due_of(self._session, found)

    def _run(
        self, todo: list[Waiting], reflect: compounding.Reflect, by: str, *, dry_run: bool
    ) -> compounding.Report:
        tell = None if self._json or dry_run else _say_done
        run = self._session.run("compound")
        report = compounding.run(self._folder, todo, reflect, by, run, tell, dry_run=dry_run)
        for notice in run.notices:
            out.tell(notice)
        return report

    def _report(self, report: compounding.Report, *, dry_run: bool, quiet: bool = False) -> None:
        if self._json:
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
        if report.faults:
            later = all(isinstance(fault, TryAgain) for fault in report.faults)
            raise typer.Exit(TryAgain.status if later else report.faults[0].status)


def _needed(model: LanguageModel | None) -> LanguageModel:
    if model is None:
        raise UsageError("no model is configured", "set llm.model in memfas.yaml")
    return model


def _text_of(file: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = os.strerror(error.errno or 0) if isinstance(error, OSError) else "not UTF-8"
        raise MemfasError(f"{file}: {why}") from error


def _say_done(done: Compounded) -> None:
    count = out.count(len(done.kept), "insight")
    more = f", {len(done.dropped)} dropped" if done.dropped else ""
    out.say(f"✓ {done.log} → {done.path}:{done.line}: {count}{more}")


def _tell_dropped(done: Compounded) -> None:
    for why in done.dropped[:MOST_TOLD]:
        out.tell(f"{done.log.path}: dropped: {why}")
    if len(done.dropped) > MOST_TOLD:
        out.tell(f"{done.log.path}: dropped: {len(done.dropped) - MOST_TOLD} more")


def _told(due: compounding.Due) -> str:
    if due.is_due:
        return f"Due: importance {due.importance} of {due.threshold}, oldest {due.oldest} d"
    return (
        f"Not due: importance {due.importance} of {due.threshold}, "
        f"oldest {due.oldest} d of {due.after_days}"
    )


def _row(each: Waiting) -> dict[str, object]:
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
