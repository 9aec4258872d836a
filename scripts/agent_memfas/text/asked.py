"""What a question says beside its words: whom it names, what it quotes, whether it names a time.

No regular expressions: every recall loads this. What needs them is in `asked_times`.
"""

from __future__ import annotations

from agent_memfas.text.words import asked_pieces

ASSISTANTS = frozenset(
    "assistant ai bot model system chatgpt gpt claude gemini llm copilot"
    " 助手 助理 机器人 智能助手".split()
)
_QUOTES = {'"': '"', "“": "”", "„": "“", "「": "」", "『": "』", "«": "»"}
_TIMES = frozenset(
    "january february march april may june july august september october november december jan feb"
    " mar apr jun jul aug sep sept oct nov dec yesterday today week month year".split()
)
_CHINESE_TIMES = "天月周年号"


def is_named(speaker: str, question: str) -> bool:
    """Whether the question names the speaker: the first word of the name, as it is written."""
    name = speaker.split(maxsplit=1)[0] if speaker.strip() else ""
    if not name.isascii():
        return name in question
    if not name[:1].isupper():
        return False
    at = question.find(name)
    while at >= 0:
        before, after = question[at - 1 : at] if at else "", question[at + len(name) :][:1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        at = question.find(name, at + 1)
    return False


def is_assistant(speaker: str) -> bool:
    """Whether a program says it."""
    return speaker.casefold() in ASSISTANTS


def is_lookup(question: str) -> bool:
    """Whether it is one or two words to look up, stop words aside: then nothing is meant by what
    stands beside a line that has them. Three characters of Chinese are taken for a word.
    """
    size = 0
    for piece in asked_pieces(question):
        size += 1 if piece.isascii() else (len(piece) + 2) // 3
    return size <= 2


def quotations(question: str) -> list[str]:
    """What stands in quotation marks, folded: two characters or more, white space as one blank."""
    found, end, start = list[str](), "", 0
    for n, character in enumerate(question):
        if end and character == end:
            found.append(folded(question[start:n]))
            end = ""
        elif not end and character in _QUOTES:
            end, start = _QUOTES[character], n + 1
    return [text for text in found if len(text) > 1]


def folded(text: str) -> str:
    """A text as quotations are compared: case folded, white space as one blank."""
    return " ".join(text.casefold().split())


def may_name_time(question: str) -> bool:
    """Whether it is worth looking for times in it: a digit, a month, a word such as `week`."""
    if not _TIMES.isdisjoint(question.lower().replace("?", " ").replace(",", " ").split()):
        return True
    return any(c.isdigit() for c in question) or any(c in question for c in _CHINESE_TIMES)
