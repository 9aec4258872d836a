"""The curator: for each turn of a conversation, the context that is worth its tokens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_memfas.embedders.base import Embedder
from agent_memfas.errors import UsageError
from agent_memfas.memory import Memory
from agent_memfas.store import turns as sessions
from agent_memfas.tasks import curation as curating
from agent_memfas.tasks.curation import Curation, Wish
from agent_memfas.tasks.recall import Answer
from agent_memfas.text.choosing import choose_level
from agent_memfas.text.counting import Counter, counter
from agent_memfas.text.turns import shifted, topic_of
from agent_memfas.text.valuing import Weights, similarity
from agent_memfas.v3.levels import AUTO, LEVEL_PRESETS, LevelPreset, resolve_level
from agent_memfas.v3.response import ContextResponse

POOL = 120  # hits that are looked at for a turn
LEAST_BUDGET = 100
DEFAULT_SESSION = "default"
TELEMETRY = "memfas-telemetry.jsonl"
