r"""Users with several records: three bills, one of them usable.

- **Capped** (`Settings.bucket_cap` c): a user takes part in at most c buckets with one record in each. Records in
  different buckets touch different counts and sums, so what is published costs c times a record's bill; the dummies'
  histogram is shared, so the synthesis server's view is billed as c steps, one after another (`group_bill`).
- **Group**: any records, at most m of them: (m epsilon, delta (e^{m epsilon} - 1) / (e^epsilon - 1)).
- **Direct**: l records of a user in one bucket, billed at once. Bin(N, p) against Bin(N - l, p) for the count; given a
  count n <= N - l the kept sets couple so that at most l members are exchanged, so the sum moves by at most l Delta;
  larger n have no partner and are all in the count's delta.

The paper's lemma for l (Fre-E2T, Appendix D): with q = 1 - (1-p)^{v+1} and M = tau / q + l - 1,
epsilon = l v ln 1/(1-p) and delta = exp(-M D(tau / M || p)); l = 1 is its Lemma 1.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from privlib.dp import ZCDP, Guarantee, checks
from privlib.synthesis.calibration import sampling

_LARGEST_BUCKET = 1 << 14
_ROUND_UP = 1 + 1e-9


def capped_bill(record: Guarantee, bucket_cap: int) -> Guarantee:
    """Published output of users of at most `bucket_cap` buckets, one record in each: basic composition, unit user."""
    total = record
    for _ in range(checks.whole("bucket_cap", bucket_cap, at_least=1) - 1):
        total = total.compose(record)
    assumed = f"at most {bucket_cap} buckets a user, one record in each"
    return Guarantee(total.epsilon, total.delta, "user", total.relation, (*total.assumptions, assumed), total.composed)


def group_bill(record: Guarantee, max_records: int) -> Guarantee:
    """The same, and the servers' views, for any `max_records` records of a user: group privacy, unit user."""
    return record.for_users(max_records)


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
            return min(1.0, worst * _ROUND_UP)
    raise ValueError(f"rate {rate!r} and threshold {threshold} need buckets of more than {_LARGEST_BUCKET} records")


def direct_bill(
    epsilon: float, rate: float, threshold: int, records: int, centroids: ZCDP, centroid_delta: float
) -> Guarantee:
    """Published output for `records` of one user in one bucket: count at `epsilon`, sum by l^2 times the record's rho.

    `centroids`: the bill of the sum for one record exchanged. Unit user; relation add_drop of all its records.
    """
    counts = Guarantee(
        epsilon, threshold_delta_for_user(epsilon, rate, threshold, records), "user", "add_drop", (),
        (f"counts, {records} records",),
    )  # fmt: skip
    sums = centroids.group(records)
    return counts.compose(
        Guarantee(sums.epsilon(centroid_delta), centroid_delta, "user", "add_drop", (), (f"sums, {records} records",))
    )


def _divergence(epsilon: float, rate: float, threshold: int, size: int, records: int) -> float:
    counts = np.arange(size + 1)
    larger = np.exp(_log_binomial(counts, size, rate))
    smaller = np.exp(_log_binomial(counts, size - records, rate))
    low = counts < threshold
    larger = np.append(larger[~low], larger[low].sum())
    smaller = np.append(smaller[~low], smaller[low].sum())
    factor = math.exp(min(epsilon, 700.0))
    return max(
        float(np.maximum(larger - factor * smaller, 0).sum()), float(np.maximum(smaller - factor * larger, 0).sum())
    )


def _log_binomial(counts: np.ndarray, size: int, rate: float) -> np.ndarray:
    """ln Pr[Bin(size, rate) = count], -inf above size."""
    inside = np.minimum(counts, size)
    log_chance = gammaln(size + 1.0) - gammaln(inside + 1.0) - gammaln(size - inside + 1.0)
    log_chance += inside * math.log(rate) + (size - inside) * math.log1p(-rate)
    return np.where(counts <= size, log_chance, -np.inf)
