"""What is found is what the files say now: nothing old, nothing twice, nothing that is gone."""

from __future__ import annotations

import os

import pytest

from promises.prompt import Here

PADDING = (
    "The first hundred characters of this section stay the same whatever happens after them, so "
)


def integrity(here: Here) -> list[object]:
    """What SQLite says of the index and of its full text."""
    with here.database() as connection:
        found = [row[0] for row in connection.execute("pragma integrity_check")]
        (table,) = connection.execute(
            "select name from sqlite_master where sql like '%using fts5(%' and name not like '%vocab%'"
        ).fetchone()
        connection.execute(f"insert into {table}({table}, rank) values('integrity-check', 1)")
    connection.close()
    return found


def test_an_edit_and_another_index_leave_the_full_text_whole(here: Here) -> None:
    """SQLite finds nothing wrong after edits, and the index does not grow for nothing."""
    for n in range(20):
        here.write(f"memory/n{n}.md", f"# N{n}\n\n{PADDING}it says heron {n}\n" * 3)
    here.memfas("index", ".")
    here.write("memory/n3.md", f"# N3\n\n{PADDING}it says stork\n")
    here.memfas("index", ".")
    assert integrity(here) == ["ok"]
    here.memfas("index", ".")
    size = (here.root / ".memfas/index.db").stat().st_size
    for _ in range(4):
        here.memfas("index", ".")
    assert (here.root / ".memfas/index.db").stat().st_size <= size * 1.05
    assert integrity(here) == ["ok"]


def test_a_word_that_no_file_has_is_not_found_whatever_was_indexed_before(here: Here) -> None:
    """Index, edit after the first hundred characters, index, clear, index another file: the word
    of the first version is in no answer."""
    here.write("MEMORY.md", "")
    here.write("a.md", f"# A\n\n{PADDING}there is a zebra\n")
    here.memfas("index", "a.md")
    here.write("a.md", f"# A\n\n{PADDING}there is a giraffe\n")
    here.memfas("index", "a.md")
    assert here.memfas("clear", "-y").status == 0
    here.write("b.md", f"# B\n\n{PADDING}there is a heron\n")
    here.memfas("index", "b.md")
    assert here.hits("zebra") == []
    assert len(here.hits("giraffe")) == 1


def test_an_edited_section_is_found_once_as_it_is_now(here: Here) -> None:
    """The old address is in no answer, and the new one is in it once."""
    here.write("MEMORY.md", f"# Host\n\n{PADDING}the IP is 10.0.0.1\n")
    assert len(here.hits("IP")) == 1
    here.write("MEMORY.md", f"# Host\n\n{PADDING}the IP is 10.9.9.9\n")
    for _ in range(2):
        (hit,) = here.hits("what is the IP")
        assert "10.9.9.9" in hit
        assert "10.0.0.1" not in hit
        here.memfas("index", "MEMORY.md")
    assert not any("10.0.0.1" in hit for hit in here.hits("10.0.0.1"))


def test_a_deleted_file_is_in_no_answer(here: Here) -> None:
    """At once, without a command in between."""
    here.write("MEMORY.md", "")
    here.write("memory/secret.md", "the secret launch code is 4411\n")
    assert here.hits("launch code")
    (here.root / "memory/secret.md").unlink()
    assert here.hits("secret launch code 4411") == []
    assert here.memfas("stats", "--json").data["memories"] == 0


def test_a_file_has_one_place_however_it_is_named(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name, its absolute path, with dots, from below, through a link: it is found once."""
    here.write("MEMORY.md", "")
    here.write("memory/a.md", "the staging host is heron\n")
    (here.root.parent / "link").symlink_to(here.root)
    for name in ("memory/a.md", str(here.root / "memory/a.md"), "./memory/../memory/a.md",
                 str(here.root.parent / "link/memory/a.md"), "memory", "memory/", "."):  # fmt: skip
        assert here.memfas("index", name).status == 0, name
    monkeypatch.chdir(here.root / "memory")
    assert here.memfas("index", "a.md").status == 0
    assert here.memfas("index", "../memory/a.md").status == 0
    assert [hit["path"] for hit in here.answer("heron")["hits"]] == ["memory/a.md"]
    assert here.memfas("stats", "--json").data["memories"] == 1


def test_sections_that_begin_alike_are_all_found(here: Here) -> None:
    """Templated logs: the same heading, the same first hundred characters, another end."""
    for day, end in (("23", "alpha"), ("24", "bravo"), ("25", "charlie")):
        here.write(f"memory/2026-02-{day}.md", f"# Log\n\n## Standup\n\n{PADDING}{end}\n")
    here.write("MEMORY.md", "".join(f"## Standup\n\n{PADDING}{w}\n\n" for w in ("delta", "echo")))
    here.memfas("index", ".")
    for word in ("alpha", "bravo", "charlie", "delta", "echo"):
        assert any(word in hit for hit in here.hits(word)), word


def test_what_has_not_changed_is_not_read_again(here: Here) -> None:
    """The second look reads nothing, the next one only what was written."""
    for n in range(30):
        path = here.write(f"memory/n{n}.md", f"# N\n\nheron {n}\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert here.memfas("index", "--json").data["files"] == 30
    here.memfas("index")  # younger than a tick of the clock at the first look
    assert here.memfas("index", "--json").data["files_read"] == 0
    here.write("memory/n7.md", "# N\n\nstork\n")
    assert here.memfas("index", "--json").data["files_read"] == 1


def test_an_index_that_was_thrown_away_is_no_loss(here: Here) -> None:
    """Clearing keeps every file and every trigger; the next question is answered in full."""
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    here.memfas("remember", "alice", "--hint", "Project manager")
    here.memfas("clear", "-y")
    assert here.hits("heron")
    assert here.fires("alice") == ["alice"]
