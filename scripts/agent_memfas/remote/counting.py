"""Who counts tokens: tiktoken where it and its vocabulary are on this disk, else our estimate.

tiktoken fetches a vocabulary that it does not find. So the file is looked for first, where tiktoken
keeps it and where packages ship it, and read here; nothing of tiktoken that could fetch is called.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.remote.surroundings import variable
from agent_memfas.text.counting import Counter, estimate_cl100k

NAMES = ("auto", "tiktoken", "estimate")
# The SHA-1 of the vocabulary's address: the name under which tiktoken keeps it.
FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
SHIPPED = (
    ("litellm", "litellm_core_utils/tokenizers"),
    ("llama_index", "core/_static/tiktoken_cache"),
)
# As in tiktoken_ext/openai_public.py.
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def counter(name: str = "auto") -> Counter:
    """A counter of tokens (of cl100k_base), by name. Never uses a network.

    auto: tiktoken where it can count, else the estimate. UsageError: no such name. ConfigError:
    tiktoken is asked for and cannot count.
    """
    if name not in NAMES:
        raise UsageError(f"no such counter of tokens: {name}", f"one of {', '.join(NAMES)}")
    if name == "estimate":
        return estimate_cl100k
    installed = find_spec("tiktoken") is not None
    counters = (_load(place) for place in _places()) if installed else ()
    exact = next(filter(None, counters), None)
    if exact is None and name == "tiktoken":
        raise ConfigError(
            "tiktoken's vocabulary cl100k_base is not on this disk" if installed
            else "tiktoken is not installed",
            f"put its file {FILE} into $TIKTOKEN_CACHE_DIR" if installed
            else "pip install tiktoken, or count by estimate",
        )  # fmt: skip
    return exact or estimate_cl100k


def _places() -> Iterator[Path]:
    """The files that may be the vocabulary, in tiktoken's order, then those of packages."""
    for folder in _folders():
        path = folder / FILE
        if path.is_file():
            yield path


def _folders() -> Iterator[Path]:
    own = variable("TIKTOKEN_CACHE_DIR") or variable("DATA_GYM_CACHE_DIR")
    if own:
        yield Path(own)
    else:
        temporary = next(filter(None, map(variable, ("TMPDIR", "TEMP", "TMP"))), "/tmp")
        yield Path(temporary) / "data-gym-cache"
    for package, inside in SHIPPED:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(folder) / inside


@lru_cache(maxsize=4)
def _load(path: Path) -> Counter | None:
    """Count with the vocabulary in a file. None: it is another one, or tiktoken takes it not."""
    try:
        data = path.read_bytes()
        if sha256(data).hexdigest() != SHA256:
            return None
        pairs = (line.split() for line in data.splitlines() if line)
        ranks = {b64decode(token): int(rank) for token, rank in pairs}
        encoding = import_module("tiktoken").Encoding(
            "cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={}
        )
    except (ImportError, OSError, ValueError, TypeError):
        return None

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count
