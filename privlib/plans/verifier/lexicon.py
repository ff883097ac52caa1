"""Public word lists of the verifier: what makes a word a claim, what says nothing by itself."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from privlib.plans.verifier.numbers import HEDGES, LOWER, PARTS, SCALES, SMALL, TENS, UPPER
from privlib.plans.verifier.tokens import stem


def _lines(name: str) -> list[str]:
    text = (resources.files("privlib.plans.verifier") / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


_ORDERED = {name: words.split() for name, _, words in (line.partition(": ") for line in _lines("claim_words.txt"))}
_LISTS = {name: frozenset(words) for name, words in _ORDERED.items()}

# claim_words.txt says what each list is for
TOP = _LISTS["TOP"]
BOTTOM = _LISTS["BOTTOM"]
FREQUENT = _LISTS["FREQUENT"]
INFREQUENT = _LISTS["INFREQUENT"]
MORE = _LISTS["MORE"]
LESS = _LISTS["LESS"]
VERBS_MORE = _LISTS["VERBS_MORE"]
VERBS_LESS = _LISTS["VERBS_LESS"]
PLACES = _LISTS["PLACES"]
EQUAL = _LISTS["EQUAL"]
MULTIPLE = _LISTS["MULTIPLE"]
PLURALS = _LISTS["PLURALS"]
SINGULARS = _LISTS["SINGULARS"]
EVERYONE = _LISTS["EVERYONE"]
NEGATIONS = _LISTS["NEGATIONS"]
COPULAS = _LISTS["COPULAS"]
RECORDS = _LISTS["RECORDS"]
RARE = _LISTS["RARE"]
OFTEN = _LISTS["OFTEN"]
FAINT = _LISTS["FAINT"]
MIDDLE = _LISTS["MIDDLE"]
PLACING = _LISTS["PLACING"]
POSITIONS = _LISTS["POSITIONS"]
OPENERS = _LISTS["OPENERS"]
CLOSERS = _LISTS["CLOSERS"]
LISTS = _LISTS["LISTS"]
SPEAKING = _LISTS["SPEAKING"]
PARTS_OF = _LISTS["PARTS_OF"]
TINY = _LISTS["TINY"]
BEGINNINGS = _LISTS["BEGINNINGS"]
ENDINGS = _LISTS["ENDINGS"]
SCRAPS = _LISTS["SCRAPS"]
GREATER = _LISTS["GREATER"]
LESSER = _LISTS["LESSER"]
FAILURES = _LISTS["FAILURES"]
HUGE = _LISTS["HUGE"]
ADMISSION = _LISTS["ADMISSION"]
ABSENT = _LISTS["ABSENT"]
TELLING = _LISTS["TELLING"]
WHOLES = _LISTS["WHOLES"]
HOLDERS = _LISTS["HOLDERS"]
DOCUMENT = _LISTS["DOCUMENT"]
DEEDS = _LISTS["DEEDS"]
CHOOSING = _LISTS["CHOOSING"]
SHOWING = _LISTS["SHOWING"]
SCALE_UNITS = _LISTS["UNITS"]
ADVICE = _LISTS["ADVICE"]
CAUSES = _LISTS["CAUSES"]
JOINS = _LISTS["JOINS"]
STARTS = _LISTS["STARTS"]
BREAKS = _LISTS["BREAKS"]
VERBS = _LISTS["VERBS"]
ORDINALS = {word: rank for rank, word in enumerate(_ORDERED["ORDINALS"], 1)}
THEMES = PLURALS | SINGULARS
ARTICLES = _LISTS["ARTICLES"]

# what a number without an atom may be about, by cue word
CUES = {
    "epsilon": frozenset(("epsilon", "ε", "eps", "budget")),
    "delta": frozenset(("delta", "δ")),
    "sizes": frozenset(map(stem, PLURALS)),
    "universe": frozenset(map(stem, ("list", "universe", "candidates", "dictionary", "vocabulary"))),
    "denominator": frozenset(map(stem, ("denominator", "divided", "constant"))),
    "margin": frozenset(map(stem, ("margin", "difference", "gap", "distance", "apart"))),
    "noise": frozenset(map(stem, ("noise", "deviation", "scale", "sigma"))),
    "edges": frozenset(map(stem, ("bins", "edges", "threshold"))),
}


# lists whose words are claims wherever they stand; the others need a neighbour
_CLAIMS = ("TOP", "BOTTOM", "FREQUENT", "INFREQUENT", "MORE", "LESS", "VERBS_MORE", "VERBS_LESS", "EQUAL", "MULTIPLE")
_CLAIMS += ("PLURALS", "EVERYONE", "NEGATIONS", "RARE", "OFTEN", "FAINT", "MIDDLE", "COPULAS", "RECORDS", "PLACES")
_CLAIMS += ("ORDINALS",)


@lru_cache(maxsize=1)
def claim_words() -> frozenset[str]:
    """Words that the verifier reads as a claim or a number: no bin may be named by one."""
    words = {word for name in _CLAIMS for word in _LISTS[name]}
    words |= HEDGES | LOWER | UPPER | SMALL.keys() | TENS.keys() | SCALES.keys() | PARTS.keys()
    words |= {"most", "least", "more", "less", "than", "percent", "percentage", "per", "pct", "dozen", "dozens", "as"}
    return frozenset(words | {"exact", "exactly", "precise", "precisely", "majority", "mostly", "a", "an", "in", "of"})


@lru_cache(maxsize=1)
def public_words() -> frozenset[str]:
    """Words, and their stems, that say nothing about the protected texts by themselves."""
    listed = {word for line in _lines("public_words.txt") for word in line.split()}
    listed |= {word for words in _LISTS.values() for word in words}
    listed |= HEDGES | LOWER | UPPER | SMALL.keys() | TENS.keys() | SCALES.keys() | PARTS.keys()
    listed |= {"percent", "percentage", "pct", "dozen", "dozens", "s", "t", "nd", "rd", "st", "th", "x", "e"}
    return frozenset(listed | {stem(word) for word in listed})


@lru_cache(maxsize=1)
def plain_words() -> frozenset[str]:
    """`public_words` and the words of ordinary prose: no theme is named by these alone."""
    listed = {word for line in _lines("plain_words.txt") for word in line.split()}
    return public_words() | listed | {stem(word) for word in listed}


@lru_cache(maxsize=1)
def report_words() -> frozenset[str]:
    """Stems of the people, papers, times and steps of method that a report speaks of when it speaks of itself."""
    return frozenset(word for name, words in _report_stems().items() if name != "OCCASIONS" for word in words)


@lru_cache(maxsize=1)
def reasons() -> frozenset[str]:
    """Stems of `report_words` that are nobody's records, and of the occasions of a report: reasons for its form."""
    return (report_words() | _report_stems()["OCCASIONS"]) - voices()


def voices() -> frozenset[str]:
    """Stems of the people that records come from."""
    return _report_stems()["VOICES"]


@lru_cache(maxsize=1)
def form_words() -> frozenset[str]:
    """Stems of the papers a report is written on and of the steps of method."""
    return _report_stems()["PAPERS"] | _report_stems()["METHOD"]


def method_words() -> frozenset[str]:
    """Stems of the steps of method."""
    return _report_stems()["METHOD"]


@lru_cache(maxsize=1)
def _report_stems() -> dict[str, frozenset[str]]:
    read = [line.partition(": ") for line in _lines("report_words.txt")]
    return {name: frozenset(map(stem, words.split())) for name, _, words in read}


@lru_cache(maxsize=1)
def plain_nouns() -> frozenset[str]:
    """Words of `plain_words` that can name a thing, and their stems: those that are no verb, quality or adverb only."""
    nouns, listed = False, set()
    text = (resources.files("privlib.plans.verifier") / "plain_words.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            nouns = line.startswith("# nouns")
        elif nouns:
            listed.update(line.split())
    return frozenset(listed | {stem(word) for word in listed})


@lru_cache(maxsize=1)
def irregular_stems() -> dict[str, str]:
    """The stem of the word that an irregular form belongs to, by the stem of the form."""
    read = [(base, forms.split()) for base, forms in (line.split(": ") for line in _lines("irregular_words.txt"))]
    return {stem(form): stem(base) for base, forms in read for form in forms}
