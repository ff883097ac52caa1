"""How varied and how natural released texts are: self-BLEU within clusters, and summaries of likelihoods.

Source: Fre-E2T, Section 7.2 (Tables 3 and 4) and Appendix A.3 (Table 15).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import checks
from privlib.evaluation.overlap import tokens

_ORDERS = 4
_SMOOTHING = 0.1  # what an order without a match counts as: Chen and Cherry 2014, smoothing 1


def bleu(text: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """BLEU of a token sequence against reference sequences, in [0, 1].

    Geometric mean of the clipped precisions of n-grams up to 4 (or to the text's length, if shorter), an order without
    a match counting 0.1 matches, times the brevity penalty of the reference nearest in length (the shorter of two).
    Raises ValueError for an empty text or no reference. Source: Papineni and others 2002; Chen and Cherry 2014.
    """
    text = checks.texts("text", text)
    references = [checks.texts("references", one) for one in checks.sequence("references", references, "sequences")]
    if not text or not references:
        raise ValueError(f"text and references must not be empty, got {len(text)} tokens, {len(references)} references")
    logs = []
    for order in range(1, min(_ORDERS, len(text)) + 1):
        grams = _grams(text, order)
        most: Counter = Counter()
        for reference in references:
            most |= _grams(reference, order)
        matched = sum(min(count, most[gram]) for gram, count in grams.items())
        logs.append(math.log((matched or _SMOOTHING) / sum(grams.values())))
    nearest = min((abs(len(reference) - len(text)), len(reference)) for reference in references)[1]
    penalty = min(0.0, 1 - nearest / len(text))
    return math.exp(penalty + sum(logs) / len(logs))


@dataclass(frozen=True)
class SelfBleu:
    """`mean` over clusters of their mean self-BLEU (smaller: more varied); clusters and texts that were scored."""

    mean: float
    clusters: int
    texts: int


def self_bleu(texts: Sequence[str], clusters: Sequence[Hashable]) -> SelfBleu:
    """Mean BLEU of each text against the others of its cluster, averaged within clusters, then over clusters.

    `clusters`: one key a text. Texts without a word, and clusters with fewer than two texts left, are not scored;
    raises ValueError when none can be. Source: Zhu and others 2018 (self-BLEU); Fre-E2T, Table 3.
    """
    texts, clusters = checks.texts("texts", texts), checks.sequence("clusters", clusters, "keys")
    if len(texts) != len(clusters):
        raise ValueError(f"clusters must hold one key a text, got {len(clusters)} for {len(texts)} texts")
    members = defaultdict(list)
    for text, cluster in zip(texts, clusters, strict=True):
        if words := tokens(text):
            members[cluster].append(words)
    scored = [group for group in members.values() if len(group) > 1]
    if not scored:
        raise ValueError("texts must hold a cluster of at least two texts with words")
    means = [np.mean([bleu(group[i], group[:i] + group[i + 1 :]) for i in range(len(group))]) for group in scored]
    return SelfBleu(float(np.mean(means)), len(scored), sum(map(len, scored)))


@dataclass(frozen=True)
class Fluency:
    """Summary of mean negative log-likelihoods a token, in nats.

    `median` with `low` and `high`, order statistics that enclose the median of the texts' law with probability 1 -
    alpha; `natural`: share of texts at most `limit`; `perplexity`: mean of exp(nll), which one odd text can rule;
    `texts` how many.
    """

    median: float
    low: float
    high: float
    natural: float
    limit: float
    perplexity: float
    texts: int


def fluency(nlls: np.ndarray, limit: float = 6.0, alpha: float = 0.05) -> Fluency:
    """From each text's mean negative log-likelihood a token, float[n], n >= 1, as a language model's `score` gives.

    `limit` in nats (the paper's 6). For small n the interval of the median is the whole range, and may hold it less
    often than 1 - alpha: below n = 6 at alpha .05. Raises ValueError for numbers that are not finite.
    Source: Fre-E2T, Tables 4 and 15.
    """
    nlls = checks.floats("nlls", nlls)
    if nlls.ndim != 1 or not len(nlls) or not np.isfinite(nlls).all():
        raise ValueError(f"nlls must be finite float[n], n >= 1, got shape {nlls.shape}")
    nlls = np.sort(nlls)
    limit = checks.positive("limit", limit)
    left_out = _below_median(len(nlls), checks.open_probability("alpha", alpha))
    return Fluency(
        median=float(np.median(nlls)),
        low=float(nlls[left_out]),
        high=float(nlls[-1 - left_out]),
        natural=float(np.mean(nlls <= limit)),
        limit=limit,
        perplexity=float(np.mean(np.exp(nlls))),
        texts=len(nlls),
    )


def _below_median(n: int, alpha: float) -> int:
    """Largest k with Pr[Bin(n, 1/2) <= k] <= alpha / 2, at least 0: so many values are left out at each end."""
    from scipy.special import bdtr

    k = 0
    while bdtr(k + 1, n, 0.5) <= alpha / 2:
        k += 1
    return k


def _grams(words: Sequence[str], order: int) -> Counter:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))
