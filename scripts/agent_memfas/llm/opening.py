"""From the settings to a model."""

from __future__ import annotations

from collections.abc import Callable

from agent_memfas.errors import ConfigError
from agent_memfas.llm.base import Call, LanguageModel, Limits
from agent_memfas.llm.choice import NONE, UNKNOWN_WINDOW, LlmChoice, target_of
from agent_memfas.llm.client import ChatModel
from agent_memfas.llm.program import ProgramModel


def open_model(
    choice: LlmChoice, tell: Callable[[Call], None], key: str = ""
) -> LanguageModel | None:
    """The model that the settings name, None for none. Nothing is asked, looked up or loaded yet.

    tell: is given each finished question. key: of the server, "" for that of its variable.
    ConfigError where the settings fit no model.
    """
    if choice.is_none:
        return None
    name = (choice.model or NONE).strip()
    if choice.command:
        named = "" if name.lower() == NONE else name
        limits = _limits(choice, choice.window or UNKNOWN_WINDOW)
        return ProgramModel(named, choice.command, limits, tell)
    target = target_of(choice)
    return ChatModel(name, target, _limits(choice, target.window), choice.temperature, tell, key)


def _limits(choice: LlmChoice, window: int) -> Limits:
    """An answer may take half of a window at most, unless both are set."""
    longest = choice.max_tokens
    if choice.window is None:
        longest = min(longest, window // 2)
    if longest >= window:
        raise ConfigError(
            f"llm.max_tokens {longest} leaves nothing of llm.window {window} for a prompt",
            "the window is that of prompt and answer together",
        )
    return Limits(choice.timeout, window, longest, (choice.price_in, choice.price_out))
