"""Bins that a sentence claims, by their own names, by "rare", or by how often texts are said to speak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privlib.plans.plan import LOWEST_BIN
from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.numbers import SMALL
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token, stem

_SELDOM = (("hardly", "ever"), ("scarcely", "ever"), ("barely", "ever"), ("almost", "never"), ("very", "little"))
_ALWAYS = (
    ("all", "the", "time"),
    ("again", "and", "again"),
    ("time", "and", "again"),
    ("over", "and", "over"),
    ("a", "lot"),
)
_SAID = frozenset(map(stem, words.SPEAKING))
_DEGREES = frozenset(("more", "most", "less", "least", "as", "how", "equally"))
_FILED = frozenset(
    ("count", "counts", "counted", "classified", "labelled", "rated", "marked", "listed", "filed", "described")
)
_NOUNS = words.THEMES | {
    "support",
    "bin",
    "mass",
    "frequency",
    "in",
    "among",
    "for",
    "and",
    "but",
    "bins",
    "band",
    "or",
}


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
        length, allowed = _phrase(tokens, i, last, lower, upper)
        word = tokens[i].text
        if length == 0 and word in ("hardly", "scarcely", "barely") and _spoken(tokens, i, i + 1, first, last):
            length, allowed = 1, lower
        if length:
            if _spoken(tokens, i, i + length, first, last):
                found.append(Bin(i, i + length, allowed, is_negated(tokens, free, first, i)))
            continue
        if word in meaning and _claimed(tokens, i, first, last):
            found.append(Bin(i, i + 1, meaning[word], is_negated(tokens, free, first, i)))
    return found


def _phrase(tokens: list[Token], i: int, last: int, lower, upper) -> tuple[int, frozenset[str]]:
    for phrases, allowed in ((_SELDOM, lower), (_ALWAYS, upper)):
        for phrase in phrases:
            if tokens[i].text == phrase[0] and tuple(t.text for t in tokens[i : min(i + len(phrase), last)]) == phrase:
                return len(phrase), allowed
    return 0, frozenset()


def _spoken(tokens: list[Token], i: int, end: int, first: int, last: int) -> bool:
    """Whether a verb of texts and their authors stands within three tokens."""
    near = tokens[max(first, i - 3) : i] + tokens[end : min(end + 3, last)]
    return any(token.kind == "word" and (token.stem in _SAID or token.text in words.SPEAKING) for token in near)


def _claimed(tokens: list[Token], i: int, first: int, last: int) -> bool:
    before = tokens[i - 1].text if i > first else ""
    following = tokens[i + 1] if i + 1 < last else None
    if following is not None and following.text in words.PLURALS and (before in SMALL or before.isdecimal()):
        return False  # "two moderate themes" counts themes
    counted = before == "as" and i - 2 >= first and tokens[i - 2].text in _FILED
    if counted or (following is not None and following.text in ("is", "are") and before in ("", ",", "and")):
        return True
    if before in _DEGREES or (following is not None and following.text == "-"):
        return False
    if before in words.COPULAS or following is None or following.kind != "word":
        return True
    if tokens[i].text in words.RARE | words.OFTEN and _spoken(tokens, i, i + 1, first, last):
        return True
    return following.text in _NOUNS
