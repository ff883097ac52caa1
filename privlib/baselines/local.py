"""Local privacy: every user randomizes its own message, so that no server ever holds a record; two baselines.

They show what it costs to do without a server that adds: noise of the whole space's size on every embedding, or
counts that are off by about sqrt(n). Source: Fre-E2T, Section 8, Table 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privlib.baselines.grouping import BucketMeans, Buckets, check_buckets, checked, places, residual_sums
from privlib.baselines.space import inside
from privlib.dp import GaussianMechanism, Guarantee, NoiseSource, Simulation, checks

_NEIGHBOURS = {"unit": "record", "relation": "replace"}
DOMAIN = "embeddings computed record by record"


@dataclass(frozen=True)
class LocalEmbeddings:
    """Every user sends its embedding with Gaussian noise of its own; the server buckets and averages what it gets.

    Inequality: for any two embeddings, hence for datasets in which one record is exchanged, Pr[M in S] <= exp(epsilon)
    Pr[M' in S] + delta, for the message itself, not only for what is made of it. Embeddings are clipped to `max_norm`
    R and differ by at most 2 R. Buckets, counts >= `threshold` and means of noisy embeddings are post-processing.
    Arguments, public: `buckets`, `epsilon` > 0, 0 < `delta` < 1, `threshold` >= 1, `max_norm` > 0.
    Source: Fre-E2T, Section 8 ("LDP (embedding)"); Balle and Wang 2018.
    """

    buckets: Buckets
    epsilon: float
    delta: float
    threshold: int = 100
    max_norm: float = 1.0

    def __post_init__(self) -> None:
        check_buckets(self.buckets)
        checks.whole("threshold", self.threshold, at_least=1)
        self.message  # noqa: B018  refuses wrong arguments at construction

    @property
    def message(self) -> GaussianMechanism:
        """The local randomizer of one user's clipped embedding."""
        reach = 2 * checks.positive("max_norm", self.max_norm)
        return GaussianMechanism(self.epsilon, self.delta, reach, self.buckets.dimension, **_NEIGHBOURS)

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of each user's message, drawn from `noise`."""
        bill = self.message.guarantee_under(noise)
        assumptions = (*bill.assumptions, DOMAIN)
        return Guarantee(bill.epsilon, bill.delta, bill.unit, bill.relation, assumptions, ("local Gaussian embedding",))

    def release(self, private: np.ndarray, noise: NoiseSource) -> BucketMeans:
        """`private` float[n, d], one row a user. Raises TypeError or ValueError without naming any value, and on noise
        that is no source."""
        checks.noise_source("noise", noise)
        rows, message = checked(private, self.buckets), self.message
        source = noise.child("messages")
        clipped = inside(rows, self.max_norm) * self.max_norm
        sent = np.array([message.release(row, source) for row in clipped]).reshape(rows.shape)
        tags, owners, counts = np.unique(self.buckets.assign(sent), axis=0, return_inverse=True, return_counts=True)
        heavy = np.flatnonzero(counts >= self.threshold)
        owners = owners.ravel()
        means = np.array([sent[owners == tag].mean(axis=0) for tag in heavy]).reshape(len(heavy), rows.shape[1])
        return BucketMeans(tags[heavy], counts[heavy].astype(float), means, self.guarantee_under(noise), noise.kind)


@dataclass(frozen=True)
class UnaryEncoding:
    """Optimized unary encoding: counts of a public list of values under local privacy, by one vector of bits a user.

    A user's own bit is sent truly with probability 1/2, every other bit is 1 with probability q = 1 / (exp(epsilon) +
    1): two values differ in two bits, whose odds multiply to exp(epsilon). A user whose value is not in the list sends
    noise bits only. Inequality: (epsilon, 0) for each message, exchanging one user's value for any other, or none.
    `values` >= 1, the length of the list; `epsilon` > 0.
    Source: Wang, Blocki, Li and Jha 2017, Section 4.3 (OUE).
    """

    epsilon: float
    values: int

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.whole("values", self.values, at_least=1)

    @property
    def lie(self) -> float:
        """q, rounded up, so that the odds never pass exp(epsilon)."""
        return min(0.5, math.nextafter(1 / (math.exp(min(self.epsilon, 700.0)) + 1), 1.0) * (1 + 2.0**-50))

    @property
    def guarantee(self) -> Guarantee:
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of each message; coins are exact up to the source's own assumptions."""
        return Guarantee(self.epsilon, 0.0, "record", "replace", noise.assumptions, ("local unary encoding",))

    def release(self, private: np.ndarray, noise: NoiseSource) -> np.ndarray:
        """Unbiased counts, float64[values], may be negative. `private` int64[n]: each user's value, -1 for none.

        Raises TypeError or ValueError without naming any value, and on noise that is no source.
        """
        checks.noise_source("noise", noise)
        own = checks.private_integers("private", private, (None,))
        if len(own) and not (own.min() >= -1 and own.max() < self.values):
            raise ValueError(f"private must hold values -1..{self.values - 1} (array of shape {own.shape})")
        lie, ones = self.lie, np.zeros(self.values, dtype=np.int64)
        block = max(1, (1 << 22) // self.values)
        for start in range(0, len(own), block):
            mine = own[start : start + block]
            bits = noise.bernoulli(lie, (len(mine), self.values))
            listed = np.flatnonzero(mine >= 0)
            bits[listed, mine[listed]] = noise.bernoulli(0.5, len(listed))
            ones += bits.sum(axis=0)
        return (ones - len(own) * lie) / (0.5 - lie)

    def deviation(self, users: int) -> float:
        """Standard deviation of an estimated count of a rare value: sqrt(n q (1 - q)) / (1/2 - q)."""
        users = checks.whole("users", users, at_least=0)
        return math.sqrt(users * self.lie * (1 - self.lie)) / (0.5 - self.lie)


@dataclass(frozen=True, eq=False)
class LocalBuckets:
    """Heavy buckets by unary encoding, then noisy sums of their members' residuals by an adding server.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' of the same size in which one record is
    exchanged; the counts alone are local. A sum moves by at most 2 `clip_norm` (both records in one bucket), two sums
    by clip_norm each, which is less. A bucket is kept when its estimated count reaches `threshold`.
    Arguments, public: `buckets`, `public_tags` int64[m, k] distinct (the list; other buckets are never found),
    `epsilon` > 0, 0 < `delta` < 1, `threshold` > 0, `count_share` in (0, 1) of epsilon that counts get.
    Source: Fre-E2T, Section 8 ("LDP (OUE)"), which reports the best split; Wang and others 2017.
    """

    buckets: Buckets
    public_tags: np.ndarray
    epsilon: float
    delta: float
    threshold: float = 100.0
    count_share: float = 0.5

    def __post_init__(self) -> None:
        check_buckets(self.buckets)
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        checks.positive("threshold", self.threshold)
        checks.open_probability("count_share", self.count_share)
        tags = checks.private_integers("public_tags", self.public_tags, (None, None))
        if not len(tags) or len(np.unique(tags, axis=0)) != len(tags):
            raise ValueError(f"public_tags must be distinct, at least one, got shape {tags.shape}")
        object.__setattr__(self, "public_tags", tags[np.lexsort(tags.T[::-1])])

    @property
    def counts(self) -> UnaryEncoding:
        """The stage that finds heavy buckets."""
        return UnaryEncoding(self.epsilon * self.count_share, len(self.public_tags))

    def sums(self, found: int) -> GaussianMechanism:
        """The stage that releases the sums of `found` >= 1 buckets, from what is left of epsilon."""
        rest = math.nextafter(self.epsilon - self.epsilon * self.count_share, 0.0)
        shape = (found, self.buckets.dimension)
        return GaussianMechanism(rest, self.delta, 2 * self.buckets.clip_norm, shape, **_NEIGHBOURS)

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """Both stages, composed."""
        both = self.counts.guarantee_under(noise).compose(self.sums(1).guarantee_under(noise))
        return Guarantee(both.epsilon, both.delta, both.unit, both.relation, (*both.assumptions, DOMAIN), both.composed)

    def release(self, private: np.ndarray, noise: NoiseSource) -> BucketMeans:
        """`private` float[n, d], one row a user. Raises TypeError or ValueError without naming any value, and on noise
        that is no source."""
        checks.noise_source("noise", noise)
        rows = checked(private, self.buckets)
        own = places(self.buckets.assign(rows), self.public_tags)
        counts = self.counts.release(own, noise.child("counts"))
        found = np.flatnonzero(counts >= self.threshold)
        tags, centroids = self.public_tags[found], np.zeros((0, rows.shape[1]))
        if len(found):
            place = np.full(len(self.public_tags) + 1, -1)  # the last is for -1, a tag outside the list
            place[found] = np.arange(len(found))
            sums = self.sums(len(found)).release(
                residual_sums(rows, place[own], tags, self.buckets), noise.child("sums")
            )
            centroids = self.buckets.origins(tags) + sums / counts[found, None]
        return BucketMeans(tags, counts[found], centroids, self.guarantee_under(noise), noise.kind)
