"""memfas: memory for AI agents, fast and slow, in plain markdown files."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing.TYPE_CHECKING, without 8 ms for importing it
if TYPE_CHECKING:
    from agent_memfas.config import Config
    from agent_memfas.memory import Memory, MemoryResult
    from agent_memfas.search.base import SearchBackend, SearchResult

__version__ = "1.0.0.dev1"
__all__ = ["Config", "Memory", "MemoryResult", "SearchBackend", "SearchResult", "__version__"]


def __getattr__(name: str) -> object:
    """`Memory` and its family, loaded when they are first asked for."""
    if name == "Config":
        from agent_memfas.config.family import Config

        return Config
    if name in ("Memory", "MemoryResult", "SearchBackend", "SearchResult"):
        from agent_memfas import memory

        return getattr(memory, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
