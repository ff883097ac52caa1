"""The four utility metrics against slow twins and by hand, and their rescaling to [0, 1]."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from privlib.evaluation.fidelity import fidelity, frechet_distance, knn_precision_recall, length_match


def cloud(n, d=4, seed=0, shift=0.0, spread=1.0):
    return shift + spread * np.random.default_rng(seed).standard_normal((n, d))


def precision_twin(real, released, k):
    inside = 0
    own = cdist(real, real)
    for x in released:
        inside += any(np.linalg.norm(x - c) <= sorted(own[i])[k] for i, c in enumerate(real))
    return inside / len(released)


@pytest.mark.parametrize("n", [12, 40])
def test_knn_precision_and_recall_equal_the_slow_twin(n):
    real, released = cloud(n), cloud(n + 3, seed=1, shift=0.8)
    found = knn_precision_recall(real, released, 3)
    assert found == pytest.approx((precision_twin(real, released, 3), precision_twin(released, real, 3)))
    assert 0 < found[0] < 1


def test_the_radius_is_that_of_the_opposite_sets_point():
    """A far outlier is close to nothing real; by its own huge radius it would be close to everything."""
    real = cloud(30, spread=0.1)
    released = np.concatenate([cloud(29, seed=1, spread=0.1), np.full((1, 4), 50.0)])
    assert knn_precision_recall(real, released)[0] <= 29 / 30


@pytest.mark.parametrize(("n", "d"), [(60, 5), (8, 5), (5, 12)])
def test_frechet_distance_equals_the_textbook_formula(n, d):
    real, released = cloud(n, d), cloud(n, d, seed=1, shift=0.3, spread=1.5)
    covariances = [np.cov(side.T) for side in (real, released)]
    root = sqrtm(covariances[0] @ covariances[1] + (1e-14 * np.eye(d) if n <= d else 0)).real
    textbook = ((real.mean(0) - released.mean(0)) ** 2).sum() + np.trace(covariances[0] + covariances[1] - 2 * root)
    distance, most = frechet_distance(real, released)
    assert distance == pytest.approx(textbook, rel=1e-4, abs=1e-4)
    assert 0 < distance < most
    assert frechet_distance(real, real)[0] == pytest.approx(0, abs=1e-9)


def test_small_samples_of_one_law_are_far_apart_in_frechet_distance():
    """Why n and d are reported and sizes must be equal: nothing differs but the sample."""
    small = frechet_distance(cloud(10, 40), cloud(10, 40, seed=1))
    large = frechet_distance(cloud(2000, 40), cloud(2000, 40, seed=1))
    assert small[0] / small[1] > 0.5
    assert large[0] / large[1] < 0.05


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9))
def test_length_match_is_wasserstein_2_by_assignment(seed, n, m):
    generator = np.random.default_rng(seed)
    real, released = generator.integers(1, 30, n), generator.integers(1, 30, m)
    pairs = (np.repeat(real, m)[:, None] - np.repeat(released, n)[None]) ** 2.0
    rows, columns = linear_sum_assignment(pairs)
    most = real.var() + released.var() + (real.mean() - released.mean()) ** 2
    expected = 1.0 if most == 0 else max(0.0, 1 - np.sqrt(pairs[rows, columns].mean() / most))
    assert length_match(real, released) == pytest.approx(expected, abs=1e-9)


def made(n, seed=0, shift=0.0):
    generator = np.random.default_rng(seed)
    return cloud(n, 6, seed, shift), generator.integers(3, 20, n), generator.integers(0, 2, (n, 1))


def test_scores_lie_in_the_unit_interval_and_order_near_before_far():
    real, lengths, labels = made(80)
    same = fidelity(real, real, lengths, lengths, labels, labels, [2])
    assert (same.precision, same.recall, same.attributes) == (1.0, 1.0, 1.0)
    assert same.frechet == pytest.approx(1, abs=1e-9)
    assert (same.n, same.d) == (80, 6)
    scores = []
    for shift in (0.0, 1.0, 4.0):
        other, other_lengths, other_labels = made(80, 1, shift)
        found = fidelity(real, other, lengths, other_lengths, labels, other_labels, [2])
        parts = (found.precision, found.recall, found.frechet, found.attributes)
        assert all(0 <= part <= 1 for part in parts)
        assert found.aggregate == pytest.approx(np.mean(parts))
        scores.append(found.aggregate)
    assert scores[0] > scores[1] > scores[2]


def test_more_rows_for_one_method_are_refused():
    """Trap: three times as many rows scored for one method."""
    real, lengths, labels = made(30)
    other, other_lengths, other_labels = made(90, 1)
    with pytest.raises(ValueError, match="released"):
        fidelity(real, other, lengths, other_lengths, labels, other_labels, [2])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: knn_precision_recall(cloud(3), cloud(9), 3), "k"),
        (lambda: knn_precision_recall(np.full((9, 2), np.nan), cloud(9), 3), "real"),
        (lambda: frechet_distance(cloud(9), cloud(8)), "released"),
        (lambda: frechet_distance(cloud(1), cloud(1)), "released"),
        (lambda: length_match(np.array([]), np.array([1.0])), "real"),
        (lambda: length_match(np.array([1.0]), np.array([])), "released"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        call()
