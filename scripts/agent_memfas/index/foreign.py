"""What others have written about a folder: OpenViking's overviews, a person's `.abstract`."""

from __future__ import annotations

from agent_memfas.errors import FileFault
from agent_memfas.store.files import LOOK, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.overviews import ABSTRACT, OPENVIKING
from agent_memfas.store.tree import Place
from agent_memfas.text.lines import shorten
from agent_memfas.text.overview import read_mark
from agent_memfas.text.summary import summarize

MOST_TOKENS = 30
_SHORT, _LONG = OPENVIKING


def said_by_others(folder: Folder, place: Place) -> str:
    """The first words of the shortest foreign overview in a folder that says anything.

    One line, safe inside markdown, secrets cut to a hint; "" where there is none, and in an
    archive, of which nothing is repeated. Links are not followed.
    """
    for name in (_SHORT, ABSTRACT, _LONG) if not place.is_archive else ():
        if name not in place.hidden:
            continue
        try:
            data = read(folder.root / place.inside(name), LOOK, cut=True).data
        except FileFault:
            continue
        if name == ABSTRACT and read_mark(data) is not None:
            continue
        # Under this name a heading that only repeats the folder's is none.
        own = (folder.root / place.path).name
        summary = summarize(f"{own} L0 L1 abstract overview.md", data)
        if summary and summary.says not in ("", "empty"):
            return shorten(summary.says, MOST_TOKENS)
    return ""
