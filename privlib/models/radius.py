"""The neighbourhood radius of an encoder: a declared quantile of nearest-neighbour distances.

The paper carries r = .5 from gtr-t5-base to another encoder by matching the quantile of the
nearest-neighbour distance distribution, and does not print the quantile. With t = 100, it counts 8 %
(AOL) to 34 % (TaylorAI) of texts as frequent; a frequent text has a neighbour within r, so r is at
least those quantiles there. Declared here: .1, on 5,000 public texts. The packaged radius was made by

    python -c "from privlib import corpora, models; print(models.fit_radius(models.encoder(),
        corpora.load('health-news').split(seed=1).auxiliary.texts[:5000], .1))"

Source: Fre-E2T, "Embedding model" and Table 16.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privlib.dp import checks
from privlib.models.encoders import Encoder, strings

_BLOCK = 1024


def fit_radius(encoder: Encoder, auxiliary_texts: Sequence[str], quantile: float) -> float:
    """Radius r: the quantile of the distance from each distinct auxiliary text to its nearest other.

    Identical texts count once (their distance 0 says nothing about the encoder). The result shrinks
    slowly as texts are added, so their number belongs to the declaration. Auxiliary texts are public:
    r is a public parameter and costs no privacy; never fit it on private text.

    Args:
        encoder: gives the vectors.
        auxiliary_texts: at least two distinct public texts, or a corpus.
        quantile: in (0, 1).
    Raises ValueError for a quantile outside (0, 1) or fewer than two distinct texts, TypeError for other kinds.
    """
    quantile = checks.open_probability("quantile", quantile)
    distinct = list(dict.fromkeys(strings(auxiliary_texts, "auxiliary_texts")))
    if len(distinct) < 2:
        raise ValueError(f"auxiliary_texts must hold two distinct texts or more, got {len(distinct)}")
    return float(np.quantile(nearest_distances(encoder.embed(distinct)), quantile))


def nearest_distances(vectors: np.ndarray) -> np.ndarray:
    """Euclidean distance from each row to its nearest other row: float64[n] from float[n, d], n >= 2.

    Neighbours are found from float32 inner products in blocks (memory n x 1024), then their distances
    are computed by differences in float64, so near duplicates keep their digits.
    """
    if vectors.ndim != 2 or len(vectors) < 2:
        raise ValueError(f"vectors must be an array of two rows or more, got shape {vectors.shape}")
    out = np.empty(len(vectors))
    squares = np.einsum("ij,ij->i", vectors, vectors)
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        near = squares[None, :] - 2.0 * (block @ vectors.T)
        near[np.arange(len(block)), start + np.arange(len(block))] = np.inf
        nearest = vectors[near.argmin(1)]
        out[start : start + len(block)] = np.linalg.norm(block.astype(float) - nearest.astype(float), axis=1)
    return out
