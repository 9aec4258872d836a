"""Commands that check: lint."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import Config, DryRun, Json, Root, Today, from_here, open_up
from agent_memfas.errors import UsageError
from agent_memfas.tasks import lint as linting

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("lint", rich_help_panel=PANEL)(lint)


def lint(
    paths: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(
            metavar="[PATHS...]", help="Files or folders (else the whole memory folder)."
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Write the corrected lines of near misses.")
    ] = False,
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Report near misses, duplicates, contradictions, dead links, conflicts and secrets."""
    if dry_run and not fix:
        raise UsageError("--dry-run goes with --fix", "lint without --fix changes nothing")
    session = open_up(root, config, today, near=paths[0] if paths else "")
    names = [from_here(session, path) for path in paths or ()]
    run = session.run("lint --fix")
    report = linting.run(
        session.folder, names, session.settings.terms, run, fix=fix, dry_run=dry_run
    )
    if json:
        out.data({**vars(report), "problems": [vars(p) for p in report.problems],
                  "fixed": [vars(p) for p in report.fixed], "notices": run.notices})  # fmt: skip
    else:
        _print(report)
    for notice in run.notices:
        out.tell(notice)
    if report.problems or (report.dry_run and report.fixed):
        raise typer.Exit(1)


def _print(report: linting.Report) -> None:
    done = "would be" if report.dry_run else "✓"
    for problem in report.fixed:
        out.say(f"{done} {problem.path}:{problem.line}: {problem.message}")
        out.say(f"    → {problem.fixed}")
    for problem in report.problems:
        out.say(f"{problem.path}:{problem.line}: {problem.rule}: {problem.message}")
        if problem.fixed is not None:
            out.say(f"    → {problem.fixed}")
    open_, fixable = len(report.problems), sum(p.fixed is not None for p in report.problems)
    hint = f"; memfas lint --fix corrects {fixable} of them" if fixable else ""
    left = f"{out.count(open_, 'problem')}{' would be left' if report.dry_run else ''}"
    out.say(f"{out.count(report.files, 'file')}, {left}{hint}")
