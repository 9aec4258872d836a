"""The plan of a compaction: the formula, the thresholds, the floor, the sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.compacting import (
    DROP,
    FREE,
    KEEP,
    NEAR,
    PINNED,
    SUMMARIZE,
    Bounds,
    Chunk,
    classify,
    plan,
    score,
    summary_target,
)

WEIGHTS = (0.6, 0.2, 0.1)


def bounds(trigger: int = 1000, most: int = 1700, floor: int = 0, **more: bool) -> Bounds:
    return Bounds(0.3, 0.7, floor, trigger, most, **more)


@pytest.mark.parametrize(("similarity", "hours", "important", "value"), [
    (1, 0, True, 0.9), (0, 0, False, 0.2), (0.5, 6, False, 0.3 + 0.2 * 0.36788),
    (0, 24, True, 0.1 + 0.2 * 0.01832), (1, -5, False, 0.8), (0, 1e9, False, 0.0),
])  # fmt: skip
def test_the_formula_of_the_reference(
    similarity: float, hours: float, important: bool, value: float
) -> None:
    """0.6 similarity + 0.2 exp(-hours / 6) + 0.1 importance; 6 hours leave 37 %, a day 2 %."""
    assert score(similarity, hours, important, WEIGHTS) == pytest.approx(value, abs=1e-4)


def test_the_borders_belong_to_keep_and_drop() -> None:
    """From 0.7 on it is kept, up to 0.3 it is dropped."""
    found = [classify(value, 0.3, 0.7) for value in (0.7, 0.699, 0.301, 0.3)]
    assert found == [KEEP, SUMMARIZE, SUMMARIZE, DROP]


def test_thresholds_decide_what_is_free() -> None:
    """What is pinned or near stays, whatever its score."""
    chunks = [Chunk(10, 0.1, 5, PINNED), Chunk(10, 0.1, 5, NEAR), Chunk(10, 0.1, 5),
              Chunk(10, 0.5, 5), Chunk(10, 0.8, 5)]  # fmt: skip
    found = plan(chunks, [(n,) for n in range(5)], bounds())
    assert found.actions == (KEEP, KEEP, DROP, SUMMARIZE, KEEP)
    assert found.tokens == 10 + 10 + 0 + 5 + 10


def test_the_floor_shortens_the_best_of_what_would_go() -> None:
    """Five are left, pinned ones among them, the newest of equal ones first."""
    chunks = [Chunk(10, 0.1, 5, PINNED), *(Chunk(10, 0.1 + n / 100, 5) for n in range(8))]
    found = plan(chunks, [(n,) for n in range(9)], bounds(floor=5))
    assert found.actions == (KEEP, DROP, DROP, DROP, DROP, *[SUMMARIZE] * 4)


def test_all_are_relevant_and_the_result_is_under_the_trigger() -> None:
    """The least relevant ones are shortened first, then dropped; with something to spare."""
    chunks = [Chunk(100, 0.8 + n / 1000, 40) for n in range(20)]
    found = plan(chunks, [(n,) for n in range(20)], bounds(floor=5))
    assert found.tokens <= 800
    assert found.pressed == frozenset(range(20))
    assert found.actions.count(DROP) == 0
    chunks = [Chunk(100, 0.8, 100) for n in range(20)]
    found = plan(chunks, [(n,) for n in range(20)], bounds(floor=5))
    assert found.tokens <= 800
    assert found.actions[:12] == (DROP,) * 12


def test_what_is_near_goes_only_where_the_window_is_full() -> None:
    """It is shortened for the trigger, and dropped only over max_context_pct."""
    chunks = [Chunk(600, 0.0, 550, NEAR), Chunk(600, 0.0, 550, NEAR), Chunk(100, 0, 100, PINNED)]
    groups = [(0,), (1,), (2,)]
    assert plan(chunks, groups, bounds()).actions == (SUMMARIZE, SUMMARIZE, KEEP)
    assert plan(chunks, groups, bounds(most=1100)).actions == (DROP, SUMMARIZE, KEEP)
    assert plan(chunks, groups, bounds(most=50)).actions == (DROP, DROP, KEEP)


def test_where_nothing_can_be_kept_scores_alone_drop_nothing() -> None:
    """Without cold storage only the size drops."""
    chunks = [Chunk(100, 0.0, 100) for _ in range(5)]
    groups = [(n,) for n in range(5)]
    assert plan(chunks, groups, bounds(may_drop=False)).actions == (SUMMARIZE,) * 5
    assert plan(chunks, groups, bounds(trigger=400, may_drop=False)).actions.count(DROP) == 2


def test_how_long_a_summary_may_be() -> None:
    """40 % of the chunk, at most the target, and never more than the chunk."""
    assert [summary_target(n, 500) for n in (10, 50, 1000, 10_000)] == [10, 24, 400, 500]


STANDINGS = st.sampled_from([FREE, FREE, FREE, NEAR, PINNED])
CHUNKS = st.builds(
    lambda tokens, score, share, standing: Chunk(tokens, score, int(tokens * share), standing),
    st.integers(0, 300), st.floats(0, 0.9), st.floats(0, 1), STANDINGS,
)  # fmt: skip


@given(st.lists(CHUNKS, max_size=30), st.lists(st.integers(1, 4), max_size=30), st.integers(1, 3000),
       st.integers(0, 8))  # fmt: skip
def test_every_plan_keeps_its_promises(
    chunks: list[Chunk], sizes: list[int], trigger: int, floor: int
) -> None:
    """Groups whole, pinned ones kept, near ones not dropped under the limit, the sum right, and the
    result under the trigger wherever what is pinned or near allows it."""
    groups, at = [], 0
    for size in [*sizes, *[1] * len(chunks)]:
        if at < len(chunks):
            groups.append(tuple(range(at, min(at + size, len(chunks)))))
            at = groups[-1][-1] + 1
    found = plan(chunks, groups, Bounds(0.3, 0.7, floor, trigger, 2 * trigger))
    size = {KEEP: lambda c: c.tokens, SUMMARIZE: lambda c: c.short, DROP: lambda c: 0}
    pairs = list(zip(chunks, found.actions, strict=True))
    assert found.tokens == sum(size[action](chunk) for chunk, action in pairs)
    fixed = 0
    for group in groups:
        actions = {found.actions[n] for n in group}
        assert len(actions) == 1
        standings = {chunks[n].standing for n in group}
        if PINNED in standings:
            assert actions == {KEEP}
            fixed += sum(chunks[n].tokens for n in group)
        elif NEAR in standings:
            fixed += sum(chunks[n].short for n in group)
    assert found.tokens < trigger or found.tokens <= max(fixed, int(0.8 * trigger))
