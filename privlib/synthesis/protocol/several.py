r"""Users with several records: three bills, one of them usable.

- **Capped** (`Settings.bucket_cap` c): a user takes part in at most c buckets with one record in each. Records in
  different buckets touch different counts and sums, so what is published costs c times a record's bill; the dummies'
  histogram is shared, so the synthesis server's view is billed as c steps, one after another (`group_bill`).
- **Group**: any records, at most m of them: (m epsilon, delta (e^{m epsilon} - 1) / (e^epsilon - 1)).
- **Direct**: l records of a user in one bucket, billed at once. Bin(N, p) against Bin(N - l, p) for the count; given a
  count n <= N - l the kept sets couple so that at most l members are exchanged, so the sum moves by at most l Delta;
  larger n have no partner and are all in the count's delta (`user_counts`).
"""

from __future__ import annotations

from privlib.dp import ZCDP, Guarantee, checks
from privlib.synthesis.user_counts import threshold_delta_for_user


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
