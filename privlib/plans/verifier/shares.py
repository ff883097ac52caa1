"""Shares of the denominator in words without a number, as intervals of support: "most of", "a small part of"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.crowds import HALF, HARDLY, NEARLY, NEARLY_ALL, NEARLY_NONE, SMALL, crowd
from privlib.plans.verifier.promises import denied_after
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token

_WHOLES = words.RECORDS | {"denominator", "total", "constant", "whole", "mass", "it"}
_NO_WHOLE = (
    (words.THEMES | words.DOCUMENT | {"them", "these", "those", "us", "you", "which", "this"})
    - _WHOLES
    - {"weight", "base", "count"}
)
_ENTIRE = frozenset(("whole", "entire", "entirety", "full", "all", "every"))
_NOTHING = frozenset(("nothing", "none", "no"))
_LARGE = 0.2
_ABOVE, _BELOW = (0.5, math.inf), (-math.inf, HALF)


@dataclass(frozen=True)
class Share:
    """Tokens [first, last) say that a support is in (low, high]; `everyone`: of every atom ("no theme takes most")."""

    first: int
    last: int
    low: float
    high: float
    negated: bool = False
    everyone: bool = False

    def holds(self, support: float) -> bool:
        """Whether a released support bears it out."""
        return (self.low < support <= self.high) != (self.negated or self.everyone)


def read_shares(tokens: list[Token], first: int, last: int, free: list[bool]) -> list[Share]:
    """Shares among the free tokens [first, last)."""
    found: list[Share] = []
    for i in range(first, last):
        if not free[i] or (found and i < found[-1].last):
            continue
        if (read := crowd(tokens, i, first, last, free)) is not None:
            low, high, begin, end = read
        elif (part := _limits(tokens, i, first, last)) is not None:
            (low, high, end), begin = part, i
        else:
            continue
        # "no theme takes up most of it": denied of every atom, unless one is named in between
        no = next(
            (k for k in range(begin - 1, max(first, begin - 8) - 1, -1) if not free[k] or tokens[k].text in _NO_ONE),
            None,
        )
        everyone = no is not None and free[no]
        negated = not everyone and (is_negated(tokens, free, first, begin) or denied_after(tokens, free, end, last))
        found.append(Share(begin, end, low, high, negated=negated, everyone=everyone))
    return found


def _limits(tokens: list[Token], i: int, first: int, last: int) -> tuple[float, float, int] | None:
    """(low, high, next token) of a share that begins at token i, or whose noun it is."""
    word = tokens[i].text
    after = [t.text for t in tokens[i + 1 : min(i + 6, last)]] + [""] * 5
    before = [""] * 4 + [t.text for t in tokens[max(first, i - 4) : i]]
    if after[:2] == ["one", "of"]:
        after = after[1:]  # "each and every one of"
    of_whole = after[0] in words.RECORDS or (after[0] == "of" and not set(after[1:5]) & _NO_WHOLE)
    if word in ("majority", "mostly", "bulk") and not (word == "bulk" and after[0] != "of"):
        return (*_ABOVE, i + 1)
    if word == "most" and (after[0] in words.RECORDS or after[0] == "of") and before[-1] != "at":
        return (*_ABOVE, i + 1)
    if word == "minority":
        return (*_BELOW, i + 1)
    if word in words.PARTS_OF | words.SCRAPS and after[0] == "of":
        return _part(word, before, i)
    return _extremes(word, before, after, of_whole, i)


def _part(word: str, before: list[str], i: int) -> tuple[float, float, int] | None:
    """A noun for a part and the adjectives before it: "a small part of", "the better part of", "a sliver of"."""
    told = set(before[-3:])
    if told & words.GREATER and "the" in before and not told & {"second", "third"}:
        return (*_ABOVE, i + 1)
    if told & words.LESSER and "the" in before:
        return (*_BELOW, i + 1)
    if told & words.TINY or word in words.SCRAPS:
        return -math.inf, SMALL, i + 1
    return (_LARGE, math.inf, i + 1) if told & words.HUGE else None


def _extremes(
    word: str, before: list[str], after: list[str], of_whole: bool, i: int
) -> tuple[float, float, int] | None:
    """All, nearly all, hardly any or none of a whole; little and much of it."""
    if (word in _ENTIRE and of_whole) or (word in ("whole", "entire") and after[0] in _WHOLES):
        if before[-1] == "the":
            before = before[:-1]
        if before[-1] == "than":
            return (1.0, math.inf, i + 1) if before[-2] in ("more", "greater", "higher") else None
        return NEARLY_ALL if set(before[-2:]) & NEARLY else 1.0, math.inf, i + 1
    if word in HARDLY and after[0] == "any" and after[1] == "of":
        return -math.inf, NEARLY_NONE, i + 2
    if word in _NOTHING and (set(before[-1:]) & NEARLY or before[-2:] in (["next", "to"], ["close", "to"])):
        return -math.inf, NEARLY_NONE, i + 1
    if word == "none" and of_whole:
        return -math.inf, -1.0, i + 1
    if word in ("little", "much") and of_whole and before[-1] not in ("how", "too", "so", "as"):
        return (-math.inf, SMALL, i + 1) if word == "little" else (_LARGE, math.inf, i + 1)
    return None


_NO_ONE = frozenset(("no", "none", "nothing", "nobody"))
