"""Sample and threshold: publish the sampled count of a tag when it is large enough, with its exact privacy curve."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betainc, betaincc

from privlib.dp import checks
from privlib.dp.billed import Billed
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource

_SCAN_LIMIT = 1 << 18
_SLACK = 1e-12  # relative rounding error of an incomplete beta function, with room


def threshold_delta(epsilon: float, rate: float, threshold: int) -> float:
    """Exact delta at `epsilon` of publishing a tag's sampled count when it is at least `threshold`.

    Every record keeps its tag with probability `rate`; of a tag that N records hold, Bin(N, rate) is seen, and
    everything below the threshold is one symbol. Adding or dropping one record changes one tag's count only, so
    the pair to compare is P_N = Bin(N, rate) against P_{N-1}, merged below the threshold, in both directions:
    delta = max over N >= 1 of the larger hockey-stick divergence. Relation: add_drop (one tag a record).

    One N. Write p for the rate. P_N(n) / P_{N-1}(n) = (1-p) N / (N-n) grows with n: each direction's worst set is
    a tail of n. Adding: {n > N (1 - (1-p) exp(-epsilon))}, the merged symbol never in it (P_N dominates
    P_{N-1}, so the symbol is rarer under P_N). Dropping: {n < N (1 - (1-p) exp(epsilon))}, the merged symbol in it
    when its own ratio is above exp(epsilon); no ratio is above 1/(1-p), so it is free from epsilon = ln 1/(1-p) on.
    All N. For N < threshold both laws are the merged symbol: 0. Let u_N be the divergence with every count visible.
    Merging is post-processing, so the divergence is at most u_N; adding an independent coin of probability p to both
    laws of N gives both laws of N+1, again post-processing, so u_N falls in N. The scan over every N from the
    threshold therefore stops once u_{N+1} is at most the largest divergence found.
    Never below rate^threshold: at N = threshold the top count is possible only with the record.

    Arguments, public: `epsilon` in [0, inf], `rate` in [0, 1], `threshold` an integer >= 1. Returns a float in [0, 1],
    rounded up. Raises TypeError or ValueError outside the ranges, and ValueError when tags of more than 2^18 records
    would have to be scanned (rates far below 1/1000). Source: ours; privlib.synthesis.lemma1 is the paper's bound.
    """
    epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
    rate, threshold = checks.probability("rate", rate), checks.whole("threshold", threshold, at_least=1)
    if rate == 0:
        return 0.0
    if rate == 1:
        return 1.0
    return _scan(epsilon, rate, threshold)


@functools.lru_cache(maxsize=4096)  # mechanisms and sliders ask again
def _scan(epsilon: float, rate: float, threshold: int) -> float:
    largest, start, block = max(rate**threshold, math.ulp(0.0)), threshold, 256
    if epsilon == math.inf:
        return largest
    while start < _SCAN_LIMIT:
        sizes = np.arange(start, start + block, dtype=np.float64)
        largest = max(largest, float(_divergence(epsilon, rate, threshold, sizes).max()))
        start, block = start + block, min(2 * block, 1 << 16)
        # threshold 0 merges nothing: the divergence with every count visible
        if _divergence(epsilon, rate, 0, np.array([float(start)]))[0] <= largest:
            return min(1.0, largest)
    raise ValueError(
        f"rate and threshold need tags of more than {_SCAN_LIMIT} records to be scanned; got rate {rate!r}, "
        f"threshold {threshold!r}, epsilon {epsilon!r}"
    )


def _divergence(epsilon: float, rate: float, threshold: int, sizes: np.ndarray) -> np.ndarray:
    """Larger of the two divergences for each N of `sizes`, counts below `threshold` merged; rounded up."""
    first = np.floor(sizes * (1 - (1 - rate) * math.exp(-epsilon))) + 1
    first = np.minimum(np.maximum(first, threshold), sizes)  # rounding may push it past N, where the ratio is infinite
    adding = _excess(epsilon, _at_least(first, sizes, rate), _at_least(first, sizes - 1, rate))
    if epsilon >= -math.log1p(-rate):
        return adding
    cut = np.maximum(np.ceil(sizes * (1 - (1 - rate) * math.exp(epsilon))), threshold)
    return np.maximum(adding, _excess(epsilon, _below(cut, sizes - 1, rate), _below(cut, sizes, rate)))


def _at_least(count: np.ndarray, size: np.ndarray, rate: float) -> np.ndarray:
    """Pr[Bin(size, rate) >= count], count >= 1."""
    inside = count <= size
    return np.where(inside, betainc(count, np.where(inside, size - count, 0) + 1, rate), 0.0)


def _below(count: np.ndarray, size: np.ndarray, rate: float) -> np.ndarray:
    """Pr[Bin(size, rate) < count], count >= 0."""
    inside = (count >= 1) & (count <= size)
    tail = betaincc(np.where(inside, count, 1), np.where(inside, size - count, 0) + 1, rate)
    return np.where(inside, tail, np.where(count < 1, 0.0, 1.0))


def _excess(epsilon: float, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """max(0, p - exp(epsilon) q), rounded up; the product in log space, because exp(epsilon) alone may overflow."""
    with np.errstate(divide="ignore"):
        scaled = np.exp(np.minimum(epsilon + np.log(q), 1.0))  # above e the difference is negative anyway
    excess = np.maximum(p - scaled, 0.0)
    return np.where(excess > 0, excess + _SLACK * (p + scaled), 0.0)


@dataclass(frozen=True)
class ThresholdedCounts:
    """What `SampleAndThreshold` publishes: `tags` int64[h], increasing, and `counts` int64[h] of sampled records."""

    tags: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class SampleAndThreshold(Billed):
    """Publishes every tag whose sampled count reaches the threshold, with that count: (epsilon, delta)-DP.

    Each record keeps its one tag with probability `rate`, independently; tags kept by at least `threshold` records are
    published with their sampled counts, in tag order, all others not at all. No noise is added: the coins hide.
    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ in one record more or
    less, delta = `threshold_delta(epsilon, rate, threshold)`; other tags' counts have the same law on both sides,
    and a tag that only the record holds is invisible unless its own count reaches the threshold.
    Arguments, all public: `epsilon` >= 0 at which delta is stated, 0 < `rate` < 1, `threshold` an integer >= 1, `unit`
    ("user" only when a user holds one record), `relation` "add_drop" (one exchange is two such steps: not covered).
    Raises TypeError or ValueError on anything else.
    """

    epsilon: float
    rate: float
    threshold: int
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        checks.settle(self, epsilon=checks.nonnegative, rate=checks.open_probability, threshold=checks.whole)
        checks.one_of("relation", self.relation, ("add_drop",))
        checks.one_of("unit", self.unit, checks.UNITS)

    @property
    def delta(self) -> float:
        """Exact delta at `epsilon`, rounded up."""
        return threshold_delta(self.epsilon, self.rate, self.threshold)

    def release(self, private, noise: NoiseSource) -> ThresholdedCounts:
        """`private` int64[n], one tag a record, n >= 0. How many tags come out depends on the data; delta pays for it.

        Raises TypeError or ValueError on another dtype or shape, without naming any value.
        """
        checks.noise_source("noise", noise)
        tags = checks.private_integers("private", private, (None,))
        kept = tags[noise.bernoulli(self.rate, len(tags))]
        distinct, counts = np.unique(kept, return_counts=True)
        heavy = counts >= self.threshold
        return ThresholdedCounts(distinct[heavy], counts[heavy].astype(np.int64))

    def loss(self, epsilon: float) -> float:
        """Exact privacy curve: the delta at another `epsilon` in [0, inf]."""
        return threshold_delta(epsilon, self.rate, self.threshold)

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.unit, self.relation, assumptions, ("sample and threshold",))
