"""What is taken for a secret, what is not, and how little of one is ever shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.secrets import find, mask, names_secret

# Put together here, so that no scanner takes this file for a leak.
DIGITS = "16C7e42F292c6912E7710c838347Ae178B4a"
JWT = ".".join(
    ("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N")
)
PEM = (
    "-----BEGIN RSA "
    "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nqwertyuiop+/\n-----END RSA PRIVATE KEY-----"
)

KEYS = {
    "Anthropic key": "sk-" + "ant-api03-AbCdEf0123456789_AbCdEf0123456789-xyz",
    "API key": "sk-" + "proj-abc123DEF456ghi789JKL012mno345",
    "OpenRouter key": "sk-" + "or-v1-0123456789abcdef0123456789abcdef",
    "GitHub token": "ghp_" + DIGITS,
    "GitLab token": "glpat-" + "abcDEF123ghiJKL456mn",
    "AWS access key": "AKIA" + "IOSFODNN7EXAMPLE",
    "Slack token": "xoxb-" + "123456789012-abcdefghijkl",
    "Google API key": "AIza" + "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "npm token": "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "Hugging Face token": "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "Stripe key": "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
    "JWT": JWT,
    "private key": PEM,
}

ASSIGNMENTS = {
    "password=hunter2": "hunter2",
    "Password: S3cr3tP@ssw0rd": "S3cr3tP@ssw0rd",
    '{"password": "Tr0ub4dor&3"}': "Tr0ub4dor&3",
    "**Password:** `xK9!2mPqRs`": "xK9!2mPqRs",
    "the wifi password is xK9!2mPq, ask nobody": "xK9!2mPq",
    "密码：xK9!2mPqz": "xK9!2mPqz",
    "api_key: 8f3a9c2e7b1d4f6a8f3a9c2e": "8f3a9c2e7b1d4f6a8f3a9c2e",
    "OPENAI_API_KEY_PROD=8f3a9c2e7b1d4f6a8f3a9c2e": "8f3a9c2e7b1d4f6a8f3a9c2e",
    "aws secret access key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYz": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYz",
    "login --password hunter22 --verbose": "hunter22",
    "Authorization: Bearer abcDEF123456ghiJKL789xyz": "abcDEF123456ghiJKL789xyz",
    'token = "c2VjcmV0LXRva2VuLTEyMzQ1Ng=="': "c2VjcmV0LXRva2VuLTEyMzQ1Ng==",
    "secret: password=hunter2": "hunter2",
    "db: postgres://app:hunter2@db.example.com/x": "hunter2",
    "redis://:p4ss@localhost:6379": "p4ss",
}

HARMLESS = [
    "Alice prefers async communication; the token budget is 128000 tokens.",
    "The password is stored in 1Password, ask Alice",
    "Password: 1Password",
    "password: required, at least 12 characters",
    "password hashing: argon2id",
    "password: argon2id",
    "max_tokens: 4096",
    "token: 2026-02-24T10:00:00",
    "NextToken: 527c5358-2a1a-4b9e-b1b9-7293b0ddff42",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD==)",
    "api_key: ${OPENAI_API_KEY}",
    "API_KEY=$OPENAI_API_KEY",
    'api_key = os.environ["OPENAI_API_KEY2"]',
    "api_key=config.get_api_key_v2()",
    "token: see vault/prod/db1/token-name",
    "password: /etc/secrets/db2/password.txt",
    "password=<your password>",
    "password=********",
    "sk-learn-something-long-words-here and sk-your-api-key-goes-here-please",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "postgres://app:${DB_PASSWORD}@db/x",
    "postgres://user:password@localhost/x",
    "https://example.com:8080/@scope/package",
    "the header -----BEGIN RSA " + "PRIVATE KEY----- starts a key file",
    "pwd: /home/alice/projects/2026-02-24/notes.md",
    "the secret of it: preparation and patience",
    "secretary: Alice2024 monkey=abc123def456ghi789",
    "the api key is in vault-entry-12345678",
    "token: memory/2026-02-24.md#L12",
    "hf_model_name_long_with_words_here",
    "DEC-0054 v1.2.3 node.js C++ user@example.com 服务器部署在上海",
    "",
]


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_of_a_known_issuer_is_found_whole(kind: str) -> None:
    """A key that I pasted into a note is found in the middle of a line, from its first character to
    its last, and named by who issued it.
    """
    text = f"the key,\n{KEYS[kind]}\nis new"
    (secret,) = find(text)
    assert secret.kind == kind
    assert text[secret.start : secret.end] == KEYS[kind]


@pytest.mark.parametrize("text", ASSIGNMENTS)
def test_the_value_behind_a_name_like_password_is_found(text: str) -> None:
    """What stands behind `password=`, `api_key:` or in a URL before the `@` is the secret; the name
    itself stays readable.
    """
    (secret,) = find(text)
    assert text[secret.start : secret.end] == ASSIGNMENTS[text]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_notes_are_left_alone(text: str) -> None:
    """Prose, hashes, UUIDs, dates, paths, images, placeholders and references to a vault are no
    secrets: a report full of those would soon be read by nobody.
    """
    assert find(text) == []
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "secret"), [*((key, key) for key in KEYS.values()), *ASSIGNMENTS.items()]
)
def test_no_more_than_four_characters_of_a_secret_are_shown(text: str, secret: str) -> None:
    """I see which key it is and never the key; of a short password, no more than a quarter."""
    shown = secret[: min(4, len(secret) // 4)]
    assert mask(text) == text.replace(secret, f"{shown}…")


def test_a_private_key_without_its_end_is_taken_with_all_its_lines() -> None:
    """A key that was cut off, or that stands indented in a list or a quote, is found all the same."""
    header = "-----BEGIN OPENSSH " + "PRIVATE KEY-----"
    body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlw"
    for indent in ("", "    ", "> "):
        text = f"note\n{indent}{header}\n{indent}{body}\n\nAnd then, prose."
        (secret,) = find(text)
        assert text[secret.start : secret.end].endswith(body)


def test_two_findings_in_one_place_are_one_secret() -> None:
    """`token: ghp_…` is one secret and not two."""
    text = f"token: {KEYS['GitHub token']}."
    (secret,) = find(text)
    assert (secret.kind, text[secret.end :]) == ("GitHub token", ".")


def test_only_the_secret_is_taken_from_a_text() -> None:
    """One key in a long note hides that key and nothing else of the note."""
    lines = [f"- line {n} of the log" for n in range(50)]
    text = "\n".join([*lines, f"key {KEYS['AWS access key']} here", *lines])
    assert mask(text).split("\n") == [*lines, "key AKIA… here", *lines]


def test_names_that_promise_a_secret_are_known() -> None:
    """A value behind such a name is not shown even where it looks like a word."""
    assert all(map(names_secret, ("Wifi password", "API key", "db_secret", "PIN", "密码")))
    assert not any(map(names_secret, ("Deadline", "keyboard", "pinned", "Bypass")))


@given(st.text(max_size=300) | st.lists(st.sampled_from(["password", ":", "=", " ", "sk-", "a1", "@", "://", "eyJ", ".", '"', "\n", "-----BEGIN PRIVATE " + "KEY-----", "x"]), max_size=40).map("".join))  # fmt: skip
def test_any_text_can_be_searched(text: str) -> None:
    """Whatever a file holds, secrets come in order, apart from each other and inside the text."""
    found = find(text)
    ends = [0, *(secret.end for secret in found)]
    assert all(end <= secret.start < secret.end for end, secret in zip(ends, found, strict=False))
    assert not found or found[-1].end <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJ-",
        "eyJaaaaaaaa.",
        "token=",
        "password is ",
        "-----BEGIN PRIVATE " + "KEY-----",
        "a://b:",
        "-",
    ],
)
def test_endless_beginnings_of_secrets_are_no_trouble(piece: str) -> None:
    """Sixty thousand beginnings without an end are read once, not again from each of them."""
    find(piece * 60_000)
