"""A bar for work that takes more than a second, on a terminal."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0


class Bar:
    """Called with (done, total); shows itself after a second and goes away when all is done."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._since = time.monotonic()
        self._bar: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        """So many of so many are done."""
        if self._bar is None:
            if time.monotonic() - self._since < PATIENCE or done >= total:
                return
            self._bar = _show(self._label, total)
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        if done >= total:
            self._bar.stop()


def _show(label: str, total: int) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(label, total=total)
    bar.start()
    return bar
