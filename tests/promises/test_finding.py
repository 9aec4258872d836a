"""Questions as people type them, over notes as people keep them: what is there is found."""

from __future__ import annotations

import pytest

from promises.prompt import Here

NOTES = """# Project notes

The cache is redis, in a cluster of three. Alice set the deadline to Friday.
We deploy with node.js v1.2.3, it costs $40; ask bob@example.com.
"""


@pytest.mark.parametrize("question", [
    "What did Alice say about the deadline?", "what is redis?", "how do I deploy",
    "redis nosuchword", "deploying", "'what's redis'", "redis OR", "deadlines", "clusters of redis",
])  # fmt: skip
def test_a_natural_question_finds_what_shares_a_word_with_it(here: Here, question: str) -> None:
    """No word has to be there for another to be found; other forms of a word are that word."""
    here.write("MEMORY.md", NOTES)
    assert here.hits(question)
    assert here.memfas("search", question).status == 0


@pytest.mark.parametrize("question", [
    "node.js", "bob@example.com", "$40", "v1.2.3", "redis, cluster", "deploy!", "redis;", "100%redis",
    "a & redis", "<redis>", "`redis`", "#deploy", "redis.", "redis,", "AND redis", "redis AND",
    "NOT redis", "NEAR redis", "NEAR(redis, 3)", '"redis', "redis*", "redis^2", "{redis}", "text:redis",
    "redis\\", "redis -- ", "(redis", "redis)", "re\x00dis redis", "redis\n",
])  # fmt: skip
def test_no_character_is_a_mistake_in_a_question(here: Here, question: str) -> None:
    """Punctuation, operators of some query language, quotes left open: the words are looked for."""
    here.write("MEMORY.md", NOTES)
    word = "redis" if "redis" in question.replace("\x00", "") else question.strip("!#")
    assert any(word in hit for hit in here.hits(question))


def test_a_low_score_is_no_reason_to_find_nothing_in_a_small_folder(here: Here) -> None:
    """The settings file of the reference's README, word for word, and one note: it is found, and
    its score is a number from 0 to 1 that is worth printing."""
    here.write(
        "memfas.yaml",
        "db_path: ./memfas.db\n\nsources:\n  - path: ./MEMORY.md\n    type: markdown\n"
        "  - path: ./memory/*.md\n    type: markdown\n\n"
        'triggers:\n  - keyword: alice\n    hint: "Project manager, prefers async"\n'
        '  - keyword: work\n    hint: "Current projects"\n\n'
        "search:\n  max_results: 5\n  recency_weight: 0.3  # Favor recent memories\n"
        "  min_score: 0.1\n",
    )
    here.write("MEMORY.md", "# Memory\n\n- acme is a client\n")
    result = here.memfas("search", "acme")
    assert result.status == 0
    head = result.text.splitlines()[0]
    assert head.startswith("[MEMORY.md:3] (score: ")
    assert 0.1 <= float(head[len("[MEMORY.md:3] (score: ") : -1]) <= 1


@pytest.mark.parametrize("question", ["数据库", "王小明", "部署", "项目经理", "库", "上海机房"])
def test_chinese_words_are_found_inside_a_sentence(here: Here, question: str) -> None:
    """Without spaces around them, one character or several; an unrelated note is not found."""
    here.write("MEMORY.md", "- 王小明是项目经理，他在上海机房部署数据库集群\n- 午饭吃面条\n")
    assert here.hits(question) == ["- 王小明是项目经理，他在上海机房部署数据库集群"]


@pytest.mark.parametrize(("text", "question"), [
    ("- [P0] Timezone: US Eastern\n", "timezone"),
    ("# A\n\nok, 4411\n", "4411"),
    ("会议改到周五下午三点，地点是二楼的小会议室，请王小明准备材料。\n", "小会议室"),
    ("## Only a heading: heron\n", "heron"),
])  # fmt: skip
def test_a_short_note_is_found(here: Here, text: str, question: str) -> None:
    """No length is too short to be remembered."""
    here.write("MEMORY.md", text)
    assert here.memfas("index", "MEMORY.md").status == 0
    assert here.hits(question)


def test_the_end_of_a_long_section_is_found(here: Here) -> None:
    """What stands after the 10,000th character is found like the rest."""
    here.write("MEMORY.md", "# Long\n\n" + "some filler words. " * 1500 + "\nthe needle is here\n")
    hits = here.answer("needle")["hits"]
    assert any("needle" in hit["text"] and hit["start_line"] >= 3 for hit in hits)


def test_a_word_is_never_cut_in_two(here: Here) -> None:
    """Wherever in a long text file a word stands, it is one word."""
    text = "".join(f"needle{n:04d} " for n in range(500))
    here.write("MEMORY.md", "")
    here.write("notes.txt", text + "\n")
    for n in (0, 89, 90, 91, 92, 180, 181, 182, 499):
        assert here.hits(f"needle{n:04d}"), n


def test_a_comment_in_a_code_block_is_no_heading(here: Here) -> None:
    """The text after a fence belongs to the heading before it, and is found."""
    here.write(
        "MEMORY.md",
        "# Setup\n\n```sh\n# install deps\npip install x\n```\n\nfallback port is 9999\n",
    )
    answer = here.answer("fallback port")["hits"]
    assert [(hit["heading"], hit["text"]) for hit in answer] == [("Setup", "fallback port is 9999")]
    assert all(hit["heading"] == "Setup" for hit in here.answer("install deps")["hits"])


def test_headings_of_every_kind_are_headings(here: Here) -> None:
    """Underlined ones; one after a byte order mark; and front matter is no text of a section."""
    here.write("MEMORY.md", "")
    here.write("a.md", "Deploys\n=======\n\nheron one\n\nRollback\n--------\n\nheron two\n")
    here.write("b.md", b"\xef\xbb\xbf# Head\n\nheron three\n")
    here.write("c.md", "---\ntitle: Notes\ntags: [x]\n---\n\n# Real\n\nheron four\n")
    found = {hit["text"]: hit["heading"] for hit in here.answer("heron")["hits"]}
    assert found == {
        "heron one": "Deploys",
        "heron two": "Deploys > Rollback",
        "heron three": "Head",
        "heron four": "Real",
    }


def test_a_file_that_is_not_utf8_is_read_as_far_as_it_goes_and_said(here: Here) -> None:
    """Its plain words are found; that some were replaced is told beside the answer."""
    here.write("MEMORY.md", "Müller ordered the heron\n".encode("latin-1"))
    result = here.memfas("recall", "heron")
    assert (result.status, "heron" in result.text) == (0, True)
    assert "MEMORY.md: not UTF-8" in result.errors


def test_a_file_that_cannot_be_indexed_is_a_failure(here: Here) -> None:
    """Not found, no text: each is said, and the status tells a script."""
    here.write("MEMORY.md", "x\n")
    here.write("photo.png", b"\x89PNG")
    missing = here.memfas("index", "nosuch.md")
    assert (missing.status, "✗ Not found: nosuch.md" in missing.text) == (1, True)
    failed = here.memfas("index", "MEMORY.md", "photo.png")
    assert failed.status == 1
    assert "✓ Indexed: MEMORY.md" in failed.text
    assert "✗ Failed: photo.png" in failed.text


def test_text_of_every_usual_name_is_found_and_what_others_installed_is_not(here: Here) -> None:
    """X.MD, .markdown and .txt are memory; .venv and node_modules are not."""
    here.write("MEMORY.md", "")
    for name in ("X.MD", "b.markdown", "c.txt", "deep/er/d.md"):
        here.write(name, f"the heron of {name}\n")
    for name in (".venv/e.md", "node_modules/f/g.md", "venv/h.md"):
        here.write(name, f"the heron of {name}\n")
    assert here.memfas("index", ".").status == 0
    found = {hit["path"] for hit in here.answer("heron", "--limit", "50")["hits"]}
    assert found == {"X.MD", "b.markdown", "c.txt", "deep/er/d.md"}


def test_the_date_of_a_note_is_the_day_it_is_about(here: Here) -> None:
    """A daily log has the day of its name, an entry that of its tag; indexing again changes none."""
    here.write("memory/2019-01-01.md", "heron one\n")
    here.write("memory/2026-02-24.md", "heron two\n")
    here.write("MEMORY.md", "- [P2][2026-02-20] heron three\n- [P0] heron four\n")
    for _ in range(2):
        assert here.memfas("index", ".").status == 0
        days = {
            (hit["path"], hit["start_line"]): hit["date"] for hit in here.answer("heron")["hits"]
        }
        assert days == {
            ("memory/2019-01-01.md", 1): "2019-01-01",
            ("memory/2026-02-24.md", 1): "2026-02-24",
            ("MEMORY.md", 1): "2026-02-20",
            ("MEMORY.md", 2): None,
        }


@pytest.mark.parametrize("limit", ["0", "-1", "1.5"])
def test_a_limit_that_makes_no_sense_is_a_mistake(here: Here, limit: str) -> None:
    """`-n 0` and the like are said to be wrong, in search as in recall."""
    here.write("MEMORY.md", NOTES)
    for command in ("search", "recall"):
        result = here.memfas(command, "redis", "-n", limit)
        assert (result.status, result.raw) == (2, b"")
        assert "--limit" in result.errors


@pytest.mark.parametrize("command", ["search", "recall"])
def test_an_empty_question_is_said_to_be_empty(here: Here, command: str) -> None:
    """Nothing was asked: status 1 and the reason, beside the answer of nothing."""
    here.write("MEMORY.md", NOTES)
    for question in ("", "  "):
        result = here.memfas(command, question)
        assert result.status == 1
        assert result.text in ("No results found.\n", "No memories found.\n")
        assert "the question is empty" in result.errors


def test_search_prints_file_lines_and_dots_only_where_a_text_is_cut(here: Here) -> None:
    """A short hit is printed whole, a long one up to 200 characters and three dots."""
    here.write(
        "MEMORY.md", "# M\n\n- short heron\n\n## Long\n\n" + "a long heron text " * 20 + "\n"
    )
    lines = here.memfas("search", "heron").text.split("\n")
    heads = [line for line in lines if line.startswith("[")]
    texts = [line for line in lines if line.startswith("  ")]
    assert sorted(head.partition("]")[0] for head in heads) == ["[MEMORY.md:3", "[MEMORY.md:7"]
    assert all(" (score: 0." in head for head in heads)
    assert "  - short heron" in texts
    (long,) = (text for text in texts if text != "  - short heron")
    assert (len(long), long[-3:]) == (2 + 200 + 3, "...")


def test_search_without_a_result_says_so(here: Here) -> None:
    """The line of the reference, and status 1."""
    here.write("MEMORY.md", NOTES)
    result = here.memfas("search", "xyzzy")
    assert (result.status, result.text) == (1, "No results found.\n")
