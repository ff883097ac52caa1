"""Support protection counted over runs: what is counted, and what the intervals promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import chndtr
from scipy.stats import binom, t

from privlib.dp import Simulation
from privlib.evaluation.support import (
    distance_by_neighbours,
    mean_upper,
    near_chance,
    runs_needed,
    support_protection,
    upper_bound,
)

TEXTS = np.array([[0.0], [10.0], [20.0], [30.0]])


def outputs(*places: float) -> np.ndarray:
    return np.array(places, dtype=float).reshape(-1, 1)


def test_rates_are_counted_text_by_text_and_run_by_run():
    runs = [outputs(0.5, 50.0), outputs(0.5, 10.5), outputs(9.4), outputs(), outputs(9.4, 29.9), outputs(50.0)]
    (near, wide) = support_protection(TEXTS, iter(runs), [0.5, 1.0], picking=2)
    assert near.mean == pytest.approx(np.mean([1 / 4, 2 / 4, 0, 0, 1 / 4, 0]))
    assert wide.mean == pytest.approx(np.mean([1 / 4, 2 / 4, 1 / 4, 0, 2 / 4, 0]))
    assert (near.any_run, wide.any_run) == (3 / 6, 4 / 6)
    assert (near.runs, near.picking, near.texts, near.reach) == (6, 2, 4, 0.5)
    means = [1 / 4, 2 / 4, 0, 0, 1 / 4, 0]
    half = t(5).ppf(0.975) * np.std(means, ddof=1) / np.sqrt(6)
    assert near.high == pytest.approx(near.mean + half)
    assert near.low == max(0.0, near.mean - half)


def test_the_worst_text_is_picked_on_runs_of_its_own():
    """Text 0 fails in both picking runs and never after: its rate is 0, whatever it did while it was picked."""
    runs = [outputs(0.0), outputs(0.0), *[outputs(10.0)] * 6]
    (found,) = support_protection(TEXTS, runs, [1.0], picking=2)
    assert (found.worst_text, found.worst, found.worst_low) == (0, 0.0, 0.0)
    assert found.worst_high == pytest.approx(1 - 0.025 ** (1 / 6))
    (other,) = support_protection(TEXTS, runs[::-1], [1.0], picking=2)
    assert (other.worst_text, other.worst) == (1, 4 / 6)
    assert other.worst_low < 4 / 6 < other.worst_high


def test_a_zero_always_comes_with_its_upper_bounds():
    (none,) = support_protection(TEXTS, [outputs(50.0)] * 20, [1.0], picking=10)
    assert (none.mean, none.any_run, none.worst) == (0.0, 0.0, 0.0)
    assert [none.any_upper, none.mean_upper] == pytest.approx([1 - 0.05 ** (1 / 20)] * 2, rel=1e-9)
    assert none.any_upper == pytest.approx(3 / 20, rel=0.08)
    assert none.worst_high > 2 * none.any_upper / 1.5  # fewer runs show less
    assert runs_needed(1e-5) == 299_572
    assert runs_needed(none.any_upper + 1e-9) == 20


def test_bounds_are_clopper_pearson_and_hoeffding():
    for failures, runs in ((0, 5), (2, 10), (9, 10)):
        bound = upper_bound(failures, runs)
        assert binom.cdf(failures, runs, bound) == pytest.approx(0.05, rel=1e-8)
        assert mean_upper(failures / runs, runs) >= bound * (1 - 1e-9)  # holds for more laws, so it is wider
    assert upper_bound(10, 10) == mean_upper(1.0, 10) == 1.0


def test_the_bounds_cover_and_too_narrow_ones_would_not():
    """2,000 experiments of 30 runs, level 95 %: false alarm below 1e-6 (5 standard errors); the mean itself fails.

    A run fails on all texts together or on none, the hardest law for a mean over texts.
    """
    generator, true, experiments, runs = Simulation(3).generator, 0.1, 2000, 30
    failures = generator.binomial(runs, true, experiments)
    allowed = 0.05 + 5 * np.sqrt(0.05 * 0.95 / experiments)
    for bound in (upper_bound, lambda k, n: mean_upper(k / n, n)):
        missed = np.mean([bound(int(k), runs) < true for k in failures])
        assert missed <= allowed
    assert np.mean(failures / runs < true) > 3 * allowed  # the share alone is no bound
    picked_on_itself = np.mean([upper_bound(int(min(pair)), runs) < true for pair in failures.reshape(-1, 2)])
    assert picked_on_itself > allowed  # choosing on the runs that are shown breaks the promise


@pytest.mark.parametrize("d", [2, 5, 30])
def test_the_chance_of_a_near_centroid_is_bounded_by_the_exact_tail(d):
    """One centroid: above the noncentral chi-squared law, and by a factor of at most 30; two dimensions fewer fail."""
    text, mean, stds = np.zeros((1, d)), np.eye(d)[:1], [0.15, 0.3, 1.0]
    for std in stds:
        for reach in (0.2, 0.5, 0.8):
            exact = float(chndtr((reach / std) ** 2, d, 1 / std**2))
            bound = float(near_chance(text, mean, np.array([std]), reach)[0])
            assert exact <= bound <= 30 * exact or bound == 1.0
    assert near_chance(text, mean, np.array([1.0]), 30.0)[0] == 1.0
    if d > 2:
        fewer = near_chance(text[:, 2:], np.eye(d)[:1, :-2], np.array([0.3]), 0.5)[0]
        assert fewer > near_chance(text, mean, np.array([0.3]), 0.5)[0]


def test_it_shows_what_counting_cannot():
    """384 coordinates: noise of deviation 0.05 alone keeps a centroid 0.98 away, whatever the runs would count."""
    texts, means = np.zeros((2, 384)), np.zeros((3, 384))
    texts[1, 0] = 3.0
    found = near_chance(texts, means, np.full(3, 0.05), 0.5)
    assert 0 < found[1] < 1e-200 < found[0] < 1e-20
    np.testing.assert_allclose(found[:1], 3 * near_chance(texts[:1], means[:1], np.array([0.05]), 0.5))
    for stds in (np.array([0.0]), np.array([np.nan]), np.array([1.0, 1.0])):
        with pytest.raises(ValueError, match="noise_stds"):
            near_chance(texts, means[:1], stds, 0.5)


def test_groups_of_neighbour_counts():
    groups = distance_by_neighbours(
        np.array([0, 3, 9, 10, 40]), np.array([5.0, 4.0, 2.0, 1.0, 0.5]), [0, 1, 10, 20, 30]
    )
    assert [(g.low, g.high, g.texts, g.mean_distance) for g in groups] == [
        (0, 0, 1, 5.0),
        (1, 9, 2, 3.0),
        (10, 19, 1, 1.0),
    ]
    with pytest.raises(ValueError, match="edges"):
        distance_by_neighbours(np.array([1]), np.array([1.0]), [3, 3])
    with pytest.raises(ValueError, match="counts and distances"):
        distance_by_neighbours(np.array([1, 2]), np.array([1.0]), [0, 3])


def test_what_cannot_be_told_raises():
    for keywords, match in (
        ({"infrequent": np.zeros((0, 1))}, "infrequent"),
        ({"reaches": []}, "reaches"),
        ({"reaches": [0.0]}, "reaches"),
        ({"picking": 0}, "picking"),
        ({"picking": 5}, "runs"),
        ({"alpha": 1.0}, "alpha"),
    ):
        with pytest.raises(ValueError, match=match):
            support_protection(
                **{"infrequent": TEXTS, "runs": [outputs(1.0)] * 5, "reaches": [1.0], "picking": 2} | keywords
            )
