"""Embedders: what turns a text into a vector. Each loads its library when it is first used."""

from __future__ import annotations

from agent_memfas.embedders.base import Embedder

__all__ = ["Embedder", "FastEmbedEmbedder", "OllamaEmbedder"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memfas.embedders.fastembed import FastEmbedEmbedder
    from agent_memfas.embedders.ollama import OllamaEmbedder


def __getattr__(name: str) -> object:
    """The two that come with memfas, loaded when they are asked for."""
    from importlib import import_module

    homes = {"FastEmbedEmbedder": "fastembed", "OllamaEmbedder": "ollama"}
    if name in homes:
        found: object = getattr(import_module(f"{__name__}.{homes[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
