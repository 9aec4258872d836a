"""The telemetry report: one HTML page that needs nothing else, neither a network nor scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from agent_memfas.text.charts import Series, lines, share, short, spark, stacked, word
from agent_memfas.text.report_figures import LEVELS, OTHER, Figures, Row
from agent_memfas.text.report_style import STYLE

MARK = "<!doctype html>\n<!-- memfas telemetry report -->\n"  # how a report of ours begins
# Whatever a line of telemetry might smuggle in: a browser runs nothing and fetches nothing here.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(name: str, made: str, found: Figures, unreadable: int = 0) -> str:
    """The report as a document. name: of the memory folder. made: when, in words. unreadable: lines
    that are no telemetry.
    """
    cards = [*_over_time(found), *_lists(found)]
    left_out = f" Left out: {_count(unreadable, 'unreadable line')}." if unreadable else ""
    return (
        f'{MARK}<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Telemetry of {word(name)}</title>\n<style>{STYLE}</style>\n</head>\n"
        "<body>\n<main>\n"
        f"{_head(name, found)}\n{_tiles(found) if cards else _nothing()}\n"
        f'<div class="cards">\n{"".join(cards)}</div>\n'
        f"<footer>Made {word(made)} by <code>memfas telemetry report</code>.{left_out}</footer>\n"
        "</main>\n</body>\n</html>\n"
    )


def _head(name: str, found: Figures) -> str:
    told = [
        found.period,
        _count(found.turns, "turn"),
        f"{_count(found.sessions, 'session')}" if found.turns else "",
    ]
    line = " · ".join(word(part) for part in told if part)
    return (
        f'<header><p class="brand">memfas telemetry</p><h1>{word(name)}</h1><p>{line}</p></header>'
    )


def _nothing() -> str:
    return (
        '<div class="cards"><section class="card wide"><h2>Nothing yet</h2><p>Telemetry begins'
        " with the first <code>memfas curate</code>, or the first question to a model."
        "</p></section></div>"
    )


def _tiles(found: Figures) -> str:
    tiles = []
    if found.turns:
        percent = 100 * found.saved / max(found.baseline, 1)
        saved = f"{percent:.1f} % of {short(found.baseline)} without memfas"
        tiles = [
            ("Tokens saved", short(found.saved), saved) if found.baseline
            else ("Tokens saved", "unknown", "no turn said what it would have sent"),
            ("Tokens given", short(found.given), f"{found.given / found.turns:,.0f} a turn"),
            ("Latency", f"{_ms(found.median)} ms", f"median; 95 % under {_ms(found.slow)} ms"),
            ("Topics", f"{found.different[0]:,}", _count(found.shifts, "shift")),
        ]  # fmt: skip
    if found.spent:
        tokens = sum(one.prompt + one.completion for one in found.spent)
        costs = [one.cost for one in found.spent if one.cost is not None]
        cost = f", cost {sum(costs):.4f}" if costs else ""
        asked = _count(sum(one.calls for one in found.spent), "question")
        tiles.append(("Tokens of models", short(tokens), f"{asked}{cost}"))
    inside = "".join(
        f'<div class="tile"><h2>{head}</h2><strong>{word(figure)}</strong><p>{word(told)}</p></div>'
        for head, figure, told in tiles
    )
    return f'<div class="tiles">{inside}</div>'


def _over_time(found: Figures) -> list[str]:
    """Charts with time across: tokens, latency, levels. None without turns."""
    if not found.turns:
        return []
    labels, per = [span.label for span in found.spans], f"by {found.unit}"
    saved = Series("saved", "saved", [span.saved for span in found.spans])
    given = Series("given", "given", [span.given for span in found.spans])
    median = Series("median", "saved", [span.median for span in found.spans])
    slow = Series("95 % under", "slow", [span.slow for span in found.spans])
    names = (*LEVELS, OTHER)
    levels = [
        Series(name, f"l{n + 1}", [span.levels[n] for span in found.spans])
        for n, name in enumerate(names)
        if any(span.levels[n] for span in found.spans)
    ]
    bare = f" {_count(found.bare, 'turn')} had no baseline: nothing saved is counted for them."
    told = f"What was given, and what of the baseline was not sent.{bare if found.bare else ''}"
    heads = (f"Tokens saved {per}", f"Latency {per}", f"Turns {per} and level")
    return [
        _card(heads[0], told, stacked(heads[0], labels, (given, saved), "tokens"), (saved, given),
              _table(found.unit, labels, (given, saved)), wide=True),
        _card(heads[1], "From the question to the curated context.",
              lines(heads[1], labels, median, slow, "ms"), (median, slow),
              _table(found.unit, labels, (median, slow), _ms)),
        _card(heads[2], _favourite(levels), stacked(heads[2], labels, levels, "turns"), levels,
              _table(found.unit, labels, levels)),
    ]  # fmt: skip


def _favourite(levels: Sequence[Series]) -> str:
    totals = {one.name: sum(n or 0 for n in one.values) for one in levels}
    name = max(totals, key=lambda one: totals[one])
    return f"{100 * totals[name] / sum(totals.values()):.0f} % of all turns at {name}."


def _lists(found: Figures) -> list[str]:
    """Cards with a row for each name: topics, beside them files and commands that ask models."""
    shifts = f"{_count(found.different[0], 'topic')}, {_count(found.shifts, 'shift')}."
    files = f"Files of the best passages, {found.different[1]:,} in all."
    labels = [span.label for span in found.spans]

    def card(head: str, told: str, rows: Sequence[Row], unit: str, table: str = "") -> str:
        most = max((row.count for row in rows), default=0)
        items = "".join(_row(row, most, labels, unit) for row in rows)
        return _card(head, told, f'<ul class="rows">{items}</ul>', (), table) if rows else ""

    models = "Tokens of prompts and answers, by command."
    left = card("Topics", shifts, found.topics, "turns")
    right = card("Where hits come from", files, found.sources, "turns") + card(
        "Models", models, found.models, "tokens", _spent(found)
    )
    return [f'<div class="stack">{column}</div>' for column in (left, right) if column]


def _row(row: Row, most: int, labels: Sequence[str], unit: str) -> str:
    note = f"<small>{word(row.note)}</small>" if row.note else ""
    small = spark(row.over, lambda n: f"{labels[n]}: {row.over[n]:,} {unit}")
    return (
        f'<li><span class="name">{word(row.name)}{note}{share(row.count, most)}</span>{small}'
        f'<b title="{row.count:,} {unit}">{short(row.count)}</b></li>\n'
    )


def _spent(found: Figures) -> str:
    rows = [
        (one.command, f"{one.calls:,}", f"{one.failed:,}", f"{one.prompt:,}",
         f"{one.completion:,}", "" if one.cost is None else f"{one.cost:.4f}")
        for one in found.spent
    ]  # fmt: skip
    return _as_table(("command", "questions", "failed", "tokens in", "tokens out", "cost"), rows)


def _card(
    head: str, told: str, chart: str, legend: Sequence[Series], table: str, *, wide: bool = False
) -> str:
    keys = "".join(
        f'<li><svg aria-hidden="true"><rect class="{one.kind}" width="11" height="11" rx="2.5"/>'
        f"</svg>{word(one.name)}</li>"
        for one in legend
    )
    shown = f'<ul class="legend">{keys}</ul>' if keys else ""
    return (
        f'<section class="card{" wide" if wide else ""}"><h2>{word(head)}</h2>'
        f"<p>{word(told, 200)}</p>{shown}{chart}{table}</section>\n"
    )


def _table(
    unit: str, labels: Sequence[str], series: Sequence[Series],
    say: Callable[[float], str] = lambda value: f"{value:,.0f}",
) -> str:  # fmt: skip
    """The figures of a chart; spans in which nothing was done are left out."""
    rows = [
        (label, *(say(one.values[n] or 0) for one in series))
        for n, label in enumerate(labels) if any(one.values[n] for one in series)
    ]  # fmt: skip
    return _as_table((unit, *(one.name for one in series)), rows)


def _as_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = "".join(f'<th scope="col">{word(name)}</th>' for name in head)
    lines_ = "".join(
        f"<tr>{''.join(f'<td>{word(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return (
        '<details><summary>As a table</summary><div class="scroll" tabindex="0"><table><thead><tr>'
        f"{names}</tr></thead><tbody>\n{lines_}</tbody></table></div></details>"
    )


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
