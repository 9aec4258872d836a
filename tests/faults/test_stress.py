"""Writers that take no lock and a janitor that never rests: the small form of `stress`.

The figures of 100,000 writes for each kind come from `python -m tests.faults.stress`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from . import writers
from .stress import stress

WRITES = {"append": 1500, "bash": 1500, "slow": 800, "held": 1500}
SAVES = 400


@pytest.mark.parametrize("writer", writers.KINDS)
def test_no_line_is_lost_to_a_janitor_that_runs_while_others_write(
    tmp_path: Path, writer: str
) -> None:
    """Each kind of writer, ignoring all locks: every line is in MEMORY.md or in the archive."""
    tally = stress(writer, at=tmp_path, writes=WRITES.get(writer, SAVES), pause=0.001)
    print(tally)
    assert tally.lost == []
    assert tally.torn == []
    assert tally.reverted == 0, "a save was undone"
    assert tally.moving > 0, "no pass moved anything while they wrote"
    assert not any("Traceback" in text for text in tally.messages), tally.messages
    if writer not in writers.SAVERS:
        assert tally.duplicated == 0


@pytest.mark.parametrize("writer", writers.KINDS)
def test_the_janitor_that_replaces_loses_lines_in_the_same_storm(
    tmp_path: Path, writer: str
) -> None:
    """The control, same writers, same count: it must lose, or the test above proves nothing."""
    writes = WRITES.get(writer, SAVES)
    tally = stress(writer, "naive-replace", at=tmp_path, writes=writes, pause=0.001)
    print(tally)
    assert tally.lost


def test_the_janitor_that_truncates_loses_lines_too(tmp_path: Path) -> None:
    """The second control."""
    tally = stress("append", "naive-truncate", at=tmp_path, writes=1500, pause=0.001)
    assert tally.lost
