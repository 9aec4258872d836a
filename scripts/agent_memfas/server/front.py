"""The first answer of the MCP server over standard input and output, by the standard library alone.

The SDK takes as long to load as thirty bare starts of Python. A client that asks `initialize` in
one of the versions that are known here is answered before that; the SDK is then given the same
request, and its own answer, which says the same (a test compares them), is left out. Everything
else waits for the SDK.
"""

from __future__ import annotations

import io
import json
import os
from typing import IO, Any

VERSIONS = frozenset(("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"))


class Front:
    """Standard input and output, taken away from everything else in the process: whatever else is
    printed goes to standard error, and whoever else reads finds the end.
    """

    def __init__(self) -> None:
        wire = io.BufferedWriter(io.FileIO(os.dup(1), "w"))
        self._wire: IO[str] = io.TextIOWrapper(wire, encoding="utf-8", newline="\n")
        self._source: IO[bytes] = os.fdopen(os.dup(0), "rb")
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._first = b""
        self._answered: Any = None  # the id of the request that was answered here

    def greet(self, name: str, version: str, title: str, instructions: str) -> None:
        """Read the first line, and answer it where it asks to initialize."""
        self._first = self._source.readline()
        try:
            message = json.loads(self._first)
            wanted = message["params"]["protocolVersion"]
            asked = message["jsonrpc"] == "2.0" and message["method"] == "initialize"
            known = isinstance(message["params"]["clientInfo"]["version"], str)
            known = known and isinstance(message["params"]["clientInfo"]["name"], str)
            known = known and isinstance(message["params"]["capabilities"], dict)
            if not (asked and known and wanted in VERSIONS and type(message["id"]) in (int, str)):
                return
        except (ValueError, KeyError, TypeError, RecursionError):
            return  # the SDK says what is wrong with it
        self._answered = message["id"]
        self._wire.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": wanted,
            "capabilities": {
                "prompts": {"listChanged": False},
                "resources": {"subscribe": False, "listChanged": False},
                "tools": {"listChanged": False},
            },
            "serverInfo": {"name": name, "title": title, "version": version},
            "instructions": instructions,
        }}) + "\n")  # fmt: skip
        self._wire.flush()

    # What the SDK reads from and writes to

    def readline(self) -> str:
        """The next line of the client; "" at the end."""
        line, self._first = self._first or self._source.readline(), b""
        return line.decode("utf-8", "replace")

    def write(self, text: str) -> int:
        """A message to the client, but for the answer that it has."""
        if self._answered is not None:
            message = json.loads(text)
            if message.get("id") == self._answered and "method" not in message:
                self._answered = None
                return len(text)
        return self._wire.write(text)

    def flush(self) -> None:
        """Send what was written."""
        self._wire.flush()
