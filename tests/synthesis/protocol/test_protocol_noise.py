"""The bill of noise that users add together, against enumeration; and the way of a vector to the grid and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib.dp import ZCDP, Secure, Simulation, discrete_gaussian_delta, largest_rho
from privlib.synthesis.protocol import noise, vectors


def shifted(contributors, user_std, shift):
    _, law = noise.summed_log_pmf(contributors, user_std)
    empty = np.full(shift, -np.inf)
    return np.concatenate([empty, law]), np.concatenate([law, empty])


SMALL = [(n, s, shift) for n in (1, 2, 3, 5, 10) for s in (0.5, 0.7, 1.0, 1.5, 4.0) for shift in (1, 3)]


@pytest.mark.parametrize(("contributors", "user_std", "shift"), SMALL)
def test_the_bound_covers_the_exact_renyi_divergence(contributors, user_std, shift):
    """One entry, the sum's law enumerated: D_alpha <= alpha epsilon^2 / 2; the ends left out carry below 1e-30."""
    _, law = noise.summed_log_pmf(contributors, user_std)
    moved, still = law[:-shift], law[shift:]  # where both are inside
    rho = noise.summed_epsilon(contributors, user_std, shift, 1) ** 2 / 2
    for order in (1.5, 2.0, 4.0):
        inner = np.exp(order * moved - (order - 1) * still).sum()
        assert math.log(inner) / (order - 1) <= order * rho + 1e-12


@pytest.mark.parametrize(("contributors", "user_std", "shift"), SMALL)
def test_the_bound_covers_the_exact_curve(contributors, user_std, shift):
    rho = noise.summed_epsilon(contributors, user_std, shift, 1) ** 2 / 2
    bill = ZCDP(rho, "record", "replace")
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        exact = noise.summed_delta(epsilon, contributors, user_std, shift)
        assert exact <= bill.delta(epsilon) + 1e-12
        if contributors == 1:
            assert exact == pytest.approx(discrete_gaussian_delta(epsilon, user_std, shift), rel=1e-6, abs=1e-14)


def test_the_bound_without_psi_would_be_wrong():
    """Power: half-integer noise of many is not the discrete Gaussian of the same total; psi is there for a reason."""
    contributors, user_std = 10, 0.5
    _, law = noise.summed_log_pmf(contributors, user_std)
    without_psi = 1 / (contributors * user_std**2) / 2
    broken = [
        order
        for order in (1.5, 2.0, 4.0, 8.0, 16.0)
        if math.log(np.exp(order * law[:-1] - (order - 1) * law[1:]).sum()) / (order - 1) > order * without_psi + 1e-9
    ]
    assert broken


def test_a_bill_for_more_noise_than_there_is_is_caught():
    """Negative control: the enumeration sees a bill for 2 per cent more noise than was drawn."""
    _, law = noise.summed_log_pmf(4, 1.5)
    exact = math.log(np.exp(2 * law[:-3] - law[3:]).sum())
    assert exact > 2 * noise.summed_epsilon(4, 1.53, 3, 1) ** 2 / 2
    assert exact <= 2 * noise.summed_epsilon(4, 1.5, 3, 1) ** 2 / 2


def test_one_user_is_billed_exactly():
    assert noise.psi(1, 0.5) == 0
    assert noise.summed_epsilon(1, 3.0, 6.0, 512) == pytest.approx(2.0, rel=1e-9)
    moved, still = shifted(1, 3.0, 6)
    inside = np.isfinite(moved) & np.isfinite(still)
    moved, still = moved[inside], still[inside]
    assert math.log(np.exp(2 * moved - still).sum()) == pytest.approx(2 * 2.0**2 / 2, rel=1e-6)


def test_psi_is_negligible_at_the_smallest_part_that_is_used():
    assert noise.psi(1000, noise.SMALLEST_USER_STD) * math.sqrt(1024) < 1e-4
    assert noise.psi(10, 0.5) > 1


@pytest.mark.parametrize(("contributors", "l2", "size"), [(30, 60.0, 512), (1000, 900.0, 512), (25, 5.0, 8)])
def test_the_total_found_is_enough_and_not_more(contributors, l2, size):
    total = noise.total_std(3.0, 1e-6, contributors, contributors, l2, size)
    part = total / math.sqrt(contributors)
    assert part >= noise.SMALLEST_USER_STD
    assert noise.summed_zcdp(contributors, part, l2, size).epsilon(1e-6) <= 3.0 + 1e-9
    if part > noise.SMALLEST_USER_STD * 1.001:
        enough = math.sqrt(2 * largest_rho(3.0, 1e-6))
        assert noise.summed_epsilon(contributors, part * (1 - 1e-6), l2, size) > enough


def test_two_ways_to_share_the_noise():
    """Total in a bucket of c: S when scaled by the count, sqrt(c / tau) S when constant."""
    for count in (25, 100, 400):
        scaled = noise.user_std("count_scaled", 100.0, count, 25, 0.0)
        constant = noise.user_std("constant", 100.0, count, 25, 0.0)
        assert math.sqrt(count) * scaled == pytest.approx(100)
        assert math.sqrt(count) * constant == pytest.approx(100 * math.sqrt(count / 25))
    assert noise.user_std("off", 100.0, 25, 25, 0.0) == 0


def test_tolerated_drop_outs_are_paid_by_those_who_stay():
    assert noise.contributors_needed(100, 0.2) == 80
    assert noise.contributors_needed(10, 0.25) == 8
    assert noise.contributors_needed(100, 0.07) == 93  # 1 - .07 is above 93 hundredths in floats
    part = noise.user_std("count_scaled", 100.0, 100, 25, 0.2)
    assert math.sqrt(80) * part == pytest.approx(100)
    assert math.sqrt(100) * part == pytest.approx(100 * math.sqrt(1.25))  # the price when nobody leaves


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="1/2"):
        noise.psi(3, 0.4)
    with pytest.raises(ValueError, match="small cases"):
        noise.summed_log_pmf(1000, 1.0)
    with pytest.raises(ValueError, match="rule"):
        noise.user_std("none", 1.0, 10, 5, 0.0)


# vectors


@pytest.mark.parametrize("dimension", [1, 2, 5, 8, 384])
def test_a_rotation_keeps_norms_and_is_undone(dimension):
    rotation = vectors.Rotation(dimension, public_seed=3)
    x = Simulation(1).generator.standard_normal(dimension)
    turned = rotation.forward(x)
    assert len(turned) == rotation.size
    assert np.linalg.norm(turned) == pytest.approx(np.linalg.norm(x))
    assert rotation.backward(turned) == pytest.approx(x)


def test_a_rotation_spreads_a_vector_over_all_entries():
    spike = np.zeros(384)
    spike[7] = 1
    assert np.abs(vectors.Rotation(384, 3).forward(spike)) == pytest.approx(512**-0.5)


@pytest.mark.parametrize("source", [Simulation(2), Secure()], ids=["simulation", "secure"])
def test_rounding_is_fair(source):
    """Mean of 40,000 roundings of .3: deviation .0023; 8 of them, false alarm below 1e-14."""
    drawn = vectors.rounded(np.full(40_000, 0.3 * 0.5), 0.5, source)
    assert set(drawn.tolist()) == {0, 1}
    assert abs(drawn.mean() - 0.3) < 8 * 0.0023


@given(st.integers(0, 10_000), st.floats(1e-3, 10))
def test_under_the_same_coins_rounding_moves_a_difference_by_less_than_a_step_an_entry(seed, step):
    draw = Simulation(seed).child("points").generator
    x, y = draw.normal(size=(2, 16))
    a, b = (vectors.rounded(v, step, Simulation(seed)) for v in (x, y))
    assert (np.abs((a - b) - (x - y) / step) < 1 + 1e-9).all()
    assert np.linalg.norm(a - b) <= vectors.grid_sensitivity(np.linalg.norm(x - y), step, 16)


def test_with_coins_of_their_own_the_difference_is_larger():
    """Why the proof couples the coins: independent ones reach past one step."""
    x, y = np.full(2000, 0.9), np.full(2000, 0.1)
    a, b = (vectors.rounded(v, 1.0, Simulation(seed)) for v, seed in ((x, 1), (y, 2)))
    assert (np.abs((a - b) - (x - y)) > 1.5).any()


@pytest.mark.parametrize(("x", "y"), [(0.9, 0.1), (0.0, 1.5), (2.3, -0.4), (0.49, 0.51)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
def test_rounding_and_noise_together_are_within_the_bill(x, y, epsilon):
    """Every coin and noise, one entry, three users, of whom one has x or y: the others' sum only shifts it."""

    def law(value):
        low, chance = math.floor(value), value - math.floor(value)
        shifted_laws = np.zeros(len(sum_law) + 12)
        for rounding, share in ((low, 1 - chance), (low + 1, chance)):
            shifted_laws[6 + rounding : 6 + rounding + len(sum_law)] += share * sum_law
        return shifted_laws

    sum_law = np.exp(noise.summed_log_pmf(3, 1.5)[1])
    p, q = law(x), law(y)
    exact = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))
    rho = noise.summed_epsilon(3, 1.5, vectors.grid_sensitivity(abs(x - y), 1.0, 1), 1) ** 2 / 2
    assert exact <= ZCDP(rho, "record", "replace").delta(epsilon)
    assert exact > 0 or epsilon > 0.5 or abs(x - y) < 0.1
