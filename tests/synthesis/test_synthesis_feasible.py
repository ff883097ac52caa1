"""The region of rates and frequencies that a budget allows, by the lemma and exactly."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from privlib.synthesis import InfeasibleBudget, joint_noise_multiplier, lemma1, threshold_count, threshold_delta
from privlib.synthesis.feasible import feasible_region, least_frequency, lemma_delta

HUNDREDTHS = [k / 100 for k in range(1, 100)]
TWENTIETHS = [k / 20 for k in range(1, 20)]


@pytest.mark.parametrize(
    ("epsilon", "rates", "bill", "least"),
    [
        (4, HUNDREDTHS, partial(lemma_delta, largest_v=5), 43),
        (4, HUNDREDTHS, lemma_delta, 38),
        (4, HUNDREDTHS, threshold_delta, 36),
        (4, TWENTIETHS, threshold_delta, 37),
        (1, HUNDREDTHS, lemma_delta, 78),
        (1, HUNDREDTHS[19:], threshold_delta, 52),
        (1, TWENTIETHS, threshold_delta, 53),
    ],
)
def test_the_paper_says_100_and_much_less_is_enough(epsilon, rates, bill, least):
    """delta = 1e-6. On hundredths the exact bound lies one below what it is on twentieths."""
    assert least_frequency(bill, epsilon, 1e-6, rates) == least
    assert least < 100


def test_exactly_feasible_is_what_the_joint_accounting_can_calibrate():
    rates, frequencies = [0.1, 0.3, 0.45, 0.7], [30, 36, 40, 60]
    region = feasible_region(threshold_delta, 4, 1e-6, rates, frequencies)
    assert 0 < region.sum() < region.size
    for i, rate in enumerate(rates):
        for j, frequency in enumerate(frequencies):
            threshold = threshold_count(rate, frequency)
            if region[i, j]:
                assert joint_noise_multiplier(4, 1e-6, rate, threshold) > 0
            else:
                with pytest.raises(InfeasibleBudget, match="delta_threshold"):
                    joint_noise_multiplier(4, 1e-6, rate, threshold)


def test_the_lemmas_region_lies_inside_the_exact_one_and_is_bounded_on_both_sides():
    frequencies = range(30, 121, 10)
    by_lemma = feasible_region(lemma_delta, 4, 1e-6, TWENTIETHS, frequencies)
    exactly = feasible_region(threshold_delta, 4, 1e-6, TWENTIETHS, frequencies)
    assert np.all(by_lemma <= exactly)
    assert exactly.sum() > by_lemma.sum()
    column = by_lemma[:, list(frequencies).index(50)]
    assert column.any()
    assert not column[0]
    assert not column[-1]


def test_the_largest_v_is_the_best_one_for_delta():
    for v in (0.5, 1, 2, 4):
        epsilon, delta = lemma1(v, 0.4, 20)
        assert lemma_delta(epsilon * (1 + 1e-12), 0.4, 20) <= delta * (1 + 1e-9)
        assert lemma_delta(epsilon, 0.4, 20, largest_v=v / 2) > delta


def test_what_no_frequency_allows_is_an_error():
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        least_frequency(lambda epsilon, rate, threshold: 1.0, 1.0, 1e-6, [0.5])
    with pytest.raises(ValueError, match="rate"):
        lemma_delta(1.0, 1.0, 5)
