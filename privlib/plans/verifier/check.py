"""The verdict: every claim of a text held against the released plan, and nothing else."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privlib.plans.plan import DEFAULT_BIN_EDGES, SemanticPlan
from privlib.plans.verifier import admission, lexicon
from privlib.plans.verifier.bins import Bin, read_bins
from privlib.plans.verifier.mentions import FOREIGN, Index
from privlib.plans.verifier.numbers import Number, read_numbers
from privlib.plans.verifier.orders import Order, read_orders
from privlib.plans.verifier.owners import Group, Owners, groups_of
from privlib.plans.verifier.promises import disguise, false_promises, negated
from privlib.plans.verifier.ranks import Rank, read_ranks
from privlib.plans.verifier.settings import Settings
from privlib.plans.verifier.shares import Share, read_shares
from privlib.plans.verifier.standins import last_two, stand_ins
from privlib.plans.verifier.tokens import sentences, tokenize
from privlib.plans.verifier.words import contents, is_prose, strange_words, without_prose

KINDS = ("atom", "number", "bin", "comparison", "rank")


@dataclass(frozen=True)
class Violation:
    """One unsupported claim: `kind` of `KINDS`, `span` (start, end) in characters, `message` for the decoder."""

    kind: str
    span: tuple[int, int]
    message: str


@dataclass(frozen=True)
class Verdict:
    """`accepted` iff there is no violation; violations stand in the order of the text."""

    accepted: bool
    violations: tuple[Violation, ...]


def verify(text: str, plan: SemanticPlan, universe: Sequence[str] | None = None) -> Verdict:
    """Check a text against the contract of DP-SPIN, Definition 3.7; public post-processing of the plan.

    The claims that its rules recognise are held against the plan. Supported are (i) an admitted label or
    description, (ii) a released mass, support or bin of its atom within the stated rounding, (iii) "i more than j"
    with mass_i - mass_j >= the comparison margin, (iv) a rank that the released ranks give, (v) public settings.
    `universe`: all public labels; labels not admitted are rejected. Without it, content words that are neither in
    the plan nor public are rejected.
    Any string gives a verdict, in time linear in its length. Raises TypeError when `text` is no string.
    With it, words from nowhere are rejected where they stand for an atom (in a list of atoms, as what a claim is
    about, as what the plan holds) or tell a cause or an advice; other prose passes.
    It reads English by rules: it may reject a supported claim in unusual words, and accept an unsupported one that
    no rule recognises. How often is measured on labelled texts (`experiments.studies.plans_verifier`).
    Raises TypeError or ValueError when `universe` is not the plan's: its size, the admitted labels among it.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {type(text).__name__}")
    return _Reading(text, plan, None if universe is None else _checked_universe(universe, plan)).verdict()


def _checked_universe(universe: Sequence[str], plan: SemanticPlan) -> list[str]:
    if isinstance(universe, (str, bytes, bytearray, Mapping)) or not hasattr(universe, "__iter__"):
        raise TypeError(f"universe must be a sequence of str, got {type(universe).__name__}")
    labels = list(universe)
    if odd := [type(label).__name__ for label in labels if not isinstance(label, str)]:
        raise TypeError(f"universe must be a sequence of str, got an entry of type {odd[0]}")
    known = set(labels)
    if len(labels) != plan.universe_size or len(known) != len(labels):
        raise ValueError(f"universe must have {plan.universe_size} distinct labels, got {len(labels)}")
    if missing := [atom.label for atom in plan.atoms if atom.label not in known]:
        raise ValueError(f"universe must contain all admitted labels, got none called {missing[0]!r}")
    return labels


class _Reading:
    def __init__(self, text: str, plan: SemanticPlan, universe: Sequence[str] | None) -> None:
        self.text, self.plan, self.universe = text, plan, universe
        self.edges = plan.bin_edges or DEFAULT_BIN_EDGES
        self.settings = Settings(plan, self.edges)
        self.tokens = tokenize(text)
        index = Index.build([(a.label, a.description) for a in plan.atoms], universe or ())
        self.mentions = without_prose(index.find(self.tokens, text), self.tokens)
        self.free = [True] * len(self.tokens)
        for mention in self.mentions:
            for k in range(mention.first, mention.last):
                self.free[k] = False
        self.words = contents(self.tokens, self.free, plan)
        self.unread = list(self.free)  # free and not read as part of a rank or a share
        self.seen: dict[int, None] = {}  # atoms named so far, in the order of their last mention
        self.found: list[Violation] = []

    def verdict(self) -> Verdict:
        for mention in self.mentions:
            if mention.atom == FOREIGN:
                self._reject("atom", mention.first, mention.last, f"{mention.label!r} is not in the plan")
        strange = set()
        for odd in strange_words(self.tokens, self.words, self.universe is not None):
            strange.add(odd.first)
            message = (
                "words of the plan that name no atom together" if odd.pair else "neither in the plan nor public text"
            )
            self._reject("atom", odd.first, odd.last, message)
        for k, token in enumerate(self.tokens):
            odd_kind = disguise(self.text[token.start : token.end]) if token.kind == "word" and self.free[k] else None
            if odd_kind is not None:
                self._reject(odd_kind, k, k + 1, "words and numbers must be in plain letters and digits")
        carried: tuple[Group, ...] = ()
        at, line = 0, -1
        for first, last in sentences(self.tokens, self.text):
            mentions = []
            while at < len(self.mentions) and self.mentions[at].first < last:
                mentions.append(self.mentions[at])
                at += 1
            if carried and any(token.kind == "line" for token in self.tokens[max(0, line) : first]):
                carried = carried if self._heading(carried, first, last) else ()
            line = first
            named = [m for m in mentions if m.atom != FOREIGN]
            groups = groups_of(named, self.tokens, first, last)
            # what a sentence claims of labels from elsewhere is rejected with them
            nameless = not groups and not strange.isdisjoint(range(first, last))
            if not nameless and len(named) == len(mentions):
                firm = any(not is_prose(mention, self.tokens) for mention in mentions)
                said = len(self.found)
                self._sentence(first, last, groups, carried, firm)
                if [t.text for t in self.tokens[last : last + 2]] == ["?", "no"] and groups:
                    del self.found[said:]  # asked and denied: the sentence claims nothing
            for mention in named:
                self.seen.pop(mention.atom, None)
                self.seen[mention.atom] = None
            if groups:
                carried = tuple(groups)
        violations = tuple(sorted(self.found, key=lambda v: (v.span, KINDS.index(v.kind))))
        return Verdict(not violations, violations)

    def _heading(self, carried: tuple[Group, ...], first: int, last: int) -> bool:
        """Whether a line goes on about the atom of the line before, which named it and said no more."""
        group = carried[-1]
        begin, end = group.first, group.last
        while begin > 0 and self.tokens[begin - 1].kind != "line":
            if group.first - begin > 3 or self.tokens[begin - 1].kind == "word":
                return False
            begin -= 1
        while end < len(self.tokens) and self.tokens[end].kind == "mark":
            end += 1
        alone = end < len(self.tokens) and self.tokens[end].kind == "line" and end - group.last <= 3
        return alone and last - first <= 12

    # ------------------------------------------------------------------ one sentence
    def _sentence(self, first: int, last: int, groups: list[Group], carried: tuple[Group, ...], firm: bool) -> None:
        tokens, free = self.tokens, self.free
        ranks = read_ranks(tokens, first, last, free)
        named = bool(groups)
        found = stand_ins(tokens, first, last, free, groups, list(self.seen), len(self.plan.atoms))
        inside = {k for rank in ranks for k in range(rank.first, rank.last)}
        found = [group for group in found if group.first not in inside]
        for rank in ranks if not groups and not found else ():
            if (group := self._ranked_theme(rank, first, last)) is not None:
                found.append(group)
        groups = sorted([*groups, *found], key=lambda group: group.first)
        stands = {group.first for group in found}
        ranks = [rank for rank in ranks if rank.first not in stands]
        said = {tokens[k].text for k in range(first, last) if free[k]}
        asks = last < len(tokens) and tokens[last].text == "?"
        if not groups and (asks or not (_points_back(said) or last - first <= 6)):
            carried = ()
        owners = Owners(groups, carried, tokens, first, last)
        shares = read_shares(tokens, first, last, free)
        taken = {k for claim in (*ranks, *shares) for k in range(claim.first, claim.last)}
        for k in taken:
            self.unread[k] = False
        numbers = read_numbers(tokens, first, last, self.unread)
        atoms = {atom for group in groups for atom in group.atoms}
        owned = firm or named or bool(atoms) or (bool(carried) and _points_back(said))
        numbers = [n for n in numbers if not self._is_public(n, first, last, owned, len(atoms))]
        if not groups and said & {"these", "they", "respectively"} and len(numbers) == len(self.seen) > 1:
            each = tuple(Group((atom,), first, first) for atom in self.seen)
            owners = Owners([], each, tokens, first, last)
        counted = {k for number in numbers for k in range(number.first, number.last)} | taken
        bins = [b for b in read_bins(tokens, first, last, free, self.edges) if b.first not in counted]
        orders = read_orders(tokens, first, last, free, taken)
        phrases = self._phrases(first, last, owners, [*ranks, *shares, *numbers, *bins])
        for phrase in phrases:
            self._reject("atom", phrase.first, phrase.last, phrase.message)
        invented = {owners.clause(phrase.first) for phrase in phrases}
        for k, message in false_promises(tokens, first, last, free, self.plan.guarantee):
            self._reject("number", k, k + 1, message)
        for k in range(first, last - 1):
            pair = [token.text for token in tokens[k : k + 2]]
            if free[k] and free[k + 1] and pair[0] in ("no", "without") and pair[1] in ("support", "mass"):
                self._nothing(k, owners.nearest(k))
        for claims, judge in ((ranks, self._rank), (numbers, self._number), (shares, self._share), (bins, self._bin)):
            for claim, owner in owners.pair([c for c in claims if owners.clause(c.first) not in invented]):
                judge(claim, owner, first)
        starts = {number.first for number in numbers}
        several = len(atoms) > 1
        for order in orders:
            if owners.clause(order.first) not in invented:
                self._order(order, owners, starts, several)

    def _ranked_theme(self, rank: Rank, first: int, last: int) -> Group | None:
        """ "The first theme adds up to ...": a rank that stands for its atom, at the start of what is said of it."""
        count = len(self.plan.atoms)
        tail = {t.text for t in self.tokens[rank.last : min(rank.last + 3, last)]}
        if rank.negated or rank.place > count or rank.first - first > 1 or not tail & lexicon.THEMES:
            return None
        if {t.text for t in self.tokens[rank.last : min(rank.last + 4, last)]} & {"is", "are", ":"}:
            return None
        places = range(1, rank.place + 1) if rank.several else (rank.place,)
        atoms = tuple(count - place if rank.bottom else place - 1 for place in places)
        return Group(atoms, rank.first, rank.last)

    def _phrases(self, first: int, last: int, owners: Owners, claims: list) -> list[admission.Phrase]:
        """Names from nowhere, denials of admission, causes and advice."""
        claimed = {k for claim in claims for k in range(claim.first, claim.last)}
        found = [
            phrase
            for phrase, owner in owners.pair(admission.denials(self.tokens, first, last, self.free, claimed))
            if owner
        ]
        if self.universe is not None:
            starts = [claim.first for claim in claims]
            found += admission.unknown_names(self.tokens, first, last, self.free, self.words, owners, starts)
            found += admission.inventions(self.tokens, first, last, self.free, self.words)
        return found

    def _is_public(self, number: Number, first: int, last: int, owned: bool, named: int) -> bool:
        """Whether a number is about the release itself; a false one is rejected here."""
        judged = self.settings.judge(number, self.tokens, first, last, self.free, owned)
        if judged is False:
            self._reject("number", number.first, number.last, "not the public setting that is named")
        if judged is None:
            seen = len(self.seen)
            return self.settings.counts(number, self.tokens, first, last, self.free, named, seen)
        return True

    def _nothing(self, k: int, owner: Group | None) -> None:
        if owner is not None and any(self.plan.atoms[a].support > 0 for a in owner.atoms):
            self._reject("number", k, k + 2, f"the released support of {self._names(owner)} is not zero")

    def _number(self, number: Number, owners: tuple[Group, ...], first: int) -> None:
        if negated(self.tokens, self.free, first, number.first):
            self._reject("number", number.first, number.last, "a plan supports no denial of a number")
            return
        if any(all(self._value(number, atom) for atom in owner.atoms) for owner in owners):
            return
        if number.kind == "plain" and self._difference(number, first):
            return
        whose = "no released value" if not owners else f"no released value of {self._names(owners[0])}"
        self._reject("number", number.first, number.last, f"{whose} rounds to this number")

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
        if not any(self._placed(claim, owner) != claim.negated for owner in owners):
            message = f"the released ranks do not give this to {self._names(owners[0])}"
            self._reject("rank", claim.first, claim.last, message)

    def _placed(self, claim: Rank, owner: Group) -> bool:
        count = len(self.plan.atoms)
        places = [count - a if claim.bottom else a + 1 for a in owner.atoms]
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
        if any(k in starts for k in reach):
            return  # "more than 24 %" bounds a number, judged there
        word = self.tokens[order.first].text
        if order.close:
            self._close(order, owners)
            return
        if order.direction == 0 and word in lexicon.EQUAL and several:
            self._reject("comparison", order.first, order.last, "only 'more than' beyond the margin can be supported")
            return
        left, right = self._sides(order, owners)
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
            if not all(a < b for a in more.atoms for b in less.atoms):
                self._reject("rank", order.first, order.last, "the released ranks are in another order")
            return
        mass = [atom.mass for atom in self.plan.atoms]
        margin = self.plan.comparison_margin
        if not all(mass[a] - mass[b] >= margin and a != b for a in more.atoms for b in less.atoms):
            message = f"{self._names(more)} does not exceed {self._names(less)} by the margin"
            self._reject("comparison", order.first, order.last, message)

    def _close(self, order: Order, owners: Owners) -> None:
        """Atoms said to be too close to order must all lie within the margin, those said to be apart not."""
        mass = [self.plan.atoms[a].mass for group in owners.around(order.first) for a in group.atoms]
        far = len(mass) > 1 and max(mass) - min(mass) >= self.plan.comparison_margin
        if len(mass) > 1 and far != (order.direction > 0):
            side = "more" if far else "less"
            self._reject("comparison", order.first, order.last, f"these masses differ by {side} than the margin")

    def _sides(self, order: Order, owners: Owners) -> tuple[Group | None, Group | None]:
        left, right = owners.sides(order.first, order.than)
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

    def _bin(self, claim: Bin, owners: tuple[Group, ...], first: int) -> None:
        def holds(owner: Group) -> bool:
            return all((self.plan.atoms[a].bin in claim.allowed) != claim.negated for a in owner.atoms)

        if owners and not any(map(holds, owners)):
            self._reject("bin", claim.first, claim.last, f"the released bin of {self._names(owners[0])} differs")

    def _names(self, group: Group) -> str:
        return ", ".join(repr(self.plan.atoms[a].label) for a in group.atoms[:3])

    def _reject(self, kind: str, first: int, last: int, message: str) -> None:
        self.found.append(Violation(kind, (self.tokens[first].start, self.tokens[last - 1].end), message))


_GAPS = frozenset(("gap", "difference", "distance", "apart"))


def _points_back(said: set[str]) -> bool:
    """Whether a sentence without a label still speaks of the one before it."""
    return not said.isdisjoint(("it", "its", "they", "their", "them", "these", "this", "mass", "masses", "support"))
