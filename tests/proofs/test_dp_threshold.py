"""Sample and threshold: the stated delta is the exact one, over every N, through the code that releases.

Slow twins in exact fractions; the two steps of the argument for all N are checked apart.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from privlib.dp import SampleAndThreshold, Simulation, hockey_stick, threshold_delta
from privlib.dp.threshold import _divergence

WHO = {"unit": "record", "relation": "add_drop"}
CASES = [
    (0.0, 0.5, 3),
    (0.05, 0.3, 4),
    (0.3, 0.3, 4),
    (0.5, 0.4, 1),
    (1.0, 0.1, 2),
    (1.0, 0.5, 8),
    (2.0, 0.7, 6),
    (4.0, 0.9, 3),
]


def binomial(n: int, rate: Fraction) -> list[Fraction]:
    return [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


def merged(n: int, rate: Fraction, threshold: int, length: int) -> list[Fraction]:
    """Law of the released symbol: first 'nothing', then counts threshold..length."""
    law = binomial(n, rate) + [Fraction(0)] * (length - n)
    return [sum(law[:threshold], Fraction(0)), *law[threshold:]]


def divergence(epsilon: float, rate: float, threshold: int, n: int) -> Fraction:
    """Both directions for one N, exactly (exp(epsilon) as the float it is)."""
    p, factor = Fraction(rate), Fraction(math.exp(epsilon))
    more, less = merged(n, p, threshold, n), merged(n - 1, p, threshold, n)
    return max(
        sum((max(a - factor * b, Fraction(0)) for a, b in zip(x, y, strict=True)), Fraction(0))
        for x, y in ((more, less), (less, more))
    )


@pytest.mark.parametrize(("epsilon", "rate", "threshold"), CASES)
def test_delta_is_the_maximum_over_n(epsilon, rate, threshold):
    worst = max(divergence(epsilon, rate, threshold, n) for n in range(1, 71))
    stated = threshold_delta(epsilon, rate, threshold)
    assert stated == pytest.approx(float(worst), rel=1e-9)
    assert stated >= float(worst) * (1 - 1e-15)


def test_for_single_n_dropping_may_cost_more_than_adding():
    """The maximum over N is reached by adding wherever we looked, but not each N: both directions are in the scan."""
    epsilon, rate, count = 0.01, 0.05, 1
    factor, dropping_is_larger = Fraction(math.exp(epsilon)), 0
    fast = _divergence(epsilon, rate, count, np.arange(1.0, 61.0))
    for n in range(1, 61):
        more, less = merged(n, Fraction(rate), count, n), merged(n - 1, Fraction(rate), count, n)
        adding = sum(max(a - factor * b, Fraction(0)) for a, b in zip(more, less, strict=True))
        both = divergence(epsilon, rate, count, n)
        assert fast[n - 1] == pytest.approx(float(both), rel=1e-9)
        dropping_is_larger += both > adding * Fraction(101, 100)
    assert dropping_is_larger > 0


def test_the_twin_can_tell_a_strict_threshold():
    """Power: publishing only counts above the threshold changes the figure by far more than the tolerance."""
    worst = float(max(divergence(0.3, 0.3, 5, n) for n in range(1, 71)))
    assert threshold_delta(0.3, 0.3, 4) > 1.01 * worst


@pytest.mark.parametrize(("epsilon", "rate"), [(0.0, 0.5), (0.1, 0.3), (0.5, 0.7), (1.0, 0.1)])
def test_with_every_count_visible_the_divergence_falls_in_n(epsilon, rate):
    curve = [divergence(epsilon, rate, 0, n) for n in range(1, 60)]
    assert all(later <= earlier for earlier, later in itertools.pairwise(curve))


@pytest.mark.parametrize(("epsilon", "rate", "threshold"), CASES)
def test_merging_never_helps_the_reader(epsilon, rate, threshold):
    for n in range(1, 40):
        assert divergence(epsilon, rate, threshold, n) <= divergence(epsilon, rate, 0, n)


def test_a_coarse_grid_of_n_would_under_report():
    """Why every N is scanned: the worst one is no round number, and its neighbours on a grid of 50 are smaller."""
    curve = {n: divergence(1.0, 0.5, 20, n) for n in range(20, 171)}
    assert max(curve.values()) > 1.2 * max(curve[n] for n in (50, 100, 150))
    assert threshold_delta(1.0, 0.5, 20) == pytest.approx(float(max(curve.values())), rel=1e-9)


def released_law(mechanism: SampleAndThreshold, tags: np.ndarray) -> dict:
    """Exact law of the release on `tags`, by running the code on every pattern of coins."""

    class Given(Simulation):
        def __init__(self, coins):
            super().__init__(0)
            self.coins = coins

        def bernoulli(self, probability, size):
            assert size == len(self.coins)
            assert probability == mechanism.rate
            return self.coins

    law = defaultdict(float)
    for pattern in itertools.product([False, True], repeat=len(tags)):
        out = mechanism.release(tags, Given(np.array(pattern, dtype=bool)))
        weight = math.prod(mechanism.rate if kept else 1 - mechanism.rate for kept in pattern)
        law[tuple(out.tags.tolist()), tuple(out.counts.tolist())] += weight
    return law


def both_directions(first: dict, second: dict, epsilon: float) -> float:
    outcomes = sorted(set(first) | set(second))
    with np.errstate(divide="ignore"):
        p, q = (np.log([law.get(outcome, 0.0) for outcome in outcomes]) for law in (first, second))
    return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_code_keeps_to_its_bill_and_attains_it(epsilon):
    """All ways to add one record to all small data sets of two tags; the record may bring a tag of its own."""
    mechanism = SampleAndThreshold(epsilon, 0.4, 2, **WHO)
    worst = 0.0
    for sizes in itertools.product(range(4), range(4)):
        tags = np.repeat([3, 7], sizes)
        less = released_law(mechanism, tags)
        for extra in (3, 7, 1):
            more = released_law(mechanism, np.append(tags, extra))
            worst = max(worst, both_directions(less, more, epsilon))
    assert worst <= mechanism.delta * (1 + 1e-9)
    assert worst == pytest.approx(mechanism.delta, rel=1e-6)


def test_a_strict_bill_would_be_caught():
    """Negative control: the delta of threshold 3 is not true of a release at threshold 2."""
    mechanism = SampleAndThreshold(1.0, 0.4, 2, **WHO)
    pair = released_law(mechanism, np.full(1, 3)), released_law(mechanism, np.full(2, 3))
    assert both_directions(*pair, 1.0) > threshold_delta(1.0, 0.4, 3)
