"""A look that saw only a part, or saw it just then: nothing is taken for known that is not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memfas.index import keeper, sync
from agent_memfas.store import sweep
from inputs.memory import Memory

from .support import ask, closed, counted_time, in_step, keeper_of, places, texts


def look(memory: Memory, *only: str) -> None:
    """Look at these folders only, as after an event; at all of them where none is named."""
    one = keeper_of(memory.root)
    one.source(time.time_ns(), only=only or None)
    one.close()


def settled(memory: Memory) -> None:
    """Look when all files are old enough to be believed."""
    time.sleep(0.03)
    look(memory)


@pytest.mark.parametrize("second", ["lessons/b.md", "shared/b.md"])
def test_a_second_name_that_goes_and_comes(memory: Memory, second: str) -> None:
    """A file has a second name for a while, and looks at its folder alone come in between: it is
    found all the time."""
    memory.write("memory/a.md", "- the ibis host\n")
    beside = memory.root / second
    beside.parent.mkdir()
    for looks in (["memory"], [beside.parent.name], ["memory", beside.parent.name], []):
        os.link(memory.root / "memory/a.md", beside)
        settled(memory)
        beside.unlink()
        time.sleep(0.03)
        look(memory, *looks)
        look(memory)
        assert places(ask(memory, "ibis")) == ["memory/a.md:1"], looks
        assert in_step(memory.root) == []


def test_a_link_that_is_a_file_for_a_while(memory: Memory) -> None:
    """A link becomes a file and again the same link, and only its folder was looked at between."""
    memory.write(".kept/a.md", "- the ibis host\n")
    link = memory.root / "memory/a.md"
    link.parent.mkdir()
    link.symlink_to("../.kept/a.md")
    settled(memory)
    assert places(ask(memory, "ibis")) == ["memory/a.md:1"]
    link.unlink()
    memory.write("memory/a.md", "- the crow host\n")
    look(memory, "memory")
    for more in (["memory"], []):
        link.unlink(missing_ok=True)
        link.symlink_to("../.kept/a.md")
        look(memory, *more)
        assert texts(ask(memory, "ibis crow")) == ["- the ibis host"]
        assert in_step(memory.root) == []


def test_a_link_in_a_folder_that_was_closed(memory: Memory) -> None:
    """A folder is closed, the link in it goes meanwhile, the folder is opened: so is the index."""
    memory.write(".kept/a.md", "- the ibis host\n")
    memory.write("memory/b.md", "- the crow host\n")
    (memory.root / "memory/a.md").symlink_to("../.kept/a.md")
    settled(memory)
    with closed(memory.root, "memory"):
        look(memory)
        (memory.root / "memory/a.md").unlink()
        look(memory)
    assert texts(ask(memory, "ibis crow")) == ["- the crow host"]
    assert in_step(memory.root) == []


@pytest.mark.parametrize("first", ["ignore", "read"])
@pytest.mark.parametrize("looks", [0, 1, 2, 3])
def test_new_rules_and_a_look_that_is_cut_off(memory: Memory, first: str, looks: int) -> None:
    """.memfasignore changes, and the first look after it does not come to the end: the next one
    does what is left."""
    for n in range(4):
        memory.write(f"memory/m{n}/a.md", f"- the ibis of day {n}\n")
    rules = ["", "memory/m1/\nmemory/m2/a.md\n"]
    (memory.root / ".memfasignore").write_text(rules[first == "read"])
    settled(memory)
    (memory.root / ".memfasignore").write_text(rules[first == "ignore"])
    with counted_time():
        ask(memory, "ibis", "--within", str(looks * 1000))
    assert len(ask(memory, "ibis")["hits"]) == (2 if first == "ignore" else 4)
    assert in_step(memory.root) == []


@pytest.mark.parametrize("only", ["memory", "memory/deep", "lessons"])
@pytest.mark.parametrize("between", ["looks at it only", "looks at all"])
def test_new_rules_and_a_look_at_one_folder(memory: Memory, only: str, between: str) -> None:
    """The same where an event leads to one folder, be it ignored from now on or not."""
    for n, folder in enumerate(("memory", "memory/deep", "lessons")):
        memory.write(f"{folder}/a.md", f"- the ibis host {n}\n")
    settled(memory)
    for rules in ("memory/\n", "", "a.md\n", "", "lessons/\n", ""):
        (memory.root / ".memfasignore").write_text(rules)
        look(memory, only)
        assert between == "looks at it only" or in_step(memory.root) == []
    look(memory)
    assert len(ask(memory, "ibis")["hits"]) == 3
    assert in_step(memory.root) == []


def test_new_rules_and_a_folder_that_is_closed(memory: Memory) -> None:
    """The rules change while a folder is closed, and once more: then it is opened."""
    memory.write("memory/a.md", "- the ibis host\n")
    memory.write("memory/deep/b.md", "- the ibis host\n")
    settled(memory)
    for rules in ("a.md\n", "deep/\n"):
        (memory.root / ".memfasignore").write_text(rules)
        with closed(memory.root, "memory"):
            look(memory)
        look(memory)
        assert in_step(memory.root) == []


MOMENTS: dict[str, Callable[[Path], object]] = {
    "gone": lambda folder: folder.rename(folder.with_name("away")),
    "a link": lambda folder: (
        folder.rename(folder.with_name("away")), folder.symlink_to(folder.parents[1])
    ),
    "a file": lambda folder: (folder.rename(folder.with_name("away")), folder.write_text("")),
}  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_folder_that_is_away_for_a_moment(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A folder is moved away after it was listed and before its files are read, and comes back
    with all its times: it is found again."""
    memory.write("memory/a.md", "- the ibis host\n")
    time.sleep(0.03)
    folder, load = memory.root / "memory", sync.load

    def late(*arguments: object) -> object:
        if folder.is_dir() and not folder.is_symlink():
            MOMENTS[moment](folder)
        return load(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sync, "load", late)
    look(memory)
    monkeypatch.undo()
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    folder.with_name("away").rename(folder)
    assert texts(ask(memory, "ibis")) == ["- the ibis host"]
    assert in_step(memory.root) == []


def test_another_process_that_was_faster(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between my look at the folder and my writing, another process sees a file that was not there
    yet, and writes it down: the file's end is noticed all the same."""
    memory.write("memory/a.md", "- the ibis host\n")
    settled(memory)
    memory.write("memory/a.md", "- the crow host\n")
    real, nested = keeper.sweep, [False]

    def slow(*arguments: object) -> object:
        swept = real(*arguments)  # type: ignore[arg-type]
        if not nested[0]:
            nested[0] = True
            memory.write("memory/b.md", "- the gull host\n")
            time.sleep(0.03)
            look(memory)
        return swept

    monkeypatch.setattr(keeper, "sweep", slow)
    look(memory)
    (memory.root / "memory/b.md").unlink()
    assert in_step(memory.root) == []


def test_a_folder_that_is_gone_beside_one_that_is_closed(memory: Memory) -> None:
    """One folder can never be listed: that others go is noticed all the same."""
    for folder in ("memory", "lessons", "shared"):
        memory.write(f"{folder}/a.md", "- the ibis host\n")
    settled(memory)
    with closed(memory.root, "shared"):
        (memory.root / "lessons").rename(memory.root.parent / "out")
        answer = ask(memory, "heron")
        assert answer["files_indexed"] == 3
    assert in_step(memory.root) == []


def test_an_empty_mount_point_empties_no_index(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk with my memory is not mounted: I am told so, and its index is as it was."""
    memory.write("memory/a.md", "- the ibis host\n")
    settled(memory)
    index = memory.root / ".memfas/index.db"
    before = index.read_bytes()
    hidden = memory.root.with_name("hidden")
    hidden.mkdir()
    for path in list(memory.root.iterdir()):
        if path.name != ".memfas":
            path.rename(hidden / path.name)
    monkeypatch.setattr("agent_memfas.index.database.device_of", lambda root: "another")
    answer = ask(memory, "ibis")
    assert answer["hits"] == []
    assert "not mounted" in answer["notes"][0]
    assert index.read_bytes() == before
    assert sweep.sweep(str(memory.root), {}).seen == 0
