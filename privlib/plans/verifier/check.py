"""The verdict on a text: its sentences in order, the claims of each, and who they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privlib.plans.plan import DEFAULT_BIN_EDGES, SemanticPlan
from privlib.plans.verifier import admission, crowds, denied, lexicon, listing, selfnamed, slots
from privlib.plans.verifier.bins import read_bins
from privlib.plans.verifier.inventions import inventions
from privlib.plans.verifier.judge import KINDS, Judge, Violation
from privlib.plans.verifier.mentions import FOREIGN, Index
from privlib.plans.verifier.numbers import Number, read_numbers
from privlib.plans.verifier.orders import read_orders
from privlib.plans.verifier.owners import Group, Owners, groups_of
from privlib.plans.verifier.promises import disguise, false_promises, undecided
from privlib.plans.verifier.questions import Unit, units
from privlib.plans.verifier.ranks import Rank, read_ranks
from privlib.plans.verifier.settings import Settings
from privlib.plans.verifier.shares import read_shares
from privlib.plans.verifier.sizes import couples, told_size
from privlib.plans.verifier.standins import stand_ins
from privlib.plans.verifier.tokens import sentences, tokenize
from privlib.plans.verifier.words import contents, is_prose, strange_words, without_prose


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
    Any string gives a verdict, in time linear in its length.
    With it, words from nowhere are rejected where they stand for an atom (in a list of atoms, as what a claim is
    about, as what the plan holds) or tell a cause or an advice; other prose passes.
    It reads English by rules: it may reject a supported claim in unusual words, and accept an unsupported one that
    no rule recognises. How often is measured on labelled texts (`experiments.studies.plans_verifier`).
    Raises TypeError when `text` is no string or `plan` no SemanticPlan; TypeError or ValueError when `universe` is not
    the plan's: its size, the admitted labels among it.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {type(text).__name__}")
    if not isinstance(plan, SemanticPlan):
        raise TypeError(f"plan must be a SemanticPlan, got {type(plan).__name__}")
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


class _Reading(Judge):
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
        self.claimed: list[str] = []  # kinds of the claims judged in this sentence
        self.mark: int | None = None  # where the question of this sentence ends
        self.ahead: tuple[int, ...] = ()  # atoms named next
        self.anaphoric = False

    def verdict(self) -> Verdict:
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
        ranges = sentences(self.tokens, self.text)
        for phrase in listing.items(self.tokens, ranges, self.text, self.free, self.words) if self.universe else ():
            self._reject("atom", phrase.first, phrase.last, phrase.message)
        carried: tuple[Group, ...] = ()
        at, line = 0, -1
        for unit in units(self.tokens, ranges):
            first, last = unit.first, unit.last
            mentions = []
            while at < len(self.mentions) and self.mentions[at].first < last:
                mentions.append(self.mentions[at])
                at += 1
            self.ahead = tuple(m.atom for m in self.mentions[at : at + 3] if m.atom != FOREIGN)
            if carried and any(token.kind == "line" for token in self.tokens[max(0, line) : first]):
                carried = carried if self._heading(carried, first, last) else ()
            line = first
            named = [m for m in mentions if m.atom != FOREIGN]
            groups = groups_of(named, self.tokens, first, last)
            foreign = [m for m in mentions if m.atom == FOREIGN]
            if not (foreign and not named and admission.denials(self.tokens, first, last, self.free, ())):
                for mention in foreign:
                    self._reject("atom", mention.first, mention.last, f"{mention.label!r} is not in the plan")
            # what a sentence claims of labels from elsewhere is rejected with them
            nameless = not groups and not strange.isdisjoint(range(first, last))
            if not nameless and not foreign:
                firm = any(not is_prose(mention, self.tokens) for mention in mentions)
                self._unit(unit, groups, carried, firm)
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
    def _unit(self, unit: Unit, groups: list[Group], carried: tuple[Group, ...], firm: bool) -> None:
        """Judge a sentence; what it asks claims nothing, and a "no" to it claims the opposite."""
        self.mark = unit.mark
        said, self.claimed = len(self.found), []
        self._sentence(unit.first, unit.last, groups, carried, firm)
        if not unit.asked or unit.reply == "yes":
            return
        refuted = len(self.found) > said
        del self.found[said:]
        if unit.reply == "no" and groups and not refuted:
            kinds = set(self.claimed) or ({"atom"} if self._admits(unit, groups) else set())
            if len(kinds) == 1:
                self._reject(kinds.pop(), groups[0].first, unit.last, "the plan says so")

    def _admits(self, unit: Unit, groups: list[Group]) -> bool:
        """Whether a sentence says no more than that its atoms are in the plan."""
        said = {self.tokens[k].text for k in range(unit.first, unit.last) if self.free[k]}
        return bool(said & (lexicon.WHOLES | lexicon.ADMISSION)) and unit.last - unit.first < 20

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
        for pair in couples(tokens, first, last):
            self._counts_themes(pair, first, last)
        bounds = {number.first for number in numbers} | {share.first for share in shares}
        numbers = [n for n in numbers if not self._is_public(n, first, last, owned, len(atoms))]
        if not groups and said & {"these", "they", "respectively"} and len(numbers) == len(self.seen) > 1:
            each = tuple(Group((atom,), first, first) for atom in self.seen)
            owners = Owners([], each, tokens, first, last)
        counted = {k for number in numbers for k in range(number.first, number.last)} | taken
        bins = [b for b in read_bins(tokens, first, last, free, self.edges) if b.first not in counted]
        orders = read_orders(tokens, first, last, free, taken)
        open_ = undecided(tokens, first, last, free)
        ranks, shares, numbers, bins, orders = (
            [claim for claim in claims if claim.first not in open_] for claims in (ranks, shares, numbers, bins, orders)
        )
        self.owners = owners
        self.anaphoric = not said.isdisjoint(("it", "its")) or all(t.kind != "word" for t in tokens[first:last])
        phrases = self._phrases(first, last, owners, [*ranks, *shares, *numbers, *bins], orders, open_ | counted)
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
        several = len(atoms) > 1
        for order in orders:
            if owners.clause(order.first) not in invented:
                self._order(order, owners, bounds, several)

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

    def _phrases(
        self, first: int, last: int, owners: Owners, claims: list, orders: list, read: set[int]
    ) -> list[admission.Phrase]:
        """Names from nowhere, denials of admission, causes and advice; `read` are tokens that something else reads."""
        claimed = {k for claim in claims for k in range(claim.first, claim.last)}
        found = [
            phrase
            for phrase, owner in owners.pair(admission.denials(self.tokens, first, last, self.free, claimed))
            if owner
        ]
        if not found:
            read = read | claimed | {k for order in orders for k in range(order.first, order.last)}
            found = denied.unlicensed(self.tokens, first, last, self.free, read)
        if self.universe is not None:
            starts = [claim.first for claim in claims]
            found += admission.unknown_names(self.tokens, first, last, self.free, self.words, owners, starts)
            found += slots.vacant(self.tokens, first, last, self.free, self.words)
            found += selfnamed.method_named(self.tokens, first, last, self.free, self.words, claimed)
            found += inventions(self.tokens, first, last, self.free, self.words)
            if (named := crowds.unheard(self.tokens, first, last, self.free, self.words)) is not None:
                found.append(admission.Phrase(*named, "a claim about what the plan does not name"))
        return found

    def _counts_else(self, number: Number, last: int) -> bool:
        """Whether a number in a sentence without an atom is a year, or counts what is no theme ("two digits")."""
        token, after = self.tokens[number.first], self.tokens[number.last : min(number.last + 1, last)]
        if number.kind != "plain" or not abs(number.value) < 1e9 or number.value != int(number.value):
            return False
        if _year(token.text):
            return True
        noun = after[0].text if after and after[0].kind == "word" else ""
        counted = lexicon.THEMES | lexicon.DOCUMENT | lexicon.RECORDS | lexicon.SCALE_UNITS
        return noun.endswith("s") and len(noun) > 3 and noun not in counted and noun not in lexicon.BREAKS

    def _counts_themes(self, number: Number, first: int, last: int) -> bool:
        """Whether a number says how many themes the plan holds; a false one is rejected here."""
        if (holder := told_size(number, self.tokens, first, last, self.free)) is None:
            return False
        told = {mention.atom for mention in self.mentions} - {FOREIGN} if holder == "paper" else ()
        if number.value not in (len(self.plan.atoms), len(told)):
            self._reject("number", number.first, number.last, "the plan admits another number of themes")
        return True

    def _is_public(self, number: Number, first: int, last: int, owned: bool, named: int) -> bool:
        """Whether a number is about the release itself; a false one is rejected here."""
        if self._counts_themes(number, first, last):
            return True
        judged = self.settings.judge(number, self.tokens, first, last, self.free, owned)
        if judged is False:
            self._reject("number", number.first, number.last, "not the public setting that is named")
        if judged is None and not named and (number.value == 0 or self._counts_else(number, last)):
            return True  # "values below zero are due to noise"
        if judged is None:
            seen = len(self.seen)
            return self.settings.counts(number, self.tokens, first, last, self.free, named, seen)
        return True


def _year(text: str) -> bool:
    return len(text) == 4 and text[:2] in ("19", "20") and text.isdecimal()


def _points_back(said: set[str]) -> bool:
    """Whether a sentence without a label still speaks of the one before it."""
    return not said.isdisjoint(("it", "its", "they", "their", "them", "these", "this", "mass", "masses", "support"))
