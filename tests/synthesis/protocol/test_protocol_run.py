"""Whole runs: what is published without noise, and the noise that is in it."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from privlib.dp import ZCDP, Secure, Simulation, threshold_delta
from privlib.synthesis import AnchoredBuckets, CentroidRelease, JLBuckets
from privlib.synthesis.protocol import dummies, oprf
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.noise import summed_epsilon
from privlib.synthesis.protocol.processes import run_here
from privlib.synthesis.protocol.run import Incomplete
from privlib.synthesis.protocol.server import transcript


class Silent(Simulation):
    """A source that keeps every record and adds nothing: the curator's release with noise and sampling off."""

    def child(self, name):
        return Silent(0)

    def bernoulli(self, probability, size):
        return np.ones(size, dtype=bool)

    def add_gaussian(self, values, std):
        return values


def by_cell(stage, published):
    """Rows of a publication by the bucket that the tagging server's key says a tag stands for."""
    cells = {tuple(cell) for record in stage.records for cell in stage.settings.buckets.assign(record).tolist()}
    tags = {
        oprf.evaluate_known(stage.key, np.array(cell, dtype=">i8").tobytes())[: m.TAG_BYTES]: cell for cell in cells
    }
    return {tags[tag]: row for row, tag in enumerate(published.tags)}


def grid_buckets():
    """Coarse grid buckets in 6 dimensions, and records that lie close together in groups."""
    buckets = JLBuckets(dims=2, radius=1.0, public_seed=4, dimension=6, max_norm=2.0)
    draw = Simulation(8).generator
    centres = draw.normal(size=(4, 6))
    return buckets, centres[draw.integers(4, size=40)] + 0.05 * draw.normal(size=(40, 6))


def anchored_buckets():
    buckets = AnchoredBuckets.at(np.eye(5)[:3], 0.3)  # some offsets are longer and are clipped
    draw = Simulation(9).generator
    return buckets, np.eye(5)[draw.integers(3, size=40)] + 0.2 * draw.normal(size=(40, 5))


@pytest.mark.parametrize("made", [grid_buckets, anchored_buckets])
def test_without_noise_the_centroids_are_the_curators_to_quantization(stage, made):
    """Same public randomness, every record kept. A rounding is off by less than a step in each rotated entry."""
    buckets, records = made()
    central = CentroidRelease(buckets, 4.0, 0.2, 0.5, 5, 1000, sensitivity="worst_case").release(records, Silent(0))
    run = stage(buckets=buckets, threshold=5, noise_rule="off", records=[record[None, :] for record in records])
    published = run.run().published
    rows = by_cell(run, published)
    assert len(central) >= 3
    assert set(rows) == {tuple(cell) for cell in central.cells.tolist()}
    plan = run.settings.plan(tuple(run.synthesis.counts.values()))
    for cell, count, centroid in zip(central.cells.tolist(), central.counts.tolist(), central.centroids, strict=True):
        row = rows[tuple(cell)]
        assert published.states[row] == m.OPENED
        assert published.contributors[row] == run.synthesis.counts[published.tags[row]] == count
        error = np.linalg.norm(published.centroids[row] - centroid)
        assert error < plan.step * math.sqrt(run.settings.rotation.size)
        assert error < 4 * plan.step * math.sqrt(run.settings.rotation.size / (4 * count))  # fair coins


WIDE = {"buckets": AnchoredBuckets.at(np.eye(256)[:2], 0.5), "members": (40, 8), "threshold": 8}


def steps_of(run, published, plan):
    """Sums in steps, by number of contributors: the dimension is a power of two, so the rotation is undone exactly."""
    found = {}
    for row, number in enumerate(published.contributors):
        steps = run.settings.rotation.forward(published.centroids[row]) * number / plan.step
        assert np.abs(steps - np.rint(steps)).max() < 1e-6
        found[number] = np.rint(steps).astype(int)
    return found


def drawn_noise(stage):
    """Total noise in steps, {(rule, contributors): int64}, over two runs; the same rounding coins with noise off."""
    found: dict = {}
    for seed in (1, 2):
        sums = {}
        for rule in ("off", "count_scaled", "constant"):
            run = stage(name=f"{rule}{seed}", seed=seed, noise_rule=rule, **WIDE)
            published = run.run().published
            plan = run.settings.plan(tuple(run.synthesis.counts.values()))
            sums[rule] = steps_of(run, published, plan)
        for rule in ("count_scaled", "constant"):
            for number in (40, 8):
                found.setdefault((rule, number), []).append(sums[rule][number] - sums["off"][number])
    return {key: np.concatenate(parts) for key, parts in found.items()}, plan.total_std


def misfit(noise, std):
    """Chi-square of integer noise against the rounded normal law in 12 equal cells; 11 degrees, 1e-8 at 60.

    At these deviations (above 4 a user, so psi below 1e-60) the exact law of a sum is the rounded normal one.
    """
    edges = np.array([-1.383, -0.967, -0.674, -0.431, -0.210, 0, 0.210, 0.431, 0.674, 0.967, 1.383]) * std
    cell = np.searchsorted(np.floor(edges) + 0.5, noise)
    chances = np.diff(np.concatenate([[0], ndtr((np.floor(edges) + 0.5) / std), [1]]))
    seen = np.bincount(cell, minlength=12)
    return float(((seen - len(noise) * chances) ** 2 / (len(noise) * chances)).sum())


def test_the_total_noise_is_the_claimed_one(stage):
    """512 entries a bucket. Scaled by the count: the curator's total in every bucket. The paper's constant noise:
    sqrt(c / tau) of it, here sqrt(5) in the larger one. Power: 1.6 times the claim, its 1.6th part, and the other
    rule's law are all seen."""
    noise, total = drawn_noise(stage)
    claims = {
        ("count_scaled", 40): total,
        ("count_scaled", 8): total,
        ("constant", 40): math.sqrt(5) * total,
        ("constant", 8): total,
    }
    for key, std in claims.items():
        assert len(noise[key]) == 512
        assert misfit(noise[key], std) < 60
        assert misfit(noise[key], 1.6 * std) > 60
        assert misfit(noise[key], std / 1.6) > 60
    assert misfit(noise["constant", 40], total) > 60


def test_a_run_on_system_entropy_adds_the_stated_noise(stage):
    """Every coin from `Secure`: centroids lie within 8 deviations in 4 entries and 2 buckets (false alarm below 1e-13)
    and are new each time."""
    runs = [stage(name=str(number), source=Secure()) for number in range(2)]
    published = [run.run().published for run in runs]
    assert published[0].tags != published[1].tags
    for run, out in zip(runs, published, strict=True):
        plan = run.settings.plan((5, 8))
        for number, centroid in zip(out.contributors, out.centroids, strict=True):
            _, vectors = run.settings.places(np.concatenate(run.records))
            mean = (vectors[:8] if number == 8 else vectors[8:13]).mean(axis=0)
            assert np.abs(centroid - mean).max() < 8 * plan.total_std * plan.step / number + plan.step
    assert not np.array_equal(published[0].centroids, published[1].centroids)


def test_dummies_change_no_released_count(stage):
    few, many = stage(name="a", dummy_shift=1), stage(name="b", dummy_shift=9)
    a, b = few.run(), many.run()
    assert sorted(few.synthesis.counts.values()) == sorted(many.synthesis.counts.values()) == [5, 8]
    assert b.traffic["tagging", "synthesis"] > a.traffic["tagging", "synthesis"]


def test_the_coin_is_the_stated_one(stage):
    """160 users in one bucket at rate .3: 48 reports, deviation 5.8; 6 deviations, false alarm below 1e-8."""
    run = stage(members=(160,), rate=0.3)
    run.run()
    (count,) = run.synthesis.counts.values()
    assert abs(count - 48) < 35


def test_a_run_without_heavy_buckets_publishes_an_empty_list(stage):
    published = stage(members=(3, 2)).run().published
    assert published.tags == ()
    assert published.centroids.shape == (0, 4)


def test_nobody_needs_to_know_more_than_a_few_kilobytes(stage):
    """What a user sends and gets at d = 256, one bucket: weighed by the run itself."""
    run = stage(**WIDE)
    traffic = run.run().traffic
    users = len(run.records)
    share = 16 + 9 + 16 + 32 + 7 + 256 * ((run.settings.plan((40, 8)).modulus.bit_length() + 6) // 8)
    assert traffic["users", "tagging"] == users * (16 + 9 + 2 + 32 + share + 2 * 48)
    assert traffic["users", "synthesis"] == users * (16 + 9 + 16 + 32 + share + 2 * 48)
    assert traffic["tagging", "users"] == users * (16 + 9 + 2 + 32 + 64)


# several records of a user


def test_every_user_asks_for_the_same_number_of_tags_and_takes_part_once_a_bucket(stage):
    """Users of 0 to 5 records, cap 2: requests are alike; no bucket counts a user twice, none more than two."""
    draw = Simulation(5).generator
    records = [np.eye(4)[draw.integers(3, size=size)] + 0.05 * draw.normal(size=(size, 4)) for size in range(6)] * 4
    run = stage(bucket_cap=2, records=records, noise_rule="off")
    run.run()
    asked = [msg for _, msg in transcript(run.directory / "tagging.log", run.settings) if isinstance(msg, m.TagRequest)]
    assert [len(message.blinded) for message in asked] == [2] * 24
    for user in run.users.values():
        assert len(user._reported) <= 2
    distinct = [min(2, len(set(run.settings.buckets.assign(record).ravel().tolist()))) for record in records]
    assert [len(user._reported) for user in run.users.values()] == distinct


# the bill


def test_the_plan_is_within_the_bill_for_every_bucket_and_every_drop_out(stage):
    for changes in ({}, {"noise_rule": "constant"}, {"drop_out": 0.3}, {"centroid_epsilon": 0.5}):
        settings = stage(name=str(changes), **changes).settings
        counts = (4, 7, 60, 5000)
        plan = settings.plan(counts)
        for count, std, needed in zip(counts, plan.user_stds, plan.needed, strict=True):
            assert std >= 1.5
            assert needed >= (1 - settings.drop_out) * count
            for contributors in {needed, (needed + count) // 2, count}:
                epsilon = summed_epsilon(contributors, std, plan.l2_sensitivity, settings.rotation.size)
                bill = ZCDP(epsilon**2 / 2, "record", "replace").epsilon(settings.centroid_delta)
                assert bill <= settings.centroid_epsilon * (1 + 1e-6)


def test_each_rule_is_billed_bucket_by_bucket(stage):
    """Scaled by the count every bucket costs what it may; constant noise costs less where it is larger. A member knows
    its own part: dearest in the smallest bucket."""
    counts = (4, 16, 64)
    scaled = stage(name="a").settings.centroid_epsilons(counts)
    constant = stage(name="b", noise_rule="constant").settings.centroid_epsilons(counts)
    assert scaled == pytest.approx((3.0, 3.0, 3.0), rel=1e-6)
    assert max(scaled + constant) <= 3.0 * (1 + 1e-6)
    assert constant[0] == pytest.approx(3.0, rel=1e-6)
    assert constant[0] > 1.5 * constant[1] > 1.5 * 1.5 * constant[2]
    member = stage(name="c").settings.centroid_epsilons(counts, known=1)
    assert member[0] > member[1] > member[2] > 3.0
    assert stage(name="d").settings.centroid_epsilons((4,), known=4) == (math.inf,)


def test_rounding_costs_at_most_a_sixteenth_of_the_sensitivity(stage):
    settings = stage().settings
    plan = settings.plan((4, 8))
    assert plan.l2_sensitivity * plan.step <= settings.buckets.diameter * (1 + 1 / 16 + 1e-6)


@pytest.mark.parametrize("made", [grid_buckets, anchored_buckets])
def test_two_members_of_a_bucket_are_never_farther_apart_than_billed(stage, made):
    """Nor is a vector longer than the modulus allows for; long records reach both limits."""
    buckets, _ = made()
    settings = replace(stage().settings, buckets=buckets)
    places, vectors = settings.places(5 * Simulation(3).generator.normal(size=(300, buckets.dimension)))
    for bucket in set(places):
        inside = vectors[[place == bucket for place in places]]
        assert np.linalg.norm(inside[:, None] - inside[None], axis=2).max() <= buckets.diameter
    longest = np.linalg.norm(vectors, axis=1).max()
    assert 0.9 * settings.longest < longest <= settings.longest


def test_the_modulus_has_room_for_every_sum(stage):
    """Worst vectors, all alike and as long as they may be, and a noise of 9 deviations: inside the bound."""
    settings = stage().settings
    for counts in ((4,), (4, 300), (100_000,)):
        plan = settings.plan(counts)
        largest = max(counts)
        reach = largest * (settings.longest / plan.step + 1) + 9 * math.sqrt(largest) * plan.user_stds[-1]
        assert reach <= plan.bound
        assert plan.modulus >= 4 * plan.bound


def test_the_guarantee_is_the_sum_of_its_parts_and_names_what_it_rests_on(stage):
    settings = stage(rate=0.3, threshold=30, dummy_shift=40, dummy_scale=2.0).settings
    stated = settings.guarantee
    low = dummies.reports_delta(2.0, 0.3, 30, 40, 2.0)
    assert stated.epsilon == 5.0
    assert stated.delta == pytest.approx(low + 1e-6)
    assert stated.delta > threshold_delta(2.0, 0.3, 30) + 1e-6
    assert (stated.unit, stated.relation) == ("record", "replace_with_null")
    assert any("collude" in said for said in stated.assumptions)
    assert "secret seed (simulation)" in settings.guarantee_under(Simulation(1)).assumptions
    assert stage(name="all", rate=1.0).settings.guarantee.delta == 1
    off = stage(name="off", noise_rule="off").settings.guarantee
    assert (off.epsilon, off.delta) == (math.inf, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"rate": 0.0}, {"threshold": 0}, {"report_epsilon": 0.0}, {"centroid_delta": 1.0}, {"max_users": 0},
        {"dummy_shift": 0}, {"noise_rule": "none"}, {"drop_out": 1.0}, {"bucket_cap": 0}, {"public_seed": -1},
    ],
)  # fmt: skip
def test_bad_settings_are_refused(stage, changes):
    with pytest.raises(ValueError, match=next(iter(changes)).replace("centroid_", "")):
        stage(**changes)


@pytest.mark.parametrize("rate", [0.3, 1.0])
@pytest.mark.parametrize(
    ("threshold", "shift"), [(1, 2**20 + 1), (2, 10**15), (30, 2**22 // 870 + 1), (10**9, 1)]
)  # fmt: skip
def test_more_dummies_than_a_server_can_hold_are_refused_by_name(stage, rate, threshold, shift):
    """They ended in a lack of memory: of the bill, or of the run where nothing is billed."""
    message = rf"^dummy_shift must be at most 1048576, .* at most 4194304: got {shift} at threshold {threshold}$"
    with pytest.raises(ValueError, match=message):
        stage(rate=rate, threshold=threshold, dummy_shift=shift)


def test_as_many_dummies_as_a_server_can_hold_are_legal(stage):
    assert stage(threshold=30, dummy_shift=2**22 // 870).settings.dummy_shift == 4821


def test_a_message_of_other_settings_is_refused(stage):
    """Any public setting changed is another session."""
    first, other = stage(name="a"), stage(name="b", public_seed=1)
    assert first.settings.session != other.settings.session
    assert first.settings.session == stage(name="c").settings.session
    for data in other.host.begin(other.addresses):
        assert first.tagging.receive(data) == []
    assert set(first.tagging.refused) == {"message of another session"}


@pytest.mark.parametrize("left", ["tagging.log", "synthesis.log"])
def test_the_directory_of_an_earlier_run_is_refused(stage, tmp_path, left):
    """A server would go on from its log and publish the earlier run's buckets for the later run's users."""
    run = stage()
    directory = tmp_path / "logs"
    directory.mkdir()
    run_here(run.settings, run.records, directory, seed=1)
    kept = (directory / left).read_bytes()
    for path in directory.iterdir():
        if path.name != left:
            path.unlink()
    with pytest.raises(ValueError, match=f"directory .*{re.escape(str(directory))} with {left}"):
        run_here(run.settings, run.records[:8], directory, seed=2)
    assert [(path.name, path.read_bytes()) for path in directory.iterdir()] == [(left, kept)]


def test_a_run_that_publishes_nothing_is_an_error(stage):
    class Deaf:
        def receive_all(self, frames):
            return []

    run = stage()
    run.synthesis = Deaf()
    with pytest.raises(Incomplete, match="0 publications"):
        run.run()


def test_a_run_whose_dummies_are_refused_is_an_error(stage):
    """A frame that says it is the tagging server's, before its time, ends that server's only phase in the channel."""
    run = stage()
    flush = run.channel.flush

    def after_a_stranger():
        run.channel.flush = flush
        run.channel._done.add(m.TAGGING)
        return flush()

    run.channel.flush = after_a_stranger
    with pytest.raises(Incomplete, match="refused dummies"):
        run.run()
