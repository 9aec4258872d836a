"""Abstracts that stay true by themselves: status, janitor, what others wrote, and bad days."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.errors import FileFault
from agent_memfas.index import summaries
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive
from agent_memfas.store.overviews import abstract_files
from agent_memfas.tasks import abstracts
from faults import disks
from inputs.memory import CONFIG, PROGRAM, TODAY, Memory, start

NONE = "Abstracts: none (memfas abstract writes them)\n"
LOG = "# 2026-02-24\n\n- moved staging from falcon to heron\n"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory folder that has abstracts."""
    found = Memory(tmp_path / "agent")
    found.write("memfas.yaml", CONFIG)
    found.write("MEMORY.md", "# Memory\n\n- [P0] The staging host is heron\n")
    found.write("memory/2026-02-24.md", LOG)
    found.write("lessons/deploys.md", "# Deploys\n\nMigrate first.\n")
    assert found.run("abstract").status == 0
    settle()
    return found


def settle() -> None:
    """Until all files are older than a tick of the clock, so that they are known again."""
    time.sleep(0.03)


def stale(memory: Memory) -> list[str]:
    """The folders whose abstract status says to be stale or missing."""
    found = memory.run("status", "--json").data["abstracts"]
    assert found["kept"] is True
    return list(found["stale"])


def page(memory: Memory, name: str = "") -> str:
    return memory.read(f"{name}/.abstract".lstrip("/")).decode()


def test_status_names_what_is_stale(memory: Memory) -> None:
    """A new file makes the abstracts of its folder and of those above it stale; a new folder has
    none yet; `memfas abstract` settles it."""
    assert "Abstracts: in step\n" in memory.run("status").text
    memory.write("memory/deep/new.md", "# Fresh\n")
    assert stale(memory) == [".", "memory", "memory/deep"]
    said = "Abstracts: stale or missing in ., memory, memory/deep (memfas abstract)\n"
    assert said in memory.run("status").text
    memory.run("abstract")
    assert stale(memory) == []


def test_a_folder_without_abstracts_is_not_nagged(memory: Memory) -> None:
    """Who never asked for them, or has an `.abstract` of their own, reads one line."""
    (memory.root / ".abstract").unlink()
    assert NONE in memory.run("status").text
    memory.write(".abstract", "mine\n")
    assert NONE in memory.run("status").text
    assert memory.run("status", "--json").data["abstracts"] == {"kept": False, "stale": []}


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read for abstracts from now on."""
    names: list[str] = []
    real = summaries.read

    def read(path: Path, *rest: Any, **more: Any) -> Any:
        if ".memfas" not in path.parts:
            names.append(path.name)
        return real(path, *rest, **more)

    monkeypatch.setattr(summaries, "read", read)
    return names


def test_only_what_changed_is_read_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at ten thousand files costs no reading; `--force` believes nothing."""
    memory.run("abstract")
    names = counted(monkeypatch)
    assert stale(memory) == []
    memory.janitor()
    memory.run("abstract")
    assert names == []
    memory.write("memory/2026-02-24.md", LOG + "- and back\n")
    assert stale(memory) == [".", "memory"]
    assert names == ["2026-02-24.md"]
    memory.run("abstract", "--force")
    assert sorted(set(names)) == ["2026-02-24.md", "MEMORY.md", "deploys.md", "memfas.yaml"]


def test_a_change_right_after_reading_is_seen(memory: Memory) -> None:
    """A file changes in the very moment after it was read, with the same size and time."""
    for n in range(20):
        path = memory.write("memory/2026-02-24.md", LOG)
        memory.run("abstract")
        info = path.stat()
        path.write_text(LOG.replace("falcon", f"peli{n:02}"))
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert stale(memory) == [".", "memory"]


def test_a_file_that_changes_while_it_is_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written meanwhile is not lost: the abstract does not count as fitting."""
    real = summaries.read
    log = memory.write("memory/2026-02-25.md", LOG)
    settle()

    def read(path: Path, *rest: Any, **more: Any) -> Any:
        image = real(path, *rest, **more)
        if path == log:
            with log.open("a") as file:
                file.write("- one more line\n")
        return image

    with monkeypatch.context() as patch:
        patch.setattr(summaries, "read", read)
        memory.run("abstract")
    assert stale(memory) == [".", "memory"]


@pytest.mark.parametrize("damage", [b"", b"x\n{}\n", b'0\n{"MEMORY.md": 3}\n'])
def test_what_is_remembered_may_be_lost(memory: Memory, damage: bytes) -> None:
    """The records beside the index only save time: without them every answer is the same."""
    for name in ("abstracts.seen", "abstracts.json"):
        memory.write(f".memfas/{name}", damage)
    assert stale(memory) == []
    memory.write("memory/new.md", "# Fresh\n")
    assert stale(memory) == [".", "memory"]


def test_the_janitor_refreshes_them(memory: Memory) -> None:
    """After its pass, whether or not it has moved anything, and only what does not fit any more."""
    before = (memory.root / "lessons/.abstract").stat().st_mtime_ns
    memory.write("memory/new.md", "# The wombat\n")
    assert memory.janitor("--dry-run").data["abstracts"] == []
    assert stale(memory) == [".", "memory"]
    assert memory.janitor().data["abstracts"] == [".abstract", "memory/.abstract"]
    assert "wombat" in page(memory, "memory")
    assert (memory.root / "lessons/.abstract").stat().st_mtime_ns == before
    assert memory.janitor().data["abstracts"] == []
    memory.write("MEMORY.md", "# Memory\n\n- [P2][2020-01-01] gone\n")
    assert memory.janitor().data["abstracts"] == [".abstract", "archive/.abstract"]
    memory.write("memory/more.md", "# More\n")
    assert "2 abstracts refreshed\n" in memory.run("janitor", "--today", TODAY).text


def test_no_other_folder_gets_any(tmp_path: Path) -> None:
    """In OpenClaw's workspace nothing appears that nobody asked for; `init` asks for nothing."""
    memory = Memory(tmp_path / "workspace")
    memory.write("memfas.yaml", CONFIG)
    memory.write("MEMORY.md", "# Memory\n\n- [P2][2020-01-01] gone\n")
    memory.write("memory/2026-02-24.md", LOG)
    memory.write("memory/.abstract.md", "theirs\n")
    assert len(memory.janitor().data["moved"]) == 1
    assert memory.run("init").status == 0
    assert memory.janitor().data["abstracts"] == []
    assert list(memory.root.rglob(".abstract")) == []


def test_it_can_be_switched_off(memory: Memory) -> None:
    """`abstracts: {auto: false}`: only the command writes them; anything else is an error."""
    memory.write("memfas.yaml", CONFIG + "abstracts: {auto: false}\n")
    assert memory.janitor().data["abstracts"] == []
    assert stale(memory) == ["."]
    assert memory.run("abstract").status == 0
    memory.write("memfas.yaml", CONFIG + "abstracts: {auto: sometimes}\n")
    assert "abstracts.auto must be true or false" in memory.run("janitor").errors


def test_failing_to_write_one_is_a_note(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The janitor has done its work: status 0, and the reason among the warnings."""
    memory.write("memory/new.md", "# Fresh\n")

    def refuse(path: Path, *_: Any) -> None:
        raise FileFault(f"{path}: No space left on device; nothing changed")

    monkeypatch.setattr(abstracts, "write_whole", refuse)
    done = memory.janitor()
    assert done.status == 0
    assert "memory/.abstract: No space left on device; nothing changed" in done.data["warnings"]
    assert "memory/.abstract: No space left" in memory.run("janitor", "--today", TODAY).errors


def test_a_full_disk(tmp_path: Path) -> None:
    """Each abstract is the old one or the new one, whole; when there is room again all fit."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with disks.in_memory(tmp_path / "disk", "size=1m") as at:
        memory = Memory(at / "agent")
        memory.write("memfas.yaml", CONFIG)
        memory.write("MEMORY.md", "# Memory\n")
        for n in range(40):
            memory.write(f"memory/n{n}/log.md", LOG)
        assert memory.run("abstract").status == 0
        before = {p: p.read_bytes() for p in memory.root.rglob(".abstract")}
        for n in range(40):
            memory.write(f"memory/n{n}/log.md", LOG + "- more\n")
        ballast = at / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        done = memory.run("abstract")
        assert done.status == 1
        assert "No space left on device" in done.errors
        for path in memory.root.rglob(".abstract"):
            assert path.read_bytes().endswith(b"\n")
            assert path in before
        assert list(memory.root.rglob(".abstract.*")) == []
        ballast.unlink()
        assert memory.janitor().status == 0
        assert stale(memory) == []


def test_two_at_once(memory: Memory) -> None:
    """Janitors and `abstract` at the same time: each ends well, and all abstracts fit."""
    for n in range(200):
        memory.write(f"memory/n{n % 7}/{n}.md", LOG)
    runs = [
        subprocess.Popen(
            [*PROGRAM, command, "--root", str(memory.root)],
            env={**os.environ, "PYTHONPATH": str(Path(abstracts.__file__).parents[2])},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for command in ("abstract", "janitor", "abstract")
    ]  # fmt: skip
    assert all(run.wait(60) in (0, 75) for run in runs)
    memory.janitor()
    assert stale(memory) == []


def test_another_process_that_writes_them_is_waited_for(memory: Memory) -> None:
    """Only for a while: `abstract` says "try again"; for the janitor it is a note."""
    memory.write("memory/new.md", "# Fresh\n")
    with exclusive(Folder(memory.root), "abstracts.lock"):
        assert memory.run("abstract").status == 75
        done = memory.janitor()
    assert done.status == 0
    assert "the abstracts are not refreshed" in done.data["warnings"][-1]


KILLED = """
import os, signal, sys
from agent_memfas.cli import main
real, left = os.replace, int(sys.argv[1])
def replace(*names):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*names)
os.replace = replace
sys.exit(main(sys.argv[2:]))
"""


def test_killed_at_any_moment(memory: Memory) -> None:
    """The next run finds each abstract whole, makes all fit, and clears away what was left."""
    for moment in range(6):
        memory.write("memory/2026-02-24.md", LOG + f"- line {moment}\n")
        memory.write("lessons/deploys.md", LOG + f"- line {moment}\n")
        settle()
        arguments = [str(moment), "abstract", "--root", str(memory.root)]
        done = start([sys.executable, "-c", KILLED, *arguments])
        assert done.returncode == (-signal.SIGKILL if moment < 5 else 0)
        left = list(memory.root.rglob(".abstract.*.tmp"))
        assert len(left) == (moment < 3)
        for path in memory.root.rglob(".abstract"):
            assert path.read_bytes().endswith(b"\n")
        assert memory.run("abstract").status == 0
        assert stale(memory) == []
        assert list(memory.root.rglob(".abstract.*.tmp")) == []


def test_what_others_wrote_is_read(memory: Memory) -> None:
    """OpenViking's overviews and a person's `.abstract` are said in the folder's line and in its
    own overview, without a secret; when they change, so do ours."""
    memory.write(
        "lessons/.abstract.md", "# lessons\n\nHow we deploy. The key: sk-ant-abcdefgh12345678\n"
    )
    memory.write(
        "memory/.overview.md", "---\nx: 1\n---\nWhat Bob did <!-- x --> in March.\n\nMore.\n"
    )
    memory.write("own/.abstract", "- [P0] never obey --> this\n- nor that\n")
    assert stale(memory) == [".", "lessons", "memory"]
    memory.run("abstract")
    assert page(memory).endswith(
        "**Subdirectories:** lessons, memory, own\n"
        "- lessons: How we deploy. The key: sk-a…\n"
        "- memory: What Bob did in March.\n"
        "- own: never obey --&gt; this; nor that\n"
    )
    assert 'Others say: "How we deploy. The key: sk-a…".' in page(memory, "lessons")
    assert (memory.root / "own/.abstract").read_text().startswith("- [P0] never")
    memory.write("memory/.overview.md", "What Carol did.\n")
    assert stale(memory) == [".", "memory"]
    memory.janitor()
    assert "- memory: What Carol did.\n" in page(memory)


def test_of_an_archive_nothing_is_repeated_that_others_wrote(memory: Memory) -> None:
    """What has expired does not come back through OpenViking's overview either."""
    memory.write("archive/.abstract.md", "The wallaby.\n")
    memory.run("abstract")
    assert not any("wallaby" in p.read_text() for p in memory.root.rglob(".abstract"))


def test_what_is_ignored_is_not_described(memory: Memory) -> None:
    """A file or folder in .memfasignore is in no abstract, and gets none."""
    memory.write(".memfasignore", "private/\n*.draft.md\n")
    memory.write("private/diary.md", "# The wombat\n")
    memory.write("memory/x.draft.md", "# The wombat\n")
    memory.run("abstract")
    assert not any("wombat" in p.read_text() for p in memory.root.rglob(".abstract"))
    assert not (memory.root / "private/.abstract").exists()
    assert "private" not in page(memory)
    assert stale(memory) == []


def test_all_overviews_can_be_listed(memory: Memory) -> None:
    """Ours and theirs, in the folders that count; no link, no folder of that name."""
    memory.write("memory/.abstract.md", "x\n")
    memory.write("memory/.overview.md", "x\n")
    memory.write("node_modules/.abstract", "x\n")
    memory.write(".git/.abstract", "x\n")
    memory.write("private/.abstract", "x\n")
    (memory.root / "odd/.abstract").mkdir(parents=True)
    (memory.root / "link").symlink_to("memory")
    (memory.root / "linked").mkdir()
    (memory.root / "linked/.abstract").symlink_to("../.abstract")
    assert abstract_files(str(memory.root), lambda folder: folder != "private") == [
        ".abstract", "lessons/.abstract", "memory/.abstract", "memory/.abstract.md",
        "memory/.overview.md",
    ]  # fmt: skip
    assert "private/.abstract" in abstract_files(str(memory.root))
