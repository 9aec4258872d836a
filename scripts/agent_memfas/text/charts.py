"""Charts as plain SVG: across in percent and down in pixels, so that they fit any width while
their words keep their size. Everything shown is escaped; colours are classes of the page's style.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import floor, log10
from typing import NamedTuple

from agent_memfas.text.lines import safe

TOP, BOTTOM, HEIGHT = 10, 170, 196  # pixels: of the plot, and of the chart with its labels
WIDEST = 9.0  # percent that a bar takes at most
_STEPS = (1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10)
_DOTS = 31  # points that are marked one by one


class Series(NamedTuple):
    """A row of values with its name and its class; None for no value."""

    name: str
    kind: str
    values: Sequence[float | None]


def word(text: str, most: int = 80) -> str:
    """Text of any origin as it can stand in a page: one line, escaped, cut."""
    line = safe(text)
    return escape(line if len(line) <= most else f"{line[: most - 1]}…")


def short(number: float) -> str:
    """A number in a few characters: 1,234 is 1.23k."""
    for size, mark in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            part = number / size
            return f"{part:.3g}{mark}" if part < 999.5 else f"{part:,.0f}{mark}"
    return f"{number:.3g}" if number % 1 and number < 100 else f"{number:.0f}"


def ceiling(number: float) -> float:
    """The next number at or above that reads well on an axis: one of _STEPS times a power of 10."""
    if number <= 0:
        return 1.0
    power = 10.0 ** floor(log10(number))
    return next(step * power for step in _STEPS if step * power >= number * 0.9999)


def stacked(title: str, labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """Bars, one for each label, of parts on top of each other. unit: of the values, in words."""
    totals = [sum(one.values[n] or 0 for one in series) for n in range(len(labels))]
    top = ceiling(max(totals, default=0))
    slot = 100 / max(len(labels), 1)
    width = min(slot * 0.74, WIDEST)
    bars = []
    for n, label in enumerate(labels):
        at, pieces = 0.0, []
        for one in series:
            value = one.values[n] or 0
            high, low = _down(at + value, top), _down(at, top)
            at += value
            if value:
                left = slot * (n + 0.5) - width / 2
                pieces.append(
                    f'<rect class="{one.kind}" x="{left:.3f}%" width="{width:.3f}%" '
                    f'y="{high:.2f}" height="{max(low - high, 0.8):.2f}"/>'
                )
        told = ", ".join(f"{one.name} {one.values[n] or 0:,.0f}" for one in series if one.values[n])
        bars.append(
            f"<g><title>{word(label)}: {word(told or 'nothing')}</title>{''.join(pieces)}</g>"
        )
    return _plot(title, labels, top, unit, "".join(bars))


def lines(title: str, labels: Sequence[str], low: Series, high: Series, unit: str) -> str:
    """Two lines with a band between them. A label without a value is passed over."""
    values = [value for one in (low, high) for value in one.values if value is not None]
    top = ceiling(max(values, default=0))
    slot = 100 / max(len(labels), 1)
    known = [n for n in range(len(labels)) if low.values[n] is not None]

    def points(one: Series) -> list[str]:
        return [f"{slot * (n + 0.5):.3f},{_down(one.values[n] or 0, top) - TOP:.2f}" for n in known]

    under, over = points(low), points(high)
    size = BOTTOM - TOP
    shape = (
        f'<svg y="{TOP}" width="100%" height="{size}" viewBox="0 0 100 {size}" '
        f'preserveAspectRatio="none" class="free">'
        f'<polygon class="band" points="{" ".join([*over, *reversed(under)])}"/>'
        f'<polyline class="{high.kind}" points="{" ".join(over)}"/>'
        f'<polyline class="{low.kind}" points="{" ".join(under)}"/></svg>'
    )
    marks = (_mark(labels, n, (high, low), top, unit, len(known) <= _DOTS) for n in known)
    return _plot(title, labels, top, unit, shape + "".join(marks))


def _mark(
    labels: Sequence[str], n: int, series: Sequence[Series], top: float, unit: str, dotted: bool
) -> str:
    """What a place on the lines says when it is pointed at, and its dots."""
    slot = 100 / len(labels)
    values = [(one, one.values[n] or 0.0) for one in series]
    told = ", ".join(f"{one.name} {value:.1f} {unit}" for one, value in values)
    dots = (
        f'<circle class="{one.kind}" cx="{slot * (n + 0.5):.3f}%" '
        f'cy="{_down(value, top):.2f}" r="3"/>'
        for one, value in values
    )
    return (
        f"<g><title>{word(labels[n])}: {word(told)}</title>"
        f'<rect class="ghost" x="{slot * n:.3f}%" width="{slot:.3f}%" y="{TOP}" '
        f'height="{BOTTOM - TOP}"/>{"".join(dots) if dotted else ""}</g>'
    )


def _down(value: float, top: float) -> float:
    """A value as pixels from the top of the chart."""
    return BOTTOM - (BOTTOM - TOP) * value / top


def _plot(title: str, labels: Sequence[str], top: float, unit: str, inside: str) -> str:
    """A chart with its axes: numbers in a column of their own, three labels below."""
    grid, numbers = [], []
    middle = [top / 2] if unit == "ms" or top % 2 == 0 else []  # half a turn is nothing
    for value in (0.0, *middle, top):
        y = _down(value, top)
        grid.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        numbers.append(f'<text x="44" y="{y + 4:.1f}" text-anchor="end">{short(value)}</text>')
    name = word(f"{title}, {unit}: {labels[0]} to {labels[-1]}" if labels else title)
    return (
        f'<div class="plot"><svg class="axis" width="50" height="{HEIGHT}" aria-hidden="true">'
        f"{''.join(numbers)}</svg>"
        f'<svg class="chart" width="100%" height="{HEIGHT}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(grid)}{inside}{_below(labels)}</svg></div>"
    )


def _below(labels: Sequence[str]) -> str:
    """The first label, the last, and the one in the middle where there is room for it; of three
    labels or fewer each is below what it names.
    """
    ends = {0: ("0", "start"), len(labels) - 1: ("100%", "end")}
    if len(labels) <= 3:
        ends = {n: (f"{100 * (n + 0.5) / len(labels):.1f}%", "middle") for n in range(len(labels))}
    elif len(labels) >= 5 and len(labels) % 2:
        ends[len(labels) // 2] = ("50%", "middle")
    return "".join(
        f'<text x="{x}" y="{HEIGHT - 6}" text-anchor="{anchor}">{word(labels[n])}</text>'
        for n, (x, anchor) in ends.items()
    )  # fmt: skip


def share(value: float, most: float) -> str:
    """A bar across, as long as its part of `most`."""
    percent = 100 * value / most if most else 0
    return (
        '<svg class="share" width="100%" height="6" aria-hidden="true">'
        '<rect class="rail" width="100%" height="6" rx="3"/>'
        f'<rect class="saved" width="{max(percent, 1):.2f}%" height="6" rx="3"/></svg>'
    )


def spark(values: Sequence[int], say: Callable[[int], str]) -> str:
    """Small bars of one row over time. say: the words for the n-th of them."""
    top = max(values, default=0) or 1
    slot = 100 / max(len(values), 1)
    width = min(slot * 0.8, 12)
    bars = "".join(
        f'<rect class="saved" x="{slot * (n + 0.5) - width / 2:.2f}%" width="{width:.2f}%" '
        f'y="{22 - 20 * value / top:.1f}" height="{20 * value / top:.1f}">'
        f"<title>{word(say(n))}</title></rect>"
        for n, value in enumerate(values) if value
    )  # fmt: skip
    return (
        '<svg class="spark" width="100%" height="23" aria-hidden="true">'
        f'<line class="grid" x1="0" x2="100%" y1="22.5" y2="22.5"/>{bars}</svg>'
    )
