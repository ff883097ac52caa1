"""Selection rules as records, and the two draws they ask of a source."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from privlib.dp import ExponentialRounds, OneShotGumbel, PermuteAndFlip, Secure, Simulation, ordered_lists

WHO = {"unit": "record", "relation": "add_drop"}
RULES = [kind(3, 1.0, 0.5, **WHO) for kind in (ExponentialRounds, OneShotGumbel)]
RULES.append(PermuteAndFlip(3, 1.0, 0.5, delta=1e-6, **WHO))
SECRET = 987654.25


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_lists_are_distinct_indices_and_the_argument_is_left_alone(rule, source):
    private = np.arange(6.0)
    for _ in range(20):
        chosen = rule.release(private, source)
        assert chosen.dtype == np.int64
        assert len(set(chosen.tolist())) == 3
        assert set(chosen.tolist()) <= set(range(6))
    assert np.array_equal(private, np.arange(6.0))
    assert sorted(rule.release(private[:3], source).tolist()) == [0, 1, 2]
    assert rule.release(np.array([0.0, 1e300, -1e300, 1e299]), source).tolist() == [1, 3, 0]
    assert len(set(rule.release(np.zeros(1492), source).tolist())) == 3


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_bills_by_source(rule):
    simulated, secure = rule.guarantee_under(Simulation(1)), rule.guarantee_under(Secure())
    assert simulated == rule.guarantee
    assert (secure.epsilon, secure.delta) == (simulated.epsilon, simulated.delta)
    assert ("idealized numerics" in simulated.assumptions, "idealized numerics" in secure.assumptions) == (True, False)
    assert rule.zcdp_under(Secure()).assumptions == secure.assumptions


@pytest.mark.parametrize("monotone", [False, True])
def test_opendps_maps_state_the_same_bills(monotone):
    """zCDP of one Gumbel round and pure epsilon of one exponential round, by OpenDP's own maps."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float, monotonic=monotone)
    one, flip = (kind(1, 0.7, 0.5, monotone=monotone, **WHO) for kind in (OneShotGumbel, PermuteAndFlip))
    zcdp = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=one.noise_scale)
    assert zcdp.map(0.5) == pytest.approx(one.zcdp_under(Secure()).rho, rel=1e-9)
    pure = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=flip.noise_scale)
    assert pure.map(0.5) == pytest.approx(flip.guarantee.epsilon, rel=1e-9)


BAD = [
    np.full((2, 2), SECRET),
    np.array([SECRET, 1.0]),
    np.array([SECRET, np.nan, 1.0]),
    np.array([SECRET, -np.inf, 1.0]),
    np.array([str(SECRET)] * 3),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("private", BAD)
def test_malformed_scores_are_refused_without_a_value(rule, private):
    with pytest.raises((TypeError, ValueError), match="private") as refusal:
        rule.release(private, Simulation(1))
    assert "98765" not in str(refusal.value)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_public_parameters(rule):
    for changes in (
        {"rounds": 0},
        {"epsilon": 0},
        {"coordinate_sensitivity": 0},
        {"delta": 1.0},
        {"delta": -1e-9},
        {"unit": "row"},
        {"relation": "swap"},
        {"monotone": True, "relation": "replace"},
    ):
        with pytest.raises(ValueError, match=next(iter(changes))):
            dataclasses.replace(rule, **changes)
    with pytest.raises(TypeError, match="monotone"):
        dataclasses.replace(rule, monotone=1)
    for name in ("rounds", "epsilon", "coordinate_sensitivity", "unit", "relation"):
        stated = {field.name: getattr(rule, field.name) for field in dataclasses.fields(rule) if field.name != name}
        with pytest.raises(TypeError, match=name):
            type(rule)(**stated)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.epsilon = 9.0


def test_draws_honour_exclusions_and_refuse_what_is_no_draw(source):
    scores = np.array([0.0, -np.inf, 5.0, 1.0])
    for _ in range(40):
        assert 1 not in source.top_gumbel(scores, 1.0, 3).tolist()
        assert source.argmax_exponential(scores, 1.0) != 1
    for bad in ([np.nan, 1.0], [np.inf, 1.0], [-np.inf], []):
        with pytest.raises(ValueError, match="scores must"):
            source.argmax_exponential(bad, 1.0)
        with pytest.raises(ValueError, match="scores must"):
            source.top_gumbel(bad, 1.0, 1)
    with pytest.raises(ValueError, match="count = 4"):
        source.top_gumbel(scores, 1.0, 4)
    for scale in (0.0, -1.0):
        with pytest.raises(ValueError, match="scale"):
            source.top_gumbel(scores, scale, 1)
        with pytest.raises(ValueError, match="scale"):
            source.argmax_exponential(scores, scale)


def test_ordered_lists():
    assert ordered_lists(3, 2).tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    for m, rounds in ((3, 4), (30, 10)):
        with pytest.raises(ValueError, match="rounds"):
            ordered_lists(m, rounds)
