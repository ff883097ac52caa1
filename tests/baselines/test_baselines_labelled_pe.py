"""Private evolution with labels: shares of labels are paid for, and a record votes in its own category only."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from privlib.baselines import LabelledPE
from privlib.baselines.labelled_pe import apportioned
from privlib.dp import Secure, Simulation, gaussian_delta
from privlib.dp.budget import Counted

CENTRES = np.array([[0.8, 0.8], [-0.8, 0.8], [0.0, -0.8]])


def embed(texts) -> np.ndarray:
    return np.array([[float(part) for part in text.split()] for text in texts])


def generate(category: int, count: int, seed: int) -> list[str]:
    drawn = CENTRES[category] + 0.5 * Simulation([seed, category]).generator.uniform(-1, 1, (count, 2))
    return [f"{x:.5f} {y:.5f}" for x, y in drawn]


def vary(texts, seed: int) -> list[str]:
    moved = embed(texts) + 0.05 * Simulation(seed).generator.standard_normal((len(texts), 2))
    return [f"{x:.5f} {y:.5f}" for x, y in moved]


def mechanism(**changes) -> LabelledPE:
    settings = dict(generate=generate, vary=vary, embed=embed, categories=3, epsilon=4.0, delta=1e-5, iterations=5)
    return LabelledPE(**settings | dict(population=20, variations=3, max_norm=2.0) | changes)


def people(counts=(600, 300, 100), seed: int = 7):
    labels = np.repeat(np.arange(3), counts)
    return CENTRES[labels] + 0.02 * Simulation(seed).generator.standard_normal((len(labels), 2)), labels


class Spy(Simulation):
    """Keeps every vector before its noise, and tells it apart by the stream's name."""

    seen: list
    name: str = ""

    def child(self, name):
        child = Spy([len(self.seen), *name.encode()])
        child.seen, child.name = self.seen, name
        return child

    def add_gaussian(self, values, std):
        self.seen.append((self.name, np.array(values, dtype=float), std))
        return super().add_gaussian(values, std)


def spied(release, private):
    spy = Spy(1)
    spy.seen = []
    return release.release(private, spy), spy.seen


@pytest.mark.parametrize("iterations", [1, 5])
def test_label_counts_are_a_round_of_the_ledger_and_of_the_bill(iterations):
    release, source = mechanism(iterations=iterations), Counted(Simulation(3))
    out = release.release(people(), source)
    assert dict(source.draws) == {"add_gaussian": iterations + 1}
    assert len(out.ledger) == iterations + 1 == release.rounds
    assert out.ledger[0].candidates == 3
    assert f"{iterations + 1} rounds" in out.guarantee.composed[0]
    std = out.ledger[0].noise_std
    assert {line.noise_std for line in out.ledger} == {std}
    assert 0.999e-5 < gaussian_delta(4.0, std, math.sqrt(iterations + 1)) <= 1e-5
    assert gaussian_delta(4.0, std, math.sqrt(iterations)) < 0.9e-5  # forgetting the labels' round would show
    assert (out.guarantee.epsilon, out.guarantee.delta, out.guarantee.relation) == (4.0, 1e-5, "add_drop")


def test_one_labelled_record_moves_one_label_count_and_one_vote_of_a_round():
    """First round, public candidates: at epsilon 1e6 the sizes are the same with one record more."""
    rows, labels = people((60, 30, 10))
    release = mechanism(iterations=1, epsilon=1e6)
    before = spied(release, (rows, labels))[1]
    assert [name for name, _, _ in before] == ["labels", "votes"]
    assert before[0][1].tolist() == [60, 30, 10]
    assert before[1][1].sum() == 100
    for category in range(3):
        for extra in Simulation(9).generator.uniform(-2, 2, (10, 2)):
            after = spied(release, (np.vstack([rows, extra]), np.append(labels, category)))[1]
            for (_, old, _), (_, new, _) in zip(before, after, strict=True):
                assert np.abs(new - old).sum() == np.abs(new - old).max() == 1


def test_records_vote_among_texts_of_their_own_category():
    """Every record of category 2 lies where category 0 grows its texts; the votes stay with category 2."""
    labels = np.repeat(np.arange(3), 50)
    rows = np.tile(CENTRES[0], (150, 1))
    out, seen = spied(mechanism(iterations=1, epsilon=1e6, population=21), (rows, labels))
    votes = seen[1][1]
    assert [votes[start : start + 21].sum() for start in (0, 21, 42)] == [50, 50, 50]
    assert np.bincount(out.labels).tolist() == [7, 7, 7]


def test_sizes_follow_the_noisy_counts_and_never_the_private_ones():
    """At epsilon 0.01 the noise on a count is over 500, so sizes drawn from private counts would be told at once."""
    sizes = []
    for seed in range(20):
        out = mechanism(epsilon=0.01, iterations=1).release(people(), Simulation(seed))
        expected = apportioned(out.label_counts, 20)
        assert np.bincount(out.labels, minlength=3).tolist() == expected.tolist()
        sizes.append(tuple(expected))
    assert len(set(sizes)) > 5
    private = tuple(apportioned(np.array([600, 300, 100]), 20))
    assert mechanism(epsilon=1e6).release(people(), Simulation(1)).label_counts == pytest.approx([600, 300, 100], abs=1)
    assert sizes.count(private) < 5


def test_texts_come_to_where_their_category_lives():
    out = mechanism(epsilon=50.0, iterations=8).release(people(), Simulation(2))
    first = [embed(np.array(out.texts)[out.labels == c][:1])[0] for c in range(3)]
    assert np.linalg.norm(np.array(first) - CENTRES, axis=1).max() < 0.15
    assert len(out.texts) == len(out.labels) == len(out.votes) == 20


def test_a_record_of_no_public_category_counts_for_nothing_and_raises_nothing():
    rows, labels = people((60, 30, 10))
    strange = (np.vstack([rows, [[0.0, 0.0]]]), np.append(labels, 17))
    here, there = (spied(mechanism(), private) for private in ((rows, labels), strange))
    assert here[0].texts == there[0].texts
    for (_, old, _), (_, new, _) in zip(here[1], there[1], strict=True):
        np.testing.assert_array_equal(old, new)


def test_apportioned_sizes_sum_to_the_total():
    assert apportioned(np.array([3.0, 1.0]), 4).tolist() == [3, 1]
    assert apportioned(np.array([-5.0, 1.0, 1.0]), 3).tolist() == [0, 2, 1]
    assert apportioned(np.array([-5.0, -1.0]), 3).tolist() == [2, 1]
    for seed in range(50):
        weights = Simulation(seed).generator.normal(1, 2, 6)
        sizes = apportioned(weights, 17)
        assert sizes.sum() == 17
        assert (sizes[weights < 0] == 0).all() or (weights <= 0).all()


def test_arguments_and_private_data_are_checked():
    with pytest.raises(ValueError, match="categories"):
        mechanism(categories=0)
    with pytest.raises(ValueError, match="categories"):
        mechanism(categories=61)
    rows, labels = people()
    for bad in (labels[:-1], labels.astype(float), labels.astype(str)):
        with pytest.raises(ValueError, match="private") as error:
            mechanism().release((rows, bad), Simulation(1))
        assert "600" not in str(error.value)
    with pytest.raises(ValueError, match="private"):
        mechanism().release((np.full((2, 2), np.nan), np.zeros(2, int)), Simulation(1))


def test_secure_is_billed_by_its_own_map_with_the_labels_round():
    release = mechanism(iterations=1, population=3)
    out = release.release(people((60, 30, 10)), Secure())
    assert out.kind == "secure"
    assert 3.9 < out.guarantee.epsilon <= 4.0
    assert release.bill(3, Secure()).epsilon > 4.0


def test_no_private_thing_is_a_setting():
    assert not {"labels", "rows", "private", "sizes"} & {field.name for field in dataclasses.fields(LabelledPE)}
