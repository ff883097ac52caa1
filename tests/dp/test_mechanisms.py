"""Mechanisms as records: what they refuse, what they say, that every coordinate is noised."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from privlib.dp import (
    DiscreteGaussianMechanism,
    ExponentialRounds,
    GaussianMechanism,
    LaplaceMechanism,
    RandomizedResponse,
    SampleAndThreshold,
    Secure,
    Simulation,
    gaussian_delta,
)

WHO = {"unit": "record", "relation": "add_drop"}
LAPLACE = LaplaceMechanism(1.0, 2.0, 5, **WHO)
GAUSSIAN = GaussianMechanism(4.0, 1e-6, 1.5, (3, 4), **WHO)
ROUNDS = ExponentialRounds(2, 1.0, 0.5, **WHO)
SAMPLED = SampleAndThreshold(4.0, 0.5, 25, **WHO)
INTEGERS = DiscreteGaussianMechanism(1.0, 1e-6, 2.0, 3, **WHO)
ANSWERS = RandomizedResponse(1.0, 3, 4, unit="record", relation="replace")
ALL = [LAPLACE, GAUSSIAN, ROUNDS, SAMPLED, INTEGERS, ANSWERS]
SECRET = 987654.25


def test_statements():
    assert str(LAPLACE.guarantee) == (
        "(1, 0)-DP, unit record, relation add_drop; composed of Laplace vector; "
        "assuming idealized numerics, secret seed (simulation)"
    )
    assert (GAUSSIAN.guarantee.epsilon, GAUSSIAN.guarantee.delta) == (4.0, 1e-6)
    assert (ROUNDS.guarantee.epsilon, ROUNDS.guarantee.delta) == (1.0, 0.0)
    assert SAMPLED.guarantee.delta == SAMPLED.delta == SAMPLED.loss(4.0)


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: type(m).__name__)
def test_under_secure_the_bill_is_no_higher_and_nothing_is_idealized(mechanism):
    simulated, real = mechanism.guarantee_under(Simulation(1)), mechanism.guarantee_under(Secure())
    assert simulated == mechanism.guarantee
    assert (real.epsilon, real.delta, real.unit, real.relation) == (
        simulated.epsilon,
        simulated.delta,
        simulated.unit,
        simulated.relation,
    )
    assert "idealized numerics" in simulated.assumptions
    assert "idealized numerics" not in real.assumptions


def test_secure_scales_fit_the_budget_by_opendps_own_map():
    for source in (Secure(), Secure(-3)):  # on the coarse grid a forgotten size would show
        assert 1 - 1e-6 < source.bill_laplace(LAPLACE.noise_scale(source), 2.0, 5) <= 1.0
        assert 4 - 1e-6 < source.bill_gaussian(1e-6, GAUSSIAN.noise_std(source), 1.5, 12) <= 4.0


def test_continuous_scales():
    assert LAPLACE.noise_scale(Simulation(1)) == 2.0
    std = GAUSSIAN.noise_std(Simulation(1))
    assert gaussian_delta(4.0, std, 1.5) <= 1e-6
    assert GAUSSIAN.loss(4.0) == pytest.approx(1e-6, rel=1e-6)
    assert GAUSSIAN.loss(8.0) < 1e-12 < 1e-6 < GAUSSIAN.loss(2.0)
    assert ROUNDS.gumbel_scale == 2.0
    assert dataclasses.replace(ROUNDS, monotone=True).gumbel_scale == 1.0


@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_every_coordinate_is_noised(mechanism, source):
    """opendp#2707: a loop that starts at one leaves the ends bare. One-hot inputs at each position, each end."""
    base = np.zeros(mechanism.shape)
    for position in np.ndindex(base.shape):
        hot = base.copy()
        hot[position] = 1.0
        noise = mechanism.release(hot, source) - hot
        assert noise.shape == base.shape
        assert (noise != 0).all()  # exactly 0 has probability below 1e-10 on the finest and the 2^-40 grid
        assert len(np.unique(noise)) == noise.size  # one draw shared by two coordinates would cancel in a difference


@pytest.mark.parametrize("factor", [1.0, 0.7])
def test_each_coordinate_carries_the_full_noise(factor):
    """Chi-square bounds on each of 12 variances at false alarm 1e-7 in all; power: noise times 0.7 is outside."""
    from scipy.special import chdtri

    runs, source = 4000, Simulation(11)
    std = GAUSSIAN.noise_std(source)
    noise = factor * np.array([GAUSSIAN.release(np.zeros((3, 4)), source) for _ in range(runs)])
    energy = (noise**2).sum(axis=0) / std**2
    inside = (chdtri(runs, 1 - 4e-9) <= energy) & (energy <= chdtri(runs, 4e-9))
    assert inside.all() == (factor == 1.0)
    assert inside.any() == (factor == 1.0)


def test_the_private_argument_is_left_alone(source):
    private = np.arange(12.0).reshape(3, 4)
    GAUSSIAN.release(private, source)
    ROUNDS.release(private[0], source)
    assert np.array_equal(private, np.arange(12.0).reshape(3, 4))


BAD = [
    (LAPLACE, np.full(4, SECRET)),
    (LAPLACE, np.full((5, 1), SECRET)),
    (LAPLACE, np.array([SECRET, np.nan, 0, 0, 0])),
    (LAPLACE, np.array([SECRET, np.inf, 0, 0, 0])),
    (LAPLACE, np.array([str(SECRET)] * 5)),
    (LAPLACE, np.array([SECRET] * 5, dtype=object)),
    (LAPLACE, np.array([SECRET + 1j] * 5)),
    (LAPLACE, np.array([True] * 5)),
    (GAUSSIAN, np.full((4, 3), SECRET)),
    (GAUSSIAN, np.full((3, 4), -np.inf)),
    (ROUNDS, np.full((2, 2), SECRET)),
    (ROUNDS, np.array([SECRET])),
    (ROUNDS, np.array([SECRET, np.nan, 1.0])),
    (ROUNDS, np.array([SECRET, -np.inf, 1.0])),
    (SAMPLED, np.full(3, SECRET)),
    (SAMPLED, np.full((3, 1), 987654)),
    (SAMPLED, np.array([2**63 + 987654], dtype=np.uint64)),
    (SAMPLED, np.array([True, False])),
]


@pytest.mark.parametrize(("mechanism", "private"), BAD)
def test_malformed_private_data_is_refused_without_a_value(mechanism, private):
    with pytest.raises((TypeError, ValueError)) as refusal:
        mechanism.release(private, Simulation(1))
    assert "private" in str(refusal.value)
    assert "98765" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: type(m).__name__)
def test_each_required_public_parameter_left_out_raises(mechanism):
    """smartnoise-sdk#317: a missing bound must not mean no noise."""
    stated = {field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)}
    required = [field.name for field in dataclasses.fields(mechanism) if field.default is dataclasses.MISSING]
    assert {"unit", "relation", "epsilon"} <= set(required)
    for name in required:
        rest = {key: value for key, value in stated.items() if key != name}
        with pytest.raises(TypeError, match=name):
            type(mechanism)(**rest)
        with pytest.raises((TypeError, ValueError), match=name):
            type(mechanism)(**rest, **{name: None})


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: type(m).__name__)
def test_records_are_frozen_and_hold_no_data(mechanism):
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.epsilon = 100.0
    assert hash(mechanism) == hash(dataclasses.replace(mechanism))


@pytest.mark.parametrize(
    ("mechanism", "changes"),
    [
        (LAPLACE, {"epsilon": 0}),
        (LAPLACE, {"epsilon": math.inf}),
        (LAPLACE, {"l1_sensitivity": 0}),  # diffprivlib#105: sensitivity 0, no noise
        (LAPLACE, {"l1_sensitivity": math.inf}),
        (LAPLACE, {"shape": 0}),
        (LAPLACE, {"unit": "row"}),
        (GAUSSIAN, {"delta": 0}),
        (GAUSSIAN, {"delta": 1}),
        (GAUSSIAN, {"l2_sensitivity": 0}),
        (GAUSSIAN, {"l2_sensitivity": -1}),
        (GAUSSIAN, {"relation": "swap"}),
        (ROUNDS, {"rounds": 0}),
        (ROUNDS, {"coordinate_sensitivity": 0}),
        (SAMPLED, {"rate": 0}),
        (SAMPLED, {"rate": 1}),
        (SAMPLED, {"threshold": 0}),
        (SAMPLED, {"relation": "replace"}),
    ],
)
def test_public_parameters_outside_their_range_are_refused(mechanism, changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        dataclasses.replace(mechanism, **changes)


def test_monotone_is_refused_where_scores_move_both_ways():
    with pytest.raises(ValueError, match="monotone"):
        ExponentialRounds(1, 1.0, 1.0, monotone=True, unit="record", relation="replace")
