"""Fixtures of the tests of context management."""

from __future__ import annotations

from context.agents import managed

__all__ = ["managed"]
