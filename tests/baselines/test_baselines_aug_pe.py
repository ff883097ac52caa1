"""Private evolution: as many noisy rounds as are billed, votes of sensitivity one, fresh noise, strict rewrites."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from privlib.baselines.aug_pe import AugPE, nearest_candidates
from privlib.baselines.space import inside
from privlib.dp import Secure, Simulation, gaussian_delta, gaussian_noise_std
from privlib.dp.budget import Counted


def embed(texts) -> np.ndarray:
    return np.array([[float(part) for part in text.split()] for text in texts])


def generate(count: int, seed: int) -> list[str]:
    return [f"{x:.4f} {y:.4f}" for x, y in Simulation(seed).generator.uniform(-1, 1, (count, 2))]


def vary(texts, seed: int) -> list[str]:
    moved = embed(texts) + 0.1 * Simulation(seed).generator.standard_normal((len(texts), 2))
    return [f"{x:.4f} {y:.4f}" for x, y in moved]


def mechanism(**changes) -> AugPE:
    models = {"generate": generate, "vary": vary, "embed": embed}
    settings = {"epsilon": 4.0, "delta": 1e-5, "iterations": 6, "population": 10, "variations": 3, "max_norm": 2.0}
    return AugPE(**models | settings | changes)


def cloud(n: int) -> np.ndarray:
    return np.array([0.7, -0.6]) + 0.02 * Simulation(7).generator.standard_normal((n, 2))


class Spy(Simulation):
    """Keeps what every vector of votes was before and after its noise."""

    seen: list

    def child(self, name):
        child = Spy([abs(hash(name)) % 1000, len(self.seen)])
        child.seen = self.seen
        return child

    def add_gaussian(self, values, std):
        noisy = super().add_gaussian(values, std)
        self.seen.append((np.array(values), noisy, std))
        return noisy


def spied(release: AugPE, private: np.ndarray):
    spy = Spy(1)
    spy.seen = []
    return release.release(private, spy), spy.seen


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_iterations_noisy_rounds_and_the_ledger_are_one_number(iterations):
    source = Counted(Simulation(3))
    out = mechanism(iterations=iterations).release(cloud(50), source)
    assert dict(source.draws) == {"add_gaussian": iterations}
    assert len(out.ledger) == iterations
    assert all(line.draws == (("add_gaussian", 1),) for line in out.ledger)
    assert f"{iterations} rounds" in out.guarantee.composed[0]
    assert (out.guarantee.epsilon, out.guarantee.delta, out.guarantee.relation) == (4.0, 1e-5, "add_drop")


@pytest.mark.parametrize("iterations", [1, 5, 20])
def test_the_deviation_spends_the_budget_of_all_rounds_and_not_more(iterations):
    release = mechanism(iterations=iterations)
    std = release.noise_std(Simulation(0))
    assert std == pytest.approx(math.sqrt(iterations) * gaussian_noise_std(4.0, 1e-5, 1.0), rel=1e-9)
    assert 0.999e-5 < gaussian_delta(4.0, std, math.sqrt(iterations)) <= 1e-5
    one_more = release.bill(iterations + 1, Simulation(0))
    assert one_more.epsilon > 4.0  # a round that the ledger adds is paid for
    if iterations > 1:
        assert release.bill(iterations - 1, Simulation(0)).epsilon < 4.0


def test_two_rounds_by_integration_in_the_plane():
    """A record that votes in both rounds: the hockey-stick of N((1, 1), s^2 I) from N(0, s^2 I), on a grid."""
    release = mechanism(epsilon=1.0, delta=0.05, iterations=2)
    s = release.noise_std(Simulation(0))
    z = np.linspace(-8 * s, 8 * s + 1, 1601)
    with_x, without = (np.exp(-((z - shift) ** 2) / (2 * s * s)) / (s * math.sqrt(2 * math.pi)) for shift in (1, 0))
    gap = np.outer(with_x, with_x) - math.e * np.outer(without, without)
    total = np.maximum(gap, 0).sum() * (z[1] - z[0]) ** 2
    assert total == pytest.approx(0.05, rel=1e-3)
    single = (np.maximum(with_x - math.e * without, 0)).sum() * (z[1] - z[0])
    assert single < 0.02  # one round alone costs far less: a bill that counts one round short would be seen


def test_one_record_moves_one_vote_of_a_round_by_one():
    """The first round's candidates are public: add each of 40 records in turn, in front of and behind the others."""
    release, data = mechanism(iterations=1), cloud(40)
    votes = spied(release, data)[1][0][0]
    assert votes.sum() == 40
    assert len(votes) == release.candidates
    for extra in Simulation(9).generator.uniform(-3, 3, (40, 2)):
        for more in (np.vstack([data, extra]), np.vstack([extra, data])):
            moved = np.abs(spied(release, more)[1][0][0] - votes)
            assert moved.sum() == moved.max() == 1


def test_every_round_has_noise_of_its_own_on_every_place():
    """No record votes: what is left is noise. Two equal draws among 180 have probability far below 1e-6."""
    out, seen = spied(mechanism(), np.zeros((0, 2)))
    noise = np.array([noisy for _, noisy, _ in seen])
    assert noise.shape == (6, 30)
    assert len(np.unique(noise)) == noise.size
    assert {std for _, _, std in seen} == {out.ledger[0].noise_std}
    assert np.std(noise) == pytest.approx(out.ledger[0].noise_std, rel=5.2 / math.sqrt(2 * noise.size))  # 1e-6


def test_votes_draw_the_population_to_the_records_and_noise_alone_does_not():
    """2,000 records in one spot: the text with most votes comes within 0.1 of it; at epsilon 0.001 it does not."""

    def distance(epsilon: float, seed: int) -> float:
        out = mechanism(epsilon=epsilon).release(cloud(2000), Simulation(seed))
        assert np.all(np.diff(out.votes) <= 0)
        assert len(out.texts) == 10
        return float(np.linalg.norm(embed(out.texts[:1]) - [0.7, -0.6]))

    assert max(distance(8.0, seed) for seed in range(5)) < 0.1
    assert np.mean([distance(0.001, seed) for seed in range(5)]) > 0.4
    assert np.linalg.norm(embed(generate(10, 1)) - [0.7, -0.6], axis=1).min() > 0.1  # where it starts


def border(d: int = 24) -> tuple[np.ndarray, np.ndarray]:
    draw = Simulation(4).generator
    candidates = draw.standard_normal((30, d))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    return candidates, candidates[draw.integers(0, 30, (301, 2))].mean(axis=1)


def test_a_vote_depends_on_its_record_alone():
    """Rows half-way between two candidates, where the last bit of a product decides."""
    candidates, rows = border()
    together = nearest_candidates(rows, candidates, 1.0)
    np.testing.assert_array_equal(
        np.concatenate([nearest_candidates(row[None], candidates, 1.0) for row in rows]), together
    )
    order = Simulation(6).generator.permutation(len(rows))
    np.testing.assert_array_equal(nearest_candidates(rows[order], candidates, 1.0), together[order])
    far = np.linalg.norm(rows[:, None] - candidates, axis=2)
    assert np.all(far[np.arange(len(rows)), together] <= far.min(axis=1) + 1e-5)
    # whole numbers of the grid, compared exactly: near ties are decided by no rounding of a product
    grid_rows, grid_candidates = (
        [[int(part * 2**20) for part in point] for point in inside(points)] for points in (rows, candidates)
    )
    for row, told in zip(grid_rows, together, strict=True):
        exact = [sum((a - b) ** 2 for a, b in zip(row, other, strict=True)) for other in grid_candidates]
        assert told == exact.index(min(exact))
    long = np.full((1, 24), 1e300)
    assert nearest_candidates(long, candidates, 1.0).shape == (1,)


def test_empty_and_repeated_rewrites_are_no_candidates():
    def silent(texts, seed):
        return ["  "] * (len(texts) - 1) + [f"{seed % 7}.5 0.25"]

    out = mechanism(vary=silent, iterations=2).release(cloud(50), Simulation(1))
    assert out.dropped >= 2 * 2 * 9
    assert all(text.strip() for text in out.texts)
    assert out.ledger[0].candidates <= 12


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"vary": lambda texts, seed: texts[:-1]}, "vary must return 10"),
        ({"vary": lambda texts, seed: "0.1 0.2"}, "vary"),
        ({"vary": lambda texts, seed: [None] * len(texts)}, "vary"),
        ({"generate": lambda count, seed: ["0 0"]}, "generate must return 10"),
        ({"generate": lambda count, seed: [""] * count}, "not empty"),
        ({"embed": lambda texts: np.zeros((len(texts), 3))}, "embed"),
    ],
)
def test_models_that_answer_otherwise_are_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        mechanism(**changes).release(cloud(5), Simulation(1))


def test_arguments_and_private_data_are_checked():
    for name, bad in (("epsilon", 0), ("delta", 1), ("iterations", 0), ("variations", 1), ("max_norm", 0)):
        with pytest.raises(ValueError, match=name):
            mechanism(**{name: bad})
    for bad in (np.full((2, 2), np.nan), np.zeros(3)):
        with pytest.raises(ValueError, match="private"):
            mechanism().release(bad, Simulation(1))


def test_no_label_enters_and_the_seed_of_the_rewrites_is_public():
    assert not {"labels", "label"} & {field.name for field in dataclasses.fields(AugPE)}
    first, again = (mechanism().release(cloud(50), Simulation(seed)) for seed in (5, 5))
    assert first.texts == again.texts
    assert mechanism(public_seed=1).release(cloud(50), Simulation(5)).texts != first.texts


def test_secure_is_billed_by_its_own_map():
    release = mechanism(iterations=2, population=3)
    out = release.release(cloud(200), Secure())
    assert out.kind == "secure"
    assert 3.9 < out.guarantee.epsilon <= 4.0
    assert "idealized numerics" not in out.guarantee.assumptions
    assert out.ledger[0].noise_std > release.noise_std(Simulation(0))
    assert release.bill(3, Secure()).epsilon > 4.0
