"""Hockey-stick divergence of discrete laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.dp import hockey_stick


def logs(*probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def law():
    weights = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)
    return weights.map(lambda w: np.array(w) / sum(w))


@settings(derandomize=True, deadline=None)
@given(p=law(), q=law(), epsilon=st.floats(0, 5))
def test_is_the_worst_set(p, q, epsilon):
    """The slow twin tries all 16 sets of outcomes."""
    sets = itertools.product([False, True], repeat=4)
    worst = max(p[list(s)].sum() - math.exp(epsilon) * q[list(s)].sum() for s in sets)
    assert hockey_stick(logs(*p), logs(*q), epsilon) == pytest.approx(worst, abs=1e-12)


def test_corners():
    p, q = logs(0.5, 0.5, 0), logs(0, 0.5, 0.5)
    assert hockey_stick(p, q, 0) == 0.5
    assert hockey_stick(p, q, math.inf) == 0.5
    assert hockey_stick(p, p, 0) == 0
    assert hockey_stick(logs(1, 0), logs(0, 1), 1e6) == 1
    assert hockey_stick(p, logs(1e-200, 1 - 1e-200, 0), 800) == 0.0
    assert hockey_stick(logs(1 - 1e-300, 1e-300), logs(1, 0), 1.0) == pytest.approx(1e-300, rel=1e-12)


def test_tiny_differences_survive():
    p, q = logs(0.5 + 1e-12, 0.5 - 1e-12), logs(0.5, 0.5)
    assert hockey_stick(p, q, 0) == pytest.approx(1e-12, rel=1e-3)


@pytest.mark.parametrize(
    ("p", "q", "epsilon"),
    [
        (logs(0.5, 0.5), logs(0.5, 0.25, 0.25), 1),
        (logs(0.5, 0.4), logs(0.5, 0.5), 1),
        (logs(0.5, 0.5), [np.nan, 0.0], 1),
        (logs(0.5, 0.5), logs(0.5, 0.5), -0.1),
        ([], [], 1),
        (np.zeros((1, 1)), np.zeros((1, 1)), 1),
    ],
)
def test_what_is_no_pair_of_laws_is_refused(p, q, epsilon):
    with pytest.raises(ValueError, match="must"):
        hockey_stick(p, q, epsilon)
