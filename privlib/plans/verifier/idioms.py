"""Ranks in other words than ordinals: "heads the list", "runner-up", "gold for", "at the very bottom"."""

from __future__ import annotations

from dataclasses import dataclass

from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.medals import crowned, medal
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token

NEAR = 60  # tokens that a look around reaches
_WHO = frozenset(("which", "what", "who"))
_ENDS = frozenset(("", ".", ",", "!", ")", ";", "and", "but", "here", "overall", "too", "also", "indeed"))
_JOINS = frozenset(("that", "but", "while", ";", "("))
_OPENING = frozenset(("the", "a", "an", "so", "and", "here", ",", "yes", "overall", "-", '"', "“"))
_OUT = frozenset(("comes", "come", "came", "out", "is", "was", "finishes", "finished", "still", "in", "well", "far"))
_OUT |= words.NEGATIONS | {"does", "do", "did"}
_SHOWS = frozenset(("reads", "runs", "is", "are", "holds", "has", "shows"))
_WITHIN = frozenset(("among", "of", "within", "between", "in", "for", "without", "unlike", "as"))
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
    ahead: bool = False  # of an item in a row, "2) B": said of what follows


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
    if word == "podium" and after[:1] and after[0] in _SHOWS and not all(free[i + 2 : min(i + 6, last)]):
        return Rank(i, i + 2, 1, several=True, ordered=after[0] in ("reads", "runs"), negated=negated)
    if word in ("leaders", "frontrunners"):
        among = i > first + 1 and "of" in (tokens[i - 1].text, tokens[i - 2].text)
        return Rank(i, i + 1, 1, several=not among, among=among, negated=negated)
    fronted = word in ("behind", "below") or (word == "above" and i == first)
    if fronted and after[:1] == ["all"] and after[1:2] in ([], *_OTHERS):
        return Rank(i, i + 2 + (after[1:2] != [","]), 1, bottom=word != "above", negated=negated)
    if word in ("more", "less") and after[:1] == ["than"] and after[1:2] in (["anything"], ["everything"]):
        return Rank(i, i + 3, 1, bottom=word == "less", negated=negated)
    if (won := medal(tokens, i, first, last, free)) is not None:
        return Rank(i, won[1], won[0], negated=is_negated(tokens, free, first, i, 5))
    if (won := crowned(tokens, i, first, last)) is not None:
        return Rank(i, won[1], won[0], negated=is_negated(tokens, free, first, i, 5))
    if word in ("without", "no") and "medal" in after[:2] and set(after[:1]) <= {"a", "any", "medal"}:
        return Rank(i, i + 1 + after.index("medal") + 1, 3, several=True, among=True, negated=True)
    if (at := _at_an_end(tokens, i, first, last, free)) is not None:
        return Rank(i, i + 1, 1, bottom=at, negated=is_negated(tokens, free, first, i))
    if (led := _led(tokens, i, first, last, free)) is not None:
        return Rank(i, i + 1, 1, bottom=led, negated=negated)
    if word in ("winner", "leader") or (
        word in ("win", "wins", "won") and after[:1] in ([], [","], ["."], ["and"], ["overall"], ["here"], ["?"])
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


def _led(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> bool | None:
    """Whether a verb of exceeding without an object gives the last (True) or first rank: "A leads", "which trails?".

    The verb ends its clause. It is asked of no label ("which theme leads?") or told of the label that opens the
    sentence, with no other before it: "of A and B, A leads" compares.
    """
    word = tokens[i].text
    ends = tokens[i + 1].text if i + 1 < last else ""
    front = word == "front" and tokens[i - 1].text == "in" and tokens[max(first, i - 2)].text in words.PLACING | {"out"}
    denied = word == "lead" and tokens[i - 1].text in words.NEGATIONS  # "does not lead"
    more = (
        front
        or denied
        or word in ("ahead", "prevails", "triumphs")
        or word in words.VERBS_MORE - words.PLACES | {"leads"}
    )
    if not more and word not in words.VERBS_LESS - words.PLACES - {"trailing", "<"}:
        return None
    if i - first > NEAR:
        return None
    if word in ("ahead", ">", "trailing", "exceeding") and not (word == "ahead" and tokens[i - 1].text in _OUT):
        return None
    if ends == "?" and {token.text for token in tokens[first : min(first + 3, i)]} & _WHO:
        return not more if all(free[first:i]) else None
    joined = next((k + 1 for k in range(i - 1, first, -1) if free[k] and tokens[k].text in _JOINS), first)
    if tokens[first].text not in _WITHIN and names(free, joined, i) == 1:
        first = joined  # "they say that A leads", "B was admitted, but A leads"
    if ends not in _ENDS or names(free, first, i) != 1:
        return None
    opened = first
    if tokens[first].text not in _WITHIN:  # "among the moderate ones, A leads"
        opened = next((k + 1 for k in range(i - 1, first, -1) if free[k] and tokens[k].text in (",", ":")), first)
    while opened < i and free[opened] and tokens[opened].text in _OPENING:
        opened += 1
    named = next(k for k in range(i - 1, first - 1, -1) if not free[k])
    light = all(tokens[k].text in _OUT or tokens[k].text.endswith("ly") for k in range(named + 1, i))
    return not more if not free[opened] and (light or front) else None


def _at_an_end(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> bool | None:
    """ "The list comes to its end", "at the foot of the ranking", "at the very top": True for its end."""
    word = tokens[i].text
    if word not in words.BEGINNINGS | words.ENDINGS:
        return None
    near = [tokens[k].text for k in range(max(first, i - 6), min(i + 5, last)) if free[k]]
    before = [t.text for t in tokens[max(first, i - 3) : i]]
    placed = bool(set(before) & {"at", "to", "its", "an", "very", "far"}) and "the" in {*before, "its"} | set(near)
    return word in words.ENDINGS if placed and set(near) & (words.LISTS | {"very", "far"}) else None
