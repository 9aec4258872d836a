"""Without a model: what a person would mark in a log stands on its page, under the right heading."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memfas.text.citations import words_of
from agent_memfas.text.insights import standing
from inputs.memory import CONFIG, Memory
from reflection.support import compound, kept

DECISIONS, LESSONS, OPEN = "Decisions Made", "Lessons Learned", "Open Items"
INTENT, FILES, PATTERNS = "Session Intent", "Files Modified", "Patterns"
TASK = "TO" + "DO"
FILLER = "- 08:00 Coffee with the others, the kitchen has a new machine\n"


def page(memory: Memory) -> dict[str, list[str]]:
    """What stands under each heading of the insights: text and quotation, without citations."""
    found: dict[str, list[str]] = {}
    for path in sorted(memory.root.glob("insights/*.md")):
        for one in standing(path.read_text("utf-8").split("\n")):
            said = f"{one.insight.text} {one.insight.quote}".strip()
            found.setdefault(one.insight.section, []).append(said.removeprefix("[ ] "))
    return found


def extracted(memory: Memory, log: str, day: str = "2026-02-24") -> dict[str, list[str]]:
    """The page of one log."""
    memory.write(f"memory/{day}.md", log)
    result = compound(memory, "--date", day)
    assert result.status == 0, result.everything
    assert result.errors == ""
    return page(memory)


WORDS = {
    "- 10:45 We went with Postgres instead of Redis, because Redis is flushed": DECISIONS,
    "- 11:00 Conclusion: stay with npm for now, revisit after the release": DECISIONS,
    "- 11:15 The client insists on React, so React it is": DECISIONS,
    "- 11:20 Alice said the deadline for the front end moves to Friday": DECISIONS,
    "- 11:00 最终决定用 Postgres 存幂等键，不用 Redis": DECISIONS,
    "- 11:00 Wir haben uns für Postgres statt Redis entschieden": DECISIONS,
    "- 11:30 Wir bleiben bei Node 18 bis März": DECISIONS,
    "- 14:00 Turned out that the webhook sends seconds, not milliseconds": LESSONS,
    "- 14:30 The leak was due to listeners that nobody takes away": LESSONS,
    "- 15:00 Note to self: never deploy on Friday afternoon": LESSONS,
    "- 10:30 Don't use `git push --force` on the Acme repo, its mirror breaks": LESSONS,
    "- 14:00 排查发现回调里的时间是秒不是毫秒，导致全部变成 1970 年": LESSONS,
    "- 14:00 Es lag daran, dass der Webhook Sekunden statt Millisekunden schickt": LESSONS,
    "- 16:00 staging database is read-only, waiting for Dana from ops": OPEN,
    "- 16:10 Who owns the certificate of heron?": OPEN,
    "- 16:20 Will look into the Grafana dashboards tomorrow": OPEN,
    "- 16:30 We have not decided yet whether to take pnpm": OPEN,
    "- [ ] write the migration for the idempotency keys": OPEN,
    "- ⬜ write the migration for the idempotency keys": OPEN,
    f"- 16:40 {TASK}: add a disk alert at 80 %": OPEN,
    "- 16:00 测试库只读，等运维的韩梅梅处理": OPEN,
    "- 16:00 还没决定是否换成 pnpm 来装依赖": OPEN,
    "- 17:10 Muss noch mit Dana klären, ob wir systemd-Timer nehmen": OPEN,
    "- 17:00 Offene Frage: Wem gehört das Zertifikat von heron?": OPEN,
    "- 09:00 The disk of heron is at 91 % again": PATTERNS,
    "- 09:00 Die Kundin bevorzugt kurze Mails am Freitag": PATTERNS,
    "- 09:00 客户更喜欢邮件沟通，开会太慢了": PATTERNS,
}


@pytest.mark.parametrize("line", WORDS)
def test_a_line_goes_where_its_words_belong(agent: Memory, line: str) -> None:
    """Decisions, lessons, open items and habits in ordinary English, Chinese and German."""
    found = extracted(agent, f"# A day\n\n{FILLER}{line}\n")
    said = re.sub(r"^- (?:\[ \]|⬜)?\s*(?:\d\d:\d\d )?", "", line)
    placed = {section for section, texts in found.items() if any(said[-20:] in t for t in texts)}
    assert placed == {WORDS[line]}, found


MARKED = {
    "## Decisions\n\n- the front end is written in React\n": (DECISIONS, "the front end is written in React"),
    "### Key decisions today:\n\n- the front end is written in React\n": (DECISIONS, "the front end is written in React"),
    "## 🧠 Lessons learned\n\n1. the disk of heron is small\n": (LESSONS, "the disk of heron is small"),
    "Next steps:\n- update the container image\n": (OPEN, "update the container image"),
    "- Next steps:\n  - update the container image\n": (OPEN, "update the container image"),
    "**Open questions**\n\n- the owner of heron is unknown\n": (OPEN, "the owner of heron is unknown"),
    "## 决策\n- 前端用的是 React 框架\n": (DECISIONS, "前端用的是 React 框架"),
    "## 经验教训\n- 部署之前看一眼磁盘空间\n": (LESSONS, "部署之前看一眼磁盘空间"),
    "## 三、待办事项\n- 加磁盘告警阈值八成\n": (OPEN, "加磁盘告警阈值八成"),
    "## Entscheidungen\n- Frontend ist in React\n": (DECISIONS, "Frontend ist in React"),
    "## Offene Punkte\n- Plattenalarm bei 80 % einrichten\n": (OPEN, "Plattenalarm bei 80 % einrichten"),
    "- **Decision**: the front end is React\n": (DECISIONS, "the front end is React"),
    "Files changed:\n- the one in src/app/main.py\n": (FILES, "the one in src/app/main.py"),
}  # fmt: skip


@pytest.mark.parametrize("log", MARKED)
def test_what_the_writer_marked_is_believed(agent: Memory, log: str) -> None:
    """A heading or a label says what the lines below it are; it is no insight of its own."""
    found = extracted(agent, f"# A day\n\n{FILLER}\n{log}")
    section, text = MARKED[log]
    assert found.get(section) == [text], found
    headings = ("Decisions", "Next steps", "Lessons", "决策", "教训", "待办", "Punkte", "Entsch")
    assert not [t for t in found.get(INTENT, []) if t.startswith(headings)]


def test_prose_below_a_list_is_about_something_else(agent: Memory) -> None:
    """A paragraph behind the open points is none of them."""
    found = extracted(agent, "## Open items\n\n- renew the certificate\n\nLunch was in the park.\n")
    assert found[OPEN] == ["renew the certificate"]


def test_what_is_done_is_not_open(agent: Memory) -> None:
    """A ticked box, a check mark, a struck line: none of them waits for anybody."""
    log = "- [x] ask Bob, open item of Monday\n- ✅ still to do: the logo\n- ~~TBD: call Alice~~\n"
    assert OPEN not in extracted(agent, f"{FILLER}{log}")


def test_a_paragraph_is_taken_apart(agent: Memory) -> None:
    """An aim, a decision and a lesson in one paragraph are three insights, each with its lines."""
    log = (
        "Alice asked me to fix the flaky test of the checkout, e.g. the one with the toast.\n"
        "We decided to wait for the network instead of sleeping.\n"
        "The root cause was a race between the toast and the redirect.\n"
    )
    found = extracted(agent, log)
    assert any("Alice asked me" in text for text in found[INTENT])
    assert found[DECISIONS] == ["We decided to wait for the network instead of sleeping."]
    assert found[LESSONS] == ["The root cause was a race between the toast and the redirect."]
    cites = [line.rpartition(" (")[2] for line in kept(agent)]
    assert "memory/2026-02-24.md#L2-L2)" in cites
    assert "memory/2026-02-24.md#L3-L3)" in cites


NO_FILES = [
    "- 10:00 Node.js and Next.js are fast, e.g. version v1.2.3, i.e. what example.com says",
    "- 10:00 wrote to bob@example.com about https://example.com/a/index.html today",
    "- 10:00 the call console.log(x) and os.path and self.conf changed nothing",
    "- 10:00 the U.S. team moved at 10.30 p.m. to No. 5",
]


@pytest.mark.parametrize("line", NO_FILES)
def test_what_only_looks_like_a_file_is_none(agent: Memory, line: str) -> None:
    """Libraries, calls, addresses, versions and abbreviations are no files."""
    assert FILES not in extracted(agent, f"{FILLER}{line}\n")


GIT = """- 10:10 Edited `src/billing/webhook.py` and `tests/test_webhook.py`
- 10:20 修改了src/billing/模型.py和config/app.yaml

```
$ git status
	modified:   src/billing/models.py
	new file:   scripts/replay.sh
$ git diff --stat
 docs/deploy.md | 12 +++---
```

- 10:30 looked at größe/maß.toml, the Makefile and .gitignore of the project
"""


def test_files_that_were_changed_are_named(agent: Memory) -> None:
    """In prose of any language and in what git printed; a name without an ending, with its words."""
    found = "\n".join(extracted(agent, GIT)[FILES])
    for name in ("src/billing/webhook.py", "tests/test_webhook.py", "config/app.yaml",
                 "src/billing/models.py", "scripts/replay.sh", "docs/deploy.md"):  # fmt: skip
        assert found.count(name) == 1, (name, found)


def test_code_decides_nothing(agent: Memory) -> None:
    """Words in a fence or in indented code are no decisions, lessons or tasks."""
    log = (
        f"{FILLER}```\n# {TASK}: decided to fix it, lesson learned\n```\n\n    we decided on this\n"
    )
    found = extracted(agent, log)
    assert not {DECISIONS, LESSONS, OPEN} & set(found)


TALK = """## 13:56

- Caroline: Hey Mel! Good to see you! How have you been? Never better here, tomorrow is a holiday.
- Melanie: Hey Caroline! I'm swamped with the kids and work. What's up with you? Anything new?
- Caroline: I went to a support group yesterday and it was so powerful. I decided to adopt a child.
- Melanie: Wow, that's cool, Caroline! Have you decided on an agency? Always good to have a plan.
- Caroline: Not yet. I moved here from Sweden four years ago, so I need to look around first.
- Melanie: I painted that lake sunrise last year! It's special to me.
"""


def test_a_conversation_keeps_who_said_what(agent: Memory) -> None:
    """Who speaks stands with what is said; a question is no decision, `never` is no lesson."""
    found = extracted(agent, TALK)
    assert len(found[DECISIONS]) == 1
    assert found[DECISIONS][0].startswith("Caroline:")
    assert "I decided to adopt a child." in found[DECISIONS][0]
    assert LESSONS not in found
    assert OPEN not in found
    assert all(re.match("Caroline:|Melanie:", text) for text in found[INTENT])
    assert any("Sweden" in text for text in found[INTENT])


def test_what_recurs_is_told_of_on_its_third_day(agent: Memory) -> None:
    """Not on the first two, and not on each day from then on."""
    for day in range(1, 13):
        about = "Acme Corp asks for the numbers\n" if day in (2, 5, 7, 9) else "a quiet day\n"
        agent.write(f"memory/2026-02-{day:02d}.md", f"{FILLER}- 0{day % 10}:30 {day} {about}" * 2)
    assert compound(agent).status == 0
    (told,) = [text for text in page(agent).get(PATTERNS, []) if text.startswith("Acme Corp")]
    assert "on 2 days before, last 2026-02-05" in told


def test_no_line_stands_twice(agent: Memory) -> None:
    """A log that says a thing five times has one insight of it."""
    found = extracted(agent, "- We decided to keep Node 18 on the old servers\n" * 5)
    assert found == {DECISIONS: ["We decided to keep Node 18 on the old servers"]}


def test_a_page_is_shorter_than_its_log(agent: Memory) -> None:
    """Of a long log about a tenth is kept, whatever it consists of."""
    lines = (f"- {n % 24:02d}:{n % 60:02d} note {n}: the value of x{n * 7919} was {n * 31}, as "
             f"measured on machine m{n % 17} by group {n % 5}, before lunch and again after it\n"
             for n in range(400))  # fmt: skip
    log = "# A day\n\n" + "".join(lines)
    extracted(agent, log)
    told = "\n".join(kept(agent))
    assert len(log) / 15 < len(told) < len(log) / 6


def test_a_line_of_a_megabyte(agent: Memory) -> None:
    """It is read to its end, and what is told of it are whole words."""
    words = " ".join(f"word{n}" for n in range(100_000))
    found = extracted(agent, f"- 09:00 {words}. We decided to keep the last of the servers.\n")
    assert any("We decided to keep the last of the servers." in text for text in found[DECISIONS])
    said = {word for texts in found.values() for text in texts for word in words_of(text)}
    assert said <= set(words_of(words)) | set("we decided to keep the last of servers".split())


PIECES = st.sampled_from(
    ["We decided to ", "keep Node 18", f"{TASK} ", "- [ ] ", "- ", "\n", "  ", "## Next steps\n", "`a.py`",
     "教训：", "不要", "。", "<!-- x -->", "<!--", "```\n", "- 09:00 ", "Bob: ", '"', "[P0] ", "#L1-L2)",
     "---\n", "…", "\r\n", "\0", "é", "🚀", "| a | b |\n", "> ", "~~", "**", "e.g. ", "? "]
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, max_size=60).map("".join))
def test_whatever_a_log_holds_all_that_is_told_stands_in_it(
    tmp_path_factory: pytest.TempPathFactory, log: str
) -> None:
    """Nothing is dropped for not standing there, `verify` finds every word, no entry is forged."""
    memory = Memory(Path(tmp_path_factory.mktemp("any")))
    memory.write("memfas.yaml", CONFIG)
    memory.write("memory/2026-02-24.md", log)
    result = compound(memory, "--date", "2026-02-24", "--json")
    assert result.status == 0, result.everything
    assert [done["dropped"] for done in result.data["compounded"] if done["dropped"]] == []
    verified = memory.run("verify", "--json", "--dry-run")
    assert verified.data["counts"]["stands"] == len(verified.data["insights"])
    assert not re.search(r"^- \[P\d\]", "\n".join(kept(memory)), re.MULTILINE)
