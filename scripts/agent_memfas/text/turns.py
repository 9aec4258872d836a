"""Turns of a conversation: what each is about, and whether it leaves what was talked about.

After agent-memfas 0.4 (`agent_memfas.v3.topic`), which names a topic by the first capital or the
longest word and calls every sentence that is little alike a shift.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent_memfas.text.record import Record
from agent_memfas.text.referring import (
    back_in_chinese,
    is_elliptic,
    leads_away,
    refers_back,
)
from agent_memfas.text.subjects import (
    SPECIFIC,
    THING,
    Subject,
    subjects,
    terms_of,
    words_of,
)

GENERAL = "general"  # the topic of what is about nothing
HISTORY = 3  # messages before this one that count
_BASE, _NAMED, _ASKED, _GOES_ON = 0.5, 0.2, 0.15, 0.15
_ASKING = ("status", "update", "progress", "about", "working on")
_ASKING_CHINESE = ("进展", "进度", "状态", "更新", "关于")
_ASKED_FOR = frozenset("which what whose many much".split())
ALIKE = 0.8  # of its words (or the cosine) in common with what was said before


class TopicName(Record):
    """What a turn is about. name: in lower case. confidence: 0.5 to 1.0. inherited: the message
    says nothing of its own, so that the topic is the one before.
    """

    name: str
    confidence: float
    inherited: bool = False


def topic_of(
    message: str,
    history: Sequence[str] = (),
    *,
    topic: str = "",
    known: Collection[str] = (),
    likeness: float | None = None,
) -> TopicName:
    """The topic of a message, as a person would name it.

    history: what was said before it, oldest first; the last three count. topic: that of the turn
    before, where it is known. known: names, folded. likeness: to the topic before, -1..1; without
    it the share of words in common.

    Confidence is 0.5, 0.2 more where a name is in it, 0.15 more for a question of status, 0.15 more
    where it is more than 0.8 alike the topic before: agent_memfas.v3.topic of agent-memfas 0.4.
    """
    found = subjects(message, known)
    before = list(history[-HISTORY:])
    past = topic if topic not in ("", GENERAL) else _topic_before(before, known)
    inherited = bool(past) and _goes_on(message, found)
    nothing = not found or (leads_away(message) and not terms_of(found))
    own = GENERAL if nothing else found[0].name
    if likeness is None:
        likeness = 1.0 if inherited else _overlap(found, before, past, known)
    return TopicName(past if inherited else own, _confidence(message, found, likeness), inherited)


def shifted(
    before: Sequence[str],
    now: str,
    *,
    topic: str = "",
    known: Collection[str] = (),
    likeness: float | None = None,
    threshold: float = 0.6,
) -> bool:
    """Whether a message is about something else than those before it.

    before: what was said before, oldest first; without any, and without a topic, nothing can shift.
    A follow-up never does, nor does what has a name or thing in common with the last three messages
    or the topic. likeness: -1..1 by an embedder, in place of words: below `threshold` it shifts.
    """
    recent = list(before[-HISTORY:])
    if not (recent or topic):
        return False
    found = subjects(now, known)
    said = _said(recent, topic, known)
    away = leads_away(now)
    if not said or not said.isdisjoint(terms_of(found)):
        return False
    if not away and (follows(now, found) or not terms_of(found, SPECIFIC)):
        return False
    if away:
        return True
    return likeness is None or likeness < threshold


def follows(message: str, found: Sequence[Subject]) -> bool:
    """Whether a message goes on with what was said before: `and the manager?`, `when is it due?`,
    `why?`, 那么什么时候？ found: its `subjects`.
    """
    if leads_away(message):
        return False
    telling = [s for s in found if s.weight >= THING and s.terms]
    words = words_of(message)
    if is_elliptic(message, len(words)) or _points_back(message, telling):
        return True
    # `which app?` asks for one of several that are known: those that were talked about
    which = bool(words) and words[0].folded == "which"
    return which and len(telling) == 1 and not telling[0].named


def entities(message: str, known: Collection[str] = ()) -> list[str]:
    """The names and things that a message speaks of, in lower case, likeliest first."""
    return list(dict.fromkeys(s.name for s in subjects(message, known) if s.kind >= SPECIFIC))


def _goes_on(message: str, found: list[Subject]) -> bool:
    """Whether the topic before is that of this message, too: it has nothing of its own (`and Bob?`
    does) that is more than a thing said of anything.
    """
    if leads_away(message):
        return False
    return not terms_of(found, SPECIFIC) or _points_back(message, found)


def _points_back(message: str, found: Sequence[Subject]) -> bool:
    """Whether a pronoun stands before all that it could be said of; `which port` is said of it."""
    folded = [word.folded for word in words_of(message)]
    places = [s.place for s in found if not s.chinese and s.terms]
    own = [at for at in places if not (at and folded[at - 1] in _ASKED_FOR)]
    if refers_back(folded, min(own, default=None)):
        return True
    back = back_in_chinese(message)
    return back >= 0 and not any(s.chinese and s.place < back for s in found)


def _topic_before(before: list[str], known: Collection[str]) -> str:
    """What the last message that says it is about."""
    for message in reversed(before):
        found = subjects(message, known)
        if found and terms_of(found):
            return found[0].name
    return ""


def _said(recent: list[str], topic: str, known: Collection[str]) -> frozenset[str]:
    """The terms of what was talked about."""
    texts = recent if topic in ("", GENERAL) else [*recent, topic]
    return terms_of(s for text in texts for s in subjects(text, known))


def _overlap(found: list[Subject], recent: list[str], topic: str, known: Collection[str]) -> float:
    """The share of the words of a message that the last one has, too."""
    own = terms_of(found)
    said = _said(recent[-1:], topic, known)
    return len(own & said) / len(own) if own else 0.0


def _confidence(message: str, found: list[Subject], likeness: float) -> float:
    said = f" {' '.join(word.folded for word in words_of(message))} "
    asked = any(f" {word} " in said for word in _ASKING)
    asked = asked or any(word in message for word in _ASKING_CHINESE)
    score = _BASE + _NAMED * any(s.named for s in found)
    score += _ASKED * asked + _GOES_ON * (likeness > ALIKE)
    return round(min(score, 1.0), 4)
