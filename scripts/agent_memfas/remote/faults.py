"""What goes wrong with a server of models, as errors: a sentence, and what mends it."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from agent_memfas.remote.answers import BadAnswer
from agent_memfas.remote.waiting import Refused, Unreachable
from agent_memfas.text.record import Record


class Wording(Record):
    """How to speak of a model. base, key, name: the settings of its address, of the variable that
    holds its key, and of its name. does: what it should do, a verb and its object.
    """

    base: str
    key: str
    name: str
    does: str


VECTORS = Wording(
    "search.base_url", "search.api_key_env", "search.embedder_model", "make vectors"
)  # fmt: skip
WORDS = Wording("llm.base_url", "llm.api_key_env", "llm.model", "answer chats")


class Server:
    """A server at an address, http or https. where: the address without a password in it. local:
    whether it is on this machine. ConfigError where it is no such address.
    """

    def __init__(self, url: str, model: str, wording: Wording) -> None:
        self.model, self.wording = model, wording
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host = ""
        if not host or parts.scheme not in ("http", "https"):
            raise ConfigError(
                "base_url is no address of a server", "such as http://localhost:8000/v1"
            )
        name = f"[{host}]" if ":" in host else host
        self.where = f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path}".rstrip("/")
        self.local = _is_local(host)


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return False


def no_key(server: Server, name: str) -> ConfigError:
    """There is no key for a server that is elsewhere."""
    return ConfigError(
        f"no key for {server.where}: ${name} is not set",
        f"export {name}=..., or name the variable that holds it in {server.wording.key}",
    )


def bad_key(name: str) -> ConfigError:
    """What is said to be the key cannot be one."""
    return ConfigError(f"${name} holds characters that no key has", f"export {name}=... once more")


def told(server: Server, refusal: Refused) -> str:
    """What the server has said, as one line."""
    return f"{server.where}: {refusal.status}{f': {refusal.said}' if refusal.said else ''}"


def refused(server: Server, refusal: Refused, key_name: str) -> MemfasError:
    """The server has answered with an error."""
    status, wording, line = refusal.status, server.wording, told(server, refusal)
    if status in (401, 403):
        if not key_name:
            return ConfigError(line, f"name the variable that holds its key in {wording.key}")
        return ConfigError(
            f"{line} (the key is that in ${key_name})",
            f"export {key_name}=..., or name another variable in {wording.key}",
        )
    if status in (404, 405):
        return ConfigError(
            line, f"is there a model {server.model}? {wording.base} mostly ends in /v1"
        )
    if status == 429 and refusal.final:
        return ConfigError(line, "see the account: there is no quota left")
    if status == 429:
        wait = f" in {refusal.pause:.0f} seconds" if refusal.pause else " later"
        return TryAgain(line, f"too many requests: the same again{wait}")
    if 300 <= status < 400:
        return ConfigError(
            f"{line}: it sends us elsewhere", f"put that address into {wording.base}"
        )
    if status < 500 and refusal.final:
        return ConfigError(line, f"does {server.model} {wording.does}? see {wording.name}")
    return TryAgain(line, "see the log of the server, or try again later")


def unreachable(server: Server, error: Unreachable) -> TryAgain:
    """The server has not answered."""
    base = server.wording.base
    return TryAgain(
        f"{server.where} does not answer: {error.why}",
        f"start the server, or see {base}" if server.local
        else f"is there a network? see {base}",
    )  # fmt: skip


def bad_answer(server: Server, error: BadAnswer) -> MemfasError:
    """The server has answered with something that cannot be used."""
    line = f"{server.where}: the answer {error}"
    if error.page:
        return ConfigError(line, f"{server.wording.base} mostly ends in /v1")
    return TryAgain(line, f"does {server.model} {server.wording.does}? see the log of the server")
