"""What is imported from elsewhere: who said what when, as one bullet of a daily log each.

Imported text is data. Whatever it holds, all of it stays inside its bullet: it opens no heading,
fence, comment or entry, and it cannot say where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, tzinfo
from hashlib import blake2b

from agent_memfas.text.lines import visible
from agent_memfas.text.record import Record
from agent_memfas.text.secrets import find, mask

KINDS = ("claude-code", "chatgpt", "openclaw", "mem0")
SPOKEN = ("user", "assistant")
_SHOWN = ("text", "input_text", "output_text")
_FORBIDDEN = re.compile(r"[^\w.:/@+#=-]+", re.ASCII)
_SOURCE = re.compile(
    rb"<!-- source: ((?:claude-code|chatgpt|openclaw|mem0):[\x21-\x7e]+?)(?: by [^>\n]*?)? -->"
)
# What opens a block of markdown, and what lint would take for an entry that went wrong.
_OPENS = re.compile(
    r"#{1,6}(?=\s|$)|[><]|(?:[-*+•–—]\s*)?[*_`]{0,3}[\[［]|[-+*](?=\s|$)|```|~~~"
    r"|[-*_=|:](?=[-*_=|:\s]*$)"
)
_NUMBERED = re.compile(r"([0-9]{1,9})(?=[.)](?:[\s\[［*_`]|$))")


class Said(Record):
    """One message. who: user, assistant, "" for what nobody is known to have said. source: where it
    stands, `chatgpt:CONVERSATION#MESSAGE`, see `source`. at: aware; None where no time of day is
    known, then day may be. floating: of no known day, and true as of now.
    """

    who: str
    text: str
    source: str
    at: datetime | None = None
    day: date | None = None
    floating: bool = False

    def on(self, zone: tzinfo | None) -> date | None:
        """The day on which it was said in a time zone (None: that of the machine)."""
        return self.at.astimezone(zone).date() if self.at else self.day

    def dated(self, day: date) -> Said:
        """The same, of that day where it is of no known one."""
        return Said(self.who, self.text, self.source, None, day) if self.floating else self

    @property
    def identity(self) -> str:
        """The same for the same message, wherever it was copied to."""
        return identity(self.source)


def identity(source: str) -> str:
    """What two sources of the same message have in common.

    Claude Code copies the lines of a session into the file that goes on with it, so there only the
    message counts. A line of a log moves down when another is written above it: there it is what it
    says, and the day.
    """
    kind, _, rest = source.partition(":")
    place, _, message = rest.partition("#")
    if kind == "claude-code":
        return f"{kind}:#{message}"
    if kind == "openclaw" and "@" in message:
        return f"{kind}:{place.rpartition('/')[2]}#{message.rpartition('@')[2]}"
    return source


def source(kind: str, place: str, message: str = "") -> str:
    """Where a message stands, as one word of a comment. Ids are not trusted: what an id is not made
    of becomes `_`.
    """
    safe = [_FORBIDDEN.sub("_", one).replace("--", "-_") for one in (place, message)]
    rest = safe[0].replace("#", "_")[:200] or "_"
    return f"{kind}:{rest}#{safe[1].replace('#', '_')[:100]}" if message else f"{kind}:{rest}"


def digest(*parts: str) -> str:
    """A short name for what has none."""
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=6).hexdigest()


def sources_in(data: bytes) -> set[str]:
    """The identities of all imported messages that stand in a file."""
    if b"<!-- source: " not in data:
        return set()
    return {identity(match[1].decode()) for match in _SOURCE.finditer(data)}


def bullet(said: Said, zone: tzinfo | None, agent: str = "") -> tuple[str, int]:
    """A message as lines of a daily log, ended by a line end, and how many secrets are masked in
    it; "" where nothing is left to say. agent: who imports it, "" for the person.
    """
    lines = [line for one in mask(said.text).splitlines() if (line := _line(one)).strip()]
    if not lines:
        return "", 0
    time = f"{said.at.astimezone(zone):%H:%M} " if said.at and said.who else ""
    head = f"- {time}{said.who}: " if said.who else "- "
    body = "\n  ".join([lines[0].lstrip(), *lines[1:]])
    by = f" by {agent}" if agent else ""
    return f"{head}{body} <!-- source: {said.source}{by} -->\n", len(find(said.text))


def _line(text: str) -> str:
    """A line that opens nothing, wherever in a paragraph it stands."""
    shown = visible(text.replace("\t", "    ")).rstrip()
    bare = shown.lstrip()
    if _OPENS.match(bare):
        bare = f"\\{bare}"
    elif match := _NUMBERED.match(bare):
        bare = f"{match[1]}\\{bare[match.end() :]}"
    return " " * min(len(shown) - len(shown.lstrip()), 40) + bare


def text_of(content: object) -> str:
    """The text of a message's content: a string, or blocks, of which those count that are shown."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (one for one in content if isinstance(one, Mapping) and one.get("type") in _SHOWN)
    return "\n".join(text for one in blocks if isinstance(text := one.get("text"), str))


def by_time(found: Iterable[Said], zone: tzinfo | None) -> list[tuple[date, Said]]:
    """Messages of known days with these, in order of time; each message once."""
    seen, dated = set[str](), list[tuple[date, Said]]()
    for said in found:
        day = said.on(zone)
        if day is not None and said.identity not in seen:
            seen.add(said.identity)
            dated.append((day, said))
    return sorted(dated, key=lambda one: (one[0], one[1].at.timestamp() if one[1].at else 0.0))


def known_as(value: object) -> str:
    """What a JSON value looks like: one of KINDS, a few words, or ""."""
    if not isinstance(value, Mapping):
        return ""
    keys = value.keys()
    if isinstance(value.get("mapping"), Mapping):
        return "chatgpt"
    if "chat_messages" in keys:
        return "an export of claude.ai"
    if isinstance(value.get("payload"), Mapping):
        return "a session of Codex"
    if "sessionId" in keys or ("uuid" in keys and "message" in keys) or "leafUuid" in keys:
        return "claude-code"
    if "type" in keys and ("parentId" in keys or value.get("type") == "session"):
        return "openclaw"
    told = {"memory", "data", "text"} & keys
    if ("memory" in keys and "created_at" in keys) or (told and {"hash", "user_id"} & keys):
        return "mem0"
    return "messages without times" if "role" in keys else ""


def items(value: object, *names: str) -> Iterator[Mapping[str, object]]:
    """The objects that a value of an export stands for: itself, or the list under one of names."""
    if not isinstance(value, Mapping):
        return
    inside = next((value[name] for name in names if isinstance(value.get(name), list)), None)
    if isinstance(inside, list):
        yield from (one for one in inside if isinstance(one, Mapping))
    else:
        yield value
