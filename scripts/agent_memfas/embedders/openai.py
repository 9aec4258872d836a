"""Vectors by OpenAI, or by any server that answers /v1/embeddings as OpenAI does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_memfas.embedders import answers
from agent_memfas.embedders.base import clean
from agent_memfas.embedders.models import NamedEmbedder
from agent_memfas.remote import faults
from agent_memfas.remote.answers import BadAnswer, read_json, words_of
from agent_memfas.remote.endpoint import USUAL_KEY, Endpoint
from agent_memfas.remote.surroundings import variable
from agent_memfas.remote.waiting import Deadline, Refused, Unreachable, insist

HOME = "https://api.openai.com/v1"
USUAL = 1536
BATCH = 64
TOO_MUCH = {400, 413, 422}  # statuses by which servers refuse too many texts, or too long ones
SHORTEST = 200  # characters: a text that is refused at this length is refused for something else


class OpenAIEmbedder(NamedEmbedder):
    """A model of OpenAI or of a compatible server. Texts go to base_url and nowhere else.

    base_url: where the server is, mostly with /v1 at its end; None for $OPENAI_BASE_URL, else
    OpenAI. api_key_env: the environment variable that holds the key; a server on this machine needs
    none. timeout: seconds for 64 texts, all tries together; a call with more has as much again for
    each 64. dimensions: of the vectors, for models that can shorten them; None for their own.

    TryAgain where the server is down, slow, or answers nonsense; ConfigError where it will do so
    again: no key or a wrong one, no such model or address, no quota.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        base_url: str | None = None,
        api_key_env: str = USUAL_KEY,
        timeout: float = 30.0,
        dimensions: int | None = None,
    ) -> None:
        super().__init__(model, USUAL)
        self.timeout = timeout
        self.base_url = (base_url or variable("OPENAI_BASE_URL") or HOME).rstrip("/")
        self._key_name = api_key_env
        self._server = faults.Server(self.base_url, model, faults.VECTORS)
        self._endpoint = Endpoint(self.base_url, api_key_env, self._server)
        self._wanted = dimensions
        self._size = dimensions or self._size
        self._is_learned = False
        self._batch = BATCH

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order."""
        return self._all([self._known.passage + text for text in texts])

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return self._all([self._known.query + text])[0]

    def close(self) -> None:
        """Let go of the connections; the next text makes new ones."""
        self._endpoint.close()

    def _all(self, texts: list[str]) -> list[Sequence[float]]:
        if not texts:
            return []
        cleaned = [clean(text) or " " for text in texts]  # an empty one is refused by OpenAI
        self._endpoint.open()  # its library takes a second that the server is not to blame for
        deadline = Deadline(self.timeout * -(-len(cleaned) // BATCH))
        found: list[Sequence[float]] = []
        try:
            while len(found) < len(cleaned):
                some = cleaned[len(found) : len(found) + self._batch]
                found += self._some(some, deadline)
            self._learn({len(vector) for vector in found})
        except Refused as refusal:
            raise faults.refused(self._server, refusal, self._key_name) from None
        except Unreachable as error:
            raise faults.unreachable(self._server, error) from None
        except BadAnswer as error:
            raise faults.bad_answer(self._server, error) from None
        return found

    def _some(self, texts: list[str], deadline: Deadline) -> list[Sequence[float]]:
        """Vectors of at most BATCH texts: of half as many at once where the server wants fewer, and
        of the first half of a text that is too long for it.
        """
        options = {"dimensions": self._wanted} if self._wanted else {}
        body: dict[str, Any] = {"model": self.model, "input": texts, **options}
        try:
            page = insist(
                lambda seconds: self._endpoint.embeddings(body, seconds), deadline, self.timeout
            )
        except Refused as refusal:
            if refusal.status not in TOO_MUCH or (len(texts) == 1 and len(texts[0]) <= SHORTEST):
                raise
        else:
            return _read(page, len(texts), self._endpoint.key)
        if len(texts) == 1:
            return self._some([texts[0][: len(texts[0]) // 2]], deadline)
        half = (len(texts) + 1) // 2
        first = self._some(texts[:half], deadline)
        self._batch = min(self._batch, half)
        return first + self._some(texts[half:], deadline)

    def _learn(self, sizes: set[int]) -> None:
        """Take the size of the first vectors for that of the model. BadAnswer for another one."""
        expected = {self._size} if self._is_learned or self._wanted else sizes
        if len(sizes) > 1 or sizes != expected:
            numbers = ", ".join(map(str, sorted(sizes)))
            raise BadAnswer(f"has vectors of {numbers} numbers, not of {self._size}")
        self._size, self._is_learned = sizes.pop(), True


def _read(page: bytes, count: int, secret: str) -> list[Sequence[float]]:
    """The vectors of an answer. BadAnswer where it has none that can be used."""
    answer = read_json(page)
    items = answer.get("data") if isinstance(answer, dict) else None
    if items is None and (words := words_of(page, secret)):
        raise BadAnswer(f"has no vectors: {words}")
    return answers.vectors(answers.in_order(items, count), count)
