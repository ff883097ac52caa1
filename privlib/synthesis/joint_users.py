r"""Joint privacy of a bucket's kept count and its noisy sum for l records of one user in that bucket, billed as one.

Relation: add or drop all of a user's records; l of them lie in the bucket (`records`), the others are as in
`privlib.synthesis.joint`: each record kept with probability p, (n, sum + N(0, (m Delta)^2 I)) shown when n >= tau,
two embeddings of the bucket at most Delta apart, Delta the unit of distance.

**Theorem (joint accounting for l records).** Let the larger bucket hold N >= l records, B(l, p) the binomial law. Both
directions of the hockey-stick divergence are at most that of the pair

    larger:   (n, sum_j w_j N(j, m^2)),  w_j = Pr[B(l, p) = j] Pr[B(N - l, p) = n - j],   j = 0 .. l,
    smaller:  (n, N(0, m^2))             with n ~ B(N - l, p),

everything below tau merged into one symbol, and the bound is attained (all others at one point, the user's records
Delta away). *Proof.* Fix n <= N - l and draw an ordered uniform n-subset y_1 .. y_n of the others, the smaller side's
kept set, and an ordering x_1 .. x_l of the user's records. On the larger side j of them are kept with probability
proportional to w_j, in place of y_1 .. y_j. So both sides are mixtures over the same orderings; the divergence is
jointly convex, hence at most its mean over them, and given one the larger side is sum_j w_j N(s + v_j, (m Delta)^2 I),
v_j = sum of x_i - y_i over i <= j, against N(s, (m Delta)^2 I), with v_i v_j <= |v_i| |v_j| <= i j Delta^2. The
divergence is the mean of a convex function of sum_j w_j exp(X_j - Var X_j / 2) for jointly normal X_j with covariances
v_i v_j / (m Delta)^2; by Kahane's inequality it is largest when all of these are, which is the line v_j = j Delta.
n > N - l has no partner: its mass is billed whole. ∎

The likelihood ratio sum_j (w_j / P(n)) exp((j z - j^2 / 2) / m^2) rises in z and crosses e^epsilon once. All N: as for
one record, the unthresholded divergence falls in N, so a scan with that tail covers every N. l = 1 is `joint_delta`.
Source: Fre-E2T, Appendix D (the question); Kahane 1986 (the inequality); the theorem is ours.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln, log_ndtr, logsumexp

from privlib.dp import checks
from privlib.synthesis.calibration import InfeasibleBudget, sampling
from privlib.synthesis.joint import ROUND_UP, crossing, joint_delta, positive_difference

_NEWTON_STEPS = 60
_LARGEST_BUCKET = 1 << 13
_ENDLESS = 1e6  # a multiplier at which the sum tells nothing


def joint_delta_for_user(epsilon: float, noise_multiplier: float, rate: float, threshold: int, records: int) -> float:
    """Smallest delta with which a bucket's count and noisy sum are (epsilon, delta)-DP for `records` l of one user.

    `epsilon` >= 0, finite; `noise_multiplier` > 0, finite, noise std / distance between two embeddings of the bucket
    (not l times it); `rate` in (0, 1], at 1 delta is 1; `threshold` >= 1; `records` >= 1. Add or drop all records of
    the user, maximum over both directions and every bucket size; the user's other buckets compose.
    Raises ValueError when buckets of more than 2^13 records would have to be scanned.
    Source: the module's theorem.
    """
    epsilon = checks.nonnegative("epsilon", epsilon)
    noise_multiplier = checks.positive("noise_multiplier", noise_multiplier)
    rate, threshold = sampling(rate, threshold)
    records = checks.whole("records", records, at_least=1)
    if rate == 1:
        return 1.0
    if records == 1:
        return joint_delta(epsilon, noise_multiplier, rate, threshold)
    return _joint_delta_for_user(epsilon, noise_multiplier, rate, threshold, records)


@lru_cache(maxsize=1024)
def _joint_delta_for_user(epsilon: float, multiplier: float, rate: float, threshold: int, records: int) -> float:
    expected = threshold / rate
    start, best = max(threshold, records), 0.0
    block = int(min(256, max(8, expected // 3)))
    while expected < _LARGEST_BUCKET and start < _LARGEST_BUCKET:
        sizes = np.arange(start, start + block)
        sizes = sizes[bdtrc(threshold - 1.0, sizes, rate) > best]  # delta_N is at most the chance of being shown
        if len(sizes):
            best = max(best, float(user_deltas_by_size(epsilon, multiplier, rate, threshold, records, sizes).max()))
        start += block
        rest = float(user_deltas_by_size(epsilon, multiplier, rate, 0, records, np.array([start]))[0])
        if rest <= best:  # rest bounds every N >= start
            return min(1.0, max(best, math.ulp(0.0)) * ROUND_UP)
    raise ValueError(f"rate {rate!r} and threshold {threshold} need buckets of more than {_LARGEST_BUCKET} records")


def user_deltas_by_size(
    epsilon: float, multiplier: float, rate: float, threshold: int, records: int, sizes: np.ndarray
) -> np.ndarray:
    """The pair's delta, larger of both directions, for each bucket size N of `sizes` (all >= threshold and >= l).

    `threshold` 0 shows every count. Arguments are not checked. Returns float[len(sizes)].
    """
    counts = np.arange(threshold, sizes.max() + 1)
    row, column = np.nonzero(counts <= sizes[:, None])
    others, n = sizes[row] - records, counts[column]
    kept = np.arange(records + 1)[:, None]  # j, along the first axis
    log_smaller = _log_binomial(n, others, rate)
    log_w = _log_binomial(kept, np.full_like(kept, records), rate) + _log_binomial(n - kept, others, rate)
    paired = n <= others
    worst = np.exp(logsumexp(log_w, axis=0))  # without a partner: whole
    terms = (multiplier, log_w[:, paired], log_smaller[paired], kept)
    worst[paired] = _above(epsilon, *terms)
    delta = np.bincount(row, weights=worst, minlength=len(sizes))
    if epsilon < -records * math.log1p(-rate):
        drop = np.zeros(len(n))
        drop[paired] = _below(epsilon, *terms)
        lost = np.bincount(row, weights=drop, minlength=len(sizes)) + _merged(epsilon, rate, threshold, records, sizes)
        delta = np.maximum(delta, lost)
    return delta


def _log_binomial(count, size, rate):
    """ln Pr[B(size, rate) = count], -inf outside 0..size."""
    inside = (count >= 0) & (count <= size)
    k, n = np.where(inside, count, 0), np.where(inside, size, 0)
    log_chance = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return np.where(inside, log_chance + k * math.log(rate) + (n - k) * math.log1p(-rate), -np.inf)


def _crossing_point(log_gain, multiplier, log_w, log_smaller, kept):
    """z with sum_{j >= 1} (w_j / P) exp((j z - j^2 / 2) / m^2) = e^log_gain: Newton from above, where it only falls.

    The logarithm of the sum is convex and rising in z, so from a point above the root every step stays above it.
    """
    j, square = kept[1:], multiplier**2
    log_ratio = log_w[1:] - log_smaller - j**2 / (2 * square)
    z = np.min((log_gain - log_ratio) * square / j, axis=0)  # where one term alone is enough
    some = np.isfinite(z)  # a count of 0 keeps none of the user's records: no term, no crossing
    for _ in range(_NEWTON_STEPS):
        terms = log_ratio[:, some] + j * z[some] / square
        total = logsumexp(terms, axis=0)
        slope = np.sum(j * np.exp(terms - total), axis=0) / square
        step = (total - log_gain[some]) / slope
        z[some] -= step
        if np.all(np.abs(step) <= 1e-13 * (1 + np.abs(z[some]))):
            break
    return z


def _above(epsilon, multiplier, log_w, log_smaller, kept):
    """Larger over smaller, a count n: sum_j w_j Q((z - j) / m) - e^epsilon P(n) Q(z / m), z where the ratio crosses."""
    log_zero = log_w[0] - log_smaller  # (1 - p)^l, the same for every n
    log_gain = epsilon + np.log1p(-np.exp(log_zero - epsilon))
    z = _crossing_point(log_gain, multiplier, log_w, log_smaller, kept)
    larger = logsumexp(log_w[1:] + log_ndtr((kept[1:] - z) / multiplier), axis=0)
    return positive_difference(larger, log_gain + log_smaller + log_ndtr(-z / multiplier))


def _below(epsilon, multiplier, log_w, log_smaller, kept):
    """Smaller over larger: P(n) Phi(z / m) - e^epsilon sum_j w_j Phi((z - j) / m), z where the ratio is e^-epsilon."""
    log_rest = np.log(-np.expm1(epsilon + log_w[0] - log_smaller))  # 1 - e^epsilon (1 - p)^l
    z = _crossing_point(log_rest - epsilon, multiplier, log_w, log_smaller, kept)
    larger = epsilon + logsumexp(log_w[1:] + log_ndtr((z - kept[1:]) / multiplier), axis=0)
    return positive_difference(log_rest + log_smaller + log_ndtr(z / multiplier), larger)


def _merged(epsilon, rate, threshold, records, sizes):
    """Drop direction of the symbol below the threshold, for every N of `sizes`."""
    if threshold == 0:
        return np.zeros(len(sizes))
    others = sizes - records
    smaller = np.where(others < threshold, 1.0, bdtr(threshold - 1.0, np.maximum(others, threshold), rate))
    larger = bdtr(threshold - 1.0, sizes, rate)
    return np.maximum(0.0, smaller - math.exp(epsilon) * larger)


def joint_noise_multiplier_for_user(epsilon: float, delta: float, rate: float, threshold: int, records: int) -> float:
    """Smallest noise multiplier with `joint_delta_for_user(epsilon, ...) <= delta`, rounded up.

    `epsilon` > 0, 0 < `delta` < 1. Raises InfeasibleBudget when the thresholded count alone, without any centroid,
    costs more than `delta`.
    """
    epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)

    def curve(multiplier: float) -> float:
        return joint_delta_for_user(epsilon, multiplier, rate, threshold, records)

    if (alone := curve(_ENDLESS)) >= delta:
        raise InfeasibleBudget("delta_threshold", f"{alone:.4g} of {delta:.4g} at epsilon {epsilon:.4g}")
    high = 1.0
    while curve(high) > delta:
        high *= 2
    low = high / 2
    while curve(low) <= delta:
        high, low = low, low / 2
        if low < 1e-9:
            return high
    return crossing(curve, delta, low, high, precision=1e-7)
