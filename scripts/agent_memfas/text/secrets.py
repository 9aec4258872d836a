"""Finding what looks like a key, a token or a password, to report it or to take it out.

Known issuers mark their keys with a prefix; those are taken at their word. A name such as
`password=` or `api_key:` makes a secret of its value only where the value looks like one. A bare
hash, UUID, path or base64 image has neither and is left alone. Linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log2

_ISSUED = (
    ("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("OpenRouter key", r"sk-or-[A-Za-z0-9_-]{16,}"),
    ("API key", r"sk-[A-Za-z0-9_-]{16,}"),
    ("Stripe key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"),
    ("GitLab token", r"gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{16,}"),
    ("AWS access key", r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}"),
    ("Slack webhook", r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    ("Google API key", r"AIza[A-Za-z0-9_-]{30,}"),
    ("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}"),
    ("npm token", r"npm_[A-Za-z0-9]{20,}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{20,}"),
    ("PyPI token", r"pypi-[A-Za-z0-9_-]{50,}"),
    ("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    ("Telegram bot token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{40,}"),
    ("Groq key", r"gsk_[A-Za-z0-9]{32,}"),
    ("xAI key", r"xai-[A-Za-z0-9]{40,}"),
    ("Replicate token", r"r8_[A-Za-z0-9]{32,}"),
    ("Notion token", r"ntn_[A-Za-z0-9]{32,}"),
    ("Linear key", r"lin_api_[A-Za-z0-9]{32,}"),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}"),
    ("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("JWT", r"(?<![_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{8,}"),
)
# With a hyphen in the key a row of ordinary words would fit as well (`sk-learn-something-long`).
_HYPHENATED = {"Anthropic key", "OpenRouter key", "API key", "GitLab token"}
_PREFIXED = re.compile(
    "(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<k{n}>{p})" for n, (_, p) in enumerate(_ISSUED)) + ")"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?P<body>(?:[^-]|-(?!----))*)"
    r"(?P<end>-----END [A-Z0-9 ]{1,60}-----)?"
)
_KEY_LINES = re.compile(
    r"(?:(?:[\s>]|\\[nr])*[A-Za-z0-9+/=]{16,})*"
    r"(?:(?:\\n|\r?\n)[ \t>]*[A-Za-z0-9+/=]+(?=[ \t]*(?:\\n|\r?\n|\Z)))?\s*"
)
_IN_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>`]{0,64}:"
    r"(?P<value>[^\s/@\"'<>`]{1,128})@[\w.\[-]"
)
_NAMED = re.compile(
    r"(?:(?P<password>pass(?:word|wd|phrase)|pwd|密码|口令)|secret|token|bearer|密钥|令牌|credential|"
    r"(?:api|access|auth|account|private|secret|signing|encryption)[ _-]?key)s?"
    r"(?:[_-]?(?:key|prod|production|dev|test|staging|main|[0-9]{1,3}))?"
    r"[\"'`*_\])]{0,3}(?P<link>[ \t]{0,3}(?::=|=>|[:=：＝是])|[ \t]{1,3}is(?=[ \t])|(?=[ \t]))"
    r"[\"'`*_]{0,3}[ \t]{0,3}[\"'`*_]{0,3}(?P<value>[^\s\"'`<>:=：＝是，。；、|]{6,}={0,2})",
    re.IGNORECASE,
)
# Tokens that say where in a list one is, or that a call is made once.
_CURSOR = re.compile(
    r"(?:next|prev|previous|page|pagination|continuation|backward|forward|client|request|creation|"
    r"change|idempotency|cancel|cancellation|sync)[_ -]?\Z",
    re.IGNORECASE,
)
_REST = re.compile(r"[^\s\"'`<>，。；、|]*")
_STAND_IN = re.compile(
    r"[xX*.0_-]+|\$.*|%.*|\{.*|\[.*|<.*|(?:your|my|the)[_-].*|.*(?:\*\*\*|\.\.\.|…).*"
)
_PLACE = re.compile(r"[~.]{0,2}/|[A-Za-z]:\\|[A-Za-z_][\w.]*[(\[]|&#?\w+;?")
_METHOD = re.compile(
    r"(?:argon|bcrypt|scrypt|pbkdf|sha|md|base|oauth|rsa|aes|ed|hs|rs|es|utf)-?[0-9]+\w{0,2}"
    r"|[0-9]{1,4}[a-z]+",
    re.IGNORECASE,
)
_SEGMENT = re.compile(r"[A-Za-z0-9]+")
_SIGNS = frozenset("!@#$%^&*+?~")
_NAME = re.compile(
    r"pass(?:word|wd|phrase|code)|\bpwd\b|\bpin\b|secret|token|[ _-]key\b|密码|口令|密钥|令牌",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Secret:
    """kind: what it looks like. start, end: the characters of the text that must not be shown."""

    kind: str
    start: int
    end: int

    def hint(self, text: str) -> str:
        """Its first characters: at most four, and never more than a quarter of it."""
        return text[self.start : self.start + min(4, (self.end - self.start) // 4)] + "…"


def find(text: str) -> list[Secret]:
    """Everything in a text that looks like a secret, in order, without overlaps."""
    found = [*_private_keys(text), *_prefixed(text), *_in_urls(text), *_named(text)]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    out: list[Secret] = []
    for secret in found:
        if not out or secret.start >= out[-1].end:
            out.append(secret)
        elif secret.end > out[-1].end:
            out[-1] = Secret(out[-1].kind, out[-1].start, secret.end)
    return out


def mask(text: str) -> str:
    """The text with every secret cut down to its hint."""
    pieces, at = [], 0
    for secret in find(text):
        pieces += [text[at : secret.start], secret.hint(text)]
        at = secret.end
    return "".join([*pieces, text[at:]])


def names_secret(name: str) -> bool:
    """Whether a name promises a secret, whatever its value looks like."""
    return _NAME.search(name) is not None


def _private_keys(text: str) -> Iterator[Secret]:
    """PEM blocks. A header that is only spoken of, in the middle of a line of prose, is none."""
    for match in _PRIVATE_KEY.finditer(text) if "PRIVATE KEY" in text else ():
        body = match["body"]
        lines = _KEY_LINES.match(body)
        held = lines.end() if lines else 0
        if match["end"] and ("\n" in body or "\\n" in body or held == len(body) >= 40):
            yield Secret("private key", match.start(), match.end())
            continue
        before = text[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
        alone = len(before) < 40 and not before.strip(" \t>-*|") and body[:1] in ("", "\n", "\r")
        if alone or sum(c.isalnum() for c in body[:held]) >= 40 or "\\n" in body[:4]:
            yield Secret(
                "private key", match.start(), match.start("body") + len(body[:held].rstrip())
            )


def _prefixed(text: str) -> Iterator[Secret]:
    for match in _PREFIXED.finditer(text):
        kind = _ISSUED[int(str(match.lastgroup)[1:])][0]
        tail = re.split("[-_.]", match[0], maxsplit=1)[-1]
        if _STAND_IN.fullmatch(tail) or _STAND_IN.fullmatch(match[0][4:]):
            continue
        if kind in _HYPHENATED and not any(map(_key_like, _SEGMENT.findall(tail))):
            continue
        yield Secret(kind, match.start(), match.end())


def _key_like(segment: str) -> bool:
    return len(segment) >= 20 or (len(segment) >= 6 and not _is_word(segment))


def _in_urls(text: str) -> Iterator[Secret]:
    for match in _IN_URL.finditer(text) if "://" in text else ():
        value = match["value"]
        if not _STAND_IN.fullmatch(value) and value.lower() != "password":
            yield Secret("password in a URL", match.start("value"), match.end("value"))


def _named(text: str) -> Iterator[Secret]:
    """Values behind a name. What is no secret may hold the next name, so it is looked at again."""
    at = 0
    while match := _NAMED.search(text, at):
        start = match.start("value")
        value = match["value"].rstrip(".,;!?)]}*_")
        if not _is_secret(match, value):
            at = start
            continue
        rest = _REST.match(text, match.end("value"))
        end = rest.end() if rest and rest[0] else start + len(match["value"].rstrip(".,;)]}*_"))
        yield Secret("password" if match["password"] else "secret value", start, end)
        at = end


def _is_secret(match: re.Match[str], value: str) -> bool:
    link = match["link"].strip().lower()
    cursor = _CURSOR.search(match.string, max(0, match.start() - 13), match.start())
    if cursor and match[0][:5].lower() == "token":
        return False
    option = match.string[max(0, match.start() - 2) : match.start()] == "--"
    if not (link or option or match[0].lower().startswith("bearer")):
        return False
    if (
        _STAND_IN.fullmatch(value)
        or _PLACE.match(value)
        or match.string.startswith("://", match.end("value"))
    ):
        return False
    if match["password"]:
        if _METHOD.fullmatch(value):
            return False
        return (_random(value) and len(value) >= 8) or (link != "is" and _memorable(value))
    return link != "is" and len(value) >= 12 and _random(value)


def _random(value: str) -> bool:
    """Whether letters and digits are mixed as nobody would write words, numbers or a path."""
    odd = sum(len(s) for s in _SEGMENT.findall(value) if not _is_word(s))
    return odd >= 6 and _bits(value) >= 2.5


def _memorable(value: str) -> bool:
    """Whether one word with digits or signs in it is a password that a person made up."""
    if any(c in "-_./\\:" for c in value):
        return False
    letters = any(c.isalpha() for c in value)
    mixed = any(c.isdigit() for c in value) or any(c in _SIGNS for c in value[1:-1])
    return letters and mixed and value.isascii() and _bits(value) * len(value) >= 19


def _is_word(segment: str) -> bool:
    """A word (`staging`, `getToken`, `node18`, `24h`, `1Password`) or a number, by its shape."""
    if segment.isdigit():
        return True
    bare = segment.rstrip("0123456789")
    if len(segment) - len(bare) > 4:
        return False
    number = len(bare) - len(bare.lstrip("0123456789"))
    if number and (len(bare) < len(segment) or (number > 2 and len(bare) - number > 3)):
        return False
    bare = bare[number:]
    humps = sum(a.islower() and b.isupper() for a, b in pairwise(bare))
    return bare.isalpha() and 4 * humps <= len(bare)


def _bits(value: str) -> float:
    """Shannon entropy of the characters, in bits for each."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values())
