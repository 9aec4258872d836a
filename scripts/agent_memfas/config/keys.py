"""The keys of memfas.yaml: what each must be, and what holds where it is not there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from agent_memfas.text.rights import is_name

LONGEST_TERM = 36_500
BACKENDS = ("fts5", "embedding", "hybrid", "auto", "milvus")
MILVUS = BACKENDS[4]
EMBEDDERS = ("fastembed", "ollama", "openai", "offline")
WRITERS = ("extract", "model")
CONTENTS = ("full", "hashed", "none")


def _days(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LONGEST_TERM


def _seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 3600


def _count(value: Any) -> bool:
    return type(value) is int and value > 0


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 10**9


def _number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < float("inf")


def _maybe_number(value: Any) -> bool:
    return value is None or _number(value)


def _timeout(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= 3600


def _temperature(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 2


def _tokens(value: Any) -> bool:
    return type(value) is int and 16 <= value <= 100_000_000


def _maybe_tokens(value: Any) -> bool:
    return value is None or _tokens(value)


def is_text(value: Any) -> bool:
    """Whether it is text with more in it than white space."""
    return isinstance(value, str) and bool(value.strip())


def _maybe_text(value: Any) -> bool:
    return value is None or is_text(value)


def _maybe_address(value: Any) -> bool:
    return value is None or (is_text(value) and re.match(r"https?://[^/\s]", value) is not None)


def _maybe_variable(value: Any) -> bool:
    """Names of variables are in capitals, keys are not: one that is pasted here is noticed."""
    fits = isinstance(value, str) and re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", value)
    return value is None or bool(fits)


def _maybe_name(value: Any) -> bool:
    fits = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", value)
    return value is None or bool(fits)


def _maybe_scope(value: Any) -> bool:
    fits = isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", value)
    return value is None or bool(fits)


def _one_of(*allowed: Any) -> Callable[[Any], bool]:
    return lambda value: type(value) in map(type, allowed) and value in allowed


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(is_text(item) for item in value)


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) and is_name(v) for v in value)


def _scopes(value: Any) -> bool:
    return isinstance(value, dict) and _names(list(value)) and all(map(_texts, value.values()))


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


class Key(NamedTuple):
    """A key of memfas.yaml: what a value must be, as a test and in words. shown: whether a wrong
    one may be repeated to the user.
    """

    fits: Callable[[Any], bool]
    words: str
    shown: bool = True


KEYS: dict[str, Key] = {
    "db_path": Key(is_text, "a path"),
    "sources": Key(_list, "a list of {path, type, always_load}"),
    "triggers": Key(_list, "a list of {keyword, hint, memory_ids}"),
    "triggers_file": Key(_maybe_text, "a path"),
    "timezone": Key(is_text, "a time zone such as Europe/Berlin, or local"),
    "search.backend": Key(_one_of(*BACKENDS), " or ".join(BACKENDS)),
    "search.max_results": Key(_count, "a whole number above 0"),
    "search.recency_weight": Key(_number, "a number from 0"),
    "search.min_score": Key(_number, "a number from 0"),
    "search.embedder_type": Key(_one_of(*EMBEDDERS, None), " or ".join(EMBEDDERS)),
    "search.embedder_model": Key(_maybe_text, "a model's name"),
    "search.uri": Key(_maybe_text, "the address of a Milvus server, or a path", shown=False),
    "search.token_env": Key(
        _maybe_variable, "the name of an environment variable such as MILVUS_TOKEN", shown=False
    ),
    "search.collection": Key(_maybe_name, "letters, digits and _, a letter first"),
    "search.namespace": Key(_maybe_scope, "letters, digits and ._-, 128 at most"),
    "search.push": Key(_one_of(True, False, None), "true or false"),
    "search.base_url": Key(_maybe_address, "an address such as http://localhost:8000/v1"),
    "search.api_key_env": Key(
        _maybe_variable, "the name of an environment variable such as OPENAI_API_KEY", shown=False
    ),
    "compounding.threshold": Key(_whole, "a whole number from 0"),
    "compounding.after_days": Key(_whole, "a whole number of days from 0"),
    "compounding.ratio": Key(_count, "a whole number above 0"),
    "llm.model": Key(_maybe_text, "PROVIDER/NAME, a model's name, or none"),
    "llm.base_url": Key(_maybe_address, "an address such as http://localhost:8000/v1"),
    "llm.api_key_env": Key(
        _maybe_variable, "the name of an environment variable such as OPENAI_API_KEY", shown=False
    ),
    "llm.timeout": Key(_timeout, "seconds above 0, at most 3600"),
    "llm.max_tokens": Key(_tokens, "a whole number of tokens from 16"),
    "llm.temperature": Key(_temperature, "a number from 0 to 2"),
    "llm.window": Key(_maybe_tokens, "a whole number of tokens from 16"),
    "llm.command": Key(_maybe_text, "a program and its arguments", shown=False),
    "llm.price_in": Key(_maybe_number, "the price of a million tokens, a number from 0"),
    "llm.price_out": Key(_maybe_number, "the price of a million tokens, a number from 0"),
    "abstracts.writer": Key(_one_of(*WRITERS), " or ".join(WRITERS)),
    "telemetry.enabled": Key(_one_of(True, False), "true or false"),
    "telemetry.content": Key(_one_of(*CONTENTS), " or ".join(CONTENTS)),
    **{
        f"context.{name}": Key(_share, "a number from 0 to 1")
        for name in (
            "compaction_trigger_pct",
            "max_context_pct",
            "curation_trigger_pct",
        )
    },
    **{
        f"context.{name}": Key(_number, "a number from 0")
        for name in (
            "relevance_cutoff",
            "relevance_keep_threshold",
            "memfas_weight",
            "recency_bonus",
            "importance_bonus",
            "memfas_min_score",
        )
    },
    **{
        f"context.{name}": Key(_one_of(True, False), "true or false")
        for name in (
            "auto_compact",
            "cold_storage_enabled",
            "summarize_medium_chunks",
            "log_compaction",
            "log_curation",
            "log_drops",
            "log_health",
            "log_recovery",
            "drop_notice",
        )
    },
    "context.min_chunks_to_keep": Key(_whole, "a whole number from 0"),
    "context.recoverable_days": Key(_days, "a whole number of days from 0 to 36500"),
    "context.summary_target_tokens": Key(_count, "a whole number above 0"),
    "context.summary_model": Key(_maybe_text, "PROVIDER/NAME, llm, extractive or none"),
    "context.cold_storage_path": Key(is_text, "a path"),
    "context.log_path": Key(is_text, "a path"),
    "agents.writers": Key(_names, "a list of agents' names"),
    "agents.private": Key(_scopes, "a mapping of agents' names to lists of paths"),
    "agents.read_only": Key(_texts, "a list of paths"),
    "hooks.session_tokens": Key(_whole, "a whole number of tokens from 0"),
    "hooks.prompt_tokens": Key(_whole, "a whole number of tokens from 0"),
    "hooks.capture": Key(_one_of(True, False), "true or false"),
    "index.budget": Key(_whole, "a whole number of milliseconds from 0"),
    "janitor.ttl_p1": Key(_days, "a whole number of days from 0 to 36500"),
    "janitor.ttl_p2": Key(_days, "a whole number of days from 0 to 36500"),
    "janitor.files": Key(_texts, "a list of paths"),
    "abstracts.auto": Key(_one_of(True, False), "true or false"),
    "writing.quiet": Key(_seconds, "seconds from 0 to 3600"),
    "writing.patience": Key(_seconds, "seconds from 0 to 3600"),
}
DEFAULTS: dict[str, Any] = {
    "db_path": ".memfas/index.db", "sources": [], "triggers": [], "triggers_file": None,
    "timezone": "local", "search.backend": "fts5", "search.max_results": 5,
    "search.recency_weight": 0.3, "search.min_score": 0.0, "search.embedder_type": None,
    "search.embedder_model": None, "search.base_url": None, "search.uri": None,
    "search.token_env": "MILVUS_TOKEN", "search.collection": "memfas", "search.namespace": None,
    "search.push": True,
    "search.api_key_env": "OPENAI_API_KEY", "llm.model": "none", "llm.base_url": None,
    "llm.api_key_env": None, "llm.timeout": 120, "llm.max_tokens": 4096, "llm.temperature": 0.3,
    "llm.window": None, "llm.command": None, "llm.price_in": None, "llm.price_out": None,
    "abstracts.auto": True, "abstracts.writer": "extract", "compounding.threshold": 150,
    "compounding.after_days": 7, "compounding.ratio": 10, "index.budget": 200, "janitor.ttl_p1": 90,
    "janitor.ttl_p2": 30, "janitor.files": [], "writing.quiet": 2, "writing.patience": 60,
    "telemetry.enabled": True, "telemetry.content": "full",
    "context.compaction_trigger_pct": 0.5, "context.max_context_pct": 0.85,
    "context.auto_compact": True, "context.relevance_cutoff": 0.3,
    "context.relevance_keep_threshold": 0.7, "context.memfas_weight": 0.6,
    "context.recency_bonus": 0.2, "context.importance_bonus": 0.1, "context.min_chunks_to_keep": 5,
    "context.memfas_min_score": 0.05, "context.curation_trigger_pct": 0.4,
    "context.cold_storage_enabled": True, "context.cold_storage_path": "./cold-storage/",
    "context.recoverable_days": 30, "context.summarize_medium_chunks": True,
    "context.summary_target_tokens": 500, "context.summary_model": "minimax/MiniMax-M2.1",
    "context.drop_notice": True, "context.log_path": "./logs/context/",
    "agents.writers": [], "agents.private": {}, "agents.read_only": [],
    "hooks.session_tokens": 2000, "hooks.prompt_tokens": 500, "hooks.capture": True,
    "context.log_compaction": True, "context.log_curation": True, "context.log_drops": True,
    "context.log_health": True, "context.log_recovery": True,
}  # fmt: skip
LENIENT = "context."  # of this section keys that nobody knows are passed over, as agent-memfas does
SECTIONS = frozenset(key.partition(".")[0] for key in KEYS if "." in key)
TRIGGER_KEYS = ("keyword", "hint", "memory_ids")
SOURCE_KEYS = ("path", "type", "always_load")
TYPES = ("markdown", "json", "text")
