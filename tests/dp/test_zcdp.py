"""zCDP: composition, groups, the tight conversion against a slow twin, OpenDP and the exact Gaussian curve."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from privlib.dp import (
    ZCDP,
    GaussianMechanism,
    Guarantee,
    Secure,
    Simulation,
    gaussian_delta,
    gaussian_epsilon,
    largest_rho,
    renyi_divergence,
)

WHO = {"unit": "record", "relation": "add_drop"}
RHOS = [1e-10, 1e-6, 1e-3, 0.05, 1.0, 30.0, 1e3]
DELTAS = [1e-300, 1e-12, 1e-6, 1e-2, 0.5]


def twin(rho, delta):
    """Corollary 13 minimised over a fine grid of orders."""
    s = np.exp(np.linspace(-30, 40, 200_001))
    epsilon = (1 + s) * rho + (-math.log(delta) - np.log1p(s)) / s - np.log1p(1 / s)
    return max(0.0, float(epsilon.min()))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_conversion_is_the_optimum_over_all_orders(rho, delta):
    epsilon = ZCDP(rho, **WHO).epsilon(delta)
    assert epsilon == pytest.approx(twin(rho, delta), rel=1e-7, abs=1e-12)
    assert epsilon <= rho + 2 * math.sqrt(-rho * math.log(delta))  # the looser closed form of Bun and Steinke
    if epsilon > 0:
        assert ZCDP(rho, **WHO).delta(epsilon) == pytest.approx(delta, rel=1e-8)


@pytest.mark.parametrize("rho", RHOS)
def test_conversion_agrees_with_opendps(rho):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    profile = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=math.sqrt(0.5 / rho), k=-400)).map(1.0)
    for delta in DELTAS[:-1]:
        assert ZCDP(rho, **WHO).epsilon(delta) == pytest.approx(profile.epsilon(delta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 10.0])
def test_conversion_never_undercuts_the_exact_gaussian(mu, epsilon):
    said = ZCDP.gaussian(1.0, mu, **WHO)
    assert said.rho == pytest.approx(mu * mu / 2, rel=1e-15)
    assert said.delta(epsilon) >= gaussian_delta(epsilon, 1.0, mu)
    assert said.epsilon(1e-6) >= gaussian_epsilon(1e-6, 1.0, mu)
    # negative control: four fifths of rho undercuts it somewhere
    assert any(ZCDP(0.8 * said.rho, **WHO).epsilon(d) < gaussian_epsilon(d, 1.0, mu) for d in (1e-300, 1e-200))


def test_corners():
    assert ZCDP(0.0, **WHO).epsilon(1e-6) == ZCDP(0.0, **WHO).delta(0.0) == 0.0
    assert ZCDP(math.inf, **WHO).epsilon(1e-6) == math.inf
    assert ZCDP(math.inf, **WHO).delta(3.0) == 1.0
    assert ZCDP(1.0, **WHO).delta(math.inf) == 0.0
    assert 0 < ZCDP(1.0, **WHO).delta(0.0) < 1
    assert ZCDP(5e-324, **WHO).epsilon(0.5) == 0.0
    for bad in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="delta"):
            ZCDP(1.0, **WHO).epsilon(bad)
    for changes in ({"rho": -1.0}, {"unit": "row"}, {"relation": "swap"}):
        with pytest.raises(ValueError, match=next(iter(changes))):
            ZCDP(**({"rho": 1.0} | WHO | changes))


def test_composition_adds_rounds_up_and_keeps_assumptions_by_name():
    one = ZCDP(0.1, **WHO, assumptions=("idealized numerics",), composed=("vector",))
    total = one
    for _ in range(9):
        total = total.compose(ZCDP(0.1, **WHO, assumptions=("a lemma",)))
    assert Fraction(total.rho) >= 10 * Fraction(0.1)
    assert total.rho == pytest.approx(1.0, rel=1e-14)
    assert total.assumptions == ("idealized numerics", "a lemma")
    assert total.composed == ("vector", *["0.1-zCDP"] * 9)
    stated = total.guarantee(1e-6)
    assert (stated.epsilon, stated.delta) == (total.epsilon(1e-6), 1e-6)
    assert stated.assumptions == total.assumptions
    assert json.dumps(stated.to_json())
    assert "1-zCDP, unit record, relation add_drop; composed of vector + 0.1-zCDP" in str(total)
    with pytest.raises(ValueError, match="unit"):
        one.compose(ZCDP(0.1, "user", "add_drop"))
    with pytest.raises(TypeError, match="ZCDP"):
        one.compose(Guarantee(1.0, 0.0, **WHO))


def test_groups_of_gaussians_are_exact():
    """g units move the mean by g times the sensitivity: rho of the moved Gaussian; g rho would not do."""
    for size in (1, 2, 7):
        grown = ZCDP.gaussian(3.0, 1.5, **WHO).group(size)
        assert grown.rho == pytest.approx(ZCDP.gaussian(3.0, 1.5 * size, **WHO).rho, rel=1e-15)
    assert ZCDP(0.5, **WHO).group(3).composed == ("groups of 3: 0.5-zCDP",)
    with pytest.raises(ValueError, match="size"):
        ZCDP(1.0, **WHO).group(0)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 6.0])
def test_a_pure_guarantee_is_zcdp(epsilon):
    """Randomized response, which dominates every pure release, at 40 orders; a third of the rho is exceeded."""
    said = ZCDP.from_pure(Guarantee(epsilon, 0.0, **WHO))
    truth = np.array([epsilon, 0.0]) - np.logaddexp(epsilon, 0.0)
    curve = [renyi_divergence(truth, truth[::-1], order) / order for order in np.geomspace(1.0001, 1e4, 40)]
    assert max(curve) <= said.rho
    assert epsilon > 1 or max(curve) > said.rho / 3
    with pytest.raises(ValueError, match="delta"):
        ZCDP.from_pure(Guarantee(epsilon, 1e-9, **WHO))


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 4.0, 60.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.3])
def test_largest_rho_fits_and_is_tight(epsilon, delta):
    rho = largest_rho(epsilon, delta)
    assert ZCDP(rho, **WHO).epsilon(delta) <= epsilon < ZCDP(rho * (1 + 1e-9), **WHO).epsilon(delta)


def test_a_gaussian_mechanism_states_the_rho_of_the_noise_it_draws():
    mechanism = GaussianMechanism(1.0, 1e-6, 2.0, (3, 4), **WHO)
    said = mechanism.zcdp_under(Simulation(1))
    assert said.rho == pytest.approx(2.0 / mechanism.noise_std(Simulation(1)) ** 2, rel=1e-14)
    assert said.assumptions == Simulation.assumptions
    for source in (Secure(), Secure(-2)):  # on the coarse grid the rounding of 12 coordinates shows: 2 + sqrt(12)/4
        secure, std = mechanism.zcdp_under(source), mechanism.noise_std(source)
        widened = 2.0 + math.sqrt(12) * 2.0**source.granularity_exponent
        assert secure.rho == pytest.approx((widened / std) ** 2 / 2, rel=1e-6)
        assert secure.epsilon(1e-6) <= 1.0 * (1 + 1e-8)
        assert "idealized numerics" not in secure.assumptions


def test_a_rho_far_above_epsilon_promises_nothing_and_does_not_crash():
    for rho, epsilon in ((1e6, 1e5), (1e6, 10.0), (500.1, 0.0), (499.9, 0.0), (1e300, 1.0), (math.inf, 1.0)):
        assert ZCDP(rho, "record", "add_drop").delta(epsilon) == 1.0
    assert ZCDP(math.inf, "record", "add_drop").delta(math.inf) == 1.0
