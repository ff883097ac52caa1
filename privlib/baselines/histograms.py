"""Noisy histograms over a fixed public vocabulary: of keywords, and of categories."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privlib.baselines.keywords import check_texts, check_vocabulary, keyword_rows
from privlib.baselines.themes import Theme
from privlib.dp import GaussianMechanism, Guarantee, LaplaceMechanism, NoiseSource, checks


@dataclass(frozen=True)
class NoisyHistogram:
    """Released: public `labels` in public order, their noisy `counts` (float64[V], may be negative), the guarantee."""

    labels: tuple[str, ...]
    counts: np.ndarray
    guarantee: Guarantee

    def themes(self, most: int) -> tuple[Theme, ...]:
        """The `most` >= 1 labels with the largest noisy counts above 0, ties in public order: post-processing."""
        most = checks.whole("most", most, at_least=1)
        order = np.argsort(-self.counts, kind="stable")[:most]
        return tuple(Theme(self.labels[j], float(self.counts[j])) for j in order if self.counts[j] > 0)


@dataclass(frozen=True)
class _Histogram(ABC):
    """Counts plus noise on every label: Laplace for `delta` 0, Gaussian (analytic calibration) above."""

    labels: tuple[str, ...]
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", check_vocabulary("labels", self.labels))
        checks.probability("delta", self.delta)
        self._vector  # noqa: B018  refuses a wrong epsilon or delta at construction

    @property
    @abstractmethod
    def most(self) -> int:
        """Labels one record counts for at most."""

    @abstractmethod
    def counts(self, private: Sequence[str]) -> np.ndarray:
        """The exact private counts, float64[V]: for tests and studies; a release adds noise to them."""

    @property
    def l1_sensitivity(self) -> float:
        """One record more or less moves at most `most` counts by 1."""
        return float(self.most)

    @property
    def l2_sensitivity(self) -> float:
        """sqrt(most), rounded up."""
        root = math.sqrt(self.most)
        return root if root * root >= self.most else math.nextafter(root, math.inf)

    @property
    def _vector(self) -> LaplaceMechanism | GaussianMechanism:
        neighbours = {"unit": "record", "relation": "add_drop"}
        if self.delta == 0:
            return LaplaceMechanism(self.epsilon, self.l1_sensitivity, len(self.labels), **neighbours)
        return GaussianMechanism(self.epsilon, self.delta, self.l2_sensitivity, len(self.labels), **neighbours)

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise."""
        return self._vector.guarantee

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of a release through `noise`."""
        return self._vector.guarantee_under(noise)

    def noise_std(self, noise: NoiseSource) -> float:
        """Standard deviation of the noise in one count of a release through `noise`."""
        if isinstance(self._vector, LaplaceMechanism):
            return math.sqrt(2) * self._vector.noise_scale(noise)
        return self._vector.noise_std(noise)

    def release(self, private: Sequence[str], noise: NoiseSource) -> NoisyHistogram:
        """`private`: one str a record. Raises TypeError by type only, and on noise that is no source; nothing in a text
        makes it fail."""
        checks.noise_source("noise", noise)
        noisy = self._vector.release(self.counts(private), noise)
        return NoisyHistogram(self.labels, noisy, self.guarantee_under(noise))


@dataclass(frozen=True)
class KeywordHistogram(_Histogram):
    """In how many texts each word of a public vocabulary is found, with noise: (epsilon, delta)-DP.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one record more or less.
    A record counts for its first `max_keywords` = c >= 1 distinct vocabulary words, so l1 <= c and l2 <= sqrt(c).
    `labels`: lower-case words, V distinct, public (`public_vocabulary`). `delta` 0: Laplace; in (0, 1): Gaussian.
    Source: DP-SPIN, Section 6 ("fixed-vocabulary keyword histograms"); the clip is ours.
    """

    max_keywords: int = 5

    @property
    def most(self) -> int:
        return min(checks.whole("max_keywords", self.max_keywords, at_least=1), len(self.labels))

    def counts(self, private: Sequence[str]) -> np.ndarray:
        return np.asarray(keyword_rows(private, self.labels, self.max_keywords).sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class CategoryHistogram(_Histogram):
    """How many records carry each category of a public list, with noise: (epsilon, delta)-DP.

    Inequality as for `KeywordHistogram`; a record carries one category, so l1 = l2 = 1. A category outside the
    public list counts for nothing and is no error, since an error would tell. Source: DP-SPIN, Section 6.
    """

    @property
    def most(self) -> int:
        return 1

    def counts(self, private: Sequence[str]) -> np.ndarray:
        place = {label: index for index, label in enumerate(self.labels)}
        found = [place[category] for category in check_texts(private) if category in place]
        return np.bincount(np.array(found, dtype=np.int64), minlength=len(self.labels)).astype(np.float64)
