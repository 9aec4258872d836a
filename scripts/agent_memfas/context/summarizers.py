"""Summarizers of chunks: by extraction, by a model, by a function of the caller's, or none."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent_memfas.errors import ConfigError, MemfasError, UsageError
from agent_memfas.llm import LanguageModel, LlmChoice, open_model
from agent_memfas.llm.shortening import shortened
from agent_memfas.remote.counting import counter
from agent_memfas.text.compacting import SHORTEST, summary_target
from agent_memfas.text.counting import Counter
from agent_memfas.text.shorten import shorten
from agent_memfas.text.words import query_terms, words

TARGET = 500
MINIMAX = "https://api.minimax.chat"
SECONDS = 30.0  # for one question to a model, all tries together
MORE = 100  # tokens of an answer beyond its target
BATCH_SECONDS = 90.0  # for all summaries of a compaction: the agent waits for them


class Summarizer(ABC):
    """Makes a chunk shorter. notes: what went another way than usual, for whoever asks; the caller
    empties it.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []

    @abstractmethod
    def summarize(
        self, chunk: str, prompt: str = "", preserve_keywords: Sequence[str] | None = None
    ) -> str:
        """The chunk in fewer words, or as it is. prompt: what is asked now. preserve_keywords:
        words that have to stay.
        """

    def summarize_batch(
        self, chunks: Sequence[str], prompt: str = "",
        preserve_keywords: Sequence[str] | None = None,
    ) -> list[str]:  # fmt: skip
        """The same for several chunks, in their order."""
        return [self.summarize(chunk, prompt, preserve_keywords) for chunk in chunks]

    def estimate_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return counter()(text)


class NoOpSummarizer(Summarizer):
    """Leaves every chunk as it is."""

    def summarize(
        self, chunk: str, prompt: str = "", preserve_keywords: Sequence[str] | None = None  # noqa: ARG002
    ) -> str:  # fmt: skip
        """The chunk."""
        return chunk


class ExtractiveSummarizer(Summarizer):
    """The sentences that tell most; see `text.shorten`. A chunk of fewer than 50 words stays.

    target_tokens: of a summary, at most; it has 40 % of the chunk's tokens at most, too.
    """

    def __init__(self, target_tokens: int = TARGET, count: Counter | None = None) -> None:
        super().__init__()
        self.target_tokens = target_tokens
        self._count = count or counter()

    def summarize(
        self, chunk: str, prompt: str = "", preserve_keywords: Sequence[str] | None = None
    ) -> str:
        """As `Summarizer`; deterministic."""
        return self._extracted(chunk, query_terms(prompt), preserve_keywords or ())

    def summarize_batch(
        self, chunks: Sequence[str], prompt: str = "",
        preserve_keywords: Sequence[str] | None = None,
    ) -> list[str]:  # fmt: skip
        """As `Summarizer`; a class with another `summarize` is asked for each chunk."""
        if type(self).summarize is not ExtractiveSummarizer.summarize:
            return super().summarize_batch(chunks, prompt, preserve_keywords)
        asked = query_terms(prompt)
        return [self._extracted(chunk, asked, preserve_keywords or ()) for chunk in chunks]

    def _extracted(self, chunk: str, asked: Sequence[str], keep: Sequence[str]) -> str:
        if is_short(chunk):
            return chunk
        target = summary_target(self._count(chunk), self.target_tokens)
        return shorten(chunk, target, self._count, asked, keep)

    def estimate_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self._count(text)


class CallableSummarizer(ExtractiveSummarizer):
    """A function of the caller's: (chunk) or (chunk, prompt) -> summary. Where it fails or gives no
    shorter text, the chunk is shortened by extraction, and notes say so.
    """

    def __init__(
        self, function: Callable[..., object], target_tokens: int = TARGET,
        count: Counter | None = None,
    ) -> None:  # fmt: skip
        super().__init__(target_tokens, count)
        self._function = function
        self._takes_prompt = _takes_two(function)

    def summarize(
        self, chunk: str, prompt: str = "", preserve_keywords: Sequence[str] | None = None
    ) -> str:
        """As `Summarizer`."""
        if is_short(chunk):
            return chunk
        found: object = None
        try:
            found = self._function(chunk, prompt) if self._takes_prompt else self._function(chunk)
        except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on
            self.notes.append(f"the summarizer failed ({type(error).__name__}); by extraction")
            return super().summarize(chunk, prompt, preserve_keywords)
        if isinstance(found, str) and found.strip() and self._count(found) < self._count(chunk):
            return found
        self.notes.append("the summarizer gave no shorter text; by extraction")
        return super().summarize(chunk, prompt, preserve_keywords)


class ModelSummarizer(ExtractiveSummarizer):
    """A language model; what it cannot do in time is done by extraction, and notes say why.

    After a failure the rest of a batch is not asked: no agent waits for twenty timeouts.
    """

    def __init__(
        self, model: LanguageModel, target_tokens: int = TARGET, count: Counter | None = None
    ) -> None:
        super().__init__(target_tokens, count)
        self._model = model

    def summarize(
        self, chunk: str, prompt: str = "", preserve_keywords: Sequence[str] | None = None
    ) -> str:
        """As `Summarizer`."""
        return self.summarize_batch([chunk], prompt, preserve_keywords)[0]

    def summarize_batch(
        self, chunks: Sequence[str], prompt: str = "",
        preserve_keywords: Sequence[str] | None = None,
    ) -> list[str]:  # fmt: skip
        """As `Summarizer`, within 90 seconds."""
        began, failed, found = time.monotonic(), False, list[str]()
        for chunk in chunks:
            late = time.monotonic() - began > BATCH_SECONDS
            if late and not failed:
                failed = True
                self.notes.append("the model is too slow; the rest is shortened by extraction")
            text = None
            if not (failed or is_short(chunk)):
                text = self._asked(chunk, prompt, preserve_keywords or ())
                failed = text is None
            found.append(super().summarize(chunk, prompt, preserve_keywords)
                         if text is None else text)  # fmt: skip
        return found

    def _asked(self, chunk: str, prompt: str, keep: Sequence[str]) -> str | None:
        target = summary_target(self._count(chunk), self.target_tokens)
        try:
            return shortened(self._model, chunk, prompt, target, self._count, keep)
        except MemfasError as error:
            self.notes.append(f"{error.message}; shortened by extraction")
            return None

    def close(self) -> None:
        """Let go of the model's connections."""
        self._model.close()


class MiniMaxSummarizer(ModelSummarizer):
    """MiniMax, whose API is that of OpenAI: POST {base_url}/v1/chat/completions.

    api_key: "" for none: then nothing is asked, and all is shortened by extraction.
    """

    def __init__(
        self, api_key: str = "", base_url: str = MINIMAX, model: str = "MiniMax-M2.1",
        target_tokens: int = TARGET,
    ) -> None:  # fmt: skip
        self.api_key, self.base_url, self.model = api_key, base_url, model
        name = model.removeprefix("minimax/")
        choice = LlmChoice(
            f"minimax/{name}", f"{base_url.rstrip('/')}/v1", "MINIMAX_API_KEY", SECONDS,
            target_tokens + MORE, 0.3,
        )  # fmt: skip
        opened = open_model(choice, lambda _: None, api_key)
        assert opened is not None
        super().__init__(opened, target_tokens)

    def _asked(self, chunk: str, prompt: str, keep: Sequence[str]) -> str | None:
        if not self.api_key:
            self.notes.append("MINIMAX_API_KEY is not set; shortened by extraction")
            return None
        return super()._asked(chunk, prompt, keep)


def create_summarizer(
    backend: str | Callable[..., str] | Summarizer = "minimax", **settings: Any
) -> Summarizer:
    """A summarizer by name: extractive, none, minimax, llm, or PROVIDER/MODEL as under `llm:`; or
    one of the caller's: a Summarizer, or a function of a chunk.

    settings: of minimax, see `create_minimax_summarizer`; of llm, `choice` (an LlmChoice); of any
    model `tell`, which is given each finished question; target_tokens. UsageError for another name;
    ConfigError where a model cannot be meant.
    """
    target = int(settings.get("target_tokens", TARGET))
    if isinstance(backend, Summarizer):
        return backend
    if callable(backend):
        return CallableSummarizer(backend, target)
    name = backend.strip()
    if name.lower() in ("none", "noop", ""):
        return NoOpSummarizer()
    if name.lower() == "extractive":
        return ExtractiveSummarizer(target)
    if name.lower() == "minimax":
        return create_minimax_summarizer(**settings)
    provider, _, model = name.partition("/")
    if provider.lower() == "minimax":
        return create_minimax_summarizer(model=model, **settings)
    choice = settings.get("choice") or LlmChoice()
    if name.lower() != "llm":
        if not model:
            raise UsageError(f"no summarizer {name!r}", "extractive, none, llm or PROVIDER/MODEL")
        choice = LlmChoice(name, timeout=SECONDS, max_tokens=target + MORE)
    opened = open_model(choice, settings.get("tell") or (lambda _: None))
    if opened is None:
        raise ConfigError("no model is named", "set llm.model or llm.command in memfas.yaml")
    return ModelSummarizer(opened, target)


def create_minimax_summarizer(
    api_key: str | None = None, config_path: str | None = None, **settings: Any
) -> MiniMaxSummarizer:
    """MiniMax with a key: the one given, that of `minimax_api_key` or `api_key` in a file, or of
    MINIMAX_API_KEY. settings: base_url, model, target_tokens.
    """
    key = api_key
    if not key and config_path and Path(config_path).exists():
        key = _key_in(Path(config_path))
    settings.pop("choice", None)
    settings.pop("tell", None)
    return MiniMaxSummarizer(key or os.environ.get("MINIMAX_API_KEY", ""), **settings)


def is_short(chunk: str) -> bool:
    """Whether a chunk is too short to be worth a summary: fewer than 50 words."""
    return len(chunk) < 8 * SHORTEST and len(words(chunk)) < SHORTEST


def _key_in(path: Path) -> str:
    from agent_memfas.config.parsing import tree_of

    tree, _ = tree_of(path, path.read_text(encoding="utf-8"))
    found = tree.get("minimax_api_key") or tree.get("api_key")
    return found if isinstance(found, str) else ""


def _takes_two(function: Callable[..., object]) -> bool:
    import inspect

    try:
        inspect.signature(function).bind("", "")
    except (TypeError, ValueError):
        return False
    return True
