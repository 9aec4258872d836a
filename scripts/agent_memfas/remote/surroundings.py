"""What is looked up in the environment: the one place, so that it can be seen at a glance."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

THREADS = "OPENBLAS_NUM_THREADS"


INSIDE = "MEMFAS_IN_HOOK"  # set for all that memfas starts itself


def variable(name: str) -> str:
    """An environment variable without the white space around it, "" where it is not set."""
    return os.environ.get(name, "").strip()


def ollama_address() -> str:
    """Where an Ollama server is, from its own variable OLLAMA_HOST; "" for the usual place."""
    host = variable("OLLAMA_HOST")
    if not host:
        return ""
    address = host if "://" in host else f"http://{host}"
    parts = urlsplit(address)
    name = "127.0.0.1" if parts.hostname in (None, "0.0.0.0", "::") else parts.netloc
    port = f":{parts.port}" if name != parts.netloc and parts.port else ""
    has_port = parts.port or "://" in host
    return f"{parts.scheme}://{name}{port}{'' if has_port else ':11434'}{parts.path}"


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, numpy is loaded so that it computes with one thread: its import takes half the time,
    and small products do not wait for a second processor. Nothing changes where numpy is there
    already, or where the user has said how many there shall be.
    """
    if "numpy" in sys.modules or THREADS in os.environ:
        yield
        return
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(THREADS, None)


def for_programs() -> dict[str, str]:
    """The environment for a program that memfas starts: one of these may be an agent whose hooks
    call memfas again, and those are then silent.
    """
    return {**os.environ, INSIDE: "1"}
