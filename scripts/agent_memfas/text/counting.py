"""Counters of tokens."""

from __future__ import annotations

from collections.abc import Callable

Counter = Callable[[str], int]
