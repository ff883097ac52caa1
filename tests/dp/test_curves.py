"""Exact curves: closed forms against numeric ones, numeric ones against enumeration, refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privlib.dp import (
    ZCDP,
    GaussianLoss,
    Guarantee,
    GuaranteeLoss,
    LaplaceLoss,
    PairLoss,
    PrivacyCurve,
    Simulation,
    gaussian_delta,
    hockey_stick,
)

WHO = {"unit": "record", "relation": "add_drop"}
COIN = PairLoss(np.log([0.6, 0.3, 0.1]), np.log([0.5, 0.3, 0.2]))
EPSILONS = [0.0, 0.1, 0.4, 0.9, 1.5]


def curve(*parts, **changes):
    return PrivacyCurve(parts, **(WHO | changes))


@pytest.mark.parametrize("part", [GaussianLoss(0.5), LaplaceLoss(0.7), GuaranteeLoss(0.7, 1e-3), COIN], ids=str)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_closed_form_of_one_part_is_the_numeric_one(part, epsilon):
    numeric = float(part.numeric(1e-4).get_delta_for_epsilon(epsilon))
    assert part.delta(epsilon) <= numeric * (1 + 1e-9)
    assert numeric == pytest.approx(part.delta(epsilon), abs=5e-5)


def product(pairs):
    """Log laws of independent releases, every combination of outcomes in one fixed order: the slow twin."""
    laws = [[sum(combination) for combination in itertools.product(*side)] for side in zip(*pairs, strict=True)]
    return [np.array(law) for law in laws]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_composition_of_discrete_pairs_is_enumeration(epsilon):
    """Three oriented pairs and two randomized responses, both directions; half a grid step of slack a part."""
    response = np.array([0.3, 0.0]) - np.logaddexp(0.3, 0.0)
    pairs = [(COIN.log_with, COIN.log_without)] * 3 + [(response, response[::-1])] * 2
    with_unit, without = product(pairs)
    exact = max(hockey_stick(with_unit, without, epsilon), hockey_stick(without, with_unit, epsilon))
    composed = curve(COIN, COIN, COIN, GuaranteeLoss(0.3), GuaranteeLoss(0.3))
    assert exact <= composed.delta(epsilon) <= exact + 5 * 1e-4
    assert composed.delta(epsilon) < curve(*composed.parts, COIN).delta(epsilon)


def test_gaussians_compose_in_closed_form_and_numerically_alike():
    nine = curve(GaussianLoss.of(2.0, 1.0)).repeat(9)
    assert nine.delta(1.0) == pytest.approx(gaussian_delta(1.0, 2.0, 3.0), rel=1e-12)
    assert nine.delta(1.0) >= gaussian_delta(1.0, 2.0, 3.0)
    numeric = GaussianLoss(0.5).numeric(1e-4).self_compose(9)
    for epsilon in EPSILONS:
        assert float(numeric.get_delta_for_epsilon(epsilon)) == pytest.approx(nine.delta(epsilon), rel=1e-5)
    assert nine.epsilon(1e-200) > nine.epsilon(1e-20)  # closed forms know no smallest delta


def test_the_optimal_composition_of_pure_releases():
    """Kairouz, Oh and Viswanath 2015, Theorem 3.3: k randomized responses, the delta at (k - 2 i) epsilon."""
    k, one = 7, 0.4
    for i in range(k // 2):
        terms = [math.comb(k, j) * (math.exp((k - j) * one) - math.exp((k - 2 * i + j) * one)) for j in range(i)]
        expected = sum(terms) / (1 + math.exp(one)) ** k
        found = curve(GuaranteeLoss(one)).repeat(k).delta((k - 2 * i) * one)
        assert expected - 1e-15 <= found <= expected + 1e-4


def test_mixed_parts_lie_between_their_bounds():
    mixed = curve(LaplaceLoss(0.2)).repeat(20).compose(curve(GaussianLoss(0.5)))
    looser = curve(GuaranteeLoss(0.2)).repeat(20).compose(curve(GaussianLoss(0.5)))
    assert curve(GaussianLoss(0.5)).epsilon(1e-6) < mixed.epsilon(1e-6) < looser.epsilon(1e-6)
    assert mixed.epsilon(1e-6) < ZCDP(20 * 0.02 + 0.125, **WHO).epsilon(1e-6)
    assert mixed.delta(mixed.epsilon(1e-6)) <= 1e-6
    stated = mixed.guarantee(1e-6)
    assert stated.composed == ("20 x LaplaceLoss", "1 x GaussianLoss")
    assert stated.assumptions == Simulation.assumptions


def test_groups_shift_by_the_group():
    assert curve(GaussianLoss(0.5), GaussianLoss(0.5)).group(3).delta(1.0) == pytest.approx(
        gaussian_delta(1.0, 1.0, 1.5 * math.sqrt(2)), rel=1e-12
    )
    assert curve(LaplaceLoss(0.5)).group(2).delta(1.0) == 0.0
    assert curve(LaplaceLoss(0.5)).group(2).delta(0.9) > 0.0
    assert curve(GuaranteeLoss(0.5, 1e-3)).group(2).delta(1.0) == Guarantee(0.5, 1e-3, **WHO).group(2).delta
    with pytest.raises(ValueError, match="groups"):
        curve(COIN).group(2)


def test_what_has_no_exact_curve_is_refused():
    for other in (ZCDP(0.1, **WHO), Guarantee(1.0, 1e-6, **WHO), 1.0):
        with pytest.raises(TypeError, match="curve"):
            curve(COIN).compose(other)
        with pytest.raises(TypeError, match="parts"):
            curve(other)
    with pytest.raises(ValueError, match="at least one"):
        curve()
    for changes in ({"unit": "user"}, {"relation": "replace"}):
        with pytest.raises(ValueError, match="curves of one"):
            curve(GaussianLoss(1.0)).compose(curve(GaussianLoss(1.0), **changes))
    with pytest.raises(ValueError, match="add_drop"):
        curve(COIN, relation="replace")
    with pytest.raises(ValueError, match="1e-12"):
        curve(LaplaceLoss(0.1), LaplaceLoss(0.1)).epsilon(1e-13)
    for loss in (GaussianLoss, LaplaceLoss):
        with pytest.raises(ValueError, match="above 0"):
            loss(0.0)


def test_any_guarantee_has_a_dominating_curve():
    dominated = PrivacyCurve.from_guarantee(Guarantee(0.5, 1e-3, **WHO, assumptions=("a lemma",)))
    assert dominated.assumptions == ("a lemma",)
    assert dominated.delta(0.5) == dominated.delta(math.inf) == 1e-3
    assert dominated.delta(0.0) == pytest.approx(1e-3 + 0.999 * math.tanh(0.25), rel=1e-12)
    assert dominated.epsilon(1e-2) < 0.5
    assert dominated.epsilon(1e-4) == math.inf
