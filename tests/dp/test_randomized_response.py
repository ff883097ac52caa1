"""Randomized response: the channel that is drawn from is the one that is billed, at every entry."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privlib.dp import RandomizedResponse, Secure, Simulation

WHO = {"unit": "record", "relation": "replace"}


class Tape(Simulation):
    """A source whose categorical draws are fixed, and that remembers the law and shape it was asked for."""

    def __init__(self, steps):
        super().__init__(0)
        self.steps, self.asked = steps, []

    def categorical(self, probabilities, size=None):
        self.asked.append((np.array(probabilities), size))
        return np.broadcast_to(self.steps, size).astype(np.int64)


def channel_of_the_code(mechanism):
    """Pr[released | true], by running `release` on every draw it can get, weighted by the law it asks for."""
    k = mechanism.categories
    channel = np.zeros((k, k))
    for step in range(k):
        tape = Tape(step)
        released = mechanism.release(np.arange(k), tape)
        ((law, size),) = tape.asked
        assert size == (k,)  # a draw an entry
        channel[np.arange(k), released] += law[step]
    return channel


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5, 1.0, 3.0, 20.0, 300.0])
@pytest.mark.parametrize("categories", [2, 3, 10, 1000])
def test_opendp_480_channel_of_the_code_path_has_epsilon_to_1e_12(epsilon, categories):
    mechanism = RandomizedResponse(epsilon, categories, categories, **WHO)
    channel = channel_of_the_code(mechanism) if categories <= 10 else mechanism.channel
    assert np.array_equal(channel, mechanism.channel)
    assert channel.sum(axis=1) == pytest.approx(np.ones(categories), abs=1e-12)
    largest = max(Fraction(channel[:, j].max()) / Fraction(channel[:, j].min()) for j in range(min(categories, 10)))
    with mpmath.workdps(60):
        loss = mpmath.log(mpmath.mpf(largest.numerator) / largest.denominator)
        assert loss <= mpmath.mpf(epsilon)
        assert loss >= mpmath.mpf(epsilon) - mpmath.mpf(10) ** -12 * max(1, epsilon)


def test_a_lie_that_may_be_the_truth_would_be_caught():
    """Negative control: the lie drawn from all categories keeps more truth, and its ratio is above exp(epsilon)."""
    mechanism = RandomizedResponse(1.0, 4, 4, **WHO)
    stay = mechanism.channel[0, 0]
    flawed = np.full((4, 4), (1 - stay) / 4) + stay * np.eye(4)
    assert math.log((flawed.max(axis=0) / flawed.min(axis=0)).max()) > 1.0 + 0.1


def test_opendp_2707_every_entry_is_noised_and_lengths_must_match(source):
    """One-hot input at each position; flip rate of each of 6 entries within 6.5 deviations; no shared draws."""
    mechanism = RandomizedResponse(1.0, 2, 6, **WHO)
    lie, runs = mechanism.channel[0, 1], 1200
    for position in range(6):
        hot = np.eye(6, dtype=np.int64)[position]
        flips = np.array([mechanism.release(hot, source) for _ in range(runs)]) != hot
        assert flips.shape == (runs, 6)
        assert (np.abs(flips.mean(axis=0) - lie) < 6.5 * math.sqrt(lie * (1 - lie) / runs)).all()
        together = np.array([(flips[:, i] & flips[:, j]).mean() for i in range(6) for j in range(i)])
        assert (np.abs(together - lie**2) < 6.5 * math.sqrt(lie**2 * (1 - lie**2) / runs)).all()
    for wrong in (5, 7):
        with pytest.raises(ValueError, match="private must have shape"):
            mechanism.release(np.zeros(wrong, dtype=np.int64), source)


def test_released_categories_follow_the_channel(source, fits):
    mechanism = RandomizedResponse(1.5, 5, (40, 200), **WHO)
    for truth in (0, 4):
        released = mechanism.release(np.full((40, 200), truth), source)
        assert released.dtype == np.int64
        counts = np.bincount(released.ravel(), minlength=5)
        assert fits(counts, mechanism.channel[truth] / mechanism.channel[truth].sum())
        assert not fits(counts, mechanism.channel[truth - 1] / mechanism.channel[truth - 1].sum())


def test_the_curve_and_the_statement():
    mechanism = RandomizedResponse(2.0, 3, 10, **WHO)
    assert mechanism.loss(2.0) == 0.0
    assert mechanism.loss(0.0) == pytest.approx((math.e**2 - 1) / (math.e**2 + 2), rel=1e-12)
    assert mechanism.loss(1.0) == pytest.approx((math.e**2 - math.e) / (math.e**2 + 2), rel=1e-12)
    assert mechanism.loss(math.inf) == 0.0
    assert str(mechanism.guarantee) == (
        "(2, 0)-DP, unit record, relation replace; composed of randomized response, 3 categories; "
        "assuming idealized numerics, secret seed (simulation)"
    )
    assert "idealized numerics" not in mechanism.guarantee_under(Secure()).assumptions


def test_opendps_randomized_response_bills_the_same():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = RandomizedResponse(1.3, 2, 1, **WHO)
    theirs = dp.m.make_randomized_response_bool(prob=float(mechanism.channel[0, 0]))
    assert theirs.map(1) == pytest.approx(1.3, rel=1e-12)


@pytest.mark.parametrize("epsilon", [800.0, 1e300, 1e-300])
def test_extreme_epsilons_lose_no_category(epsilon):
    channel = RandomizedResponse(epsilon, 3, 3, **WHO).channel
    assert (channel > 0).all()
    assert channel.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"categories": 1}, "categories"),
        ({"shape": 0}, "shape"),
        ({"unit": "row"}, "unit"),
        ({"relation": "add_drop"}, "relation"),
    ],
)
def test_public_parameters_are_checked(changes, name):
    with pytest.raises(ValueError, match=name):
        dataclasses.replace(RandomizedResponse(1.0, 3, 4, **WHO), **changes)


@pytest.mark.parametrize("private", [np.full(4, 987654), np.full(4, -987654), np.full(4, 1.5), np.full(4, True)])
def test_malformed_answers_are_refused_without_a_value(private):
    with pytest.raises((TypeError, ValueError), match="private") as refusal:
        RandomizedResponse(1.0, 3, 4, **WHO).release(private, Simulation(1))
    assert "98765" not in str(refusal.value)
