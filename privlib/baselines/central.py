r"""Bucket centroids by a trusted curator: noisy counts and noisy sums of every occupied bucket, cut at a threshold.

**Bill.** Let x be the record that D has more than D'. If another record occupies x's bucket, both sides release from
the same buckets, and (count, sum) moves by 1 and by at most Delta = `clip_norm`: with deviations s and S a Gaussian of
mu^2 = 1 / s^2 + Delta^2 / S^2; the threshold reads the noisy count, so it is post-processing. If only x occupies it,
D' never shows the bucket and D shows it with probability pi = Pr[1 + N(0, s^2) > tau]: both directions of the
hockey-stick divergence are at most pi. A pair of neighbours is of one kind or the other, so

    delta(epsilon) = max( gaussian_delta(epsilon, 1, mu),  pi ).

Without the second term the release would be called private while it shows, now and then, a bucket of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from privlib.baselines.grouping import BucketMeans, Buckets, check_buckets, checked, residual_sums
from privlib.dp import ZCDP, Guarantee, NoiseSource, Simulation, checks, largest_rho

UNIT, RELATION = "record", "add_drop"
DOMAIN = "embeddings computed record by record"


@dataclass(frozen=True)
class CuratorRelease:
    """(epsilon, delta)-DP centroids of every bucket whose noisy count is above `threshold`, by a trusted curator.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one record more or less;
    delta covers the bucket that only one record occupies (the module's bill).
    Arguments, public: `buckets`, `epsilon` > 0, 0 < `delta` < 1, `threshold` > 1 (tau, on the noisy count of all
    records: nothing is sampled), `count_share` in (0, 1) of mu^2 that counts get, the rest goes to sums.
    Raises ValueError when a bucket of one is shown too often at these arguments.
    Source: Fre-E2T, Section 8 ("central DP"). There a sum of embeddings is noised for the distance between two members
    of a bucket; but without a partner to be exchanged for, a record moves a sum by its own length, so here the
    residuals from a public origin are clipped to `buckets.clip_norm` and noised for that.
    """

    buckets: Buckets
    epsilon: float
    delta: float
    threshold: float = 100.0
    count_share: float = 0.25

    def __post_init__(self) -> None:
        check_buckets(self.buckets)
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        checks.open_probability("count_share", self.count_share)
        if checks.positive("threshold", self.threshold) <= 1:
            raise ValueError(f"threshold must be above 1, the count of a bucket of one, got {self.threshold!r}")
        self.deviations(Simulation(0))

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of a release through `noise`; never above (epsilon, delta)."""
        self.deviations(noise)
        parts = ("Gaussian counts", "Gaussian sums", "or else a bucket of one record")
        return Guarantee(self.epsilon, self.delta, UNIT, RELATION, (*noise.assumptions, DOMAIN), parts)

    def deviations(self, noise: NoiseSource) -> tuple[float, float]:
        """(s, S): deviations of the noise on a count and on each coordinate of a sum, when drawn from `noise`.

        Under `Secure` the rhos of OpenDP's maps add, and the tail of the discrete Gaussian is bounded by that of the
        normal law with its parameter, exp(-(tau - 1)^2 / (2 s^2)) (Canonne, Kamath and Steinke 2020, Corollary 17).
        """
        reach, dimension = self.buckets.clip_norm, self.buckets.dimension

        def split(multiplier: float) -> tuple[float, float]:
            return multiplier / math.sqrt(self.count_share), multiplier * reach / math.sqrt(1 - self.count_share)

        if noise.kind == Simulation.kind:
            found = split(noise.gaussian_std(self.epsilon, self.delta, 1.0, 1) * (1 + 2.0**-40))
        else:
            rho = largest_rho(self.epsilon, self.delta) * (1 - 2.0**-40)
            multiplier = 1 / math.sqrt(2 * rho)
            while (bill := self._rho(split(multiplier), noise, dimension)) > rho:
                multiplier *= math.sqrt(bill / rho) * (1 + 2.0**-40)
            found = split(multiplier)
        shown = self.shown_alone(found[0], noise)
        if shown > self.delta:
            raise ValueError(
                f"threshold must be higher, epsilon or count_share larger: a bucket of one record is shown with "
                f"probability {shown:.3g}, above delta {self.delta:.3g}; got threshold {self.threshold!r}"
            )
        return found

    def shown_alone(self, count_std: float, noise: NoiseSource) -> float:
        """Chance, or under `Secure` an upper bound of it, that the bucket of a single record passes the threshold."""
        distance = (self.threshold - 1) / count_std
        return float(ndtr(-distance)) if noise.kind == Simulation.kind else math.exp(-(distance**2) / 2)

    def release(self, private: np.ndarray, noise: NoiseSource) -> BucketMeans:
        """`private` float[n, d], n >= 0. Raises TypeError or ValueError on another dtype, shape or non-finite numbers,
        and on noise that is no source.

        Noise is drawn bucket by bucket: how many are occupied is private, and must not enter the law of the noise.
        """
        checks.noise_source("noise", noise)
        rows = checked(private, self.buckets)
        count_std, sum_std = self.deviations(noise)
        tags, owners, counts = np.unique(self.buckets.assign(rows), axis=0, return_inverse=True, return_counts=True)
        counting, summing = noise.child("counts"), noise.child("sums")
        noisy = np.array([counting.add_gaussian([float(count)], count_std)[0] for count in counts])
        kept = np.flatnonzero(noisy > self.threshold)
        place = np.full(len(tags), -1)
        place[kept] = np.arange(len(kept))
        sums = residual_sums(rows, place[owners.ravel()], tags[kept], self.buckets)
        sums = np.array([summing.add_gaussian(total, sum_std) for total in sums]).reshape(sums.shape)
        centroids = self.buckets.origins(tags[kept]) + sums / noisy[kept, None]
        return BucketMeans(tags[kept], noisy[kept], centroids, self.guarantee_under(noise), noise.kind)

    def _rho(self, deviations: tuple[float, float], noise: NoiseSource, dimension: int) -> float:
        count = ZCDP(noise.gaussian_rho(deviations[0], 1.0, 1), UNIT, RELATION)
        return count.compose(
            ZCDP(noise.gaussian_rho(deviations[1], self.buckets.clip_norm, dimension), UNIT, RELATION)
        ).rho
