"""Vectors from a server that answers as OpenAI does: what is sent, and how an answer is read."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Iterator, Sequence

import pytest

from agent_memfas.embedders import OpenAIEmbedder
from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from embedders.server import Made, Server, as_json, error, good, late, serving, vector

KEY = "sk-very-secret-0123456789"
TEXTS = ["a zebra", "a paper on learning", "soup", "nothing"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server in order; nobody has a key, and nothing of this machine is asked."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr("agent_memfas.remote.waiting.FIRST_PAUSE", 0.001)
    with serving() as state:
        yield state


def embedder(server: Server, model: str = "toy", **options: float) -> OpenAIEmbedder:
    return OpenAIEmbedder(model, server.address, timeout=options.get("timeout", 20.0))


def fails(server: Server, kind: type[MemfasError], timeout: float = 20.0) -> str:
    """The sentence and the remedy that one gets, and nothing else, whatever is behind it."""
    with embedder(server, timeout=timeout) as one, pytest.raises(kind) as caught:
        one.embed_batch(TEXTS)
    told = f"{caught.value.message} ({caught.value.remedy})"
    assert server.address in caught.value.message
    assert caught.value.remedy
    assert "\n" not in told
    assert KEY not in repr(caught.getrepr())
    return told


def test_a_server_on_this_machine_needs_no_key_and_no_proxy(server: Server) -> None:
    """Each text gets its own vector, and the size is learned from the first answer."""
    with embedder(server) as one:
        assert (one.model, one.dimensions) == ("toy", 1536)
        assert [list(v) for v in one.embed_batch(TEXTS)] == [vector(text) for text in TEXTS]
        assert one.dimensions == 5
        assert list(one.embed("soup")) == vector("soup")
        assert one.embed_batch([]) == []
    assert server.bodies[0]["model"] == "toy"
    assert "dimensions" not in server.bodies[0]
    assert set(server.keys) == {"Bearer none"}


def test_many_texts_are_sent_in_batches_in_their_order(server: Server) -> None:
    """64 at once; texts that cannot be encoded or are empty are sent as something that can."""
    texts = [f"soup {'soup ' * n}" for n in range(150)]
    with embedder(server) as one:
        assert [list(v) for v in one.embed_batch(texts)] == [vector(text) for text in texts]
        assert [len(some) for some in server.asked] == [64, 64, 22]
        assert len(one.embed_batch(["", "half \ud83d an emoji"])) == 2
    assert server.asked[-1] == [" ", "half ? an emoji"]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_server_that_wants_fewer_at_once_gets_fewer(server: Server, status: int) -> None:
    """Half as many until it answers, and no more than that from then on."""

    def small(texts: list[str]) -> Made:
        return good(texts) if len(texts) <= 20 else error(status, "batch too large")

    server.script = [small]
    texts = [f"soup {'soup ' * n}" for n in range(70)]
    with embedder(server) as one:
        assert [list(v) for v in one.embed_batch(texts)] == [vector(text) for text in texts]
        server.asked.clear()
        one.embed_batch(texts)
    assert max(map(len, server.asked)) == 16


def test_a_text_that_is_too_long_for_the_model_is_cut(server: Server) -> None:
    """Its beginning counts; a short one that is refused is refused for another reason."""

    def short(texts: list[str]) -> Made:
        return good(texts) if all(len(t) <= 500 for t in texts) else error(400, "too many tokens")

    server.script = [short]
    with embedder(server) as one:
        long, other = one.embed_batch(["soup " * 300, "zebra"])
        assert list(other) == vector("zebra")
        assert list(long)[:3] == [0, 0, 75]
    server.script = [error(400, "this model makes no vectors")]
    assert "makes no vectors" in fails(server, ConfigError)


@pytest.mark.parametrize("answer", [
    error(429, "slow down", Retry_After="0"), error(500), error(503), error(429, retry_after_ms="1"),
    error(429, Date="Tue, 24 Feb 2026 10:00:00 GMT", Retry_After="Tue, 24 Feb 2026 10:00:00 GMT"),
], ids=["429", "500", "503", "429 in ms", "429 as a date"])  # fmt: skip
def test_what_passes_is_tried_again(server: Server, answer: Made) -> None:
    """Twice in the way, and still an answer; after four times it is given up."""
    server.script = [answer, answer, good]
    with embedder(server) as one:
        assert list(one.embed("soup")) == vector("soup")
    assert len(server.asked) == 3
    server.script = [answer]
    assert str(answer[0]) in fails(server, TryAgain)
    assert len(server.asked) == 7


def test_a_server_that_asks_for_too_long_a_pause_is_not_waited_for(server: Server) -> None:
    """It is told after how many seconds to come again; sooner it is not asked."""
    server.script = [error(429, "slow down", Retry_After="90")]
    assert "slow down" in (told := fails(server, TryAgain))
    assert "in 90 seconds" in told
    assert len(server.asked) == 1


@pytest.mark.parametrize(("answer", "words"), [
    (error(401, f"Incorrect API key provided: {KEY}"), "$OPENAI_API_KEY"),
    (error(403, "not your model"), "not your model"),
    (error(404, "no model toy"), "no model toy"),
    (error(429, "You exceeded your quota", code="insufficient_quota"), "quota"),
    ((404, {}, b"<html>404 page not found"), "/v1"),
    ((307, {"Location": "http://127.0.0.1:9/"}, b""), "307"),
    ((200, {}, b"<!doctype html><title>Sign in</title>"), "web page"),
], ids=["401", "403", "404", "quota", "404 page", "redirect", "HTML"])  # fmt: skip
def test_what_does_not_pass_is_said_at_once(
    server: Server, answer: Made, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One request, a sentence with what mends it, and never the key, though servers repeat it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script = [answer]
    assert words in fails(server, ConfigError)
    assert len(server.asked) == 1
    assert server.keys == [f"Bearer {KEY}"]


def data(*vectors: object, numbers: Sequence[object] | None = None) -> Made:
    """An answer with these vectors, of these numbers."""
    given = range(len(vectors)) if numbers is None else numbers
    return as_json({"data": [
        {"index": n, "embedding": v} for n, v in zip(given, vectors, strict=True)
    ]})  # fmt: skip


ONE = [1.0, 2.0]


@pytest.mark.parametrize("answer", [
    (200, {}, b"{"), (200, {}, b""), (200, {}, b"\xff\xfe"), (200, {}, b"[" * 100_000),
    as_json([]), as_json({"data": "soup"}), as_json({"data": [1, 2, 3, 4]}),
    as_json({"error": {"message": "out of memory"}}), data(ONE, ONE, ONE), data(*[ONE] * 5),
    data(ONE, ONE, ONE, ONE, numbers=[0, 1, 1, 2]), data(*[ONE] * 4, numbers=[0, 1, 2, None]),
    data(ONE, ONE, ONE, [1.0]), data(ONE, ONE, ONE, []), data(ONE, ONE, ONE, None),
    data(ONE, ONE, ONE, ["1", "2"]), data(ONE, ONE, ONE, [1.0, float("nan")]),
    data(ONE, ONE, ONE, [1.0, float("inf")]), data(ONE, ONE, ONE, [1.0, 1e300]),
    data(ONE, ONE, ONE, [1.0, 10**400]), data(ONE, ONE, ONE, "?"), data(ONE, ONE, ONE, "AAAA"),
], ids=["broken", "nothing", "no text", "deep", "a list", "a text", "numbers", "an error", "too few",
        "too many", "twice", "no number", "two lengths", "empty", "null", "texts", "NaN", "infinity",
        "too large", "far too large", "no base64", "odd base64"])  # fmt: skip
def test_an_answer_that_makes_no_sense_is_a_sentence(server: Server, answer: Made) -> None:
    """Whatever comes with status 200: no vectors are better than wrong ones."""
    server.script = [answer]
    told = fails(server, TryAgain)
    assert "the answer" in told
    assert ("out of memory" in told) == (b"out of memory" in answer[2])


def test_vectors_come_in_any_order_and_in_base64(server: Server) -> None:
    """`index` says which is whose; a server that gives none is taken at its order."""
    packed = [b64encode(struct.pack("<2f", n, 0.5)).decode() for n in range(4)]
    server.script = [
        data(*packed), data(*reversed(packed), numbers=[3, 2, 1, 0]),
        as_json({"data": [{"embedding": one} for one in packed]}),
    ]  # fmt: skip
    with embedder(server) as one:
        for _ in range(3):
            found = [list(v) for v in one.embed_batch(TEXTS)]
            assert found == [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]


def test_an_endless_answer_is_not_read_to_its_end(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is not filled by a server that has lost its head."""
    monkeypatch.setattr("agent_memfas.remote.waiting.MOST", 1_000_000)
    server.script = [(200, {}, b" " * 2_000_000)]
    assert "far too long" in fails(server, TryAgain)


@pytest.mark.parametrize("way", ["never", "a byte at a time", "late for some"])
def test_the_deadline_holds_whatever_the_server_does(server: Server, way: str) -> None:
    """Whether it says nothing or says it slowly, the call ends within its time."""
    server.drip = way == "a byte at a time"
    server.script = {"never": [late(server)], "a byte at a time": [good],
                     "late for some": [error(500), late(server)]}[way]  # fmt: skip
    assert "nothing came" in fails(server, TryAgain, timeout=0.4)


def test_nobody_there_is_said_at_once(server: Server) -> None:
    """A server that was not started, and one that is not known; not tried again and again."""
    server.address = "http://127.0.0.1:1/v1"
    assert "start the server" in fails(server, TryAgain)
    server.address = "http://nosuch.localhost:1/v1"
    assert "does not answer" in fails(server, TryAgain)


def test_shortened_vectors_are_asked_for_and_checked(server: Server) -> None:
    """`dimensions` goes to the server; one that does not heed it is found out. So is a model that
    was exchanged meanwhile.
    """
    with OpenAIEmbedder("toy", server.address, dimensions=5) as five:
        five.embed("soup")
    assert (five.dimensions, server.bodies[0]["dimensions"]) == (5, 5)
    with (
        OpenAIEmbedder("toy", server.address, dimensions=3) as three,
        pytest.raises(TryAgain, match="of 5 numbers, not of 3"),
    ):
        three.embed("soup")
    with embedder(server) as one:
        one.embed("soup")
        server.script = [data([1.0, 2.0])]
        with pytest.raises(TryAgain, match="of 2 numbers, not of 5"):
            one.embed("soup")


@pytest.mark.parametrize(("model", "size"), [
    ("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072),
    ("text-embedding-ada-002", 1536), ("intfloat/multilingual-e5-small", 384),
])  # fmt: skip
def test_sizes_of_known_models(model: str, size: int) -> None:
    """They are known before anything is asked."""
    assert OpenAIEmbedder(model).dimensions == size


def test_questions_and_texts_get_the_prefixes_of_their_model(server: Server) -> None:
    """e5 wants them, OpenAI's models do not."""
    for model in ("intfloat/multilingual-e5-small", "text-embedding-3-small"):
        with embedder(server, model) as one:
            one.embed_query("soup?")
            one.embed("soup")
    assert server.asked == [["query: soup?"], ["passage: soup"], ["soup?"], ["soup"]]


def test_elsewhere_a_key_is_needed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the variable; a key in its place, or one that is none, is not repeated."""
    with pytest.raises(ConfigError, match=r"\$MY_KEY is not set"):
        OpenAIEmbedder(base_url="http://embeddings.invalid/v1", api_key_env="MY_KEY").embed("x")
    with pytest.raises(ConfigError) as pasted:
        OpenAIEmbedder(api_key_env=KEY)
    monkeypatch.setenv("MY_KEY", f"{KEY}\u201d")
    with pytest.raises(ConfigError, match=r"\$MY_KEY holds") as odd:
        OpenAIEmbedder(base_url=server.address, api_key_env="MY_KEY").embed("x")
    assert KEY not in f"{pasted.value} {pasted.value.remedy} {odd.value} {odd.value.remedy}"
    assert server.asked == []


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://x/v1", "http://", "http://[::1", "x"])
def test_an_address_that_is_none_is_a_mistake(address: str) -> None:
    """Before any text is there."""
    with pytest.raises(ConfigError, match="base_url"):
        OpenAIEmbedder(base_url=address)


def test_the_usual_address_can_be_set_for_all_programs(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """$OPENAI_BASE_URL counts where nothing else is said; a password in it is not shown."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    with OpenAIEmbedder("toy") as one:
        assert list(one.embed("soup")) == vector("soup")
    with pytest.raises(TryAgain) as caught:
        OpenAIEmbedder(base_url="http://me:sesame@127.0.0.1:1/v1").embed("x")
    assert "sesame" not in caught.value.message
