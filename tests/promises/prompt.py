"""The command line as it is typed in a folder, without naming that folder."""

from __future__ import annotations

import os
import sqlite3
import sys
from typing import Any

from inputs.memory import Memory, Result, call, start


class Here(Memory):
    """The folder that one is in."""

    def memfas(self, *arguments: str) -> Result:
        """`memfas ARGUMENTS` in this process; whatever goes wrong, it is said in a sentence."""
        result = call(*arguments)
        assert "Traceback" not in result.everything, result
        assert "a fault of memfas" not in result.everything, result
        return result

    def memfas_process(self, *arguments: str) -> Result:
        """The same in a process of its own, with the home of the test and no input."""
        done = start(
            [sys.executable, "-m", "agent_memfas.cli", *arguments],
            cwd=self.root, env={"HOME": os.environ["HOME"]}, input=b"",
        )  # fmt: skip
        result = Result(done.returncode, done.stdout, done.stderr.decode())
        assert "Traceback" not in result.everything, result
        return result

    def answer(self, *words: str) -> dict[str, Any]:
        """What `memfas recall WORDS --json` says, with all the time that it needs."""
        return self.memfas("recall", *words, "--json", "--within", "0").data

    def hits(self, *words: str) -> list[str]:
        """The texts that are found, best first."""
        return [hit["text"] for hit in self.answer(*words)["hits"]]

    def fires(self, *words: str) -> list[str]:
        """The keywords of the triggers in a question, in its order."""
        return [trigger["keyword"] for trigger in self.answer(*words)["triggers"]]

    def names(self) -> list[str]:
        """What lies in the folder."""
        return sorted(os.listdir(self.root))

    def database(self) -> sqlite3.Connection:
        """The index, to be looked at."""
        return sqlite3.connect(self.root / ".memfas/index.db", isolation_level=None)
