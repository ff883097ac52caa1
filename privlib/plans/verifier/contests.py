"""Set phrases that say which of two labels has more: "A has to yield to B", "A cannot keep up with B"."""

from __future__ import annotations

from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.tokens import Token

_LOSING = """yield to|yields to|yielded to|give way to|gives way to|gave way to|bow to|bows to|bowed to|defer to
defers to|second fiddle to|no match for|nowhere near|in the shadow of|in the shade of|no chance against|no hope against
no rival to|no threat to|concedes to|cedes to|in the wake of|cannon fodder for
comes off worse than|come off worse than|came off worse than|left standing by|put in the shade by|nothing on"""
_WINNING = """in front of|clear of|upper hand over|the better of|the measure of|rings around|circles around
too strong for|too big for|too much for|prevails over|prevail over|triumphs over|triumph over|victory over
a head start over|a lead on|streets ahead of|on top of"""
# told of the left side only where it is denied: "cannot keep up with B"
_MATCHING = """keep up with|keeps up with|kept up with|keep pace with|keeps pace with|kept pace with|keep step with
catch up with|catches up with|caught up with|hold a candle to|holds a candle to|compete with|competes with|come close to
comes close to|came close to|get close to|come near|comes near|get near|gets near|live up to|lives up to|measure up to
hold its own against|stand up to|come up to|draw level with|keep up to|catch|touch|rival|approach|threaten|challenge"""
_EVEN = frozenset(("pace", "step", "level"))
_CAUGHT = frozenset(("caught", "matched", "reached", "rivalled", "rivaled", "touched", "approached", "threatened"))
_SPLIT = {"leaves": ("standing", "trailing", "far", "well", "in"), "leave": ("standing", "trailing", "far", "well")}
_SPLIT |= {"left": ("standing", "trailing", "far"), "puts": ("in", "to"), "put": ("in", "to"), "keeps": ("at",)}
_PARTICLES = {"in": ("the", "its"), "to": ("shame", "flight"), "at": ("bay",)}
_BEFORE_CLEAR = frozenset(("well", "comfortably", "safely", "clearly", "far", "easily"))
_HAS = frozenset(("has", "have", "had"))
_STEPS = lexicon.ARTICLES | lexicon.THEMES
_GAP = 5  # tokens between a phrase and the label it leads to


def _table(text: str, sign: int) -> list[tuple[tuple[str, ...], int]]:
    return [(tuple(phrase.split()), sign) for line in text.split("\n") for phrase in line.split("|")]


_PHRASES: dict[str, list[tuple[tuple[str, ...], int]]] = {}
for _words, _sign in (*_table(_LOSING, -1), *_table(_WINNING, 1), *_table(_MATCHING, 0)):
    _PHRASES.setdefault(_words[0], []).append((_words, _sign))


def contest(
    tokens: list[Token], i: int, first: int, last: int, free: Sequence[bool], denied: bool
) -> tuple[int, int] | None:
    """The side that has more by a set phrase at token i (1 left, -1 right, 0 neither), with the token after the phrase.

    A label must follow. `denied`: a negation stands before i; it turns a phrase of winning or losing round, and makes
    one of matching ("keep up with") a phrase of losing. Not denied, "keep pace with" and its like say that neither
    has more (0), and what only comes close orders nothing.
    """
    word = tokens[i].text
    for phrase, sign in _PHRASES.get(word, ()):
        end = i + len(phrase)
        if end >= last or not all(free[i:end]) or not _named(tokens, end, last, free):
            continue
        if any(tokens[i + k].text != part for k, part in enumerate(phrase)):
            continue
        if phrase == ("nothing", "on") and not (tokens[i - 1].text in _HAS and i - 2 >= first and not free[i - 2]):
            return None  # "the plan has nothing on A"
        if phrase == ("clear", "of") and tokens[i - 1].text not in _BEFORE_CLEAR:
            return None
        if sign:
            return (-sign if denied else sign), end
        if denied or phrase[:2] == ("draw", "level"):
            return (-1 if denied else 0), end
        return (0, end) if _EVEN.intersection(phrase) else None
    if word in _CAUGHT and denied and i + 1 < last and tokens[i + 1].text == "by" and _named(tokens, i + 2, last, free):
        return 1, i + 2  # "cannot be caught by B"
    if word in _SPLIT and _named(tokens, i + 1, last, free):
        k = next(j for j in range(i + 1, last) if not free[j])
        while k < min(i + 16, last) and (not free[k] or tokens[k].kind == "mark"):
            k += 1
        after = [token.text for token in tokens[k : min(k + 2, last)]] + ["", ""]
        if after[0] in _SPLIT[word] and after[1] in _PARTICLES.get(after[0], (after[1],)):
            return (-1 if denied else 1), i + 1
    return None


def evened(tokens: list[Token], i: int, first: int, last: int, free: Sequence[bool]) -> tuple[int, bool] | None:
    """The token after a phrase at i that says of two labels that neither has more, and whether the second must follow.

    "A and B are neck and neck", "A is level with B", "a dead heat between A and B", "A and B share first place".
    """
    word = tokens[i].text
    after = [token.text for token in tokens[i + 1 : min(i + 4, last)]] + [""] * 3
    before = tokens[i - 1].text if i > first else ""
    if word == "neck" and after[:2] == ["and", "neck"]:
        return (i + 4, True) if after[2] == "with" else (i + 3, False)
    if word == "level" and after[0] == "pegging":
        return i + 2, False
    if word in ("level", "even") and after[0] == "with" and _named(tokens, i + 2, last, free):
        return i + 2, True
    if word in ("level", "even") and before in _COME and after[0] in _CLOSED:
        return i + 1, False
    if (word, after[0]) in (("dead", "heat"), ("evenly", "matched")):
        return i + 2, False
    if word == "equally" and before in _HEARD and after[0] in _CLOSED:
        return i + 1, False
    if word == "no" and after[0] == "difference" and after[1] == "between" and _named(tokens, i + 3, last, free):
        return i + 3, False
    if word in ("share", "shares", "shared") and after[1] in ("place", "spot", "rank"):
        return i + 3, False
    if word in ("share", "shares", "shared") and after[0] == "the" and after[2] in ("place", "spot", "rank", "lead"):
        return i + 4, False
    return (i + 2, False) if word == "equal" and after[0] in ("footing", "terms") else None


def _named(tokens: list[Token], k: int, last: int, free: Sequence[bool]) -> bool:
    """Whether a label begins at token k, but for articles and marks."""
    end = min(k + _GAP, last)
    while k < end and free[k] and (tokens[k].text in _STEPS or tokens[k].kind == "mark"):
        k += 1
    return k < end and not free[k]


def stood_behind(tokens: list[Token], i: int, first: int, last: int, free: Sequence[bool]) -> bool:
    """Whether the preposition that opens a clause puts a value behind a label: "behind A stands a mass of 482".

    What stands there is no label, nor the rest of them ("behind A come all the others").
    """
    if i > first and tokens[i - 1].text not in (",", ":", "-", "–", "—", "and", "*", "•"):
        return False
    k = i + 1
    while k < min(i + 12, last) and (not free[k] or tokens[k].text in _STEPS or tokens[k].kind == "mark"):
        k += 1
    if k >= last or tokens[k].text not in _STANDS:
        return False
    rest = range(k + 1, min(k + 12, last))
    return all(free[j] for j in rest) and not {tokens[j].text for j in rest} & lexicon.EVERYONE


_HEARD = lexicon.SPEAKING | lexicon.DEEDS
_COME = frozenset(("come", "comes", "came", "out", "draw", "finish", "finished", "end", "ended", "run", "runs"))
_CLOSED = frozenset(("", ".", ",", "!", "and", "but", "in", "on"))
_STANDS = frozenset(("stand", "stands", "lies", "lie", "is", "are", "there", "sits", "hides", "we", "you", "i", "one"))
