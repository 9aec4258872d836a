"""Recall finds what is written, however it is written, and shows it as it is."""

from __future__ import annotations

import unicodedata

import pytest

from .memory import HEAD, Memory, Result

OTHERS = "- [P0] The staging host is called heron\n- [P0] Alice is the project manager\n"


def asked(memory: Memory, line: str | bytes, question: str) -> Result:
    """Recall's answer, as JSON, in a memory of three entries of which this is the last."""
    raw = line if isinstance(line, bytes) else line.encode()
    memory.write("MEMORY.md", HEAD + OTHERS.encode() + b"- [P0] " + raw + b"\n")
    return memory.run("recall", "--json", question)


def best(answer: Result) -> str:
    assert answer.status == 0, answer
    hit = answer.data["hits"][0]
    assert (hit["path"], hit["start_line"], hit["end_line"]) == ("MEMORY.md", 5, 5)
    return str(hit["text"])


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("question", ["NFC", "NFD", "plain"])
def test_accents_are_found_however_they_are_written(
    memory: Memory, written: str, question: str
) -> None:
    """One or two code points for é, in the file or in the question, or none at all: found; and
    the file is as it was."""
    forms = {
        "NFC": unicodedata.normalize("NFC", "café"),
        "NFD": unicodedata.normalize("NFD", "café"),
        "plain": "cafe",
    }
    line = f"we meet in the {forms[written]}"
    assert forms[written] in best(asked(memory, line, f"which {forms[question]}?"))
    assert memory.read().decode().splitlines()[-1] == f"- [P0] {line}"


@pytest.mark.parametrize(
    ("line", "question"),
    [
        pytest.param("服务器部署在北京", "部署", id="two-characters-inside"),
        pytest.param("服务器部署在北京", "服务器在哪里", id="a-question"),
        pytest.param("重跑gen-itgc后再看", "gen-itgc", id="latin-glued-to-han"),
        pytest.param("サーバーは東京にある", "東京", id="japanese"),
        pytest.param("게임을 좋아한다", "게임", id="korean-with-a-particle"),
        pytest.param("סיסמת השרת הוחלפה", "השרת", id="hebrew"),
        pytest.param("خادم الاختبار في برلين", "الاختبار", id="arabic"),
        pytest.param("the İstanbul office", "istanbul", id="dotted-capital-i"),
        pytest.param("kapı numarası", "KAPI", id="dotless-i"),
        pytest.param("Hauptstraße 5", "HAUPTSTRASSE", id="sharp-s"),
        pytest.param("Hauptstrasse 5", "hauptstraße", id="sharp-s-asked"),
        pytest.param("ＡＰＩ　ｋｅｙ rotation", "api key", id="fullwidth"),
        pytest.param("data\u200bbase moved", "database", id="zero-width-space"),
        pytest.param("data\u00adbase moved", "database", id="soft-hyphen"),
        pytest.param("data\ufeffbase moved", "database", id="no-break-zero-width"),
        pytest.param("database moved", "data\u200bbase", id="zero-width-space-asked"),
        pytest.param("the ﬁle server", "file", id="ligature"),
        pytest.param("shipped 🚀 yesterday", "🚀", id="emoji"),
        pytest.param("family 👨‍👩‍👧‍👦 first", "👨‍👩‍👧‍👦", id="joined-emoji"),
        pytest.param("office 🇩🇪 moved", "🇩🇪", id="flag"),
        pytest.param("thumbs 👍🏽 up", "👍🏽", id="skin-tone"),
        pytest.param("see DEC-0054 for it", "DEC-0054", id="identifier"),
        pytest.param("v1.2.3 is out", "v1.2.3", id="version"),
        pytest.param("written in C++ mostly", "C++", id="c-plus-plus"),
        pytest.param("mail bob@example.com", "bob@example.com", id="address"),
    ],
)
def test_words_of_all_scripts_are_found(memory: Memory, line: str, question: str) -> None:
    """The line comes first, and its text is shown as it stands in the file."""
    assert line in best(asked(memory, line, question))


@pytest.mark.parametrize("word", ["alpha", "omega"])
def test_a_null_byte_hides_no_word(memory: Memory, word: str) -> None:
    """Both words around a NUL are found, and so are the other lines."""
    best(asked(memory, b"alpha\0omega", word))
    (hit,) = memory.run("recall", "--json", "heron").data["hits"]
    assert hit["start_line"] == 3


@pytest.mark.parametrize("junk", [b"caf\xe9 latin", b"\xff\xfe latin", b"\xed\xa0\x80 latin"])
def test_a_file_that_is_not_utf_8_is_found_all_the_same(memory: Memory, junk: bytes) -> None:
    """Recall reads what it can, shows a mark for what it cannot, and writes nothing."""
    answer = asked(memory, junk, "latin")
    assert "\ufffd" in best(answer)
    assert memory.read().endswith(junk + b"\n")


def test_a_file_in_utf_16_stops_nothing(memory: Memory) -> None:
    """A log saved by Notepad as Unicode: the other files answer; it is found or it is named."""
    memory.write("memory/2026-02-01.md", "the kingfisher host\n".encode("utf-16"))
    memory.write("memory/2026-02-02.md", "the heron host\n")
    hits = memory.run("recall", "--json", "heron").data["hits"]
    assert [hit["path"] for hit in hits] == ["memory/2026-02-02.md"]
    answer = memory.run("recall", "--json", "kingfisher").data
    found = [hit["path"] for hit in answer["hits"]] + [s["path"] for s in answer["files_skipped"]]
    assert found == ["memory/2026-02-01.md"]


def test_a_question_may_be_odd(memory: Memory) -> None:
    """A question of signs, blanks, NUL or nothing that says something: no crash, nothing found."""
    for question in ('"', "*", "NEAR(a b)", "   ", "a\0b", "\u202e", "🏳", "%", "(((", "\ud7ff"):
        assert asked(memory, "text", question).status in (0, 1, 2)


def test_no_character_is_cut_in_an_answer(memory: Memory) -> None:
    """However long a line is, what is shown of it is whole emoji."""
    family = "👨‍👩‍👧‍👦"
    memory.write("MEMORY.md", HEAD + f"- [P0] needle {family * 600}\n".encode())
    text = memory.run("recall", "--json", "needle").data["hits"][0]["text"]
    assert text.count("👨") == text.count(family)
    memory.write("MEMORY.md", HEAD + f"- [P0] needle x{family * 600}\n".encode())
    text = memory.run("recall", "--json", "needle").data["hits"][0]["text"]
    assert text.count("👨") == text.count(family)


def test_recall_changes_no_file(memory: Memory) -> None:
    """Asking is not writing: bytes, times and names are as before."""
    memory.write("MEMORY.md", "\ufeff" + OTHERS.replace("\n", "\r\n"))
    memory.write("memory/2026-02-01.md", b"caf\xe9 heron\0")
    before = memory.truth()
    times = {p: (memory.root / p).stat().st_mtime_ns for p in before}
    assert memory.run("recall", "heron").status == 0
    assert memory.truth() == before
    assert {p: (memory.root / p).stat().st_mtime_ns for p in before} == times
