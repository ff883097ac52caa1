"""The published calibration, to the digit, and its refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from privlib.dp import gaussian_delta
from privlib.synthesis import (
    InfeasibleBudget,
    calibrate,
    collision_probability,
    composed_noise_multiplier,
    joint_noise_multiplier,
    lemma1,
    lemma_noise_multiplier,
    threshold_count,
    threshold_delta,
)

PAPER = [  # epsilon, rate, tau, v, multiplier before and after rounding up, sigma at r = .5
    (4, 0.3, 30, 4, 1.7734, 1.78, 2.136),
    (8, 0.5, 50, 4, 0.9426, 0.95, 1.14),
    (16, 0.6, 60, 3, 0.4291, 0.43, 0.516),
]


@pytest.mark.parametrize(("epsilon", "rate", "tau", "v", "exact", "printed", "sigma"), PAPER)
def test_the_papers_table_to_the_digit(epsilon, rate, tau, v, exact, printed, sigma):
    bill = calibrate(epsilon, 1e-6, rate, tau, v, 2.4, 20)
    assert bill.noise_multiplier == pytest.approx(exact, abs=5e-5)
    assert bill.published_multiplier == printed
    assert bill.noise_std(0.5) == pytest.approx(sigma, rel=1e-12)
    assert bill.epsilon_threshold + bill.epsilon_centroid == pytest.approx(epsilon, rel=1e-15)
    assert bill.delta_threshold + bill.delta_centroid + bill.delta_sensitivity == pytest.approx(1e-6, rel=1e-15)
    # what is left to the Gaussian is spent, not exceeded
    assert gaussian_delta(bill.epsilon_centroid, bill.noise_multiplier, 1.0) <= bill.delta_centroid * (1 + 1e-9)
    assert bill.delta_sensitivity == pytest.approx(8.9e-11, abs=0.05e-11)


def test_taus_of_the_paper_come_from_exact_fractions():
    assert [threshold_count(rate, 100) for rate in (0.3, 0.5, 0.6, 1)] == [30, 50, 60, 100]
    assert threshold_count(0.07, 100) == 7
    assert math.ceil(0.07 * 100) == 8  # what a product of floats would do
    assert threshold_count(Fraction(1, 3), 100) == 34
    assert threshold_count("0.29", 100) == 29
    for bad in (0, 1.2, -0.1):
        with pytest.raises(ValueError, match="rate"):
            threshold_count(bad, 10)
    with pytest.raises(TypeError, match="frequency"):
        threshold_count(0.5, 10.0)


@pytest.mark.parametrize("v", [0.5, 1.0, 3.0, 4.7])
@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_lemma1_is_its_formula(v, rate):
    epsilon, delta = lemma1(v, rate, 30)
    q = 1 - (1 - rate) ** (v + 1)
    divergence = q * math.log(q / rate) + (1 - q) * math.log((1 - q) / (1 - rate))
    assert epsilon == pytest.approx(v * math.log(1 / (1 - rate)), rel=1e-12)
    assert delta == pytest.approx(math.exp(-30 / q * divergence), rel=1e-9)


def test_a_rate_of_a_tenth_exhausts_delta_for_every_v_up_to_five_and_not_beyond():
    values = [lemma1(v, 0.1, 10)[1] for v in np.linspace(0.01, 5, 200)]
    assert min(values) > 4e-5
    assert lemma1(10, 0.1, 10)[1] < 1e-6


@pytest.mark.parametrize("c", [1e-6, 0.1, 2 / 2.4, 1.0, 5.0, 50.0])
def test_collision_probability_is_the_expectation_it_stands_for(c):
    expected, _ = quad(lambda g: max(0.0, 1 - abs(g) / c) * math.exp(-g * g / 2), -c, c, points=[0.0], epsabs=0)
    assert collision_probability(1.0, c, 1) == pytest.approx(expected / math.sqrt(2 * math.pi), rel=1e-9)
    assert collision_probability(1.0, c / math.sqrt(3), 3) == pytest.approx(
        (expected / math.sqrt(2 * math.pi)) ** 3, rel=1e-8
    )


def test_collision_probability_at_the_edges():
    assert collision_probability(0, 0.5, 4) == 1.0
    assert collision_probability(math.inf, 0.5, 4) == 0.0
    grid = collision_probability(np.linspace(0.0, 9.0, 50), 0.5, 4)
    assert grid.shape == (50,)
    assert np.all(np.diff(grid) < 0)
    # u depends on k: the paper's u at k = 10
    assert collision_probability(2.4, 2 / math.sqrt(10), 10) == pytest.approx(9.5e-6, rel=0.01)
    with pytest.raises(ValueError, match="distance"):
        collision_probability(-1.0, 0.5, 4)


@pytest.mark.parametrize(
    ("arguments", "term"),
    [
        ((1, 1e-6, 0.3, 30, 4, 2.4, 20), "epsilon_threshold"),
        ((4, 1e-6, 0.1, 10, 5, 2.4, 20), "delta_threshold"),
        ((4, 1e-6, 0.3, 30, 4, 2.4, 10), "delta_sensitivity"),
    ],
)
def test_an_infeasible_corner_names_the_term_that_ate_the_budget(arguments, term):
    with pytest.raises(InfeasibleBudget, match=term) as caught:
        calibrate(*arguments)
    assert caught.value.term == term


@pytest.mark.parametrize("name", ["epsilon", "delta", "rate", "threshold", "v", "ratio", "dims"])
def test_every_public_parameter_is_needed_and_checked(name):
    good = {"epsilon": 4, "delta": 1e-6, "rate": 0.3, "threshold": 30, "v": 4, "ratio": 2.4, "dims": 20}
    calibrate(**good)
    with pytest.raises(TypeError):
        calibrate(**{key: value for key, value in good.items() if key != name})
    for bad in (0, -1, math.nan, "1", None):
        with pytest.raises((ValueError, TypeError), match=name):
            calibrate(**good | {name: bad})


def test_each_accounting_needs_no_more_noise_than_the_one_before():
    for epsilon, rate, tau, v, *_ in PAPER:
        paper = calibrate(epsilon, 1e-6, rate, tau, v, 2.4, 20).noise_multiplier
        best, best_v = lemma_noise_multiplier(epsilon, 1e-6, rate, tau)
        exact, (epsilon_used, delta_used) = composed_noise_multiplier(epsilon, 1e-6, rate, tau)
        joint = joint_noise_multiplier(epsilon, 1e-6, rate, tau)
        assert paper > best > exact > joint
        assert best_v != pytest.approx(v, abs=0.5)
        assert threshold_delta(epsilon_used, rate, tau) == delta_used
        assert gaussian_delta(epsilon - epsilon_used, exact, 1.0) + delta_used <= 1e-6 * (1 + 1e-9)


def test_what_joint_accounting_saves_at_epsilon_four():
    joint = joint_noise_multiplier(4, 1e-6, 0.3, 30)
    assert calibrate(4, 1e-6, 0.3, 30, 4, 2.4, 20).noise_multiplier / joint == pytest.approx(1.93, abs=0.01)
    assert lemma_noise_multiplier(4, 1e-6, 0.3, 30)[0] / joint == pytest.approx(1.65, abs=0.01)


def test_the_threshold_alone_may_be_infeasible():
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        composed_noise_multiplier(1, 1e-6, 0.5, 10)
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        lemma_noise_multiplier(1, 1e-6, 1.0, 100)
