r"""Dummy tags: what hides from the synthesis server how often a tag below the threshold was reported.

Tags are pseudorandom, so below the threshold tau the server sees one thing: how many tags came a times, for each
multiplicity a = 1..tau-1. The tagging server adds X_a fresh random tags of multiplicity a, X_a from the discrete
Laplace law of scale lambda truncated to 0..2s and centred at s. No dummy tag reaches tau, so heavy counts stay exact.

**The histogram alone.** One reported record more moves a tag from multiplicity a to a + 1: two entries move by one, in
opposite directions. The law is symmetric about s, so both have the same privacy loss: infinite with probability
e_0 = Pr[0], +1/lambda with w_+ = Pr[1..s], -1/lambda with the rest. For every epsilon >= 0

    delta_pair(epsilon) = 1 - (1 - e_0)^2 + w_+^2 max(0, 1 - exp(epsilon - 2/lambda)),

exactly and in both directions. (At the ends, a = 0 and a = tau - 1, one entry moves: less.)

**Theorem (all that the server sees in the report phase).** Each record is reported with probability p (`rate`); a
tag's count is shown when it is at least tau; x is added to a bucket of N - 1 others. For epsilon >= ln 1/(1-p) the
server's view is (epsilon, delta_heavy(epsilon) + p delta_pair(epsilon'))-DP, exp(epsilon') = 1 + (exp(epsilon) - 1)/p,
delta_heavy the exact curve of sample and threshold. *Proof.* Let V(k) be the law of the view when k records of the
bucket are reported, P = Bin(N - 1, p), P' = Bin(N, p). With x the view is sum_k P'(k) V(k), without sum_k P(k) V(k).
For k >= tau, sum P'(k) V(k)(S) <= exp(epsilon) sum P(k) V(k)(S) + delta_heavy(epsilon). For k < tau, as
P'(k) = (1-p) P(k) + p P(k-1) and V(k+1)(S) <= exp(epsilon') V(k)(S) + delta_pair(epsilon') for k <= tau - 2, the sum is
at most ((1-p) + p exp(epsilon')) sum P(k) V(k)(S) + p delta_pair(epsilon'), and the bracket is exp(epsilon). The two
parts add. Dropping x: the view with x holds 1 - p of the view without it, so it costs ln 1/(1-p) and no delta.  ∎
With Lemma 1's looser parts and v >= 1 the larger of the two is enough, as the paper states without a proof; ours is in
tests/proofs/test_synthesis_two_servers.py. What is billed here is the sum of the exact parts.
"""

from __future__ import annotations

import math

import numpy as np

from privlib.dp import NoiseSource, checks, threshold_delta, truncated_shifted_discrete_laplace_log_pmf
from privlib.synthesis.calibration import lemma1

LARGEST_SHIFT = 1 << 20
"""The exact curve holds 2 s + 1 terms at once, 16 MB an array at this shift, which is enough for epsilon 2e-6 at delta
1e-6. A larger one is an oversight that would end in a lack of memory."""
_ROUND_UP = 1 + 1e-12


def pair_delta(epsilon: float, shift: int, scale: float) -> float:
    """Smallest delta at `epsilon` >= 0 when two histogram entries with dummies move by one, in opposite directions.

    Relation: one reported record more or less. `shift` s in 1..2^20 (`LARGEST_SHIFT`) and `scale` lambda > 0 of the
    dummies' law, at most 100 (s + 1). Raises TypeError or ValueError on anything else.
    Exact up to rounding, which is upwards. Source: the module's first identity; Fre-E2T, Definition 5 and Eq. 11.
    """
    epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
    if checks.whole("shift", shift, at_least=1) > LARGEST_SHIFT:
        raise ValueError(f"shift must be at most {LARGEST_SHIFT}, got {shift!r}")
    law = np.exp(truncated_shifted_discrete_laplace_log_pmf(np.arange(2 * shift + 1), shift, scale))
    end, up = float(law[0]), float(law[1 : shift + 1].sum())
    gain = max(0.0, -math.expm1(epsilon - 2 / scale)) if epsilon < 2 / scale else 0.0
    return min(1.0, (end * (2 - end) + up * up * gain) * _ROUND_UP)


def reports_delta(epsilon: float, rate: float, threshold: int, shift: int, scale: float) -> float:
    """Smallest delta proved for all that the synthesis server sees in the report phase; the module's theorem.

    Inequality: Pr[view(D) in S] <= exp(epsilon) Pr[view(D') in S] + delta for users D, D' that differ in one record
    replaced by null, its sender still asking for tags. `epsilon` >= ln 1/(1 - rate), `rate` in (0, 1), `threshold` >=
    1. Tags are taken as random: the guarantee rests on the pseudorandom function. Raises ValueError below that epsilon.
    """
    epsilon, rate = checks.nonnegative("epsilon", epsilon), checks.open_probability("rate", rate)
    threshold = checks.whole("threshold", threshold, at_least=1)
    if epsilon < -math.log1p(-rate):
        raise ValueError(f"epsilon must be at least ln 1/(1 - rate) = {-math.log1p(-rate):.6g}, got {epsilon!r}")
    heavy = threshold_delta(epsilon, rate, threshold)
    if threshold == 1:  # every tag is heavy
        return heavy
    # ln(1 + (exp(epsilon) - 1) / p), without the exponential of a large epsilon
    before = epsilon - math.log(rate) + math.log1p((rate - 1) * math.exp(-epsilon))
    return min(1.0, (heavy + rate * pair_delta(before, shift, scale)) * _ROUND_UP)


def published_bill(rate: float, threshold: int, v: float, shift: int, scale: float) -> tuple[float, float]:
    """(epsilon, delta) of the paper's parts: epsilons by the larger, deltas added, which holds for every `v` > 0.

    The low part at epsilon_unre = 2/lambda, where delta_pair has only its ends left; the heavy part by Lemma 1 at `v`.
    Source: Fre-E2T, Lemma 1, Eq. 11 and Theorem 5, whose delta is the larger of the two (enough for `v` >= 1).
    """
    epsilon, delta = lemma1(v, rate, threshold)
    scale = checks.positive("scale", scale)
    return max(epsilon, 2 / scale), min(1.0, delta + pair_delta(2 / scale, shift, scale))


def dummy_shift(epsilon: float, delta: float, scale: float) -> int:
    """Smallest shift s with pair_delta(epsilon, s, scale) <= delta; 0 < `delta` < 1, `epsilon` >= 2 / scale.

    More dummies, less delta; the number of messages is proportional to it. Raises ValueError for a smaller epsilon,
    which no shift can meet at small delta, and where `LARGEST_SHIFT` is not enough.
    """
    epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)
    if epsilon < 2 / checks.positive("scale", scale):
        raise ValueError(f"epsilon must be at least 2 / scale = {2 / scale:.6g}, got {epsilon!r}")
    shift = max(1, math.ceil(scale / 100) - 1)  # no law of this scale has a smaller one
    while shift <= LARGEST_SHIFT and pair_delta(epsilon, shift, scale) > delta:
        shift += max(1, shift // 64)  # long walks in longer steps: never too few
    if shift > LARGEST_SHIFT:
        raise ValueError(f"scale must be smaller: no shift up to {LARGEST_SHIFT} meets delta {delta!r}, got {scale!r}")
    return shift


def draw_dummies(threshold: int, shift: int, scale: float, noise: NoiseSource) -> np.ndarray:
    """Numbers of dummy tags of multiplicity 1..threshold-1, int64[threshold - 1], each in 0..2 shift."""
    threshold = checks.whole("threshold", threshold, at_least=1)
    if threshold == 1:
        return np.zeros(0, dtype=np.int64)
    return noise.truncated_shifted_discrete_laplace(shift, scale, threshold - 1)


def expected_dummies(threshold: int, shift: int) -> int:
    """Expected number of dummy reports: s for every multiplicity 1..tau-1, so s tau (tau - 1) / 2; at most twice so
    many are drawn."""
    return shift * threshold * (threshold - 1) // 2
