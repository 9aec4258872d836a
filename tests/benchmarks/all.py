"""Every benchmark, one after the other, as tables in markdown.

`--small` takes minutes and leaves out what is over 100,000 passages.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import sys

from tests.benchmarks import against, build, cold, query, sweep
from tests.benchmarks.measure import options, starter

SMALL = {cold: "1000,10000", sweep: "1000,10000", query: "1000,10000,100000"}


def main() -> None:
    """Run them all, each with the options it has by itself."""
    parser = options(__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--memfas", help="an installed `memfas` to run as well")
    parser.add_argument("--peers", help="a folder with an environment for each, see against.py")
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.platform()}")  # fmt: skip
    with starter(given.work) as one:
        for part in (cold, sweep, build, query, against):
            own = options(part.__doc__)
            part.add_options(own)
            told = ["--work", str(given.work)]
            if given.small and part in SMALL:
                told += ["--passages" if part is query else "--sizes", SMALL[part]]
            if part is cold and given.memfas:
                told += ["--memfas", given.memfas]
            if part is against and given.peers:
                told += ["--peers", given.peers]
            part.run(one, own.parse_args(told))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
