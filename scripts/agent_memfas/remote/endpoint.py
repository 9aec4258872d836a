"""The connection to a server that answers as OpenAI does: one request, its answer or why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from agent_memfas.errors import ConfigError
from agent_memfas.remote import faults
from agent_memfas.remote.answers import code_of, words_of
from agent_memfas.remote.surroundings import variable
from agent_memfas.remote.waiting import Refused, Unreachable, gather, head_of, pause_of, within

NO_KEY = "none"  # what a server is sent that asks for no key
NO_USE = {"insufficient_quota", "billing_not_active"}  # sent as 429, and so the next time
KEY_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
USUAL_KEY = "OPENAI_API_KEY"


class Endpoint:
    """An address and the name of the variable that holds its key, "" where it asks for none. Safe
    for several threads.

    most: bytes of an answer that are read, None for what 64 vectors need. given: a key that is at
    hand, before that of the variable. ConfigError where the name is none of a variable: a key that
    is pasted there is noticed.
    """

    def __init__(
        self, url: str, key_name: str, server: faults.Server, most: int | None = None,
        given: str = "",
    ) -> None:  # fmt: skip
        if key_name and not KEY_NAME.fullmatch(key_name):
            raise ConfigError(
                "api_key_env is no name of an environment variable",
                f"name the variable that holds the key, such as {USUAL_KEY}; never the key itself",
            )
        self._url, self._key_name, self._server, self._most = url, key_name, server, most
        self._given = given.strip()
        self._client: Any = None
        self._lock = Lock()

    @property
    def key(self) -> str:
        """The key, to be sent and never to be shown; "" where there is none."""
        return self._given or (variable(self._key_name) if self._key_name else "")

    def open(self) -> Any:
        """The client, made at the first call: `openai` takes a second to load. ConfigError where
        there is no key, and the server is not on this machine.
        """
        with self._lock:
            if self._client is None:
                key = self.key
                if self._key_name and not key and not self._server.local:
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
            event_hooks={"response": [self._refuse]},
        )  # fmt: skip
        return OpenAI(api_key=key, base_url=self._url, max_retries=0, http_client=transport)

    def embeddings(self, body: Mapping[str, Any], seconds: float) -> bytes:
        """What the server answers to a request for embeddings. Refused, Unreachable."""
        create = self.open().embeddings.with_streaming_response.create
        return self._ask(create, {"encoding_format": "float", **body}, seconds)

    def chat(self, body: Mapping[str, Any], seconds: float) -> bytes:
        """What the server answers to a request for a chat completion. Refused, Unreachable."""
        create = self.open().chat.completions.with_streaming_response.create
        named = {name: body[name] for name in ("model", "messages")}
        rest = {name: value for name, value in body.items() if name not in named}
        return self._ask(create, {**named, "extra_body": rest}, seconds)  # older ones know fewer

    def close(self) -> None:
        """Let go of the connections; the next request makes new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ask(self, create: Callable[..., Any], body: Mapping[str, Any], seconds: float) -> bytes:
        try:
            return within(seconds, lambda: self._request(create, body, seconds))
        except TimeoutError:
            self.close()  # the thread that still waits ends with its connection
            raise Unreachable(f"nothing came within {seconds:.3g} seconds", again=True) from None

    def _request(
        self, create: Callable[..., Any], body: Mapping[str, Any], seconds: float
    ) -> bytes:
        from openai import APIConnectionError

        try:
            with create(timeout=seconds, **body) as response:
                return gather(response.iter_bytes(), self._most)
        except (Refused, Unreachable):
            raise
        except APIConnectionError as error:
            if isinstance(error.__cause__, Refused):
                raise error.__cause__ from None
            raise _unreachable(error.__cause__ or error) from None
        except Exception as error:  # noqa: BLE001 - the transport's own, which has two names
            raise _unreachable(error) from None

    def _refuse(self, response: Any) -> None:
        """Called with each answer before it is read. Of an error the beginning of its page is
        read, here: `openai` would read all of it, however much comes.
        """
        if response.is_success:
            return
        page = head_of(response.iter_bytes())
        raise Refused(
            response.status_code, words_of(page, self.key), pause_of(response.headers),
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
