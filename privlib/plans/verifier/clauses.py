"""Clauses of a sentence, as far as marks and conjunctions tell."""

from __future__ import annotations

from privlib.plans.verifier.tokens import Token

_MARKS = frozenset((",", ":", ";", "(", ")", "?", "&", "+", "|", "–", "—", "→", "/", "…"))
_JOINS = frozenset(("and", "or", "nor", "but", "while", "whereas", "though", "although", "versus", "unlike", "so"))
BESIDE = frozenset(("alongside", "besides", "plus", "including", "like", "unlike", "beside"))
_WITH = frozenset(("along", "together", "next", "apart", "aside", "addition", "well", "such"))


def clauses(tokens: list[Token], first: int, last: int) -> list[tuple[int, int, str]]:
    """Half-open ranges between marks, conjunctions and prepositions of company, with the word that opens each.

    Hyphens of a compound divide nothing.
    """
    spans, begin, opener = [], first, ""
    for k in range(first, last):
        word = tokens[k].text
        dash = word == "-" and k > first and tokens[k].start > tokens[k - 1].end
        company = k + 1 < last and word in _WITH and tokens[k + 1].text in ("with", "to", "from", "as")
        if word in _MARKS or word in _JOINS or dash or word in BESIDE or company:
            if k > begin:
                spans.append((begin, k, opener))
            begin, opener = k + 1 + company, "besides" if company else word
    if begin < last:
        spans.append((begin, last, opener))
    return spans
