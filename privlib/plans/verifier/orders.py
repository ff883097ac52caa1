"""Comparisons that a sentence makes between two atoms."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.contests import contest, evened, stood_behind
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token

_HELD = frozenset(("against", "compared", "relative", "unlike", "next", "between", "of"))
_LOST = {"loses": ("to", "against"), "lost": ("to", "against"), "lose": ("to", "against"), "second": ("to",)}
_LOST |= {"seat": ("to",), "inferior": ("to",), "yields": ("to",)}
_LOST |= {word: ("beside", "next", "against") for word in ("pales", "pale")}
_NEAR = 60  # tokens that a look back reaches
_WINS = frozenset(("win", "wins", "won", "winner", "leader"))
_SMALL = frozenset(("small", "low", "rare", "light", "few", "little", "weak"))
_SIZES = _SMALL | words.FREQUENT | {"large", "big", "high", "heavy", "strong", "great", "many", "much", "often"}
_LOOSE_SIZES = _SIZES - words.FREQUENT - words.INFREQUENT - {"many", "much", "high", "low"}
_QUANTIFIED = frozenset(("few", "none", "no", "nothing", "hardly", "others", "many", "nearly", "almost"))
_PARTS = frozenset(("half", "twice", "thrice", "times", "third", "quarter", "double"))
_PUT = frozenset(("put", "puts", "place", "places", "rank", "ranks", "set", "sets", "prefer", "prefers"))
_WEIGHS = frozenset(("weighs", "weigh", "has", "have", "gets", "carries", "scores"))
_UNDER = frozenset(("under", "underneath", "beneath"))
_STANDING = frozenset(("after", "before", "behind", "below", "beneath", "under", "underneath", "above"))
_STOOD = words.PLACING | {"well", "far", "right", "just", "close", "closely", "immediately", "lie", "lies", "remains"}
_OVER = dict.fromkeys(("over", "above", "beyond", "past", "ahead"), 1)
_OVER |= dict.fromkeys(("below", "behind", "beneath", "under", "underneath"), -1)
_STOPS = frozenset(("and", "or", "is", "are", "with", "in", "of", "to", "from", "that", "which", "who", "by", "for"))
_PREDICATES = _WEIGHS | {"is", "are", "was", "were", "poses", "draws", "drew", "takes", "makes", "causes", "being"}
_TAKES = frozenset(("lead", "edge", "advantage", "over"))
_RANKS = frozenset(("rank", "ranks", "ranked", "order", "orders", "ordered"))
_PAIR = frozenset(("two", "both", "these", "them", "pair", "those"))


@dataclass(frozen=True)
class Order:
    """Tokens [first, last) say that the left side has more (direction 1), less (-1) or as much (0) as the right.

    `than`: index after "than", "to" or "with". `pair`: said of one of two ("the larger of the two").
    """

    first: int
    last: int
    direction: int
    than: int | None
    pair: bool = False
    close: bool = False  # said that the order cannot be told (direction 0) or that the margin is passed (1)
    unranked: bool = False  # "the plan does not rank A above B": true unless A has more by the margin
    even: bool = False  # "A is as common as B", "A and B tie": as much, as far as the margin tells (direction 0)
    follows: bool = False  # "A is followed by B": an order of ranks, which needs no margin


def read_orders(tokens: list[Token], first: int, last: int, free: list[bool], taken: Container[int]) -> list[Order]:
    """Comparisons among the free tokens [first, last) that are not `taken` by another claim."""
    found = []
    for i in range(first, last):
        if not free[i] or i in taken:
            continue
        if tokens[i].text in words.MORE | {"more"} and _to_margin([t.text for t in tokens[i + 1 : min(i + 5, last)]]):
            within = is_negated(tokens, free, first, i, 10)  # "do not differ by more than the margin"
            found.append(Order(i, i + 1, 0 if within else 1, None, close=True))
            continue
        if _close(tokens, i, first, last):
            found.append(Order(i, i + 1, 0, None, close=True))
            continue
        near = [t.text for t in tokens[i + 1 : min(i + 4, last)]]
        negated = is_negated(tokens, free, first, i, 4)
        if tokens[i].text == "followed" and near[:1] == ["by"]:
            found.append(Order(i, i + 2, -1 if negated else 1, i + 2, follows=True))
            continue
        if (won := contest(tokens, i, first, last, free, negated)) is not None:
            found.append(Order(i, won[1], won[0], won[1], even=won[0] == 0))
            continue
        if (level := evened(tokens, i, first, last, free)) is not None:
            end, paired = level
            found.append(Order(i, end, 1 if negated else 0, end if paired else None, even=True))
            continue
        lost = _LOST.get(tokens[i].text, ())
        if near[:1] and near[0] in lost and (tokens[i].text != "second" or (i + 2 < last and not free[i + 2])):
            found.append(Order(i, i + 2, 1 if negated else -1, i + 2))
            continue
        if (
            tokens[i].text in ("wins", "won", "win", "edges", "edged")
            and near[:1]
            and near[0] in ("against", "over", "out")
        ):
            found.append(Order(i, i + 2, -1 if negated else 1, i + 2))
            continue
        if (tokens[i].text in _WINS or (tokens[i].text == "top" and tokens[first].text == "between")) and (
            sum(not free[k] and (k == first or free[k - 1]) for k in range(max(first, i - _NEAR), i)) > 1
        ):
            found.append(Order(i, i + 1, -1 if negated else 1, None, pair=True))
            continue
        if tokens[i].text == "as" and i + 2 < last and tokens[i + 2].text == "as" and negated and near[0] in _SIZES:
            found.append(Order(i, i + 3, 1 if near[0] in _SMALL else -1, i + 3))
            continue
        leaves = tokens[i].text in ("leaves", "leave", "left") and not all(free[i + 1 : min(i + 3, last)])
        if leaves and any(free[k] and tokens[k].text == "behind" for k in range(i + 1, min(i + 12, last))):
            found.append(Order(i, i + 1, -1 if negated else 1, i + 1))
            continue
        # "falls short of B", "does not reach the mass of B"
        short = tokens[i].text == "short" and near[:1] == ["of"]
        if short or (tokens[i].text in ("reach", "match", "equal") and negated):
            found.append(Order(i, i + 1, -1, i + 1))
            continue
        direction = _direction(tokens, i, first, last, free)
        if direction is None:
            continue
        verb = tokens[i].text in words.VERBS_MORE | words.VERBS_LESS
        than = None if verb else _than(tokens, i, last, free)  # "ahead of B by more than the margin"
        alone = verb and near[:1] in ([], ["."], ["!"]) and _turned(tokens, i, first)  # "compared with B, A leads"
        if direction and than is None and not alone and (verb or tokens[i].text in _TAKES):
            than = i + 1 + (i + 1 < last and tokens[i + 1].text in ("of", "over"))
        pair = than is None and any(
            tokens[k].text == "of" and {t.text for t in tokens[k + 1 : min(k + 3, last)]} & _PAIR
            for k in range(i + 1, min(i + 4, last))
        )
        even = direction == 0 and tokens[i].text in words.EQUAL | {"as", "similar", "comparable"}
        even = even and not (i > first and tokens[i - 1].text in _PARTS)
        if even and negated and tokens[i].text != "as":
            found.append(Order(i, i + 1, 1, than, even=True))
            continue
        if even and tokens[i].text == "as":
            than = next(k + 1 for k in range(i + 2, min(i + 5, last)) if tokens[k].text == "as")
        pair = pair or (than is None and i > first and tokens[i - 1].text == "the" and near[:1] != ["the"])
        if _passive(tokens, i, first, near):
            direction, than = -direction, i + 2
        unranked = negated and not _RANKS.isdisjoint(t.text for t in tokens[max(first, i - 6) : i])
        found.append(
            Order(
                i,
                i + 1,
                -direction if negated and not unranked else direction,
                than,
                pair,
                even=even,
                unranked=unranked,
            )
        )
    return found


def _direction(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> int | None:
    word = tokens[i].text
    near = [t.text for t in tokens[i + 1 : min(i + 4, last)]]
    if (beside := _between(tokens, i, first, last, free)) is not None:
        return beside
    if word in _STANDING and i > first and not {t.text for t in tokens[max(first, i - 4) : i]} & _STOOD:
        return None  # "care after surgery", "the people behind it": no place in a ranking
    if word in _STANDING and stood_behind(tokens, i, first, last, free):
        return None
    if word == "=" and i + 1 < last and all(free[i + 1 : min(i + 4, last)]):
        return None  # "A + B = what goes on our slide"
    if word in _UNDER and i == first:
        return None  # "under consideration"
    if word in _UNDER and tokens[i - 1].kind == "word" and free[i - 1] and tokens[i - 1].text not in _STOOD:
        return None  # "is recorded under"
    if word == "over" and i + 1 < last and not free[i - 1] and not free[i + 1]:
        return 1 if {t.text for t in tokens[max(first, i - 12) : i]} & _PUT else None
    if word == "equally" and not set(near[:1]) & (words.FREQUENT | words.INFREQUENT):
        return None
    if word in ("more", "less"):
        sign = 1 if word == "more" else -1
        held = {t.text for t in tokens[max(first, i - 40) : i]} & _HELD and tokens[i - 1].text in _WEIGHS
        if (
            _than(tokens, i, last, free) is None
            and not (set(near[:2]) & words.FREQUENT)
            and not held
            and not _asked(tokens, i, last)
        ):
            return None
        return -sign if near and near[0] in words.INFREQUENT else sign
    if word in ("lead", "edge", "advantage") and near[:1] == ["over"]:
        return 1
    thing = tokens[i + 1] if i + 1 < last else None
    if (
        word in words.MORE | words.LESS
        and i > first
        and tokens[i - 1].text in ("a", "an")
        and thing is not None
        and not {thing.text, thing.stem} & words.public_words()
        and _than(tokens, i, last, free) is None
        and tokens[max(first, i - 2)].text not in _PREDICATES  # "is a larger nuisance"
    ):
        return None  # "a higher fee"
    if word in words.MORE or word in words.VERBS_MORE or (word in ("tops", "topped") and not all(free[i + 1 : i + 2])):
        return 1
    if word in words.LESS or word in words.VERBS_LESS:
        return -1
    if word in words.EQUAL and _copula(tokens, i, last):
        return None
    if (
        word in words.MULTIPLE
        or word in words.EQUAL
        or (word == "times" and near[:1] in (["more"], ["as"]) and tokens[i - 1].text != "many")
    ):
        return 0
    if word == "as" and any(t.text == "as" for t in tokens[i + 2 : min(i + 5, last)]):
        middle = near[0] if near else ""
        if middle in _LOOSE_SIZES or "as" not in near[1:2]:  # "as many times as A", not "as many as 12"
            ends = next(k for k in range(i + 2, min(i + 5, last)) if tokens[k].text == "as")
            if not _QUANTIFIED.isdisjoint(token.text for token in tokens[max(first, i - 6) : i]):
                return None  # "few themes are as large as A"
            return 0 if middle in _SIZES and not all(free[ends + 1 : min(ends + 4, last)]) else None
        return 0 if middle in words.FREQUENT | words.INFREQUENT | {"many", "much", "high", "low"} else None
    return 0 if word in ("similar", "comparable") and "to" in near[:2] else None


def _between(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> int | None:
    """Which side has more by a preposition of place between two labels: "A towers over B", "A falls behind B"."""
    side = _OVER.get(tokens[i].text)
    named = i + 1 < last and not all(free[i + 1 : min(i + 3, last)]) and tokens[i + 1].text not in ("and", ",")
    if side is None or not named:
        return None
    k = i - 1
    while k > first and i - k <= 4 and free[k] and tokens[k].kind == "word" and tokens[k].text not in _STOPS:
        k -= 1
    return side if k < i - 1 and not free[k] and i - k <= 4 else None


def _turned(tokens: list[Token], i: int, first: int) -> bool:
    return bool({token.text for token in tokens[max(first, i - 24) : i]} & (_HELD - {"of", "between"}))


def _passive(tokens: list[Token], i: int, first: int, near: list[str]) -> bool:
    """ "Is exceeded by", "has been surpassed by", "beaten by": what stands left has less."""
    word = tokens[i].text
    return word in words.VERBS_MORE | words.VERBS_LESS and word.endswith(("ed", "en", "beat")) and near[:1] == ["by"]


def _asked(tokens: list[Token], i: int, last: int) -> bool:
    """Whether the comparison stands in a question ("which weighs more, A or B?")."""
    return any(tokens[k].text == "?" for k in range(i + 1, min(i + 60, last)))


def _close(tokens: list[Token], i: int, first: int, last: int) -> bool:
    """ "Too close to call", "cannot be told apart", "indistinguishable", "treated as equals": no order is claimed."""
    word = tokens[i].text
    before = [t.text for t in tokens[max(first, i - 5) : i]]
    after = [t.text for t in tokens[i + 1 : min(i + 5, last)]]
    if word in ("less", "smaller") and _to_margin(after):
        return True
    if word in ("tie", "tied", "ties") and before[-1:] and before[-1] in ("nearly", "almost"):
        return True
    if word == "indistinguishable" or (word == "close" and before[-1:] == ["too"]):
        return True
    if word == "apart" or word in ("ordered", "ranked", "distinguished", "separated"):
        return bool(set(before) & {"cannot", "can't", "couldn't"}) or before[-2:] == ["not", "be"]
    treated = {"treat", "treated", "regard", "regarded", "consider", "considered", "count", "read"}
    return (
        word in words.EQUAL | {"equals", "similar"}
        and bool(set(before) & {"as"})
        and not treated.isdisjoint(t.text for t in tokens[max(first, i - 12) : i])
    )


def _than(tokens: list[Token], i: int, last: int, free: list[bool]) -> int | None:
    """Index after the "than" that follows within eight tokens, labels not counted."""
    steps = 0
    for k in range(i, min(i + 40, last)):
        if free[k] and tokens[k].text == "than":
            return k + 1
        if free[k] and tokens[k].text in (",", "?", ":") and k > i:
            break
        steps += free[k]
        if steps > 8:
            break
    return None


def _to_margin(after: list[str]) -> bool:
    return after[:1] == ["than"] and bool({"margin", "noise"} & set(after))


def _copula(tokens: list[Token], i: int, last: int) -> bool:
    """Whether "equals" says a share ("equals half of", "equal to a small part of"), not an order."""
    near = [t.text for t in tokens[i + 1 : min(i + 7, last)]]
    return "of" in near and bool(set(near) & (words.PARTS_OF | {"half", "most", "majority", "all", "any", "none"}))
