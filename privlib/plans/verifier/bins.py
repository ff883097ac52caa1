"""Bins that a sentence claims, by their own names, by "rare", or by how often texts are said to speak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privlib.plans.plan import LOWEST_BIN
from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.numbers import SMALL
from privlib.plans.verifier.promises import denied_after
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token, stem

_SELDOM = [
    phrase.split()
    for phrase in [
        "hardly ever",
        "scarcely ever",
        "barely ever",
        "almost never",
        "next to never",
        "virtually never",
        "once in a blue moon",
        "once in a while",
        "very little",
        "few and far between",
        "now and then at best",
        "only in passing",
    ]
]
_ALWAYS = [
    phrase.split()
    for phrase in [
        "all the time",
        "again and again",
        "time and again",
        "time after time",
        "time and time again",
        "over and over",
        "a lot",
        "day in , day out",
        "at every turn",
        "more often than not",
        "left and right",
    ]
]
_LOOSE = (["very", "little"], ["a", "lot"], ["all", "the", "time"], ["left", "and", "right"])  # need a verb of speech
_TIMES = frozenset(("occasions", "occasion", "times", "cases", "instances", "moments"))
_FEW = frozenset(("few", "rare", "isolated", "scattered", "exceptional", "infrequent", "scarce", "odd", "single"))
_MANY = frozenset(("many", "most", "countless", "numerous", "frequent", "innumerable", "plenty", "almost", "nearly"))
_SAID = frozenset(map(stem, words.SPEAKING))
_DEGREES = frozenset(("more", "most", "less", "least", "as", "how", "equally"))
_FILED = frozenset(
    (
        "count",
        "counts",
        "counted",
        "classified",
        "labelled",
        "rated",
        "marked",
        "listed",
        "filed",
        "described",
        "class",
        "classes",
        "classed",
        "grade",
        "grades",
        "graded",
        "files",
        "counting",
        "puts",
        "put",
        "sees",
        "rates",
        "rate",
    )
)
_WEIGHT = frozenset(("minor", "marginal", "trivial", "peripheral", "major"))  # all bins but the highest, or the lowest
_ADVERBS = frozenset(w for w in words.RARE | words.OFTEN if w.endswith("ly")) | {"often", "seldom"}
_NOUNS = words.THEMES | words.DOCUMENT | {"category", "class", "grade", "level", "rating", "tag", "frequency"}
_NOUNS |= {"in", "among", "for", "and", "but", "or"}


@dataclass(frozen=True)
class Bin:
    """Tokens [first, last) put an atom into one of the bins `allowed`."""

    first: int
    last: int
    allowed: frozenset[str]
    negated: bool = False


def read_bins(tokens: list[Token], first: int, last: int, free: list[bool], edges: Mapping[str, float]) -> list[Bin]:
    """Bin claims among the free tokens [first, last): a bin's own name, or a word such as "rare"."""
    names = [LOWEST_BIN, *edges]
    half = max(1, len(names) // 2)
    meaning = {name: frozenset((name,)) for name in names} | {f"{name}ly": frozenset((name,)) for name in names}
    lower, upper = frozenset(names[:half]), frozenset(names[half:])
    meaning |= dict.fromkeys(words.RARE, lower) | dict.fromkeys(words.OFTEN, upper)
    meaning |= dict.fromkeys(words.FAINT, frozenset(names[:1]))
    if "moderate" in edges:
        meaning |= dict.fromkeys(words.MIDDLE, frozenset(("moderate",)))
    found = []
    for i in range(first, last):
        if not free[i]:
            continue
        if found and i < found[-1].last:
            continue
        length, allowed = _phrase(tokens, i, first, last, lower, upper)
        word = tokens[i].text
        if length == 0 and word in ("hardly", "scarcely", "barely") and _spoken(tokens, i, i + 1, first, last):
            length, allowed = 1, lower
        if not length and word in _WEIGHT and _weighed(tokens, i, first, last):
            length, allowed = 1, frozenset(names[:-1] if word in _WEIGHT - {"major"} else names[1:])
        if not length and word in meaning and _claimed(tokens, i, first, last):
            length, allowed = 1, meaning[word]
        if length:
            negated = is_negated(tokens, free, first, i) or denied_after(tokens, free, i + length, last)
            found.append(Bin(i, i + length, allowed, negated))
    return found


def _phrase(tokens: list[Token], i: int, first: int, last: int, lower, upper) -> tuple[int, frozenset[str]]:
    """(tokens, bins) of an adverbial of frequency: an idiom, or "on very few occasions", "in many cases"."""
    for phrases, allowed in ((_SELDOM, lower), (_ALWAYS, upper)):
        for phrase in phrases:
            if tokens[i].text == phrase[0] and [t.text for t in tokens[i : min(i + len(phrase), last)]] == phrase:
                bare = phrase not in _LOOSE or _spoken(tokens, i, i + len(phrase), first, last)
                return (len(phrase), allowed) if bare else (0, frozenset())
    if tokens[i].text in ("on", "in", "at"):
        near = [t.text for t in tokens[i + 1 : min(i + 6, last)]]
        noun = next((k for k, word in enumerate(near) if word in _TIMES), 0)
        told = set(near[:noun])
        if told & (_FEW | _MANY) and "of" not in near[noun + 1 : noun + 2]:
            return noun + 2, lower if told & _FEW else upper
    return 0, frozenset()


def _spoken(tokens: list[Token], i: int, end: int, first: int, last: int) -> bool:
    """Whether a verb of texts and their authors stands within three tokens."""
    near = tokens[max(first, i - 3) : i] + tokens[end : min(end + 3, last)]
    return any(token.kind == "word" and (token.stem in _SAID or token.text in words.SPEAKING) for token in near)


def _weighed(tokens: list[Token], i: int, first: int, last: int) -> bool:
    """ "Is a minor issue": said of the theme by a verb, of no other."""
    before = [token.text for token in tokens[max(first, i - 3) : i]] + [""]
    noun = tokens[i + 1].text if i + 1 < last else ""
    ends = tokens[i + 2].text if i + 2 < last else ""
    told = "is" in before or "was" in before or "remains" in before
    return told and before[-2] in ("a", "only", "merely") and noun in words.SINGULARS and ends in ("", ".", ",", "and")


def _claimed(tokens: list[Token], i: int, first: int, last: int) -> bool:
    before = tokens[i - 1].text if i > first else ""
    following = tokens[i + 1] if i + 1 < last else None
    if following is not None and following.text in words.PLURALS and (before in SMALL or before.isdecimal()):
        return False  # "two moderate themes" counts themes
    filed = {token.text for token in tokens[max(first, i - 14) : min(i + 5, last)]} & _FILED
    equal = "as" in {token.text for token in tokens[i + 1 : min(i + 3, last)]}
    counted = before == "as" and (bool(filed) or not equal)
    if counted or (following is not None and following.text in ("is", "are") and before in ("", ",", "and", "-")):
        return True
    if before in _DEGREES or (following is not None and following.text == "-"):
        return False
    if before in words.COPULAS or following is None or following.kind != "word":
        return True
    if tokens[i].text in _ADVERBS or (
        tokens[i].text in words.RARE | words.OFTEN and _spoken(tokens, i, i + 1, first, last)
    ):
        return True
    return following.text in _NOUNS
