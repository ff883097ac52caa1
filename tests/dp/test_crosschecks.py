"""Our closed forms against dp-accounting (PLD, RDP) and OpenDP's maps, over ten decades of epsilon and of delta.

Equal where both are exact; where the other is a bound (RDP, zCDP), ours must be below it and not far below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib.dp import (
    DiscreteGaussianMechanism,
    LaplaceMechanism,
    Secure,
    Simulation,
    discrete_gaussian_delta,
    discrete_gaussian_noise_std,
    discrete_laplace_log_pmf,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_std,
    hockey_stick,
)

EPSILONS = [10.0**k for k in range(-5, 6)]
DELTAS = [10.0**-k for k in range(11, 0, -1)] + [0.5, 0.99]
STDS = [10.0**k for k in range(-4, 6)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_deviation_and_curve_equal_dp_accountings(epsilon):
    import dp_accounting
    from dp_accounting.pld import privacy_loss_mechanism

    for delta in DELTAS:
        std = gaussian_noise_std(epsilon, delta, 1.0)
        assert std == pytest.approx(dp_accounting.get_sigma_gaussian(epsilon, delta), rel=1e-6)
        loss = privacy_loss_mechanism.GaussianPrivacyLoss(standard_deviation=std)
        assert loss.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-6)
        exact = gaussian_epsilon(delta, std * 1.3, 1.0)
        if exact > 0:
            other = privacy_loss_mechanism.GaussianPrivacyLoss(standard_deviation=std * 1.3)
            assert other.get_delta_for_epsilon(exact) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("std", STDS)
def test_gaussian_epsilon_is_below_the_renyi_accountant_and_near_it(std):
    import dp_accounting
    from dp_accounting.rdp import rdp_privacy_accountant

    steps = [1 + 10.0 ** np.linspace(-6, -0.05, 60), np.linspace(2, 60, 59), 10.0 ** np.linspace(2, 9, 60)]
    accountant = rdp_privacy_accountant.RdpAccountant(orders=np.concatenate(steps))
    accountant.compose(dp_accounting.GaussianDpEvent(std))
    for delta in (1e-10, 1e-6, 1e-2):
        exact, bound = gaussian_epsilon(delta, std, 1.0), accountant.get_epsilon(delta)
        assert exact <= bound
        assert bound <= 1.5 * exact + 1e-9


@pytest.mark.parametrize("std", STDS)
def test_gaussian_epsilon_is_below_opendps_map_and_near_it(std):
    """Below std 0.005 OpenDP's conversion overflows: it raises, and never states a figure."""
    source = Secure(-60)
    for delta in (1e-10, 1e-6, 1e-2, 0.5):
        if std < 0.005:
            with pytest.raises(Exception, match="inf_exp"):
                source.bill_gaussian(delta, std, 1.0, 1)
            continue
        exact, bound = gaussian_epsilon(delta, std, 1.0), source.bill_gaussian(delta, std, 1.0, 1)
        assert exact <= bound
        assert bound <= 1.5 * exact + (0.2 if delta == 0.5 else 1e-9) or exact > 40


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_equals_dp_accounting_and_opendp(epsilon):
    from dp_accounting.pld import privacy_loss_mechanism

    mechanism = LaplaceMechanism(epsilon, 1.0, 1, unit="record", relation="add_drop")
    scale = mechanism.noise_scale(Simulation(1))
    loss = privacy_loss_mechanism.LaplacePrivacyLoss(scale)
    assert loss.get_delta_for_epsilon(epsilon * (1 + 1e-12)) == pytest.approx(0, abs=1e-9)
    short = loss.get_delta_for_epsilon(epsilon * (1 - 1e-3))  # one epsilon less is not enough
    exact = -math.expm1(-epsilon * 1e-3 / 2)
    assert short == pytest.approx(exact, rel=1e-6) if epsilon < 700 else short >= exact  # above, their tail underflows
    assert Secure(-90).bill_laplace(scale, 1.0, 1) == pytest.approx(epsilon, rel=1e-9)
    assert Secure(-90).bill_laplace(scale, 1.0, 1) >= epsilon * (1 - 1e-15)


@pytest.mark.parametrize("epsilon", EPSILONS[1:])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_laplace_equals_dp_accounting_and_opendp(epsilon, sensitivity):
    import opendp.prelude as dp
    from dp_accounting.pld import privacy_loss_mechanism

    dp.enable_features("contrib")
    scale = sensitivity / epsilon
    loss = privacy_loss_mechanism.DiscreteLaplacePrivacyLoss(1 / scale, sensitivity)
    measurement = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=scale)
    assert measurement.map(sensitivity) == pytest.approx(epsilon, rel=1e-12)
    if scale > 300:
        assert loss.get_delta_for_epsilon(epsilon) == pytest.approx(0, abs=1e-12)
        return
    reach = int(45 * scale) + 10 * sensitivity
    x = np.arange(-reach, reach + 1)
    moved, still = discrete_laplace_log_pmf(x - sensitivity, scale), discrete_laplace_log_pmf(x, scale)
    for share in (0.0, 0.3, 0.9):
        ours = hockey_stick(moved, still, share * epsilon)
        if 1 / scale < 700:  # above, scipy's law, which theirs asks, overflows
            assert ours == pytest.approx(loss.get_delta_for_epsilon(share * epsilon), rel=1e-9, abs=1e-12)
    assert hockey_stick(moved, still, epsilon * (1 + 1e-12)) == 0
    assert (moved - still).max() == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_gaussian_curve_equals_dp_accountings(epsilon, sensitivity):
    from dp_accounting.pld import privacy_loss_mechanism

    tried = 0
    for delta in DELTAS[::3]:
        std = discrete_gaussian_noise_std(epsilon, delta, sensitivity, 1)
        if not 0.06 * sensitivity < std < 3000:  # below, their support is refused; above, theirs takes seconds
            continue
        tried += 1
        theirs = privacy_loss_mechanism.DiscreteGaussianPrivacyLoss(std, sensitivity).get_delta_for_epsilon(epsilon)
        ours = discrete_gaussian_delta(epsilon, std, sensitivity)
        # where their support ends within reach they add the tail they cut (test_discrete compares with 60 digits)
        assert ours * (1 - 1e-6) - 1e-14 <= theirs <= ours * (1 + 1e-6) + (6e-9 if std < sensitivity else 1e-14)
    assert tried or not 1e-2 < epsilon < 1e2


@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-2])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 100.0])
def test_discrete_gaussian_vector_equals_opendps_bill(epsilon, delta):
    """Same rho and same conversion: the deviation that OpenDP's own search finds for integers, never less than ours."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = DiscreteGaussianMechanism(epsilon, delta, 2.0, 5, unit="record", relation="replace")
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=5), dp.l2_distance(T=float)
    measurement = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=mechanism.noise_std))
    assert measurement.map(2.0).epsilon(delta) == pytest.approx(epsilon, rel=5e-3)


def test_corners_zero_one_and_overflow():
    """Limits first: no epsilon at all, no delta left, and values whose exponential overflows a float."""
    from dp_accounting.pld import privacy_loss_mechanism

    for std in (0.05, 1.0, 30.0):
        loss = privacy_loss_mechanism.GaussianPrivacyLoss(standard_deviation=std)
        assert gaussian_delta(0.0, std, 1.0) == pytest.approx(loss.get_delta_for_epsilon(0.0), rel=1e-9)
        assert gaussian_delta(math.inf, std, 1.0) == 0.0
        assert gaussian_delta(1e308, std, 1.0) == 0.0
        assert discrete_gaussian_delta(math.inf, std, 1) == 0.0
        assert discrete_gaussian_delta(1e308, std, 1) <= 5e-324
    assert gaussian_delta(1000.0, 0.02, 1.0) == pytest.approx(1, abs=1e-6)  # exp(1000) is no float
    assert discrete_gaussian_delta(1000.0, 0.02, 1) == pytest.approx(1, abs=1e-6)
    assert gaussian_epsilon(1 - 1e-15, 1.0, 1.0) == 0.0
    assert 1e-76 < gaussian_noise_std(1e150, 1e-6, 1.0) < 1e-75
    with pytest.raises(ValueError, match="epsilon must be at most 1e150"):
        gaussian_noise_std(1e308, 1e-6, 1.0)
    assert math.isfinite(gaussian_noise_std(1e-300, 1e-6, 1.0))
    for delta in (0.0, 1.0):
        for refuse in (gaussian_noise_std, gaussian_epsilon, lambda e, d, s: discrete_gaussian_noise_std(e, d, s, 1)):
            with pytest.raises(ValueError, match="must"):
                refuse(*((delta, 1.0, 1.0) if refuse is gaussian_epsilon else (1.0, delta, 1.0)))
