"""Whether a passage stands in its file right now, where the index says that it does."""

from __future__ import annotations

import errno
import os

from agent_memfas.index.rows import Row
from agent_memfas.store.places import STATE

CAP = 5 * 1024 * 1024 + 1024
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


class Checker:
    """Looks passages up in the files below a root; a file is read once for hits in a row."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._path: str | None = None
        self._lines: list[str] = []

    def lines(self, path: str, start: int, end: int) -> str:
        """Lines of a file, 1-based, inclusive; "" where they are not there, or lead elsewhere."""
        real = os.path.realpath(os.path.join(self.root, path))
        inside = real.startswith(f"{self.root}/") and not real.startswith(f"{self.root}/{STATE}/")
        if not inside:
            return ""
        self._open(real.removeprefix(f"{self.root}/"))
        return "\n".join(self._lines[start - 1 : end]).strip("\n")

    def _open(self, path: str) -> None:
        if path != self._path:
            self._path, self._lines = path, _lines(self.root, path)

    def stands(self, path: str, row: Row) -> bool:
        """Whether the lines of the file hold the text of the row."""
        self._open(path)
        return _text(row) in "\n".join(self._lines[row.start - 1 : row.end])

    def beyond(self, path: str, row: Row) -> str:
        """The lines of a row that is only a piece of them; "" where it is all that they say."""
        self._open(path)
        lines = "\n".join(self._lines[row.start - 1 : row.end])
        return "" if len(lines.strip()) == len(_text(row).strip()) else lines


def _text(row: Row) -> str:
    return "\n".join(line.rstrip("\r") for line in row.text.split("\n"))


def _lines(root: str, path: str) -> list[str]:
    """The lines of a file as text, [] where it cannot be read."""
    place = os.path.join(root, path)
    try:
        try:
            descriptor = os.open(place, _OPEN)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            real = os.path.realpath(place)
            if not real.startswith(f"{root}/"):
                return []
            descriptor = os.open(real, _OPEN)
        try:
            pieces, size = [], 0
            while size < CAP and (piece := os.read(descriptor, 1 << 20)):
                pieces.append(piece)
                size += len(piece)
        finally:
            os.close(descriptor)
    except OSError:
        return []
    data = b"".join(pieces).removeprefix(b"\xef\xbb\xbf")
    lines = data.decode("utf-8", "replace").split("\n")
    return [line.rstrip("\r") for line in lines]
