"""`.memfas/telemetry.jsonl`: a line for each question, never torn, never a reason to fail."""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from agent_memfas.store import telemetry
from agent_memfas.store.layout import Folder


def lines(root: Path) -> list[dict[str, object]]:
    """All lines of all files; each must be whole."""
    files = sorted((root / ".memfas").glob("telemetry*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines() if line]


def _many(root: Path, who: int) -> None:
    for n in range(200):
        telemetry.append(Folder(root), {"who": who, "n": n, "fill": "x" * 50})


def test_many_writers_lose_nothing_though_files_are_put_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four processes at once, and a file that is full again and again: every line is there once."""
    monkeypatch.setattr(telemetry, "LARGEST", 5000)
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_many, [tmp_path] * 4, range(4)))
    found = sorted((line["who"], line["n"]) for line in lines(tmp_path))  # type: ignore[type-var]
    assert found == [(who, n) for who in range(4) for n in range(200)]
    assert len(list((tmp_path / ".memfas").glob("telemetry.*.jsonl"))) > 3


def test_a_line_that_was_torn_does_not_spoil_the_next(tmp_path: Path) -> None:
    """After a power cut in the middle of a line, the next one begins on its own."""
    telemetry.append(Folder(tmp_path), {"n": 1})
    path = tmp_path / ".memfas" / "telemetry.jsonl"
    path.write_bytes(path.read_bytes() + b'{"n": 2')
    telemetry.append(Folder(tmp_path), {"n": 3})
    assert path.read_text() == '{"n": 1}\n{"n": 2\n{"n": 3}\n'
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["folder", "link", "pipe", "state is a file"])
def test_where_it_cannot_be_written_nothing_happens(tmp_path: Path, what: str) -> None:
    """No error, no wait, and nothing written through a link."""
    target = tmp_path / "elsewhere"
    target.write_text("")
    state = tmp_path / ".memfas"
    path = state / "telemetry.jsonl"
    if what == "state is a file":
        state.write_text("x")
    else:
        state.mkdir()
        {"folder": path.mkdir, "link": lambda: path.symlink_to(target),
         "pipe": lambda: os.mkfifo(path)}[what]()  # fmt: skip
    telemetry.append(Folder(tmp_path), {"n": 1})
    assert target.read_text() == ""
