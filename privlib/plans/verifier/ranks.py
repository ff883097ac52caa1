"""Ranks that a sentence claims: "the second theme", "#2", "closes the list", "none has more than"."""

from __future__ import annotations

from dataclasses import replace

from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.idioms import NEAR, Rank, idiom, names
from privlib.plans.verifier.numbers import SMALL
from privlib.plans.verifier.promises import denied_after
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token

_NO_ONE = frozenset(("no", "none", "nothing", "neither", "nobody"))
_SMALL = frozenset(("small", "low", "rare", "light", "few", "little", "weak"))
_ORDERS = frozenset(("in", "this", "that", "descending", "decreasing", "falling", "rank", "following", "ascending"))
_ORDERS |= {"increasing", "rising", "size", "weight", "mass"}
_RISING = frozenset(("ascending", "increasing", "rising", "bottom"))
_STEPS = frozenset(("the", "a", "an", "in", "at", "on", "as", "its", "of"))
_OPEN = frozenset((".", ")", ":", "|"))
_PLACED = frozenset(("#", "rank", "ranked", "ranks", "number", "place", "position", "row", "spot", "theme", "topic"))


def read_ranks(tokens: list[Token], first: int, last: int, free: list[bool]) -> list[Rank]:
    """Rank claims among the free tokens [first, last)."""
    found: list[Rank] = []
    at, cue = first, _sequence(tokens, first, last, free)
    while at < last:
        claim = None
        if free[at]:
            claim = _beaten_by_none(tokens, at, first, last, free) or idiom(tokens, at, first, last, free)
            claim = claim or _rank_at(tokens, at, first, last, free)
        if claim is not None:
            if claim.several and cue is not None:
                claim = replace(claim, ordered=True, among=False)
            after = claim.several or denied_after(tokens, free, claim.last, last)
            found.append(claim if claim.several or not after else replace(claim, negated=True))
        at = at + 1 if claim is None else claim.last
    if cue is not None and names(free, first, last) > 1 and not any(claim.several for claim in found):
        rising = tokens[cue].text in _RISING or tokens[cue - 1].text in _RISING | words.BOTTOM
        found.append(Rank(cue, cue + 1, 1, bottom=rising, several=True, among=True, ordered=True))
    return found


def _sequence(tokens: list[Token], first: int, last: int, free: list[bool]) -> int | None:
    """Where a sentence says that its list is in order: "in that order", "biggest first", "from the top down"."""
    for k in range(first + 1, last):
        word, before = tokens[k].text, [t.text for t in tokens[max(first, k - 3) : k]]
        if not free[k]:
            continue
        if word == "order" and "in" in before and before[-1] in _ORDERS and tokens[min(k + 1, last - 1)].text != "to":
            return k
        if word == "first" and before[-1] in words.TOP | words.BOTTOM and "the" not in before:
            return k
        near = tokens[k + 1].text if k + 1 < last else ""
        if word in words.TOP | words.BOTTOM and before[-2:] == ["from", "the"] and near in ("down", "up", ":", "to"):
            return k
        if word == "bronze" and before == ["from", "gold", "to"]:
            return k
    return None


def _beaten_by_none(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> Rank | None:
    """ "No theme has a higher mass than X", "all others outweigh X": X is first; last."""
    others = tokens[i].text in ("every", "all", "any", "each") and tokens[min(i + 1, last - 1)].text in (
        "other",
        "others",
    )
    if tokens[i].text not in _NO_ONE and not others:
        return None
    for k in range(i + 1, min(i + 10, last)):
        if not free[k] or tokens[k].text in (",", ":", "("):
            return None
        word = tokens[k].text
        if k == i + 1 and tokens[i].text == "no" and word in words.MORE | words.LESS | {"more", "less"}:
            return None  # "no larger than" speaks of one theme
        if word == "as" and k + 3 < last and tokens[k + 2].text == "as" and not all(free[k + 3 : k + 5]):
            return Rank(i, k + 3, 1, bottom=tokens[k + 1].text in _SMALL) if not others else None
        verb = (
            word in ("reaches", "matches", "equals", "approaches")
            or word in (words.VERBS_MORE | words.VERBS_LESS) - {"<", ">"}
            or (word == "outweigh")
        )
        if not verb and word not in words.MORE | words.LESS | {"more", "less"}:
            continue
        than = next((j for j in range(k, min(k + 7, last)) if free[j] and tokens[j].text == "than"), None)
        end = k if verb else than
        if end is None:
            return None
        named = next((j for j in range(end + 1, min(end + 5, last)) if not free[j]), None)
        if named is None:
            return None
        down = word in words.LESS | words.VERBS_LESS | {"less"}
        if not verb and any(tokens[j].text in words.INFREQUENT for j in range(k, end)):
            down = not down
        return Rank(i, end + 1, 1, bottom=down != others)
    return None


def _rank_at(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> Rank | None:
    word = tokens[i].text
    after = [t.text for t in tokens[i + 1 : min(i + 5, last)]] + [""] * 4
    before = [""] * 3 + [t.text for t in tokens[max(first, i - 3) : i]]
    negated = is_negated(tokens, free, first, i, 4)
    ranked = before[-1] in ("is", "was", ":", "=", "of") and any(
        free[k] and tokens[k].text in ("rank", "position")
        for k in range(max(first, i - (40 if before[-1] != "of" else 3)), i)
    )
    if tokens[i].kind == "number" and word.isdecimal():
        return _numbered(tokens, i, first, last, free, after, before, negated, ranked)
    cued = (
        before[-1] in ("number", "no", "rank", "ranked", "ranks", "position", "place")
        or before[-2:] == ["no", "."]
        or before[-2:] in (["number", "-"], ["no", "-"])
    )
    if (
        word in SMALL
        and (cued or ranked or _enumerated(tokens, i, first))
        and after[0] not in ("over", "above", "of", "ahead", "before")
    ):
        return Rank(i, i + 1, SMALL[word], negated=negated)
    j = i
    place = 1
    if word in words.ORDINALS:
        place = words.ORDINALS[word]
        j = i + 1 + (after[0] == "-")
        ordinal = _ordinal(tokens, i, j, first, last, free, before, negated)
        if ordinal is None and word == "first" and _count(tokens, j, last):
            return _superlative(tokens, i, i, place, first, last, free, before, negated)
        if ordinal is not None or not (j < last and tokens[j].text in words.TOP | words.BOTTOM | {"most", "least"}):
            return ordinal
        if tokens[j].text == "first":
            return None
    return _superlative(tokens, i, j, place, first, last, free, before, negated)


def _ordinal(tokens, i, j, first, last, free, before, negated) -> Rank | None:
    """ "X comes second", "second is X", "the second theme", "in second place", "X second, Y third"."""
    place = words.ORDINALS[tokens[i].text]
    end = tokens[j].text if j < last else ""
    nearby = [t.text for t in tokens[j : min(j + 3, last)]] + [""] * 3
    if end in words.TOP | words.BOTTOM | {"most", "least"} and end != "first":
        return None
    if nearby[:2] == ["to", "last"] or nearby[:3] == ["from", "the", "bottom"] or nearby[:2] == ["from", "bottom"]:
        return Rank(i, j + 2, place, bottom=True, negated=negated)
    if end in words.POSITIONS or end in words.SINGULARS:
        return Rank(i, j + 1 if end in words.POSITIONS else i + 1, place, negated=negated)
    if end == "to" or (before[-1] in {"a", "-", "one"} | SMALL.keys() and place > 1 and end not in words.THEMES):
        return None  # "second to A", a comparison; "a third of the whole", a part
    if nearby[:2] == ["of", "the"] and nearby[2] in words.PLURALS and before[-1] == "the":
        return Rank(i, i + 1, place, negated=negated)
    bracketed = end == ")" and j + 1 < last and not free[j + 1]
    closed = not bracketed and end in ("", ",", ".", ")", "and", "but", "with", "by", "|")
    told = i > first and (tokens[i - 1].kind == "word" or before[-1] in ("(", ":"))
    named = not all(free[max(first, i - 40) : i])
    if closed and told and named and before[-1] not in _STEPS | SMALL.keys() | words.EVERYONE | {"and"}:
        return Rank(i, i + 1, place, negated=negated)
    if _coordinated(tokens, j, last):
        return Rank(i, i + 1, place, negated=negated)
    named = i > first and not free[i - 1]
    if named and place > 1:
        return Rank(i, i + 1, place, negated=negated)
    if before[-1] == "," and i - 2 >= first and not free[i - 2] and end in ("", ",", "with"):
        return Rank(i, i + 1, place, negated=negated)
    if named and (end in ("", ",", ".", ")", "and", "with", "at", "in", "(") or not free[min(j, last - 1)]):
        return Rank(i, i + 1, place, negated=negated)
    verb = before[-1] if before[-1] not in ("the", "clearly", "only", "then", "a", "in", "as") else before[-2]
    if verb in words.PLACING and (
        place > 1 or verb not in ("is", "are", "was", "were", "be") or end in ("", ",", "and", "?")
    ):
        if before[-1] == "the" and end and end not in words.PLURALS and not _noun(end):
            return None
        return Rank(i, i + 1, place, negated=negated)
    opens = i == first or before[-1] in (",", "and", ":", ";", "-", "|")
    if (
        opens
        and j < last
        and (
            end in words.PLACING
            or end in ("in", ":")
            or (end == "?" and i == first)
            or (end == "on" and set(nearby[1:]) & words.LISTS)
            or not free[j]
            or (end == "," and j + 1 < last and not free[j + 1])
        )
    ):
        if (place == 1 and end == ",") or (end == "in" and nearby[1] not in ("line", "order", "rank", "the")):
            return None
        return Rank(i, i + 1, place, negated=negated)
    return None


def _enumerated(tokens: list[Token], i: int, first: int) -> bool:
    """Whether a number goes on after "ranks one, two"."""
    k = i - 1
    while k > first and i - k < 12 and (tokens[k].text in SMALL or tokens[k].text in (",", "and")):
        k -= 1
    return k < i - 1 and tokens[k].text in ("ranks", "places", "positions")


def _coordinated(tokens: list[Token], j: int, last: int) -> bool:
    """Whether further ordinals and a noun of position follow ("in first, second and third place")."""
    k = j
    while k < min(j + 12, last) and (tokens[k].text in words.ORDINALS or tokens[k].text in (",", "and", "or")):
        k += 1
    more = any(tokens[i].text in words.ORDINALS for i in range(j, k))
    return more and k < last and tokens[k].text in words.POSITIONS


def _superlative(tokens, i, j, place, first, last, free, before, negated) -> Rank | None:
    head = tokens[j].text if j < last else ""
    following = tokens[j + 1].text if j + 1 < last else ""
    if (
        head == "top"
        and before[-1] == "on"
        and tokens[first].text == "between"
        and names(free, max(first, i - NEAR), i) > 1
    ):
        return None
    if (head == "last" and following == "but") or (head == "least" and before[-2:] == ["but", "not"]):
        return None  # "last but not least"
    if head in ("most", "least"):
        if head == "most" and (following == "of" or following in words.RECORDS or before[-1] == "at"):
            return None  # a majority or a bound, read as a number
        if head == "least" and before[-1] == "at":
            return None
        bottom = (head == "least") != (following in words.INFREQUENT)
        end = j + 1 + (following in words.FREQUENT | words.INFREQUENT)
    elif head in words.TOP or head in words.BOTTOM:
        if head == "last" and following in ("year", "month", "week", "decade"):
            return None
        if head == "first" and (following in (",", "of", "") or i == first) and not _count(tokens, j + 1, last):
            return None
        if head in ("lead", "leading") and (before[-1] in ("to", "not", "that", "this", "it") or following == "over"):
            return None
        if head == "bottom" and following == "line":
            return None
        bottom, end = head in words.BOTTOM, j + 1
    else:
        return None
    start = i
    counted = _count(tokens, end, last) if place == 1 else None
    if counted is None and place == 1 and i > first and free[i - 1] and (told := _count(tokens, i - 1, i)):
        counted, start = (told[0], end), i - 1
    tail = [t.text for t in tokens[end : min(end + 3, last)]]
    plural = any(w in words.PLURALS for w in tail)
    among = "among" in before or before[-2:] == ["of", "the"]
    if counted is not None and counted[0] > 1:
        ordered = any(tokens[k].text == "order" for k in range(end, min(end + 10, last)) if free[k])
        return Rank(
            start,
            max(counted[1], end),
            counted[0],
            bottom,
            several=True,
            among=not ordered,
            negated=negated,
            ordered=ordered,
        )
    return Rank(i, end, place, bottom, several=plural and not among, among=among, negated=negated)


def _numbered(tokens, i, first, last, free, after, before, negated, ranked) -> Rank | None:
    """ "1." at the start of a line or clause, "(1)", "| 1 |", "#2", "rank 3", "No. 4", "2nd"."""
    place = int(tokens[i].text[:9]) if len(tokens[i].text) <= 9 else 10**9
    if after[0] in ("st", "nd", "rd", "th") and tokens[i].end == tokens[i + 1].start:
        return Rank(i, i + 2, place, negated=negated)
    line = i == first and (i == 0 or tokens[i - 1].kind == "line")
    listed = line or i == first or before[-1] in (",", ":", "and", ";") or (before[-1] == "-" and i == first + 1)
    split = i == first and i > 0 and tokens[i - 1].text == ";"
    starts = ((line or split) and after[0] in _OPEN) or (listed and after[0] == ")")
    bracketed = before[-1] == "(" and after[0] == ")" and (i - 2 < first or before[-2] in (",", ":", "and", ";"))
    starts = starts and not (place > 99 and after[0] == ")")
    starts = starts or (bracketed and i + 2 < last and not free[i + 2])
    starts = starts or (
        before[-1] == "|" and after[0] == "|" and i - 1 == first and (i < 2 or tokens[i - 2].kind == "line")
    )
    row = _in_a_row(tokens, i, first, last, free, after, before)
    if starts or row:
        return Rank(i, i + 2, place, ahead=row)
    if before[-1] in _PLACED or before[-2:] in (["no", "."], ["rank", "is"], ["rank", ":"]) or ranked:
        numbered = before[-2:] == ["no", "."]  # "no. 2" denies nothing
        return Rank(i, i + 1, place, negated=negated and not numbered)
    return None


def _in_a_row(tokens, i, first, last, free, after, before) -> bool:
    """Whether a number counts the items of a list within a line: "1) A 2) B", "(1) A (2) B", "1. A, 2. B"."""
    if after[0] not in (")", ".") or len(tokens[i].text) > 2 or tokens[i].end != tokens[i + 1].start:
        return False
    k = i + 2
    while k < min(i + 5, last) and (tokens[k].text in words.ARTICLES or tokens[k].kind == "mark"):
        k += 1
    begin = i - (before[-1] == "(")
    opened = (
        begin == first or tokens[begin - 1].text in (",", ":", ";", "and", "*", "“", "”", '"') or not free[begin - 1]
    )
    return opened and k < last and not free[k]


def _count(tokens: list[Token], i: int, last: int) -> tuple[int, int] | None:
    """The N of "top N" with the token after it."""
    if i < last and tokens[i].kind == "number" and tokens[i].text.isdecimal() and len(tokens[i].text) <= 6:
        return int(tokens[i].text), i + 1
    if i < last and tokens[i].text in SMALL:
        return SMALL[tokens[i].text], i + 1
    return None


def _noun(word: str) -> bool:
    """Whether a word after "the second" is what a plan ranks: a theme, or nothing at all."""
    return word in words.SINGULARS | {"", ",", ".", "is", "was", "and", "in"}
