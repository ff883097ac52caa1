"""Which atom a claim of a sentence is about."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.mentions import Mention
from privlib.plans.verifier.tokens import Token

_TURNS = frozenset(("compared", "unlike", "relative", "than", "with", "to", "against", "behind", "after"))
_COMPARED = frozenset(("compared", "relative", "next", "set", "held", "opposed", "prior", "contrast", "comparison"))
_JOINS = lexicon.JOINS
_QUOTES = frozenset(('"', "“", "”", "'", "‘", "’", "«", "»", "„"))
_STEPS = lexicon.ARTICLES | lexicon.THEMES - {"one", "ones"} | {"also"}
_STARTS = _JOINS | (_STEPS - {"of", "for", "on", "in", "to", "by"}) | lexicon.STARTS
_VERBS = lexicon.PLACING | lexicon.VERBS


@dataclass(frozen=True)
class Group:
    """Atoms named side by side ("A, B and C") by tokens [first, last)."""

    atoms: tuple[int, ...]
    first: int
    last: int


def groups_of(mentions: Sequence[Mention], tokens: list[Token], start: int, end: int) -> list[Group]:
    """Mentions of the sentence [start, end) with only commas, conjunctions and articles between them, joined."""
    groups: list[Group] = []
    for mention in mentions:
        if groups and _joined(groups[-1], mention, tokens, start, end):
            previous = groups[-1]
            atoms = previous.atoms if mention.atom in previous.atoms else (*previous.atoms, mention.atom)
            groups[-1] = Group(atoms, previous.first, mention.last)
        else:
            groups.append(Group((mention.atom,), mention.first, mention.last))
    return groups


def _joined(group: Group, mention: Mention, tokens: list[Token], start: int, end: int) -> bool:
    if mention.first - group.last > 12:
        return False
    between = [t.text for t in tokens[group.last : mention.first] if t.text not in _QUOTES]
    if between == [","] and mention.atom in group.atoms:
        return False  # "of A and B, A is the larger"
    if between == ["("] and group.atoms[-1:] == (mention.atom,):
        return True  # "outdoor seating (terraces and patio tables)"
    if not all(text in _JOINS or text in _STEPS for text in between) or not any(text in _JOINS for text in between):
        return not between
    begin = group.first - 1
    while begin >= start and group.first - begin <= 2 and tokens[begin].text in _QUOTES:
        begin -= 1
    before = tokens[begin].text if begin >= start else ""
    # "compared with B, A ...": the comma ends the comparison's phrase, it joins nothing
    if between == [","] and before in _TURNS:
        turned = begin == start or tokens[begin - 1].text in _COMPARED
        if turned or before not in ("with", "to"):  # "goes to A, B and C" lists them
            return False
    # "A is ahead of B, and C is last": C begins a clause of its own
    after = mention.last
    while after < end and after - mention.last < 2 and tokens[after].text in _QUOTES:
        after += 1
    if after < end and tokens[after].text == "(":
        after = next((k + 1 for k in range(after, min(after + 12, end)) if tokens[k].text == ")"), after)
    clause = after < end and tokens[after].text in _VERBS
    return not (clause and between[0] in (",", "and") and before and before not in _STARTS)


@dataclass(frozen=True)
class Owners:
    """Groups of one sentence in order, the groups `carried` from the one before it, and the clauses of its tokens."""

    groups: list[Group]
    carried: tuple[Group, ...]
    tokens: list[Token]
    first: int
    last: int
    clauses: list[int] = field(init=False)
    named: frozenset[int] = field(init=False)  # clauses that name an atom
    atoms: tuple[int, ...] = field(init=False)
    given: frozenset[int] = field(init=False)  # identities of the groups, to tell them from parts of one

    def __post_init__(self) -> None:
        inside = {k for group in self.groups for k in range(group.first, group.last)}
        clauses, at = [], 0
        for k in range(self.first, self.last):
            word = self.tokens[k].text
            item = word == "well" and k > self.first and self.tokens[k - 1].text == "as"
            at += (word in lexicon.BREAKS or item) and k not in inside
            clauses.append(at)
        object.__setattr__(self, "clauses", clauses)
        object.__setattr__(self, "given", frozenset(map(id, (*self.groups, *self.carried))))
        object.__setattr__(self, "named", frozenset(self.clause(group.first) for group in self.groups))
        object.__setattr__(self, "atoms", tuple(dict.fromkeys(a for group in self.groups for a in group.atoms)))

    def clause(self, k: int) -> int:
        """Number of the clause that holds token k: commas, brackets, "and", "while" begin a new one."""
        return self.clauses[k - self.first]

    def pair(self, claims: Sequence[Any]) -> list[tuple[Any, tuple[Group, ...]]]:
        """Each claim (with token positions first, last) with the groups it may be about; one of them must bear it.

        No group in the sentence: the carried one. Else the group of the claim's own clause; else claims point back
        to the group before them, or all forward when the sentence begins with a claim and ends with a group
        ("10, for A, and 5, for B"). As many claims of a kind as atoms go to them in order ("A and B have 10 and 5").
        """
        if not claims:
            return []
        groups = self.groups or list(self.carried)
        if not groups:
            return [(claim, ()) for claim in claims]
        if not self.groups:
            found = [(claim, self.carried[-1]) for claim in claims]
        else:
            found = self._by_clause(claims)
        total = [Group((atom,), group.first, group.last) for group in groups for atom in group.atoms]
        after = not self.groups or claims[0].first >= self.groups[-1].last
        alike = len({_kind(claim) for claim in claims}) == 1
        if alike and after and len(claims) == len(total) > 1:
            return [(claim, (group,)) for claim, group in zip(claims, total, strict=True)]
        return _spread(found)

    def sure(self, claim: Any) -> bool:
        """Whether the clause of a claim names its atom, or one stands right beside it, or the sentence names one."""
        if len(self.groups) == 1 or self.clause(claim.first) in self.named:
            return True
        cut = bisect(self.groups, claim.first, key=lambda group: group.first)
        beside = self.groups[cut - 1 : cut] if cut else []
        after = self.groups[cut : cut + 1]
        return any(claim.first - g.last <= 2 for g in beside) or any(g.first - claim.last <= 1 for g in after)

    def _by_clause(self, claims: Sequence[Any]) -> list[tuple[Any, Group]]:
        starts = [group.first for group in self.groups]
        within: dict[int, list[Group]] = {}
        for group in self.groups:
            within.setdefault(self.clause(group.first), []).append(group)
        forward = claims[0].first < starts[0] and starts[-1] > claims[-1].first
        found, at = [], 0
        for claim in claims:
            while at < len(starts) and starts[at] < claim.first:
                at += 1
            before, after = self.groups[at - 1] if at else None, self.groups[at] if at < len(starts) else None
            mine = within.get(self.clause(claim.first), ())
            if getattr(claim, "ahead", False) and after is not None:
                owner = after
            elif mine:
                owner = mine[max(0, bisect(mine, claim.first, key=lambda group: group.first) - 1)]
            else:
                ahead = forward or (after is not None and self._fronted(claim, before))
                owner = (after or before) if ahead else (before or after)
            found.append((claim, owner))
        return found

    def _fronted(self, claim: Any, before: Group | None) -> bool:
        """Whether the clause of a claim begins a sentence part with a preposition ("and with 10, B leads")."""
        begin = claim.first
        while begin > self.first and self.clause(begin - 1) == self.clause(claim.first) and claim.first - begin < 6:
            begin -= 1
        fronts = [token.text for token in self.tokens[begin : min(begin + 2, claim.first)]]
        return fronts[:1] == ["and"] and fronts[1:2] in (["with"], ["at"], ["by"]) and before is not None

    def nearest(self, position: int) -> Group | None:
        """The first group after a token, else the last before it, else the carried one."""
        cut = bisect(self.groups, position, key=lambda group: group.first)
        after = self.groups[cut] if cut < len(self.groups) else None
        return after or (self.groups[-1] if self.groups else self.carried[-1] if self.carried else None)

    def around(self, position: int) -> list[Group]:
        """Up to four groups before a token and four after it."""
        cut = bisect(self.groups, position, key=lambda group: group.first)
        return self.groups[max(0, cut - 4) : cut + 4]

    def sides(self, position: int, than: int | None) -> tuple[Group | None, Group | None]:
        """What stands left and right of a comparison at `position`; "than Y is X", "compared with Y" turned round."""
        cut = bisect(self.groups, position, key=lambda group: group.first)
        before, after = self.groups[max(0, cut - 2) : cut], self.groups[cut : cut + 2]
        named = {token.text for token in self.tokens[max(self.first, position - 40) : min(position + 40, self.last)]}
        carried = self.carried[-1] if self.carried else None
        if than is not None:
            right = next((group for group in after if group.first >= than and group.first - than <= 12), None)
            if right is not None and any(t.text in (":", "(") for t in self.tokens[position : right.first]):
                right = None
            if before:
                return before[-1], right
            if right is not None and after[0].first < than and after[0] is not right:
                return after[0], right  # "there is more on A than on B"
            if right is not None:
                left = next((group for group in after if group.first > right.first), carried)
                return left, right
            return carried, None
        turned = bool(named & {"compared", "relative", "against", "next", "between"})
        if len(before) >= 2 and (turned or "unlike" in named):
            return before[-1], before[-2]
        if before and after and turned:
            return before[-1], after[0]
        if before:
            other = carried if len(before) == 1 and carried and carried.atoms != before[0].atoms else None
            return before[-1], before[-2] if len(before) >= 2 else other
        return (after[0], carried) if after and carried else (None, None)


def _kind(claim: Any) -> str:
    return getattr(claim, "kind", type(claim).__name__)


def _spread(found: list[tuple[Any, Group]]) -> list[tuple[Any, tuple[Group, ...]]]:
    """k claims of a kind about one group of k atoms are read one by one, or all of each."""
    run: dict[tuple[Group, str], list[int]] = {}
    for k, (claim, group) in enumerate(found):
        run.setdefault((group, _kind(claim)), []).append(k)
    spread: list[tuple[Any, tuple[Group, ...]]] = [(claim, (group,)) for claim, group in found]
    for (group, _), places in run.items():
        if len(places) == len(group.atoms) > 1:
            for k, atom in zip(places, group.atoms, strict=True):
                spread[k] = (found[k][0], (Group((atom,), group.first, group.last), group))
    return spread
