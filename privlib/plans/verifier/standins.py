"""Words that stand for atoms named elsewhere: "the former", "both", "the remaining three", "the largest theme"."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.owners import Group
from privlib.plans.verifier.tokens import Token

_OTHERS = frozenset(("other", "others", "remaining", "rest"))
_NTH = ("first", "second")
_WORDS = _OTHERS | {*_NTH, "former", "latter", "both", "two", "pair"}


def stand_ins(
    tokens: list[Token],
    first: int,
    last: int,
    free: list[bool],
    groups: Sequence[Group],
    earlier: Sequence[int],
    count: int,
) -> list[Group]:
    """Groups for such words in the sentence [first, last).

    `groups` of the sentence itself; `earlier` the distinct atoms named before it, in order; `count` all atoms.
    """
    found = []
    here = {atom for group in groups for atom in group.atoms}
    for k in range(first, last):
        word = tokens[k].text
        if not free[k] or word not in _WORDS:
            continue
        cut = bisect(groups, k, key=lambda group: group.last)
        before = [atom for group in groups[max(0, cut - 4) : cut] for atom in group.atoms[-50:]]
        pair = last_two([*earlier, *before]) if word not in _OTHERS else ()
        if word in _NTH and (two := _of_two(tokens, k, first, last, groups[:cut])):
            found.append(Group((two[_NTH.index(word)],), k, k + 1))
        elif word in ("former", "latter") and pair:
            found.append(Group((pair[word == "latter"],), k, k + 1))
        elif pair and not groups and (word == "both" or _the_two(tokens, k, first, last)):
            found.append(Group(pair, k, k + 1))
        elif word in _OTHERS and _themes(tokens, k, first, last, free):
            known = set(earlier) | here
            rest = [a for a in range(count) if a not in known] or [a for a in range(count) if a not in here]
            if groups and tokens[k - 1].text in ("both", "all", "any", "the") and _after_verb(tokens, k, first):
                rest = [a for a in range(count) if a not in here]
            if rest and len(rest) < count:
                found.append(Group(tuple(rest), k, k + 1))
    return found


def _of_two(tokens: list[Token], k: int, first: int, last: int, before: Sequence[Group]) -> tuple[int, ...]:
    """The two atoms of "of A and B, the first is ...", where token k is "first"; empty for a rank."""
    said = {token.text for token in tokens[first : first + 2]} & {"of", "between"}
    following = tokens[k + 1].text if k + 1 < last else ""
    told = following in ("is", "has", "was", "weighs", "carries", "had", "exceeds", "outweighs", "leads")
    if not (said and told and tokens[k - 1].text == "the" and len(before) == 1 and len(before[0].atoms) == 2):
        return ()
    return before[0].atoms


def last_two(atoms: Sequence[int]) -> tuple[int, ...]:
    """The last two distinct atoms of a list, in order; empty where there are none."""
    if not atoms:
        return ()
    end = atoms[-1]
    for atom in reversed(atoms[-50:]):
        if atom != end:
            return (atom, end)
    return ()


def _the_two(tokens: list[Token], k: int, first: int, last: int) -> bool:
    if k == first or tokens[k].text not in ("two", "pair") or tokens[k - 1].text not in ("the", "these", "those"):
        return False
    following = tokens[k + 1].text if k + 1 < last else ""
    return (k - 2 < first or tokens[k - 2].text != "of") and (
        following in lexicon.PLACING or following in ("have", "cannot")
    )


def _themes(tokens: list[Token], k: int, first: int, last: int, free: list[bool]) -> bool:
    """Whether "other" and its like speak of themes, and are not what a comparison is held against."""
    before = [token.text for token in tokens[max(first, k - 3) : k]]
    if "than" in before or "each" in before or "one" in before or "no" in before:
        return False
    near = [token.text for token in tokens[k + 1 : min(k + 4, last)]]
    if tokens[k].text == "others":
        return True
    if tokens[k].text == "rest":
        return near[:1] != ["of"] or bool(set(near) & lexicon.THEMES)
    return bool(set(near) & lexicon.PLURALS) or (tokens[k].text == "remaining" and len(near) > 1)


def _after_verb(tokens: list[Token], k: int, first: int) -> bool:
    verbs = lexicon.VERBS_MORE | lexicon.VERBS_LESS | {"than"}
    return any(token.text in verbs for token in tokens[max(first, k - 4) : k])
