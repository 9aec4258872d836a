"""A model behind a server: what is sent, and what becomes of every answer that may come back."""

from __future__ import annotations

import pytest

from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from llm.asking import AS_JSON, PLAIN, SCHEMA, of, read_answer
from llm.server import Made, Server, as_json, chat, status

KEY = "sk-very-secret-0123456789abcdef"


def fails(
    server: Server, kind: type[MemfasError], *, as_data: bool = False, **settings: float
) -> tuple[str, list[str]]:
    """The sentence and the remedy that one gets, and the outcomes that are kept."""
    one = of(server, **settings)
    with pytest.raises(MemfasError) as caught:
        one.json() if as_data else one.ask()
    assert type(caught.value) is kind, repr(caught.value)
    told = f"{caught.value.message} ({caught.value.remedy})"
    assert caught.value.remedy
    assert "\n" not in told
    assert KEY not in repr(caught.getrepr())
    return told, one.outcomes


def test_an_answer_is_what_the_model_says(server: Server) -> None:
    """Two messages are sent with the limits of the settings, and the text comes back."""
    one = of(server, max_tokens=99, temperature=0.5)
    assert one.ask() == "good"
    assert server.asked == [{
        "model": "toy", "max_tokens": 99, "temperature": 0.5, "messages": [
            {"role": "system", "content": "You answer briefly."},
            {"role": "user", "content": "How are you?"}],
    }]  # fmt: skip
    (call,) = one.calls
    assert (call.model, call.prompt_tokens, call.completion_tokens) == ("toy", 11, 7)
    assert (call.cost, call.tries, call.outcome) == (None, 1, "ok")


def test_prices_make_a_cost(server: Server) -> None:
    """Per million tokens, by the server's count."""
    one = of(server, price_in=1000.0, price_out=10_000.0)
    one.ask()
    assert one.calls[0].cost == pytest.approx(0.011 + 0.07)


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": "x"}, [], {"prompt_tokens": -1},
                                   {"prompt_tokens": True}])  # fmt: skip
def test_tokens_are_estimated_where_the_server_counts_none(server: Server, usage: object) -> None:
    """Also where what it says of them is nonsense."""
    server.script = [chat("one two three four", usage=usage)]
    one = of(server)
    one.ask()
    assert 5 < one.calls[0].prompt_tokens < 30
    assert one.calls[0].completion_tokens == 5


def test_a_schema_is_asked_for_as_far_as_the_server_goes(server: Server) -> None:
    """First strictly, then as any object, then in words alone; what it refuses is not tried again."""
    server.script = [status(400, "response_format: unsupported"), status(422, "no json_object"),
                     '{"answer": "well"}']  # fmt: skip
    one = of(server)
    assert one.json() == "well"
    forms = [body.get("response_format", {}).get("type") for body in server.asked]
    assert forms == ["json_schema", "json_object", None]
    assert server.asked[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert all('"answer"' in body["messages"][0]["content"] for body in server.asked)
    assert [(call.tries, call.outcome) for call in one.calls] == [(3, "ok")]


def test_newer_models_want_other_names_and_no_temperature(server: Server) -> None:
    """What they say they want is what they get."""
    server.script = [
        status(400, "'max_tokens' is not supported, use 'max_completion_tokens' instead."),
        status(400, "'temperature' does not support 0.3 with this model."), "good",
    ]  # fmt: skip
    assert of(server, max_tokens=50).ask() == "good"
    assert server.asked[-1].keys() == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize(("text", "meant"), [
    ("<think>\nHm, {\"answer\": \"no\"}\n</think>\n\n{\"answer\": \"well\"}", "well"),
    ("<think>a</think><think>b</think>{\"answer\": \"well\"}", "well"),
    ("Hm, let me see.</think>{\"answer\": \"well\"}", "well"),
    ("```json\n{\"answer\": \"well\"}\n```", "well"),
    ("Here you are:\n\n```\n{\"answer\": \"well\"}\n```\nAs you wished.", "well"),
    ("Sure! {\"answer\": \"well\"} Anything else?", "well"),
    ("\ufeff \n{\"answer\": \"</think> well\"}", "</think> well"),
    ("{\"answer\": \"```json x```\"}", "```json x```"),
], ids=["thoughts", "twice", "no beginning", "fence", "fence in words", "words", "in a text",
        "fence in a text"])  # fmt: skip
def test_what_models_put_around_json_is_taken_off(server: Server, text: str, meant: str) -> None:
    """Thoughts, code fences and courtesies are no part of the answer."""
    server.script = [text]
    assert of(server).json() == meant
    assert len(server.asked) == 1


@pytest.mark.parametrize(("text", "meant"), [
    ("<thinking>x</thinking>\nWell.", "Well."), ("```markdown\nWell.\n```", "Well."),
    ("Use:\n```sh\nls\n```", "Use:\n```sh\nls\n```"), ("```sh\nls\n```", "```sh\nls\n```"),
    ("half \ud83d an emoji", "half ? an emoji"),
])  # fmt: skip
def test_text_stays_as_it_is_but_for_its_wrapping(server: Server, text: str, meant: str) -> None:
    """Code that is meant as such stays code."""
    server.script = [text]
    assert of(server).ask() == meant


def test_parts_of_a_message_are_put_together(server: Server) -> None:
    """Some servers send the text in pieces."""
    parts = [{"type": "text", "text": "go"}, {"type": "image"}, {"type": "text", "text": "od"}]
    message = {"choices": [{"message": {"content": parts}}]}
    server.script = [as_json(message)]
    assert of(server).ask() == "good"


def test_what_does_not_fit_is_asked_once_more_with_what_was_wrong(server: Server) -> None:
    """The model sees its own words and why they are no use; the second answer counts."""
    server.script = ["I am well.", '{"answer": "well"}']
    one = of(server)
    assert one.json() == "well"
    roles = [(m["role"], m["content"]) for m in server.asked[1]["messages"][2:]]
    assert roles[0] == ("assistant", "I am well.")
    assert roles[1][0] == "user"
    assert "it is no JSON" in roles[1][1]
    assert one.outcomes == ["invalid", "ok"]


@pytest.mark.parametrize("text", ["", " \n", None, "<think>only thoughts", "no", "[1]", "{}"])
def test_what_never_fits_is_a_sentence(server: Server, text: str | None) -> None:
    """After the second answer it is over; nothing is made of what does not fit."""
    server.script = [chat(text)]
    told, outcomes = fails(server, MemfasError, as_data=True)
    assert "the answer" in told
    assert outcomes == ["invalid", "invalid"]
    assert len(server.asked) == 2


@pytest.mark.parametrize("answer", [
    status(429, "slow down", Retry_After="0"), status(500), status(503), status(529),
    as_json({"error": {"message": "upstream", "code": 502}}),
    as_json({"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}),
], ids=["429", "500", "503", "529", "502 as 200", "MiniMax"])  # fmt: skip
def test_what_passes_is_tried_again(server: Server, answer: Made) -> None:
    """Twice in the way, and still an answer; after four times it is given up."""
    server.script = [answer, answer, "good"]
    one = of(server)
    assert one.ask() == "good"
    assert [(call.tries, call.outcome) for call in one.calls] == [(3, "ok")]
    server.script = [answer]
    fails(server, TryAgain)
    assert len(server.asked) == 7


def test_a_pause_that_is_asked_for_is_made_up_to_a_limit(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute at most; ten years are not waited for, and it is said when to come again."""
    slept: list[float] = []
    monkeypatch.setattr("agent_memfas.remote.waiting.time.sleep", slept.append)
    server.script = [status(429, "slow down", Retry_After="17"), "good"]
    assert of(server).ask() == "good"
    assert slept == [17.0]
    server.script = [status(429, "slow down", Retry_After="315360000")]
    assert "in 315360000 seconds" in fails(server, TryAgain)[0]
    assert len(server.asked) == 3


@pytest.mark.parametrize(("answer", "kind", "words"), [
    (status(401, f"Incorrect API key provided: {KEY}"), ConfigError, "$OPENAI_API_KEY"),
    (status(403, "not your model"), ConfigError, "not your model"),
    (status(404, "no model toy"), ConfigError, "no model toy"),
    (status(429, "You exceeded your quota", "insufficient_quota"), ConfigError, "quota"),
    (status(400, "maximum context length is 8192 tokens"), MemfasError, "llm.window"),
    (status(413, "too large"), MemfasError, "llm.window"),
    (status(400, "what?"), ConfigError, "llm.model"),
    ((307, {"Location": "http://127.0.0.1:9/"}, b""), ConfigError, "llm.base_url"),
    ((200, {}, b"<!doctype html><title>Sign in</title>"), ConfigError, "web page"),
    (as_json({"choices": [], "base_resp": {"status_code": 1004, "status_msg": "login fail"}}),
     ConfigError, "login fail"),
    (chat("half an ans", "length"), MemfasError, "llm.max_tokens"),
    (chat("", "content_filter"), MemfasError, "filter"),
    (chat(None, refusal="I cannot\nhelp with that"), MemfasError, "I cannot help with that"),
], ids=["401", "403", "404", "quota", "context", "413", "400", "redirect", "HTML", "MiniMax",
        "length", "filter", "refusal"])  # fmt: skip
def test_what_does_not_pass_is_said_at_once(
    server: Server, answer: Made, kind: type[MemfasError], words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """One request, a sentence with what mends it, and never the key, though servers repeat it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script = [answer]
    told, outcomes = fails(server, kind)
    assert words in told
    assert (len(server.asked), len(outcomes)) == (1, 1)
    assert outcomes[0] not in ("ok", "invalid", "interrupted")
    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize("answer", [
    (200, {}, b"{"), (200, {}, b""), (200, {}, b"\xff\xfe"), (200, {}, b"[" * 100_000),
    as_json([]), as_json({"choices": "x"}), as_json({"choices": []}), as_json({"choices": [1]}),
    as_json({"choices": [{"message": "x"}]}), as_json({"choices": [{"text": "old"}]}),
    as_json({"error": {"message": "out of memory"}}),
    chat(None, "tool_calls", tool_calls=[{"function": {"name": "rm"}}]),
], ids=["broken", "nothing", "no text", "deep", "a list", "a text", "none", "numbers", "no message",
        "another API", "an error", "a tool"])  # fmt: skip
def test_an_answer_that_makes_no_sense_is_a_sentence(server: Server, answer: Made) -> None:
    """Whatever comes with status 200 is looked at before it is believed."""
    server.script = [answer]
    told, outcomes = fails(server, TryAgain)
    assert "the answer" in told
    assert ("out of memory" in told) == (b"out of memory" in answer[2])
    assert outcomes == ["bad answer"]


@pytest.mark.parametrize("number", [200, 500])
def test_an_endless_answer_is_not_read_to_its_end(server: Server, number: int) -> None:
    """Neither of a good one nor of an error more is read than makes sense."""
    page = b'{"error": "' + b"x" * 20_000_000
    server.script = [(number, {}, page)]
    told, _ = fails(server, TryAgain)
    assert len(told) < 600
    assert ("far too long" in told) == (number == 200)


@pytest.mark.parametrize("way", ["never", "a byte at a time", "late after an error", "at last"])
def test_the_deadline_holds_whatever_the_server_does(server: Server, way: str) -> None:
    """Whether it says nothing or says it slowly, all tries together end within the time."""
    server.drip = way == "a byte at a time"
    server.script = {"never": [server.late], "a byte at a time": ["good"],
                     "late after an error": [status(500), server.late],
                     "at last": ["no JSON", server.late]}[way]  # fmt: skip
    told, outcomes = fails(server, TryAgain, as_data=way == "at last", timeout=0.5)
    assert "nothing came" in told
    assert outcomes[-1] == "timeout"


def test_nobody_there_is_said_at_once(server: Server) -> None:
    """A server that was not started is not asked again and again."""
    server.address = "http://127.0.0.1:1/v1"
    told, outcomes = fails(server, TryAgain)
    assert "start the server, or see llm.base_url" in told
    assert outcomes == ["unreachable"]


def test_a_prompt_that_does_not_fit_is_not_sent(server: Server) -> None:
    """No server gets what it would cut; how much it is and how much goes is said."""
    one = of(server, window=100, max_tokens=90)
    with pytest.raises(MemfasError, match="window of 100"):
        one.ask()
    assert (server.asked, one.calls) == ([], [])


def test_the_second_question_fits_as_well(server: Server) -> None:
    """Where the wrong answer does not fit behind the question, only what was wrong is told."""
    server.script = ["word " * 500, '{"answer": "well"}']
    assert of(server, window=300, max_tokens=100).ask(AS_JSON, read_answer) == "well"
    assert [m["role"] for m in server.asked[1]["messages"]] == ["system", "user"]
    assert "it is no JSON" in server.said()


def test_an_interrupted_question_is_counted(server: Server) -> None:
    """Whoever presses Ctrl-C has still sent it."""
    one = of(server)

    def read(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one.ask(PLAIN, read)
    assert one.outcomes == ["invalid"]
