"""Release of bucket centroids: sample, count, threshold, add noise to sums, divide by the released counts."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from privlib.dp import Guarantee, NoiseSource, Simulation, checks
from privlib.synthesis.buckets import (
    BLOCK,
    GRID_BITS,
    AnchoredBuckets,
    JLBuckets,
    finite_block,
    on_grid,
    unread_embeddings,
)
from privlib.synthesis.calibration import InfeasibleBudget, composed_noise_multiplier, sampling
from privlib.synthesis.denoise import PublicSpectrum
from privlib.synthesis.integrated import release_noise_std, union_noise_std
from privlib.synthesis.joint import joint_noise_multiplier

SENSITIVITIES = ("integrated", "union", "worst_case")
_ODD = np.uint64(0x9E3779B97F4A7C15)


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

    def ids(self, key: bytes) -> list[str]:
        """A 128-bit keyed hash (BLAKE2b, `key` of 16 to 64 bytes) of each bucket's cell, in hexadecimal.

        Names that can be matched across releases by those who hold the key, and say nothing of where a bucket lies to
        others. Post-processing: privacy does not rest on the key.
        """
        if not isinstance(key, bytes) or not 16 <= len(key) <= 64:
            raise ValueError("key must be 16 to 64 bytes")
        cells = np.ascontiguousarray(self.cells, dtype="<i8")
        return [hashlib.blake2b(cell.tobytes(), digest_size=16, key=key).hexdigest() for cell in cells]

    def denoised(self, spectrum: PublicSpectrum) -> Centroids:
        """The same release with each centroid's offset from its public origin shrunk: post-processing."""
        if not isinstance(spectrum, PublicSpectrum):
            raise TypeError(f"spectrum must be a PublicSpectrum, got {type(spectrum).__name__}")
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
      "integrated": over the random projection of JLBuckets, for data fixed before it was drawn, at most `max_records`;
      "union": likewise, any far record that shares the bucket counting as a failure (`union_noise_std`).
    None takes worst_case for anchored buckets, integrated for the grid. Where the diameter needs no more noise than the
    other two, or only it has a bill, it is billed, and the guarantee assumes nothing of the projection.
    The paper's own bound is `calibrate`; no release promises by it, as its proof has a gap.
    Bills: `Simulation` the joint (integrated) curve of continuous noise; `Secure` the exact threshold composed with
    OpenDP's Gaussian map at the diameter.
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
        if not isinstance(self.buckets, AnchoredBuckets | JLBuckets):
            got = type(self.buckets).__name__
            raise TypeError(f"buckets must be AnchoredBuckets or JLBuckets, got {got}")
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        sampling(self.rate, self.threshold)
        checks.whole("max_records", self.max_records, at_least=1)
        random_grid = isinstance(self.buckets, JLBuckets)
        if self.sensitivity is None:
            object.__setattr__(self, "sensitivity", "integrated" if random_grid else "worst_case")
        checks.one_of("sensitivity", self.sensitivity, SENSITIVITIES)
        if self.sensitivity != "worst_case" and not random_grid:
            raise ValueError(
                f"sensitivity {self.sensitivity!r} averages over a random projection, which anchored buckets lack"
            )
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
        averaged = joint and self.sensitivity != "worst_case" and self._averaged_std is not None
        assumed = self.buckets.assumptions if averaged else ()
        domain = (f"at most {self.max_records} records", "embeddings computed record by record")
        parts = ("joint count and centroid",) if joint else ("exact threshold", "OpenDP Gaussian on sums")
        return Guarantee(self.epsilon, self.delta, "record", "add_drop", (*noise.assumptions, *assumed, *domain), parts)

    def noise_std(self, noise: NoiseSource) -> float:
        """Deviation of the noise on each coordinate of a bucket's sum when released through `noise`."""
        if noise.kind == Simulation.kind:
            averaged = None if self.sensitivity == "worst_case" else self._averaged_std
            return self._worst_std if averaged is None else averaged
        _, (epsilon_used, delta_used) = composed_noise_multiplier(self.epsilon, self.delta, self.rate, self.threshold)
        return noise.gaussian_std(
            rest_of(self.epsilon, epsilon_used),
            rest_of(self.delta, delta_used),
            self.buckets.diameter,
            self.buckets.dimension,
        )

    @cached_property
    def _worst_std(self) -> float:
        return joint_noise_multiplier(self.epsilon, self.delta, self.rate, self.threshold) * self.buckets.diameter

    @cached_property
    def _averaged_std(self) -> float | None:
        """Deviation billed over the random projection; None where the diameter, which assumes nothing, asks for no
        more: in few dimensions far records collide too often, and it bounds them, too."""
        public = (self.epsilon, self.delta, self.rate, self.threshold, self.buckets.dims, self.max_records)
        try:
            if self.sensitivity == "union":
                std, _ = union_noise_std(*public, self.buckets.radius)
            else:
                std = release_noise_std(*public, self.buckets.radius)
        except InfeasibleBudget:
            return None
        # cutting to the grid moves a distance by at most one step a coordinate; billed distances start at r / 2
        std *= 1 + 2 * self.grid_step * math.sqrt(self.buckets.dimension) / self.buckets.radius
        return std if std < self._worst_std else None

    def release(self, embeddings: np.ndarray, noise: NoiseSource) -> Centroids:
        """Releases centroids of private `embeddings`, float[n, d], n <= max_records, through a noise source.

        Read twice, block by block, so a memory-mapped file need not fit into memory: once for the tags of kept rows,
        once for the rows of heavy buckets. Memory beside it: the kept rows' tags, the released sums and some blocks.
        More rows raise ValueError: the guarantee covers collections of at most max_records records only.
        Raises TypeError or ValueError on another dtype, shape or non-finite numbers, without naming any value, and on
        noise that is no source.
        """
        checks.noise_source("noise", noise)
        embeddings = unread_embeddings(embeddings, self.buckets.dimension)
        if len(embeddings) > self.max_records:
            raise ValueError(f"embeddings must hold at most max_records = {self.max_records} rows")
        kept = noise.child("sample").bernoulli(self.rate, len(embeddings))
        tags = [np.zeros((0, 1), dtype=np.int64)] if not len(embeddings) else []
        for start in range(0, len(embeddings), BLOCK):
            block = finite_block(embeddings, start)
            tags.append(self.buckets.assign(block[kept[start : start + BLOCK]]))
        cells, owners, released = _heavy(np.concatenate(tags), self.threshold)
        origins = self.buckets.origins(cells)
        members = owners >= 0
        sums = self._sums(embeddings, np.flatnonzero(kept)[members], owners[members], origins)
        std = self.noise_std(noise)
        noisy = noise.child("sums").add_gaussian(sums, std)
        return Centroids(
            centroids=origins + noisy / released[:, None],
            counts=released,
            cells=cells,
            origins=origins,
            noise_std=std,
            guarantee=self.guarantee_under(noise),
            kind=noise.kind,
        )

    def _sums(self, embeddings, rows: np.ndarray, owners: np.ndarray, origins: np.ndarray) -> np.ndarray:
        """float64[h, d]: for each released bucket, the exact sum of its kept rows' clipped residuals."""
        from scipy.sparse import csc_array

        sums = np.zeros(origins.shape)
        anchored = bool(origins.any())  # the grid's origins are zeros: nothing to gather and subtract
        for start in range(0, len(rows), BLOCK):
            mine = owners[start : start + BLOCK]
            shift = origins[mine] if anchored else None
            steps = on_grid(embeddings[rows[start : start + BLOCK]], self.buckets.clip_norm, origins=shift)
            one_each = (np.ones(len(mine)), mine, np.arange(len(mine) + 1))
            # integers in float64, below 2^53: exact whatever the order, so the sensitivity is the stated one
            sums += csc_array(one_each, shape=(len(sums), len(mine))) @ steps
        return sums * self.grid_step


def rest_of(budget: float, used: float) -> float:
    """Largest float of at most budget - used: with `used` it never adds up to more than `budget`."""
    exact = Fraction(budget) - Fraction(used)
    left = float(exact)
    return left if Fraction(left) <= exact else math.nextafter(left, -math.inf)


def _heavy(tags: np.ndarray, threshold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows that `threshold` rows share, in lexicographic order; which of them each row is (or -1); how many.

    Rows are compared by one 64-bit key each: sorting whole rows takes several times as long. Should two different
    rows ever share a key, all are sorted whole, with the same result.
    """
    distinct, owners, counts = distinct_tags(tags)
    heavy = np.flatnonzero(counts >= threshold)
    heavy = heavy[np.lexsort(distinct[heavy].T[::-1])]
    place = np.full(len(distinct), -1)
    place[heavy] = np.arange(len(heavy))
    return distinct[heavy], place[owners], counts[heavy]


def distinct_tags(tags: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows in some order, the group of each row, and the group sizes."""
    if not len(tags):
        return tags, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    keys = np.zeros(len(tags), dtype=np.uint64)
    for column in tags.T:
        keys = (keys ^ column.astype(np.uint64)) * _ODD
        keys ^= keys >> np.uint64(29)
    _, first, owners, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    distinct = tags[first]
    if not all(np.array_equal(column, names[owners]) for column, names in zip(tags.T, distinct.T, strict=True)):
        distinct, owners, counts = np.unique(tags, axis=0, return_inverse=True, return_counts=True)
    return distinct, owners.ravel(), counts
