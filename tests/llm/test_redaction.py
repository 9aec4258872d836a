"""Secrets on their way to a model: taken out where they stand, visibly, and everything else stays."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.errors import MemfasError
from agent_memfas.llm import BadReply, LlmChoice, Prompt, open_model
from agent_memfas.llm.redaction import Found, redact
from commandline import REPO
from llm.asking import of
from llm.server import Server, chat

# Each is put together here, so that no scanner takes this file for one that holds secrets.
HEX = hashlib.sha256(b"canary").hexdigest()
MIXED = "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4zA6bC8dE0fG2hI4jK6lM8nO0pQ2r"
JWT = "eyJhbGciOiJIUzI1NiJ9" + "." + "eyJzdWIiOiJjYW5hcnkifQ" + "." + MIXED[:43]
BODY = "\n".join("MIIEvQ" + hashlib.sha512(bytes([n])).hexdigest()[:58] for n in range(4))
CANARIES = {
    "OpenAI": f"sk-{MIXED[:48]}",
    "Anthropic": f"sk-ant-api03-{MIXED[:40]}",
    "GitHub": f"ghp_{MIXED[:36]}",
    "GitHub, fine": f"github_pat_{MIXED[:40]}",
    "AWS": "AKIA" + "QX7Z2M4N8P1R5T9V",
    "AWS, other": "ABIA" + "QX7Z2M4N8P1R5T9V",
    "GitLab agent": f"glagent-{MIXED[:55]}",
    "Slack": f"xoxb-123456789012-123456789012-{MIXED[:24]}",
    "Stripe": f"sk_live_{MIXED[:24]}",
    "Twilio": f"SK{HEX[:32]}",
    "Mailchimp": f"{HEX[:32]}-us12",
    "Discord": f"M{MIXED[:24]}.{MIXED[:6]}.{MIXED[:27]}",
    "Artifactory": f"AKC{MIXED[:30]}",
    "Square": f"sq0csp-{MIXED[:43]}",
    "Azure": f"AccountKey={(MIXED * 2)[:86]}==",
    "JWT": JWT,
    "password": "password: xK9!2mPqzW",
    "in a URL": "postgres://app:hunter2x9@db.example.com/x",
    "named": "api_key: 8f3a9c2e7b1d4f6a8f3a9c2e",
    "PEM": f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----",
}
# Of each what must never be sent: the value, where the rest is no secret.
HELD = CANARIES | {
    "password": "xK9!2mPqzW", "in a URL": "hunter2x9", "named": "8f3a9c2e7b1d4f6a8f3a9c2e",
    "PEM": BODY.split("\n")[1], "Azure": (MIXED * 2)[:80],
}  # fmt: skip
HARMLESS = [
    "Alice prefers async communication; the token budget is 128000 tokens.",
    f"commit {hashlib.sha1(b'x').hexdigest()} and sha256:{HEX}",
    f"uuid {uuid.uuid5(uuid.NAMESPACE_DNS, 'x')} in /home/me/agent/src/main_v2.py:12",
    "api_key = os.environ['OPENAI_API_KEY'] and postgres://user:password@localhost/x",
    'curl "https://example.com/a?b=c#d" from 0.0.0.0:8080 and 8.8.8.8',
    "pip install agent-memfas[offline]==1.0.0.dev1 --index-url https://pypi.org/simple",
    "服务器部署在新加坡, 密码在 1Password 里",
]
TEXT = "- 09:00 Agreed with Alice\n- 09:10 the key is {} for now\n- 10:00 Lunch\n"


@pytest.mark.parametrize("name", CANARIES)
def test_a_secret_is_replaced_by_its_kind(name: str) -> None:
    """Where it stood, on a text of as many lines; the rest is as it was."""
    found = redact(TEXT.format(CANARIES[name]))
    assert HELD[name] not in found.text
    assert found.text.startswith("- 09:00 Agreed with Alice\n- 09:10 the key is ")
    assert found.text.endswith(" for now\n- 10:00 Lunch\n")
    assert "[redacted: " in found.text
    assert found.text.count("\n") == TEXT.format(CANARIES[name]).count("\n")
    assert {one.line for one in found.found} == {2}
    assert redact(found.text).text == found.text


@pytest.mark.parametrize("text", HARMLESS)
def test_prose_hashes_and_paths_stay(text: str) -> None:
    """What only looks random is no secret."""
    assert redact(text) == redact(text).__class__(text)


def test_two_secrets_on_a_line_are_two(server: Server) -> None:
    """Each by itself, and what stands between them stays."""
    text = f"a {CANARIES['GitHub']} b {CANARIES['AWS']} c\r\nd {CANARIES['JWT']}\r\n"
    assert redact(text).text == (
        "a [redacted: GitHub token] b [redacted: AWS access key] c\r\nd [redacted: JWT]\r\n"
    )
    assert [one.line for one in redact(text).found] == [1, 1, 2]
    assert redact(text).found[0] == Found("GitHub token", 1)


@given(st.lists(st.one_of(
    st.sampled_from([*CANARIES.values(), *HARMLESS, "[redacted: password]", "password:", " is ",
                     "\n", "\r\n", " ", "=", "-----BEGIN PRIVATE KEY-----", "Bearer "]),
    st.text(max_size=6),
), max_size=8))  # fmt: skip
def test_whatever_the_text_nothing_is_left_to_find(pieces: list[str]) -> None:
    """A second time nothing more is taken out, and lines are neither added nor lost."""
    text = "".join(pieces)
    once = redact(text).text
    assert redact(once).text == once
    assert once.count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", [
    "sk-", "eyJ", "eyJa.", "key" + " " * 50, "//", "https://a:", "password=", "-----BEGIN ", "AKIA",
    "xox", "xoxb-1-", "ghp_", "a" * 50 + "=", "AC", "[redacted: ", "密码：",
])  # fmt: skip
def test_a_text_that_is_made_to_be_slow_is_not(piece: str) -> None:
    """A megabyte of beginnings of secrets on one line ends; the square of it would not."""
    text = piece * (1_000_000 // len(piece))
    assert redact(text).text.count("\n") == 0


def test_a_secret_on_a_long_line_is_found_wherever_it_stands() -> None:
    """Also at the border of what is looked at in one piece."""
    for before in (*range(3040, 3100, 7), *range(4060, 4110, 7), 20_000):
        line = "x " * (before // 2) + CANARIES["Twilio"] + " y" * 3000
        assert HEX[:32] not in redact(line).text


def test_nothing_secret_is_ever_sent(server: Server) -> None:
    """Neither in the prompt nor in its schema, nor when a wrong answer is sent back with a reason."""
    everything = "\n".join(f"{name}: {whole}" for name, whole in CANARIES.items())
    schema = {"type": "object", "description": everything, "properties": {everything: {}}}
    server.script = [chat(f"You told me {everything}")]

    def read(_: str) -> None:
        raise BadReply(f"repeats {everything}")

    with pytest.raises(MemfasError) as caught:
        of(server).ask(Prompt(f"Keep {everything}", f"Log: {everything}", schema), read)
    assert len(server.asked) == 2
    assert "[redacted: JWT]" in server.everything
    for held in HELD.values():
        assert held not in server.everything
        assert held not in caught.value.message


def test_what_would_be_sent_is_shown_without_secrets(server: Server) -> None:
    """The address without its password, the name without a key, and nothing is sent."""
    url = server.address.replace("//", "//me:hunter2x9@") + f"/{CANARIES['GitHub']}"
    choice = LlmChoice(model=f"toy-{CANARIES['Anthropic']}", base_url=url)
    model = open_model(choice, lambda call: None)
    assert model is not None
    shown = model.payload(Prompt("s", f"Log: {CANARIES['AWS']}"))
    assert shown["body"]["messages"][1]["content"] == "Log: [redacted: AWS access key]"
    assert shown["address"].startswith(server.address)
    for name in ("in a URL", "GitHub", "Anthropic", "AWS"):
        assert HELD[name] not in f"{shown} {model.name}"
    assert server.asked == []


def test_the_detectors_are_not_loaded_before_they_are_needed() -> None:
    """And then without the settings of their library, and without asking anybody."""
    program = (
        "import sys\nfrom agent_memfas.llm import LlmChoice, open_model\n"
        "open_model(LlmChoice(model='openai/x'), print)\n"
        "print(sorted({'detect_secrets', 'openai', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(REPO / "scripts")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
