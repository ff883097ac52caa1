"""Ranks told by medals: "gold: A", "the silver goes to B", "C settles for bronze"."""

from __future__ import annotations

from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.tokens import Token

MEDALS = ("gold", "silver", "bronze")
_NOUNS = frozenset(("medal", "medals", "medallist", "medalist", "winner", "prize", "step", "trophy", "award"))
_ARTICLES = frozenset(("the", "a", "an", "our", "its", "this", "and", "no", "here", "so", "but", "then"))
_GIVEN = frozenset((":", "goes", "go", "went", "for", "is", "was", "belongs", "belonged", "to", "falls", "fell"))
_GETS = frozenset(("win", "wins", "won", "take", "takes", "took", "get", "gets", "got", "earn", "earns", "earned"))
_GETS |= {"claim", "claims", "claimed", "collects", "collected", "receives", "received", "deserves", "deserved", "bags"}
_GETS |= {"off", "away", "home", "has", "have", "had", "is", "was", "are", "for", "with"}
_WINS = frozenset(("win", "wins", "won", "take", "takes", "took", "claim", "claims", "claimed", "bags", "earns"))
_TAKEN = ("for", "with")  # "settles for", "goes home with"
_ENDS = frozenset(("", ".", ",", "!", "?", ")", "and", "but", "while", "with", "in", "ahead", "overall", "here", "|"))
_PRIZES = frozenset(("crown", "title", "throne", "trophy", "cake", "laurels", "prize", "race", "contest", "cup"))
_WINNERS = frozenset(("king", "queen", "champion", "champ", "crowned"))
_WEARS = frozenset(("wear", "wears", "wore", "carry", "carries", "scoops", "gets", "has", "holds", "ascends"))
_CALLED = frozenset(("is", "are", "was", "were", "remains", "gets", "as", "be", "been"))
_GRADES = frozenset(("the", "a", "our", "undisputed", "clear", "overall", "whole", "top", "this", "reigning"))
_GRADES |= {"first", "second", "third", "not", "never"}
_REACH = 60  # tokens that a look around reaches


def medal(tokens: list[Token], i: int, first: int, last: int, free: Sequence[bool]) -> tuple[int, int] | None:
    """The rank that token i gives as a medal, with the token after it; None where "gold" is no rank.

    A medal is given to what follows ("the gold goes to A", "a gold medal for A"), won by what stands before ("A takes
    the gold"), stands right beside a label ("A (gold)", "A is first, B silver"), or with another medal.
    """
    word = tokens[i].text
    if word not in MEDALS:
        return None
    place = MEDALS.index(word) + 1
    noun = i + 1 < last and tokens[i + 1].text in _NOUNS
    end = i + 1 + noun
    after = tokens[end].text if end < last else ""
    before = tokens[i - 1].text if i > first else ""
    opens = i == first or tokens[i - 1].kind == "mark" or before in _ARTICLES or tokens[max(first, i - 2)].text == "it"
    given = opens and after in _GIVEN and (after == ":" or not all(free[end : min(end + 5, last)]))
    ends = after in _ENDS or not all(free[end : end + 1])
    k = i - 1
    while k > first and i - k <= 3 and tokens[k].text in (_ARTICLES | lexicon.NEGATIONS) - {"and", "but"}:
        k -= 1
    won = tokens[k].text in _WINS and k > first  # whoever wins it
    got = ends and k > first and (won or (tokens[k].text in _GETS and _winner(tokens, k, first, free)))
    beside = (before == "(" and after == ")") or (ends and i > first and not free[i - 1])
    if noun or given or got or beside or _several(tokens, max(first, i - _REACH), min(i + _REACH, last), free):
        return place, end
    return None


def crowned(tokens: list[Token], i: int, first: int, last: int) -> tuple[int, int] | None:
    """(rank, next token) of a win in other words at token i: "takes the crown", "is king", "reigns supreme"."""
    word = tokens[i].text
    after = tokens[i + 1].text if i + 1 < last else ""
    if word in ("reign", "reigns", "reigned") and after in _ENDS | {"supreme"}:
        return 1, i + 1 + (after == "supreme")
    if after not in _ENDS | {"of", "among", "here"} or i == first:
        return None
    k = i - 1
    while k > first and i - k <= 4 and tokens[k].text in _GRADES:
        k -= 1
    place = lexicon.ORDINALS.get(tokens[i - 1].text, 1)
    if word in _PRIZES and tokens[k].text in _WINS | _WEARS and k < i - 1:
        return place, i + 1
    if word in _WINNERS and tokens[k].text in _CALLED:
        return 1, i + 1
    return None


def _winner(tokens: list[Token], k: int, first: int, free: Sequence[bool]) -> bool:
    """Whether a label stands before the verb at k, within three words."""
    if tokens[k].text in _TAKEN and tokens[k - 1].kind == "mark":
        return False
    return not all(free[max(first, k - 4) : k])


def _several(tokens: list[Token], first: int, last: int, free: Sequence[bool]) -> bool:
    """Whether two medals are given in a sentence, and the words are not "from gold to bronze"."""
    named = [k for k in range(first, last) if free[k] and tokens[k].text in MEDALS][:2]
    return len(named) > 1 and tokens[named[0] - 1].text != "from" and tokens[named[0] + 1].text not in ("to", "or")
