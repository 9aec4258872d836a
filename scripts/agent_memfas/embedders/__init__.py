"""Embedders: what turns a text into a vector. Each loads its library when it is first used."""

from __future__ import annotations

from agent_memfas.embedders.base import Embedder

__all__ = ["Embedder", "FastEmbedEmbedder", "OfflineEmbedder", "OllamaEmbedder", "OpenAIEmbedder"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memfas.embedders.fastembed import FastEmbedEmbedder
    from agent_memfas.embedders.offline import OfflineEmbedder
    from agent_memfas.embedders.ollama import OllamaEmbedder
    from agent_memfas.embedders.openai import OpenAIEmbedder

HOMES = {"FastEmbedEmbedder": "fastembed", "OfflineEmbedder": "offline",
         "OllamaEmbedder": "ollama", "OpenAIEmbedder": "openai"}  # fmt: skip


def __getattr__(name: str) -> object:
    """Those that come with memfas, loaded when they are asked for."""
    from importlib import import_module

    if name in HOMES:
        found: object = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
