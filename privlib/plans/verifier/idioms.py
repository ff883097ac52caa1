"""Ranks in other words than ordinals: "heads the list", "runner-up", "gold for", "at the very bottom"."""

from __future__ import annotations

from dataclasses import dataclass

from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token

NEAR = 60  # tokens that a look around reaches
_MEDALS = ["gold", "silver", "bronze"]
_OTHERS = ([","], ["others"], ["other"], ["the"], ["else"])


@dataclass(frozen=True)
class Rank:
    """Tokens [first, last) say "rank `place`" counted from the top, or from the bottom; or the `places` best."""

    first: int
    last: int
    place: int
    bottom: bool = False
    several: bool = False  # "the top 3", "the most common themes"
    among: bool = False  # "one of the most common"
    negated: bool = False
    ordered: bool = False  # "the top 3 are, in order"


def names(free: list[bool], first: int, last: int) -> int:
    """How many labels stand among the tokens [first, last), those without a word between them as one."""
    return sum(not free[k] and (k == first or free[k - 1]) for k in range(first, last))


def idiom(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> Rank | None:
    """ "Heads the list", "rounds off the plan", "brings up the rear", "runner-up", "penultimate"."""
    word = tokens[i].text
    after = [t.text for t in tokens[i + 1 : min(i + 5, last)]]
    negated = is_negated(tokens, free, first, i, 3)
    if word == "runner" and after[:2] == ["-", "up"]:
        return Rank(i, i + 3, 2, negated=negated)
    if word == "podium" and ":" in {t.text for t in tokens[i + 1 : min(i + 9, last)]}:
        return Rank(i, i + 1, 1, several=True, ordered=True, negated=negated)
    if word in ("leaders", "frontrunners"):
        among = i > first + 1 and "of" in (tokens[i - 1].text, tokens[i - 2].text)
        return Rank(i, i + 1, 1, several=not among, among=among, negated=negated)
    fronted = word in ("behind", "below") or (word == "above" and i == first)
    if fronted and after[:1] == ["all"] and after[1:2] in ([], *_OTHERS):
        return Rank(i, i + 2 + (after[1:2] != [","]), 1, bottom=word != "above", negated=negated)
    if word in ("more", "less") and after[:1] == ["than"] and after[1:2] in (["anything"], ["everything"]):
        return Rank(i, i + 3, 1, bottom=word == "less", negated=negated)
    alone = after[:1] in ([":"], ["goes"], ["went"], ["for"]) and (i == first or tokens[i - 1].kind == "mark")
    if word in _MEDALS and (alone or _medals(tokens, max(first, i - NEAR), min(i + NEAR, last), free)):
        return Rank(i, i + 1, _MEDALS.index(word) + 1, negated=negated)
    if (at := _at_an_end(tokens, i, first, last, free)) is not None:
        return Rank(i, i + 1, 1, bottom=at, negated=is_negated(tokens, free, first, i))
    if word in ("winner", "leader") or (
        word in ("win", "wins", "won") and after[:1] in ([], [","], ["."], ["and"], ["overall"], ["here"])
    ):
        if names(free, max(first, i - NEAR), i) > 1:
            return None  # of two that are named, a comparison
        return Rank(i, i + 1, 1, negated=is_negated(tokens, free, first, i))
    if word == "second" and after[:2] == ["to", "none"]:
        return Rank(i, i + 3, 1, negated=negated)
    if (
        word in ("crown", "prize", "trophy", "victory")
        and after[:1]
        and after[0] in ("goes", "went", "is", "belongs", "for")
    ):
        return Rank(i, i + 2, 1, negated=negated)
    if word in ("unrivalled", "unrivaled", "unmatched", "unbeaten", "unsurpassed"):
        return Rank(i, i + 1, 1, negated=negated)
    if (word == "front" and after[:2] == ["-", "runner"]) or word == "frontrunner":
        return Rank(i, i + (3 if word == "front" else 1), 1, negated=negated)
    if word == "rear" and tokens[i - 1].text == "the":
        return Rank(i, i + 1, 1, bottom=True, negated=is_negated(tokens, free, first, i))
    if word == "penultimate":
        return Rank(i, i + 1, 2, bottom=True, negated=negated)
    if word in ("head", "forefront") and after[:1] == ["of"] and i > first and tokens[i - 1].text in ("the", "at"):
        return Rank(i, i + 1, 1, negated=negated)
    if (
        word in words.OPENERS | words.CLOSERS
        and after[:1] == ["with"]
        and any(not free[k] for k in range(i + 1, min(i + 4, last)))
    ):
        closes = word in words.CLOSERS
        return Rank(i, i + 2, 1, bottom=closes, several=not closes, ordered=not closes, negated=negated)
    if word == "order" and i > first and tokens[i - 1].text in ("the", "in", "this"):
        for k in range(i + 1, min(i + 6, last - 1)):
            if tokens[k].text in ("is", "are", ":", "was") and not free[k + 1]:
                return Rank(i, k + 1, 1, several=True, ordered=True, negated=negated)
            if not free[k] or tokens[k].text == ",":
                break
    rear = word in ("bring", "brings", "brought") and after[:1] == ["up"]
    if word in words.OPENERS | words.CLOSERS or rear:
        for k in range(i + 1, min(i + 5, last)):
            if free[k] and tokens[k].text in words.LISTS:
                return Rank(i, k + 1, 1, bottom=rear or word in words.CLOSERS, negated=negated)
            if not free[k] or tokens[k].text not in ("off", "out", "up", "the", "our", "this", "whole", "released"):
                return None
    return None


def _medals(tokens: list[Token], first: int, last: int, free: list[bool]) -> bool:
    """Whether two medals are given in a sentence, and the words are not "from gold to bronze"."""
    named = [k for k in range(first, last) if free[k] and tokens[k].text in _MEDALS][:2]
    return len(named) > 1 and tokens[named[0] - 1].text != "from" and named[1] - named[0] > 2


def _at_an_end(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> bool | None:
    """ "The list comes to its end", "at the foot of the ranking", "at the very top": True for its end."""
    word = tokens[i].text
    if word not in words.BEGINNINGS | words.ENDINGS:
        return None
    near = [tokens[k].text for k in range(max(first, i - 6), min(i + 5, last)) if free[k]]
    before = [t.text for t in tokens[max(first, i - 3) : i]]
    placed = bool(set(before) & {"at", "to", "its", "an", "very", "far"}) and "the" in {*before, "its"} | set(near)
    return word in words.ENDINGS if placed and set(near) & (words.LISTS | {"very", "far"}) else None
