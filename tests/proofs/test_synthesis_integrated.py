"""Accounting integrated over the distance inside a randomly projected bucket."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import (
    InfeasibleBudget,
    calibrate,
    collision_probability,
    integrated,
    joint_delta,
    joint_epsilon,
    joint_noise_multiplier,
    release_delta,
    release_epsilon,
    release_noise_std,
    union_epsilon,
    union_noise_std,
)
from privlib.synthesis.joint import deltas_by_size


def test_collisions_follow_the_formula_under_the_random_grid():
    """20,000 projections of one pair; within 5.5 standard errors (false alarm below 1e-7)."""
    dims, edge, runs = 3, 0.6, 20_000
    generator = Simulation(4).generator
    for distance in (0.3, 1.0, 2.0):
        gaps = distance * generator.standard_normal((runs, dims)) / math.sqrt(dims)
        offsets = generator.random((runs, dims)) * edge
        together = (np.floor((gaps + offsets) / edge) == np.floor(offsets / edge)).all(axis=1).mean()
        p = collision_probability(distance, edge, dims)
        assert abs(together - p) < 5.5 * math.sqrt(p * (1 - p) / runs)


def test_the_bound_covers_an_exact_expectation_in_one_dimension():
    """Near and far points, one projected coordinate: the expected delta over the public grid, by simulation.

    Given the grid, delta is at most the mean over bucket mates of delta_N(epsilon; sigma / distance): the
    quantity that the theorem bounds. Its average over 400 grids must lie below the bound.
    """
    rate, tau, noise, epsilon, radius = 0.5, 10, 1.0, 1.0, 1.0
    distances = np.concatenate([np.full(20, 0.2), np.full(60, 30.0)])
    generator = Simulation(8).generator
    values = []
    for _ in range(400):
        gaps = distances * generator.standard_normal(len(distances))
        offset = generator.random() * 2 * radius
        mates = distances[np.floor((gaps + offset) / (2 * radius)) == 0]
        size = len(mates) + 1
        if size < max(tau, 2):
            values.append(0.0)
            continue
        terms = {d: deltas_by_size(epsilon, noise / d, rate, tau, np.array([size]))[0] for d in set(mates)}
        values.append(np.mean([terms[d] for d in mates]))
    bound = release_delta(epsilon, noise, rate, tau, 1, len(distances) + 1, radius)
    assert np.mean(values) <= bound
    assert np.mean(values) > 0


def test_far_members_of_a_bucket_outnumber_what_one_fixed_pair_suggests():
    """The gap in the paper's proof: the share of far bucket mates is 91 times the chance of one far pair.

    100 near points and 10,000 far ones, k = 2; then counted over 300 random grids, where the paper's chance of one in
    a thousand is far below any plausible mean (which is above 0.03 in all but a share below 1e-6 of such runs).
    """
    dims, edge, near, far = 2, 2 / math.sqrt(2), 100, 10_000
    p_near, p_far = collision_probability(1e-3, edge, dims), collision_probability(25.0, edge, dims)
    assert far * p_far / (far * p_far + near * p_near) / p_far == pytest.approx(91, abs=0.5)
    generator, shares = Simulation(6).generator, []
    for _ in range(300):
        offset = generator.random(dims) * edge
        gaps = 25.0 * generator.standard_normal((far, dims)) / math.sqrt(dims)
        mates = (np.floor((gaps + offset) / edge) == 0).all(axis=1).sum()
        shares.append(mates / (mates + near))
    assert np.mean(shares) > 30 * p_far > 0.03


@pytest.mark.parametrize(("epsilon", "rate", "tau", "v"), [(4, 0.3, 30, 4), (16, 0.6, 60, 3)])
def test_the_papers_noise_costs_a_small_part_of_its_epsilon(epsilon, rate, tau, v):
    noise = calibrate(epsilon, 1e-6, rate, tau, v, 2.4, 20).noise_std(1.0)
    spent = release_epsilon(1e-6, noise, rate, tau, 20, 10**6)
    needed = release_noise_std(epsilon, 1e-6, rate, tau, 20, 10**6)
    assert spent < 0.35 * epsilon
    assert needed < 0.5 * noise
    assert release_delta(spent, noise, rate, tau, 20, 10**6) <= 1e-6
    assert 0.99e-6 < release_delta(epsilon, needed, rate, tau, 20, 10**6) <= 1e-6
    if epsilon == 4:
        assert needed == pytest.approx(noise / 4, rel=0.05)


def test_it_scales_with_the_radius_and_grows_with_the_cap():
    base = release_noise_std(4, 1e-6, 0.3, 30, 20, 10**6)
    assert release_noise_std(4, 1e-6, 0.3, 30, 20, 10**6, radius=0.5) == pytest.approx(base / 2, rel=1e-9)
    assert release_noise_std(4, 1e-6, 0.3, 30, 20, 10**8) > base
    assert release_delta(4, base, 0.3, 30, 20, 10**7) > release_delta(4, base, 0.3, 30, 20, 10**5)
    assert release_delta(4, 2 * base, 0.3, 30, 20, 10**6) < release_delta(4, base, 0.3, 30, 20, 10**6)
    # never better than knowing that every member is within half a radius
    assert base > joint_noise_multiplier(4, 1e-6, 0.3, 30) * 0.5


def test_all_or_nothing_lies_between_the_integrated_bound_and_the_worst_case():
    """One distance for all: the joint delta at it, and the chance that any of N_max records beyond it collides."""
    arguments = (4, 1e-6, 0.3, 30, 20, 10**6)
    noise, distance = union_noise_std(*arguments)
    edge = 2 / math.sqrt(20)
    far = 10**6 * collision_probability(distance, edge, 20)
    assert joint_delta(4, noise / distance, 0.3, 30) + far <= 1e-6
    assert joint_delta(4, 0.999 * noise / distance, 0.3, 30) + far > 1e-6
    for other in (0.9 * distance, 1.1 * distance):  # no other distance needs less
        left = 1e-6 - 10**6 * collision_probability(other, edge, 20)
        assert left <= 0 or joint_noise_multiplier(4, left, 0.3, 30) * other > noise
    assert release_noise_std(*arguments) < noise
    assert union_noise_std(*arguments, radius=0.5)[0] == pytest.approx(noise / 2, rel=1e-9)
    assert union_noise_std(*arguments[:-1], 10**8)[0] > noise
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        union_noise_std(4, 1e-6, 0.5, 10, 20, 10**6)


def test_edges_and_refusals():
    assert release_delta(1, 1.0, 1.0, 30, 20, 10**6) == 1.0
    with pytest.raises(InfeasibleBudget, match="delta_threshold"):
        release_noise_std(4, 1e-6, 0.5, 10, 20, 10**6)
    for name, bad in (("noise_std", 0), ("dims", 0), ("max_records", 0), ("radius", -1), ("rate", 0)):
        good = {"epsilon": 1, "noise_std": 1.0, "rate": 0.3, "threshold": 30, "dims": 20, "max_records": 1000}
        with pytest.raises(ValueError, match=name):
            release_delta(**good | {name: bad})


@pytest.mark.parametrize(("noise", "rate", "tau"), [(4.272, 0.3, 30), (2.28, 0.5, 50)])
def test_the_all_or_nothing_epsilon_is_the_inverse_of_its_noise(noise, rate, tau):
    """At the epsilon found the union bound needs the given noise; no other distance gives a smaller epsilon."""
    grid, edge = (rate, tau, 20, 10**6), 2 / math.sqrt(20)
    epsilon, distance = union_epsilon(1e-6, noise, *grid)
    assert joint_delta(epsilon, noise / distance, rate, tau) + 1e6 * collision_probability(distance, edge, 20) <= 1e-6
    assert union_noise_std(epsilon, 1e-6, *grid)[0] == pytest.approx(noise, rel=1e-4)
    for other in (0.95 * distance, 1.1 * distance):
        left = 1e-6 - 1e6 * collision_probability(other, edge, 20)
        assert left <= 0 or joint_delta(epsilon, noise / other, rate, tau) > left
    assert release_epsilon(1e-6, noise, *grid) < epsilon
    assert union_epsilon(1e-6, noise / 2, *grid, radius=0.5)[0] == pytest.approx(epsilon, rel=1e-9)
    assert union_epsilon(1e-6, 0.01, 0.5, 10, 20, 10**6) == (math.inf, math.inf)  # the count alone costs more


def test_epsilons_below_a_half_are_found():
    """Much noise: the root lies below the first bracket."""
    for found, delta_at in (
        (joint_epsilon(1e-6, 11.0, 0.3, 30), lambda e: joint_delta(e, 11.0, 0.3, 30)),
        (release_epsilon(1e-6, 30.0, 0.3, 30, 20, 10**4), lambda e: release_delta(e, 30.0, 0.3, 30, 20, 10**4)),
    ):
        assert 0.3 < found < 0.52
        assert delta_at(found) <= 1e-6 < delta_at(0.99 * found)


def test_stopping_where_the_near_part_alone_is_too_large_misses_no_distance():
    """The slow twin tries every distance of the same ladder."""
    arguments = (4.0, 1.04, 0.3, 30, 20, 10**6)
    edge, distances = 2 / math.sqrt(20), [0.5 * 1.06**step for step in range(60)]
    largest = 1 / 29
    share = [integrated._largest_share(4.0, 1.04 / d, 0.3, 30) for d in distances[1:]] + [largest]
    far = [1e6 * collision_probability(d, edge, 20) * s for d, s in zip(distances, share, strict=True)]
    every = [joint_delta(4.0, 1.04 / d, 0.3, 30) + max(far[i:]) for i, d in enumerate(distances)]
    assert release_delta(*arguments) == pytest.approx(min(every), rel=1e-6)
