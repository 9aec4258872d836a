"""Who reflects on logs, as memfas.yaml has it: the model that it names, or memfas by extraction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agent_memfas.cli.modeling import model_of
from agent_memfas.cli.session import Session
from agent_memfas.llm import reflecting
from agent_memfas.llm.base import LanguageModel
from agent_memfas.tasks import compounding
from agent_memfas.tasks.compounding import Reflect
from agent_memfas.tasks.extraction import Extractor
from agent_memfas.text.logs import Waiting
from agent_memfas.text.reflection import Judged

BY_MEMFAS = "memfas"


@contextmanager
def modeled(session: Session, *, model: bool) -> Iterator[LanguageModel | None]:
    """The configured model, closed at the end; None for none, or where model is False."""
    found = model_of(session, "compound") if model else None
    try:
        yield found
    finally:
        if found is not None:
            found.close()


def reflector(
    session: Session, todo: Sequence[Waiting], model: LanguageModel | None
) -> tuple[Reflect, str]:
    """What reflects on each of these logs, and its name."""
    if model is None:
        return Extractor(
            session.folder, todo, session.settings.compounding.ratio
        ).reflect, BY_MEMFAS

    def reflect(each: Waiting) -> Judged:
        lines = each.document.text_lines
        return reflecting.reflect(model, lines, each.where, str(each.day))

    return reflect, model.name


def due_of(session: Session, found: Sequence[Waiting]) -> compounding.Due:
    """Whether it is time to reflect on what waits."""
    s = session.settings.compounding
    return compounding.due(found, s.threshold, s.after_days, session.today)
