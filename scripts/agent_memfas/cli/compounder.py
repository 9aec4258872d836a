"""The ways of `memfas compound`: the reference's queue, a model, an agent, or extraction."""

from __future__ import annotations

import os
import sys
from contextlib import closing, nullcontext
from datetime import date, timedelta
from pathlib import Path

import typer

from agent_memfas.cli import out, reflected
from agent_memfas.cli.modeling import model_of
from agent_memfas.cli.reflectors import due_of, modeled, reflector
from agent_memfas.cli.session import Session
from agent_memfas.errors import MemfasError, NothingFound, TryAgain, UsageError
from agent_memfas.llm import reflecting
from agent_memfas.llm.base import LanguageModel
from agent_memfas.store import queue
from agent_memfas.store.daily import logs
from agent_memfas.tasks import compounding
from agent_memfas.text.logs import SHORTEST, Waiting
from agent_memfas.text.reflection import Judged, day_in

BY_AGENT = "agent"


class Compounder:
    """What the command does, one method for each of its ways. days: only these, none: all."""

    def __init__(self, session: Session, json: bool, days: list[date]) -> None:
        self._session, self._json, self._days = session, json, days
        self._unread = list[MemfasError]()
        self._folder = session.folder

    def show(self) -> None:
        """What waits, and whether it is due."""
        found = self._waiting()
        reflected.waiting(found, self._due(found), json=self._json)
        for fault in self._unread:
            out.error(fault, as_data=False)

    def mark_pending(self, count: int | None, *, dry_run: bool) -> None:
        """Note days in the queue."""
        last = self._session.today - timedelta(days=1)
        wanted = self._days or [last - timedelta(days=n) for n in reversed(range(count or 1))]
        rows = list[dict[str, object]]()
        for each in compounding.whole(self._folder, wanted):
            if why := self._needless(each):
                out.tell(f"{each.where.path}: {why}, skipped")
                continue
            if not dry_run:
                now = self._session.now
                queue.put(self._folder, each.day, each.where.path, each.characters, now)
            rows.append(reflected.row(each))
            if not self._json:
                word = "would be pending" if dry_run else "✓ pending"
                out.say(f"{word}: {each.day} ({each.characters} characters)")
        if self._json:
            out.data({"marked": rows, "dry_run": dry_run})
        if not rows:
            raise NothingFound("none of these days has a log that needs it")

    def _needless(self, each: Waiting) -> str:
        """Why a log need not be noted in the queue; "" where it does. A day that is named is noted
        although it was done: somebody wants it once more.
        """
        if each.is_short:
            return f"under {SHORTEST} characters"
        if not self._days and not compounding.waiting(self._folder, each.day, [each.day]):
            return "has its insights"
        return ""

    def print_prompt(self, wanted: date | None) -> None:
        """The prompt of a day's logs, for an agent."""
        found = compounding.whole(self._folder, [wanted] if wanted else [])
        if not found:
            raise NothingFound(f"there is no log of {wanted}", "see: memfas compound --list")
        logs = [self._rest(each) for each in found]
        texts = [
            reflecting.prompt_for_agent(each.document.text_lines, each.where, str(each.day))
            for each in logs
        ]
        if self._json:
            rows = map(reflected.row, logs)
            out.data({"prompts": [{**r, "prompt": t} for r, t in zip(rows, texts, strict=True)]})
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
                hint = f"see: memfas compound --print-prompt {each.day}"
                raise NothingFound(f"{file}: the answer {error}", hint) from None

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
        paths = [path for at, path in logs(self._folder) if at == wanted]
        if not paths:
            raise NothingFound(f"there is no log of {wanted}")
        if left:
            raise NothingFound(
                f"{left[0].where} has no insights yet; nothing was marked",
                f"write them: memfas compound --date {wanted}",
            )
        run = self._session.run("compound")
        for path in paths if not dry_run else ():
            compounding.mark(self._folder, path, run)
        if self._json:
            out.data({"done": paths, "dry_run": dry_run})
        for path in paths if not self._json else ():
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
                out.say(reflected.whether_due(due))
            self._report(compounding.Report(), dry_run=dry_run, quiet=True)
            return
        todo = self._worth(found)[:limit]
        with modeled(self._session, model=bool(todo) and not no_model) as model:
            if model is not None and dry_run:
                reflected.plan(todo, model.name, json=self._json)
                return
            reflect, by = reflector(self._session, todo, model)
            self._report(self._run(todo, reflect, by, dry_run=dry_run), dry_run=dry_run)

    def _waiting(self) -> list[Waiting]:
        """What waits; logs that cannot be read are faults of whatever is done."""
        faults = list[MemfasError]()
        found = compounding.waiting(self._folder, self._session.today, self._days, faults)
        self._unread = faults
        return found

    def _worth(self, found: list[Waiting]) -> list[Waiting]:
        """A day that was named is done however short it is."""
        return [each for each in found if self._days or not each.is_short]

    def _due(self, found: list[Waiting]) -> compounding.Due:
        return due_of(self._session, found)

    def _run(
        self, todo: list[Waiting], reflect: compounding.Reflect, by: str, *, dry_run: bool
    ) -> compounding.Report:
        tell = None if self._json or dry_run else reflected.one_done
        run = self._session.run("compound")
        report = compounding.run(self._folder, todo, reflect, by, run, tell, dry_run=dry_run)
        for notice in run.notices:
            out.tell(notice)
        return report

    def _report(self, report: compounding.Report, *, dry_run: bool, quiet: bool = False) -> None:
        report.faults.extend(self._unread)
        reflected.report(report, json=self._json, dry_run=dry_run, quiet=quiet)
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
