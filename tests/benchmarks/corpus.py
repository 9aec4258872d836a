"""Folders of markdown files that look like notes in English, the same ones each time.

The sentences are those of the docstrings of the running Python's standard library, so that words
come as often as they do in English: "the" in most passages, most words in few. Half of the
sentences are two halves of different ones, and one in seven ends in an identifier that hardly any
other file holds, for a vocabulary that grows with the text. Nothing is random from run to run;
another Python has other docstrings, and so another text.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
from functools import lru_cache
from pathlib import Path

LEFT_OUT = {"__pycache__", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests"}
SENTENCE = re.compile(r"[A-Z][A-Za-z0-9 ,;:'()/.\"-]{30,300}[.!?]")
BETWEEN = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")
BYTES = 3200  # a file has a little more
WORDS = 68  # of a paragraph, about
FOLDER = 128  # files in a folder: 79 folders for 10,000
QUESTION = 8  # words


@lru_cache(maxsize=1)
def sentences() -> tuple[str, ...]:
    """Some 9,000 sentences of 6 to 45 words, each once."""
    found: dict[str, None] = {}
    top = os.path.dirname(os.__file__)
    for folder, inside, files in os.walk(top):
        inside[:] = sorted(
            name for name in inside if name not in LEFT_OUT and not name.startswith("config-")
        )
        for name in sorted(name for name in files if name.endswith(".py")):
            tree = ast.parse(Path(folder, name).read_bytes())
            for node in ast.walk(tree):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    found.update(dict.fromkeys(_cut(ast.get_docstring(node) or "")))
    return tuple(found)


def _cut(text: str) -> list[str]:
    pieces = (" ".join(piece.split()) for piece in BETWEEN.split(text))
    return [p for p in pieces if SENTENCE.fullmatch(p) and 6 <= len(p.split()) <= 45]


def text_of(number: int, seed: int = 7) -> str:
    """The file of that number: paragraphs, bullets and headings in no order."""
    rng = random.Random(f"{seed}/{number}")
    parts = [f"# Note {number}\n"]
    size = len(parts[0])
    while size < BYTES:
        kind = rng.random()
        if kind < 0.12:
            part = f"\n## {' '.join(_sentence(rng).split()[:4]).rstrip('.,;:')}\n\n"
        elif kind < 0.5:
            part = f"\n{_paragraph(rng)}\n\n"
        else:
            part = f"- {_sentence(rng)}\n"
        parts.append(part)
        size += len(part)
    return "".join(parts)


def _paragraph(rng: random.Random) -> str:
    words: list[str] = []
    while len(words) < WORDS - 6:
        words += _sentence(rng).split()
    return " ".join(words)


def _sentence(rng: random.Random) -> str:
    one = rng.choice(sentences())
    if rng.random() < 0.5:
        first, second = one.split(), rng.choice(sentences()).split()
        one = " ".join(first[: len(first) // 2] + second[len(second) // 2 :])
    if rng.random() < 0.15:
        name = rng.choice(sentences()).split()[0].lower().strip(".,;:()\"'")
        one = f"{one.rstrip('.')} {name}_{rng.randrange(10**5)}."
    return one


def questions(files: int, count: int, seed: int = 7) -> list[str]:
    """Questions of 8 words in a row, common ones included, each out of one of the first `files`."""
    rng = random.Random(f"{seed}/questions/{files}")
    found: list[str] = []
    while len(found) < count:
        lines = [
            line.lstrip("- ") for line in text_of(rng.randrange(files), seed).splitlines()
            if not line.startswith("#") and len(line.split()) > QUESTION
        ]  # fmt: skip
        words = rng.choice(lines).split() if lines else []
        if len(words) >= QUESTION:
            at = rng.randrange(len(words) - QUESTION + 1)
            asked = " ".join(words[at : at + QUESTION]).strip(" .,;:()\"'-")
            found.append(asked)
    return found


def path_of(number: int) -> str:
    """Where in its folder the file of that number lies."""
    return f"memory/d{number // FOLDER:04d}/n{number:06d}.md"


def folder_of(work: Path, files: int, seed: int = 7) -> Path:
    """A memory folder of so many files under `work`; made where it is not there yet."""
    folder = work / f"notes-{files}"
    if folder.is_dir():
        return folder
    half = work / f"notes-{files}.part"
    shutil.rmtree(half, ignore_errors=True)
    for number in range(files):
        path = half / path_of(number)
        if number % FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(text_of(number, seed), encoding="utf-8")
    (half / "MEMORY.md").write_text("# Memory\n\n- [P0] Time zone: US Eastern\n", encoding="utf-8")
    half.rename(folder)
    return folder


def text_bytes(folder: Path) -> int:
    """Bytes of all the text in such a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*.md"))
