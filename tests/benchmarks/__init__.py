"""Benchmarks, run by a person from the checkout's top and never by pytest:

    python -m tests.benchmarks.all --small            # minutes: tables up to 10,000 files
    python -m tests.benchmarks.all --peers DIR        # all, against other programs

or one by one: `python -m tests.benchmarks.cold`, `.sweep`, `.build`, `.query`, `.against`; each
has `--help`. The interpreter that runs them needs memfas' dependencies. How well recall finds what
answers a question is measured by itself, for it needs data: `python -m tests.benchmarks.evidence`.

Each prints tables in markdown. CPU time (user and system) says more than wall time wherever
something else runs on the machine. Whole processes take turns (A B A B ...), and ratios are the
medians of the ratios within a turn. Nothing is asserted: a number means something only beside the
others of the same run.

What they make lies under `--work` (by default `memfas-benchmarks` in the folder for temporary
files) and is used again by the next run; that folder may be deleted at any time. A hundred
thousand files with their index take some 2 GB.
"""

import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
SCRIPTS = REPO / "scripts"
sys.path.insert(0, str(SCRIPTS))
