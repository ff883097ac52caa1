"""Fre-E2T, Sections 4.1 and 5.1: what a projection keeps, what an edge does, what a bound on distances buys.

Claims F026, F030, F042, F043 and F125.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2, kstest, norm

from privlib.dp import Simulation, gaussian_delta
from privlib.synthesis import AnchoredBuckets, CentroidRelease, JLBuckets, collision_probability, threshold_count

# F026: noise for Delta, and a failure that is paid


def replaced_member_delta(epsilon, std, near, far, distances) -> float:
    """Divergence, the larger of both directions, of a sum with x from one with y drawn from the bucket's other members.

    One coordinate, all other kept records alike: N(0, std^2) against the mixture of N(distance, std^2) with `near` and
    `far` members at the two `distances`; by integration.
    """
    z = np.linspace(-40, 40, 160_001) * max(std, 1.0)
    x = norm.pdf(z, 0, std)
    y = (near * norm.pdf(z, distances[0], std) + far * norm.pdf(z, distances[1], std)) / (near + far)
    step = z[1] - z[0]
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() * step for a, b in ((x, y), (y, x)))


@pytest.mark.parametrize(("near", "far"), [(10, 0), (99, 1), (9, 1), (1, 1)])
@pytest.mark.parametrize(("epsilon", "std"), [(0.5, 1.5), (1.0, 2.0), (3.0, 0.8)])
def test_noise_for_the_stated_distance_costs_the_gaussians_delta_and_the_chance_of_a_farther_member(
    near, far, epsilon, std
):
    """Delta = 1; far members stand 12 away. Without the failure the bill is broken, so it is no idle one."""
    share = far / (near + far)
    spent = replaced_member_delta(epsilon, std, near, far, (1.0, 12.0))
    clean = gaussian_delta(epsilon, std, 1.0)
    assert spent <= (clean + share) * (1 + 1e-6)  # of the integration
    if far:
        assert spent > clean
    else:
        assert spent == pytest.approx(clean, rel=1e-6)  # attained, so less noise would be caught


def test_the_failure_is_that_of_a_member_and_not_of_one_fixed_pair():
    """Negative control: the chance that one fixed far point shares the bucket does not pay for many far points."""
    pair = collision_probability(12.0, 2.0, 1)
    crowd = 2000 * pair  # far members to be expected beside one near one
    spent = replaced_member_delta(1.0, 2.0, 1.0, crowd, (1.0, 12.0))
    assert spent > gaussian_delta(1.0, 2.0, 1.0) + pair
    assert spent <= gaussian_delta(1.0, 2.0, 1.0) + crowd / (1 + crowd)


# F030: sampled reports of a bucket that is not frequent


@given(st.integers(1, 999), st.integers(1, 400))
def test_a_bucket_of_fewer_than_t_records_has_fewer_sampled_reports_than_the_threshold_on_average(thousandths, t):
    rate, tau = thousandths / 1000, threshold_count(f"0.{thousandths:03d}", t)
    for records in {0, t // 2, t - 1}:
        average = float(np.arange(records + 1) @ binom.pmf(np.arange(records + 1), records, rate))
        assert average == pytest.approx(rate * records, abs=1e-9)
        assert average < tau
    assert rate * t <= tau + 1e-9 < rate * t + 1 + 1e-6  # the smallest whole threshold that does it


@pytest.mark.parametrize(("rate", "tau"), [(0.3, 30), (0.5, 50), (0.6, 60)])
def test_filtered_out_on_average_is_not_filtered_out(rate, tau):
    """At the paper's settings a bucket of 99 passes about every second time, one of 50 hardly ever at rate .3."""
    assert 0.4 < binom.sf(tau - 1, 99, rate) < 0.55
    assert binom.sf(29, 50, 0.3) < 1e-4


# F042: what a Gaussian projection does to a distance


@pytest.mark.parametrize("dims", [5, 20])
def test_a_projected_squared_distance_has_the_chi_square_law(dims):
    """Rows of the library's projection are images of orthogonal unit vectors: 8,000 draws of chi^2_k / k.

    Kolmogorov-Smirnov at 1e-6; a projection without 1/sqrt(k), 5 % too long, or of signs is seen.
    """
    projection = JLBuckets(dims, 0.5, public_seed=3, dimension=8000).projection
    squares = (projection**2).sum(axis=1)
    assert kstest(dims * squares, chi2(dims).cdf).pvalue > 1e-6
    signs = np.sign(projection) / math.sqrt(dims)
    for wrong in (dims * squares, 1.05**2 * squares, (signs**2).sum(axis=1)):
        assert kstest(dims * wrong, chi2(dims).cdf).pvalue < 1e-6


def off_by(eta, dims):
    """Chance that a squared distance is off by more than a share eta: exact, by the chi-square law."""
    return chi2.cdf((1 - eta) * dims, dims) + chi2.sf((1 + eta) * dims, dims)


@pytest.mark.parametrize("eta", [0.1, 0.3, 0.5])
def test_distances_are_kept_once_k_is_large_enough(eta):
    """Johnson and Lindenstrauss by the exact law: the tail falls in k, keeps to its bound, and covers all pairs."""
    dims = np.array([5, 20, 80, 320, 1280, 5120])
    tails = off_by(eta, dims)
    assert np.all(np.diff(tails) < 0)
    assert np.all(tails <= 2 * np.exp(-dims * (eta**2 / 4 - eta**3 / 6)))
    records = 10**6
    enough = math.ceil(6 * math.log(records) / (eta**2 / 2 - eta**3 / 3))  # Dasgupta and Gupta's 4 leaves no room
    assert records**2 / 2 * off_by(eta, enough) < 0.01


def test_the_papers_twenty_coordinates_do_not_keep_them():
    """k = 20: a distance itself is off by a tenth or more nearly every second time, and among a million records' pairs
    some are off by more than half; only the law of collisions, not this lemma, bears the proofs.
    """
    off_by_a_tenth = chi2.cdf(0.81 * 20, 20) + chi2.sf(1.21 * 20, 20)
    assert 0.45 < off_by_a_tenth < 0.6
    assert 10**12 / 2 * chi2.cdf(0.25 * 20, 20) > 1e6


# F043: what the edge does


def cells_on_average(points, edges, steps=(40, 40)) -> float:
    """Mean number of occupied cells of points float[n, 2], over a lattice of `steps` offsets."""
    tags = []
    for j in (0, 1):
        offsets = (np.arange(steps[j]) + 0.5) / steps[j]
        tags.append(np.floor(points[:, j, None] / edges[j] - offsets))
    pairs = itertools.product(tags[0].T, tags[1].T)
    return float(np.mean([len(set(zip(one, two, strict=True))) for one, two in pairs]))


def test_a_longer_edge_leaves_fewer_cells_on_average_for_any_points():
    """Fix all offsets but one: cells that the others make are cut by a line of cells, 1 + sum min(1, gap / L) each on
    average, which falls in L; edges are lengthened one after another. Held in one and in two coordinates.
    """
    draw = np.random.default_rng(4)
    for points in (draw.normal(size=(12, 2)), np.repeat(draw.normal(size=(3, 2)), 4, axis=0)):
        line = np.column_stack([points[:, 0], np.zeros(12)])
        for edge in (0.3, 1.0, 2.5):
            gaps = np.diff(np.sort(line[:, 0]))
            exact = 1 + np.minimum(1, gaps / edge).sum()
            assert cells_on_average(line, (edge, 1.0), (2000, 1)) == pytest.approx(exact, abs=0.02)
        edges = ((0.4, 0.4), (0.8, 0.4), (0.8, 0.8), (1.3, 0.8), (2.5, 2.5))
        seen = [cells_on_average(points, pair) for pair in edges]
        assert np.all(np.diff(seen) <= 0.05)
        assert seen[-1] < seen[0]


def test_a_longer_edge_lets_every_pair_collide_more_often_and_far_pairs_most():
    distances = np.array([0.1, 0.5, 1.0, 2.0, 4.0])
    for dims in (1, 10, 20):
        chances = np.array([collision_probability(distances, edge, dims) for edge in (0.05, 0.1, 0.2, 0.4, 0.8)])
        assert np.all(np.diff(chances, axis=0) > 0)  # in the edge
        assert np.all(np.diff(chances, axis=1) < 0)  # in the distance
        growth = chances[-1] / chances[0]
        assert np.all(np.diff(growth) > 0)


def test_the_librarys_grid_has_more_and_smaller_clusters_at_a_smaller_edge():
    """200 points around 10 centres, 30 public seeds: mean numbers of cells and sizes of a point's cell move apart."""
    draw = np.random.default_rng(9)
    points = (draw.normal(size=(10, 16)).repeat(20, axis=0) + 0.3 * draw.normal(size=(200, 16))) / 12
    cells, sizes = [], []
    for radius in (0.1, 0.3, 0.9, 2.7):
        counts = [
            np.unique(JLBuckets(4, radius, seed, dimension=16).assign(points), axis=0, return_counts=True)[1]
            for seed in range(30)
        ]
        cells.append(np.mean([len(c) for c in counts]))
        sizes.append(np.mean([(c**2).sum() / 200 for c in counts]))
    assert np.all(np.diff(cells) < -2)
    assert np.all(np.diff(sizes) > 2)


# F125: what the threshold does


def test_a_higher_threshold_releases_a_part_of_the_same_buckets():
    """The same coins at t = 100 and 200, rate .5: a bucket of n kept records is out from its n on, whatever else is."""
    sizes = np.arange(60, 560, 25)
    centres = np.eye(len(sizes)) * 3
    rows = centres.repeat(sizes, axis=0)
    rule = AnchoredBuckets.at(centres, radius=0.5)
    found = {}
    for t in (100, 125, 150, 200):
        release = CentroidRelease(rule, epsilon=8, delta=1e-6, rate=0.5, threshold=threshold_count(0.5, t))
        out = release.release(rows, Simulation(5))
        found[t] = dict(zip(out.cells[:, 0].tolist(), out.counts.tolist(), strict=True))
    for lower, higher in itertools.pairwise(found):
        assert found[higher].items() < found[lower].items()  # fewer, and with the same counts
    assert found[200] == {cell: n for cell, n in found[100].items() if n >= 100}
