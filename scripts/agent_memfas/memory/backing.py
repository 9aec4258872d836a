"""Which search backend a Memory has."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from agent_memfas.config import Settings
from agent_memfas.config.keys import BACKENDS, EMBEDDERS
from agent_memfas.embedders import Embedder
from agent_memfas.errors import ConfigError, FileFault, UsageError
from agent_memfas.search.base import SearchBackend
from agent_memfas.search.embedding import EmbeddingBackend
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder

FILE = "vectors.db"


def chosen(
    given: Any, embedder: Any, settings: Settings, folder: Folder, *, fetch: bool = True
) -> Any:
    """The backend that ranks; None for the folder's own index.

    given: a name, a backend, or None: then vectors where there is an embedder, else what the
    settings say. fetch: whether a model may be fetched over the network. ConfigError, UsageError
    where there is no such thing.
    """
    if given is not None and not isinstance(given, str):
        if isinstance(given, type) or not all(hasattr(given, m) for m in ("index", "search")):
            raise UsageError(f"search_backend: {given!r} is no search backend", "see SearchBackend")
        return given
    name = given or ("embedding" if embedder is not None else settings.backend)
    if name in (None, "fts5"):
        return None
    if name != "embedding":
        raise UsageError(
            f"search_backend {name!r}: no such backend", f"one of {', '.join(BACKENDS)}"
        )
    return _vectors(
        embedder if embedder is not None else embedder_of(settings, fetch=fetch), folder
    )


def embedder_of(settings: Settings, *, fetch: bool = True) -> Embedder:
    """The embedder that the settings name. fetch: as of `chosen`. ConfigError where it is not
    installed.
    """
    values = settings.values
    kind = values.get("search.embedder_type") or EMBEDDERS[0]
    model, url = values.get("search.embedder_model"), values.get("search.base_url")
    key_name = values.get("search.api_key_env")
    if kind == "fastembed":
        from agent_memfas.embedders.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(**_given(model=model), fetch=fetch)
    if kind == "ollama":
        from agent_memfas.embedders.ollama import OllamaEmbedder

        address = url or _ollama_address(os.environ.get("OLLAMA_HOST", ""))
        return OllamaEmbedder(**_given(model=model, base_url=address))
    if kind == "openai":
        from agent_memfas.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder(**_given(model=model, base_url=url, api_key_env=key_name))
    if kind == "offline":
        from agent_memfas.embedders.offline import OfflineEmbedder

        return OfflineEmbedder()
    raise ConfigError(f"search.embedder_type {kind!r}: no such embedder", " or ".join(EMBEDDERS))


def _given(**options: str | None) -> dict[str, Any]:
    """Those of the options that are set."""
    return {name: value for name, value in options.items() if value}


def _ollama_address(host: str) -> str:
    """Where an Ollama server is, from its own variable OLLAMA_HOST; "" for the usual place."""
    if not host.strip():
        return ""
    address = host.strip() if "://" in host else f"http://{host.strip()}"
    parts = urlsplit(address)
    name = "127.0.0.1" if parts.hostname in (None, "0.0.0.0", "::") else parts.netloc
    port = f":{parts.port}" if name != parts.netloc and parts.port else ""
    has_port = parts.port or "://" in host
    return f"{parts.scheme}://{name}{port}{'' if has_port else ':11434'}{parts.path}"


def _vectors(embedder: Embedder, folder: Folder) -> SearchBackend:
    """Vectors kept in the state folder; where that cannot be written, in memory."""
    if not hasattr(embedder, "embed"):
        raise UsageError(f"embedder: {embedder!r} is no embedder", "see Embedder")
    try:
        return EmbeddingBackend(state_folder(folder) / FILE, embedder, private=True)
    except FileFault:
        return EmbeddingBackend(":memory:", embedder)
