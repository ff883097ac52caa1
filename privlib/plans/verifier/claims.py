"""Claims other than numbers that a sentence makes: ranks, orders, bins. Found here, judged in `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privlib.plans.plan import LOWEST_BIN
from privlib.plans.verifier import lexicon as words
from privlib.plans.verifier.numbers import SMALL
from privlib.plans.verifier.promises import negated as is_negated
from privlib.plans.verifier.tokens import Token


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


@dataclass(frozen=True)
class Order:
    """Tokens [first, last) say that the left side has more (direction 1), less (-1) or as much (0) as the right."""

    first: int
    last: int
    direction: int
    than: int | None  # index after "than", "to" or "with"


@dataclass(frozen=True)
class Bin:
    """Tokens [first, last) put an atom into one of the bins `allowed`."""

    first: int
    last: int
    allowed: frozenset[str]
    negated: bool = False


def read_ranks(tokens: list[Token], first: int, last: int, free: list[bool]) -> list[Rank]:
    """Rank claims among the free tokens [first, last)."""
    found: list[Rank] = []
    at = first
    while at < last:
        claim = _rank_at(tokens, at, first, last, free) if free[at] else None
        if claim is not None:
            found.append(claim)
        at = at + 1 if claim is None else claim.last
    return found


def _rank_at(tokens: list[Token], i: int, first: int, last: int, free: list[bool]) -> Rank | None:
    word = tokens[i].text
    after = [t.text for t in tokens[i + 1 : min(i + 5, last)]] + [""] * 4
    before = [""] * 3 + [t.text for t in tokens[max(first, i - 3) : i]]
    negated = is_negated(tokens, free, first, i, 3)
    ranked = before[-1] in ("is", "was") and any(
        free[k] and tokens[k].text == "rank" for k in range(max(first, i - 40), i)
    )
    if tokens[i].kind == "number" and word.isdecimal():
        return _numbered(tokens, i, first, last, after, before, negated, ranked)
    cued = before[-1] in ("number", "no", "rank", "ranked", "ranks") or before[-2:] in (["number", "-"], ["no", "-"])
    if word in SMALL and (cued or ranked):
        return Rank(i, i + 1, SMALL[word], negated=negated)
    place, bottom, j = 1, False, i
    if word in words.ORDINALS:
        place = words.ORDINALS[word]
        j = i + 1 + (after[0] == "-")
        end = tokens[j].text if j < last else ""
        if end == "to" and after[1:2] == ["last"] and place == 2:
            return Rank(i, j + 2, 2, bottom=True, negated=negated)
        superlative = end in words.TOP | words.BOTTOM | {"most", "least", "in", "place", "placed", "rank", "ranked"}
        placed = before[-1] in (
            "ranks",
            "ranked",
            "rank",
            "is",
            "comes",
            "came",
            "places",
            "placed",
            "in",
            "the",
            "are",
        )
        if not superlative and not (placed and place > 1) and not (placed and before[-1] not in ("in", "the")):
            return None
        if end not in words.TOP | words.BOTTOM | {"most", "least"} or end == "first":
            if before[-1] == "the" and (end not in words.PLURALS and _noun(end) is False):
                return None
            return Rank(i, i + 1, place, negated=negated)
    head = tokens[j].text if j < last else ""
    following = tokens[j + 1].text if j + 1 < last else ""
    if head in ("most", "least"):
        if head == "most" and (following in ("of",) or following in words.RECORDS or before[-1] == "at"):
            return None  # a majority or a bound, read as a number
        if head == "least" and before[-1] == "at":
            return None
        bottom = (head == "least") != (following in words.INFREQUENT)
        end = j + 1 + (following in words.FREQUENT | words.INFREQUENT)
    elif head in words.TOP or head in words.BOTTOM:
        if head == "last" and following in ("year", "month", "week", "decade"):
            return None
        if head == "first" and (following in (",", "of", "") or i == first):
            return None
        if head in ("lead", "leading") and before[-1] in ("to", "not"):
            return None
        bottom, end = head in words.BOTTOM, j + 1
    else:
        return None
    counted = _count(tokens, end, last) if place == 1 else None
    tail = [t.text for t in tokens[end : min(end + 3, last)]]
    plural = any(w in words.PLURALS for w in tail)
    among = "among" in before or before[-2:] == ["of", "the"]
    if counted is not None and counted[0] > 1:
        return Rank(i, counted[1], counted[0], bottom, several=True, among=True, negated=negated)
    return Rank(i, end, place, bottom, several=plural and not among, among=among, negated=negated)


def _numbered(tokens, i, first, last, after, before, negated, ranked) -> Rank | None:
    """ "1." at the start of a line, "#2", "rank 3", "No. 4", "2nd"."""
    place = int(tokens[i].text[:9]) if len(tokens[i].text) <= 9 else 10**9
    starts = i == first and (i == 0 or tokens[i - 1].kind == "line") and after[0] in (".", ")", ":")
    cued = before[-1] in ("#", "rank", "ranked", "ranks", "number") or before[-2:] in (["no", "."], ["rank", "is"])
    if starts or cued or ranked:
        return Rank(i, i + 1 + starts, place, negated=negated)
    if after[0] in ("st", "nd", "rd", "th") and tokens[i].end == tokens[i + 1].start:
        return Rank(i, i + 2, place, negated=negated)
    return None


def _count(tokens: list[Token], i: int, last: int) -> tuple[int, int] | None:
    """The N of "top N" with the token after it."""
    if i < last and tokens[i].kind == "number" and tokens[i].text.isdecimal() and len(tokens[i].text) <= 6:
        return int(tokens[i].text), i + 1
    if i < last and tokens[i].text in SMALL:
        return SMALL[tokens[i].text], i + 1
    return None


def _noun(word: str) -> bool:
    """Whether a word after "the second" is what a plan ranks: a theme, or nothing at all."""
    return word in {"", "theme", "atom", "topic", "category", "label", "concern", "issue", "item", "one", "is", "was"}


def read_orders(tokens: list[Token], first: int, last: int, free: list[bool]) -> list[Order]:
    """Comparisons among the free tokens [first, last)."""
    found = []
    for i in range(first, last):
        if not free[i]:
            continue
        direction = _direction(tokens, i, last)
        if direction is None:
            continue
        than = next((k + 1 for k in range(i, min(i + 8, last)) if free[k] and tokens[k].text == "than"), None)
        if direction and than is None and tokens[i].text in words.VERBS_MORE | words.VERBS_LESS:
            than = i + 1 + (i + 1 < last and tokens[i + 1].text == "of")
        negated = is_negated(tokens, free, first, i, 3)
        found.append(Order(i, i + 1, -direction if negated else direction, than))
    return found


def _direction(tokens: list[Token], i: int, last: int) -> int | None:
    word = tokens[i].text
    near = [t.text for t in tokens[i + 1 : min(i + 4, last)]]
    if word in ("more", "less"):
        sign = 1 if word == "more" else -1
        if "than" not in [t.text for t in tokens[i + 1 : min(i + 8, last)]] and not (set(near[:2]) & words.FREQUENT):
            return None
        return -sign if near and near[0] in words.INFREQUENT else sign
    if word in words.MORE or word in words.VERBS_MORE:
        return 1
    if word in words.LESS or word in words.VERBS_LESS:
        return -1
    if word in words.MULTIPLE or word in words.EQUAL or (word == "times" and near[:1] in (["more"], ["as"])):
        return 0
    if word == "as" and any(t.text == "as" for t in tokens[i + 2 : min(i + 4, last)]):
        middle = near[0] if near else ""
        return 0 if middle in words.FREQUENT | words.INFREQUENT | {"many", "much", "high", "low"} else None
    return 0 if word in ("similar", "comparable") and "to" in near[:2] else None


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
        word = tokens[i].text
        if not free[i] or word not in meaning:
            continue
        before = tokens[i - 1].text if i > first else ""
        following = tokens[i + 1] if i + 1 < last else None
        if before in ("more", "most", "less", "least", "as", "how", "equally") or (following and following.text == "-"):
            continue
        claimed = before in words.COPULAS or following is None or following.kind != "word"
        if claimed or following.text in (
            "support",
            "bin",
            "mass",
            "theme",
            "concern",
            "frequency",
            "in",
            "among",
            "for",
        ):
            found.append(Bin(i, i + 1, meaning[word], is_negated(tokens, free, first, i)))
    return found
