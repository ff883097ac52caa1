"""How many of the people asked raised an atom, in words: "almost all", "few guests", "next to nobody"."""

from __future__ import annotations

import math
from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.people import is_person, people, raised
from privlib.plans.verifier.tokens import Token
from privlib.plans.verifier.words import Contents

NEARLY = frozenset(("nearly", "almost", "practically", "virtually", "essentially", "about", "close"))
HARDLY = frozenset(("hardly", "scarcely", "barely"))
SMALL, NEARLY_ALL, NEARLY_NONE = 0.2, 0.8, 0.05
HALF = 0.5 * (1 - 1e-12)
_COUNTS = {"all": (1.0, math.inf), "most": (0.5, math.inf)}
_COUNTS |= dict.fromkeys(("few", "handful", "couple"), (-math.inf, SMALL))
_GRADES = NEARLY | {"next", "to", "only", "just", "very", "a", "the", "an", "mere", "precious", "surprisingly", "but"}
_WHOM = frozenset(("them", "those", "us", "you", "whom"))
_STEPS = frozenset(("of", "the", "our", "these", "their", "all"))
_CLOSED = frozenset(("", ".", ",", "!", "and", "but"))
_NOBODY = frozenset(("nobody", "no", "none", "not"))
_SAID = lexicon.SPEAKING | lexicon.DEEDS
_OTHER_CLAUSE = frozenset(
    (",", "me", "us", "you", ":", ";", "that", "whether", "who", "why", "how", "if", "because", "from")
)
_REACH = 7  # tokens from a verb of raising to what was raised


def crowd(
    tokens: list[Token], i: int, first: int, last: int, free: Sequence[bool]
) -> tuple[float, float, int, int] | None:
    """(low, high, first token, next token) of the share of people at token i who are said to have raised a label.

    All of them is above 1, nearly all above `NEARLY_ALL`, most above a half, few at most `SMALL`, hardly any at most
    `NEARLY_NONE`, nobody below 0. "Many" is a number of people and no share. Without a noun ("almost all mentioned A",
    "A was raised by few") the words must open a clause or follow "by".
    """
    word = tokens[i].text
    hardly = word in HARDLY and i + 1 < last
    begin = i
    while begin > first and i - begin < 4 and free[begin - 1] and tokens[begin - 1].text in _GRADES:
        begin -= 1
    grades = [token.text for token in tokens[begin:i]]
    nearly = bool(grades) and (grades[-1] in NEARLY or grades[-2:] == ["next", "to"])
    found = people(tokens, i + hardly, last)
    if found is not None:
        every, end = found
        anyone = tokens[i + hardly].text.startswith("any")
        if hardly != anyone:
            return None  # "anyone" is everyone only where it is denied
        limits = (1.0, math.inf) if every else (-math.inf, -1.0)
    elif hardly and tokens[i + 1].text == "any":
        limits, anyone, end = (-math.inf, NEARLY_NONE), True, _whom(tokens, i + 2, last)
    elif word in _COUNTS and not (grades[:1] == ["a"] and begin > first and tokens[begin - 1].text in ("quite", "not")):
        limits, anyone, end = _COUNTS[word], False, _whom(tokens, i + 1, last)
    else:
        return None
    bare = end is not None and end == i + 1 + hardly and found is None
    if end is None or (bare and not _stands_alone(tokens, begin, end, first, last)):
        return None
    if not raised(tokens, begin, end, first, last, free):
        return None
    if anyone:
        return -math.inf, NEARLY_NONE, begin, end
    if nearly and limits[0] == 1.0:
        return NEARLY_ALL, math.inf, begin, end
    if nearly and limits[1] == -1.0:
        return -math.inf, NEARLY_NONE, begin, end
    return *limits, begin, end


def _whom(tokens: list[Token], k: int, last: int) -> int | None:
    """The token after the people that a quantity before k counts; k where none are named, None where others are."""
    end = k
    while end < min(k + 3, last) and tokens[end].text in _STEPS:
        end += 1
    if end < last and (is_person(tokens[end]) or tokens[end].text in lexicon.RECORDS | _WHOM):
        return end + 1
    return k if end == k else None


def _stands_alone(tokens: list[Token], begin: int, end: int, first: int, last: int) -> bool:
    """Whether a quantity without a noun is a subject of its own ("almost all mentioned A") or an agent ("by few")."""
    after = tokens[end].text if end < last else ""
    before = tokens[begin - 1] if begin > first else None
    if before is not None and before.text == "by":
        return after in _CLOSED
    opens = before is None or before.kind == "mark" or before.text in ("and", "but", "while", "that", "not")
    return opens and after in _SAID


def unheard(
    tokens: list[Token], first: int, last: int, free: Sequence[bool], words: Contents
) -> tuple[int, int] | None:
    """Words from nowhere that nobody is said to have raised, [begin, end): no released value says so either.

    "Nobody raised k", "k was mentioned by no guest". What nobody can tell from the plan is no such claim.
    """
    odd = [k for k in range(first, last) if words.strange(k) and not is_person(tokens[k])]
    odd = [k for k in odd if tokens[k].stem not in lexicon.report_words()]
    for i in range(first, last) if odd else ():
        found = people(tokens, i, last) if tokens[i].text in _NOBODY and free[i] else None
        if found is None or found[0]:
            continue
        if i > first and tokens[i - 1].text == "by":
            verb, near = i - 2, [k for k in odd if i - _REACH <= k < i - 1]
        else:
            verb = found[1] + (found[1] < last and tokens[found[1]].text in ("at", "ever", "has", "had"))
            near = [k for k in odd if verb < k < verb + _REACH]
        clause = range(min(verb, *near), max(verb, *near)) if near else ()
        if near and tokens[verb].text in _SAID and not any(tokens[k].text in _OTHER_CLAUSE for k in clause):
            return near[0], near[-1] + 1
    return None
