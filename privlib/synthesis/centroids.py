"""Release of bucket centroids: sample, count, threshold, add noise to sums, divide by the released counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privlib.dp import Guarantee, NoiseSource, Simulation, checks
from privlib.synthesis.buckets import GRID_BITS, AnchoredBuckets, JLBuckets, on_grid, private_embeddings
from privlib.synthesis.calibration import composed_noise_multiplier, sampling
from privlib.synthesis.denoise import PublicSpectrum
from privlib.synthesis.integrated import release_noise_std
from privlib.synthesis.joint import joint_noise_multiplier

SENSITIVITIES = ("integrated", "worst_case")


@dataclass(frozen=True, eq=False)
class Centroids:
    """What was released: nothing here was computed from private data but by the mechanism.

    `centroids` float64[n, d]; `counts` int64[n], the kept counts, each at least the threshold; `cells` int64[n, 1]
    (anchored) or int64[n, k] (grid), in tag order; `origins` float64[n, d] public; `noise_std` of each coordinate of a
    sum, public; `guarantee`; `kind` of the noise: "simulation" results are not releases.
    """

    centroids: np.ndarray
    counts: np.ndarray
    cells: np.ndarray
    origins: np.ndarray
    noise_std: float
    guarantee: Guarantee
    kind: str

    def __len__(self) -> int:
        return len(self.centroids)

    def denoised(self, spectrum: PublicSpectrum) -> Centroids:
        """The same release with each centroid's offset from its public origin shrunk: post-processing."""
        variances = (self.noise_std / self.counts) ** 2
        return replace(self, centroids=self.origins + spectrum.shrink(self.centroids - self.origins, variances))


@dataclass(frozen=True)
class CentroidRelease:
    """(epsilon, delta)-DP centroids of every bucket with at least `threshold` kept records.

    Each record is kept with probability `rate`; a bucket with n >= `threshold` kept records is released, in tag
    order, as (tag, n, (sum of its kept, clipped records + N(0, noise_std^2 I)) / n).
    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by adding or dropping
    one record, both of at most `max_records` records: more are refused with an error, so the promise stops there,
    whatever the noise source. Each record's embedding must be computed from that record alone.
    Public arguments: `buckets` (AnchoredBuckets or JLBuckets), `epsilon` > 0, 0 < `delta` < 1, `rate` in
    (0, 1], `threshold` >= 1 (see `threshold_count`), `max_records` >= 1 (cap on the number of records),
    `sensitivity`: how the distance inside a bucket is bounded,
      "worst_case": `buckets.diameter`, for any data (the only choice for anchored buckets, where it is 2 rho);
      "integrated": over the random projection of JLBuckets, for data fixed before it was drawn, at most `max_records`.
    None takes worst_case for anchored buckets, integrated for the grid. Bills: `Simulation` the joint (integrated)
    curve of continuous noise; `Secure` the exact threshold composed with OpenDP's Gaussian map at the diameter.
    Raises InfeasibleBudget (a ValueError) naming the term that ate the budget.
    Source: Fre-E2T, Algorithm 1; accounting in `privlib.synthesis.joint` and `.integrated`.
    """

    buckets: AnchoredBuckets | JLBuckets
    epsilon: float
    delta: float
    rate: float
    threshold: int
    max_records: int = 1_000_000
    sensitivity: str | None = None

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        sampling(self.rate, self.threshold)
        checks.whole("max_records", self.max_records, at_least=1)
        random_grid = isinstance(self.buckets, JLBuckets)
        if self.sensitivity is None:
            object.__setattr__(self, "sensitivity", "integrated" if random_grid else "worst_case")
        checks.one_of("sensitivity", self.sensitivity, SENSITIVITIES)
        if self.sensitivity == "integrated" and not random_grid:
            raise ValueError("sensitivity 'integrated' averages over a random projection, which anchored buckets lack")
        if self.max_records >= 2 ** (53 - GRID_BITS):
            raise ValueError(f"max_records must be below 2^{53 - GRID_BITS} for exact sums, got {self.max_records}")
        self.noise_std(Simulation(0))  # an infeasible budget fails here, before any data

    @property
    def grid_step(self) -> float:
        """Records are cut towards zero to multiples of this before they are summed, so sums are exact."""
        return self.buckets.clip_norm / 2**GRID_BITS

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of a release through `noise`; never above (epsilon, delta)."""
        joint = noise.kind == Simulation.kind
        assumed = self.buckets.assumptions if joint and self.sensitivity == "integrated" else ()
        domain = (f"at most {self.max_records} records", "embeddings computed record by record")
        parts = ("joint count and centroid",) if joint else ("exact threshold", "OpenDP Gaussian on sums")
        return Guarantee(
            self.epsilon, self.delta, "record", "add_drop", (*noise.assumptions, *assumed, *domain), parts
        )

    def noise_std(self, noise: NoiseSource) -> float:
        """Deviation of the noise on each coordinate of a bucket's sum when released through `noise`."""
        if noise.kind == Simulation.kind:
            if self.sensitivity == "integrated":
                std = release_noise_std(
                    self.epsilon, self.delta, self.rate, self.threshold,
                    self.buckets.dims, self.max_records, self.buckets.radius,
                )  # fmt: skip
                worst = joint_noise_multiplier(self.epsilon, self.delta, self.rate, self.threshold)
                # cutting to the grid moves a distance by at most one step a coordinate; the bill starts at r / 2
                slack = 1 + 2 * self.grid_step * math.sqrt(self.buckets.dimension) / self.buckets.radius
                return min(std * slack, worst * self.buckets.diameter)
            multiplier = joint_noise_multiplier(self.epsilon, self.delta, self.rate, self.threshold)
            return multiplier * self.buckets.diameter
        _, (epsilon_used, delta_used) = composed_noise_multiplier(
            self.epsilon, self.delta, self.rate, self.threshold
        )
        return noise.gaussian_std(
            _rest(self.epsilon, epsilon_used),
            _rest(self.delta, delta_used),
            self.buckets.diameter,
            self.buckets.dimension,
        )

    def release(self, embeddings: np.ndarray, noise: NoiseSource) -> Centroids:
        """Releases centroids of private `embeddings`, float[n, d], n <= max_records, through a noise source.

        More rows raise ValueError: the guarantee covers collections of at most max_records records only.
        Raises TypeError or ValueError on another dtype, shape or non-finite numbers, without naming any value.
        """
        embeddings = private_embeddings(embeddings, self.buckets.dimension)
        if len(embeddings) > self.max_records:
            raise ValueError(f"embeddings must hold at most max_records = {self.max_records} rows")
        kept = noise.child("sample").bernoulli(self.rate, len(embeddings))
        sampled = embeddings[kept]
        tags, inverse, counts = _grouped(self.buckets.assign(sampled))
        heavy = np.flatnonzero(counts >= self.threshold)  # _grouped sorts by tag: tag order
        cells = tags[heavy]
        origins = self.buckets.origins(cells)
        sums = np.empty((len(heavy), self.buckets.dimension))
        rows_by_tag = np.argsort(inverse, kind="stable")
        ends = np.cumsum(counts)
        for row, tag in enumerate(heavy):
            members = sampled[rows_by_tag[ends[tag] - counts[tag] : ends[tag]]]
            # integers in float64, below 2^53: exact whatever the order, so the sensitivity is the stated one
            sums[row] = on_grid(members - origins[row], self.buckets.clip_norm).sum(axis=0) * self.grid_step
        std = self.noise_std(noise)
        noisy = noise.child("sums").add_gaussian(sums, std)
        released = counts[heavy]
        return Centroids(
            centroids=origins + noisy / released[:, None],
            counts=released,
            cells=cells,
            origins=origins,
            noise_std=std,
            guarantee=self.guarantee_under(noise),
            kind=noise.kind,
        )


def _rest(budget: float, used: float) -> float:
    """Largest float of at most budget - used: with `used` it never adds up to more than `budget`."""
    exact = Fraction(budget) - Fraction(used)
    left = float(exact)
    return left if Fraction(left) <= exact else math.nextafter(left, -math.inf)


def _grouped(tags: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows in lexicographic order, the group of each row, and the group sizes."""
    if not len(tags):
        return tags, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    distinct, inverse, counts = np.unique(tags, axis=0, return_inverse=True, return_counts=True)
    return distinct, inverse.ravel(), counts
