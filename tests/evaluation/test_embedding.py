"""Embedding measures against slow twins, and the bound that a zero always carries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from privlib.dp import Simulation
from privlib.evaluation.embedding import (
    frequent,
    nearest_distances,
    neighbour_counts,
    support_protection,
    upper_bound,
    utility,
)


def points(n: int, seed: int = 0, d: int = 5) -> np.ndarray:
    return Simulation(seed).generator.standard_normal((n, d))


@pytest.mark.parametrize("n", [1, 7, 1500])  # across the block edge of 1024
def test_neighbour_counts_against_all_pairs(n):
    x = points(n)
    np.testing.assert_array_equal(neighbour_counts(x, 1.3), (cdist(x, x) <= 1.3).sum(axis=1) - 1)


def test_duplicates_are_neighbours_and_oneself_is_not():
    x = np.repeat(points(3), 4, axis=0).astype(np.float32)
    np.testing.assert_array_equal(neighbour_counts(x, 1e-2), np.full(12, 3))
    assert frequent(x, 1e-2, 3).all()
    assert not frequent(x, 1e-2, 4).any()


def test_nearest_distances_against_all_pairs():
    x, y = points(1300), points(40, seed=1)
    np.testing.assert_allclose(nearest_distances(x, y), cdist(x, y).min(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(nearest_distances(y, y), 0)


def test_utility_on_a_line():
    texts = np.array([[0.0], [1.0], [2.0], [10.0]])
    outputs = np.array([[0.5], [20.0]])
    found = utility(outputs, texts, radius=0.4, alpha=1.5)  # within 0.6
    assert found.precision == 0.5
    assert found.recall == 0.5
    assert found.f1 == 0.5
    assert found.l2 == pytest.approx((0.5 + 0.5 + 1.5 + 9.5) / 4)
    assert utility(np.array([[50.0]]), texts, 0.4).f1 == 0.0


def test_what_cannot_be_computed_raises():
    with pytest.raises(ValueError, match="outputs"):
        utility(np.zeros((0, 2)), np.ones((3, 2)), 1.0)
    with pytest.raises(ValueError, match="frequent_texts"):
        utility(np.ones((3, 2)), np.zeros((0, 2)), 1.0)
    with pytest.raises(ValueError, match="finite"):
        nearest_distances(np.full((2, 2), np.nan), np.ones((2, 2)))
    with pytest.raises(ValueError, match="dimension"):
        nearest_distances(np.ones((2, 2)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="distances"):
        support_protection(np.zeros((3, 0)), 1.0)


def test_a_zero_always_comes_with_its_upper_bound():
    none = support_protection(np.full((20, 50), 2.0), reach=1.0)
    assert (none.mean, none.any_run, none.runs) == (0.0, 0.0, 20)
    assert none.upper == pytest.approx(1 - 0.05 ** (1 / 20), rel=1e-9)
    assert none.upper == pytest.approx(3 / 20, rel=0.08)
    some = np.full((20, 50), 2.0)
    some[3, 7] = 0.5
    found = support_protection(some, reach=1.0)
    assert found.mean == 1 / 1000
    assert found.any_run == 1 / 20
    assert found.upper > 1 / 20


def test_the_upper_bound_is_clopper_pearson():
    from scipy.stats import binom

    for failures, runs in ((0, 5), (2, 10), (9, 10)):
        bound = upper_bound(failures, runs)
        assert binom.cdf(failures, runs, bound) == pytest.approx(0.05, rel=1e-8)
    assert upper_bound(10, 10) == 1.0
