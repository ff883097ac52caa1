"""Which atom a claim of a sentence is about."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privlib.plans.verifier.mentions import Mention
from privlib.plans.verifier.tokens import Token

_TURNS = frozenset(("compared", "unlike", "relative", "than", "with", "to"))
_JOINS = frozenset((",", "and", "or", "&", "both", "as", "well", "/", "then"))


@dataclass(frozen=True)
class Group:
    """Atoms named side by side ("A, B and C") by tokens [first, last)."""

    atoms: tuple[int, ...]
    first: int
    last: int


def groups_of(mentions: Sequence[Mention], tokens: list[Token]) -> list[Group]:
    """Mentions with only commas and conjunctions between them, joined."""
    groups: list[Group] = []
    for mention in mentions:
        between = [t.text for t in tokens[groups[-1].last : mention.first]] if groups else []
        # "compared with B, A ...": the comma ends the comparison's phrase, it joins nothing
        turned = between == [","] and groups[-1].first and tokens[groups[-1].first - 1].text in _TURNS
        if groups and not turned and all(text in _JOINS for text in between):
            previous = groups[-1]
            atoms = previous.atoms if mention.atom in previous.atoms else (*previous.atoms, mention.atom)
            groups[-1] = Group(atoms, previous.first, mention.last)
        else:
            groups.append(Group((mention.atom,), mention.first, mention.last))
    return groups


@dataclass(frozen=True)
class Owners:
    """Groups of one sentence, in order, and the last group before it, for "it" and its like."""

    groups: list[Group]
    carried: Group | None

    def pair(self, claims: Sequence[Any]) -> list[tuple[Any, Group | None]]:
        """Each claim (with token positions first, last) with the group it is about.

        One group: that. None: the carried one. k atoms side by side with k claims: in order ("A and B have
        10 and 5"). Else claims point back to the group before them, or all forward when the sentence begins with
        a claim and ends with a group ("10 for A and 5 for B").
        """
        if not claims:
            return []
        if not self.groups:
            return [(claim, self.carried) for claim in claims]
        if len(self.groups) == 1:
            group = self.groups[0]
            if len(group.atoms) == len(claims) > 1:
                return [(c, Group((a,), group.first, group.last)) for c, a in zip(claims, group.atoms, strict=True)]
            return [(claim, group) for claim in claims]
        starts = [group.first for group in self.groups]
        forward = claims[0].first < starts[0] and starts[-1] > claims[-1].first
        pairs = []
        at = 0
        for claim in claims:
            while at < len(starts) and starts[at] < claim.first:
                at += 1
            before, after = self.groups[at - 1] if at else None, self.groups[at] if at < len(starts) else None
            pairs.append((claim, (after or before) if forward else (before or after)))
        return pairs

    def nearest(self, position: int) -> Group | None:
        """The first group after a token, else the last before it, else the carried one."""
        cut = bisect(self.groups, position, key=lambda group: group.first)
        after = self.groups[cut] if cut < len(self.groups) else None
        return after or (self.groups[-1] if self.groups else self.carried)

    def sides(
        self, position: int, than: int | None, tokens: list[Token], last: int
    ) -> tuple[Group | None, Group | None]:
        """What stands left and right of a comparison at `position`; "than Y is X", "compared with Y" turned round."""
        cut = bisect(self.groups, position, key=lambda group: group.first)
        before, after = self.groups[max(0, cut - 2) : cut], self.groups[cut : cut + 2]
        named = {token.text for token in tokens[max(0, position - 40) : min(position + 40, last)]}
        if than is not None:
            right = next((group for group in after if group.first >= than and group.first - than <= 12), None)
            if before:
                return before[-1], right
            if right is not None:
                left = next((group for group in after if group.first > right.first), self.carried)
                return left, right
            return self.carried, None
        if len(before) >= 2 and ("compared" in named or "relative" in named or "unlike" in named):
            return before[-1], before[-2]
        if before and after and ("compared" in named or "relative" in named):
            return before[-1], after[0]
        if before:
            other = (
                self.carried if len(before) == 1 and self.carried and self.carried.atoms != before[0].atoms else None
            )
            return before[-1], before[-2] if len(before) >= 2 else other
        return (after[0], self.carried) if after and self.carried else (None, None)
