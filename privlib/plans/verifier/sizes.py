"""How many themes the plan is said to hold: "the plan lists two themes", "five themes were admitted"."""

from __future__ import annotations

from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.numbers import Number
from privlib.plans.verifier.tokens import Token

_NOUNS = lexicon.PLURALS - {"candidates", "ones", "groups", "points", "matters", "phrases"}
_WHOLES = frozenset(("plan", "release"))
_PAPERS = frozenset(("report", "summary", "sheet", "tally", "list", "set"))  # they may tell less than the plan
_HOLDS = lexicon.TELLING | {"has", "holds", "comprises", "admitted", "consists"}
_PASSED = frozenset(("admitted", "selected", "released", "published", "retained", "included", "listed"))
_LOOSE = lexicon.NEGATIONS | {"could", "can", "may", "might", "would", "should", "to", "never", "public", "candidate"}
_BE = frozenset(("are", "were", "is", "was"))
_GRADES = frozenset(("only", "just", "of", "a", "total", "in", "all", "merely"))
_DISTINCT = frozenset(("different", "distinct", "released", "admitted", "separate", "noisy"))
_ENDS = frozenset(("", ".", ",", "!", ":", ";", "and", "but"))


def told_size(number: Number, tokens: list[Token], first: int, last: int, free: Sequence[bool]) -> str | None:
    """What is said to hold `number` themes, all in all: "plan", "paper" (what may tell less), None where nothing is.

    A subject that holds them ("the plan has two themes", "there are two themes in the plan"), a predicate of admission
    that ends there ("two themes were admitted", "made the list"), or their number itself ("the number of themes is
    two"). Where more is said of them ("two moderate themes", "two themes of the plan exceed ...") it counts a part.
    """
    if number.kind != "plain" or number.hedged or number.lower or number.upper or not 1 <= number.value < 1e9:
        return None
    if number.value != int(number.value):
        return None
    before = [token.text for token in tokens[max(first, number.first - 6) : number.first]]
    k = number.last
    if before[-5:] in (["the", "number", "of", noun, "is"] for noun in ("themes", "topics", "atoms", "labels")):
        return "plan" if k >= last or tokens[k].text in _ENDS else None
    while k < min(number.last + 2, last) and tokens[k].text in _DISTINCT:
        k += 1
    if k >= last or tokens[k].text not in _NOUNS:
        return None
    after = [token.text if free[j] else "a label" for j, token in enumerate(tokens[k + 1 : min(k + 6, last)], k + 1)]
    after += [""] * 5
    while before and before[-1] in _GRADES:
        before.pop()
    if before[-2:] in (["there", "are"], ["there", "were"]):
        within = after[0] in ("in", "on") and after[1] in ("the", "this") and after[3] in _ENDS
        return _holder([after[2]]) if within else None
    firm = not before or _LOOSE.isdisjoint(before[-3:])
    if firm and before[-1:] and before[-1] in _HOLDS and after[0] in _ENDS:
        return _holder(before[-3:-1])
    opens = not before
    passed = (after[0] in _BE and after[1] in _PASSED and after[2] in _ENDS) or (
        after[0] == "made" and after[1] == "the" and after[2] in ("list", "plan", "cut") and after[3] in _ENDS
    )
    return "plan" if opens and passed else None


def couples(tokens: list[Token], first: int, last: int) -> list[Number]:
    """Every "couple of" and "pair of" as the number two: so they count themes; of people they are a vague share."""
    pairs = (k for k in range(first, last - 1) if tokens[k].text in ("couple", "pair") and tokens[k + 1].text == "of")
    return [Number(2.0, 1.0, "plain", k, k + 2) for k in pairs]


def _holder(words: list[str]) -> str | None:
    if _WHOLES.intersection(words):
        return "plan"
    return "paper" if _PAPERS.intersection(words) else None
