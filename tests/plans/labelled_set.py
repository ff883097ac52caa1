"""Template items of the labelled set of summaries (book/labelled): true texts, and each with one claim made false.

A template line is `class[:claim]|sentence[|negated sentence]`; further lines hold paraphrases of admitted (`para`)
and of foreign labels (`syn`), and words for fractions, shares and bins with the supports they hold for.
"""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "book" / "labelled"
PREFIX = {"development": "dev", "evaluation": "eval", "development-b": "devb", "development-c": "devc"}
PREFIX |= {"development-d": "devd", "development-e": "deve", "development-f": "devf", "development-g": "devg"}
PREFIX |= {"development-h": "devh", "development-i": "devi"}
SHARED = ("drug_laplace", "airline", "courses")
PLANS = {
    "development": ("news_gaussian", "mortgage", "restaurants", "hotel", "library", *SHARED),
    "evaluation": ("news_topl", "cards", "beauty", "helpdesk", "city", *SHARED),
    "development-b": ("museum", "bugs", "transit", "clinic", "exits"),
    "development-c": ("vet_visits", "energy_calls", "game_reviews", "conference_feedback", "tenancy_disputes"),
}
PLANS |= dict.fromkeys(
    ("development-d", "development-e"), ("farm_line", "parcel_notes", "school_letters", "cycling_forum")
)
PLANS |= dict.fromkeys(("development-f", "development-g"), ("fitness_club", "donor_letters", "ski_resort"))
PLANS |= {"development-h": ("ebike_hire", "bank_app", "meal_kits")}
PLANS |= {"development-i": ("campsite_book", "hearing_aids", "moving_firm")}
DRAWS = dict.fromkeys(PREFIX, (55, 3)) | {"development-d": (150, 1), "development-e": (150, 1)}  # of `Maker.items`
DRAWS |= {"development-f": (96, 1), "development-g": (96, 1), "development-h": (105, 1), "development-i": (105, 1)}
CLASSES = {"foreign_atom": ["atom"], "foreign_atom_synonym": ["atom"]}  # which sentences carry a corruption
CLASSES |= {"wrong_number_digits": ["mass"], "wrong_number_words": ["words"], "wrong_percentage": ["pct"]}
CLASSES |= {"wrong_fraction": ["frac"], "wrong_magnitude": ["mass", "words"], "wrong_bin": ["bin"]}
CLASSES |= {"reversed_comparison": ["cmp"], "within_margin_comparison": ["cmp"]}
CLASSES |= {"wrong_rank": ["rank", "rank1", "rankL", "top3"], "wrong_quantifier": ["quant", "freq"]}
CLASSES |= {"negation": ["neg"], "two_claims": ["two"], "hedge": ["hedge"]}
HARD = ("foreign_atom", "foreign_atom_synonym", "reversed_comparison", "within_margin_comparison")
HARD += ("wrong_rank", "negation", "two_claims", "hedge")  # the corruptions of -f and -g
KINDS = dict.fromkeys(("mass", "words", "pct", "frac", "q"), "number") | {"adv": "bin", "bin": "bin"}
KINDS |= dict.fromkeys(("ord", "num", "rank", "rank1", "rankL", "top3"), "rank") | {"cmp": "comparison", "atom": "atom"}
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
ORDINALS += ["eleventh", "twelfth", "thirteenth", "fourteenth"]
ONES = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
)
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SLOT = re.compile(r"\{(\w+)\}")


def known_plans() -> dict:
    """Plans and universes of every file of plans, by name."""
    files = [FOLDER / "plans.json", *sorted(FOLDER.glob("plans-*.json"))]
    return {name: entry for path in files for name, entry in json.loads(path.read_text(encoding="utf-8")).items()}


def classes(split: str) -> tuple[str, ...]:
    """The corruptions of a file."""
    return HARD if split in ("development-f", "development-g") else tuple(CLASSES)


class Maker:
    """The draws of one split."""

    def __init__(self, split: str) -> None:
        self.split, self.random = split, random.Random(f"labelled set, {split}")
        self.plans = known_plans()
        self.classes = classes(split)
        self.lines: dict[str, list[list[str]]] = {}
        for line in (FOLDER / f"templates-{split}.txt").read_text(encoding="utf-8").splitlines():
            head, *rest = line.split("|")
            group, _, claim = head.partition(":")
            self.lines.setdefault(group, []).append([claim or group, *rest])

    def pick(self, options):
        options = list(options)
        return options[int(self.random.random() * len(options))]

    def shuffled(self, options):
        options = list(options)
        return [options[k] for _, k in sorted((self.random.random(), k) for k in range(len(options)))]

    def items(self, bases: int = 55, each: int = 3) -> list[dict]:
        """Base texts, each followed by `each` corrupted ones; every corruption equally often."""
        queue = [name for _ in range(bases * each // len(self.classes)) for name in self.shuffled(self.classes)]
        families = [self.family(k, queue[each * k : each * (k + 1)]) for k in range(bases)]
        return [item for family in families for item in family]

    def family(self, number: int, corruptions: list[str]) -> list[dict]:
        claims: list = [None]
        while None in claims:  # until a plan is drawn that has what the corruptions need (a near tie, a fraction)
            self.name = self.pick(PLANS[self.split])
            plan = self.plans[self.name]["plan"]
            self.atoms, self.margin = plan["atoms"], plan["comparison_margin"]
            self.quote = self.pick(("{}", "{}", "{}", "“{}”", '"{}"', "**{}**"))
            self.used: set[str] = set()
            claims = [self.claim(name) for name in corruptions]
            claims += [self.claim(self.pick(self.classes)) for _ in range(self.pick((0, 1, 1, 2)))]
        order = self.shuffled(range(len(claims)))
        public = {"eps": f"{plan['guarantee']['epsilon']:g}", "unit": plan["guarantee"]["unit"]}
        public |= {
            "m": str(plan["universe_size"]),
            "L": str(plan["plan_size"]),
            "d": f"{plan['public_denominator']:,.0f}",
        }
        opening = fill(self.pick(self.lines["intro"])[1], public)[0] if self.random.random() < 0.7 else ""
        closing = fill(self.pick(self.lines["note"])[1], public)[0] if self.random.random() < 0.6 else ""
        lay = self.pick(("flow", "flow", "bullets", "lines"))
        name, made = f"{PREFIX[self.split]}-template-{number + 1:03d}", []
        for wrong in (None, *range(len(corruptions))):
            sentences = [claims[k][1 if k == wrong else 0] for k in order]
            text, starts = arrange(opening, sentences, closing, lay)
            kind, corruption, spans = "none", "none", []
            if wrong is not None:
                start, end = (starts[order.index(wrong)] + offset for offset in claims[wrong][2])
                kind, corruption, spans = claims[wrong][3], corruptions[wrong], [[start, end, text[start:end]]]
            item = {"id": name if wrong is None else f"{name}-{corruption}", "plan": self.name, "origin": "template"}
            made.append(item | {"kind": kind, "corruption": corruption, "text": text, "spans": spans})
        return made

    def claim(self, corruption: str):
        """A true sentence, the false one, the span of the falsehood in it, its kind; None where it can't be."""
        line = self.pick([x for x in self.lines[self.pick(CLASSES[corruption])] if x[1] not in self.used])
        claim, sentence, *negated = line
        slots = SLOT.findall(sentence)
        atoms = self.subjects(claim, [slot for slot in slots if slot in ("A", "B", "C")])
        if not atoms:
            return None
        about = {slot: atoms["B" if slot[-1] == "B" else "A"] for slot in slots if slot not in atoms}
        forms = {slot: self.form(slot, atom) for slot, atom in about.items()}
        values = {slot: form(None) for slot, form in forms.items()}
        if None in values.values():
            return None
        self.used.add(sentence)
        shown = values | {slot: self.quote.format(atom["label"]) for slot, atom in atoms.items()}
        widened = [line[3] for line in self.lines["para"] if line[1:3] == [self.name, atoms["A"]["label"]]]
        if widened and claim in ("atom", "bin") and self.random.random() < 0.5:
            shown["A"] = widened[0]
        truth = fill(sentence, shown)[0]
        changed = {} if negated else self.falsified(corruption, claim, forms, atoms)
        if not changed and not negated:
            return None
        wrong, places = fill(negated[0] if negated else sentence, shown | changed)
        if len(changed) == 1 and claim not in ("rank1", "rankL"):
            slot = next(iter(changed))
            kind = claim if claim == "atom" else slot.rstrip("B").lower()
            return truth, wrong, places[slot], KINDS[kind]
        return truth, wrong, (0, len(wrong.rstrip("."))), KINDS[claim]

    def subjects(self, claim: str, slots: list[str]) -> dict:
        """Atoms the sentence can truly speak of, by slot; empty where the plan has none."""
        if claim == "top3":
            return dict(zip("ABC", self.atoms[:3], strict=True))
        if claim in ("rank1", "rankL"):
            return {"A": self.atoms[0 if claim == "rank1" else -1]}
        if claim == "cmp":
            return self.pair(lambda gap: gap >= self.margin)
        return dict(zip(sorted(slots), self.shuffled(self.atoms), strict=False))

    def pair(self, fits) -> dict:
        pairs = [{"A": a, "B": b} for a in self.atoms for b in self.atoms if a is not b and fits(a["mass"] - b["mass"])]
        return self.pick(pairs) if pairs else {}

    def form(self, slot: str, atom: dict):
        """Writer of one slot: the atom's own value for None, else the value given; None where there is no word."""
        kind, mass, support = slot.rstrip("B").lower(), atom["mass"], atom["support"]
        if kind in ("mass", "words", "pct"):
            own_value = support if kind == "pct" else mass
            write = self.pick(written(kind, own_value))
            return lambda value: write(own_value if value is None else value)
        if kind in ("num", "ord"):
            words = self.pick((ONES, range(20), range(20)) if kind == "num" else (["", *ORDINALS],))
            return lambda value: str(words[value or atom["rank"]])
        options = [atom["bin"]]
        if kind == "frac":
            options = [x[1] for x in self.lines["fraction"] if abs(support / Fraction(x[2]) - 1) <= 0.045]
        elif kind == "q":
            options = [x[1] for x in self.lines["share"] if float(x[2]) <= support <= float(x[3])]
        elif kind == "adv":
            options = [x[1] for x in self.lines["adverb"] if x[2] == atom["bin"] and mass > 0]
        own = self.pick(options) if options else None
        return lambda value: value or own

    def falsified(self, corruption: str, claim: str, forms: dict, atoms: dict) -> dict:
        """New texts of the slots that make the sentence false; empty where the plan has none."""
        labels, quote = [atom["label"] for atom in self.atoms], self.quote.format
        if claim == "atom":
            slot = self.pick(sorted(atoms))
            if corruption == "foreign_atom_synonym":
                return {slot: self.pick([x[3] for x in self.lines["syn"] if x[1] == self.name])}
            return {slot: quote(self.pick([x for x in self.plans[self.name]["universe"] if x not in labels]))}
        if claim in ("rank1", "rankL"):
            return {"A": quote(self.pick([label for label in labels if label != atoms["A"]["label"]]))}
        if claim in ("top3", "cmp"):
            first, second = self.pick(("AB", "BC", "AC")) if claim == "top3" else "AB"
            swapped = {first: atoms[second], second: atoms[first]}
            if corruption == "within_margin_comparison" or (corruption == "hedge" and self.random.random() < 0.5):
                swapped = self.pair(lambda gap: abs(gap) < 0.9 * self.margin)
            return {slot: quote(atom["label"]) for slot, atom in swapped.items()}
        slot = self.pick(sorted(forms))
        kind, atom = slot.rstrip("B").lower(), atoms["B" if slot[-1] == "B" else "A"]
        support = atom["support"]
        if kind in ("mass", "words", "pct"):
            name = "support" if kind == "pct" else "mass"
            own, others = atom[name], [other[name] for other in self.atoms]
            if own < (5 if kind == "words" else 0.001):
                return {}
            wrong = [own * scale for scale in (0.55, 0.7, 0.8, 1.25, 1.4, 1.8) if own >= 50 or scale > 1]
            wrong += [x for x in others if x > 0 and abs(x - own) > own / 7]
            if corruption == "wrong_magnitude":
                wrong = [own * scale for scale in (0.1, 10, 100, 1000) if own >= 50 or scale > 1]
            texts = [forms[slot](value) for value in wrong]
        elif kind in ("ord", "num"):
            texts = [forms[slot](rank) for rank in range(1, len(labels) + 1) if rank != atom["rank"]]
        elif kind == "bin":
            texts = [name for name in ("trace", "low", "moderate", "high") if name != atom["bin"]]
        elif kind == "frac":
            texts = [x[1] for x in self.lines["fraction"] if not 1 / 1.3 < support / Fraction(x[2]) < 1.3]
        elif kind == "adv":
            texts = [x[1] for x in self.lines["adverb"] if x[3] == atom["bin"]]
        else:
            texts = [x[1] for x in self.lines["share"] if float(x[4]) <= support <= float(x[5])]
        return {slot: self.pick(texts)} if texts else {}


def fill(sentence: str, values: dict) -> tuple[str, dict]:
    """The sentence with its slots filled and a capital in front, and where each slot stands."""
    text, places = "", {}
    for k, part in enumerate(SLOT.split(sentence)):
        value = values[part] if k % 2 else part
        places[part] = (len(text), len(text) + len(value))
        text += value
    return text[:1].upper() + text[1:], places


def arrange(opening: str, sentences: list[str], closing: str, lay: str) -> tuple[str, list[int]]:
    """One text, and where each sentence starts."""
    text, starts = opening, []
    if opening:
        text += " " if lay == "flow" and opening.endswith(".") else "\n\n"
    for sentence in sentences:
        text += {"flow": " ", "lines": "\n", "bullets": "\n"}[lay] * bool(starts) + "- " * (lay == "bullets")
        starts.append(len(text))
        text += sentence + "." * (lay == "flow" and not sentence.endswith("."))
    return text + ((" " if lay == "flow" else "\n\n") + closing) * bool(closing), starts


def written(kind: str, size: float) -> list:
    """Ways to write a number of this size: a mass in digits or words, a support in percent."""
    if kind == "words":
        return [lambda x: in_words(round(x)), lambda x: in_words(round(float(f"{x:.2g}")))]
    if kind == "pct":
        places = (2,) if size < 0.01 else (1,) if size < 0.1 else (0, 1, 1)
        signs = ("%", "%", " %", " percent", " per cent")
        return [lambda x, p=p, s=s: f"{100 * x:.{p}f}{s}" for p in places for s in signs]
    ways = [lambda x: f"{x:,.1f}"]
    if abs(size) >= 20:
        ways += [lambda x: f"{x:,.0f}", lambda x: f"{x:.0f}", lambda x: f"about {float(f'{x:.2g}'):,.0f}"]
    return ways + [lambda x: f"{x / 1000:,.1f} thousand"] * (size >= 1000)


def in_words(number: int) -> str:
    """English cardinal of an integer below a thousand million."""
    if number < 0:
        return "minus " + in_words(-number)
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10 - 2] + ("-" + ONES[number % 10] if number % 10 else "")
    size, name = next(x for x in ((10**6, "million"), (1000, "thousand"), (100, "hundred")) if number >= x[0])
    rest = number % size
    return f"{in_words(number // size)} {name}" + ((" and " if rest < 100 else " ") + in_words(rest) if rest else "")
