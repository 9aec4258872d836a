"""Language models: what turns a prompt into text that has been checked, or says why there is none.

Everything that is sent goes through `redaction` first. Nothing here loads its library before a
prompt is asked.
"""

from __future__ import annotations

from agent_memfas.llm.base import BadReply, Call, LanguageModel, Prompt
from agent_memfas.llm.choice import LlmChoice
from agent_memfas.llm.opening import open_model

__all__ = ["BadReply", "Call", "LanguageModel", "LlmChoice", "Prompt", "open_model"]
