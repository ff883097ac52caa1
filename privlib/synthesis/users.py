r"""Centroids when a user holds several records: every user is cut to c buckets and l records in each, and billed whole.

**Bill.** One user more or less changes at most c buckets; buckets are sampled and noised independently of one another,
so c equal bills compose, each for l records of one user in one bucket: `joint_delta_for_user`, which for l = 1 is the
joint bill of a record. Where noise is discrete (`Secure`) and l > 1, the direct bound: Bin(N, p) against Bin(N - l, p)
for the count (exact, `threshold_delta_for_user`; the paper's lemma for l is `lemma_for_user`); given a count
n <= N - l, the kept sets couple so that at most l members are exchanged, so the sum moves by at most l times the
diameter of a bucket, and Gaussian noise for that composes with the count; counts above N - l lie whole in the count's
delta.

The alternative without any cut, group privacy, is `CentroidRelease.guarantee.for_users(m)`: its delta grows like
exp((m - 1) epsilon) and soon says nothing. Source: Fre-E2T, Appendix D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from privlib.dp import Guarantee, NoiseSource, Simulation, checks
from privlib.synthesis.buckets import AnchoredBuckets, JLBuckets, private_embeddings
from privlib.synthesis.calibration import best_split
from privlib.synthesis.centroids import CentroidRelease, Centroids, distinct_tags, rest_of
from privlib.synthesis.joint_users import joint_noise_multiplier_for_user
from privlib.synthesis.user_counts import threshold_delta_for_user


@dataclass(frozen=True)
class UserRelease:
    """(epsilon, delta)-DP centroids for users of several records, unit user.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by all records of one user
    more or less. Of each user's records at most `records_cap` l in each of at most `bucket_cap` c buckets enter, chosen
    at random among that user's alone.
    Arguments, public: as in `CentroidRelease`, `rate` and `threshold` for each record; distances in a bucket are
    bounded by `buckets.diameter`, for any data (an average over the projection is not proved for chosen records).
    Raises InfeasibleBudget naming the term that ate the budget of one bucket.
    Source: Fre-E2T, Appendix D (bucket cap with composition; direct bound); the joint and the exact bill are ours.
    """

    buckets: AnchoredBuckets | JLBuckets
    epsilon: float
    delta: float
    rate: float
    threshold: int
    bucket_cap: int = 1
    records_cap: int = 1
    max_records: int = 1_000_000

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        checks.whole("bucket_cap", self.bucket_cap, at_least=1)
        checks.whole("records_cap", self.records_cap, at_least=1)
        self.one_bucket  # noqa: B018  an infeasible budget fails here, before any data

    @property
    def one_bucket(self) -> CentroidRelease:
        """The release that pays for l records of a user in one bucket: 1 / c of epsilon and of delta."""
        public = (self.buckets, _part(self.epsilon, self.bucket_cap), _part(self.delta, self.bucket_cap), self.rate)
        if self.records_cap == 1:
            return CentroidRelease(*public, self.threshold, self.max_records, "worst_case")
        return _Direct(*public, self.threshold, self.max_records, "worst_case", self.records_cap)

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of a release through `noise`; never above (epsilon, delta)."""
        bill = self.one_bucket.guarantee_under(noise)
        cut = f"{self.records_cap} records in each of {self.bucket_cap} buckets"
        parts = tuple(f"{part}, {cut}" for part in bill.composed)
        return Guarantee(self.epsilon, self.delta, "user", "add_drop", bill.assumptions, parts)

    def noise_std(self, noise: NoiseSource) -> float:
        """Deviation of the noise on each coordinate of a bucket's sum when released through `noise`."""
        return self.one_bucket.noise_std(noise)

    def release(self, embeddings: np.ndarray, owners: Sequence[Any], noise: NoiseSource) -> Centroids:
        """Centroids of private `embeddings`, float[n, d], of which row i belongs to `owners[i]`, a private id.

        Raises TypeError or ValueError as `CentroidRelease.release` does, and when owners are not n.
        """
        checks.noise_source("noise", noise)
        embeddings = private_embeddings(embeddings, self.buckets.dimension)
        if isinstance(owners, str | bytes) or not hasattr(owners, "__len__"):
            raise TypeError(f"owners must be a sequence of ids, got {type(owners).__name__}")
        if len(owners) != len(embeddings):
            raise ValueError(f"owners must hold one id a row, got {len(owners)} for {len(embeddings)} rows")
        order = noise.child("caps").permutation(len(embeddings))
        rows = capped_rows(self.buckets.assign(embeddings), owners, order, self.bucket_cap, self.records_cap)
        released = self.one_bucket.release(embeddings[rows], noise)
        return replace(released, guarantee=self.guarantee_under(noise))


def capped_rows(
    tags: np.ndarray, owners: Sequence[Any], order: np.ndarray, bucket_cap: int, records_cap: int
) -> np.ndarray:
    """Rows that remain when every user goes through its records in `order`: int64, increasing.

    A user keeps the first `bucket_cap` different buckets that it meets and the first `records_cap` records in each.
    `tags` int64[n, k], `owners` n ids, `order` a permutation of 0..n-1: uniform over all rows, it is uniform over each
    user's own, independently of the others. What a user keeps depends on its own records alone.
    """
    ids = {owner: place for place, owner in enumerate(dict.fromkeys(owners))}
    users = np.array([ids[owner] for owner in owners], dtype=np.int64)[order]
    distinct, groups, _ = distinct_tags(tags)
    _, pairs = np.unique(users * max(1, len(distinct)) + groups[order], return_inverse=True)
    seen = _occurrence(pairs)
    met = np.zeros(len(pairs), dtype=np.int64)  # of each pair: how many other buckets its user met before
    met[pairs[seen == 0]] = _occurrence(users[seen == 0])
    return np.sort(order[(seen < records_cap) & (met[pairs] < bucket_cap)])


@dataclass(frozen=True)
class _Direct(CentroidRelease):
    """The release billed for `records` of one user in a bucket: jointly, or by composition where noise is discrete."""

    records: int = 2

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        bill = super().guarantee_under(noise)
        joint = noise.kind == Simulation.kind
        return replace(bill, composed=bill.composed if joint else ("exact count", "Gaussian on sums"))

    def noise_std(self, noise: NoiseSource) -> float:
        public = (self.epsilon, self.delta, self.rate, self.threshold, self.records)
        if noise.kind == Simulation.kind:
            return joint_noise_multiplier_for_user(*public) * self.buckets.diameter
        _, (epsilon_used, delta_used) = _direct(*public)
        left = rest_of(self.epsilon, epsilon_used), rest_of(self.delta, delta_used)
        return noise.gaussian_std(*left, self.records * self.buckets.diameter, self.buckets.dimension)


@lru_cache(maxsize=256)
def _direct(
    epsilon: float, delta: float, rate: float, threshold: int, records: int
) -> tuple[float, tuple[float, float]]:
    """Least Gaussian multiplier over every split with the exact count of `records`, and what the count takes."""

    def bill(share: float) -> tuple[float, float]:
        return share * epsilon, threshold_delta_for_user(share * epsilon, rate, threshold, records)

    multiplier, share = best_split(epsilon, delta, rate, threshold, bill)
    return multiplier, bill(share)


def direct_multiplier(epsilon: float, delta: float, rate: float, threshold: int, records: int) -> float:
    """Least noise multiplier of the composed direct bound for `records` l in a bucket, in units of its diameter."""
    return _direct(epsilon, delta, rate, threshold, records)[0] * records


def _part(total: float, parts: int) -> float:
    """Largest float of which `parts` add up to at most `total`."""
    share = total / parts
    return share if Fraction(share) * parts <= Fraction(total) else math.nextafter(share, 0.0)


def _occurrence(codes: np.ndarray) -> np.ndarray:
    """How many equal entries stand before each one."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    before = np.empty(len(codes), dtype=np.int64)
    before[order] = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    return before
