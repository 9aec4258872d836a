"""English stems: ``deploy``, ``deploys``, ``deployed`` and ``deploying`` meet in one index term.

The algorithm is M. F. Porter's, "An algorithm for suffix stripping", Program 14(3), 1980, pp.
130-137, with the departures of his own published program (tartarus.org/martin/PorterStemmer):
``bli`` -> ``ble`` in place of ``abli`` -> ``able``, ``logi`` -> ``log``, and words of one or two
letters stay. The names of the steps and conditions are the paper's. Two rules of step 1 are those
of his second algorithm (snowballstem.org/algorithms/english): a final y becomes i after any
consonant and after no vowel, so that ``deploy`` meets ``deployment`` and ``try`` meets ``tries``,
and ``dies`` is ``die``. Irregular forms are led back to their base first (``went`` to ``go``),
which the paper leaves out.
"""

from __future__ import annotations

from functools import lru_cache

# Left out: forms that are more often another word or a name (bit, drew, lay, light, rose).
_IRREGULAR_FORMS = """
become=became begin=began,begun bend=bent bind=bound break=broke,broken bring=brought build=built
burn=burnt buy=bought catch=caught choose=chose,chosen come=came deal=dealt dig=dug draw=drawn
dream=dreamt drink=drank,drunk drive=drove,driven eat=ate,eaten fall=fell,fallen feed=fed feel=felt
fight=fought find=found fly=flew,flown forget=forgot,forgotten forgive=forgave,forgiven
freeze=froze,frozen get=got,gotten give=gave,given go=goes,went,gone grow=grew,grown hang=hung
hear=heard hide=hid,hidden hold=held keep=kept know=knew,known lead=led learn=learnt leave=left
lend=lent lose=lost make=made mean=meant meet=met overcome=overcame pay=paid ride=rode,ridden
ring=rang,rung rise=risen run=ran say=said see=saw,seen seek=sought sell=sold send=sent
shake=shook,shaken shoot=shot show=shown sing=sang,sung sink=sank,sunk sit=sat sleep=slept
speak=spoke,spoken spend=spent spin=spun stand=stood steal=stole,stolen stick=stuck strike=struck
swear=swore,sworn sweep=swept swim=swam,swum swing=swung take=took,taken teach=taught
tear=tore,torn tell=told think=thought throw=threw,thrown undergo=underwent,undergone
understand=understood wake=woke,woken wear=wore,worn win=won withdraw=withdrew,withdrawn
write=wrote,written child=children foot=feet knife=knives man=men mouse=mice tooth=teeth wife=wives
woman=women  embed=embeds sky=skies evening=evenings
"""
_IRREGULAR = {
    form: base
    for base, forms in (row.split("=") for row in _IRREGULAR_FORMS.split())
    for form in forms.split(",")
}
# Porter would cut these: evening to even, embed (but not embedding) to emb, news to new.
_WHOLE = frozenset("canning earring embed evening herring inning news outing sky".split())

_STEP_2 = """
ational=ate tional=tion enci=ence anci=ance izer=ize bli=ble alli=al entli=ent eli=e ousli=ous
ization=ize ation=ate ator=ate alism=al iveness=ive fulness=ful ousness=ous aliti=al iviti=ive
biliti=ble logi=log
"""
_STEP_3 = "icate=ic ative= alize=al iciti=ic ical=ic ful= ness="
_STEP_4 = "ement ment ance ence able ible ant ent ism ate iti ous ive ize ion al er ic ou".split()


def _longest_first(rules: str) -> list[tuple[str, str]]:
    pairs = [(suffix, new) for suffix, _, new in (rule.partition("=") for rule in rules.split())]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


_REPLACEMENTS = (_longest_first(_STEP_2), _longest_first(_STEP_3))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The stem of a lower-case word of the letters a to z: a key, not always a word (``happi``)."""
    if len(word) < 3:
        return word
    word = _IRREGULAR.get(word, word)
    if word in _WHOLE:
        return word
    word = _inflections(word)
    for rules in _REPLACEMENTS:
        word = _replaced(word, rules)
    return _without_final_e(_without_suffix(word))


def _shape(text: str) -> str:
    """``c`` for each consonant, ``v`` for each vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in text:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(text: str) -> int:
    """The m of the paper: how often a vowel is followed by a consonant."""
    return _shape(text).count("vc")


def _has_vowel(text: str) -> bool:
    return "v" in _shape(text)


def _ends_short(text: str) -> bool:
    """The condition *o: consonant, vowel, consonant other than w, x, y at the end."""
    return _shape(text)[-3:] == "cvc" and text[-1] not in "wxy"


def _ends_double(text: str) -> bool:
    return text[-1:] == text[-2:-1] and _shape(text)[-1:] == "c"


def _inflections(word: str) -> str:
    """Step 1: plurals, -ed, -ing, final y."""
    if word.endswith(("ies", "ied")):
        word = word[:-2] if len(word) > 4 else word[:-1]
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _measure(word[:-3]) else word
    elif word.endswith("ed") and _has_vowel(word[:-2]):
        word = _mended(word[:-2])
    elif word.endswith("ing") and _has_vowel(word[:-3]):
        word = _mended(word[:-3])
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word


def _mended(word: str) -> str:
    """What -ed or -ing hid: ``hop(p)``, ``hop(e)``."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _replaced(word: str, rules: list[tuple[str, str]]) -> str:
    """Steps 2 and 3: the longest suffix that fits is replaced after a stem with m > 0."""
    for suffix, new in rules:
        if word.endswith(suffix):
            body = word[: -len(suffix)]
            return body + new if _measure(body) else word
    return word


def _without_suffix(word: str) -> str:
    """Step 4: the longest suffix goes after a stem with m > 1."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            body = word[: -len(suffix)]
            if suffix == "ion" and body[-1:] not in ("s", "t"):
                return word
            return body if _measure(body) > 1 else word
    return word


def _without_final_e(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
