"""Users of several records: what is cut, and that the bill covers all of a user's records at once."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, norm

from privlib.dp import Guarantee, Secure, Simulation
from privlib.synthesis import AnchoredBuckets, CentroidRelease, InfeasibleBudget, joint_delta
from privlib.synthesis.user_counts import threshold_delta_for_user
from privlib.synthesis.users import UserRelease, capped_rows

D = 6
BUCKETS = AnchoredBuckets.at(np.eye(D)[:4], radius=0.4)


def release(**changes) -> UserRelease:
    return UserRelease(**{"buckets": BUCKETS, "epsilon": 8.0, "delta": 1e-6, "rate": 0.5, "threshold": 40} | changes)


def collection(seed: int, users: int = 40, n: int = 600):
    draw = Simulation(seed).generator
    return draw.integers(0, 7, (n, 2)), [f"user {k}" for k in draw.integers(0, users, n)], draw.permutation(n)


@pytest.mark.parametrize(("buckets", "records"), [(1, 1), (3, 1), (1, 4), (2, 3), (99, 99)])
def test_the_cut_against_a_plain_loop(buckets, records):
    tags, owners, order = collection(1)
    expected, met = [], defaultdict(list)
    for row in order:
        mine, tag = met[owners[row]], tuple(tags[row])
        held = Counter(mine)
        if (tag in held or len(held) < buckets) and held[tag] < records:
            mine.append(tag)
            expected.append(row)
    found = capped_rows(tags, owners, order, buckets, records)
    np.testing.assert_array_equal(found, sorted(expected))
    assert (len(found) == len(tags)) == (buckets == 99)


def test_what_a_user_keeps_depends_on_its_own_records_alone():
    """Drop each of ten users in turn, the order of the others unchanged: the others keep what they kept."""
    tags, owners, order = collection(2)
    everyone = set(capped_rows(tags, owners, order, 2, 2).tolist())
    for gone in sorted(set(owners))[:10]:
        rest = [row for row, owner in enumerate(owners) if owner != gone]
        place = {row: new for new, row in enumerate(rest)}
        shorter = np.array([place[row] for row in order if row in place])
        kept = capped_rows(tags[rest], [owners[row] for row in rest], shorter, 2, 2)
        assert {rest[row] for row in kept} == {row for row in everyone if owners[row] != gone}


def test_every_record_of_a_user_may_be_the_one_that_is_kept():
    """One user of five records in one bucket, cap 1: each is kept about 100 of 500 times, 6 standard deviations."""
    kept = Counter(
        int(capped_rows(np.zeros((5, 1), int), ["a"] * 5, Simulation(seed).permutation(5), 1, 1)[0])
        for seed in range(500)
    )
    assert all(abs(kept[row] - 100) < 6 * math.sqrt(500 * 0.2 * 0.8) for row in range(5))


def hockey_stick(epsilon: float, noise: float, rate: float, threshold: int, size: int, records: int) -> float:
    """One bucket on a line by integration: the others at 0, a user's `records` at 1; both directions.

    Of n kept, a hypergeometric number are the user's: the sum is a mixture of normal laws at 0 .. records.
    """
    z = np.linspace(-9 * noise, records + 9 * noise, 6001)
    at = [norm(j, noise).pdf(z) for j in range(records + 1)]
    larger, smaller = binom(size, rate), binom(size - records, rate)
    totals = []
    for sign in (1, -1):
        silent = [law.cdf(threshold - 1) for law in (larger, smaller)][::sign]
        total = max(0.0, silent[0] - math.exp(epsilon) * silent[1])
        for n in range(threshold, size + 1):
            own = hypergeom(size, records, n).pmf(range(records + 1))
            pair = (larger.pmf(n) * sum(p * law for p, law in zip(own, at, strict=True)), smaller.pmf(n) * at[0])
            first, second = pair[::sign]
            total += np.maximum(0, first - math.exp(epsilon) * second).sum() * (z[1] - z[0])
        totals.append(total)
    return max(totals)


@pytest.mark.parametrize("records", [2, 3])
def test_the_direct_bill_covers_every_small_bucket_by_integration(records):
    """Large delta, low threshold; the bill of a single record's noise, or of its count, would not cover."""
    epsilon, delta, rate, threshold = 2.0, 0.25, 0.3, 4
    mechanism = release(epsilon=epsilon, delta=delta, rate=rate, threshold=threshold, records_cap=records).one_bucket
    noise = mechanism.noise_std(Simulation(0)) / BUCKETS.diameter
    worst = max(hockey_stick(epsilon, noise, rate, threshold, size, records) for size in range(records, 16))
    assert 0.01 < worst <= delta
    single = release(epsilon=epsilon, delta=0.02, rate=rate, threshold=threshold).noise_std(Simulation(0))
    assert joint_delta(epsilon, single / BUCKETS.diameter, rate, threshold) <= 0.02
    beyond = [
        hockey_stick(epsilon, single / BUCKETS.diameter, rate, threshold, size, records) for size in range(records, 16)
    ]
    assert max(beyond) > 0.02 * 1.5


def count_law(size: int, rate: float, threshold: int) -> np.ndarray:
    law = binom(size, rate).pmf(range(size + 1))
    return np.append(law[threshold:], law[:threshold].sum())


def test_buckets_of_one_user_compose():
    """The counts of two buckets, a record of the user in each, as one product law: by enumeration, both directions."""
    rate, threshold, epsilon = 0.3, 2, 0.6
    one = threshold_delta_for_user(epsilon, rate, threshold, 1)
    worst = 0.0
    for sizes in itertools.product(range(2, 7), repeat=2):
        larger = np.outer(*(count_law(size, rate, threshold) for size in sizes))
        smaller = np.zeros_like(larger)
        parts = [count_law(size - 1, rate, threshold) for size in sizes]
        # the smaller side never reaches the top count: the symbol below the threshold stays the last entry
        padded = [np.append(np.append(part[:-1], 0.0), part[-1]) for part in parts]
        smaller[:] = np.outer(*padded)
        for p, q in ((larger, smaller), (smaller, larger)):
            worst = max(worst, np.maximum(0, p - math.exp(2 * epsilon) * q).sum())
    assert one < worst <= 2 * one  # one bucket's bill does not cover two


@pytest.mark.parametrize(("buckets", "records"), [(1, 1), (3, 1), (1, 2), (2, 3)])
def test_the_bill_adds_up_to_at_most_the_budget(buckets, records):
    mechanism = release(bucket_cap=buckets, records_cap=records, threshold=60)
    one = mechanism.one_bucket
    assert Fraction(one.epsilon) * buckets <= Fraction(8.0)
    assert Fraction(one.delta) * buckets <= Fraction(1e-6)
    assert one.epsilon * buckets == pytest.approx(8.0, rel=1e-12)
    for noise in (Simulation(0), Secure()):
        bill = mechanism.guarantee_under(noise)
        assert (bill.epsilon, bill.delta, bill.unit, bill.relation) == (8.0, 1e-6, "user", "add_drop")
        assert all(f"{records} records in each of {buckets} buckets" in part for part in bill.composed)
    assert mechanism.noise_std(Secure()) > 0.99 * mechanism.noise_std(Simulation(0))


def test_more_records_in_a_bucket_cost_more_noise_and_one_costs_what_a_record_costs():
    stds = [release(records_cap=cap, threshold=60).noise_std(Simulation(0)) for cap in (1, 2, 4)]
    assert stds[0] == CentroidRelease(BUCKETS, 8.0, 1e-6, 0.5, 60).noise_std(Simulation(0))
    assert stds[1] > 1.5 * stds[0]
    assert stds[2] > 1.5 * stds[1]
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        release(records_cap=20)


def test_a_release_holds_no_more_of_a_user_than_the_caps():
    """One user of 500 records in each bucket beside 150 quiet ones: its buckets would be heavy without the cut."""
    quiet = np.repeat(np.eye(D)[:1], 150, axis=0)
    busy = np.tile(np.eye(D)[1:4], (500, 1))
    owners = [f"user {k}" for k in range(150)] + ["busy"] * 1500
    out = release(bucket_cap=2, records_cap=2, threshold=50).release(np.vstack([quiet, busy]), owners, Simulation(1))
    assert out.cells[:, 0].tolist() == [0]
    assert out.guarantee.unit == "user"
    uncut = CentroidRelease(BUCKETS, 8.0, 1e-6, 0.5, 50).release(np.vstack([quiet, busy]), Simulation(1))
    assert len(uncut) == 4
    again = release(bucket_cap=2, records_cap=2, threshold=50).release(np.vstack([quiet, busy]), owners, Simulation(1))
    np.testing.assert_array_equal(out.centroids, again.centroids)


def test_which_record_enters_is_drawn_and_not_the_first_of_the_file():
    """400 users of two records each, .3 apart: the mean lies half-way, within 6 standard errors of .0106."""

    class Silent(Simulation):
        def child(self, name):
            child = super().child(name)
            child.__class__ = Silent
            return child

        def add_gaussian(self, values, std):
            return np.asarray(values, dtype=float)

    data = np.tile([np.eye(D)[0], np.eye(D)[0] + 0.3 * np.eye(D)[5]], (400, 1))
    out = release().release(data, np.repeat(np.arange(400), 2), Silent(1))
    assert abs(out.centroids[0, 5] - 0.15) < 6 * 0.15 / math.sqrt(200) < 0.15
    assert out.counts[0] < 400


def test_group_privacy_of_the_record_release_is_stated_and_hopeless():
    record = CentroidRelease(BUCKETS, 4.0, 1e-6, 0.5, 40).guarantee
    users = record.for_users(3)
    assert (users.unit, users.epsilon) == ("user", 12.0)
    assert users.delta == pytest.approx(1e-6 * math.expm1(12) / math.expm1(4), rel=1e-9)
    assert record.for_users(5).delta == 1.0
    assert isinstance(users, Guarantee)


def test_owners_and_caps_are_checked():
    with pytest.raises(ValueError, match="owners"):
        release().release(np.zeros((3, D)), ["a"], Simulation(1))
    with pytest.raises(ValueError, match="finite"):
        release().release(np.full((1, D), np.nan), ["a"], Simulation(1))
    for name in ("bucket_cap", "records_cap"):
        with pytest.raises(ValueError, match=name):
            release(**{name: 0})
    assert len(release().release(np.zeros((0, D)), [], Simulation(1))) == 0
