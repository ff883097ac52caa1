"""The discrete Gaussian mechanism: calibration is safe and tight, rho is attained, every entry is noised."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import logsumexp

from privlib.dp import (
    DiscreteGaussianMechanism,
    Secure,
    Simulation,
    discrete_gaussian_delta,
    discrete_gaussian_log_pmf,
    discrete_gaussian_noise_std,
    gaussian_noise_std,
    hockey_stick,
)

WHO = {"unit": "record", "relation": "add_drop"}
SCALAR = DiscreteGaussianMechanism(1.0, 1e-6, 2.0, 1, **WHO)
VECTOR = DiscreteGaussianMechanism(1.0, 1e-6, math.sqrt(2), (3, 4), **WHO)


@pytest.mark.parametrize("epsilon", [1e-2, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("sensitivity", [1, 5])
def test_scalar_calibration_is_safe_and_tight(epsilon, delta, sensitivity):
    std = discrete_gaussian_noise_std(epsilon, delta, sensitivity, 1)
    assert discrete_gaussian_delta(epsilon, std, sensitivity) <= delta
    assert discrete_gaussian_delta(epsilon, std * (1 - 2e-9), sensitivity) > delta
    assert discrete_gaussian_noise_std(epsilon, delta, sensitivity + 0.9, 1) == std  # an integer moves by integers


@pytest.mark.parametrize("epsilon", [5.0, 7.0, 12.0, 12.3, 20.0, 100.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_more_noise_than_calibrated_is_never_less_private(epsilon, delta):
    """The curve is not monotone in the deviation: an isolated range of it further down must not be handed out."""
    std = discrete_gaussian_noise_std(epsilon, delta, 1, 1)
    assert all(discrete_gaussian_delta(epsilon, std * factor, 1) <= delta for factor in np.geomspace(1, 3, 600))
    if (epsilon, delta) == (12.0, 1e-5):
        assert discrete_gaussian_delta(epsilon, 0.40, 1) <= delta < discrete_gaussian_delta(epsilon, 0.44, 1)
        assert 0.45 < std < 0.46


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-2])
def test_vector_calibration_is_safe_for_every_integer_shift(epsilon, delta):
    """Two entries, each moved by 1 (l2 sensitivity sqrt 2): the exact divergence of the product laws."""
    std = discrete_gaussian_noise_std(epsilon, delta, math.sqrt(2), 2)
    assert std >= 0.9 * gaussian_noise_std(epsilon, delta, math.sqrt(2))
    if std < 40:
        x = np.arange(-int(12 * std) - 12, int(12 * std) + 13)
        moved, still = (discrete_gaussian_log_pmf(x - shift, std) for shift in (1, 0))
        pair = [(law[:, None] + law[None, :]).ravel() for law in (moved, still)]
        assert hockey_stick(*pair, epsilon) <= delta
        mutant = discrete_gaussian_noise_std(epsilon, delta, 1.0, 1) * 0.95  # the l1 or one-entry sensitivity
        moved, still = (discrete_gaussian_log_pmf(x - shift, mutant) for shift in (1, 0))
        assert hockey_stick(*[(law[:, None] + law[None, :]).ravel() for law in (moved, still)], epsilon) > delta


@pytest.mark.parametrize("std", [0.4, 1.0, 7.0])
@pytest.mark.parametrize("shift", [1, 3])
def test_rho_bounds_every_order_and_is_attained_at_integer_orders(std, shift):
    reach = int(60 * std) + 200 * shift
    x = np.arange(-reach, reach + 1)
    p, q = discrete_gaussian_log_pmf(x - shift, std), discrete_gaussian_log_pmf(x, std)
    rho = shift**2 / (2 * std**2)
    for order in (1.001, 1.3, 1.5, 2.0, 2.5, 3.0, 5.0):
        renyi = float(logsumexp(order * p + (1 - order) * q)) / (order - 1)
        assert renyi <= order * rho * (1 + 1e-9)
        if order == int(order):
            assert renyi == pytest.approx(order * rho, rel=1e-10)
    mechanism = DiscreteGaussianMechanism(1.0, 1e-6, float(shift), 3, **WHO)
    assert mechanism.zcdp_under(Simulation(1)).rho == pytest.approx(shift**2 / (2 * mechanism.noise_std**2), rel=1e-15)
    assert mechanism.zcdp_under(Simulation(1)).delta(1.0) <= 1e-6


def test_what_the_record_says():
    assert str(SCALAR.guarantee) == (
        "(1, 1e-06)-DP, unit record, relation add_drop; composed of discrete Gaussian vector; "
        "assuming idealized numerics, secret seed (simulation)"
    )
    assert "idealized numerics" not in SCALAR.guarantee_under(Secure()).assumptions
    assert (SCALAR.zcdp_under(Secure()).unit, SCALAR.zcdp_under(Secure()).relation) == ("record", "add_drop")
    for mechanism in (SCALAR, VECTOR):
        assert mechanism.loss(1.0) == pytest.approx(1e-6, rel=1e-6)
        assert mechanism.loss(2.0) < 1e-9 < 1e-6 < mechanism.loss(0.5)
        assert mechanism.loss(1.0) <= 1e-6
    huge = DiscreteGaussianMechanism(1.0, 1e-6, 1e6, 1, **WHO)  # beyond the exact sum: billed by rho
    assert huge.loss(1.0) <= 1e-6
    assert 1 < huge.noise_std / gaussian_noise_std(1.0, 1e-6, 1e6) < 1.1


def test_opendps_map_states_the_same_rho():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"), size=12)
    measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=VECTOR.noise_std)
    assert measurement.map(math.sqrt(2)) == pytest.approx(VECTOR.zcdp_under(Secure()).rho, rel=1e-12)


def test_every_entry_is_noised_with_the_full_deviation(source):
    """Chi-square-like band on each of 12 second moments (below 4e-8 each); noise times 0.7 is outside."""
    runs = 300 if source.kind == "secure" else 4000
    private = np.arange(12).reshape(3, 4) * 1000
    noise = np.array([VECTOR.release(private, source) for _ in range(runs)]) - private
    assert noise.dtype == np.int64
    energy = (noise**2).mean(axis=0) / VECTOR.noise_std**2
    width = 6.2 * math.sqrt(2 / runs)
    assert (np.abs(energy - 1) < width).all()
    assert width < 0.51  # 0.49, the energy of noise times 0.7, would be outside
    flat = noise.reshape(runs, 12)
    shared = [(flat[:, i] == flat[:, j]).mean() for i in range(12) for j in range(i)]
    assert max(shared) < 0.5  # entries that share a draw would be equal always


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"l2_sensitivity": 0}, "l2_sensitivity"),
        ({"l2_sensitivity": 0.5}, "l2_sensitivity"),
        ({"l2_sensitivity": math.inf}, "l2_sensitivity"),
        ({"shape": 0}, "shape"),
        ({"unit": "row"}, "unit"),
        ({"relation": "swap"}, "relation"),
    ],
)
def test_public_parameters_are_checked(changes, name):
    with pytest.raises(ValueError, match=name):
        dataclasses.replace(SCALAR, **changes)


@pytest.mark.parametrize("private", [np.full(2, 987654), np.full(1, 987654.25), np.array([True]), np.array(["987654"])])
def test_malformed_private_data_is_refused_without_a_value(private):
    with pytest.raises((TypeError, ValueError), match="private") as refusal:
        SCALAR.release(private, Simulation(1))
    assert "98765" not in str(refusal.value)


def test_records_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SCALAR.epsilon = 100.0
