"""Dummies: their bill against every outcome of small cases, and the law that is drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privlib.dp import Secure, Simulation, hockey_stick, threshold_delta, truncated_shifted_discrete_laplace_log_pmf
from privlib.synthesis import lemma1
from privlib.synthesis.protocol import dummies


def padded(shift, scale, move):
    """Logarithms of the law of X + move on -1..2 shift + 1."""
    law = np.full(2 * shift + 3, -np.inf)
    law[1 + move : 2 + 2 * shift + move] = truncated_shifted_discrete_laplace_log_pmf(
        np.arange(2 * shift + 1), shift, scale
    )
    return law


@pytest.mark.parametrize(("shift", "scale"), [(1, 0.4), (2, 1.0), (3, 0.5), (5, 2.5), (9, 2.0), (20, 3.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.8, 2.0, 4.0, math.inf])
def test_the_bill_of_two_moved_entries_is_exact(shift, scale, epsilon):
    """All pairs of numbers of dummies, both directions, entries moving against each other."""
    still, up, down = (padded(shift, scale, move) for move in (0, 1, -1))
    without = np.add.outer(still, still).ravel()
    with_record = np.add.outer(down, up).ravel()
    claimed = dummies.pair_delta(epsilon, shift, scale)
    for p, q in ((with_record, without), (without, with_record)):
        assert hockey_stick(p, q, epsilon) == pytest.approx(claimed, rel=1e-9, abs=1e-15)
        assert hockey_stick(p, q, epsilon) <= claimed + 1e-15


def test_the_bill_covers_an_entry_that_moves_alone():
    """A first report and one that makes a tag heavy move one entry only: never dearer."""
    for move in (-1, 1):
        pair = padded(4, 1.5, move), padded(4, 1.5, 0)
        for epsilon in (0.0, 0.5, 1.0, 2.0):
            alone = max(hockey_stick(*pair, epsilon), hockey_stick(*pair[::-1], epsilon))
            assert 0 < alone < dummies.pair_delta(epsilon, 4, 1.5)


def view_law(records, rate, threshold, shift, scale):
    """What the synthesis server sees of one bucket: low histogram with dummies, and the heavy count; all outcomes."""
    pmf = np.exp(truncated_shifted_discrete_laplace_log_pmf(np.arange(2 * shift + 1), shift, scale))
    law: dict = {}
    for kept in range(records + 1):
        chance = math.comb(records, kept) * rate**kept * (1 - rate) ** (records - kept)
        for drawn in itertools.product(range(2 * shift + 1), repeat=threshold - 1):
            histogram = list(drawn)
            if 1 <= kept < threshold:
                histogram[kept - 1] += 1
            view = (tuple(histogram), kept if kept >= threshold else 0)
            law[view] = law.get(view, 0.0) + chance * math.prod(pmf[number] for number in drawn)
    return law


def divergence(p, q, epsilon):
    return math.fsum(max(0.0, chance - math.exp(epsilon) * q.get(view, 0.0)) for view, chance in p.items())


CASES = [(0.4, 3, 3, 1.0), (0.3, 3, 2, 0.7), (0.5, 2, 4, 1.5), (0.2, 3, 3, 2.0), (0.6, 3, 5, 1.0), (0.1, 2, 1, 0.5)]


@pytest.mark.parametrize("case", CASES)
def test_all_that_the_synthesis_server_sees_is_within_its_bill(case):
    """Every outcome for buckets of up to 7 records, both directions."""
    rate, threshold, shift, scale = case
    laws = [view_law(records, *case) for records in range(8)]
    for epsilon in (-math.log1p(-rate), 1.0, 1.7, 2 / scale, 5.0):
        if epsilon < -math.log1p(-rate):
            continue
        add = max(divergence(laws[n], laws[n - 1], epsilon) for n in range(1, 8))
        drop = max(divergence(laws[n - 1], laws[n], epsilon) for n in range(1, 8))
        claimed = dummies.reports_delta(epsilon, rate, threshold, shift, scale)
        assert add <= claimed
        assert drop < 1e-15  # rounding of the enumeration
        assert add >= threshold_delta(math.inf, rate, threshold) * (1 - 1e-9)  # the bill is no idle one
        assert claimed <= threshold_delta(epsilon, rate, threshold) + rate * dummies.pair_delta(0.0, shift, scale)


@pytest.mark.parametrize("case", CASES)
def test_the_enumeration_sees_missing_dummies(case):
    """Negative control: dummies that are always s hide nothing; the bill must be broken."""
    rate, threshold, shift, scale = case
    epsilon = max(2 / scale, -math.log1p(-rate))
    laws = [view_law(records, rate, threshold, shift, 0.01) for records in range(2)]
    assert divergence(laws[1], laws[0], epsilon) == pytest.approx(rate)
    assert rate > dummies.reports_delta(epsilon, *case)


def test_the_published_parts_add_up():
    epsilon, delta = dummies.published_bill(0.5, 50, 4, 30, 2.0)
    fre = lemma1(4, 0.5, 50)
    assert epsilon == max(fre[0], 1.0)
    assert delta == pytest.approx(fre[1] + dummies.pair_delta(1.0, 30, 2.0))
    assert delta > max(fre[1], dummies.pair_delta(1.0, 30, 2.0))


def test_sampling_makes_the_dummies_cheaper():
    """At equal epsilon the proved low part is a rate's share of the pair's delta at a larger epsilon."""
    low = dummies.reports_delta(2.0, 0.3, 30, 20, 1.0) - threshold_delta(2.0, 0.3, 30)
    assert 0 < low < 0.31 * dummies.pair_delta(2.0, 20, 1.0)


def test_the_shift_found_is_enough_and_small():
    for scale, delta in ((1.0, 1e-6), (4.0, 1e-8), (25.0, 1e-6)):
        shift = dummies.dummy_shift(2 / scale, delta, scale)
        assert dummies.pair_delta(2 / scale, shift, scale) <= delta
        assert dummies.pair_delta(2 / scale, int(0.97 * shift) - 1, scale) > delta


@pytest.mark.parametrize("noise", [Simulation(3), Secure()], ids=["simulation", "secure"])
def test_dummies_are_drawn_for_every_multiplicity_from_the_stated_law(noise):
    """12,000 multiplicities: chi-square over 0..6, 6 degrees, false alarm below 1e-8 at 49."""
    drawn = dummies.draw_dummies(12_001, 3, 1.2, noise)
    assert len(drawn) == 12_000
    expected = 12_000 * np.exp(truncated_shifted_discrete_laplace_log_pmf(np.arange(7), 3, 1.2))
    seen = np.bincount(drawn, minlength=7)
    assert len(seen) == 7
    assert ((seen - expected) ** 2 / expected).sum() < 49
    other = 12_000 * np.exp(truncated_shifted_discrete_laplace_log_pmf(np.arange(7), 3, 1.0))
    assert ((seen - other) ** 2 / other).sum() > 49  # power: another scale is seen


def test_without_a_low_part_there_are_no_dummies():
    assert len(dummies.draw_dummies(1, 3, 1.0, Simulation(1))) == 0
    assert dummies.reports_delta(2.0, 0.3, 1, 3, 1.0) == threshold_delta(2.0, 0.3, 1)
    assert dummies.expected_dummies(4, 10) == 10 * (1 + 2 + 3)


def test_an_epsilon_below_what_the_coins_cost_is_refused():
    with pytest.raises(ValueError, match="at least ln"):
        dummies.reports_delta(0.3, 0.5, 10, 5, 1.0)
    with pytest.raises(ValueError, match="2 / scale"):
        dummies.dummy_shift(0.5, 1e-6, 1.0)


def test_a_shift_without_end_is_refused_by_name_before_memory_is_taken():
    assert 0 < dummies.pair_delta(1.0, dummies.LARGEST_SHIFT, 1e6) < 1
    for shift in (dummies.LARGEST_SHIFT + 1, 10**15):
        with pytest.raises(ValueError, match=rf"^shift must be at most 1048576, got {shift}$"):
            dummies.reports_delta(2.0, 0.3, 30, shift, 1.0)
    with pytest.raises(ValueError, match=r"^scale must be smaller: no shift up to 1048576 .* got 1000000000000.0$"):
        dummies.dummy_shift(1.0, 1e-6, 1e12)


def test_a_wide_law_has_a_shift_too():
    """A scale above 200 is illegal at shift 1, where the walk began."""
    shift = dummies.dummy_shift(2 / 1000.0, 1e-6, 1000.0)
    assert dummies.pair_delta(2 / 1000.0, shift, 1000.0) <= 1e-6 < dummies.pair_delta(2 / 1000.0, shift - 200, 1000.0)
