"""Whether a server is there at all: known in a moment, where its client would try for seconds."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit
from urllib.request import getproxies

PORTS = {"https": 443}


def listens(uri: str, port: int, seconds: float) -> bool:
    """Whether anything takes a connection at an address. port: where it names none, for `http`.
    True where nobody can tell: behind a proxy, or for an address of another form.
    """
    try:
        parts = urlsplit(uri)
        host, named = parts.hostname, parts.port
    except ValueError:
        return True
    if not host or getproxies():
        return True
    try:
        place = (host, named or PORTS.get(parts.scheme, port))
        with socket.create_connection(place, seconds):
            return True
    except OSError:
        return False
