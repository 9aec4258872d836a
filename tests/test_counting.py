"""Tokens are counted exactly where that is possible on this disk, else estimated; never fetched."""

from __future__ import annotations

import socket
import sys
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.remote import counting
from agent_memfas.remote.counting import counter
from agent_memfas.text.counting import estimate_cl100k

# What tiktoken 0.14 counts with cl100k_base.
COUNTED = {
    "Alice said that the deadline for the front end of the acme project moves to Friday, and nobody objected to it in the meeting.": 27,
    "Door code is 4411.": 7,
    "我们中午在老港口见面。天气很好，咖啡也不错。小红把项目的截止日期改到了星期五，大家都同意了。": 52,
    "Die Besprechung wurde auf Donnerstag verschoben, weil die Geschäftsführung noch über den Haushalt für das nächste Jahr entscheiden möchte.": 34,
    'def estimate(text: str) -> int:\n    plain = sum(1 for c in text if c < "\\x80")\n    return ceil(plain / 4 + wide)\n': 37,
    '{"path": "memory/2026-02-24.md", "start_line": 12, "end_line": 15, "score": 0.8731, "heading": null, "labels": []}': 47,
    "## 2026-02-24\n\n- 10:15 Alice: the staging database is read-only this month\n- [P1][2026-02-24] Bob: prefers async communication\n": 43,
    "https://github.com/openai/tiktoken/blob/9b5ad71b2ce5302211f9c61530b329a4922fc6a4/tiktoken/load.py#L31": 44,
    "f3b6eb73-e77b-4d4a-8c3e-5d3ec3a4c1b1 223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": 65,
    "La réunion a été déplacée à jeudi, parce que la direction veut encore décider du budget pour l'année prochaine.": 31,
    "Сегодня хорошая погода, и мы пошли гулять в парк; встреча перенесена на четверг.": 40,
    "| Host | Port |\n| --- | --- |\n| db1 | 5432 |\n| cache | 6379 |\n": 25,
    "今日はとても良い天気ですね。会議は木曜日に変更されました。": 30,
}

STAND_IN = b"\n".join(b64encode(bytes([n])) + b" %d" % n for n in range(256)) + b"\n"
FAKE = '''
"""Counts bytes; whatever might fetch something fails."""

class Encoding:
    def __init__(self, name, *, pat_str, mergeable_ranks, special_tokens):
        assert len(mergeable_ranks) == 256 and mergeable_ranks[b"a"] == 97

    def encode_ordinary(self, text):
        return list(text.encode())

def get_encoding(name):
    raise AssertionError("tiktoken would fetch its vocabulary now")
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with tiktoken (a stand-in), without a vocabulary and without a network.

    Its packages are imported from site/, the temporary files are in tmp/.
    """

    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/tiktoken.py").write_text(FAKE)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(counting, "SHA256", sha256(STAND_IN).hexdigest())
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    for name in ("tiktoken", "litellm", "llama_index"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    counting._load.cache_clear()
    yield tmp_path
    sys.modules.pop("tiktoken", None)
    counting._load.cache_clear()


def put(path: Path, data: bytes = STAND_IN) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def is_exact() -> bool:
    """Whether tokens are counted by the stand-in, and not estimated."""
    count = counter()
    assert (count is estimate_cl100k) == (count("word") != 4)
    return count is not estimate_cl100k


def test_without_a_vocabulary_tokens_are_estimated(folder: Path) -> None:
    """Having tiktoken alone does not help: it would have to fetch its vocabulary, so it is not asked."""
    assert not is_exact()
    assert "tiktoken" not in sys.modules


@pytest.mark.parametrize("name", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_a_vocabulary_is_found_where_the_user_keeps_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The folder that tiktoken's own variables name is looked into."""
    put(folder / "mine" / counting.FILE)
    monkeypatch.setenv(name, str(folder / "mine"))
    assert is_exact()


@pytest.mark.parametrize(
    "place",
    [
        "tmp/data-gym-cache",
        "site/litellm/litellm_core_utils/tokenizers",
        "site/llama_index/core/_static/tiktoken_cache",
    ],
)
def test_a_vocabulary_is_found_where_programs_put_it(folder: Path, place: str) -> None:
    """The file that tiktoken once fetched, or that a package ships, is used as it lies there."""
    put(folder / place / counting.FILE)
    assert is_exact()
    assert "litellm" not in sys.modules


def test_a_damaged_vocabulary_is_passed_over(folder: Path) -> None:
    """A file that is not the vocabulary counts nothing; a good one elsewhere still does."""
    put(folder / "tmp/data-gym-cache" / counting.FILE, STAND_IN[:-9])
    assert not is_exact()
    assert (folder / "tmp/data-gym-cache" / counting.FILE).read_bytes() == STAND_IN[:-9]
    put(folder / "site/litellm/litellm_core_utils/tokenizers" / counting.FILE)
    assert is_exact()


def test_a_vocabulary_without_tiktoken_is_no_use(folder: Path) -> None:
    """Where tiktoken is not installed tokens are estimated, and who insists is told what to do."""
    put(folder / "tmp/data-gym-cache" / counting.FILE)
    (folder / "site/tiktoken.py").unlink()
    assert not is_exact()
    with pytest.raises(ConfigError, match="not installed") as fault:
        counter("tiktoken")
    assert "pip install tiktoken" in fault.value.remedy


def test_who_insists_on_tiktoken_learns_what_is_missing(folder: Path) -> None:
    """Without the vocabulary, the name of its file and the folder it belongs into are told."""
    with pytest.raises(ConfigError, match="vocabulary") as fault:
        counter("tiktoken")
    assert counting.FILE in fault.value.remedy
    put(folder / "tmp/data-gym-cache" / counting.FILE)
    assert counter("tiktoken")("word") == 4


def test_the_estimate_can_be_asked_for(folder: Path) -> None:
    """By name the estimate comes even where tiktoken could count; an unknown name is refused."""
    put(folder / "tmp/data-gym-cache" / counting.FILE)
    assert counter("estimate") is estimate_cl100k
    with pytest.raises(UsageError, match="gpt"):
        counter("gpt")


@pytest.mark.parametrize("text", COUNTED)
def test_the_estimate_is_near_and_not_below(text: str) -> None:
    """Prose, Chinese, German, code, JSON, logs, addresses: at least what tiktoken counts, and at
    most one half more, on average a fifth."""
    assert COUNTED[text] <= estimate_cl100k(text) <= 1.5 * COUNTED[text]
    assert sum(map(estimate_cl100k, COUNTED)) <= 1.2 * sum(COUNTED.values())


@given(st.text())
def test_any_text_can_be_estimated(text: str) -> None:
    """Whatever a text holds, it has no tokens only if it is empty, and at most one for each byte
    of it, as in cl100k_base itself, and the part by which the estimate errs upwards."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert (text != "") <= estimate_cl100k(text) <= 1.06 * size + 1
