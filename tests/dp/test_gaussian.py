"""Calibration of Gaussian noise: published figures, other accountants, a slow exact twin, corners."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.dp import gaussian_delta, gaussian_epsilon, gaussian_noise_std

SIZES = {"Yelp": 1_939_290, "OpenReview": 8_396, "PubMed": 75_316}
AUG_PE = {  # published multiplier and the epsilon that the exact curve gives it (golden.md)
    ("Yelp", 1): (15.34, 1.004),
    ("Yelp", 2): (8.03, 2.002),
    ("Yelp", 4): (4.24, 4.005),
    ("OpenReview", 1): (11.60, 1.000),
    ("OpenReview", 2): (6.22, 1.997),
    ("OpenReview", 4): (3.38, 3.992),
    ("PubMed", 1): (13.26, 0.999),
    ("PubMed", 2): (7.01, 1.997),
    ("PubMed", 4): (3.75, 3.999),
}


def twin(epsilon: float, mu: float):
    """The textbook closed form with 400 digits, where its cancellation does no harm."""
    with mpmath.workdps(400):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize(("corpus", "epsilon"), AUG_PE)
def test_aug_pe_noise_multipliers(corpus, epsilon):
    """Ten rounds of a sensitivity-1 histogram are one release of l2 sensitivity sqrt(10)."""
    n = SIZES[corpus]
    published, exact = AUG_PE[corpus, epsilon]
    delta = 1 / (n * math.log(n))
    assert gaussian_epsilon(delta, published, math.sqrt(10)) == pytest.approx(exact, abs=6e-4)
    assert gaussian_noise_std(epsilon, delta, math.sqrt(10)) == pytest.approx(published, rel=5e-3)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.01, 0.3, 1.0, 5.0, 20.0, 300.0, 1e5])
@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.05, 0.4, 0.999, 1.001, 2.5, 6.0, 40.0, 500.0])
def test_delta_agrees_with_400_digits_and_is_never_below(epsilon, mu):
    exact = twin(epsilon, mu)
    got = gaussian_delta(epsilon, 1 / mu, 1.0)
    if exact < mpmath.mpf(10) ** -300:
        assert got < 1e-299
    else:
        assert got >= exact * (1 - mpmath.mpf(10) ** -15)
        assert got == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_round_trip_over_ten_decades(delta):
    """sigma(epsilon(sigma)) = sigma (smartnoise-core#316, #243: a wrong sign, a missing root)."""
    for decade in range(-5, 6):
        std = 3.0 * 10.0**decade
        epsilon = gaussian_epsilon(delta, std, 1.0)
        if epsilon == 0:
            assert gaussian_delta(0.0, std, 1.0) <= delta
        else:
            assert gaussian_noise_std(epsilon, delta, 1.0) == pytest.approx(std, rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 2.0, 10.0, 50.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-2])
def test_three_accountants_agree(epsilon, delta):
    import dp_accounting
    from dp_accounting.pld import privacy_loss_mechanism

    std = gaussian_noise_std(epsilon, delta, 1.0)
    assert std == pytest.approx(dp_accounting.get_sigma_gaussian(epsilon, delta), rel=1e-6)
    assert gaussian_epsilon(delta, std, 1.0) == pytest.approx(epsilon, rel=1e-10)
    loss = privacy_loss_mechanism.GaussianPrivacyLoss(standard_deviation=std, pessimistic_estimate=True)
    assert loss.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-6)


RANGES = {"epsilon": st.floats(-8, 6).map(lambda x: 10**x), "delta": st.floats(-250, -1e-4).map(lambda x: 10**x)}


@settings(derandomize=True, deadline=None, max_examples=150)
@given(**RANGES, sensitivity=st.floats(-30, 30).map(lambda x: 10**x))
def test_calibration_is_safe_minimal_and_scales(epsilon, delta, sensitivity):
    std = gaussian_noise_std(epsilon, delta, sensitivity)
    assert gaussian_delta(epsilon, std, sensitivity) <= delta
    # near delta = 1 and tiny epsilon the curve is flat: minimal means within a rounding of delta there
    assert gaussian_delta(epsilon, std * (1 - 1e-6), sensitivity) > delta * (1 - 1e-6)
    assert std == pytest.approx(sensitivity * gaussian_noise_std(epsilon, delta, 1.0), rel=1e-9)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(delta=RANGES["delta"], std=st.floats(-5, 5).map(lambda x: 10**x))
def test_epsilon_is_safe_and_minimal(delta, std):
    epsilon = gaussian_epsilon(delta, std, 1.0)
    assert gaussian_delta(epsilon, std, 1.0) <= delta
    if epsilon > 1e-6:
        assert gaussian_delta(epsilon * (1 - 1e-6), std, 1.0) > delta * (1 - 1e-9)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(epsilon=RANGES["epsilon"], std=st.floats(-3, 3).map(lambda x: 10**x), factor=st.floats(1.001, 10))
def test_delta_falls_in_epsilon_and_in_noise(epsilon, std, factor):
    here = gaussian_delta(epsilon, std, 1.0)
    assert gaussian_delta(epsilon * factor, std, 1.0) <= here * (1 + 1e-9)
    assert gaussian_delta(epsilon, std * factor, 1.0) <= here * (1 + 1e-9)
    assert 0 <= here <= 1


def test_corners():
    assert gaussian_delta(math.inf, 1.0, 1.0) == 0.0
    assert gaussian_delta(0.0, 1.0, 1.0) == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-12)  # total variation
    assert gaussian_delta(1.0, 1e-50, 1.0) == 1.0
    assert gaussian_delta(1.0, 1e90, 1.0) == 0.0
    assert gaussian_epsilon(0.9, 1.0, 1.0) == 0.0
    assert gaussian_noise_std(1.0, 1 - 1e-15, 1.0) > 0
    assert math.isfinite(gaussian_noise_std(1.0, 5e-324, 1.0))


@pytest.mark.parametrize("call", [gaussian_noise_std, gaussian_delta, gaussian_epsilon])
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("bad", [-1.0, math.nan, -math.inf])
def test_arguments_outside_their_range_are_refused(call, position, bad):
    arguments = [0.5, 0.5, 1.0]
    arguments[position] = bad
    with pytest.raises(ValueError, match="must"):
        call(*arguments)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (gaussian_noise_std, (0.0, 1e-6, 1.0)),
        (gaussian_noise_std, (math.inf, 1e-6, 1.0)),
        (gaussian_noise_std, (1.0, 0.0, 1.0)),
        (gaussian_noise_std, (1.0, 1.0, 1.0)),
        (gaussian_noise_std, (1.0, 1e-6, 0.0)),
        (gaussian_epsilon, (0.0, 1.0, 1.0)),
        (gaussian_epsilon, (1.0, 1.0, 1.0)),
        (gaussian_epsilon, (1e-6, 0.0, 1.0)),
        (gaussian_delta, (1.0, 0.0, 1.0)),
        (gaussian_delta, (1.0, 1.0, 0.0)),
        (gaussian_delta, (1.0, 1e-90, 1e90)),
    ],
)
def test_no_noise_no_sensitivity_and_no_delta_are_refused(call, arguments):
    with pytest.raises(ValueError, match="must"):
        call(*arguments)


@pytest.mark.parametrize("bad", ["1", None, True, [1.0]])
def test_other_types_are_refused(bad):
    with pytest.raises(TypeError, match="epsilon must be a number"):
        gaussian_noise_std(bad, 1e-6, 1.0)
