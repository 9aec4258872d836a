"""The five levels of curation: how much context a turn is given, and how good it must be."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memfas.errors import UsageError


@dataclass(frozen=True)
class LevelPreset:
    """A level. token_budget: tokens of the whole context. min_score: what a memory must score, 0 to
    1. max_results: memories at most. recency_weight: replaces that of the base weights.
    """

    level: int
    name: str
    token_budget: int
    min_score: float
    max_results: int
    recency_weight: float
    description: str


LEVEL_PRESETS: dict[int, LevelPreset] = {
    preset.level: preset
    for preset in (
        LevelPreset(1, "minimal", 300, 0.75, 3, 0.10,
                    "Only near-exact matches. Fast, cheap, risky."),
        LevelPreset(2, "lean", 800, 0.55, 6, 0.15, "High-confidence matches only."),
        LevelPreset(3, "balanced", 1500, 0.40, 10, 0.20,
                    "Default. Good coverage, reasonable cost."),
        LevelPreset(4, "rich", 3000, 0.25, 18, 0.25, "Include 'probably relevant' stuff."),
        LevelPreset(5, "full", 5000, 0.10, 30, 0.30, "Kitchen sink. Safe but expensive."),
    )
}  # fmt: skip
LEVEL_NAMES: dict[str, int] = {preset.name: n for n, preset in LEVEL_PRESETS.items()}
DEFAULT_LEVEL = 3
AUTO = "auto"


def resolve_level(level: int | str | None = None) -> int:
    """1 to 5 for a level: a number (held to that range), a name, digits, or `auto` and None, which
    stand for DEFAULT_LEVEL where no question is there to choose by. UsageError for anything else.
    """
    if level is None:
        return DEFAULT_LEVEL
    if isinstance(level, bool) or not isinstance(level, (int, str)):
        raise _unknown(level)
    if isinstance(level, int):
        return max(1, min(5, level))
    name = level.strip().lower()
    if name == AUTO:
        return DEFAULT_LEVEL
    if name in LEVEL_NAMES:
        return LEVEL_NAMES[name]
    if name.removeprefix("-").isascii() and name.removeprefix("-").isdigit() and len(name) < 10:
        return max(1, min(5, int(name)))
    raise _unknown(level)


def _unknown(level: object) -> UsageError:
    return UsageError(f"{level!r} is no level", f"1 to 5, {', '.join(LEVEL_NAMES)} or {AUTO}")


def get_preset(level: int | str | None = None) -> LevelPreset:
    """The preset of a level, named as for `resolve_level`."""
    return LEVEL_PRESETS[resolve_level(level)]


def describe_levels() -> str:
    """All levels as a table for people, a line each."""
    lines = ["Curation levels:"]
    for n, preset in LEVEL_PRESETS.items():
        mark = " (default)" if n == DEFAULT_LEVEL else ""
        lines.append(
            f"  {n} {preset.name:<9} {preset.token_budget:>5} tokens, score >= "
            f"{preset.min_score:.2f}, at most {preset.max_results}: {preset.description}{mark}"
        )
    lines.append("  auto      chosen for each question by how its scores fall off")
    return "\n".join(lines)
