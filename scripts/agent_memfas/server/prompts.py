"""Prompts: where something belongs (Q1 to Q3), and a handover at the end of a session."""

from __future__ import annotations

from agent_memfas.errors import UsageError
from agent_memfas.text.record import Record

Q = """Decide where this belongs, then write it down with the tools of memfas:

Q1. Will I make mistakes without it next time? Then memory_add with priority P0.
Q2. Might I look it up some day? Then memory_add with priority P1 (P2 where it counts for a month).
Q3. Neither? Then memory_log: the day's log is enough.

One fact, one sentence, with names, numbers and dates. No secrets. If it corrects what is known,
memory_recall it first and use memory_supersede. Say in one line what you wrote and where."""
HANDOVER = """Hand over to whoever goes on, which may be you without this conversation:

1. memory_log what was done and decided today, a line each, with names, paths and numbers.
2. memory_add what will be needed again (Q1: P0, Q2: P1).
3. Write SESSION-STATE.md: the current task, its state, what is to be confirmed, files, open items.
4. memory_expiring: say which entries should be kept.

Answer with the new SESSION-STATE.md and nothing else."""


class Prompt(Record):
    """A prompt. argument: its name and what it is, "" where it takes none."""

    name: str
    title: str
    about: str
    argument: str = ""
    argument_about: str = ""


PROMPTS = (
    Prompt("remember", "Remember this", "Decide by three questions where something belongs.",
           "text", "What is to be remembered; left out: the conversation so far."),
    Prompt("handover", "Handover", "Save what the next session needs.", "task",
           "What is being done."),
)  # fmt: skip


def text_of(name: str, given: dict[str, str]) -> str:
    """The text of a prompt. UsageError where there is none of that name."""
    if name == "remember":
        what = given.get("text") or "what is worth keeping of our conversation so far"
        return f"{Q}\n\nThis: {what}"
    if name == "handover":
        task = given.get("task")
        return f"{HANDOVER}\n\nThe task: {task}" if task else HANDOVER
    raise UsageError(f"there is no prompt {name}", "there are remember and handover")
