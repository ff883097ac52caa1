r"""A bucket's thresholded, sampled count when several records of one user come or go: lemma and exact bill.

The paper's lemma for l records (Fre-E2T, Appendix D): with q = 1 - (1-p)^{v+1} and M = tau / q + l - 1,
epsilon = l v ln 1/(1-p) and delta = exp(-M D(tau / M || p)); l = 1 is its Lemma 1.
Exact: Bin(N, p) against Bin(N - l, p), everything below the threshold one symbol, both directions, every N >= l.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from privlib.dp import checks
from privlib.synthesis.calibration import sampling

_LARGEST_BUCKET = 1 << 14
_FEW_ULPS = 2.0**-50
"""Of the largest term that ln Pr is a sum of: more than the log-gamma function and three additions are off by."""


def lemma_for_user(records: int, v: float, rate: float, threshold: int) -> tuple[float, float]:
    """(epsilon, delta) of a bucket's thresholded count for `records` l of one user, as the paper bounds it.

    `v` > 0 is a real split, `rate` in (0, 1). Raises ValueError when l is so large that tau / M <= p: then the
    bound says nothing. Source: Fre-E2T, Appendix D; the module's formula.
    """
    records, v = checks.whole("records", records, at_least=1), checks.positive("v", v)
    rate, threshold = checks.open_probability("rate", rate), checks.whole("threshold", threshold, at_least=1)
    size = threshold / -math.expm1((v + 1) * math.log1p(-rate)) + records - 1
    share = threshold / size
    if share <= rate:
        raise ValueError(f"records must leave threshold / size = {share:.4g} above rate {rate!r}, got {records}")
    divergence = share * math.log(share / rate)
    if share < 1:
        divergence += (1 - share) * (math.log1p(-share) - math.log1p(-rate))
    return -records * v * math.log1p(-rate), math.exp(-size * divergence)


def threshold_delta_for_user(epsilon: float, rate: float, threshold: int, records: int) -> float:
    """Exact delta at `epsilon` of a bucket's thresholded, sampled count when `records` l of one user come or go.

    The larger hockey-stick divergence of Bin(N, p) against Bin(N - l, p), merged below the threshold, over every N >=
    l, both directions. As for one record: an unthresholded divergence falls in N (one more coin is post-processing),
    so the scan stops when it is below what was found. l = 1 is `threshold_delta`. Rounded up.
    Raises ValueError when buckets of more than 2^14 records would have to be scanned.
    """
    epsilon = checks.nonnegative("epsilon", epsilon)
    rate, threshold = sampling(rate, threshold)
    records = checks.whole("records", records, at_least=1)
    if rate == 1:
        return 1.0
    worst = 0.0
    for size in range(max(records, threshold), _LARGEST_BUCKET):
        worst = max(worst, _divergence(epsilon, rate, threshold, size, records))
        if _divergence(epsilon, rate, 0, size + 1, records) <= worst:
            return min(1.0, worst)
    raise ValueError(f"rate {rate!r} and threshold {threshold} need buckets of more than {_LARGEST_BUCKET} records")


def _divergence(epsilon: float, rate: float, threshold: int, size: int, records: int) -> float:
    """The larger direction at one size, rounded up: where both laws nearly cancel, what is left is as uncertain as
    they are, so each probability is moved against us by more than its own rounding before they are subtracted."""
    counts = np.arange(size + 1)
    larger = np.exp(_log_binomial(counts, size, rate))
    smaller = np.exp(_log_binomial(counts, size - records, rate))
    low = counts < threshold
    larger = np.append(larger[~low], larger[low].sum())
    smaller = np.append(smaller[~low], smaller[low].sum())
    slack = _FEW_ULPS * (1 + float(gammaln(size + 1.0)) - size * min(math.log(rate), math.log1p(-rate)))
    factor = math.exp(min(epsilon, 700.0)) * (1 - slack) / (1 + slack)
    gap = max(
        float(np.maximum(larger - factor * smaller, 0).sum()), float(np.maximum(smaller - factor * larger, 0).sum())
    )
    return gap * (1 + 2 * slack)


def _log_binomial(counts: np.ndarray, size: int, rate: float) -> np.ndarray:
    """ln Pr[Bin(size, rate) = count], -inf above size."""
    inside = np.minimum(counts, size)
    log_chance = gammaln(size + 1.0) - gammaln(inside + 1.0) - gammaln(size - inside + 1.0)
    log_chance += inside * math.log(rate) + (size - inside) * math.log1p(-rate)
    return np.where(counts <= size, log_chance, -np.inf)
