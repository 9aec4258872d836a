"""A Milvus server of our own on loopback (Milvus Lite's), and memory folders that share it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from inputs.memory import CONFIG, Memory

PROGRAM = [sys.executable, "-m", "milvus_lite.cmdline", "server", "--host", "127.0.0.1"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class Server:
    """A server. data: its folder."""

    data: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Until it answers."""
        command = [*PROGRAM, "--data-dir", str(self.data), "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(600):
            assert self.process.poll() is None, "the server has ended"
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def stop(self) -> None:
        """At once, as when its machine goes."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def lines(self, namespace: str, more: str = "") -> str:
        """memfas.yaml for a folder that uses it."""
        return (f"{CONFIG}search: {{backend: milvus, uri: '{self.uri}', namespace: {namespace}"
                f"{', ' if more else ''}{more}}}\n")  # fmt: skip

    def folder(self, root: Path, namespace: str, more: str = "") -> Memory:
        """A memory folder that uses it."""
        memory = Memory(root)
        memory.write("memfas.yaml", self.lines(namespace, more))
        return memory
