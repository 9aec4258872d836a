"""A Milvus collection that many memory folders share: the calls that memfas makes, and no others.

Each passage is a row of its id, its folder's namespace (the partition key), its terms as tokens for
Milvus' own BM25, and its vector where there is a model. The text itself stays in the files. Schema,
analyzer and model are part of the collection's name: what was made by others lies in another one,
and an alias leads to the one that was written last.
"""

from __future__ import annotations

import logging
import math
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent_memfas.errors import FileFault, MemfasError, TryAgain
from agent_memfas.index.database import PARSER, TOKENIZER
from agent_memfas.remote.reach import listens
from agent_memfas.store.locks import hold_file
from agent_memfas.text.record import Record
from agent_memfas.text.words import terms

FORMAT = 1  # one more whenever the schema changes
K1, B = 1.2, 0.75  # as FTS5 has them
MOST_TOKENS = 4_600  # terms of a passage: of 14 bytes each 65,535 hold no more
PAGE = 10_000  # ids that are listed at once
TIMEOUT = 5.0  # seconds for a call of a question
SLOW = 120.0  # seconds for a call that writes or lists
PORT, REACH = 19_530, 2.0  # the usual port; seconds for a connection
REST = 30.0  # seconds that a server which does not answer is left alone
STATE = "state"


class Gone(MemfasError):
    """The shared index cannot be used; the message says why."""


class Apart(Gone):
    """The collection holds another state of the files, and this machine does not write it."""


class Address(Record):
    """uri: of a server, or a path for Milvus Lite. token: "" for none. collection: the first part
    of its name. namespace: of the folder. push: whether this machine writes. Lite's path has one
    user at a time: patience is how long others are waited for, in seconds.
    """

    uri: str
    token: str = ""
    collection: str = "memfas"
    namespace: str = ""
    push: bool = True
    patience: float = 2.0

    @property
    def shown(self) -> str:
        """The uri without what may be a password in it."""
        return re.sub(r"//[^/@]*@", "//", self.uri)

    @property
    def is_file(self) -> bool:
        """Whether it is Milvus Lite."""
        return "://" not in self.uri


@lru_cache(maxsize=1 << 16)
def token_of(term: str) -> str:
    """A term as every analyzer of Milvus leaves it alone: a letter and hexadecimal digits."""
    return "t" + blake2b(term.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def tokens_of(text: str) -> str:
    """The terms of a text as tokens, one at least: an empty text has no BM25."""
    return " ".join(map(token_of, terms(text)[:MOST_TOKENS])) or "tnothing"


class Collection:
    """A collection. model: of the vectors, "" for none; dimension: of theirs."""

    def __init__(self, address: Address, model: str = "", dimension: int = 0) -> None:
        self.address, self.dimension = address, dimension
        kind = repr((FORMAT, PARSER, TOKENIZER, model, dimension)).encode()
        self.name = f"{address.collection}_{blake2b(kind, digest_size=5).hexdigest()}"
        self._client: Any = None
        self._silent_until = 0.0
        self._is_there = False

    # Connecting

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Connected; Milvus Lite is let go of at the end, for others to have it. Gone."""
        if time.monotonic() < self._silent_until:
            raise Gone(f"{self.address.shown} did not answer a moment ago")
        try:
            with self._held():
                self._connect()
                yield
        except Apart:
            raise
        except Gone:
            self._silent_until = time.monotonic() + (0.0 if self.address.is_file else REST)
            self.close()
            raise

    @contextmanager
    def _held(self) -> Iterator[None]:
        if not self.address.is_file:
            yield
            return
        path = os.path.abspath(os.path.expanduser(self.address.uri))
        with ExitStack() as stack:
            try:
                lock = hold_file(Path(f"{path}.lock"), self.address.patience, "in use")
                stack.enter_context(lock)
            except TryAgain as error:
                raise Gone(f"{self.address.shown} is in use by another process") from error
            except FileFault as error:
                raise Gone(error.message) from error
            try:
                yield
            finally:
                self.close()

    def _connect(self) -> None:
        if self._client is not None:
            return
        if find_spec("pymilvus") is None:
            raise Gone("pymilvus is not installed", "pip install 'agent-memfas[milvus]'")
        if not self.address.is_file and not listens(self.address.uri, PORT, REACH):
            raise Gone(f"{self.address.shown} does not answer: nothing listens there")
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL + 1)
        place = self.address.uri
        if self.address.is_file:
            place = os.path.abspath(os.path.expanduser(place))
        try:
            client = MilvusClient(place, token=self.address.token, timeout=TIMEOUT)
        except Exception as error:  # of any kind
            raise _gone(self.address.shown, error) from error
        self._client = _Careful(client, self.address.shown)
        self._is_there = self._client.has_collection(self.name, timeout=TIMEOUT)
        if self._is_there:
            self._client.load_collection(self.name, timeout=TIMEOUT)

    def close(self) -> None:
        """Let go of the connection."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close()
        if client is not None and self.address.is_file:
            with suppress(Exception):
                from milvus_lite.server_manager import server_manager_instance

                place = os.path.abspath(os.path.expanduser(self.address.uri))
                server_manager_instance.release_server(place)

    def make(self) -> None:
        """Make the collection where it is not there."""
        if self._is_there:
            return
        from pymilvus import DataType, Function, FunctionType

        client = self._client
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, max_length=512, is_primary=True)
        # Milvus Lite 2 has no partition keys, and one machine's folders need none.
        schema.add_field("folder", DataType.VARCHAR, max_length=256,
                         is_partition_key=not self.address.is_file)  # fmt: skip
        schema.add_field("path", DataType.VARCHAR, max_length=4096)
        schema.add_field("scope", DataType.VARCHAR, max_length=32)
        schema.add_field("date", DataType.VARCHAR, max_length=32)
        schema.add_field("priority", DataType.VARCHAR, max_length=32)
        schema.add_field("tokens", DataType.VARCHAR, max_length=65_535, enable_analyzer=True,
                         analyzer_params={"tokenizer": "standard"})  # fmt: skip
        schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function(
            name="bm25", function_type=FunctionType.BM25, input_field_names=["tokens"],
            output_field_names=["words"],
        ))  # fmt: skip
        indexes = client.prepare_index_params()
        indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25",
                          params={"bm25_k1": K1, "bm25_b": B})  # fmt: skip
        # Every collection has vectors: Milvus Lite makes none without.
        schema.add_field("meaning", DataType.FLOAT_VECTOR, dim=max(self.dimension, 2))
        indexes.add_index("meaning", index_type="AUTOINDEX", metric_type="IP")
        try:
            # Strong: whatever any machine has written is seen, as in the index.
            client.create_collection(self.name, schema=schema, index_params=indexes,
                                     consistency_level="Strong", timeout=SLOW)  # fmt: skip
        except Gone:
            if not client.has_collection(self.name, timeout=TIMEOUT):
                raise  # else another machine was faster
        client.load_collection(self.name, timeout=SLOW)
        self._is_there = True

    def lead_here(self) -> None:
        """The alias, for people and their tools; memfas itself goes by the name."""
        alias = self.address.collection
        try:
            self._client.create_alias(self.name, alias, timeout=SLOW)
        except Gone:  # it is there, and leads elsewhere
            with suppress(Gone):
                self._client.alter_alias(self.name, alias, timeout=SLOW)

    # Writing

    def put(self, rows: Sequence[dict[str, Any]]) -> None:
        """Rows as `row` makes them, in place of those with the same ids."""
        self._client.upsert(self.name, data=list(rows), timeout=SLOW)

    def row(
        self, number: str, path: str, scope: str, day: str, priority: str, text: str,
        vector: Sequence[float] | None,
    ) -> dict[str, Any]:  # fmt: skip
        """A row; without a vector its cosines are exactly 0."""
        return {
            "id": self.id_of(number), "folder": self.address.namespace,
            "path": path.encode("utf-8", "backslashreplace").decode()[:1000], "scope": scope,
            "date": day, "priority": priority, "tokens": tokens_of(text),
            "meaning": list(vector) if vector else [0.0] * max(self.dimension, 2),
        }  # fmt: skip

    def remove(self, numbers: Sequence[str]) -> None:
        """Take these out."""
        for at in range(0, len(numbers), PAGE):
            ids = [self.id_of(number) for number in numbers[at : at + PAGE]]
            self._client.delete(self.name, ids=ids, timeout=SLOW)

    def settle(self) -> None:
        """After much was written: Milvus Lite is slow until then. A server does it by itself, and
        may refuse to do it too often.
        """
        with suppress(Gone):
            self._client.flush(self.name, timeout=SLOW)

    def set_state(self, state: str) -> None:
        """From now on the namespace holds that state of the files."""
        told = self.row(STATE, state, "", "", "", "", None)
        self.put([{**told, "tokens": "tstate"}])

    # Reading

    def state(self) -> str:
        """The state of the files that the namespace holds; "" for none."""
        if not self._is_there:
            return ""
        rows = self._client.get(self.name, ids=[self.id_of(STATE)], output_fields=["path"],
                                timeout=TIMEOUT)  # fmt: skip
        return str(rows[0]["path"]) if rows else ""

    def numbers(self) -> Iterator[tuple[str, str]]:
        """(path, number) of every passage that is there."""
        if not self._is_there:
            return
        pages = _Careful(self._client.query_iterator(
            self.name, filter=self._ours, output_fields=["id", "path"], batch_size=PAGE,
            timeout=SLOW,
        ), self.address.shown)  # fmt: skip
        start = len(self.id_of(""))
        try:
            while rows := pages.next():
                for found in rows:
                    if (number := str(found["id"])[start:]) != STATE:
                        yield str(found["path"]), number
        finally:
            pages.close()

    def count(self) -> int:
        """How many passages are there."""
        if not self._is_there:
            return 0
        rows = self._client.query(self.name, filter=self._ours, output_fields=["count(*)"],
                                  timeout=TIMEOUT)  # fmt: skip
        return max(int(rows[0]["count(*)"]) - bool(self.state()), 0)

    def by_words(self, asked: Sequence[Sequence[str]], limit: int) -> list[dict[str, float]]:
        """For each list of terms the best passages that hold any, with Milvus' score."""
        if not self._is_there or not asked:
            return [{} for _ in asked]
        told = [" ".join(map(token_of, one)) for one in asked]
        found = self._client.search(
            self.name, data=told, anns_field="words", limit=limit, filter=self._ours,
            search_params={"metric_type": "BM25"}, timeout=TIMEOUT,
        )  # fmt: skip
        return [self._scores(hits) for hits in found]

    def by_meaning(
        self, vector: Sequence[float], limit: int, among: Sequence[str] = ()
    ) -> dict[str, float]:
        """The passages with the greatest cosines; those without a vector are left out. among: only
        these.
        """
        if not self._is_there:
            return {}
        where = self._ours
        if among:
            where += f" and id in {[self.id_of(number) for number in among]}"
        (hits,) = self._client.search(
            self.name, data=[list(vector)], anns_field="meaning", limit=limit, filter=where,
            search_params={"metric_type": "IP"}, timeout=TIMEOUT,
        )  # fmt: skip
        return {number: cosine for number, cosine in self._scores(hits, 1.0).items() if cosine}

    def id_of(self, number: str) -> str:
        """The id of a row: its namespace comes first, so that no folder's row is another's."""
        return f"{self.address.namespace}/{number}"

    @property
    def _ours(self) -> str:
        return f'folder == "{self.address.namespace}"'

    def _scores(self, hits: Any, sign: float = 0.0) -> dict[str, float]:
        """Milvus Lite gives BM25 as a distance, below 0; an empty collection gives NaN."""
        start = len(self.id_of(""))
        return {
            str(hit["id"])[start:]: float(hit["distance"]) if sign else abs(float(hit["distance"]))
            for hit in hits if math.isfinite(hit["distance"])
        }  # fmt: skip


def _gone(uri: str, error: Exception) -> Gone:
    """What the library raised, in one sentence."""
    said = " ".join(str(getattr(error, "message", "") or error).split())[:200]
    return Gone(f"{uri} does not answer: {said or type(error).__name__}")


class _Careful:
    """A client of which each call ends in time or in Gone, whatever its library raises: those
    errors have no base of their own.
    """

    def __init__(self, client: Any, uri: str) -> None:
        self._client, self._uri = client, uri

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        def careful(*given: Any, **more: Any) -> Any:
            try:
                return call(*given, **more)
            except Exception as error:
                raise _gone(self._uri, error) from error

        return careful if callable(call) else call
