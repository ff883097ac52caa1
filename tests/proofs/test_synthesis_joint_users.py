"""Joint accounting for l records of one user in a bucket: against integration, other layouts, and one record's bill."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import (
    InfeasibleBudget,
    joint_delta,
    joint_delta_for_user,
    joint_noise_multiplier,
    joint_noise_multiplier_for_user,
)
from privlib.synthesis.joint import deltas_by_size
from privlib.synthesis.joint_users import _joint_delta_for_user, user_deltas_by_size
from privlib.synthesis.users import direct_multiplier

GRID = np.linspace(-12, 16, 1401)


def density(points: np.ndarray, mean: np.ndarray, m: float) -> np.ndarray:
    """Of N(mean, m^2 I) at points [..., d]."""
    squares = ((points - mean) ** 2).sum(axis=-1)
    return np.exp(-squares / (2 * m * m)) / (m * math.sqrt(2 * math.pi)) ** points.shape[-1]


def by_subsets(epsilon, m, rate, threshold, others, mine, points, cell) -> float:
    """Larger hockey-stick divergence of the release itself: every kept set of every record, Gaussians integrated.

    `others` [n, d] and `mine` [l, d]: embeddings; `points` a grid in R^d with cells of volume `cell`.
    """

    def law(records):
        shown = {}
        hidden = 0.0
        for kept in itertools.product((0, 1), repeat=len(records)):
            n = sum(kept)
            chance = rate**n * (1 - rate) ** (len(records) - n)
            if n < threshold:
                hidden += chance
            else:
                total = np.array(kept) @ records if len(records) else np.zeros(points.shape[-1])
                shown[n] = shown.get(n, 0.0) + chance * density(points, total, m)
        return shown, hidden

    larger, hidden_larger = law(np.vstack([others, mine]))
    smaller, hidden_smaller = law(others)
    nothing = np.zeros(points.shape[:-1])
    factor, found = math.exp(epsilon), []
    for (p, p_hidden), (q, q_hidden) in itertools.permutations(((larger, hidden_larger), (smaller, hidden_smaller))):
        total = max(0.0, p_hidden - factor * q_hidden)
        for n in p:
            total += np.maximum(0.0, p[n] - factor * q.get(n, nothing)).sum() * cell
        found.append(total)
    return max(found)


SETTINGS = [(0.2, 0.7, 0.4, 1), (1.0, 1.0, 0.3, 2), (0.5, 0.4, 0.6, 3), (0.0, 1.5, 0.5, 2)]


@pytest.mark.parametrize("records", [2, 3])
@pytest.mark.parametrize(("epsilon", "m", "p", "tau"), SETTINGS)
def test_the_worst_layout_by_integration(epsilon, m, p, tau, records):
    """All others at 0, the user's records at 1: the formula is that release's own divergence."""
    points, cell = GRID[:, None], GRID[1] - GRID[0]
    for others in range(5):
        size = others + records
        if size < tau:
            continue
        exact = by_subsets(epsilon, m, p, tau, np.zeros((others, 1)), np.ones((records, 1)), points, cell)
        found = user_deltas_by_size(epsilon, m, p, tau, records, np.array([size]))[0]
        assert found == pytest.approx(exact, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("layout", range(4))
def test_no_other_layout_exceeds_it(layout):
    """Records anywhere in a disc of diameter 1, in the plane, where neither sums nor differences lie on a line."""
    draw = Simulation(layout).generator
    axis = np.linspace(-5, 6, 60)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    cell = (axis[1] - axis[0]) ** 2
    for epsilon, m, p, tau in SETTINGS[:3]:
        angles, lengths = draw.random(5) * 2 * math.pi, np.sqrt(draw.random(5)) / 2
        records = np.stack([np.cos(angles), np.sin(angles)], axis=1) * lengths[:, None]
        here = by_subsets(epsilon, max(m, 0.6), p, tau, records[:3], records[3:], points, cell)
        bound = user_deltas_by_size(epsilon, max(m, 0.6), p, tau, 2, np.array([5]))[0]
        assert 0 < here <= bound * (1 + 1e-3)


def test_a_bill_of_one_record_does_not_cover_two():
    """The negative control: the twin exceeds the single record's bill, so that it could have refuted the theorem."""
    points, cell = GRID[:, None], GRID[1] - GRID[0]
    exact = by_subsets(0.5, 1.0, 0.4, 2, np.zeros((3, 1)), np.ones((2, 1)), points, cell)
    assert exact > 1.3 * deltas_by_size(0.5, 1.0, 0.4, 2, np.arange(2, 40)).max()


@pytest.mark.parametrize(("epsilon", "m", "p", "tau"), [(4, 0.92, 0.3, 30), (1, 2.0, 0.3, 30), (0.1, 1.0, 0.3, 10)])
def test_one_record_is_the_known_case(epsilon, m, p, tau):
    assert joint_delta_for_user(epsilon, m, p, tau, 1) == joint_delta(epsilon, m, p, tau)
    assert _joint_delta_for_user(epsilon, m, p, tau, 1) == pytest.approx(joint_delta(epsilon, m, p, tau), rel=1e-7)
    sizes = np.arange(tau, 4 * tau)
    for threshold in (0, tau):
        np.testing.assert_allclose(
            user_deltas_by_size(epsilon, m, p, threshold, 1, sizes),
            deltas_by_size(epsilon, m, p, threshold, sizes),
            rtol=1e-9,
        )


@pytest.mark.parametrize(("records", "multiplier"), [(2, 1.576), (4, 2.6)])
def test_no_bucket_size_exceeds_the_answer_and_without_a_threshold_it_falls(records, multiplier):
    sizes = np.arange(30, 260)
    answer = joint_delta_for_user(4.0, multiplier, 0.3, 30, records)
    deltas = user_deltas_by_size(4.0, multiplier, 0.3, 30, records, sizes)
    assert 0.99 * answer < deltas.max() <= answer
    assert deltas[:33].max() < 0.9 * answer  # the worst size lies beyond the first part of the scan
    free = user_deltas_by_size(2.0, 2.5, 0.3, 0, records, np.arange(records, 200))
    assert (np.diff(free) <= 1e-12).all()


def test_it_needs_less_noise_than_composition_and_more_than_fewer_records():
    needed = [joint_noise_multiplier_for_user(8, 1e-6, 0.5, 50, records) for records in (1, 2, 3)]
    assert needed[0] == pytest.approx(joint_noise_multiplier(8, 1e-6, 0.5, 50), rel=1e-5)
    assert needed[0] < needed[1] < needed[2]
    for records, multiplier in ((2, needed[1]), (3, needed[2])):
        assert 0.999e-6 < joint_delta_for_user(8, multiplier, 0.5, 50, records) <= 1e-6
        assert multiplier < 0.75 * direct_multiplier(8, 1e-6, 0.5, 50, records)


def test_edges_and_refusals():
    assert joint_delta_for_user(1.0, 1.0, 1.0, 30, 2) == 1.0
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        joint_noise_multiplier_for_user(4, 1e-6, 0.5, 10, 2)
    with pytest.raises(ValueError, match="8192"):
        joint_delta_for_user(1.0, 1.0, 0.001, 30, 2)
    good = {"epsilon": 1.0, "noise_multiplier": 1.0, "rate": 0.3, "threshold": 30, "records": 2}
    for name, bad in (("epsilon", -1), ("noise_multiplier", 0), ("rate", 0), ("threshold", 0), ("records", 0)):
        with pytest.raises(ValueError, match=name):
            joint_delta_for_user(**good | {name: bad})
