"""What a sentence says of the release itself: its noise, unit and relation; and words in disguise."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from privlib.dp import Guarantee
from privlib.plans.verifier import lexicon
from privlib.plans.verifier.tokens import Token

_NOBODY = frozenset(("nobody", "none", "nothing"))
_SAYING = frozenset(
    [
        "say",
        "says",
        "tell",
        "tells",
        "claim",
        "mean",
        "means",
        "show",
        "shows",
        "know",
        "imply",
        "implies",
        "conclude",
        "decide",
        "disclose",
        "let",
    ]
)
_MERELY = frozenset(("only", "just", "merely", "simply"))
_SCOPES = frozenset(("that", "because", "than", "since", "if", "whether", "as", "?", "nor", "which", "who"))
_BUT_NOT = frozenset(
    [
        ("other", "than"),
        ("anything", "but"),
        ("far", "from"),
        ("rather", "than"),
        ("instead", "of"),
        ("different", "from"),
    ]
)
_TURNS = 6  # denials in a row that are read
_DOUBTS = frozenset(
    ("doubt", "doubts", "doubted", "question", "questions", "denies", "deny", "denied", "disputes", "exception")
)
_DOUBTS |= {"wonder", "surprise", "secret", "mistaking", "denying"}
_UNDOUBTED = _NOBODY | {"no", "without", "not", "never", "nor", "hardly", "cannot"}
_MISSES = frozenset(("lacks", "misses", "missed", "outside", "nobody"))
UNTRUE = frozenset(
    (
        "wrong",
        "incorrect",
        "untrue",
        "false",
        "mistaken",
        "mistake",
        "inaccurate",
        "error",
        "misleading",
        "myth",
        "fallacy",
    )
)
_VERBAL = frozenset(word for word in lexicon.NEGATIONS if word.endswith("n't") or word in ("not", "never", "cannot"))
_EXACT = frozenset(("exact", "exactly", "precise", "precisely", "noiseless", "unperturbed", "noisefree"))
_NO_NOISE = frozenset(("no", "without", "zero", "free", "never", "not"))
_ADDED = frozenset(("added", "add", "used", "applied", "involved", "drawn", "put", "there", "present", "included"))
_UNITS = {"record": "record", "records": "record", "user": "user", "users": "user"}
_RELATIONS = {"replace": "replace", "replacement": "replace", "substitution": "replace", "add": "add_drop"}
_RELATIONS |= {"addition": "add_drop", "drop": "add_drop"}


def negated(tokens: list[Token], free: list[bool], first: int, at: int, reach: int = 6) -> bool:
    """Whether a negation outside all labels stands before `at` in its clause, `reach` words of no label back.

    A denial of another kind ("anything but", "nobody") turns round what stands before it; of a row of them the last
    few are read.
    """
    turned = False
    for _ in range(_TURNS):
        k, value = _denial(tokens, free, first, at, reach)
        if value is not None:
            return value != turned
        at, reach, turned = k, 3, not turned
    return turned


def _denial(tokens: list[Token], free: list[bool], first: int, at: int, reach: int) -> tuple[int, bool | None]:
    """Where the last denial before `at` stands, and whether it denies; None where that turns on what precedes it."""
    steps = 0
    for k in range(at - 1, max(first, at - 40) - 1, -1):
        if not free[k]:
            continue
        word = tokens[k].text
        if word in (",", ";", ":", "?") or (word == "but" and tokens[k - 1].text != "anything"):
            return k, False
        if word in _UNDOUBTED and not _DOUBTS.isdisjoint(token.text for token in tokens[k + 1 : min(k + 4, at)]):
            return k, False  # "without doubt", "nobody doubts that"
        if word in lexicon.NEGATIONS or word in lexicon.FAILURES:
            merely = _MERELY | ({"even", "quite"} if k + 2 == at else set())  # "not even half", read as a bound
            return k, not (word == "not" and k + 1 < len(tokens) and tokens[k + 1].text in merely)
        following = tokens[k + 1].text if k + 1 < at else ""
        if (word, following) in _BUT_NOT or word in _MISSES or (word in UNTRUE and following in ("to", "that")):
            return k, None
        steps += 1
        if steps >= reach:
            break
    return at, False


def undecided(tokens: list[Token], first: int, last: int, free: list[bool]) -> set[int]:
    """Tokens of what a sentence leaves open: "whether A exceeds B", "the plan does not say that ..."."""
    open_: set[int] = set()
    k = first
    while k < last:
        word = tokens[k].text
        near = {t.text for t in tokens[k + 1 : min(k + 5, last)]}
        unsaid = word in lexicon.NEGATIONS | _NOBODY and near & _SAYING and {"that", "which", "whether"} & near
        if free[k] and (word == "whether" or unsaid or (word == "tempting" and "to" in near)):
            while (
                k < last
                and tokens[k].text not in (";", ":", "?", "but")
                and not (word == "whether" and tokens[k].text == ",")
            ):
                open_.add(k)
                k += 1
        k += 1
    return open_


def denied_after(tokens: list[Token], free: list[bool], at: int, last: int) -> bool:
    """Whether the verb after a claim denies it: "in last place we do not find A", "25 % is not the support of A"."""
    for k in range(at, min(at + 24, last)):
        word = tokens[k].text
        if not free[k]:
            continue
        if word in lexicon.BREAKS or word in _SCOPES or tokens[k].kind == "number":
            return False
        following = tokens[min(k + 1, last - 1)].text
        if (word in _VERBAL and following not in _MERELY) or (word in UNTRUE and following == "for"):
            return True
    return False


def false_promises(
    tokens: list[Token], first: int, last: int, free: list[bool], promise: Guarantee
) -> list[tuple[int, str]]:
    """Tokens of [first, last) that deny the noise or name another unit or relation, each with a message."""
    found = []
    for k in range(first, last):
        word = tokens[k].text
        if not free[k]:
            continue
        after = [tokens[i].text for i in range(k + 1, min(k + 7, last)) if free[i]]
        if word in _EXACT and not negated(tokens, free, first, k, 8) and not _rephrases(tokens, k, first):
            found.append((k, "the released values are noisy"))
        elif word == "noise" and (
            _noiseless(tokens, k, first) or after[:2] in (["-", "free"], ["-", "less"]) or _not_added(after)
        ):
            found.append((k, "noise was added to the released values"))
        for cue, names, held in (("unit", _UNITS, promise.unit), ("relation", _RELATIONS, promise.relation)):
            at = next((i for i, name in enumerate(after) if name in names), None) if word == cue else None
            if at is not None and (names[after[at]] == held) == bool(set(after[:at]) & lexicon.NEGATIONS):
                found.append((k, f"the {cue} of the guarantee is {held}"))
        if word in _UNITS and after[:2] == ["-", "level"] and _UNITS[word] != promise.unit:
            found.append((k, f"the unit of the guarantee is {promise.unit}"))
    return found


def _rephrases(tokens: list[Token], k: int, first: int) -> bool:
    """ "To be exact", "more exactly", "none of these is exact": the word at k does not call a value exact."""
    before = [token.text for token in tokens[max(first, k - 8) : k]]
    if k == first and (k + 1 == len(tokens) or tokens[k + 1].kind != "word"):
        return True  # "Exactly."
    return before[-2:] == ["to", "be"] or before[-1:] == ["more"] or "none" in before


def _noiseless(tokens: list[Token], k: int, first: int) -> bool:
    """ "No noise", "free of noise", "without any noise"; not "without the noise", not "noise or no noise"."""
    before = [token.text for token in tokens[max(first, k - 3) : k]]
    return bool(set(before) & _NO_NOISE) and before[-1:] != ["the"] and before[-2:] != ["or", "no"]


def _not_added(after: list[str]) -> bool:
    """ "Noise was not added", "noise has never been added"."""
    return bool(set(after[:3]) & lexicon.NEGATIONS) and bool(set(after[:6]) & _ADDED)


@lru_cache(maxsize=65536)
def disguise(word: str) -> str | None:
    """Kind of violation of a word that holds a numeral other than a digit, or mixes Latin with another script."""
    if any(unicodedata.numeric(c, None) is not None for c in word):
        return "number"
    letters = [c for c in unicodedata.normalize("NFKD", word) if c.isalpha()]
    scripts = {unicodedata.name(c, "?").split()[0] for c in letters}
    return "atom" if "LATIN" in scripts and len(scripts) > 1 else None
