"""Taking secrets out of what is sent to a model: each is replaced by its kind, where it stood.

What `text.secrets` finds and what the library detect-secrets finds, which knows more issuers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from agent_memfas.text.secrets import Secret, find

# The detectors of detect-secrets that go by the shape of one issuer's keys. On two million
# characters of conversations, this repository and its log, and 10,000 hashes and UUIDs none of them
# gave a false alarm. Left out for theirs: high_entropy_strings (each quoted hash), keyword
# (`password = "your_password"`; 170 in those conversations), ip_public (0.0.0.0). Left out because
# `text.secrets` finds the same and more of it: private_key (only the first line), basic_auth (also
# stand-ins), openai. Left out because their time grows with the square of a line: cloudant,
# ibm_cloud_iam, ibm_cos_hmac, npm, softlayer. None of them is asked to verify anything, which is
# what would use the network.
DETECTORS = (
    ("artifactory", "ArtifactoryDetector", "Artifactory credential"),
    ("aws", "AWSKeyDetector", "AWS access key"),
    ("azure_storage_key", "AzureStorageKeyDetector", "Azure storage key"),
    ("discord", "DiscordBotTokenDetector", "Discord bot token"),
    ("github_token", "GitHubTokenDetector", "GitHub token"),
    ("gitlab_token", "GitLabTokenDetector", "GitLab token"),
    ("jwt", "JwtTokenDetector", "JWT"),
    ("mailchimp", "MailchimpDetector", "Mailchimp key"),
    ("pypi_token", "PypiTokenDetector", "PyPI token"),
    ("sendgrid", "SendGridDetector", "SendGrid key"),
    ("slack", "SlackDetector", "Slack token"),
    ("square_oauth", "SquareOAuthDetector", "Square secret"),
    ("stripe", "StripeDetector", "Stripe key"),
    ("telegram_token", "TelegramBotTokenDetector", "Telegram bot token"),
    ("twilio", "TwilioKeyDetector", "Twilio key"),
)
WIDTH = 4096  # characters that a detector is given at once: some look through all, again and again
OVERLAP = 1024  # of what it is given next, so that a key at the border is seen whole
MOST_PASSES = 8  # what stands right behind a secret may be one, too, once that is gone
_MARK = re.compile(r"\[redacted: [^\]\r\n]{1,40}\]")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_TAIL = re.compile(r"[A-Za-z0-9_=-]*")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Found:
    """A secret that was taken out. line: 1-based, where it begins."""

    kind: str
    line: int


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, of as many lines as before. found: in their order."""

    text: str
    found: tuple[Found, ...] = ()


def redact(text: str) -> Redacted:
    """The text with each secret as `[redacted: KIND]`; nothing more is found in what comes out.

    A lone surrogate, half an emoji, becomes a `?`: it cannot be sent.
    """
    text = _HALF.sub("?", text)
    found: list[Found] = []
    for _ in range(MOST_PASSES):
        secrets = _secrets(text)
        if not secrets:
            break
        found += _places(text, secrets)
        text = _replaced(text, secrets)
    return Redacted(text, tuple(sorted(found, key=lambda one: one.line)))


def redact_all(value: Any) -> Any:
    """Lists and mappings with every text in them redacted, names of keys included."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, dict):
        return {redact_all(name): redact_all(one) for name, one in value.items()}
    return [redact_all(one) for one in value] if isinstance(value, (list, tuple)) else value


def _secrets(text: str) -> list[Secret]:
    """All secrets of a text, in order, without overlaps; marks that stand in it are none."""
    bare = _MARK.sub(lambda mark: " " * len(mark[0]), text)
    spans = sorted([*find(bare), *_detected(bare)], key=lambda one: (one.start, -one.end))
    out: list[Secret] = []
    for one in spans:
        if not out or one.start >= out[-1].end:
            out.append(one)
        elif one.end > out[-1].end:
            out[-1] = Secret(out[-1].kind, out[-1].start, one.end)
    return out


def _detected(text: str) -> list[Secret]:
    out: list[Secret] = []
    start = 0
    for line in text.splitlines(keepends=True):
        tails = _Tails(line)
        for at in range(0, max(len(line) - OVERLAP, 1), WIDTH - OVERLAP):
            piece = line[at : at + WIDTH]
            for kind, detector in _detectors():
                out += (Secret(kind, start + at + a, start + tails.end(at + z))
                        for a, z in _matches(detector, piece))  # fmt: skip
        start += len(line)
    return out


class _Tails:
    """Where what follows a key without a gap ends: one may be longer than its detector knows."""

    def __init__(self, line: str) -> None:
        self._line, self._begin, self._reach = line, 0, -1

    def end(self, at: int) -> int:
        if not self._begin <= at <= self._reach:  # else it is known: looked through only once
            tail = _TAIL.match(self._line, at)
            self._begin, self._reach = at, tail.end() if tail else at
        return self._reach


def _matches(detector: Any, piece: str) -> list[tuple[int, int]]:
    """Where a detector finds something. It is asked whether it stands by it first: some look at a
    match more closely.
    """
    if not any(True for _ in detector.analyze_string(piece)):
        return []
    formal = getattr(detector, "is_formally_valid", None)
    out = []
    for regex in detector.denylist:
        for match in regex.finditer(piece):
            held = match[0].strip(" \t\r\n\"'=:")
            if held and (formal is None or formal(match[0])):
                begin = match.start() + match[0].index(held)
                out.append((begin, begin + len(held)))
    return out


@lru_cache(maxsize=1)
def _detectors() -> tuple[tuple[str, Any], ...]:
    """Loaded when they are first needed; they need no settings of the library."""
    return tuple(
        (kind, getattr(import_module(f"detect_secrets.plugins.{module}"), name)())
        for module, name, kind in DETECTORS
    )


def _places(text: str, secrets: list[Secret]) -> list[Found]:
    out, line, at = [], 1, 0
    for one in secrets:
        line += text.count("\n", at, one.start)
        at = one.start
        out.append(Found(one.kind, line))
    return out


def _replaced(text: str, secrets: list[Secret]) -> str:
    pieces, at = [], 0
    for one in secrets:
        held = text[one.start : one.end]
        pieces += [text[at : one.start], f"[redacted: {one.kind}]", *_LINE_ENDS.findall(held)]
        at = one.end
    return "".join([*pieces, text[at:]])
