"""What memfas.yaml says is what happens, whichever way one asks; and `memfas config` tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_memfas import Memory
from promises.prompt import Here


def settings(here: Here, search: str) -> None:
    """A memfas.yaml with these keys under `search`, and all the time that reading needs."""
    here.write("memfas.yaml", f"index: {{budget: 0}}\nsearch: {{{search}}}\n")


def log(days: int) -> str:
    """The daily log of so many days ago."""
    return f"memory/{(date.today() - timedelta(days=days)).isoformat()}.md"


def found(here: Here, question: str) -> list[str]:
    """The places that are found, best first: the same by both commands and by both calls."""
    with Memory("memfas.yaml") as memory:
        results = [f"{result.source}:{result.start_line}" for result in memory.search(question)]
        text = memory.recall(question)
    for printed in (
        here.memfas("recall", question).text,
        here.memfas("search", question).text,
        text,
    ):
        assert re.findall(r"^\[(\S+:\d+)\]", printed, re.MULTILINE) == results
    return results


def test_a_high_recency_weight_puts_the_newer_log_first(here: Here) -> None:
    """Of two logs the older says it better: with a weight of 0 it comes first, with 5 the other."""
    old, new = log(1000), log(2)
    here.write(old, "- the heron host\n")
    here.write(new, "- they said that the heron is, among much that was said, by now a host, too\n")
    for weight, order in ((0, [old, new]), (5, [new, old]), (0, [old, new])):
        settings(here, f"recency_weight: {weight}")
        assert found(here, "heron host") == [f"{name}:1" for name in order]


def test_of_two_logs_that_say_the_same_the_newer_comes_first(here: Here) -> None:
    """Without a word about it in memfas.yaml; a weight of 0 leaves them in the order of names."""
    old, new = log(40), log(2)
    for name, host in ((old, "ann"), (new, "bob")):
        here.write(name, f"- the heron host is {host}\n")
    settings(here, "max_results: 5")
    assert found(here, "heron") == [f"{new}:1", f"{old}:1"]
    settings(here, "recency_weight: 0")
    assert found(here, "heron") == [f"{old}:1", f"{new}:1"]


def test_what_scores_below_min_score_is_left_out(here: Here) -> None:
    """A limit between two scores leaves one hit, one above both leaves the answer of nothing."""
    here.write("MEMORY.md", "- the heron\n- much else" + " and more" * 30 + ", then a heron\n")
    settings(here, "min_score: 0")
    assert found(here, "heron") == ["MEMORY.md:1", "MEMORY.md:2"]
    better, worse = (hit["score"] for hit in here.answer("heron")["hits"])
    settings(here, f"min_score: {(better + worse) / 2}")
    assert found(here, "heron") == ["MEMORY.md:1"]
    settings(here, f"min_score: {(better + 1) / 2}")
    assert found(here, "heron") == []
    assert here.memfas("recall", "heron").text == "No memories found.\n"
    assert here.memfas("search", "heron").text == "No results found.\n"
    with Memory("memfas.yaml") as memory:
        assert memory.recall("heron") == ""


# memfas config


def shown(here: Here, *arguments: str) -> dict[str, tuple[Any, str]]:
    """Key -> value and origin, of `memfas config --json`; the plain form says the same."""
    told = here.memfas("config", "--json", *arguments).data["settings"]
    lines = here.memfas("config", *arguments).text.splitlines()[1:]
    assert [line.partition(": ")[0] for line in lines] == [one["key"] for one in told]
    for line, one in zip(lines, told, strict=True):
        assert line.endswith(f"  # {one['origin']}")
    return {one["key"]: (one["value"], one["origin"]) for one in told}


def lines_of(told: dict[str, tuple[Any, str]], file: Path) -> Iterator[tuple[str, int]]:
    """The keys that come from a file, each with its line."""
    for key, (_, origin) in told.items():
        if origin != "default":
            name, _, line = origin.rpartition(":")
            assert Path(name).resolve() == file
            yield key, int(line)


@pytest.mark.parametrize("options", [[], ["-c", "../memfas.yaml"]], ids=" ".join)
def test_config_tells_each_value_with_the_line_that_it_comes_from(
    here: Here, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """What the file says has its file and line, everything else is called the default."""
    here.write(
        "memfas.yaml",
        "# mine\nsearch:\n  max_results: 2   # few\n  recency_weight: 1.5\n"
        "janitor: {ttl_p1: 7}\ntriggers:\n  - {keyword: alice, hint: PM}\n",
    )
    (here.root / "sub").mkdir()
    monkeypatch.chdir(here.root / "sub")
    told = shown(here, *options)
    assert dict(lines_of(told, here.root / "memfas.yaml")) == {
        "search.max_results": 3, "search.recency_weight": 4, "janitor.ttl_p1": 5, "triggers": 6,
    }  # fmt: skip
    assert told["search.max_results"][0] == 2
    assert told["search.recency_weight"][0] == 1.5
    assert told["triggers"][0] == [{"keyword": "alice", "hint": "PM"}]
    assert told["janitor.ttl_p2"] == (30, "default")
    assert told["search.backend"] == ("fts5", "default")


def test_config_prints_values_as_they_are_written_in_the_file(here: Here) -> None:
    """One line for each key: `key: value  # origin`, below the file that they come from."""
    here.write("memfas.yaml", "timezone: Asia/Shanghai\nsearch: {max_results: 2}\n")
    lines = here.memfas("config").text.splitlines()
    assert lines[0] == f"# {here.root}/memfas.yaml"
    assert f'timezone: "Asia/Shanghai"  # {here.root}/memfas.yaml:1' in lines
    assert f"search.max_results: 2  # {here.root}/memfas.yaml:2" in lines
    assert "search.recency_weight: 0.3  # default" in lines


def test_config_without_a_settings_file_tells_the_defaults(here: Here) -> None:
    """They are those of the reference, and no file is made."""
    here.write("MEMORY.md", "")
    told = shown(here)
    assert {origin for _, origin in told.values()} == {"default"}
    wanted = {
        "sources": [], "triggers": [], "triggers_file": None, "search.backend": "fts5",
        "search.max_results": 5, "search.recency_weight": 0.3, "search.min_score": 0,
        "search.embedder_type": None, "search.embedder_model": None,
        "janitor.ttl_p1": 90, "janitor.ttl_p2": 30,
    }  # fmt: skip
    assert {key: told[key][0] for key in wanted} == wanted
    assert not (here.root / "memfas.yaml").exists()


def test_config_of_a_wrong_file_is_a_sentence_or_an_object(here: Here) -> None:
    """File, line, key and the nearest valid one; no half of the settings is printed."""
    here.write("memfas.yaml", "search:\n  max_result: 3\n")
    said = here.memfas("config")
    assert (said.status, said.raw) == (3, b"")
    assert "memfas.yaml:2" in said.errors
    told = here.memfas("config", "--json")
    assert told.status == 3
    assert "memfas.yaml:2" in told.data["error"]
    assert "search.max_results" in told.data["remedy"]
