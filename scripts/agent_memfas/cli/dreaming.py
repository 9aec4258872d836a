"""The command for the night: dream, all upkeep in its order, with a report."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import typer

from agent_memfas.cli import out
from agent_memfas.cli.agents import fold_in
from agent_memfas.cli.brief import keeper_for, places_for
from agent_memfas.cli.modeling import named_model
from agent_memfas.cli.ranking import keeper_maker
from agent_memfas.cli.reflectors import due_of, modeled, reflector
from agent_memfas.cli.session import Config, DryRun, Json, Root, Session, Today, open_up
from agent_memfas.cli.tending import cold_folder
from agent_memfas.errors import FileFault, MemfasError, SafetyStop, TryAgain
from agent_memfas.index.upkeep import Upkeep
from agent_memfas.store import reports
from agent_memfas.store.inbox import SHARED
from agent_memfas.store.locks import exclusive
from agent_memfas.tasks import abstracts, compounding, flush, janitor, promote, watch, wording

PANEL = "Tend"
PATIENCE = 10.0  # seconds for another process that is writing the index
DONE, NOTHING, FAILED = "done", "nothing to do", "failed"


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("dream", rich_help_panel=PANEL)(dream)


@dataclass
class Step:
    """One step of the night. status: DONE, NOTHING or FAILED. told: lines for a person."""

    step: str
    status: str = NOTHING
    told: list[str] = field(default_factory=list)
    detail: dict[str, Any] = field(default_factory=dict)
    errors: list[dict[str, str]] = field(default_factory=list)
    exit_status: int = 0


def dream(
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """The nightly round: flush check, compound if due, promotions, janitor, abstracts, index."""
    session = open_up(root, config, today)
    night = _Night(session, dry_run=dry_run)
    if dry_run:
        night.run()
    else:
        with exclusive(session.folder, "dream.lock"):
            night.run()
    if json:
        out.data({
            "started": session.now.isoformat(timespec="seconds"), "dry_run": dry_run,
            "report": night.path, "steps": [asdict(step) for step in night.steps],
        })  # fmt: skip
    else:
        out.block(night.text)
    for step in night.steps:
        for error in step.errors:
            out.tell(f"{step.step}: {error['error']}")
            if error["remedy"]:
                out.tell(f"  {error['remedy']}")
    raise typer.Exit(_worst([step.exit_status for step in night.steps]))


def _worst(found: list[int]) -> int:
    """A safety stop before all; "try again" only where nothing else is wrong."""
    wrong = [status for status in found if status]
    if SafetyStop.status in wrong:
        return SafetyStop.status
    return next((status for status in wrong if status != TryAgain.status), max(wrong, default=0))


class _Night:
    """The steps, one after the other; what one cannot do does not stop the next."""

    def __init__(self, session: Session, *, dry_run: bool) -> None:
        self._session, self._dry_run = session, dry_run
        self._folder = session.folder
        self.steps = list[Step]()
        self.path: str | None = None

    def run(self) -> None:
        """All of them. The report is written after each, so that a killed night has one, too."""
        act: Callable[[Step], None]
        before = reports.of_day(self._folder, self._session.now)
        for name, act in (
            ("flush check", self._flush), ("compound", self._compound), ("promote", self._promote),
            ("janitor", self._janitor), ("abstracts", self._abstracts), ("index", self._index),
        ):  # fmt: skip
            step = Step(name)
            self.steps.append(step)
            try:
                act(step)
            except MemfasError as error:
                _fail(step, error)
            if not self._dry_run:
                with suppress(FileFault):  # a report that cannot be written stops no night
                    self.path = reports.write(self._folder, self._session.now, self.text, before)

    @property
    def text(self) -> str:
        """The report for a person."""
        dry = " [DRY RUN]" if self._dry_run else ""
        lines = [f"## memfas dream, {self._session.now:%Y-%m-%d %H:%M:%S}{dry}", ""]
        for step in self.steps:
            lines.append(f"- {step.step}: {step.status}")
            lines += [f"  - {line}" for line in step.told]
            lines += [f"  - {error['error']}" for error in step.errors]
        return "\n".join(lines)

    def _flush(self, step: Step) -> None:
        found = flush.check(self._folder, self._session.now)
        step.detail = asdict(found)
        if found.unflushed:
            step.told.append("SESSION-STATE.md is newer than every log: is it in one?")
        step.told += [f"nobody has confirmed: {text}" for text in found.unconfirmed]
        step.status = DONE if found.state else NOTHING

    def _compound(self, step: Step) -> None:
        with nullcontext() if self._dry_run else compounding.alone(self._folder):
            unread = list[MemfasError]()
            self._reflect(step, unread)
        for fault in unread:
            _fail(step, fault)

    def _reflect(self, step: Step, unread: list[MemfasError]) -> None:
        found = compounding.waiting(self._folder, self._session.today, faults=unread)
        due = due_of(self._session, found)
        todo = [each for each in found if not each.is_short]
        step.detail = {**asdict(due), "due": due.is_due, "pending": [str(e.where) for e in todo]}
        if not todo or not due.is_due:
            self._rest_from_reflecting(step, due, waiting=bool(todo))
            return
        step.status = DONE
        if self._dry_run:
            step.told += [f"would reflect on {each.where}" for each in todo]
            return
        with modeled(self._session, model=True) as model:
            reflect, by = reflector(self._session, todo, model)
            run = self._session.run("dream")
            report = compounding.run(self._folder, todo, reflect, by, run)
        for done in report.done:
            step.told.append(f"{done.log} → {done.path}:{done.line}: {len(done.kept)} insights")
        step.told += run.notices
        step.detail["left"] = report.left
        for fault in report.faults:
            _fail(step, fault)

    def _rest_from_reflecting(self, step: Step, due: compounding.Due, *, waiting: bool) -> None:
        """Nothing is due, but a night that was killed may have left a log without its mark."""
        if waiting:
            step.told.append(
                f"not due: importance {due.importance} of {due.threshold}, "
                f"oldest {due.oldest} d of {due.after_days}"
            )
        if not self._dry_run:
            run = self._session.run("dream")
            compounding.mark_all(self._folder, run)
            step.told += run.notices

    def _promote(self, step: Step) -> None:
        found = promote.propose(self._folder, self._session.today)
        step.detail = {"proposals": [asdict(proposal) for proposal in found]}
        step.told += [f"{p.path}:{p.line} [{p.importance}] {p.text}" for p in found]
        step.status = DONE if found else NOTHING

    def _janitor(self, step: Step) -> None:
        settings = self._session.settings
        run = self._session.run("dream", patient=not self._dry_run)
        report = janitor.run(
            self._folder, list(settings.janitor_files), settings.terms, run,
            dry_run=self._dry_run, cold=cold_folder(self._session),
        )  # fmt: skip
        moved, folded = report.moved, fold_in(self._session, dry_run=self._dry_run)
        step.told += [f"{one.agent}: {one.text[:60]} → {SHARED}" for one in folded.folded]
        step.told += [f"{path} stays in its inbox: {why}" for path, why in folded.left]
        step.told += [f"[{m.priority}][{m.date}] {m.text[:60]} → {m.archive}" for m in moved]
        step.told += [f"{c.path}: {c.chunk_id} past its time" for c in report.cold]
        step.told += report.warnings
        step.detail = {
            "moved": [asdict(entry) for entry in moved], "warnings": report.warnings,
            "cold_expired": [asdict(chunk) for chunk in report.cold],
            "folded": [asdict(one) for one in folded.folded],
        }  # fmt: skip
        step.status = DONE if moved or folded.folded else NOTHING
        for fault in report.faults:
            if settings.janitor_files or (self._folder.root / "MEMORY.md").exists():
                _fail(step, fault)
            else:  # there never was one (else it were a safety stop), and nobody has named it
                step.told.append(fault.message)

    def _abstracts(self, step: Step) -> None:
        pages: dict[str, str] = {}
        report = abstracts.run(
            self._folder, [], self._session.now, dry_run=self._dry_run, as_of=time.time_ns(),
            wait=PATIENCE, seen=pages.__setitem__,
        )  # fmt: skip
        step.told += report.written
        step.detail = {"written": report.written, "foreign": report.foreign}
        step.status = DONE if report.written else NOTHING
        problems = list(report.problems)
        if self._session.settings.writer == "model" and not self._dry_run:
            with named_model(self._session, "dream") as model:
                worded = wording.run(self._folder, pages, model)
            step.detail["worded"] = worded.worded
            step.told += [f"{path}, in the words of {worded.by}" for path in worded.worded]
            problems += worded.problems
        step.told += [f"{problem.path}: {problem.reason}" for problem in problems]

    def _index(self, step: Step) -> None:
        if self._dry_run:
            return
        brief, root = self._session.brief, self._session.root
        keeper = keeper_for(root, brief, wait=PATIENCE, make=keeper_maker(brief))
        with closing(Upkeep(keeper, None, step.told.append)) as upkeep:
            done = watch.once(upkeep, root, places_for(root, brief), time.time_ns())
        step.detail = vars(done)
        step.told.append(f"{done.files} files, {done.changed} changed")
        step.status = DONE if done.changed else NOTHING


def _fail(step: Step, error: MemfasError) -> None:
    step.status = FAILED
    step.errors.append({"error": error.message, "remedy": error.remedy})
    step.exit_status = _worst([step.exit_status, error.status])
