"""memfas.yaml: every mistake is one sentence with file, line and key, and nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memfas.cli import main
from agent_memfas.config import load
from agent_memfas.errors import ConfigError


def write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "memfas.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("text", ["", "# only comments\n", "janitor:\n", "---\n", "{}\n"])
def test_an_empty_configuration_is_the_defaults(tmp_path: Path, text: str) -> None:
    """The file is optional, and so is everything in it."""
    settings = load(write(tmp_path, text))
    assert (settings.terms.p1, settings.terms.p2, settings.max_results) == (90, 30, 5)


def test_the_reference_file_is_read_as_it_stands(tmp_path: Path) -> None:
    """The memfas.yaml of the reference README is valid, and so is a JSON one."""
    settings = load(write(tmp_path, (
        "db_path: ./memfas.db\nsources:\n  - path: ./MEMORY.md\n    type: markdown\n"
        "triggers:\n  - keyword: alice\n    hint: PM\nsearch:\n  max_results: 7\n"
        "  recency_weight: 0.3\n  min_score: 0.1\ncontext:\n  compaction_trigger_pct: 0.5\n"
    )))  # fmt: skip
    assert (settings.sources[0].path, settings.max_results, settings.min_score) == (
        "./MEMORY.md",
        7,
        0.1,
    )
    path = tmp_path / "memfas.json"
    path.write_text('{"janitor": {"ttl_p1": 0}}')
    assert load(path).terms.p1 == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\njanitr: {ttl_p1: 3}\n", ["memfas.yaml:2", "unknown key janitr", "janitor"]),
        ("janitor:\n  ttl_p1: '90'\n", ["memfas.yaml:2", "janitor.ttl_p1", "str '90'"]),
        ("janitor:\n  ttl_p3: 9\n", ["memfas.yaml:2", "janitor.ttl_p3", "janitor.ttl_p"]),
        ("janitor: {ttl_p1: 90.5}\n", ["memfas.yaml:1", "whole number"]),
        ("janitor: {ttl_p1: -1}\n", ["memfas.yaml:1", "-1"]),
        ("janitor: {ttl_p1: true}\n", ["memfas.yaml:1", "True"]),
        ("janitor: {ttl_p1: null}\n", ["memfas.yaml:1", "ttl_p1"]),
        ("janitor: {ttl_p1: 1e99}\n", ["memfas.yaml:1", "ttl_p1"]),
        ("janitor: [1]\n", ["memfas.yaml:1", "janitor"]),
        ("- a list\n", ["memfas.yaml:1", "mapping"]),
        ("just text\n", ["memfas.yaml:1", "mapping"]),
        ("a: b: c\n", ["memfas.yaml:1"]),
        ("\tx: 1\n", ["memfas.yaml:1"]),
        ("d: 2026-02-30\n", ["memfas.yaml"]),
        ("x: !!python/object:os.system {}\n", ["memfas.yaml:1"]),
        ("a: &a [1]\nb: *a\n", ["memfas.yaml", "aliases"]),
        ("a: 1\n---\nb: 2\n", ["memfas.yaml"]),
        ("x: [" + "[" * 5000, ["memfas.yaml"]),
        (b"x: \xff\n", ["memfas.yaml:1", "UTF-8"]),
        ("timezone: Mars/Olympus\n", ["memfas.yaml:1", "timezone"]),
        ("sources: [{path: a, kind: b}]\n", ["memfas.yaml:1", "kind"]),
        ("search: {max_results: 0}\n", ["memfas.yaml:1", "max_results"]),
        ("writing: {quiet: no}\n", ["memfas.yaml:1", "writing.quiet"]),
    ],
)
def test_a_mistake_is_named_and_nothing_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | bytes, words: list[str]
) -> None:
    """The janitor stops with status 3 and touches nothing; recall goes on and says so."""
    if isinstance(text, str):
        text = text.replace("a: 1\njanitr", "timezone: local\njanitr")
    path = write(tmp_path, text)
    memory = tmp_path / "MEMORY.md"
    memory.write_text("- [P1][2020-01-01] x\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    told = f"{caught.value.message} {caught.value.remedy}"
    for word in words:
        assert word in told
    assert "\n" not in told
    assert main(["janitor", "--root", str(tmp_path)]) == 3
    assert memory.read_text() == "- [P1][2020-01-01] x\n"
    assert not (tmp_path / "archive").exists()
    capsys.readouterr()
    assert main(["recall", "x", "--root", str(tmp_path)]) == 0
    assert "the defaults are taken" in capsys.readouterr().err


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    """Nested aliases that would fill the memory are refused before anything is built."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ConfigError, match="aliases"):
        load(write(tmp_path, "\n".join(rows)))
