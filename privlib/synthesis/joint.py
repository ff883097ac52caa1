r"""Joint privacy of a bucket's kept count and its noisy sum, billed as one release.

Relation: add or drop one record. Setting: every record of a bucket is kept with probability p
(`rate`); with n kept records, (n, sum + N(0, (m Delta)^2 I)) is released when n >= tau
(`threshold`), else nothing; two embeddings of one bucket differ by at most Delta, the unit of
distance below; m is `noise_multiplier`.

**Theorem (joint accounting).** Let the larger bucket hold N records. Both directions of
the hockey-stick divergence are at most that of the pair

    larger:   (n, (1 - n/N) N(0, m^2) + (n/N) N(1, m^2))   with n ~ Bin(N, p),
    smaller:  (n, N(0, m^2))                                with n ~ Bin(N - 1, p),

everything below tau merged into one symbol, and the bound is attained (all others at one point, the
added record Delta away). *Proof.* Fix n <= N - 1. A uniform (n-1)-subset T of the others and a
uniform y of the others outside T make a uniform n-subset, the smaller side's kept set. The larger side's
is T + x with probability n/N, else T + y. So both sides are mixtures over (T, y) of
Gaussians at sum(T) + y and sum(T) + {y or x}; the divergence is jointly convex, and shrinking
|x - y| is post-processing (scale, add noise), so Delta is the worst distance. n = N has no partner:
its p^N is billed whole. Buckets without x are independent of it and equal in law.  ∎

Since C(N,n) n/N = C(N-1,n-1), the larger law is (1-p) smaller + p (smaller with its count and its
sum shifted by one). The likelihood ratio (1-p)(1 + n/(N-n) exp((2z-1)/(2m^2))) crosses e^epsilon
once in z, so every n is a closed form; the drop direction is zero for epsilon >= ln 1/(1-p).

**All N.** Without the threshold the pair is the mechanism that keeps N-1 zeros and one 1; at
N + 1 it is the same with one more Bernoulli coin added to the count, a post-processing: so delta
without a threshold falls in N, and merging outcomes (the threshold) only lowers it. We scan every N
from tau to N0 and take the larger of that maximum and the unthresholded delta at N0 + 1, which
bounds all the rest. A coarse grid of N would under-report.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, gammaln, log_ndtr

from privlib.dp import checks, threshold_delta
from privlib.synthesis.calibration import InfeasibleBudget, sampling, threshold_count

_SCAN_LIMIT = 1 << 18  # as for the count alone, `privlib.dp.threshold_delta`
ROUND_UP = 1 + 1e-9  # covers the rounding of sums of at most some thousand terms in double precision


def joint_delta(epsilon: float, noise_multiplier: float, rate: float, threshold: int) -> float:
    """Smallest delta with which the count and the noisy sum of every bucket are (epsilon, delta)-DP.

    `epsilon` >= 0 (infinity allowed); `noise_multiplier` = noise std / distance in [0, inf], where 0
    reveals a kept record (delta = rate) and infinity leaves the thresholded count alone;
    `rate` in (0, 1], at 1 delta is 1; `threshold` >= 1. For sensitivity 1, without any delta_sensitivity;
    add or drop one record, maximum over both directions and over every bucket size.
    Raises ValueError when buckets of more than 2^18 records would have to be scanned (threshold / rate beyond).
    Source: Fre-E2T, Section 5.1 (the coupling); the theorem is ours, in the module's docstring.
    """
    epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
    noise_multiplier = checks.nonnegative("noise_multiplier", noise_multiplier, infinite=True)
    rate, threshold = sampling(rate, threshold)
    if rate == 1:
        return 1.0
    if noise_multiplier == 0:
        return rate
    if epsilon == math.inf:
        return max(rate**threshold, math.ulp(0.0))  # never 0: a bucket may be kept whole
    if noise_multiplier == math.inf:
        return threshold_delta(epsilon, rate, threshold)
    return _joint_delta(epsilon, noise_multiplier, rate, threshold)


@lru_cache(maxsize=4096)
def _joint_delta(epsilon: float, multiplier: float, rate: float, threshold: int) -> float:
    pair = (epsilon, multiplier, rate)
    expected = math.ceil(min(threshold / rate, 2.0 * _SCAN_LIMIT))
    if expected > _SCAN_LIMIT:
        raise ValueError(
            f"rate and threshold need buckets of more than {_SCAN_LIMIT} records to be scanned; "
            f"got rate {rate!r}, threshold {threshold!r}"
        )
    # probes of where the worst N tends to lie: a lower bound that lets the scan stop early and skip much
    best = _largest_delta(*pair, threshold, np.array(sorted({threshold, expected, expected + expected // 8})))
    stop = expected + 1
    rest = _largest_delta(*pair, 0, np.array([stop]))
    while rest > best and stop < 8 * expected + 200:
        best = max(best, _largest_delta(*pair, threshold, np.array([stop])))
        stop += max(4, stop // 6)
        rest = _largest_delta(*pair, 0, np.array([stop]))
    sizes = np.arange(threshold, stop)
    # delta_N is at most the chance that the larger bucket is released at all: such N need no scan
    sizes = sizes[bdtrc(threshold - 1.0, sizes, rate) > best]
    if len(sizes):
        best = max(best, _largest_delta(*pair, threshold, sizes, negligible=1e-10 * best))
    return min(1.0, max(best, rest, math.ulp(0.0)) * ROUND_UP)  # rest bounds every N >= stop


def _largest_delta(*arguments, **options) -> float:
    return float(deltas_by_size(*arguments, **options).max())


def deltas_by_size(
    epsilon: float, multiplier: float, rate: float, threshold: int, sizes: np.ndarray, negligible: float = 0.0
) -> np.ndarray:
    """The pair's exact delta, larger of both directions, for each bucket size N of `sizes` (all >= threshold, >= 1).

    `threshold` 0 shows every count. Arguments are not checked. Returns float[len(sizes)]. Counts beyond the
    one that `negligible` probability passes are billed whole, by that probability.
    """
    counts = np.arange(threshold, sizes.max() + 1)
    if negligible > 0:
        counts = counts[bdtrc(np.maximum(counts - 1.0, 0), sizes.max(), rate) > negligible]
    row, column = np.nonzero(counts <= sizes[:, None])
    size, n = sizes[row], counts[column]
    log_factorial = gammaln(np.arange(sizes.max() + 2) + 1.0)
    with np.errstate(divide="ignore"):
        log_n, log_left = np.log(n), np.log(size - n)  # -inf at n = 0 and at n = N
    log_odds = log_n - log_left  # of x being among the n kept: n / (N - n)
    # p Bin(N-1, p)(n-1), the larger side's mass with x kept, and Bin(N-1, p)(n), the smaller side's
    log_both = (
        log_factorial[size - 1] - log_factorial[n] - log_factorial[size - n]
        + n * math.log(rate) + (size - n) * math.log1p(-rate)
    )  # fmt: skip
    log_shifted = log_both + log_n
    log_smaller = log_both + log_left - math.log1p(-rate)
    terms = (epsilon, multiplier, rate, log_shifted, log_smaller, log_odds)
    worst = np.bincount(row, weights=_add_direction(*terms), minlength=len(sizes))
    if epsilon < -math.log1p(-rate):
        drop = np.bincount(row, weights=_drop_direction(*terms), minlength=len(sizes))
        worst = np.maximum(worst, drop + _below(epsilon, rate, threshold, sizes))
    return worst + negligible


def _add_direction(epsilon, m, rate, log_shifted, log_smaller, log_odds):
    """Larger over smaller: p P(n-1) Q((z-1)/m) - (e^epsilon - (1-p)) P(n) Q(z/m), z where the ratio is e^epsilon."""
    log_gain = epsilon + math.log1p(-(1 - rate) * math.exp(-epsilon)) if epsilon > 0 else math.log(rate)
    z = m * m * (log_gain - math.log1p(-rate) - log_odds) + 0.5
    larger = log_shifted + log_ndtr((1 - z) / m)
    smaller = log_gain + log_smaller + log_ndtr(-z / m)
    return positive_difference(larger, smaller)


def _drop_direction(epsilon, m, rate, log_shifted, log_smaller, log_odds):
    """Smaller over larger: (1 - e^epsilon (1-p)) P(n) Phi(z/m) - e^epsilon p P(n-1) Phi((z-1)/m)."""
    log_gain = math.log(-math.expm1(epsilon + math.log1p(-rate)))
    z = m * m * (log_gain - epsilon - math.log1p(-rate) - log_odds) + 0.5
    smaller = log_gain + log_smaller + log_ndtr(z / m)
    larger = epsilon + log_shifted + log_ndtr((z - 1) / m)
    return positive_difference(smaller, larger)


def positive_difference(above, below):
    """max(0, e^above - e^below), kept accurate where both are tiny."""
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isneginf(below), -np.inf, below - above)
    return np.exp(above) * np.maximum(0.0, -np.expm1(np.minimum(gap, 0.0)))


def _below(epsilon, rate, threshold, sizes):
    """Drop direction of the merged symbol: max(0, P(< tau) - e^epsilon P'(< tau)) for every N in `sizes`."""
    if threshold == 0:
        return np.zeros(len(sizes))
    smaller = np.where(sizes - 1 < threshold, 1.0, bdtr(threshold - 1.0, np.maximum(sizes - 1, threshold), rate))
    larger = np.where(sizes < threshold, 1.0, bdtr(threshold - 1.0, np.maximum(sizes, threshold), rate))
    return np.maximum(0.0, smaller - math.exp(epsilon) * larger)


def joint_epsilon(delta: float, noise_multiplier: float, rate: float, threshold: int) -> float:
    """Smallest epsilon >= 0 with `joint_delta(epsilon, ...) <= delta`, rounded up.

    Infinite when no finite epsilon will do: delta never falls below rate^threshold, the chance that
    a bucket of `threshold` records is kept whole. Arguments as in `joint_delta`; 0 < `delta` < 1.
    """
    delta = checks.open_probability("delta", delta)
    if joint_delta(0.0, noise_multiplier, rate, threshold) <= delta:
        return 0.0
    high = 1.0
    while joint_delta(high, noise_multiplier, rate, threshold) > delta:
        high *= 2
        if high > 700:
            return math.inf
    low = high / 2
    if high == 1 and joint_delta(low, noise_multiplier, rate, threshold) <= delta:
        low = 0.0
    return crossing(lambda epsilon: joint_delta(epsilon, noise_multiplier, rate, threshold), delta, low, high)


def joint_noise_multiplier(epsilon: float, delta: float, rate: float, threshold: int) -> float:
    """Smallest noise multiplier with `joint_delta(epsilon, ...) <= delta`, rounded up.

    `epsilon` > 0, 0 < `delta` < 1, `rate` in (0, 1], `threshold` >= 1. Raises InfeasibleBudget when
    the thresholded count alone, without any centroid, costs more than `delta`.
    """
    epsilon = checks.positive("epsilon", epsilon)
    delta = checks.open_probability("delta", delta)
    rate, threshold = sampling(rate, threshold)
    alone = joint_delta(epsilon, math.inf, rate, threshold)
    if alone >= delta:
        raise InfeasibleBudget("delta_threshold", f"{alone:.4g} of {delta:.4g} at epsilon {epsilon:.4g}")
    if rate <= delta:
        return 0.0  # a kept record is rarer than delta: sampling alone meets the budget
    high = 1.0
    while joint_delta(epsilon, high, rate, threshold) > delta:
        high *= 2
        if high > 1e9:
            raise InfeasibleBudget("delta_threshold", f"{alone:.6g} of {delta:.6g}: no noise is enough")
    low = high / 2
    while joint_delta(epsilon, low, rate, threshold) <= delta:
        high, low = low, low / 2
        if low < 1e-9:
            return high
    return crossing(lambda multiplier: joint_delta(epsilon, multiplier, rate, threshold), delta, low, high)


def crossing(curve, delta: float, low: float, high: float, precision: float = 1e-9) -> float:
    """Point of [low, high] where the falling `curve` reaches `delta`, on the side where it is at most delta."""

    def excess(at: float) -> float:
        return math.log(max(curve(at), 1e-300)) - math.log(delta)

    root = brentq(excess, low, high, xtol=precision, rtol=precision)
    while curve(root) > delta:
        root = min(high, root * (1 + precision) + precision * low)
    return root


def best_rate(
    epsilon: float, delta: float, frequency: int, rates: tuple[float, ...] = tuple(k / 20 for k in range(1, 20))
) -> tuple[float, int, float]:
    """(rate, threshold, noise multiplier) with the least noise per kept record, among public `rates`.

    A bucket of N records keeps about rate N, so its centroid's noise is multiplier x distance / (rate N): the
    ratio multiplier / rate is what counts. threshold = ceil(rate x frequency) by exact fractions. Nothing
    private enters. Raises InfeasibleBudget when no rate meets the budget at this frequency.
    """
    if not checks.sequence("rates", rates, "probabilities"):
        raise ValueError("rates must hold at least one probability, got none")
    found = []
    for rate in rates:
        threshold = threshold_count(rate, frequency)
        try:
            found.append((joint_noise_multiplier(epsilon, delta, rate, threshold) / rate, rate, threshold))
        except InfeasibleBudget:
            continue
    if not found:
        raise InfeasibleBudget("delta_threshold", f"frequency {frequency} is too small for delta {delta:.4g}")
    noise, rate, threshold = min(found)
    return rate, threshold, noise * rate
