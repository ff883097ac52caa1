"""What a sentence says of the release itself: its noise, unit and relation; and words in disguise."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from privlib.dp import Guarantee
from privlib.plans.verifier import lexicon
from privlib.plans.verifier.tokens import Token

_EXACT = frozenset(("exact", "exactly", "precise", "precisely", "noiseless", "unperturbed", "noisefree"))
_NO_NOISE = frozenset(("no", "without", "zero", "free", "never", "not"))
_UNITS = {"record": "record", "records": "record", "user": "user", "users": "user"}
_RELATIONS = {"replace": "replace", "replacement": "replace", "substitution": "replace", "add": "add_drop"}
_RELATIONS |= {"addition": "add_drop", "drop": "add_drop"}


def negated(tokens: list[Token], free: list[bool], first: int, at: int, reach: int = 6) -> bool:
    """Whether a negation outside all labels stands within `reach` tokens before `at`, in its clause."""
    for k in range(at - 1, max(first, at - reach) - 1, -1):
        if free[k] and tokens[k].text in (",", "but"):
            return False
        if free[k] and tokens[k].text in lexicon.NEGATIONS:
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
        before = {tokens[i].text for i in range(max(first, k - 3), k) if free[i]}
        after = [tokens[i].text for i in range(k + 1, min(k + 7, last)) if free[i]]
        if word in _EXACT and not negated(tokens, free, first, k, 3):
            found.append((k, "the released values are noisy"))
        elif word == "noise" and (
            before & _NO_NOISE or after[:2] in (["-", "free"], ["-", "less"]) or set(after[:3]) & lexicon.NEGATIONS
        ):
            found.append((k, "noise was added to the released values"))
        for cue, names, held in (("unit", _UNITS, promise.unit), ("relation", _RELATIONS, promise.relation)):
            at = next((i for i, name in enumerate(after) if name in names), None) if word == cue else None
            if at is not None and (names[after[at]] == held) == bool(set(after[:at]) & lexicon.NEGATIONS):
                found.append((k, f"the {cue} of the guarantee is {held}"))
        if word in _UNITS and after[:2] == ["-", "level"] and _UNITS[word] != promise.unit:
            found.append((k, f"the unit of the guarantee is {promise.unit}"))
    return found


@lru_cache(maxsize=65536)
def disguise(word: str) -> str | None:
    """Kind of violation of a word that holds a numeral other than a digit, or mixes Latin with another script."""
    if any(unicodedata.numeric(c, None) is not None for c in word):
        return "number"
    letters = [c for c in unicodedata.normalize("NFKD", word) if c.isalpha()]
    scripts = {unicodedata.name(c, "?").split()[0] for c in letters}
    return "atom" if "LATIN" in scripts and len(scripts) > 1 else None
