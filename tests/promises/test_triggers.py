"""Triggers fire on their words and on nothing else, and go when they are told to."""

from __future__ import annotations

import time
import unicodedata

import pytest

from agent_memfas.index import search
from index.support import keeper_of
from promises.prompt import Here

README_YAML = """# my settings
triggers:
  - keyword: alice   # my manager
    hint: "Project manager, prefers async"
  - keyword: work
    hint: "Current projects"

search:
  max_results: 5
"""


def test_a_keyword_inside_another_word_does_not_fire(here: Here) -> None:
    """No "ai" in "said", no "art" in "start", no "work" in "network", no "is" in "this"."""
    here.write("MEMORY.md", "")
    for word in ("ai", "art", "work", "go", "is"):
        assert here.memfas("remember", word, "--hint", f"about {word}").status == 0
    assert here.fires("I said start the network, going for this") == []
    assert here.fires("Is AI art? Go work!") == ["is", "ai", "art", "go", "work"]


@pytest.mark.parametrize("keyword", ["", " ", "\t", "\n", "!?", "->", "-", "。", "\u200b"])
def test_a_keyword_without_a_word_is_refused(here: Here, keyword: str) -> None:
    """Nothing is written; what there is fires as before, and nothing fires on everything."""
    here.write("MEMORY.md", "")
    here.write("TRIGGERS.md", "- alice -> PM\n")
    result = here.memfas("remember", "--hint", "x", "--", keyword)
    assert result.status == 2
    assert here.read("TRIGGERS.md") == b"- alice -> PM\n"
    assert here.fires("anything at all") == []


def test_what_a_question_costs_does_not_grow_with_the_triggers(here: Here) -> None:
    """SQLite takes about as many steps among three thousand triggers as among ten."""
    question = "what did alice say of keyword 7 and the code review"
    steps = {}
    for many in (10, 3000):
        lines = "".join(f"- keyword {n}, other{n} -> hint {n}\n" for n in range(many))
        here.write("TRIGGERS.md", f"{lines}- code review -> slowly\n")
        keeper = keeper_of(here.root)
        database = keeper.source(time.time_ns()).database
        ticks: list[int] = []
        database.connection.set_progress_handler(lambda into=ticks: into.append(1), 1)
        found = [trigger.keyword for trigger in search.triggers(database, question)]
        database.connection.set_progress_handler(None, 1)
        keeper.close()
        assert found == ["keyword 7", "code review"]
        steps[many] = len(ticks)
    assert steps[3000] < steps[10] * 1.5


def test_the_memories_that_a_trigger_links_are_quoted_with_its_hint(here: Here) -> None:
    """The hint stands in the answer, and below it the lines that it links, as they are now."""
    here.write("MEMORY.md", "")
    here.write("memory/2026-02-24.md", "# Log\n\n- Alice: the deadline moved\n- lunch\n")
    linked = ("--link", "memory/2026-02-24.md#L3")
    assert here.memfas("remember", "alice", "--hint", "Project manager", *linked).status == 0
    lines = here.memfas("recall", "ask alice").text.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("[alice] Project manager"))
    assert "  > - Alice: the deadline moved" in lines[at : at + 3]
    here.write("memory/2026-02-24.md", "# Log\n\n- Alice: Friday after all\n")
    assert "  > - Alice: Friday after all" in here.memfas("recall", "ask alice").text


def test_the_numbers_of_memories_in_memfas_yaml_bring_these_memories(here: Here) -> None:
    """memory_ids takes places; one that is not there is said beside the answer, the hint stays."""
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    here.write(
        "memfas.yaml",
        "triggers:\n  - keyword: staging\n    hint: ask first\n"
        '    memory_ids: ["MEMORY.md#L1", "gone.md#L3", 12345]\n',
    )
    result = here.memfas("recall", "about staging")
    assert "[staging] ask first" in result.text
    assert "  > - [P0] the staging host is heron" in result.text.partition("Related")[0]
    assert "gone.md:3" in result.errors


def test_many_triggers_do_not_push_the_search_out_of_the_answer(here: Here) -> None:
    """Twelve triggers fire, and the line that answers is there as well."""
    here.write("memory/a.md", "- the deadline is on Friday\n")
    here.write("TRIGGERS.md", "".join(f"- word{n} -> hint {n}\n" for n in range(12)))
    answer = here.answer(*(f"word{n}" for n in range(12)), "deadline")
    assert len(answer["triggers"]) == 12
    assert [hit["text"] for hit in answer["hits"]] == ["- the deadline is on Friday"]


def test_a_trigger_of_memfas_yaml_can_be_forgotten_for_good(here: Here) -> None:
    """It goes from the file, which is named with its line; comments and the rest stay as they are,
    and it does not come back."""
    here.write("MEMORY.md", "")
    here.write("memfas.yaml", README_YAML)
    assert here.fires("alice at work") == ["alice", "work"]
    result = here.memfas("forget", "alice")
    assert (result.status, result.text) == (0, "✓ Removed trigger: [alice] (memfas.yaml:3)\n")
    for _ in range(2):
        assert here.fires("alice at work") == ["work"]
    assert here.read("memfas.yaml").decode() == README_YAML.replace(
        '  - keyword: alice   # my manager\n    hint: "Project manager, prefers async"\n', ""
    )


def test_an_edited_hint_of_memfas_yaml_is_the_one_that_comes(here: Here) -> None:
    """Without a command in between."""
    here.write("MEMORY.md", "")
    here.write("memfas.yaml", README_YAML)
    assert here.answer("alice")["triggers"][0]["hint"] == "Project manager, prefers async"
    here.write("memfas.yaml", README_YAML.replace("prefers async", "prefers calls"))
    assert here.answer("alice")["triggers"][0]["hint"] == "Project manager, prefers calls"


@pytest.mark.parametrize(("keyword", "question"), [
    ("multi word", "a multi\nword question"), ("multi word", "a multi   word question"),
    ("multi\nword", "multi word"), ("multi  word", "multi-word"), ("code review", "code_review"),
    (unicodedata.normalize("NFC", "naïve"), unicodedata.normalize("NFD", "naïve")),
    (unicodedata.normalize("NFD", "naïve"), unicodedata.normalize("NFC", "naïve")),
    ("straße", "STRASSE"), ("STRASSE", "straße"), ("Alice", "ALICE's"), ("部署", "我们重新部署了服务器"),
    ("naïve", "NAÏVE"), ("ﬁle", "file"), ("node.js", "use Node.js, please"), ("ＡＷＳ", "aws"), ("🚀", "ship it 🚀"),
])  # fmt: skip
def test_a_keyword_fires_however_it_is_written(here: Here, keyword: str, question: str) -> None:
    """Line breaks, several spaces, composed letters or not, capitals, ß, full width."""
    here.write("MEMORY.md", "")
    assert here.memfas("remember", keyword, "--hint", "it").status == 0
    assert here.answer(question)["triggers"][0]["hint"] == "it"


def test_a_hint_is_printed_once(here: Here) -> None:
    """In the text of the answer it stands on one line only."""
    here.write("MEMORY.md", "")
    here.memfas("remember", "alice", "--hint", "prefers async communication")
    text = here.memfas("recall", "alice").text
    assert text.count("prefers async communication") == 1


def test_forgetting_what_is_not_there_says_so(here: Here) -> None:
    """Status 1, a sentence, and no check mark."""
    here.write("MEMORY.md", "")
    result = here.memfas("forget", "nosuch")
    assert (result.status, result.raw) == (1, b"")
    assert "nosuch" in result.errors


def test_suggestions_are_names_phrases_and_terms_worth_a_trigger(here: Here) -> None:
    """Whole names, products, acronyms and Chinese terms; not The, This or And; each with its
    count, a line where it stands and the command that makes it a trigger."""
    line = (
        "- The meeting: Alice Smith moved React Native to AWS. This iPhone runs GPT4 and the"
        " release checklist is ready"
    )
    chinese = "- 数据库在上海\n- 重启了数据库\n- 数据库很稳定\n"
    here.write("MEMORY.md", "".join(f"{line} {n}\n" for n in range(4)) + chinese)
    result = here.memfas("suggest", "-n", "20")
    assert result.status == 0
    assert result.text.startswith("💡 Suggested triggers (min 3 occurrences):")
    assert '  memfas remember "Alice Smith" --hint "..."  # 4x' in result.text
    assert "MEMORY.md:1: " in result.text
    terms = [
        one["term"] for one in here.memfas("suggest", "-n", "20", "--json").data["suggestions"]
    ]
    assert {"Alice Smith", "React Native", "AWS", "iPhone", "GPT4", "数据库"} <= set(terms)
    assert any(" " in term and term.islower() for term in terms)
    assert not {"The", "This", "the", "this", "and", "Alice", "Smith", "React"} & set(terms)


def test_what_is_a_trigger_is_not_suggested_again(here: Here) -> None:
    """Wherever the trigger stands: TRIGGERS.md, memfas.yaml, a comment on an entry."""
    here.write("MEMORY.md", "".join(
        f"- Alice and Bob met Carol and Dave {n}\n" for n in range(3)
    ) + "- [P0] Carol runs it <!-- trigger: carol -->\n")  # fmt: skip
    here.write("memfas.yaml", "triggers:\n  - {keyword: BOB, hint: x}\n")
    here.memfas("remember", "alice", "--hint", "x")
    found = here.memfas("suggest", "--json").data["suggestions"]
    assert "Dave" in [one["term"] for one in found]
    assert not {"Alice", "Bob", "Carol"} & {one["term"] for one in found}


def test_a_number_that_no_memory_has_is_said(here: Here) -> None:
    """The hint comes, and the other stream names the number that is linked and not there."""
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    here.write("memfas.yaml", "triggers:\n  - {keyword: alice, hint: PM, memory_ids: [42]}\n")
    result = here.memfas("recall", "alice")
    assert (result.status, "[alice] PM" in result.text) == (0, True)
    assert "id:42: a trigger links it, and it is not there" in result.errors
