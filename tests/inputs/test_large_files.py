"""Files of absurd size and shape: the work stays in proportion, and nothing is lost.

Each shape here would take minutes or crash where the work grows with the square of the file, or
where a nesting level costs a call. A limit of processor time ends such a run; it measures nothing.
"""

from __future__ import annotations

import os
import resource
import sys

import pytest

from .memory import CONTROL, HEAD, PROGRAM, TODAY, Memory, start

OLD = b"- [P1][2020-01-01] "
SECONDS = 20
MEGABYTE = 1 << 20

# What the janitor works out about a file that comes in by standard input: what would move.
PLAN = f"""
import sys
from datetime import date
from agent_memfas.tasks.janitor import plan
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import Terms
data = sys.stdin.buffer.read()
document = parse(data)
assert b"".join(document.lines) == data
draft = plan(document, "MEMORY.md", Terms(), date.fromisoformat({TODAY!r}))
assert len(draft.new) + sum(len(line) for m in draft.moved for line in m.lines) == len(data)
print(len(draft.moved))
"""

# The command line, and behind its answer how much memory it took at most, in bytes.
WEIGHED = """
import os, resource, sys
from agent_memfas.cli import main
status = main(sys.argv[1:])
if os.path.exists("/proc/self/status"):  # ru_maxrss counts what the process was forked from, too
    fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
    print(int(fields["VmHWM"].split()[0]) * 1024, file=sys.stderr)
    sys.exit(status)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
sys.exit(status)
"""


def limit_processor_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


# Name, bytes of a MEMORY.md, and how many entries leave it.
SHAPES: list[tuple[str, bytes, int]] = [
    ("a-line-of-bullets", b" -" * 100_000 + b"\n", 0),
    ("bullets-before-a-tag", b" -" * 50_000 + b" [P1][2020-01-01]\n", 0),
    ("quotes-in-quotes", b">" * 10_000 + b" - [P1][2020-01-01]\n", 0),
    ("lists-in-quotes", b"> - " * 5_000 + b"x\n", 0),
    ("lists-in-lists", b"- " * 10_000 + b"[P1][2020-01-01]\n", 0),
    ("ever-deeper-lists", b"".join(b"  " * n + b"- x\n" for n in range(1_000)), 0),
    ("ten-megabytes-in-a-line", OLD + b"x" * 10_000_000 + b"\n", 1),
    ("blanks-behind-the-tags", OLD + b" " * 300_000 + b"x\n", 1),
    ("blanks-inside-the-text", OLD + b"x" + b" " * 300_000 + b"x\n", 1),
    ("blanks-in-a-comment", OLD + b"<!-- trigger: x" + b" " * 300_000 + b"x -->\n", 1),
    ("blanks-before-a-bracket", b"text\n" + b" " * 100_000 + b"[x]\n", 0),
    ("tabs-before-a-bracket", b"- a\n  b\n" + b"\t" * 100_000 + b"[x]\n", 0),
    ("backticks", OLD + b"`" * 100_000 + b"x\n", 1),
    ("open-code", OLD + b"`a" * 100_001 + b"\n", 1),
    ("comments-in-a-line", OLD + b"<!---->" * 200_000 + b"\n", 1),
    ("comments-in-code", OLD + b"`<!-- trigger:` " * 50_000 + b"\n", 1),
    ("comment-openers", b"x <!--" + b"<!--" * 100_000 + b"\n" + OLD, 0),
    ("brackets", b"- [P1] " + b"[" * 100_000 + b"\n", 0),
    ("open-terms", OLD[:-1] + b"[ttl:" * 100_000 + b"\n", 1),
    ("terms", OLD[:-1] + b"[ttl:1d]" * 50_000 + b"\n", 1),
    ("digits", b"- [P1][" + b"1" * 100_000 + b"]\n", 0),
    ("stars", b"- **" + b"*" * 100_000 + b"[P1]\n", 0),
    ("details-in-details", b"<details>\n" * 20_000 + OLD, 0),
    ("short-lines", b"a\n" * 100_000 + b"\n" + OLD, 1),
    ("headings", b"# a\n" * 20_000 + OLD, 1),
    ("underlined-headings", b"a\n---\n" * 10_000 + OLD, 1),
    ("an-entry-of-entries", OLD + b"\n  - [P1][2020-01-01]" * 10_000 + b"\n", 1),
    ("nothing-but-entries", (OLD + b"\n") * 15_000, 15_000),
    ("a-list-for-each-entry", (OLD + b"\n\ntext\n\n") * 5_000, 5_000),
]


@pytest.mark.parametrize(
    ("data", "moved"), [pytest.param(data, moved, id=name) for name, data, moved in SHAPES]
)
def test_the_work_grows_with_the_file(data: bytes, moved: int) -> None:
    """Whatever shape a file has, working out what leaves it takes seconds and no deep stack."""
    done = start([sys.executable, "-c", PLAN], input=data, preexec_fn=limit_processor_time)
    assert done.returncode == 0, done.stderr.decode()[-500:] or f"over {SECONDS} s"
    assert int(done.stdout) == moved


def weighed(memory: Memory, *arguments: str) -> tuple[int, bytes, str, int]:
    """A command in a process of its own: status, answer, messages, most memory in bytes."""
    command, *rest = arguments
    whole = [sys.executable, "-c", WEIGHED, command, "--root", str(memory.root), *rest]
    done = start(whole, preexec_fn=limit_processor_time)
    *messages, size = done.stderr.decode().splitlines()
    return done.returncode, done.stdout, "\n".join(messages), int(size)


def test_a_hundred_megabytes_are_refused_by_the_janitor(memory: Memory) -> None:
    """A MEMORY.md of that size is a mistake: it is left alone and named, the other file is done,
    and it is not read into memory several times over."""
    path = memory.write("MEMORY.md", HEAD + CONTROL)
    os.truncate(path, 100 * MEGABYTE)
    memory.write("shared/MEMORY.md", HEAD + CONTROL)
    status, _, messages, size = weighed(memory, "janitor", "--today", TODAY)
    assert status == 1
    assert "MEMORY.md" in messages
    assert "limit" in messages
    assert path.stat().st_size == 100 * MEGABYTE
    assert memory.read("shared/MEMORY.md") == HEAD
    assert size < 300 * MEGABYTE


def test_a_hundred_megabytes_are_searched_up_to_the_limit(memory: Memory) -> None:
    """A huge log is found by its beginning, and the answer says that the rest was left out."""
    path = memory.write("memory/2026-02-01.md", b"the heron host\n" + b"words\n" * 50_000)
    os.truncate(path, 100 * MEGABYTE)
    memory.write("memory/2026-02-02.md", b"the egret host\n")
    status, answer, messages, size = weighed(memory, "recall", "heron")
    assert status == 0
    assert b"memory/2026-02-01.md:1" in answer
    assert "memory/2026-02-01.md: only the first" in messages
    assert size < 300 * MEGABYTE


def test_a_line_of_ten_megabytes_is_searched(memory: Memory) -> None:
    """One endless line, as a JSON dump has it: found, shown in part, cut between characters."""
    line = "部署 heron 服务器 " + "字x " * 2_500_000
    memory.write("memory/2026-02-01.md", line)
    status, answer, messages, _ = weighed(memory, "recall", "--json", "heron")
    assert (status, messages) == (0, "")
    assert "部署 heron 服务器" in answer.decode("utf-8")
    assert "\ufffd" not in answer.decode("utf-8")
    assert len(answer) < 100_000


@pytest.mark.parametrize("command", [["recall", "heron"], ["lint"]])
def test_strange_shapes_do_not_stop_the_others(memory: Memory, command: list[str]) -> None:
    """Logs, triggers and lessons of all these shapes, a little smaller: what I look for is found,
    and lint gets to its end."""
    for name, data, _ in SHAPES:
        memory.write(f"memory/{name}.md", data[:60_000] + b"\n")
    for name in ("blanks-inside-the-text", "backticks", "comments-in-code"):
        data = next(data for other, data, _ in SHAPES if other == name)[:60_000]
        memory.write(f"shared/{name}/TRIGGERS.md", b"- key -> " + data + b"\n")
        memory.write(f"lessons/{name}.jsonl", b'{"lesson": "' + data + b'"}\n')
    memory.write("memory/headings.md", b"# a\n" * 50_000)
    memory.write("TRIGGERS.md", b"- key" + b" " * 60_000 + b"x -> y\n- a -> b " + b"<" * 60_000)
    memory.write("MEMORY.md", HEAD + b"- [P0] the heron host\n")
    whole = [*PROGRAM, command[0], "--root", str(memory.root), *command[1:]]
    done = start(whole, preexec_fn=limit_processor_time)
    assert done.returncode == (1 if command == ["lint"] else 0), done.stderr
    assert command == ["lint"] or b"[MEMORY.md:3]" in done.stdout


def test_the_janitor_moves_ten_thousand_lines_of_an_entry(memory: Memory) -> None:
    """An entry with an endless list under it moves whole, through the real files too."""
    entry = OLD + b"a log by mistake\n" + b"  - one more line\n" * 10_000
    memory.write("MEMORY.md", HEAD + entry + b"- [P0] stays\n")
    assert memory.janitor().status == 0
    assert memory.read() == HEAD + b"- [P0] stays\n"
    assert memory.archive_entries == entry
