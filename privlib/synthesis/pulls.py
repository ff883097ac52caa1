"""How far a word pulls a text towards a target: guessed by its vector, learnt from the words that were tried."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

_COMMON = 0.5  # what all words have in common, as a coordinate beside their unit vectors
_NOISE = 0.5  # variance of what the vectors do not explain, where a word's own is 1
_REMEMBERED = 600  # the last words tried: learning costs their number cubed


class Pulls:
    """What words add to a cosine beyond a first guess of it.

    The posterior mean of a Gaussian process without scale: words u and v, tried at places p and q, have covariance
    (u . v + .25) (1 + [p = q]), and each observation has noise of variance .5 besides. So a word counts like words
    with vectors near its own, and more so at the same place.
    """

    def __init__(self):
        self._words, self._places, self._missed = [], [], []

    def learn(self, vectors: np.ndarray, places: Sequence[Hashable], missed: np.ndarray) -> None:
        """Unit or zero `vectors`, float[n, d], of words tried at `places`, and the cosine less its guess for each.

        What is infinite, of a text without direction, teaches nothing.
        """
        told = np.isfinite(missed)
        vectors, missed = vectors[told], missed[told]
        places = [place for place, kept in zip(places, told, strict=True) if kept]
        self._words = [*self._words, *_features(vectors)][-_REMEMBERED:]
        self._places = [*self._places, *places][-_REMEMBERED:]
        self._missed = [*self._missed, *missed][-_REMEMBERED:]

    def expected(self, vectors: np.ndarray, places: Sequence[Hashable]) -> np.ndarray:
        """What a guess is expected to miss, for each of n words at each of m distinct places: float64[m, n]."""
        if not self._words:
            return np.zeros((len(places), len(vectors)))
        words = np.array(self._words)
        known = {place: code for code, place in enumerate(dict.fromkeys(self._places))}
        codes = np.array([known[place] for place in self._places])
        covariance = (words @ words.T) * (1.0 + (codes[:, None] == codes))
        weights = np.linalg.solve(covariance + _NOISE * np.eye(len(words)), np.array(self._missed))
        weighted = weights[:, None] * words
        own = np.array([weighted[codes == known.get(place, -1)].sum(axis=0) for place in places])
        return (weighted.sum(axis=0) + own) @ _features(vectors).T


def _features(vectors: np.ndarray) -> np.ndarray:
    return np.hstack([vectors, np.full((len(vectors), 1), _COMMON)])
