"""The texts tried for one centroid: their cosines, what the unlikely ones cost, and the one worth most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fluency:
    """What being unlikely costs: `weight` times the nats a token by which a text's likelihood is above `natural`.

    judge: texts -> negative log-likelihood a token; judged: how many of the texts scored together it reads at most.
    """

    judge: Callable[[Sequence[str]], np.ndarray]
    weight: float
    natural: float
    judged: int

    def cost(self, likelihoods: np.ndarray) -> np.ndarray:
        return self.weight * np.maximum(0.0, np.asarray(likelihoods) - self.natural)


class Candidates:
    """The text worth most so far, and every candidate's vector: no text is embedded or read twice for one centroid.

    Worth is the cosine, less what `fluency` says it costs: then only the nearest few of the texts scored together that
    were not read yet are judged, and those that never were count for nothing.

    Args:
        units: texts -> unit or zero vectors float64[n, d]; at most `batch` texts a call.
        target: unit vector float64[d].
        known: unit vectors of words and pieces by themselves; what is missing is added.
    """

    def __init__(
        self,
        units: Callable[[Sequence[str]], np.ndarray],
        target: np.ndarray,
        batch: int,
        known: dict[str, np.ndarray],
        fluency: Fluency | None,
    ):
        self._units, self._batch, self._known, self._fluency = units, batch, known, fluency
        self._vectors: dict[str, np.ndarray] = {}
        self._cosines: dict[str, float] = {}
        self._likelihoods: dict[str, float] = {}
        self.target, self.text, self.cosine, self.worth = target, "", -np.inf, -np.inf

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vector of each text: float64[n, d]."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for first in range(0, len(fresh), self._batch):
            some = fresh[first : first + self._batch]
            vectors = self._units(some)
            self._vectors.update(zip(some, vectors, strict=True))
            cosines = np.where(vectors.any(axis=1), vectors @ self.target, -np.inf)
            self._cosines.update(zip(some, cosines.tolist(), strict=True))
        return np.array([self._vectors[text] for text in texts]).reshape(len(texts), len(self.target))

    def cosines(self, texts: Sequence[str]) -> np.ndarray:
        """Cosine of each text to the target, -inf where its vector is zero: float64[n]."""
        self.vectors(texts)
        return np.array([self._cosines[text] for text in texts])

    def piece_vectors(self, pieces: Sequence[str]) -> np.ndarray:
        """Unit vectors of pieces by themselves, in lower case, and 0 for marks without a word: float64[n, d]."""
        bare = [piece.strip().lower() for piece in pieces]
        fresh = [piece for piece in dict.fromkeys(bare) if piece not in self._known and any(map(str.isalnum, piece))]
        if fresh:
            self._known.update(zip(fresh, self._units(fresh), strict=True))
        return np.array([self._known.get(piece, np.zeros_like(self.target)) for piece in bare])

    def cost(self, likelihoods: np.ndarray) -> np.ndarray:
        """What negative log-likelihoods a token count against a cosine: 0 where fluency does not."""
        return self._fluency.cost(likelihoods) if self._fluency else np.zeros(len(likelihoods))

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Worth of each text, -inf where it was not judged; the worthiest becomes the best, when it beats the best.

        No text is judged that could not beat the best if it were natural.
        """
        worths = self.cosines(texts)
        if self._fluency:
            known = self._likelihoods
            near = sorted((text for text in dict.fromkeys(texts) if text not in known), key=self._farness)
            fresh = [text for text in near if self._cosines[text] > self.worth][: self._fluency.judged]
            if fresh:
                likelihoods = np.asarray(self._fluency.judge(fresh), dtype=np.float64)
                if likelihoods.shape != (len(fresh),) or not np.isfinite(likelihoods).all():
                    raise ValueError(f"writer.score must give finite float[{len(fresh)}], got {likelihoods.shape}")
                known.update(zip(fresh, likelihoods.tolist(), strict=True))
            worths = np.array([
                cosine - self.cost(known[text]) if text in known else -np.inf
                for text, cosine in zip(texts, worths.tolist(), strict=True)
            ])  # fmt: skip
        if len(texts) and worths.max() > self.worth:
            top = int(np.argmax(worths))
            self.text, self.worth = texts[top], float(worths[top])
            self.cosine = self._cosines[self.text]
        return worths

    def nearest(self, texts: Sequence[str], count: int) -> list[str]:
        """The `count` nearest of `texts`, nearest first."""
        self.vectors(texts)
        return sorted(dict.fromkeys(texts), key=self._farness)[:count]

    def top(self, count: int) -> list[str]:
        """The nearest texts so far, nearest first."""
        return self.nearest(list(self._cosines), count)

    def _farness(self, text: str) -> float:
        return -self._cosines[text]
