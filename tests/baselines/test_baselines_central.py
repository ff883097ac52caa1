"""The curator's release: its bill by integration, the bucket of one, and what it finds beside local noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from privlib.baselines.central import CuratorRelease
from privlib.baselines.local import LocalBuckets
from privlib.dp import Secure, Simulation, gaussian_delta
from privlib.evaluation.embedding import heavy_buckets
from privlib.synthesis import AnchoredBuckets, CentroidRelease

D = 6
BUCKETS = AnchoredBuckets.at(np.eye(D)[:4], radius=0.5)
LINE = AnchoredBuckets.at(np.zeros((1, 1)), radius=2.0)


def rows(*sizes: int) -> np.ndarray:
    spots = np.repeat(np.arange(len(sizes)), sizes)
    return np.eye(D)[spots] + 0.05 * Simulation(0).generator.standard_normal((len(spots), D))


def curator(**changes) -> CuratorRelease:
    return CuratorRelease(**{"buckets": BUCKETS, "epsilon": 4.0, "delta": 1e-6, "threshold": 100.0} | changes)


def hockey_stick(release: CuratorRelease, records: int) -> float:
    """One bucket on a line, x at the clip norm, the others at the origin: both directions, by integration."""
    s, big = release.deviations(Simulation(0))
    tau, worst = release.threshold, 0.0
    counts = np.linspace(tau, records + 10 * s, 1201)
    sums = np.linspace(-9 * big, 2.0 + 9 * big, 1201)
    cell = (counts[1] - counts[0]) * (sums[1] - sums[0])
    with_x = np.outer(norm(records, s).pdf(counts), norm(2.0, big).pdf(sums))
    silent_with, silent_without = norm(records, s).cdf(tau), norm(records - 1, s).cdf(tau)
    without = np.outer(norm(records - 1, s).pdf(counts), norm(0.0, big).pdf(sums))
    if records == 1:
        without, silent_without = 0 * without, 1.0  # x's bucket is not occupied without it
    for p, q, p_silent, q_silent in (
        (with_x, without, silent_with, silent_without),
        (without, with_x, silent_without, silent_with),
    ):
        inside = np.maximum(0, p - math.exp(release.epsilon) * q).sum() * cell
        worst = max(worst, inside + max(0.0, p_silent - math.exp(release.epsilon) * q_silent))
    return worst


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_the_bill_covers_every_bucket_size_by_integration(share):
    """Large delta and a low threshold, so that both terms weigh: buckets of 1 to 6 records on a line."""
    release = CuratorRelease(LINE, epsilon=1.0, delta=0.2, threshold=3.5, count_share=share)
    found = [hockey_stick(release, records) for records in range(1, 7)]
    assert max(found) <= 0.2 * (1 + 2e-3)
    assert max(found) > 0.19  # and it is spent: 5 % too little noise would be seen
    s, big = release.deviations(Simulation(0))
    assert gaussian_delta(1.0, 1.0, math.sqrt(1 / s**2 + 4 / big**2)) == pytest.approx(0.2, rel=1e-6)
    assert found[0] == pytest.approx(release.shown_alone(s, Simulation(0)), rel=1e-2)


def test_the_bucket_of_one_can_cost_more_than_the_gaussian_and_is_then_refused():
    """At threshold 1.2 the Gaussian part alone would promise delta = 1e-3 and be wrong by far."""
    with pytest.raises(ValueError, match="a bucket of one record is shown"):
        CuratorRelease(LINE, epsilon=1.0, delta=1e-3, threshold=1.2)

    class Unchecked(CuratorRelease):
        def shown_alone(self, count_std, noise):
            return 0.0

    wrong = Unchecked(LINE, epsilon=1.0, delta=1e-3, threshold=1.2)
    assert hockey_stick(wrong, 1) > 0.4
    assert max(hockey_stick(wrong, records) for records in range(2, 5)) <= 1e-3 * (1 + 1e-2)


def test_a_bucket_of_one_is_shown_as_often_as_billed():
    """4,000 runs, 6 standard errors (below 1e-8); half the rate, or twice, would be seen."""
    release = CuratorRelease(LINE, epsilon=2.0, delta=0.1, threshold=2.5, count_share=0.5)
    chance = release.shown_alone(release.deviations(Simulation(0))[0], Simulation(0))
    runs = 4000
    shown = sum(len(release.release(np.ones((1, 1)), Simulation(seed))) for seed in range(runs)) / runs
    allowed = 6 * math.sqrt(chance * (1 - chance) / runs)
    assert abs(shown - chance) < allowed < chance / 2
    assert chance <= 0.1


def test_centroids_are_noisy_sums_over_noisy_counts():
    """400 releases: centroid times count less the exact sum is noise of the stated deviation (6 standard errors)."""
    data, release, runs = rows(300, 200), curator(epsilon=8.0), 400
    s, big = release.deviations(Simulation(0))
    exact = [(data[:300] - np.eye(D)[0]).sum(axis=0), (data[300:] - np.eye(D)[1]).sum(axis=0)]
    noise, counts = [], []
    for seed in range(runs):
        out = release.release(data, Simulation(seed))
        assert out.cells[:, 0].tolist() == [0, 1]
        counts.append(out.counts - [300, 200])
        noise.append((out.centroids - np.eye(D)[:2]) * out.counts[:, None] - exact)
    assert np.std(counts) == pytest.approx(s, rel=6 / math.sqrt(4 * runs))
    assert np.std(noise) == pytest.approx(big, rel=6 / math.sqrt(4 * runs * D))
    assert abs(np.mean(noise)) < 6 * big / math.sqrt(2 * runs * D) + 1e-3


def test_nothing_but_noisy_counts_and_sums_enters_a_centroid():
    """Counts 50 too large by noise, sums without any: a centroid is the sum over the noisy count, not the true one."""

    class Shifted(Simulation):
        name = ""

        def child(self, name):
            self.name = name
            found = super().child(name)
            found.__class__, found.name = Shifted, name
            return found

        def add_gaussian(self, values, std):
            return np.asarray(values, dtype=float) + (50 if self.name == "counts" else 0)

    data = rows(300, 200)
    out = curator().release(data, Shifted(1))
    assert out.counts.tolist() == [350, 250]
    exact = [(data[:300] - np.eye(D)[0]).sum(axis=0), (data[300:] - np.eye(D)[1]).sum(axis=0)]
    np.testing.assert_allclose((out.centroids - np.eye(D)[:2]) * out.counts[:, None], exact, atol=1e-3)


def test_no_two_numbers_share_a_draw():
    out = curator().release(np.repeat(np.eye(D)[:4], 300, axis=0), Simulation(2))
    numbers = np.concatenate([out.counts - 300, ((out.centroids - np.eye(D)[:4]) * out.counts[:, None]).ravel()])
    assert len(np.unique(numbers.round(9))) == 4 + 4 * D


def test_one_record_weighs_at_most_the_clip_norm_and_the_occupied_are_not_told():
    class Silent(Simulation):
        def child(self, name):
            return self

        def add_gaussian(self, values, std):
            return np.asarray(values, dtype=float)

    base = np.tile(np.eye(D)[0], (200, 1))
    exact = curator().release(base, Silent(1))
    for length in (0.3, 5.0, 1e250):
        more = curator().release(np.vstack([base, np.eye(D)[0] * (1 + length)]), Silent(1))
        moved = np.linalg.norm(
            (more.centroids - np.eye(D)[:1]) * more.counts[:, None]
            - (exact.centroids - np.eye(D)[:1]) * exact.counts[:, None]
        )
        assert moved <= 0.5
        assert more.counts == [201]
    assert len(curator().release(np.zeros((0, D)), Simulation(1))) == 0
    assert len(curator().release(rows(60, 60), Silent(1))) == 0  # at most the threshold: nothing is shown


def test_secure_is_billed_by_its_own_maps():
    release = curator(epsilon=8.0)
    simulated, secure = (release.deviations(noise) for noise in (Simulation(0), Secure()))
    assert secure[0] > simulated[0]
    assert secure[1] > simulated[1]
    out = release.release(rows(200, 40), Secure())
    assert (out.kind, out.cells[:, 0].tolist()) == ("secure", [0])
    assert "idealized numerics" not in out.guarantee.assumptions
    assert release.shown_alone(4.0, Secure()) > release.shown_alone(4.0, Simulation(0))


def test_heavy_clusters_are_found_as_well_as_by_sampling_and_far_better_than_locally():
    """Table 8 in small: buckets of 400, 300, 150 and 20 of 870 records, at epsilon 2, five seeds."""
    data = rows(400, 300, 150, 20)
    tags = BUCKETS.assign(data)
    ours = CentroidRelease(BUCKETS, 2.0, 1e-6, 0.5, 50)
    local = LocalBuckets(BUCKETS, np.arange(4)[:, None], 2.0, 1e-6)
    scores = {"curator": [], "sampling": [], "local": []}
    for seed in range(5):
        noise = Simulation(seed)
        named = {
            "curator": curator(epsilon=2.0).release(data, noise).cells,
            "sampling": ours.release(data, noise).cells,
            "local": local.release(data, noise).cells,
        }
        for name, found in named.items():
            scored = heavy_buckets(found, tags, 100)
            scores[name].append((scored.heavy - scored.correct) + (scored.found - scored.correct))
    assert sum(scores["curator"]) == sum(scores["sampling"]) == 0
    assert sum(scores["local"]) > 0


def test_arguments_are_checked():
    for name, bad in (("threshold", 1.0), ("count_share", 1.0), ("epsilon", 0), ("delta", 0)):
        with pytest.raises(ValueError, match=name):
            curator(**{name: bad})
    with pytest.raises(ValueError, match="private"):
        curator().release(np.full((3, D), np.inf), Simulation(1))
