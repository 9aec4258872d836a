"""The connection to a server that answers as OpenAI does: one request, its answer or why not."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from agent_memfas.embedders import faults
from agent_memfas.embedders.answers import code_of, words_of
from agent_memfas.embedders.surroundings import variable
from agent_memfas.embedders.waiting import Refused, Unreachable, gather, pause_of, within

NO_KEY = "none"  # what a server on this machine is sent, which asks for no key
NO_USE = {"insufficient_quota", "billing_not_active"}  # sent as 429, and so the next time


class Endpoint:
    """An address and the name of the variable that holds its key. Safe for several threads."""

    def __init__(self, url: str, key_name: str, server: faults.Server) -> None:
        self._url, self._key_name, self._server = url, key_name, server
        self._client: Any = None
        self._lock = Lock()

    @property
    def key(self) -> str:
        """The key, to be sent and never to be shown; "" where there is none."""
        return variable(self._key_name)

    def open(self) -> Any:
        """The client, made at the first call: `openai` takes a second to load. ConfigError where
        there is no key, and the server is not on this machine.
        """
        with self._lock:
            if self._client is None:
                key = self.key
                if not key and not self._server.local:
                    raise faults.no_key(self._server, self._key_name)
                if not (key.isascii() and key.isprintable()) or " " in key:
                    raise faults.bad_key(self._key_name)
                self._client = self._made(key or NO_KEY)
            return self._client

    def _made(self, key: str) -> Any:
        from openai import DefaultHttpxClient, OpenAI

        # A proxy is for what is elsewhere, and texts go to this address and to no other. Where
        # nothing is encrypted, the certificates need not be loaded, which takes 40 ms.
        transport = DefaultHttpxClient(
            trust_env=not self._server.local, follow_redirects=False,
            verify=not self._url.startswith("http:") or not self._server.local,
        )  # fmt: skip
        return OpenAI(api_key=key, base_url=self._url, max_retries=0, http_client=transport)

    def ask(self, body: Mapping[str, Any], seconds: float) -> bytes:
        """What the server answers to a request for embeddings. Refused, Unreachable."""
        client = self.open()
        try:
            return within(seconds, lambda: self._request(client, body, seconds))
        except TimeoutError:
            self.close()  # the thread that still waits ends with its connection
            raise Unreachable(f"nothing came within {seconds:.3g} seconds", again=True) from None

    def close(self) -> None:
        """Let go of the connections; the next request makes new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _request(self, client: Any, body: Mapping[str, Any], seconds: float) -> bytes:
        from openai import APIConnectionError, APIStatusError

        create = client.embeddings.with_streaming_response.create
        try:
            with create(encoding_format="float", timeout=seconds, **body) as response:
                return gather(response.iter_bytes())
        except Unreachable:
            raise
        except APIStatusError as error:
            raise self._refusal(error.status_code, error.response) from None
        except APIConnectionError as error:
            raise _unreachable(error.__cause__ or error) from None
        except Exception as error:  # noqa: BLE001 - the transport's own, which has two names
            raise _unreachable(error) from None

    def _refusal(self, status: int, response: Any) -> Refused:
        page: bytes = response.content
        return Refused(
            status, words_of(page, self.key), pause_of(response.headers),
            final=code_of(page) in NO_USE,
        )  # fmt: skip


def _unreachable(error: BaseException) -> Exception:
    """An error of the transport, by its kind: connections that could not be made, those that broke
    off, and time that was over.
    """
    kind = type(error).__name__
    if "Timeout" in kind:
        return TimeoutError()
    why = str(error).partition("\n")[0] or kind
    return Unreachable(why, again=kind in ("ReadError", "WriteError", "RemoteProtocolError"))
