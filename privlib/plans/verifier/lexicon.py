"""Public word lists of the verifier: what makes a word a claim about rank, order or bin."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from privlib.plans.verifier.numbers import HEDGES, LOWER, UPPER
from privlib.plans.verifier.tokens import stem

# superlatives: which end of the ranking they name
TOP = frozenset(
    [
        "top",
        "leading",
        "lead",
        "dominant",
        "main",
        "primary",
        "chief",
        "principal",
        "foremost",
        "predominant",
        "largest",
        "biggest",
        "highest",
        "greatest",
        "strongest",
        "commonest",
        "heaviest",
        "foremost",
        "first",
    ]
)
BOTTOM = frozenset(["smallest", "lowest", "rarest", "weakest", "fewest", "last", "scarcest"])
ORDINALS = {
    word: rank
    for rank, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        1,
    )
}
# adjectives of frequency: "most X", "more X than"; the negative ones turn the direction round
FREQUENT = frozenset(
    [
        "common",
        "frequent",
        "frequently",
        "often",
        "prevalent",
        "widespread",
        "support",
        "supported",
        "mass",
        "mentioned",
        "discussed",
        "reported",
        "popular",
        "prominent",
        "prominently",
        "important",
        "represented",
        "dominant",
        "numerous",
        "strongly",
        "commonly",
        "cited",
        "raised",
        "weight",
        "widely",
        "heavily",
        "present",
        "visible",
        "significant",
        "recurring",
    ]
)
INFREQUENT = frozenset(
    ["rare", "rarely", "uncommon", "infrequent", "scarce", "unusual", "minor", "marginal", "seldom", "unpopular"]
)
MORE = frozenset(["higher", "greater", "larger", "bigger", "stronger", "commoner", "heavier"])
LESS = frozenset(["fewer", "lower", "smaller", "rarer", "weaker", "lesser", "lighter", "scarcer"])
VERBS_MORE = frozenset(
    [
        "exceeds",
        "exceed",
        "exceeded",
        "exceeding",
        "outweighs",
        "outweigh",
        "outweighed",
        "surpasses",
        "surpass",
        "surpassed",
        "outranks",
        "outrank",
        "outranked",
        "outnumbers",
        "outnumber",
        "outnumbered",
        "dominates",
        "overshadows",
        "eclipses",
        "beats",
        "tops",
        "outpaces",
        "overtakes",
        "leads",
        "ahead",
        "above",
        ">",
    ]
)
VERBS_LESS = frozenset(
    ["trails", "trail", "trailed", "trailing", "lags", "lag", "lagged", "behind", "below", "beneath", "under", "<"]
)
EQUAL = frozenset(
    [
        "equal",
        "equals",
        "equally",
        "equalled",
        "tied",
        "tie",
        "ties",
        "matches",
        "match",
        "same",
        "identical",
        "equivalent",
        "par",
        "=",
    ]
)
MULTIPLE = frozenset(["twice", "double", "doubles", "triple", "triples", "thrice", "twofold", "threefold"])
PLURALS = frozenset(
    [
        "themes",
        "atoms",
        "topics",
        "categories",
        "labels",
        "concerns",
        "issues",
        "items",
        "subjects",
        "problems",
        "entries",
        "points",
        "matters",
        "complaints",
    ]
)
EVERYONE = frozenset(["other", "others", "every", "all", "any", "everything", "anything", "else", "rest"])
NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "neither",
        "nor",
        "cannot",
        "isn't",
        "aren't",
        "wasn't",
        "doesn't",
        "don't",
        "didn't",
        "hardly",
    ]
)

# words for bins, beyond the bins' own names
RARE = frozenset(["rare", "rarely", "uncommon", "infrequent", "infrequently", "scarce", "seldom"])
OFTEN = frozenset(["common", "commonly", "frequent", "frequently", "widespread", "prevalent", "often"])
FAINT = frozenset(["negligible"])
MIDDLE = frozenset(["medium", "moderately"])
COPULAS = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "remains",
        "remain",
        "seems",
        "appears",
        "bin",
        "support",
        "mass",
        "frequency",
        ":",
        ",",
        "(",
        "=",
        "very",
    ]
)
RECORDS = frozenset(
    [
        "records",
        "record",
        "reviews",
        "review",
        "customers",
        "people",
        "users",
        "patients",
        "respondents",
        "complaints",
        "reports",
        "texts",
        "documents",
        "posts",
        "messages",
        "participants",
        "individuals",
        "reviewers",
        "narratives",
        "submissions",
        "tweets",
    ]
)

# what a number without an atom may be about, by cue word
CUES = {
    "epsilon": frozenset(("epsilon", "ε", "eps")),
    "delta": frozenset(("delta", "δ")),
    "count": frozenset(stem(word) for word in PLURALS) | {"theme", "atom", "topic", "label"},
    "universe": frozenset(map(stem, ("list", "universe", "candidates", "dictionary", "vocabulary"))),
    "denominator": frozenset(map(stem, ("denominator",))),
    "margin": frozenset(map(stem, ("margin",))),
    "noise": frozenset(map(stem, ("noise", "deviation", "scale"))),
    "edges": frozenset(map(stem, ("bin", "bins", "edge", "edges", "threshold"))),
}


@lru_cache(maxsize=1)
def public_words() -> frozenset[str]:
    """Words, and their stems, that say nothing about the protected texts by themselves."""
    file = resources.files("privlib.plans.verifier") / "public_words.txt"
    lines = (line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    listed = {word for line in lines for word in line.split()}
    claims = TOP | BOTTOM | frozenset(ORDINALS) | FREQUENT | INFREQUENT | MORE | LESS | VERBS_MORE | VERBS_LESS
    claims |= (
        HEDGES
        | LOWER
        | UPPER
        | frozenset(["percent", "percentage", "pct"])
        | EQUAL
        | MULTIPLE
        | PLURALS
        | EVERYONE
        | NEGATIONS
        | RARE
        | OFTEN
        | FAINT
        | MIDDLE
        | RECORDS
    )
    both = listed | claims
    return frozenset(both | {stem(word) for word in both} | {"s", "t", "nd", "rd", "st", "th", "x"})
