"""Shares of the denominator in words without a number: "most of", "a small part of", "hardly any"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token

_WHOLES = words.RECORDS | {"denominator", "total", "constant"}
_NEARLY = frozenset(("nearly", "almost", "practically", "virtually", "essentially", "about"))
_SPEAKS = words.SPEAKING | {"complains", "complained", "mentions", "mentioned", "says", "raises", "reports"}
_SMALL, _LARGE, _NEARLY_ALL = 0.2, 0.2, 0.8


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
    found = []
    for i in range(first, last):
        limits = _limits(tokens, i, first, last) if free[i] else None
        if limits is None:
            continue
        # "no theme takes up most of it": denied of every atom, unless one is named in between
        no = next(
            (k for k in range(i - 1, max(first, i - 8) - 1, -1) if not free[k] or tokens[k].text in ("no", "none")),
            None,
        )
        everyone = no is not None and free[no]
        negated = not everyone and is_negated(tokens, free, first, i)
        found.append(Share(i, i + 1, *limits, negated=negated, everyone=everyone))
    return found


def _limits(tokens: list[Token], i: int, first: int, last: int) -> tuple[float, float] | None:
    word = tokens[i].text
    after = [t.text for t in tokens[i + 1 : min(i + 6, last)]] + [""] * 5
    before = tokens[i - 1].text if i > first else ""
    if word in ("majority", "mostly") or (word == "most" and (after[0] in words.RECORDS or after[0] == "of")):
        return 0.5, math.inf
    if word == "bulk" and after[0] == "of":
        return 0.5, math.inf
    if word == "minority":
        return -math.inf, 0.5 * (1 - 1e-12)
    whole = after[0] in words.RECORDS or (after[0] == "of" and bool(set(after[1:4]) & _WHOLES))
    if word in ("all", "every") and whole:
        return (_NEARLY_ALL if before in _NEARLY else 1.0), math.inf
    if word in ("everyone", "everybody") and set(after[:4]) & _SPEAKS:
        return 1.0, math.inf
    if (word == "none" and whole) or (word == "nobody" and set(after[:4]) & _SPEAKS):
        return -math.inf, -1.0  # never true
    if word in ("hardly", "scarcely", "barely") and after[0] == "any" and after[1] == "of":
        return -math.inf, 0.05
    if word in ("little", "much") and whole and before not in ("how", "too", "so", "as"):
        return (-math.inf, _SMALL) if word == "little" else (_LARGE, math.inf)
    if after[1] == "of" and after[0] in words.PARTS_OF and word in words.TINY | words.HUGE:
        return (-math.inf, _SMALL) if word in words.TINY else (_LARGE, math.inf)
    return None
