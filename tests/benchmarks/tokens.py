r"""How near is the estimate of tokens? Against tiktoken's cl100k_base, by kind of text.

    python -m tests.benchmarks.tokens --data DIR --texts DIR

tiktoken must be installed and its vocabulary on disk (see agent_memfas.remote.counting); it is no
dependency of memfas. Always measured are the code of this checkout, sentences of Python's standard
library, and addresses and hashes that are made up. `--data`: the conversations of `evidence`, as
talk, as daily logs and as JSON. `--texts`: a folder of texts for each further kind, German say.

Texts are cut into passages at line ends. The error of a passage is the estimate over the count,
less 1: above 0 the estimate is too high. Of these: the mean, and what 5 % and 95 % do not reach.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, quantiles

from tests.benchmarks import REPO
from tests.benchmarks.corpus import sentences
from tests.benchmarks.evidence import lay_out

from agent_memfas.errors import ConfigError
from agent_memfas.remote.counting import counter
from agent_memfas.text.counting import Counter, estimate_cl100k
from agent_memfas.text.tokens import estimate

SIZES = (400, 3000)  # characters of a passage
FEWEST, MOST = 5, 400  # passages of a kind


def cut(text: str, size: int) -> Iterator[str]:
    """A text as passages of `size` characters or more, a longer line in pieces."""
    held = list[str]()
    for line in text.split("\n"):
        for at in range(0, max(1, len(line)), size):
            held.append(line[at : at + size])
            if sum(map(len, held)) >= size:
                yield "\n".join(held)
                held = []
    if sum(map(len, held)) >= size // 2:
        yield "\n".join(held)


def addresses(rng: random.Random) -> str:
    """A line with an address, a path or a hash."""
    word = [w.strip(".,()") for w in rng.choice(sentences()).lower().split() if w.isalpha()]
    code = hashlib.sha256(str(rng.random()).encode()).hexdigest()
    site, path = word[0], "/".join(word[1:4])
    return rng.choice(
        [f"https://{site}.com/{path}?id={rng.randint(1, 10**6)}", f"~/{path}.md:{len(path)}",
         code, code[:40], f"{code[:8]}-{code[8:12]}-{code[12:16]}-{code[16:20]}-{code[20:32]}",
         f"https://github.com/{site}/{path}/blob/{code[:40]}/src/{word[-1]}.py#L{len(word)}"]
    )  # fmt: skip


def kinds(data: Path | None, folder: Path | None) -> Iterator[tuple[str, list[str]]]:
    """Each kind of text with its texts."""
    rng = random.Random(7)
    yield "English, documentation", [" ".join(sentences()[n : n + 20]) for n in range(0, 4000, 20)]
    code = [*(REPO / "scripts").rglob("*.py"), *(REPO / "tests").rglob("*.py")]
    yield "code, this checkout", [p.read_text(encoding="utf-8") for p in sorted(code)]
    yield "addresses, paths, hashes", ["\n".join(addresses(rng) for _ in range(2000))]
    for path in sorted(data.glob("*.json")) if data else ():
        held = json.loads(path.read_text(encoding="utf-8"))
        corpora = [corpus["docs"] for corpus in held["corpora"]]
        yield f"{held['name']}, talk", ["\n".join(d["text"] for d in docs) for docs in corpora]
        yield f"{held['name']}, daily logs", [log for docs in corpora for log in logs(docs)]
        yield (
            f"{held['name']}, JSON",
            [
                json.dumps(docs, ensure_ascii=False, indent=n % 2 or None)
                for n, docs in enumerate(corpora)
            ],
        )
    for one in sorted(folder.iterdir()) if folder else ():
        yield one.name, [p.read_text(encoding="utf-8") for p in sorted(one.glob("*.txt"))]


def logs(docs: Sequence[dict[str, str]]) -> list[str]:
    """A conversation as the daily logs that `evidence` makes of it."""
    with tempfile.TemporaryDirectory() as root:
        lay_out(docs, Path(root))
        return [p.read_text(encoding="utf-8") for p in sorted(Path(root).rglob("*.md"))]


def row(name: str, passages: Sequence[str], exact: Counter) -> str:
    """A row of the table: the errors of our estimate, then those of a quarter of characters."""
    counts = list(map(exact, passages))
    cells = [name, str(len(passages))]
    for guess in (estimate_cl100k, estimate):
        errors = [100 * (guess(p) / n - 1) for p, n in zip(passages, counts, strict=True)]
        marks = quantiles(errors, n=20, method="inclusive")
        cells += [f"{value:+.0f}" for value in (fmean(errors), marks[0], marks[-1])]
    return f"| {' | '.join(cells)} |"


def speed(texts: Sequence[str], count: Callable[[str], int]) -> float:
    """Microseconds for 100 characters, the best of five rounds."""
    rounds = list[float]()
    for _ in range(5):
        start = time.perf_counter()
        for text in texts:
            count(text)
        rounds.append(time.perf_counter() - start)
    return min(rounds) * 1e8 / sum(map(len, texts))


def show(exact: Counter, data: Path | None, folder: Path | None) -> None:
    """Print the tables, one for each size of passages, and how long counting takes."""
    found = [(name, texts) for name, texts in kinds(data, folder) if texts]
    for size in SIZES:
        print(f"\n### Error in percent, passages of {size} characters\n")
        print("| text | passages | mean | p5 | p95 | `estimate`: mean | p5 | p95 |")
        print("|---|---|---|---|---|---|---|---|")
        for name, texts in found:
            passages = [passage for text in texts for passage in cut(text, size)]
            random.Random(7).shuffle(passages)
            if len(passages) >= FEWEST:
                print(row(name, passages[:MOST], exact))
    some = [texts[0] for _, texts in found]
    print("\nMicroseconds for 100 characters:"
          f" {speed(some, estimate_cl100k):.1f}; tiktoken {speed(some, exact):.1f}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--texts", type=Path, metavar="DIR")
    options = parser.parse_args()
    try:
        tokens = counter("tiktoken")
    except ConfigError as fault:
        parser.exit(1, f"{fault.message}: {fault.remedy}\n")
    show(tokens, options.data, options.texts)
