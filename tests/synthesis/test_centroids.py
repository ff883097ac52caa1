"""Buckets and the centroid release: what is computed, what is refused, what it is billed."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from privlib.dp import Secure, Simulation
from privlib.synthesis import (
    AnchoredBuckets,
    CentroidRelease,
    InfeasibleBudget,
    JLBuckets,
    PublicSpectrum,
    best_rate,
    composed_noise_multiplier,
    joint_delta,
    joint_noise_multiplier,
    release_noise_std,
    threshold_delta,
    union_noise_std,
)

D = 12


def texts(n: int, seed: int = 0, spread: float = 0.05) -> np.ndarray:
    """Made-up unit vectors around six directions."""
    generator = Simulation(seed).generator
    centres = np.linalg.qr(Simulation(99).generator.standard_normal((D, D)))[0][:6]
    points = centres[generator.integers(0, 6, n)] + spread * generator.standard_normal((n, D))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def mechanism(epsilon: float = 8.0, **changes) -> CentroidRelease:
    buckets = AnchoredBuckets(texts(300, seed=1), cells=6, radius=0.4)
    return CentroidRelease(**dict(buckets=buckets, epsilon=epsilon, delta=1e-6, rate=0.5, threshold=25) | changes)


def noiseless(release: CentroidRelease) -> CentroidRelease:
    class Silent(CentroidRelease):
        def noise_std(self, noise):
            return 0.0

    return Silent(**{field.name: getattr(release, field.name) for field in dataclasses.fields(release)})


def test_without_noise_centroids_are_the_means_of_the_sampled_rows():
    release, data = noiseless(mechanism()), texts(600)
    out = release.release(data, Simulation(5))
    kept = Simulation(5).child("sample").bernoulli(0.5, len(data))
    cells = release.buckets.assign(data[kept])[:, 0]
    assert len(out) == 6
    for cell, centroid, count in zip(out.cells[:, 0], out.centroids, out.counts, strict=True):
        members = data[kept][cells == cell].astype(float)
        residuals = members - release.buckets.anchors[cell]
        norms = np.linalg.norm(residuals, axis=1, keepdims=True)
        residuals *= np.minimum(1, 0.4 / norms)
        assert count == len(members)  # the sampled count, not the true one
        np.testing.assert_allclose(centroid, release.buckets.anchors[cell] + residuals.mean(axis=0), atol=1e-6)


def test_tags_come_in_order_and_counts_reach_the_threshold():
    release = mechanism(buckets=AnchoredBuckets(texts(300, seed=1), cells=20, radius=0.4), threshold=25)
    out = release.release(texts(800), Simulation(2))
    assert 0 < len(out) < 20
    assert np.all(np.diff(out.cells[:, 0]) > 0)
    assert out.counts.min() >= 25
    assert out.centroids.shape == (len(out), D)


def test_nothing_heavy_releases_an_empty_set_and_no_error():
    for data in (texts(30), np.zeros((0, D), dtype=np.float32)):
        for buckets in (AnchoredBuckets(texts(300, seed=1), cells=6, radius=0.4), JLBuckets(4, 0.5, 1, dimension=D)):
            out = mechanism(buckets=buckets, sensitivity="worst_case").release(data, Simulation(1))
            assert len(out) == 0
            assert out.centroids.shape == (0, D)


def test_every_coordinate_of_every_bucket_gets_noise_of_the_billed_size():
    """400 releases: each of 6 x 12 coordinates within 6 standard errors of the stated one (false alarm < 1e-6)."""
    release, data, runs = mechanism(epsilon=8.0), texts(600), 400
    clean = noiseless(release)
    samples = []
    for seed in range(runs):
        noisy, quiet = release.release(data, Simulation(seed)), clean.release(data, Simulation(seed))
        samples.append((noisy.centroids - quiet.centroids) * noisy.counts[:, None])
    spread = np.std(samples, axis=0)
    expected = joint_noise_multiplier(8.0, 1e-6, 0.5, 25) * 2 * 0.4
    assert release.noise_std(Simulation(0)) == expected
    allowed = 6 / np.sqrt(2 * runs)
    assert np.all(np.abs(spread / expected - 1) < allowed)
    assert np.all(np.abs(0.7 * spread / expected - 1) > allowed / 2)  # noise 30 % too small shows
    assert np.any(np.abs(0.7 * spread / expected - 1) > allowed)


class KeepAll(Simulation):
    """Every coin comes up kept, so that a test sees the record it changed."""

    def child(self, name):
        return self

    def bernoulli(self, probability, size):
        return np.ones(size, dtype=bool)


def test_adding_one_record_moves_one_exact_sum_by_at_most_its_sensitivity():
    """Deterministic bound: two clipped records of a cell, however far apart they are, differ by at most 2 rho."""
    buckets = AnchoredBuckets.at(np.zeros((1, D)), radius=0.4)
    release = noiseless(CentroidRelease(buckets, 8, 1e-6, 0.5, 25))
    far = np.zeros((60, D), dtype=np.float64)
    far[:, 0] = 1e6
    for other in (far * -1, far * 1e30, far * 0):
        changed = far.copy()
        changed[0] = other[0]
        first, second = (release.release(data, KeepAll(1)) for data in (far, changed))
        assert first.counts == second.counts == [60]
        moved = np.linalg.norm(first.centroids * first.counts[:, None] - second.centroids * second.counts[:, None])
        assert moved <= 2 * 0.4 * (1 + 1e-12)


def test_sums_do_not_depend_on_the_order_of_records():
    release, data = noiseless(mechanism()), texts(2000)
    first = release.release(data, KeepAll(1)).centroids
    second = release.release(data[::-1], KeepAll(1)).centroids
    assert len(first) == 6
    np.testing.assert_array_equal(first, second)


def test_the_same_seed_gives_the_same_release_and_another_seed_another():
    release, data = mechanism(), texts(600)
    first, again, other = (release.release(data, Simulation(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.centroids, again.centroids)
    assert not np.array_equal(first.centroids, other.centroids)


def test_secure_releases_and_bills_the_composition_never_the_joint_curve():
    release = mechanism(epsilon=8.0)
    out = release.release(texts(600), Secure())
    assert out.kind == "secure"
    assert out.noise_std > release.noise_std(Simulation(0))
    assert "idealized numerics" not in out.guarantee.assumptions
    assert "exact threshold" in out.guarantee.composed
    assert (out.guarantee.epsilon, out.guarantee.delta) == (8.0, 1e-6)
    # the bill: exact threshold and OpenDP's own map together stay within the budget
    _, (epsilon_used, delta_used) = composed_noise_multiplier(8.0, 1e-6, 0.5, 25)
    assert threshold_delta(epsilon_used, 0.5, 25) <= delta_used
    spent = Secure().bill_gaussian(1e-6 - delta_used, out.noise_std, release.buckets.diameter, D)
    assert spent <= 8.0 - epsilon_used


def test_simulated_guarantee_says_so():
    guarantee = mechanism().guarantee
    assert "idealized numerics" in guarantee.assumptions
    assert (guarantee.unit, guarantee.relation) == ("record", "add_drop")


def test_the_grid_is_billed_over_distances_or_in_the_worst_case():
    grid = JLBuckets(20, 0.5, 3, dimension=D)
    averaged = CentroidRelease(grid, 4, 1e-6, 0.3, 30)
    worst = CentroidRelease(grid, 4, 1e-6, 0.3, 30, sensitivity="worst_case")
    assert averaged.sensitivity == "integrated"
    assert averaged.noise_std(Simulation(0)) == pytest.approx(
        release_noise_std(4, 1e-6, 0.3, 30, 20, 1_000_000, 0.5), rel=1e-4
    )
    assert worst.noise_std(Simulation(0)) == joint_noise_multiplier(4, 1e-6, 0.3, 30) * 2.0
    union = CentroidRelease(grid, 4, 1e-6, 0.3, 30, sensitivity="union")
    assert union.noise_std(Simulation(0)) == pytest.approx(
        union_noise_std(4, 1e-6, 0.3, 30, 20, 1_000_000, 0.5)[0], rel=1e-4
    )
    for mechanism_ in (averaged, union):
        assert "data fixed before the public projection" in mechanism_.guarantee.assumptions
    assert "data fixed before the public projection" not in worst.guarantee.assumptions
    assert averaged.noise_std(Secure()) > worst.noise_std(Simulation(0))
    with pytest.raises(ValueError, match="sensitivity"):
        mechanism(sensitivity="integrated")


def test_grid_cells_are_the_papers_formula():
    grid, data = JLBuckets(5, 0.3, 8, dimension=D), texts(40)
    again = JLBuckets(5, 0.3, 8, dimension=D)
    np.testing.assert_array_equal(grid.projection, again.projection)
    edge = 2 * 0.3 / np.sqrt(5)
    expected = np.floor((data.astype(float) @ grid.projection - grid.offsets) / edge)
    np.testing.assert_array_equal(grid.assign(data), expected)
    assert np.all((grid.offsets >= 0) & (grid.offsets < edge))
    assert not np.array_equal(grid.projection, JLBuckets(5, 0.3, 9, dimension=D).projection)


def test_someone_who_sees_the_projection_puts_far_points_in_one_bucket():
    """What no averaged bound covers: a move along the null space of Z^T changes no coordinate of the bucket."""
    grid = JLBuckets(4, 0.3, 2, dimension=D, max_norm=10.0)
    null = np.linalg.svd(grid.projection.T)[2][-1]
    point = 0.01 * texts(1)[0]
    pair = np.array([point, point + 9.0 * null])
    first, second = grid.assign(pair)
    np.testing.assert_array_equal(first, second)
    assert np.linalg.norm(pair[0] - pair[1]) == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (np.full((5, D), np.nan), ValueError),
        (np.full((5, D), np.inf), ValueError),
        (np.zeros((5, D + 1)), ValueError),
        (np.zeros(D), ValueError),
        (np.zeros((5, D), dtype=int), TypeError),
        (np.full((5, D), np.longdouble("1e400")), TypeError),
    ],
)
def test_malformed_embeddings_are_refused_without_a_value(bad, error):
    with pytest.raises(error) as caught:
        mechanism().release(bad, Simulation(1))
    assert "nan" not in str(caught.value).lower()
    assert "inf" not in str(caught.value).lower().replace("finite", "")


def test_infeasible_and_missing_parameters_fail_before_any_data():
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        mechanism(threshold=10)
    with pytest.raises(TypeError):
        CentroidRelease(mechanism().buckets, epsilon=4, delta=1e-6, rate=0.5)
    with pytest.raises(ValueError, match="max_records"):
        mechanism(max_records=2**30)
    with pytest.raises(ValueError, match="max_records"):
        mechanism(max_records=10).release(texts(11), Simulation(1))
    with pytest.raises(ValueError, match="cells"):
        AnchoredBuckets(texts(3), cells=5, radius=0.4)


@pytest.mark.parametrize("sensitivity", ["integrated", "union"])
def test_in_few_dimensions_the_diameter_bounds_what_no_projection_does(sensitivity):
    """One dimension: far records share buckets so often that the expectation over projections bounds nothing."""
    public = dict(epsilon=4.0, delta=1e-6, rate=0.3, threshold=30)
    with pytest.raises(InfeasibleBudget, match="delta_sensitivity"):
        release_noise_std(*public.values(), dims=1, max_records=1_000_000)
    release = CentroidRelease(JLBuckets(1, 0.5, 3, dimension=D), **public, sensitivity=sensitivity)
    worst = dataclasses.replace(release, sensitivity="worst_case")
    assert release.noise_std(Simulation(0)) == worst.noise_std(Simulation(0)) > 0
    assert release.guarantee == worst.guarantee  # which assumes nothing of the projection


@pytest.mark.parametrize("sensitivity", ["integrated", "union"])
def test_an_average_that_asks_for_more_than_the_diameter_is_not_billed(sensitivity):
    """Four dimensions: the average has a bill, of several times the noise."""
    grid = JLBuckets(4, 0.5, 3, dimension=D)
    release = CentroidRelease(grid, 4, 1e-6, 0.3, 30, 100, sensitivity=sensitivity)
    worst = dataclasses.replace(release, sensitivity="worst_case")
    public = (4, 1e-6, 0.3, 30, 4, 100, 0.5)
    averaged = release_noise_std(*public) if sensitivity == "integrated" else union_noise_std(*public)[0]
    assert averaged > release.noise_std(Simulation(0)) == worst.noise_std(Simulation(0))
    assert release.guarantee == worst.guarantee


def test_denoising_uses_the_release_and_public_directions_only():
    """Private offsets inside a two-dimensional public subspace: most of the noise goes, the signal stays."""
    generator = Simulation(3).generator
    basis = np.linalg.qr(generator.standard_normal((D, D)))[0]
    spectrum = PublicSpectrum.fit((generator.standard_normal((500, 2)) * 0.3) @ basis[:, :2].T)
    truth = (generator.standard_normal((40, 2)) * 0.3) @ basis[:, :2].T
    noisy = truth + 0.2 * generator.standard_normal(truth.shape)
    better = spectrum.shrink(noisy, np.full(40, 0.04))
    assert np.linalg.norm(better - truth) < 0.6 * np.linalg.norm(noisy - truth)
    np.testing.assert_allclose(spectrum.shrink(truth, np.zeros(40)), truth, atol=1e-12)
    np.testing.assert_allclose(spectrum.shrink(0.01 * noisy, np.full(40, 0.04)), 0, atol=1e-12)


def test_the_public_rate_is_the_one_with_least_noise_per_kept_record():
    rate, threshold, multiplier = best_rate(4, 1e-5, 50)
    assert multiplier == joint_noise_multiplier(4, 1e-5, rate, threshold)
    assert multiplier / rate < joint_noise_multiplier(4, 1e-5, 0.5, 25) / 0.5
    with pytest.raises(InfeasibleBudget, match="frequency"):
        best_rate(1, 1e-6, 30)


@pytest.mark.parametrize("noise", [Simulation(0), Secure()], ids=["simulation", "secure"])
@pytest.mark.parametrize("sensitivity", ["worst_case", "integrated"])
def test_every_guarantee_names_the_cap_and_that_records_are_embedded_alone(noise, sensitivity):
    grid = CentroidRelease(JLBuckets(20, 0.5, 3, dimension=D), 4, 1e-6, 0.3, 30, 500, sensitivity=sensitivity)
    for release in (grid, mechanism(max_records=500)):
        assumptions = release.guarantee_under(noise).assumptions
        assert "at most 500 records" in assumptions
        assert "embeddings computed record by record" in assumptions


@pytest.mark.parametrize("radius", [5e-324, 1e-300, 1e-17])
def test_a_grid_whose_tags_would_overflow_is_refused(radius):
    with pytest.raises(ValueError, match=r"radius must be larger.*2\^52"):
        JLBuckets(4, radius, 1, dimension=D)
    with pytest.raises(ValueError, match="radius must be larger"):
        JLBuckets(4, 1.0, 1, dimension=D, max_norm=1 / radius if radius > 1e-300 else 1e300)


def test_the_finest_grid_allowed_still_separates_opposite_points():
    grid = JLBuckets(4, 1e-14, 1, dimension=D)
    point = np.eye(D)[:1]
    assert np.all(np.sign(grid.assign(point)) == np.sign(grid.projection[0]))
    assert np.all(np.sign(grid.assign(-point)) == -np.sign(grid.projection[0]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", ["anchored", "grid"])
def test_the_longest_finite_record_neither_raises_nor_warns(dtype, kind):
    buckets = mechanism().buckets if kind == "anchored" else JLBuckets(4, 0.5, 1, dimension=D)
    data = texts(60).astype(dtype)
    data[:3] = [np.full(D, np.finfo(dtype).max), np.full(D, np.finfo(dtype).min), np.full(D, np.finfo(dtype).tiny)]
    release = noiseless(mechanism(buckets=buckets, threshold=25, rate=0.5, sensitivity="worst_case"))
    assert np.isfinite(release.release(data, KeepAll(1)).centroids).all()
    long = buckets.assign(data[:1])
    np.testing.assert_array_equal(long, buckets.assign(np.full((1, D), 1e3)))  # only the direction counts


def border_rows(d: int, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Anchors, and rows half-way between two of them: the last bit of a product decides their cell."""
    anchors = Simulation(4).generator.standard_normal((cells, d))
    anchors /= np.linalg.norm(anchors, axis=1, keepdims=True)
    pairs = Simulation(5).generator.integers(0, cells, (501, 2))
    return anchors, anchors[pairs].mean(axis=1)


@pytest.mark.parametrize("kind", ["anchored", "grid"])
def test_the_cell_of_a_record_depends_on_that_record_alone(kind):
    anchors, rows = border_rows(48, 40)
    if kind == "anchored":
        buckets = AnchoredBuckets.at(anchors, radius=0.4)
    else:
        buckets = JLBuckets(8, 1e-13, 1, dimension=48)  # so fine that the last bits of the projection are the tag
    together = buckets.assign(rows)
    np.testing.assert_array_equal(np.concatenate([buckets.assign(row[None]) for row in rows]), together)
    for length in (1, 2, 3, 7, 500):
        np.testing.assert_array_equal(buckets.assign(rows[:length]), together[:length])
    order = Simulation(6).generator.permutation(len(rows))
    np.testing.assert_array_equal(buckets.assign(rows[order]), together[order])
    np.testing.assert_array_equal(buckets.assign(np.asfortranarray(rows)), together)
    appended = np.concatenate([rows, np.full((1, 48), 1e308)])
    np.testing.assert_array_equal(buckets.assign(appended)[:-1], together)


def test_the_parts_of_a_secure_bill_add_up_to_at_most_the_budget_exactly():
    class Asked(Secure):
        def gaussian_std(self, epsilon, delta, l2_sensitivity, size):
            self.share = (epsilon, delta)
            return 1.0

    for epsilon in (2.7, 3.1, 4.0, 5.3, 6.1, 7.7, 8.0):
        noise = Asked()
        mechanism(epsilon=epsilon, threshold=40).noise_std(noise)
        _, used = composed_noise_multiplier(epsilon, 1e-6, 0.5, 40)
        for part, rest, whole in zip(used, noise.share, (epsilon, 1e-6), strict=True):
            assert Fraction(part) + Fraction(rest) <= Fraction(whole)


def test_joint_delta_is_never_zero_and_refuses_what_it_cannot_scan():
    assert joint_delta(np.inf, 1, 0.1, 400) > 0
    assert joint_delta(30, 1, 0.1, 400) > 0
    with pytest.raises(ValueError, match="rate and threshold"):
        joint_delta(1, 1, 1e-5, 10)
    with pytest.raises(ValueError, match="rate and threshold"):
        joint_delta(1, 1, 1e-320, 10)


@pytest.mark.parametrize("variances", [[np.nan, 1.0], [-1.0, 1.0], [np.inf, 1.0], [1.0], [[1.0], [1.0]]])
def test_denoising_refuses_variances_that_are_none(variances):
    spectrum = PublicSpectrum.fit(np.eye(D))
    with pytest.raises(ValueError, match="variances"):
        spectrum.shrink(np.ones((2, D)), np.array(variances))
