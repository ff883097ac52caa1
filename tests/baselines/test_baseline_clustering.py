"""URANIA-style: every stage's sensitivity, one budget for all of them, and a ledger that refuses what does not fit."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import baselines
from privlib.baselines import clustering
from privlib.baselines.space import GRID
from privlib.dp import ZCDP, BudgetExceeded, Secure, Simulation, largest_rho
from privlib.dp.budget import Counted


@pytest.fixture
def build(space, encoder, vocabulary):
    def made(**changes):
        settings = {"epsilon": 1.0, "delta": 1e-6} | changes
        return baselines.UraniaStyle(space=space, encoder=encoder, vocabulary=vocabulary, **settings)

    return made


# ------------------------------------------------------------------------------------------------ sensitivity
@given(st.integers(0, 10**6), st.integers(0, 8), st.integers(1, 4), st.floats(0.1, 100))
def test_one_record_more_moves_each_stage_by_no_more_than_is_paid_for(seed, n, most, spread):
    """The three arrays on D and on D with one record more, same (released) centres."""
    generator = np.random.default_rng(seed)
    points = clustering.inside(spread * generator.standard_normal((n + 1, 3)))
    rows = (generator.random((n + 1, 6)) < 0.6) * 1.0
    rows *= rows.cumsum(axis=1) <= most
    centres = generator.standard_normal((4, 3))
    owners = np.argmin(((points[:, None] - centres) ** 2).sum(axis=2), axis=1)
    arrays = {
        "clustering": (np.column_stack([np.ones(n + 1), points]), math.sqrt(2)),
        "sizes": (np.ones((n + 1, 1)), 1.0),
        "keywords": (rows, math.sqrt(most)),
    }
    for values, bound in arrays.values():
        change = clustering.cluster_sums(values, owners, 4) - clustering.cluster_sums(values[:-1], owners[:-1], 4)
        assert np.linalg.norm(change) <= bound * (1 + 1e-15)
        assert (np.abs(change).sum(axis=1) > 0).sum() <= 1  # one record, one cluster


def test_the_stages_pay_for_these_sensitivities(build):
    mechanism = build(max_keywords=3, rounds=2)
    paid = [(stage.name, stage.l2_sensitivity**2) for stage in mechanism.stages]
    assert paid[:2] == [("clustering", pytest.approx(2))] * 2
    assert paid[2:] == [("sizes", 1), ("keywords", pytest.approx(3))]
    assert all(
        stage.l2_sensitivity**2 >= squared for stage, squared in zip(mechanism.stages, (2, 2, 1, 3), strict=True)
    )


def test_points_lie_in_the_unit_ball_on_the_grid_and_depend_on_their_row_alone(space, encoder):
    rows = np.concatenate([encoder.embed([f"word{k} other{k}" for k in range(300)]), 1e6 * np.ones((1, 12))])
    points = space.points(rows)
    assert (np.einsum("ij,ij->i", points, points) <= 1).all()
    assert np.array_equal(points / GRID, np.round(points / GRID))
    for k in (0, 7, 299, 300):
        assert np.array_equal(space.points(rows[k : k + 1])[0], points[k])


def test_coordinates_are_the_same_bits_whoever_else_is_there():
    """In the encoder's dimensions, before the grid hides it: a matrix product fails this in most entries."""
    rows = np.random.default_rng(1).standard_normal((301, 384))
    space = baselines.PublicSpace(
        np.zeros(384), np.linalg.svd(rows, full_matrices=False)[2][:8].T, 40.0, np.zeros((1, 8))
    )
    alone = np.concatenate([space._coordinates(row[None]) for row in rows])
    assert np.array_equal(space._coordinates(rows), alone)


# ------------------------------------------------------------------------------------------------ the bill
@pytest.mark.parametrize("source", [Simulation(1), Secure()], ids=["simulation", "secure"])
@pytest.mark.parametrize("changes", [{}, {"epsilon": 4.0, "rounds": 3}, {"shares": (0.2, 0.3, 0.5), "delta": 1e-9}])
def test_the_ledger_adds_up_to_the_total_and_holds_every_draw(build, target, source, changes):
    mechanism = build(smallest=0.0, **changes)
    counted = Counted(source)
    released = mechanism.release(target[:60], counted)
    limit = mechanism.epsilon, mechanism.delta
    rho = sum(entry.bill.rho for entry in released.ledger)
    assert rho <= largest_rho(*limit) * (1 + 1e-12)
    assert rho >= largest_rho(*limit) * 0.999999  # nothing is left unspent
    assert released.guarantee.delta == limit[1]
    assert limit[0] * 0.999 <= released.guarantee.epsilon <= limit[0] * (1 + 1e-12)
    assert [entry.bill.composed[0] for entry in released.ledger] == [stage.name for stage in mechanism.stages]
    drawn = sum((Counter(dict(entry.draws)) for entry in released.ledger), Counter())
    assert drawn == counted.draws == {"add_gaussian": mechanism.rounds + 2}  # no noise, hence no release, off the books
    assert clustering.ENCODER_ASSUMPTION in released.guarantee.assumptions
    assert released.guarantee.epsilon <= mechanism.guarantee_under(source).epsilon * (1 + 1e-12)


def test_the_noise_really_has_the_billed_deviation(build):
    """50,000 draws of each stage on zeros: deviation within 2.5 % except with probability below 1e-14 (chi-square)."""
    source = Simulation(9)
    for stage in build().stages[1:]:
        zeros = np.zeros(stage.shape)
        times = -(-50_000 // zeros.size)
        drawn = np.array([stage.release(zeros, source.child("draw")) for _ in range(times)])
        assert drawn.std() == pytest.approx(stage.noise_std(source), rel=0.025)
        assert ZCDP.gaussian(drawn.std(), stage.l2_sensitivity, "record", "add_drop").rho == pytest.approx(
            stage.rho, rel=0.06
        )


def test_overspending_is_refused_before_noise(build, target):
    """A budget that does not add up, put in behind the constructor's back: the ledger stops it, not the constructor."""
    for shares, drawn in (((1.2, 0.1, 0.1), 1), ((2.4, 0.1, 0.1), 0), ((0.4, 0.1, 0.6), 3), ((0.4, 0.7, 0.1), 2)):
        mechanism = build(smallest=0.0)
        object.__setattr__(mechanism, "shares", shares)
        counted = Counted(Simulation(1))
        with pytest.raises(BudgetExceeded, match="nothing was drawn"):
            mechanism.release(target[:50], counted)
        assert counted.draws.total() == drawn  # the stages before it fitted; the one that did not drew nothing


def test_a_stage_released_twice_is_refused(build, target, monkeypatch):
    """The classical slip: a loop that runs once more than was paid for."""
    mechanism = build(smallest=0.0)
    stage = type(mechanism).stage
    object.__setattr__(mechanism, "rounds", 3)
    monkeypatch.setattr(type(mechanism), "stage", lambda self, name, k: stage(build(smallest=0.0, rounds=2), name, k))
    with pytest.raises(BudgetExceeded):
        mechanism.release(target[:50], Simulation(1))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"shares": (0.5, 0.5, 0.1)}, "shares"),
        ({"shares": (0.5, 0.5)}, "shares"),
        ({"shares": (0.5, 0.0, 0.5)}, "shares"),
        ({"rounds": 0}, "rounds"),
        ({"max_keywords": 0}, "max_keywords"),
        ({"smallest": -1.0}, "smallest"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_bad_settings_are_refused_by_name(build, changes, name):
    with pytest.raises((TypeError, ValueError), match=name):
        build(**changes)


# ------------------------------------------------------------------------------------------------ what it says
def test_with_a_large_budget_it_finds_the_topics_and_with_a_small_one_it_does_not(build, target):
    released = build(epsilon=1e4).release(target, Simulation(1))
    best = [set(theme.text.split(", ")) for theme in released.themes(3)]
    assert {"vaccine", "winter"} <= best[0]
    assert released.sizes.sum() == pytest.approx(len(target), rel=0.01)
    rough = build(epsilon=0.02).release(target, Simulation(1))
    assert rough.sizes.sum() != pytest.approx(len(target), rel=0.01)


def test_small_clusters_are_dropped_by_their_noisy_size_and_never_told(build, target):
    released = build(epsilon=1e4, smallest=250.0).release(target, Simulation(1))
    assert set(released.kept) == set(np.flatnonzero(released.sizes >= 250))
    assert 0 < len(released.kept) < 5
    assert released.counts.shape == (len(released.kept), len(released.vocabulary))
    assert len(released.themes(3)) <= len(released.kept)


def test_nothing_is_kept_of_nothing_and_the_keywords_are_then_not_paid(build):
    released = build(smallest=1e6).release([], Simulation(1))
    assert released.themes(3) == ()
    assert released.counts.shape == (0, len(released.vocabulary))
    assert [entry.bill.composed[0] for entry in released.ledger] == ["clustering", "clustering", "sizes"]
    assert baselines.in_words(released.themes(3)) == "No theme stands out."
    whole = build(smallest=1e6)  # the bill is the mechanism's, whatever the data led to
    assert released.guarantee == whole.guarantee_under(Simulation(1)) == build().guarantee_under(Simulation(1))


def test_a_row_of_any_finite_length_moves_a_sum_by_at_most_one(space):
    """One that overflowed would turn the sum of all into NaN, and no noise hides that."""
    from privlib.baselines.space import GRID, inside

    rows = np.array([[1.7e308, -1.7e308, 1e-300], [3.0, 4.0, 0.0], [1e200, 0.0, 0.0], [0.25, 0.0, 0.0]])
    for norm in (1.0, 0.5, 1e-3):
        points = inside(rows, norm)
        assert np.isfinite(points).all()
        assert (np.linalg.norm(points, axis=1) <= 1.0).all()
        assert np.linalg.norm(points[0]) > 1 - 4 * GRID
        assert (inside(rows[1:], norm) == points[1:]).all()
    long = np.full((1, len(space.mean)), 1.7e308)
    long[0, ::2] *= -1
    assert np.isfinite(space.points(long)).all()


def test_the_text_holds_public_words_and_noisy_sizes_only(build, target):
    planted = [*target, *["flu vaccine quietharbor lantern"] * 3]
    released = build(epsilon=1e4).release(planted, Simulation(1))
    told = baselines.in_words(released.themes(4))
    assert set(baselines.keywords.words(told)) <= {*released.vocabulary, "main", "themes", "about"}
    assert "quietharbor" not in told


def test_same_seed_same_release_other_seed_another(build, target):
    first, again, other = (build().release(target[:200], Simulation(seed)) for seed in (1, 1, 2))
    for name in ("centres", "sizes", "counts"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.sizes, other.sizes)


def test_a_large_collection_is_embedded_block_by_block_with_the_same_release(build, target, encoder, monkeypatch):
    whole = build().release(target, Simulation(1))
    asked, compared = [], []

    class Watched:
        def embed(self, texts):
            asked.append(len(texts))
            return encoder.embed(texts)

    argmin = np.argmin
    monkeypatch.setattr(clustering, "AT_ONCE", 400)
    monkeypatch.setattr("privlib.baselines.space.AT_ONCE", 400)
    monkeypatch.setattr(np, "argmin", lambda a, **options: (compared.append(len(a)), argmin(a, **options))[1])
    blocks = dataclasses.replace(build(), encoder=Watched()).release(target, Simulation(1))
    assert asked == [400, 400, 400, 300]
    assert compared == [400, 400, 400, 300] * 3  # two steps of clustering, and the owners
    for name in ("centres", "sizes", "kept", "counts"):
        assert np.array_equal(getattr(whole, name), getattr(blocks, name))
