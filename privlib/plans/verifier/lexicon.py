"""Public word lists of the verifier: what makes a word a claim, what says nothing by itself."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from privlib.plans.verifier.numbers import HEDGES, LOWER, PARTS, SCALES, SMALL, TENS, UPPER
from privlib.plans.verifier.tokens import stem


def _lines(name: str) -> list[str]:
    text = (resources.files("privlib.plans.verifier") / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


_LISTS = {name: words.split() for name, _, words in (line.partition(": ") for line in _lines("claim_words.txt"))}

# claim_words.txt says what each list is for
TOP, BOTTOM = frozenset(_LISTS["TOP"]), frozenset(_LISTS["BOTTOM"])
ORDINALS = {word: rank for rank, word in enumerate(_LISTS["ORDINALS"], 1)}
FREQUENT, INFREQUENT = frozenset(_LISTS["FREQUENT"]), frozenset(_LISTS["INFREQUENT"])
MORE, LESS = frozenset(_LISTS["MORE"]), frozenset(_LISTS["LESS"])
VERBS_MORE, VERBS_LESS = frozenset(_LISTS["VERBS_MORE"]), frozenset(_LISTS["VERBS_LESS"])
PLACES, EQUAL, MULTIPLE = frozenset(_LISTS["PLACES"]), frozenset(_LISTS["EQUAL"]), frozenset(_LISTS["MULTIPLE"])
PLURALS, EVERYONE = frozenset(_LISTS["PLURALS"]), frozenset(_LISTS["EVERYONE"])
NEGATIONS, COPULAS, RECORDS = frozenset(_LISTS["NEGATIONS"]), frozenset(_LISTS["COPULAS"]), frozenset(_LISTS["RECORDS"])
RARE, OFTEN = frozenset(_LISTS["RARE"]), frozenset(_LISTS["OFTEN"])
FAINT, MIDDLE = frozenset(_LISTS["FAINT"]), frozenset(_LISTS["MIDDLE"])

# what a number without an atom may be about, by cue word
CUES = {
    "epsilon": frozenset(("epsilon", "ε", "eps")),
    "delta": frozenset(("delta", "δ")),
    "count": frozenset(map(stem, PLURALS)),
    "universe": frozenset(map(stem, ("list", "universe", "candidates", "dictionary", "vocabulary"))),
    "denominator": frozenset((stem("denominator"),)),
    "margin": frozenset((stem("margin"),)),
    "noise": frozenset(map(stem, ("noise", "deviation", "scale"))),
    "edges": frozenset(map(stem, ("bins", "edges", "threshold"))),
}


@lru_cache(maxsize=1)
def claim_words() -> frozenset[str]:
    """Words that the verifier reads as a claim or a number: no bin may be named by one."""
    words = {word for words in _LISTS.values() for word in words}
    words |= HEDGES | LOWER | UPPER | SMALL.keys() | TENS.keys() | SCALES.keys() | PARTS.keys()
    words |= {"most", "least", "more", "less", "than", "percent", "percentage", "per", "pct", "dozen", "dozens", "as"}
    return frozenset(words | {"exact", "exactly", "precise", "precisely", "majority", "mostly", "a", "an", "in", "of"})


@lru_cache(maxsize=1)
def public_words() -> frozenset[str]:
    """Words, and their stems, that say nothing about the protected texts by themselves."""
    listed = {word for line in _lines("public_words.txt") for word in line.split()}
    listed |= {word for words in _LISTS.values() for word in words}
    listed |= HEDGES | LOWER | UPPER | SMALL.keys() | TENS.keys() | SCALES.keys() | PARTS.keys()
    listed |= {"percent", "percentage", "pct", "dozen", "dozens", "s", "t", "nd", "rd", "st", "th", "x", "e"}
    return frozenset(listed | {stem(word) for word in listed})
