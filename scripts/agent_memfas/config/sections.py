"""Sections of memfas.yaml as values, each with its defaults."""

from __future__ import annotations

from typing import NamedTuple

from agent_memfas.config.keys import CONTENTS


class Compounding(NamedTuple):
    """When it is time to reflect: at that importance of all that waits, or when the oldest of it is
    so many days old. ratio: without a model, tokens of a log beyond its first 1,000 for each of
    insight.
    """

    threshold: int = 150
    after_days: int = 7
    ratio: int = 10


class Hooks(NamedTuple):
    """What agent hosts are given: tokens at the start of a session and with a prompt, 0 for
    nothing; whether what was said goes to the day's log.
    """

    session_tokens: int = 2000
    prompt_tokens: int = 500
    capture: bool = True


class Telemetry(NamedTuple):
    """What is written to telemetry: whether at all, and what of words, one of CONTENTS."""

    enabled: bool = True
    content: str = CONTENTS[0]
