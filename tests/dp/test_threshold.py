"""Sample and threshold: the release, the published figures, ranges."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.dp import SampleAndThreshold, Secure, Simulation, threshold, threshold_delta

WHO = {"unit": "record", "relation": "add_drop"}


def smallest_t(epsilon: float, steps: int, delta: float = 1e-6) -> int:
    """Smallest t for which a rate k/steps, with threshold ceil(rate t), keeps to (epsilon, delta)."""
    for t in range(5, 120):
        for rate in (Fraction(k, steps) for k in range(1, steps)):
            count = math.ceil(rate * t)
            # rate^count is a floor of delta: no need to scan where it alone is too much
            if rate**count <= delta and threshold_delta(epsilon, float(rate), count) <= delta:
                return t
    raise AssertionError("no t below 120")


@pytest.mark.parametrize(("epsilon", "steps", "t"), [(4.0, 20, 37), (1.0, 20, 53), (4.0, 100, 36), (1.0, 100, 52)])
def test_how_frequent_a_tag_must_be(epsilon, steps, t):
    """The paper asks for t of about 100 at delta 1e-6; exact accounting needs 37 and 53 with rates in steps of 1/20."""
    assert smallest_t(epsilon, steps) == t


def test_a_scan_that_cannot_end_in_time_is_refused(monkeypatch):
    monkeypatch.setattr(threshold, "_SCAN_LIMIT", 1 << 12)
    with pytest.raises(ValueError, match=r"rate 1e-07, threshold 10, epsilon 0\.0"):
        threshold_delta(0.0, 1e-7, 10)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(epsilon=st.floats(0, 8), rate=st.floats(0.02, 0.98), count=st.integers(1, 60))
def test_shape_of_the_curve(epsilon, rate, count):
    delta = threshold_delta(epsilon, rate, count)
    assert rate**count <= delta <= 1
    assert threshold_delta(epsilon + 0.3, rate, count) <= delta
    assert threshold_delta(epsilon, rate, count + 1) <= delta * (1 + 1e-9)  # a higher threshold only merges more


def test_corners():
    assert threshold_delta(1.0, 0.0, 5) == 0.0
    assert threshold_delta(1.0, 1.0, 5) == 1.0
    assert threshold_delta(math.inf, 0.3, 4) == pytest.approx(0.3**4, rel=1e-9)
    assert threshold_delta(700.0, 0.3, 4) == pytest.approx(0.3**4, rel=1e-9)
    assert threshold_delta(5000.0, 0.3, 4) == pytest.approx(0.3**4, rel=1e-9)
    assert threshold_delta(0.0, 0.5, 1) == pytest.approx(0.5, rel=1e-9)
    assert 0 < threshold_delta(5.0, 0.001, 200) < 1e-300  # 1e-600 is not 0


def test_a_slider_may_call_it():
    threshold_delta(1.0, 0.3, 30)
    start = time.process_time()
    for epsilon in np.linspace(0.1, 8, 50):
        threshold_delta(epsilon, 0.3, 30)
    assert time.process_time() - start < 2.5


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((-1.0, 0.5, 5), ValueError),
        ((math.nan, 0.5, 5), ValueError),
        ((1.0, 1.5, 5), ValueError),
        ((1.0, -0.5, 5), ValueError),
        ((1.0, 0.5, 0), ValueError),
        ((1.0, 0.5, 2.5), TypeError),
        ((1.0, 0.5, True), TypeError),
    ],
)
def test_arguments_outside_their_range_are_refused(arguments, error):
    with pytest.raises(error, match="must"):
        threshold_delta(*arguments)


class Coins(Simulation):
    """A source whose coins are given."""

    def __init__(self, coins):
        super().__init__(0)
        self.coins = np.array(coins, dtype=bool)

    def bernoulli(self, probability, size):
        assert self.coins.shape == (size,)
        return self.coins


def test_a_tag_at_the_threshold_is_published_and_one_below_is_not():
    mechanism = SampleAndThreshold(1.0, 0.5, 3, **WHO)
    tags = np.array([9, 4, 9, 4, 9, 4, -2, 9])
    released = mechanism.release(tags, Coins([1, 1, 1, 1, 1, 0, 1, 0]))
    assert released.tags.tolist() == [9]
    assert released.counts.tolist() == [3]
    both = mechanism.release(tags, Coins([1] * 8))
    assert both.tags.tolist() == [4, 9]
    assert both.counts.tolist() == [3, 4]


def test_order_is_by_tag_and_not_by_record():
    mechanism = SampleAndThreshold(1.0, 0.5, 1, **WHO)
    forward = mechanism.release(np.array([5, 3, 8]), Coins([1, 1, 1]))
    backward = mechanism.release(np.array([8, 3, 5]), Coins([1, 1, 1]))
    assert forward.tags.tolist() == backward.tags.tolist() == [3, 5, 8]


@pytest.mark.parametrize("source", [Simulation(1), Secure()], ids=["simulation", "secure"])
def test_release_draws_a_coin_a_record(source):
    mechanism = SampleAndThreshold(4.0, 0.5, 25, **WHO)
    tags = np.repeat(np.arange(400), 140)
    released = mechanism.release(tags, source)
    assert released.tags.tolist() == list(range(400))  # missing one: 400 Pr[Bin(140, 1/2) < 25], below 1e-11
    # the mean of 400 counts has deviation 5.9 / 20; six of them is a false alarm of 2e-9
    assert abs(released.counts.mean() - 70) < 6 * 5.92 / 20
    assert 4 < released.counts.std() < 8
    assert len(mechanism.release(np.array([], dtype=np.int64), source).tags) == 0
