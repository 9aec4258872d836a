"""The error tree: each error has a message, a remedy and an exit status.

The message is one line that names file and line where there is one; the remedy is the command
or the act that mends it. `cli` turns them into sentences (or a JSON object) in one place.
"""

from __future__ import annotations


class MemfasError(Exception):
    """Base of all errors that memfas raises on purpose.

    message: what is wrong, one line. remedy: what to do about it, one line or "".
    """

    status = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class NothingFound(MemfasError):
    """What was asked for is not there (no such entry, pass, file or line)."""


class FileFault(MemfasError):
    """A file cannot be read, decoded or written; nothing was changed."""


class Conflict(MemfasError):
    """The text has changed since in a way that a program must not decide; nothing was changed."""


class UsageError(MemfasError):
    """The call itself is wrong: an argument, an option, a place outside the memory folder."""

    status = 2


class ConfigError(MemfasError):
    """memfas.yaml (or the place it should be in) is wrong."""

    status = 3


class SafetyStop(MemfasError):
    """Going on might destroy something; `--force` goes on."""

    status = 4


class TryAgain(MemfasError):
    """Somebody else is busy with the files; the same call succeeds later."""

    status = 75


def told(error: Exception) -> str:
    """What an error says, in a line: its message, of one that is not ours its class, too."""
    if isinstance(error, MemfasError):
        return error.message
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
