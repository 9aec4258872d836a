"""The line of a log: what is inside, told from the logs beside it, not the day again."""

from __future__ import annotations

import pytest

from agent_memfas.text.overview import Item, Totals, write_page
from agent_memfas.text.summary import Summary, summarize
from agent_memfas.text.tokens import estimate
from agent_memfas.text.topics import speakers_in

WORK = """# Tuesday, 24 February

## 09:30 Standup
- [decision] Redis for the session cache, not Memcached
- Alice asked for the invoice export by Friday
- moved staging from falcon to heron

## 14:00
- fixed the flaky export test: the CSV header of the invoice export was written twice
- rotate the TLS certificate on heron; Redis evicts by allkeys-lru
"""
TALK = """# 2023-08-23

- Caroline: Hey Mel! How are you?
- Melanie: Great, thanks! We got a guinea pig, Oscar. <!-- wombat -->
- Caroline: Wow, a guinea pig! I rode a horse at the stable.
- Melanie: Oscar eats carrots. The horse must have liked carrots, too.
- Caroline: It did! And I talked to the adoption agency about the adoption.
"""
CHINESE_TALK = """
小明: 周末我们去爬山吧
小红: 好啊，去香山还是去长城？
小明: 香山的红叶现在最好看
小红: 那我带上相机，顺便给你拍照
小明: 记得带水和面包，上次爬山我饿坏了
小红: 香山门口有卖煎饼的，非常非常好吃
小明: 好的，早上地铁站见
小红: 太早了，地铁站人多
"""


def lines(**texts: str) -> list[str]:
    """What a folder of these logs says of each, the last one first."""
    items = [Item(f"{name}.md", summarize(f"{name}.md", text.encode()))
             for name, text in texts.items()]  # fmt: skip
    made = write_page("memory", "2026-03-01 04:00", "0" * 16, items, {}, Totals(), bare=False)
    found = made.split("**Files:**\n")[1].splitlines()
    return [line.partition(": ")[2].rpartition(" (")[0] for line in found]


def test_a_days_work_is_told_by_its_subjects() -> None:
    """No heading that says when; how it begins, then names and what comes up again."""
    (line,) = lines(a=WORK)
    assert line.startswith("[decision] Redis for the session cache, not Memcached; ")
    assert "also invoice export, heron, " in line
    assert "Standup" not in line
    assert "Tuesday" not in line


def test_a_conversation_is_told_by_who_talks_about_what() -> None:
    """Speakers first, then topics: names as they are written, words that belong together as one
    phrase, neither greetings nor what stands in a comment."""
    (line,) = lines(a=TALK)
    assert line.startswith("Caroline, Melanie: guinea pig, ")
    said = line.partition(": ")[2].split(", ")
    assert {"Oscar", "horse", "carrots", "adoption"} <= set(said)
    assert not {"hey", "great", "thanks", "wow", "caroline", "wombat"} & {w.lower() for w in said}


def test_a_chinese_conversation() -> None:
    """The same, where no bullets and no spaces help."""
    (line,) = lines(a=CHINESE_TALK)
    who, _, topics = line.partition(": ")
    assert who == "小明, 小红"
    assert set(topics.split(", ")) == {"香山", "地铁站", "爬山"}


def test_what_all_files_share_comes_last() -> None:
    """A word that is in every log tells none from the others."""
    shared = "".join(f"- deploy the widget number {n} of the gadget\n" for n in range(12))
    texts = {
        name: f"{shared}- the {word} broke\n- mended the {word}\n"
        for name, word in (("a", "boiler"), ("b", "chimney"), ("c", "gutter"), ("d", "fence"))
    }
    for line, word in zip(lines(**texts), ("boiler", "chimney", "gutter", "fence"), strict=True):
        assert word in line or "widget" in line
    alone = summarize("a.md", texts["a"].encode())
    assert alone is not None
    assert dict(alone.topics)["widget"] == 12


@pytest.mark.parametrize("text", [WORK, TALK, CHINESE_TALK, WORK + TALK * 40 + CHINESE_TALK * 40])
def test_a_line_stays_a_line(text: str) -> None:
    """About forty tokens, however long the log."""
    (line,) = lines(a=text)
    assert estimate(line) <= 44


def test_a_short_log_is_told_whole() -> None:
    """Where there is room for all of it, nothing is picked out."""
    assert lines(a="# 2026-02-24\n\n- 09:00 Agreed with Alice\n- 10:00 Lunch\n") == [
        "Agreed with Alice; Lunch"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- Decision: take Redis\n- Fix: the header\n" * 4,
        "- Alice: one line\n" + "- and many others\n" * 9,
        "- 09:00 began\n- 10:00 went on\n" * 4,
        "- see http://x: y\n" * 8,
    ],
)
def test_labels_and_times_are_no_speakers(text: str) -> None:
    """A log of decisions, or one line that quotes somebody, is no conversation."""
    assert speakers_in(text.split("\n")) == []


@pytest.mark.parametrize("line", ["- {}: hello there", "{}：你好", "* 09:30 {}: hello there"])
def test_a_conversation_is_known_in_any_notation(line: str) -> None:
    """With and without bullets, with the time before the name."""
    text = [line.format(name) for name in ("Ann", "Bob") * 4]
    assert speakers_in(text) == ["Ann", "Bob"]


def test_a_secret_is_no_topic() -> None:
    """Whatever is repeated: a key is not."""
    key = "sk-ant-api03-abcdefghABCDEFGHabcdefghABCDEFGH"
    found = summarize("a.md", f"- the key is {key}\n- again: {key}\n- boiler, boiler\n".encode())
    assert isinstance(found, Summary)
    assert not any("abcdefgh" in word.lower() for word, _ in found.topics)
