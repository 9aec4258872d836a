"""Curation under the reference's import path; each part is loaded when it is first asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memfas.v3.session import SessionState
    from agent_memfas.v3.topic import Topic, TopicDetector

__all__ = ["SessionState", "Topic", "TopicDetector"]

_HOMES = {"SessionState": "session", "Topic": "topic", "TopicDetector": "topic"}


def __getattr__(name: str) -> object:
    """A public name, from the module where it is at home."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
