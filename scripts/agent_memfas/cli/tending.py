"""The command that tends the memory: janitor."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.abstracting import Kept, keep_up
from agent_memfas.cli.agents import fold_in, say_folded
from agent_memfas.cli.session import (
    Config,
    DryRun,
    Json,
    Root,
    Session,
    Today,
    from_here,
    open_up,
)
from agent_memfas.config import context_path
from agent_memfas.errors import TryAgain
from agent_memfas.tasks import janitor as cleaning
from agent_memfas.text.marks import clip

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("janitor", rich_help_panel=PANEL)(janitor)


def janitor(
    files: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(
            metavar="[FILES...]", help="Which files (else MEMORY.md and shared/MEMORY.md)."
        ),
    ] = None,
    root: Root = None,
    config: Config = None,
    dry_run: DryRun = False,
    today: Today = None,
    force: Annotated[bool, typer.Option("--force", help="Go on after a safety stop.")] = False,
    fail_over_limit: Annotated[
        bool, typer.Option("--fail-over-limit", help="Exit 1 when a file is over a size limit.")
    ] = False,
    json: Json = False,
) -> None:
    """Move expired entries to the archive, whole; report near misses and sizes."""
    named = list(files or [])
    memory = os.environ.get("MEMORY_PATH", "")
    if memory and not named and root is None and not os.environ.get("MEMFAS_ROOT"):
        named = [str(Path(memory).expanduser().absolute())]
    if os.environ.get("ARCHIVE_DIR"):
        out.tell("ARCHIVE_DIR is not used: entries go to archive/ in the memory folder")
    session = open_up(root, config, today, near=named[0] if named else "")
    named = [from_here(session, name) for name in named] or list(session.settings.janitor_files)
    folded = fold_in(session, dry_run=dry_run)
    report = cleaning.run(
        session.folder, named, session.settings.terms, session.run("janitor", patient=not dry_run),
        dry_run=dry_run, force=force, cold=cold_folder(session),
    )  # fmt: skip
    kept = Kept() if dry_run else keep_up(session)
    if json:
        out.data({
            **_as_data(report, kept), "folded": [vars(one) for one in folded.folded],
            "inbox_left": [{"path": path, "why": why} for path, why in folded.left],
        })  # fmt: skip
    else:
        _print(report, session, kept)
        say_folded(folded, dry_run=dry_run)
    for fault in report.faults:
        out.error(fault, as_data=False)
    if report.faults:
        later = all(isinstance(fault, TryAgain) for fault in report.faults)
        raise typer.Exit(TryAgain.status if later else 1)
    if fail_over_limit and report.over_limit:
        raise typer.Exit(1)


def cold_folder(session: Session) -> str:
    """The folder of cold storage, relative to the memory folder; "" where it lies elsewhere."""
    path = context_path(session.settings, session.folder.root, "cold_storage_path")
    if path == session.folder.root or not path.is_relative_to(session.folder.root):
        return ""
    return path.relative_to(session.folder.root).as_posix()


def _as_data(report: cleaning.Report, kept: Kept) -> dict[str, object]:
    """The documented object: lines 1-based, sizes and advice by file beside it."""
    return {
        "moved": [_without_age(moved) for moved in report.moved],
        "cold_expired": [asdict(chunk) for chunk in report.cold],
        "kept": sum(file.kept for file in report.files),
        "near_misses": [
            {"path": file.path, "line": miss.line + 1, "problem": miss.problem, "fixed": miss.fixed}
            for file in report.files for miss in file.near_misses
        ],
        "warnings": [
            *report.warnings, *(w for f in report.files for w in _size_warnings(f)), *kept.notes
        ],
        "errors": [{"error": f.message, "remedy": f.remedy} for f in report.faults],
        "sizes": [
            {"path": f.path, "limit": r.limit.name, "unit": r.limit.unit, "size": r.size,
             "most": r.limit.most, "tokens": r.tokens, "over": r.over}
            for f in report.files for r in f.sizes
        ],
        "untagged": {f.path: list(f.untagged) for f in report.files if f.untagged},
        "abstracts": kept.written,
        "dry_run": report.dry_run,
    }  # fmt: skip


def _without_age(moved: cleaning.MovedEntry) -> dict[str, object]:
    return {
        "path": moved.path, "start_line": moved.start_line, "end_line": moved.end_line,
        "priority": moved.priority, "date": moved.date, "text": moved.text,
        "archive": moved.archive,
    }  # fmt: skip


def _print(report: cleaning.Report, session: Session, kept: Kept) -> None:
    out.say(f"📋 Memory Janitor — {session.now:%Y-%m-%d %H:%M}")
    for file in report.files:
        _print_file(file, dry_run=report.dry_run)
    if report.cold:
        verb = "would go" if report.dry_run else "gone"
        out.say(f"cold storage: {out.count(len(report.cold), 'chunk')} past its time {verb}")
    if report.dry_run:
        out.say("[DRY RUN] No changes made.")
    if kept.written:
        out.say(f"{out.count(len(kept.written), 'abstract')} refreshed")
    for warning in [*report.warnings, *kept.notes]:
        out.tell(f"⚠️ {warning}")


def _print_file(file: cleaning.FileReport, *, dry_run: bool) -> None:
    before, after = file.lines
    out.say(f"{file.path}: {before} lines, {len(file.moved)} expired, {file.kept} kept")
    for moved in file.moved:
        age = f"{moved.age} d old"
        out.say(
            f"  🗑️ {moved.start_line}: [{moved.priority}][{moved.date}] ({age}) "
            f"{clip(moved.text, 60)}"
        )
    if not file.moved:
        out.say("  ✅ Nothing to archive.")
    elif dry_run:
        out.say(f"  📦 would move to {file.moved[0].archive} ({before} → {after} lines)")
    else:
        out.say(f"  📦 Archived to {file.moved[0].archive} ({before} → {after} lines)")
    for miss in file.near_misses:
        fixed = f" → {miss.fixed.strip()}" if miss.fixed else ""
        out.say(f"  near miss at line {miss.line + 1}: {miss.problem}{fixed}")
    if file.untagged:
        lines = ", ".join(str(n) for n in file.untagged[:8])
        more = ", …" if len(file.untagged) > 8 else ""
        out.say(
            f"  {out.count(len(file.untagged), 'untagged bullet')}, never expiring "
            f"(lines {lines}{more})"
        )
    for warning in _size_warnings(file):
        out.tell(f"⚠️ WARNING: {warning}")


def _size_warnings(file: cleaning.FileReport) -> list[str]:
    """A sentence for each limit that is passed or near, and one of advice."""
    said = [
        f"{file.path} has {r.size} {r.limit.unit} (about {r.tokens} tokens): "
        f"{'over' if r.over else 'near'} the limit of {r.limit.most} ({r.limit.name})"
        for r in file.sizes if r.over or r.near
    ]  # fmt: skip
    return [*said, f"{file.path}: {file.advice}"] if said else []
