"""Embedding measures against slow twins, and the bound that a zero always carries."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from privlib.dp import Simulation
from privlib.evaluation import embedding
from privlib.evaluation.embedding import (
    frequent,
    heavy_buckets,
    nearest_distances,
    neighbour_counts,
    same_corpus_reference,
    unrelated_reference,
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
    with pytest.raises(ValueError, match="texts must hold"):
        utility(np.ones((3, 2)), np.zeros((0, 2)), 1.0)
    with pytest.raises(ValueError, match="finite"):
        nearest_distances(np.full((2, 2), np.nan), np.ones((2, 2)))
    with pytest.raises(ValueError, match="dimension"):
        nearest_distances(np.ones((2, 2)), np.ones((2, 3)))


def test_tiles_change_nothing_and_bound_the_memory(monkeypatch):
    """4,000 x 4,000 distances would take 128 MB; tiles of 64 x 256 stay below 4 MB beside the input."""
    x, y = points(4000), points(3000, seed=1)
    counts, distances = neighbour_counts(x, 0.8), nearest_distances(x, y)
    monkeypatch.setattr(embedding, "_ROWS", 64)
    monkeypatch.setattr(embedding, "_COLUMNS", 256)
    tracemalloc.start()
    np.testing.assert_array_equal(neighbour_counts(x, 0.8), counts)
    np.testing.assert_array_equal(nearest_distances(x, y), distances)
    assert tracemalloc.get_traced_memory()[1] < 4e6
    tracemalloc.stop()


def test_references_draw_without_replacement_and_bracket_the_distance():
    texts, others = points(300), points(200, seed=2) + 8.0
    same = same_corpus_reference(texts, 150, 0.5, Simulation(1))
    far = unrelated_reference(others, texts, 150, 0.5, Simulation(1))
    order = Simulation(1).permutation(300)
    others_only = cdist(texts[order[150:]], texts[order[:150]]).min(axis=1)  # no text scores itself
    assert same.l2 == pytest.approx(others_only.mean())
    assert same.l2 < far.l2
    assert far.recall == far.precision == 0.0
    assert same.outputs == far.outputs == 150
    for outputs in (0, 300):
        with pytest.raises(ValueError, match="outputs"):
            same_corpus_reference(texts, outputs, 0.5, Simulation(1))
    with pytest.raises(ValueError, match="outputs"):
        unrelated_reference(others, texts, 201, 0.5, Simulation(1))


def test_heavy_buckets_are_counted_over_all_records():
    tags = np.repeat([[0, 0], [0, 1], [5, 5], [7, 0]], [10, 9, 12, 30], axis=0)
    found = heavy_buckets(np.array([[0, 1], [7, 0]]), tags, frequency=10)
    assert (found.heavy, found.found, found.correct) == (3, 2, 1)
    assert (found.precision, found.recall) == (1 / 2, 1 / 3)
    nothing = heavy_buckets(np.zeros((0, 2), dtype=int), tags, frequency=10)
    assert nothing.recall == 0.0
    with pytest.raises(ValueError, match="precision"):
        _ = nothing.precision
    with pytest.raises(ValueError, match="tags must hold"):
        heavy_buckets(np.zeros((0, 2), dtype=int), tags, frequency=31)
    with pytest.raises(ValueError, match="distinct"):
        heavy_buckets(np.array([[7, 0], [7, 0]]), tags, frequency=10)
    with pytest.raises(ValueError, match="shapes"):
        heavy_buckets(np.zeros((1, 3), dtype=int), tags, frequency=10)
