"""Single claims held against the released plan, and nothing else."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass

from privlib.plans.plan import SemanticPlan
from privlib.plans.verifier import lexicon
from privlib.plans.verifier.bins import Bin
from privlib.plans.verifier.mentions import FOREIGN, Mention
from privlib.plans.verifier.numbers import Number
from privlib.plans.verifier.orders import Order
from privlib.plans.verifier.owners import Group, Owners
from privlib.plans.verifier.promises import denied_after, negated
from privlib.plans.verifier.ranks import Rank
from privlib.plans.verifier.shares import Share
from privlib.plans.verifier.standins import last_two
from privlib.plans.verifier.tokens import Token

KINDS = ("atom", "number", "bin", "comparison", "rank")
_VALUED = frozenset(
    ("mass", "masses", "support", "supports", "value", "values", "weight", "weights", "total", "totals")
)
_VALUED |= {"count", "counts", "denominator", "score", "scores", "epsilon", "delta", "noise", "margin"}
_GIVES = frozenset((":", "has", "have", "had", "at", "is", "with", "=", "|"))
_GAPS = frozenset(("gap", "difference", "distance", "apart"))


@dataclass(frozen=True)
class Violation:
    """One unsupported claim: `kind` of `KINDS`, `span` (start, end) in characters, `message` for the decoder."""

    kind: str
    span: tuple[int, int]
    message: str


class Judge:
    """What a reading of a text knows, and the verdict on one claim of each kind."""

    plan: SemanticPlan
    tokens: list[Token]
    free: list[bool]
    mentions: list[Mention]
    seen: dict[int, None]
    found: list[Violation]
    claimed: list[str]
    mark: int | None
    ahead: tuple[int, ...]
    anaphoric: bool
    owners: Owners

    def _nothing(self, k: int, owner: Group | None) -> None:
        if owner is not None and any(self.plan.atoms[a].support > 0 for a in owner.atoms):
            self._reject("number", k, k + 2, f"the released support of {self._names(owner)} is not zero")

    def _number(self, number: Number, owners: tuple[Group, ...], first: int) -> None:
        self.claimed.append("number")
        fits = any(all(self._value(number, atom) for atom in owner.atoms) for owner in owners)
        last = self.owners.last
        if negated(self.tokens, self.free, first, number.first) or denied_after(
            self.tokens, self.free, number.last, last
        ):
            if fits:
                self._reject("number", number.first, number.last, "a released value that is denied")
            return
        if fits or any(self._value(number, atom) for atom in self._others(number, owners)):
            return
        if number.kind == "plain" and (self._difference(number, first) or (not owners and self._idle(number, first))):
            return
        whose = "no released value" if not owners else f"no released value of {self._names(owners[0])}"
        self._reject("number", number.first, number.last, f"{whose} rounds to this number")

    def _others(self, claim: Number | Rank | Bin | Share, owners: tuple[Group, ...]) -> list[int]:
        """Atoms that a claim may be about besides its owner, where its clause names none and others do."""
        if owners and id(owners[0]) not in self.owners.given:
            return []  # told one by one
        if self.owners.groups:
            return [] if self.owners.sure(claim) else list(self.owners.atoms)
        if len(self.owners.carried) == 1 and len(self.owners.carried[0].atoms) == 1 and self.anaphoric:
            return []
        return [*self.seen, *self.ahead]

    def _value(self, number: Number, index: int) -> bool:
        atom = self.plan.atoms[index]
        if number.kind == "percent":
            return number.fits(100 * atom.support)
        if number.kind == "fraction":
            return number.fits(atom.support)
        supports = (atom.support,) if number.least < 1 and abs(number.value) < 10 else ()
        return any(number.fits(value) for value in (atom.mass, max(0.0, atom.mass), *supports))

    def _difference(self, number: Number, first: int) -> bool:
        """ "The gap between A and B is 5.6", "A leads B by 362": the difference of the last two masses named before."""
        before = {t.text for t in self.tokens[max(first, number.first - 3) : number.first]}
        far = {t.text for t in self.tokens[max(first, number.first - 20) : number.first]}
        if not (far & _GAPS or ("by" in before and far & (lexicon.VERBS_MORE | lexicon.VERBS_LESS))):
            return False
        cut = bisect(self.mentions, number.first, key=lambda mention: mention.first)
        pair = last_two([m.atom for m in self.mentions[max(0, cut - 6) : cut] if m.atom != FOREIGN])
        mass = [self.plan.atoms[a].mass for a in pair]
        return len(mass) == 2 and number.fits(abs(mass[0] - mass[1]))

    def _idle(self, number: Number, first: int) -> bool:
        """Whether a number without an atom stands in a sentence that speaks of no value ("two remarks")."""
        said = self.tokens[max(first, number.first - 12) : min(number.last + 12, self.owners.last)]
        before = self.tokens[number.first - 1].text if number.first > first else ""
        after = self.tokens[number.last : min(number.last + 5, self.owners.last)]
        counted = not {token.text for token in after}.isdisjoint(lexicon.THEMES)
        return not counted and before not in _GIVES and {token.text for token in said}.isdisjoint(_VALUED)

    def _share(self, share: Share, owners: tuple[Group, ...], first: int) -> None:
        atoms = tuple(range(len(self.plan.atoms))) if share.everyone else owners[0].atoms if owners else ()
        if not all(share.holds(self.plan.atoms[a].support) for a in atoms):
            names = self._names(Group(atoms, 0, 0))
            self._reject("number", share.first, share.last, f"the released support of {names} does not say so")

    def _rank(self, claim: Rank, owners: tuple[Group, ...], first: int) -> None:
        count = len(self.plan.atoms)
        if not owners:
            if claim.place > count:
                self._reject("rank", claim.first, claim.last, "this rank belongs to no atom of the plan")
            return
        self.claimed.append("rank")
        guesses = [Group((atom,), claim.first, claim.last) for atom in self._others(claim, owners)]
        if not any(self._placed(claim, owner) != claim.negated for owner in (*owners, *guesses)):
            message = f"the released ranks do not give this to {self._names(owners[0])}"
            self._reject("rank", claim.first, claim.last, message)

    def _placed(self, claim: Rank, owner: Group) -> bool:
        count = len(self.plan.atoms)
        places = [count - a if claim.bottom else a + 1 for a in owner.atoms]
        if claim.place > count and any(abs(self.plan.atoms[a].mass - claim.place) <= 0.5 for a in owner.atoms):
            return True  # "1,207: A", a mass in front of its atom
        then = any(token.text == "then" for token in self.tokens[owner.first : min(owner.last, owner.first + 200)])
        if len(places) > 1 and then and places != sorted(places, reverse=claim.bottom):
            return False
        if claim.ordered:
            return places == sorted(places, reverse=claim.bottom) and sorted(places) == list(range(1, len(places) + 1))
        if claim.several and not claim.among:
            return sorted(places) == list(range(1, len(places) + 1))
        if claim.several:
            return all(place <= claim.place for place in places)
        if claim.among:
            return all(place <= max(1, (count + 1) // 2) for place in places)
        if len(places) == 1:
            return claim.place in places
        return sorted(places) == list(range(claim.place, claim.place + len(places)))

    def _order(self, order: Order, owners: Owners, starts: set[int], several: bool) -> None:
        reach = range(order.first + 1, max(order.first + 4, (order.than or 0) + 3))
        if not order.pair and any(k in starts for k in reach):
            return  # "more than 24 %" bounds a number, judged there
        word = self.tokens[order.first].text
        if order.close:
            self._close(order, owners)
            return
        left, right = self._sides(order, owners)
        if order.even and (several or (left is not None and right is not None)):
            self._even(order, owners, left, right)
            return
        self.claimed.append("comparison")
        if left is None and right is None:
            return
        if left is None or right is None:
            loose = word in lexicon.VERBS_MORE | lexicon.VERBS_LESS | lexicon.EQUAL
            if loose and (right is None or word in lexicon.PLACES):
                return  # "above", "leads", "same" without two atoms order nothing
            self._reject("comparison", order.first, order.last, "a comparison needs two admitted atoms")
            return
        if order.direction == 0:
            self._reject("comparison", order.first, order.last, "only 'more than' beyond the margin can be supported")
            return
        more, less = (left, right) if order.direction > 0 else (right, left)
        if order.follows:
            then = any(token.text == "then" for token in self.tokens[less.first : min(less.last, less.first + 200)])
            ranked = not then or list(less.atoms) == sorted(less.atoms)
            if not ranked or not all(a < b for a in more.atoms for b in less.atoms):
                self._reject("rank", order.first, order.last, "the released ranks are in another order")
            return
        mass = [atom.mass for atom in self.plan.atoms]
        margin = self.plan.comparison_margin
        if len({*more.atoms, *less.atoms}) == len(mass) == len(more.atoms) + len(less.atoms) > 2:
            margin = 0.0  # "trails all the others" gives a rank
        held = all(mass[a] - mass[b] >= margin and a != b for a in more.atoms for b in less.atoms)
        if order.unranked:
            if held:
                self._reject("comparison", order.first, order.last, "the plan has these in this order")
        elif not held:
            message = f"{self._names(more)} does not exceed {self._names(less)} by the margin"
            self._reject("comparison", order.first, order.last, message)

    def _even(self, order: Order, owners: Owners, left: Group | None, right: Group | None) -> None:
        """As much as: no released value contradicts it while the masses differ by less than the margin.

        A denial ("not as common as") says that they differ by more.
        """
        self.claimed.append("comparison")
        atoms = [a for group in owners.around(order.first) for a in group.atoms]
        if order.than is not None and (left is None or right is None):
            self._reject("comparison", order.first, order.last, "a comparison needs two admitted atoms")
            return
        if left is not None and right is not None:
            pair = left.atoms if order.than is None and len(left.atoms) > 1 else (*left.atoms, *right.atoms)
            atoms = list(pair)
        elif left is not None and len(left.atoms) > 1:
            atoms = list(left.atoms)
        mass = [self.plan.atoms[a].mass for a in atoms]
        far = len(mass) > 1 and max(mass) - min(mass) >= self.plan.comparison_margin
        if len(mass) > 1 and far != (order.direction > 0):
            side = "more" if far else "less"
            self._reject("comparison", order.first, order.last, f"these masses differ by {side} than the margin")

    def _close(self, order: Order, owners: Owners) -> None:
        """Atoms said to be too close to order must all lie within the margin, those said to be apart not."""
        mass = [self.plan.atoms[a].mass for group in owners.around(order.first) for a in group.atoms]
        far = len(mass) > 1 and max(mass) - min(mass) >= self.plan.comparison_margin
        if len(mass) > 1 and far != (order.direction > 0):
            side = "more" if far else "less"
            self._reject("comparison", order.first, order.last, f"these masses differ by {side} than the margin")

    def _sides(self, order: Order, owners: Owners) -> tuple[Group | None, Group | None]:
        if self.mark is not None and order.first < self.mark and order.than is None:
            # "which weighs more, A or B? It is A."
            asked = [a for group in owners.groups if group.first < self.mark for a in group.atoms]
            answer = next((group for group in owners.groups if group.first > self.mark), None)
            if answer is not None and len(asked) > 1:
                rest = tuple(a for a in asked if a not in answer.atoms)
                return answer, Group(rest, answer.first, answer.last) if rest else None
        left, right = owners.sides(order.first, order.than)
        if order.than is None and (two := self._one_of_two(order, owners)) is not None:
            return two
        end = order.than if order.than is not None else order.first
        names = {t.text for t in self.tokens[end : end + 4]} if order.than is not None else set()
        if left is not None and right is None and names & lexicon.EVERYONE:
            rest = [a for a in range(len(self.plan.atoms)) if a not in left.atoms]
            return left, Group(tuple(rest), left.first, left.last)
        if left is not None and len(left.atoms) == 1 and order.than is None:
            inside = right is not None and left.atoms[0] in right.atoms and len(right.atoms) > 1
            if order.pair or inside or self.tokens[left.first].text in ("former", "latter"):
                near = [a for group in owners.around(order.first) for a in group.atoms]
                other = [a for a in last_two([*self.seen, *near, *left.atoms]) if a != left.atoms[0]]
                return left, Group(tuple(other), left.first, left.last) if other else None
        return left, right

    def _one_of_two(self, order: Order, owners: Owners) -> tuple[Group, Group] | None:
        """ "Of A and B, the larger is A", "the bigger one, compared with B, is A"."""
        near = owners.around(order.first)
        before = [group for group in near if group.first < order.first]
        after = [group for group in near if group.first > order.first]
        if before and after and len(after[0].atoms) == 1 and after[0].first - order.last <= 4:
            rest = tuple(a for a in before[-1].atoms if a != after[0].atoms[0])
            if order.pair and len(rest) == 1 and len(before[-1].atoms) == 2:
                return after[0], Group(rest, before[-1].first, before[-1].last)
        turned = {token.text for token in self.tokens[order.last : after[0].first]} if after else set()
        if not before and len(after) == 2 and turned & {"compared", "against", "beside"}:
            return after[1], after[0]
        return None

    def _bin(self, claim: Bin, owners: tuple[Group, ...], first: int) -> None:
        def holds(owner: Group) -> bool:
            return all((self.plan.atoms[a].bin in claim.allowed) != claim.negated for a in owner.atoms)

        self.claimed.append("bin")
        guesses = [Group((atom,), claim.first, claim.last) for atom in self._others(claim, owners)]
        if owners and not any(map(holds, (*owners, *guesses))):
            self._reject("bin", claim.first, claim.last, f"the released bin of {self._names(owners[0])} differs")

    def _names(self, group: Group) -> str:
        return ", ".join(repr(self.plan.atoms[a].label) for a in group.atoms[:3])

    def _reject(self, kind: str, first: int, last: int, message: str) -> None:
        self.found.append(Violation(kind, (self.tokens[first].start, self.tokens[last - 1].end), message))
