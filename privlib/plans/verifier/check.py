"""The verdict: every claim of a text held against the released plan, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privlib.plans.plan import DEFAULT_BIN_EDGES, SemanticPlan
from privlib.plans.verifier import claims, lexicon
from privlib.plans.verifier.mentions import FOREIGN, Index
from privlib.plans.verifier.numbers import Number, read_numbers
from privlib.plans.verifier.owners import Group, Owners, groups_of
from privlib.plans.verifier.promises import disguise, false_promises, negated
from privlib.plans.verifier.tokens import Token, sentences, tokenize
from privlib.plans.verifier.words import is_prose, strange_words, without_prose

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
    It reads English by rules: it may reject a supported claim in unusual words, and accept an unsupported one that
    no rule recognises (with a `universe`, free prose passes); what it promises is measured.
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
        self.tokens = tokenize(text)
        index = Index.build([(a.label, a.description) for a in plan.atoms], universe or ())
        self.mentions = without_prose(index.find(self.tokens, text), self.tokens)
        self.free = [True] * len(self.tokens)
        for mention in self.mentions:
            for k in range(mention.first, mention.last):
                self.free[k] = False
        self.found: list[Violation] = []

    def verdict(self) -> Verdict:
        for mention in self.mentions:
            if mention.atom == FOREIGN:
                self._reject("atom", mention.first, mention.last, f"{mention.label!r} is not in the plan")
        strange = set()
        for odd in strange_words(self.tokens, self.free, self.plan, self.universe is not None):
            strange.add(odd.first)
            message = (
                "words of the plan that name no atom together" if odd.pair else "neither in the plan nor public text"
            )
            self._reject("atom", odd.first, odd.last, message)
        for k, token in enumerate(self.tokens):
            odd_kind = disguise(self.text[token.start : token.end]) if token.kind == "word" and self.free[k] else None
            if odd_kind is not None:
                self._reject(odd_kind, k, k + 1, "words and numbers must be in plain letters and digits")
        carried: Group | None = None
        at, line = 0, -1
        for first, last in sentences(self.tokens, self.text):
            mentions = []
            while at < len(self.mentions) and self.mentions[at].first < last:
                mentions.append(self.mentions[at])
                at += 1
            if any(token.kind == "line" for token in self.tokens[max(0, line) : first]):
                carried = None
            line = first
            groups = groups_of([m for m in mentions if m.atom != FOREIGN], self.tokens)
            # what a sentence claims of labels from elsewhere is rejected with them
            nameless = not groups and not strange.isdisjoint(range(first, last))
            if not nameless and not any(mention.atom == FOREIGN for mention in mentions):
                firm = any(not is_prose(mention, self.tokens) for mention in mentions)
                self._sentence(first, last, Owners(groups, carried), firm)
            if groups:
                carried = groups[-1]
        violations = tuple(sorted(self.found, key=lambda v: (v.span, KINDS.index(v.kind))))
        return Verdict(not violations, violations)

    # ------------------------------------------------------------------ one sentence
    def _sentence(self, first: int, last: int, owners: Owners, firm: bool) -> None:
        orders = claims.read_orders(self.tokens, first, last, self.free)
        ranks = claims.read_ranks(self.tokens, first, last, self.free)
        ranked = {k for rank in ranks for k in range(rank.first, rank.last)}
        free = [self.free[k] and k not in ranked for k in range(first, last)]
        numbers = read_numbers(self.tokens, first, last, _Window(free, first))
        counted = {k for number in numbers for k in range(number.first, number.last)}
        bins = [
            b
            for b in claims.read_bins(self.tokens, first, last, self.free, self.edges)
            if b.first not in counted | ranked
        ]
        said = {self.tokens[k].text for k in range(first, last) if self.free[k]}
        for k, message in false_promises(self.tokens, first, last, self.free, self.plan.guarantee):
            self._reject("number", k, k + 1, message)
        for k in range(first, last - 1):
            pair = [token.text for token in self.tokens[k : k + 2]]
            if self.free[k] and self.free[k + 1] and pair[0] in ("no", "without") and pair[1] in ("support", "mass"):
                self._nothing(k, owners.nearest(k))
        for rank, owner in owners.pair(ranks):
            self._rank(rank, owner)
        starts = {number.first for number in numbers}
        several = len({atom for group in owners.groups for atom in group.atoms}) > 1
        for order in orders:
            self._order(order, owners, starts, last, several)
        for number, owner in owners.pair(numbers):
            if negated(self.tokens, self.free, first, number.first):
                self._reject("number", number.first, number.last, "a plan supports no denial of a number")
            else:
                self._number(number, owner, owned=firm or (owner is not None and _points_back(said)))
        for claim, owner in owners.pair(bins):
            self._bin(claim, owner)
        for k in range(first, last):
            self._majority(k, last, owners)

    def _nothing(self, k: int, owner: Group | None) -> None:
        if owner is not None and any(self.plan.atoms[a].support > 0 for a in owner.atoms):
            self._reject("number", k, k + 2, f"the released support of {self._names(owner)} is not zero")

    def _number(self, number: Number, owner: Group | None, owned: bool) -> None:
        if not owned and self._public(number):
            return
        if owner is not None and all(self._value(number, atom) for atom in owner.atoms):
            return
        whose = "no released value" if owner is None else f"no released value of {self._names(owner)}"
        self._reject("number", number.first, number.last, f"{whose} rounds to this number")

    def _value(self, number: Number, index: int) -> bool:
        atom = self.plan.atoms[index]
        if number.kind == "percent":
            return number.fits(100 * atom.support)
        if number.kind == "fraction":
            return number.fits(atom.support)
        supports = (atom.support,) if number.unit < 1 and abs(number.value) < 10 else ()
        return any(number.fits(value) for value in (atom.mass, max(0.0, atom.mass), *supports))

    def _public(self, number: Number) -> bool:
        """Whether the number is a public setting of the plan, named by a cue word near it."""
        near = self.tokens[max(0, number.first - 4) : number.first] + self.tokens[number.last : number.last + 3]
        cues = {t.text for t in near if t.kind == "word"} | {t.stem for t in near} | {t.text for t in near}
        plan, promise = self.plan, self.plan.guarantee
        scale = 100.0 if number.kind == "percent" else 1.0
        settings: dict[str, tuple[float, ...]] = {
            "epsilon": (promise.epsilon,),
            "delta": (promise.delta,),
            "count": (len(plan.atoms), plan.plan_size, plan.universe_size),
            "universe": (plan.universe_size,),
            "denominator": (plan.public_denominator,),
            "margin": (plan.comparison_margin,),
            "noise": () if plan.noise is None else (plan.noise.scale,),
            "edges": tuple(self.edges.values()),
        }
        budget = [name for t in near[: number.first - max(0, number.first - 4)] for name in _BUDGET if _cued(t, name)]
        if budget and not any(_cued(t, name) for t in near[:4] for name in settings if name not in _BUDGET):
            cues, settings = lexicon.CUES[budget[-1]], {budget[-1]: settings[budget[-1]]}
        return any(
            number.fits(scale * value) and (name not in _BUDGET or number.value >= scale * value * (1 - 1e-9))
            for name, values in settings.items()
            if cues & lexicon.CUES[name]
            for value in values
        )

    def _rank(self, claim: claims.Rank, owner: Group | None) -> None:
        count = len(self.plan.atoms)
        if owner is None:
            if not claim.several or claim.place > count:
                self._reject("rank", claim.first, claim.last, "this rank belongs to no atom of the plan")
            return
        places = [count - a if claim.bottom else a + 1 for a in owner.atoms]
        if claim.several and not claim.among:
            holds = sorted(places) == list(range(1, len(places) + 1))
        elif claim.several:
            holds = all(place <= claim.place for place in places)
        elif claim.among:
            holds = all(place <= max(1, (count + 1) // 2) for place in places)
        else:
            holds = (
                claim.place in places
                if len(places) == 1
                else sorted(places) == list(range(claim.place, claim.place + len(places)))
            )
        if holds == claim.negated:
            self._reject(
                "rank", claim.first, claim.last, f"the released ranks do not give this to {self._names(owner)}"
            )

    def _order(self, order: claims.Order, owners: Owners, starts: set[int], last: int, several: bool) -> None:
        reach = range(order.first + 1, max(order.first + 4, (order.than or 0) + 3))
        if any(k in starts for k in reach):
            return  # "more than 24 %" bounds a number, judged there
        equal = order.direction == 0 and self.tokens[order.first].text in lexicon.EQUAL
        if equal and several:
            self._reject("comparison", order.first, order.last, "only 'more than' beyond the margin can be supported")
            return
        left, right = owners.sides(order.first, order.than, self.tokens, last)
        names = [t.text for t in self.tokens[order.than : order.than + 4]] if order.than is not None else []
        if left is not None and right is None and set(names) & lexicon.EVERYONE:
            rest = [a for a in range(len(self.plan.atoms)) if a not in left.atoms]
            right = Group(tuple(rest), left.first, left.last)
        if left is None and right is None:
            return
        if left is None or right is None:
            loose = self.tokens[order.first].text in lexicon.VERBS_MORE | lexicon.VERBS_LESS | lexicon.EQUAL
            if loose and (right is None or self.tokens[order.first].text in lexicon.PLACES):
                return  # "above", "leads", "same" without two atoms order nothing
            self._reject("comparison", order.first, order.last, "a comparison needs two admitted atoms")
            return
        if order.direction == 0:
            self._reject("comparison", order.first, order.last, "only 'more than' beyond the margin can be supported")
            return
        more, less = (left, right) if order.direction > 0 else (right, left)
        mass = [atom.mass for atom in self.plan.atoms]
        margin = self.plan.comparison_margin
        if not all(mass[a] - mass[b] >= margin and a != b for a in more.atoms for b in less.atoms):
            message = f"{self._names(more)} does not exceed {self._names(less)} by the margin"
            self._reject("comparison", order.first, order.last, message)

    def _bin(self, claim: claims.Bin, owner: Group | None) -> None:
        if owner is not None and any((self.plan.atoms[a].bin in claim.allowed) == claim.negated for a in owner.atoms):
            self._reject("bin", claim.first, claim.last, f"the released bin of {self._names(owner)} differs")

    def _majority(self, k: int, last: int, owners: Owners) -> None:
        word = self.tokens[k].text
        following = self.tokens[k + 1].text if k + 1 < last else ""
        whole = word in ("all", "every", "everyone", "everybody", "nobody", "none")
        if not self.free[k] or not (
            word == "majority"
            or word == "mostly"
            or word in ("everyone", "everybody", "nobody")
            or (word in ("most", "all", "every", "none") and (following in lexicon.RECORDS or following == "of"))
        ):
            return
        owner = owners.nearest(k)
        if owner is None:
            return
        least = 1.0 if whole else 0.5
        if (whole and word in ("nobody", "none")) or any(self.plan.atoms[a].support <= least for a in owner.atoms):
            self._reject("number", k, k + 1, f"the released support of {self._names(owner)} does not say so")

    def _names(self, group: Group) -> str:
        return ", ".join(repr(self.plan.atoms[a].label) for a in group.atoms[:3])

    def _reject(self, kind: str, first: int, last: int, message: str) -> None:
        self.found.append(Violation(kind, (self.tokens[first].start, self.tokens[last - 1].end), message))


_BUDGET = ("epsilon", "delta")


def _cued(token: Token, setting: str) -> bool:
    return bool({token.text, token.stem} & lexicon.CUES[setting])


def _points_back(said: set[str]) -> bool:
    """Whether a sentence without a label still speaks of the one before it."""
    return not said.isdisjoint(("it", "its", "they", "their", "mass", "masses", "support"))


class _Window:
    """A list of flags seen by absolute token index."""

    def __init__(self, flags: list[bool], first: int) -> None:
        self._flags, self._first = flags, first

    def __getitem__(self, k: int) -> bool:
        return self._flags[k - self._first]
