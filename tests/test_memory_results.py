"""What Memory gives back: results as text, their numbers in memfas.yaml, what could not be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_memfas import Memory, MemoryResult
from agent_memfas.cli import main


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/MEMORY.md").write_text("# M\n\n- the staging host is heron\n- lunch\n")
    monkeypatch.chdir(tmp_path / "agent")
    return tmp_path / "agent"


# str(result)


def test_a_result_is_printed_under_its_trigger_or_its_source() -> None:
    """With a trigger the line has keyword and hint, without one the file."""
    found = MemoryResult("MEMORY.md", "- the staging host", 0.5)
    assert str(found) == "[MEMORY.md]\n  > - the staging host"
    fired = MemoryResult(
        "MEMORY.md", "- the staging host", 1.0, trigger="staging", hint="ask first"
    )
    assert str(fired) == "[staging] ask first\n  > - the staging host"


@pytest.mark.parametrize(("length", "printed"), [
    (199, "x" * 199), (200, "x" * 200), (201, "x" * 200 + "..."), (5000, "x" * 200 + "..."),
])  # fmt: skip
def test_a_long_result_is_cut_at_two_hundred_characters(length: int, printed: str) -> None:
    """Three dots stand only where something is missing; the result itself has all of it."""
    for options in ({}, {"trigger": "alice", "hint": "PM"}):
        result = MemoryResult("a.md", "x" * length, 0.5, **options)
        assert str(result).split("\n  > ")[1] == printed
        assert len(result.text) == length


# Numbers of results in memfas.yaml


def quoted(text: str) -> list[str]:
    """The lines below the trigger of an answer."""
    lines = text.partition("**Related Memories:**")[0].strip().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("[staging] ask first"))
    return [line for line in lines[at + 1 :] if line.startswith("  ")]


def test_a_result_that_memfas_yaml_links_by_number_is_quoted(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`memory_ids: [NUMBER]`, the number being a result's id: the command and the call both quote
    it below the hint, also after its line has moved to another place and another file."""
    with Memory(".") as memory:
        heron, lunch = memory.search("heron")[0], memory.search("lunch")[0]
    (root / "memfas.yaml").write_text(
        "triggers:\n  - keyword: staging\n    hint: ask first\n"
        f"    memory_ids: [{heron.id}, {lunch.id}]\n"
    )
    line, other = "  > - the staging host is heron", ["  [MEMORY.md:4]", "  > - lunch"]
    with Memory("memfas.yaml") as memory:
        assert memory.list_triggers()[0]["memory_ids"] == f"{heron.id},{lunch.id}"
        for path, text, place in (
            ("MEMORY.md", "# M\n\n- the staging host is heron\n- lunch\n", "MEMORY.md:3"),
            ("MEMORY.md", "# M\n\n- above\n- lunch\n- the staging host is heron\n", "MEMORY.md:5"),
            ("MEMORY.md", "# M\n\n- above\n- lunch\n", ""),
            ("other.md", "- the staging host is heron\n", "other.md:1"),
        ):
            (root / path).write_text(text)
            expected = [f"  [{place}]", line, *other] if place else other
            assert quoted(memory.recall("about staging")) == expected
            assert main(["recall", "about staging", "--within", "0"]) == 0
            assert quoted(capsys.readouterr().out) == expected


# What cannot be read


def test_index_sources_warns_of_each_file_that_it_could_not_read(root: Path) -> None:
    """A pipe and a link out of the folder are named with the reason; what can be read is indexed,
    and of that, as of what `sources` leave out, nothing is said."""
    (root / "memfas.yaml").write_text("sources: ['*.md']\n")
    (root.parent / "out.md").write_text("- a heron outside\n")
    (root / "link.md").symlink_to(root.parent / "out.md")
    for pipe in ("pipe.md", "not-in-sources.txt"):
        os.mkfifo(root / pipe)
    (root / "picture.png").write_bytes(b"\x89PNG")
    with Memory("memfas.yaml") as memory:
        with pytest.warns(UserWarning, match="Failed to index") as told:
            memory.index_sources()
        assert sorted(str(one.message).partition(": ")[0] for one in told) == [
            "Failed to index link.md", "Failed to index pipe.md",
        ]  # fmt: skip
        assert all(str(one.message).partition(": ")[2] for one in told)
        assert [result.source for result in memory.search("heron")] == ["MEMORY.md"]


def test_index_sources_tells_of_a_file_that_is_read_in_part(root: Path) -> None:
    """One that is not UTF-8 and one that is too large are named with the reason, and what was read
    of them is found."""
    (root / "latin.md").write_bytes("- Müller saw a stork\n".encode("latin-1"))
    with (root / "large.txt").open("wb") as large:
        large.write(b"- a crane at the beginning\n")
        large.write((b"." * 99_999 + b"\n") * 60)
        large.write(b"- an egret at the end\n")
    with Memory(".") as memory:
        with pytest.warns(UserWarning, match=r"latin\.md: |large\.txt: ") as told:
            memory.index_sources()
        messages = sorted(str(one.message) for one in told)
        assert len(messages) == 2
        assert "large.txt: " in messages[0]
        assert "MB" in messages[0]
        assert "latin.md: not UTF-8" in messages[1]
        found = {
            bird: [r.source for r in memory.search(bird)] for bird in ("stork", "crane", "egret")
        }
    assert found == {"stork": ["latin.md"], "crane": ["large.txt"], "egret": []}


def test_index_sources_has_nothing_to_say_of_files_that_can_be_read(
    root: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """No warning, and each source is searched."""
    (root / "memfas.yaml").write_text("sources: [MEMORY.md, 'notes/*.md']\n")
    (root / "notes").mkdir()
    (root / "notes/a.md").write_text("- a heron, too\n")
    with Memory("memfas.yaml") as memory:
        memory.index_sources()
        assert {result.source for result in memory.search("heron")} == {"MEMORY.md", "notes/a.md"}
    assert [str(one.message) for one in recwarn] == []
