"""Numbers that are about the release itself: its public settings, and how many themes there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privlib.plans.plan import SemanticPlan
from privlib.plans.verifier import lexicon
from privlib.plans.verifier.numbers import SMALL, Number
from privlib.plans.verifier.tokens import Token

_VALUES = frozenset(("mass", "masses", "support", "supports", "value", "total", "weight"))
_EXACT = ("epsilon", "delta")
_STRONG = frozenset(("epsilon", "ε", "eps", "delta", "δ", "denominator", "margin"))
_COUNTED = frozenset(("the", "these", "those", "both", "other", "others", "remaining", "last", "first"))
_ANAPHORIC = _COUNTED | {"of", "all", "next", "our", "its"}
_REST = frozenset(("other", "others", "remaining", "further", "rest"))
_GENERIC = frozenset(("whose", "that", "which", "with", "may", "can", "should", "could"))
_KEPT = frozenset(("kept", "released", "published", "listed", "admitted", "selected", "survived", "retained", "named"))
_BASES = frozenset(("of", "the", "/", "on", "by", "to", "constant", "base", "fixed"))
_FIXED = frozenset(("reference", "fixed", "public", "constant", "grand", "overall", "base"))
_CHOSEN = frozenset(("pick", "picked", "chose", "choose", "mention", "mentioned", "name", "named", "list", "quote"))
_CHOSEN |= {"show", "take", "took", "selected", "kept", "keep", "singled", "put", "print", "printed"}
# what the text itself is laid out in, which no mass counts
_LAYOUT = frozenset(("bullet", "bullets", "slide", "slides", "page", "pages", "sentence", "sentences", "paragraph"))
_LAYOUT |= {"paragraphs", "word", "words", "minute", "minutes", "picture", "pictures", "column", "columns", "dots"}
_FEW = 20
_REACH = 6


class Settings:
    """The public settings of a plan, with the words that call for each."""

    def __init__(self, plan: SemanticPlan, edges: Mapping[str, float]) -> None:
        promise = plan.guarantee
        self.bins = [atom.bin for atom in plan.atoms]
        rest = plan.universe_size - len(plan.atoms)  # candidates that were not released
        self.sizes = (len(plan.atoms), plan.plan_size, plan.universe_size, rest)
        self.values: dict[str, tuple[float, ...]] = {
            "epsilon": (promise.epsilon,),
            "delta": (promise.delta,),
            "universe": (plan.universe_size,),
            "denominator": (plan.public_denominator,),
            "margin": (plan.comparison_margin,),
            "noise": () if plan.noise is None else (plan.noise.scale,),
            "edges": tuple(edges.values()),
            "sizes": self.sizes,
        }

    def judge(
        self, number: Number, tokens: list[Token], first: int, last: int, free: Sequence[bool], named: bool
    ) -> bool | None:
        """True: a setting that it names, or could be where no atom is `named`; False: another; None: none is named."""
        setting, word = self._governing(number, tokens, first, free)
        if number.kind == "plain" and _close(number.value, self.values["denominator"][0]):
            before = [t.text for t in tokens[max(first, number.first - 3) : number.first]]
            fixed = before[-2:-1] == ["total"] and before[:1] and before[0] in _FIXED
            if fixed or (setting != "value" and before and before[-1] in _BASES):
                return True  # "9,987 of 40,000", "on a base of 40,000", "the fixed total of 240"
        if setting == "value" and named:
            return None
        if setting in self.values and self._fits(number, setting):
            return True
        if word in _STRONG and (number.kind == "plain" or setting in _EXACT):
            return False
        if not named:
            if number.kind == "fraction":
                size, _, universe, _ = self.sizes
                return True if _close(number.value, size / universe) else None
            ahead = tokens[number.last : min(number.last + 4, last)]
            cued = [n for n, cues in lexicon.CUES.items() for t in ahead if {t.text, t.stem} & cues]
            if any(self._fits(number, name) for name in (cued or self.values)):
                return True
        return None

    def _governing(self, number: Number, tokens: list[Token], first: int, free: Sequence[bool]) -> tuple[str, str]:
        """The setting that the words before a number name, with the word; ("", "") for none."""
        for k in range(number.first - 1, max(first, number.first - _REACH) - 1, -1):
            token = tokens[k]
            if not free[k] or token.text == ",":
                break
            if token.text in _VALUES:
                return "value", token.text
            for name, cues in lexicon.CUES.items():
                if {token.text, token.stem} & cues:
                    return name, token.text
        return "", ""

    def _fits(self, number: Number, name: str) -> bool:
        scale = 100.0 if number.kind == "percent" or (name == "edges" and number.value >= 1) else 1.0
        if number.kind != "plain" and name in ("sizes", "universe", "denominator"):
            return False
        return any(
            (number.fits(scale * value) or (number.kind != "plain" and _close(number.value, scale * value)))
            and (name not in _EXACT or number.value >= scale * value * (1 - 1e-9))
            for value in self.values[name]
        )

    def counts(
        self, number: Number, tokens: list[Token], first: int, last: int, free: Sequence[bool], named: int, seen: int
    ) -> bool:
        """Whether a number rightly counts themes: all of them, those of a bin, those `named` here, or those left.

        `seen`: atoms named in the sentences before. "The two", "these three" count what the text itself counts.
        """
        whole = (
            number.kind == "plain"
            and abs(number.value) < 1e9
            and number.value == int(number.value)
            and not (number.lower or number.upper)
        )
        if not whole:
            return False
        size, n = self.sizes[0], int(number.value)
        noun = self._noun(number, tokens, first, last, free)
        before = [t.text for t in tokens[max(first, number.first - 3) : number.first]]
        if self._counts_names(number, tokens, first, last, named, seen):
            return True
        if noun is None:
            ahead = [t.text for t in tokens[number.last : min(number.last + 5, last)]]
            if (told := set(ahead) & set(self.bins)) and set(ahead[:2]) & lexicon.PLACING:
                return n <= sum(bin in told for bin in self.bins)
            if set(ahead[:2]) & _KEPT or (ahead[:1] in (["on"], ["in"]) and set(ahead[1:3]) & lexicon.WHOLES):
                return n in self.sizes or n in (named, seen)
            after = tokens[number.last].text if number.last < last else ""
            if n == named and (after == ":" or before[-2:] in (["of", "the"], ["of", "these"], ["of", "those"])):
                return True  # "here are two: A and B", "the lesser of the two when ..."
            bare = (
                not after
                or after in lexicon.PLACING
                or tokens[number.last].kind != "word"
                or after in ("cannot", "have")
            )
            return bare and n <= size and bool(set(before[-1:]) & _ANAPHORIC) and set(before) & _COUNTED != set()
        words = {t.text for t in tokens[number.first : noun]}
        told = (words | {t.text for t in tokens[noun : min(noun + 7, last)]}) & set(self.bins)
        if told:
            return n <= sum(bin in told for bin in self.bins)
        if set(before) & _REST or words & _REST:
            return n in (size - seen, size - seen - named, size - named) or (
                n <= size and bool(words & {"two", "both"})
            )
        if n in self.sizes or n in (named, seen):
            return True
        after = tokens[noun + 1].text if noun + 1 < last else ""
        if named == 0 and n <= size and (tokens[noun].text in lexicon.DOCUMENT or after in _GENERIC):
            return True
        return n <= size and bool(set(before[-1:]) & _ANAPHORIC)

    def _counts_names(self, number: Number, tokens: list[Token], first: int, last: int, named: int, seen: int) -> bool:
        """Whether a number counts what a text puts down: "three of them", "that makes three", "two bullets"."""
        n, before = int(number.value), {t.text for t in tokens[max(first, number.first - 4) : number.first]}
        ahead = [t.text for t in tokens[number.last : min(number.last + 3, last)]] + [""] * 3
        if n <= _FEW and ahead[0] in _LAYOUT:
            return True
        chosen = bool(before & _CHOSEN) and bool(before & {"i", "we"})
        if ahead[0] == "of" and ahead[1] in ("them", "these", "those", "which"):
            return n in (named, seen) or (chosen and n <= self.sizes[0])
        if ahead[:2] == ["of", "the"] and ahead[2] in _spelled(self.sizes[0]):
            return n in (named, seen)
        if n == named and tokens[number.first - 1].text in ("these", "those") and number.first > first:
            return True
        counted = chosen or bool(before & {"makes", "make", "made"}) or ahead[0] == "names"
        return counted and n == named

    def _noun(self, number: Number, tokens: list[Token], first: int, last: int, free: Sequence[bool]) -> int | None:
        """Position of the plural noun for themes that a number counts."""
        for k in range(number.last, min(number.last + 5, last)):
            word = tokens[k].text
            if not free[k] or word in lexicon.PLACING or (tokens[k].kind == "mark" and word != "-"):
                return None
            if (
                word in lexicon.PLURALS
                or (word in lexicon.DOCUMENT and word.endswith("s") and word not in ("minus", "plus"))
                or (k == number.last and word in lexicon.SINGULARS)
            ):
                return k
        return None


def _spelled(size: int) -> tuple[str, ...]:
    """A number of themes in digits, and as a word where it has one."""
    return (str(size), *(word for word, value in SMALL.items() if value == size))


def _close(value: float, setting: float) -> bool:
    return abs(value - setting) <= 1e-6 * abs(setting)
