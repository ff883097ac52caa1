"""How alike a summary and a reference summary are, as texts: five secondary measures in [0, 1].

None is part of a mechanism, and none says whether a summary is true: they compare wording with the summary of a
non-private plan, so they are the curator's figures. A measure that is not defined raises.
Source: DP-SPIN, Section 6 ("Metrics") and Appendix B.5, which name them; the exact forms are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from privlib.dp import checks

_WORD = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"[^\w\s]|\d+")


def tokens(text: str) -> list[str]:
    """Runs of letters, lower-case, in order; numbers are no tokens, since noise moves them."""
    checks.instance("text", text, str)
    return _WORD.findall(text.lower())


def token_jaccard(text: str, reference: str) -> float:
    """Shared distinct words over all distinct words; ValueError when neither text has a word."""
    _check(text, reference)
    return _jaccard("words", set(tokens(text)), set(tokens(reference)))


def bigram_jaccard(text: str, reference: str) -> float:
    """The same for pairs of neighbouring words without a mark or number between; ValueError when neither has one."""
    _check(text, reference)
    return _jaccard("word pairs", _pairs(text), _pairs(reference))


def keyphrase_jaccard(text: str, reference: str) -> float:
    """The same for key phrases; ValueError when neither text has one."""
    _check(text, reference)
    return _jaccard("key phrases", keyphrases(text), keyphrases(reference))


def keyphrases(text: str) -> set[tuple[str, ...]]:
    """Longest runs of words without an English stop word, punctuation mark or number between them.

    Source: Rose, Engel, Cramer and Cowley 2010 (RAKE), candidate key phrases.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    checks.instance("text", text, str)
    found: set[tuple[str, ...]] = set()
    for part in _MARK.split(text.lower()):
        run: list[str] = []
        for word in [*_WORD.findall(part), None]:
            if word is not None and word not in ENGLISH_STOP_WORDS:
                run.append(word)
            elif run:
                found.add(tuple(run))
                run = []
    return found


def tfidf_cosine(text: str, reference: str, representation: Any) -> float:
    """Cosine of the two texts' rows of a TF-IDF fitted on public text.

    `representation`: has `.transform(texts)` -> non-negative rows, dense or sparse. ValueError when a row is zero
    (no word of the text is in the vocabulary): the angle is not defined.
    """
    _check(text, reference)
    checks.offers("representation", representation, "transform")
    rows = representation.transform([text, reference])
    return _cosine("tfidf_cosine", rows.toarray() if hasattr(rows, "toarray") else rows)


def embedding_cosine(text: str, reference: str, embed: Callable[[Sequence[str]], np.ndarray]) -> float:
    """Cosine of the two texts' embeddings, in [-1, 1]; `embed`: n texts -> float[n, d]. ValueError for a zero row."""
    _check(text, reference)
    checks.function("embed", embed)
    return _cosine("embedding_cosine", embed([text, reference]))


def _check(text: str, reference: str) -> None:
    checks.instance("text", text, str)
    checks.instance("reference", reference, str)


def _pairs(text: str) -> set[tuple[str, str]]:
    return {pair for part in _MARK.split(text.lower()) for pair in pairwise(_WORD.findall(part))}


def _jaccard(what: str, mine: Collection, theirs: Collection) -> float:
    union = set(mine) | set(theirs)
    if not union:
        raise ValueError(f"text or reference must hold {what}: the Jaccard index of two empty sets is not defined")
    return len(set(mine) & set(theirs)) / len(union)


def _cosine(name: str, rows: Any) -> float:
    first, second = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(first), np.linalg.norm(second)
    if not all(0 < length < np.inf for length in lengths):
        raise ValueError(f"{name} needs two finite vectors other than zero, got lengths {lengths[0]:g}, {lengths[1]:g}")
    return float(np.clip(first @ second / (lengths[0] * lengths[1]), -1.0, 1.0))
