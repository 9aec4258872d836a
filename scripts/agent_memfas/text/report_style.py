"""The style of the telemetry report: one column on a phone, two on a desk, light and dark."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --ink: #1a2233; --soft: #5a6478; --edge: #e3e6ec;
  --grid: #e6e9ef; --saved: #1c7c74; --given: #e0873a; --slow: #7d8aa5; --band: #1c7c7422;
  --l1: #a6d3cb; --l2: #76b9af; --l3: #4fa59a; --l4: #1c7c74; --l5: #0c4f4b; --l6: #9aa3b5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11151c; --card: #1a2029; --ink: #e7ebf2; --soft: #9ba6ba; --edge: #2a323f;
    --grid: #2b3341; --saved: #4fb8ab; --given: #e8a05c; --slow: #8290ab; --band: #4fb8ab26;
    --l1: #2c5f5b; --l2: #37807a; --l3: #46a094; --l4: #72c6ba; --l5: #c3ece5; --l6: #6b7587;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans",
    "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
main { max-width: 1080px; margin: 0 auto; padding: 28px 18px 40px; }
header p { margin: 0; color: var(--soft); }
header .brand {
  font-size: 13px; font-weight: 600; letter-spacing: .08em; text-transform: uppercase;
  color: var(--saved);
}
h1 { margin: 2px 0 4px; font-size: clamp(24px, 5vw, 34px); line-height: 1.15; font-weight: 680; }
h2 { margin: 0; font-size: 18px; line-height: 1.3; font-weight: 650; }
.tiles, .cards { display: grid; gap: 14px; margin-top: 18px; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(min(100%, 158px), 1fr)); }
.cards { grid-template-columns: minmax(0, 1fr); }
.stack { display: grid; gap: 14px; min-width: 0; grid-template-columns: minmax(0, 1fr); }
.tile, .card {
  background: var(--card); border: 1px solid var(--edge); border-radius: 12px; min-width: 0;
}
.tile { padding: 14px 16px; }
.tile h2 { font-size: 14px; font-weight: 500; color: var(--soft); }
.tile strong { display: block; font-size: 28px; line-height: 1.25; font-weight: 680; }
.tile p, .card p { margin: 0; font-size: 14px; color: var(--soft); }
.card { padding: 18px 18px 14px; }
@media (min-width: 760px) {
  .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: start; }
  .wide { grid-column: 1 / -1; }
}
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 10px 0 0; padding: 0;
  list-style: none; font-size: 13px; color: var(--soft); }
.legend svg { width: 11px; height: 11px; margin-right: 6px; vertical-align: -1px; }
.plot { display: flex; margin-top: 8px; }
.plot .axis { flex: none; } .plot .chart { flex: 1; min-width: 0; overflow: visible; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  fill: var(--soft); }
.grid { stroke: var(--grid); stroke-width: 1; }
.ghost { fill: transparent; } g:hover > .ghost { fill: var(--band); }
g:hover > rect:not(.ghost), g:hover > circle { opacity: .78; }
.free { overflow: visible; }
polyline { fill: none; stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.band { fill: var(--band); }
rect.saved, circle.saved { fill: var(--saved); } polyline.saved { stroke: var(--saved); }
rect.given { fill: var(--given); }
rect.slow, circle.slow { fill: var(--slow); } polyline.slow { stroke: var(--slow); }
rect.l1 { fill: var(--l1); } rect.l2 { fill: var(--l2); } rect.l3 { fill: var(--l3); }
rect.l4 { fill: var(--l4); } rect.l5 { fill: var(--l5); } rect.l6 { fill: var(--l6); }
.rail { fill: var(--grid); }
.rows { margin: 10px 0 0; padding: 0; list-style: none; }
.rows li { display: grid; grid-template-columns: minmax(0, 1fr) 84px 58px; gap: 0 14px;
  align-items: center; padding: 7px 0; border-top: 1px solid var(--edge); font-size: 15px; }
.rows li:first-child { border-top: 0; }
.rows .name small { display: block; font-size: 13px; color: var(--soft); }
.rows .share { display: block; margin-top: 4px; } .rows .spark { display: block; }
.rows b { text-align: right; font-weight: 600; }
details { margin-top: 10px; font-size: 14px; }
summary { cursor: pointer; color: var(--soft); }
summary:focus-visible { outline: 2px solid var(--saved); outline-offset: 3px; border-radius: 4px; }
.scroll { overflow-x: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
th, td { padding: 4px 10px 4px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--edge); }
th:first-child, td:first-child { text-align: left; }
th { font-weight: 600; color: var(--soft); }
footer { margin-top: 22px; font-size: 13px; color: var(--soft); }
code { font: .95em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (max-width: 540px) { .tile:last-child:nth-child(odd) { grid-column: 1 / -1; } }
@media print { body { background: none; } .card, .tile { break-inside: avoid; } }
"""
