"""One table at the same bound as one attribute: choosing among whole joint laws by one draw."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privlib import dp, quantization
from privlib.dp import Simulation
from privlib.quantization import channel_sml, exact_sml, sml_bound
from privlib.quantization.leakage import _compositions
from privlib.quantization.tables import empirical_tables, joint_law, nearest_candidates

CHAIN = quantization.Tree(0, (-1, 0), (2, 2))  # three tables
STAR = quantization.Tree(1, (1, -1, 0), (3, 2, 4))


def joint(tree=CHAIN, **changes):
    chosen = dict(candidates=8, nearest=4, public_seed=5, pool_size=60) | changes
    return quantization.JointQuantization(tree, **chosen)


def labels(n, seed=0, sizes=(3, 2, 4)):
    generator = np.random.default_rng(seed)
    return np.stack([generator.choice(size, n, p=generator.dirichlet(np.ones(size))) for size in sizes], axis=1)


def test_joint_law_is_the_product_along_the_tree():
    tables = empirical_tables(labels(50), STAR)
    placed = dict(zip(STAR.components, tables, strict=True))
    for cell, probability in zip(itertools.product(range(3), range(2), range(4)), joint_law(tables, STAR), strict=True):
        by_hand = placed[1, -1][cell[1]] * placed[0, cell[1]][cell[0]] * placed[2, cell[0]][cell[2]]
        assert probability == pytest.approx(by_hand)
    assert joint_law(tables, STAR).sum() == pytest.approx(1)


def test_bound_is_that_of_one_table_whatever_the_tree():
    for tree in (CHAIN, STAR, quantization.Tree(0, (-1,), (5,))):
        assert joint(tree).guarantee.bound == sml_bound(1, 8, 4)
        assert joint(tree).guarantee.tables == 1
    assert quantization.RandomizedQuantization(CHAIN, 8, 4, public_seed=5).guarantee.bound == sml_bound(3, 8, 4)


@pytest.mark.parametrize("conditions", [((0, 1),), ((1, 1),), ((0, 1), (1, 0))])
def test_exact_leakage_is_below_the_bound_of_one_table_and_far_below_three(conditions):
    """All private tables of 12 rows on 4 combinations, enumerated: the joint candidates are one table of 4 cells."""
    ours = joint()
    cells = np.array(list(itertools.product(range(2), repeat=2)))
    holding = np.flatnonzero(quantization.Share(conditions).holds(cells))
    exact = exact_sml(ours.candidate_laws, 4, holding, 12)
    assert 0.2 < exact <= sml_bound(1, 8, 4) + 1e-12


def channels(n=5, gamma=4, k=2):
    """Three ways to choose three tables, each a channel from datasets of n rows: own draws, one draw, one joint set."""
    sets = [quantization.candidates(2, gamma, 40, 1.0, Simulation(seed)) for seed in range(3)]
    ours = joint(candidates=gamma, nearest=k)
    cells = np.array(list(itertools.product(range(2), repeat=2)))
    own, shared, one = [], [], []
    for counts in _compositions(n, 4):
        data = np.repeat(cells, counts, axis=0)
        near = [nearest_candidates(s, t, k) for s, t in zip(sets, empirical_tables(data, CHAIN), strict=True)]
        product, together = np.zeros((gamma,) * 3), np.zeros((gamma,) * 3)
        for draw in itertools.product(range(k), repeat=3):
            product[tuple(table[i] for table, i in zip(near, draw, strict=True))] += k**-3
        for i in range(k):
            together[tuple(table[i] for table in near)] += 1 / k
        single = np.zeros(gamma)
        single[nearest_candidates(ours.candidate_laws, counts / n, k)] = 1 / k
        own.append(product.ravel())
        shared.append(together.ravel())
        one.append(single)
    return [np.array(rows) for rows in (own, shared, one)]


def test_one_joint_set_leaks_least_and_one_shared_draw_most():
    """Exact, for the whole dataset as the secret: ln(gamma/k) < E ln(gamma/k) < the shared draw's."""
    own, shared, one = (channel_sml(channel, np.arange(len(channel))) for channel in channels())
    assert one <= math.log(2) + 1e-9
    assert one < own <= 3 * math.log(2) + 1e-9 < shared <= 3 * math.log(4) - math.log(2) + 1e-9


def test_release_takes_each_of_the_k_nearest_joint_laws_and_no_other():
    ours, private = joint(STAR), labels(200)
    empirical = np.bincount(np.ravel_multi_index(tuple(private.T), STAR.sizes), minlength=24) / 200
    near = {ours.candidate_laws[i].tobytes() for i in nearest_candidates(ours.candidate_laws, empirical, 4)}
    seen = {joint_law(ours.release(private, Simulation(seed)).tables, STAR).tobytes() for seed in range(60)}
    assert seen == near  # missing one of four equally likely in 60 draws: below 2e-7
    released = ours.release(private, dp.Secure())
    assert released.targets.shape == (200, 3)
    assert released.guarantee.rows == 200
    assert released.guarantee.assumptions == ours.guarantee.assumptions


def test_candidates_are_public_and_far_apart():
    np.testing.assert_array_equal(joint(STAR).candidate_laws, joint(STAR).candidate_laws)
    assert (joint(STAR).candidate_laws != joint(STAR, public_seed=6).candidate_laws).any()

    def smallest(laws):
        return min(0.5 * np.abs(a - b).sum() for a, b in itertools.combinations(laws, 2))

    few = joint(STAR, pool_size=8)  # all of a pool of eight, where no choice is left
    assert smallest(joint(STAR).candidate_laws) > smallest(few.candidate_laws)


def test_a_public_centre_brings_candidates_nearer_to_private_rows_like_the_public_ones():
    public, private = labels(400, 3), labels(400, 3)[::-1]
    centre = quantization.smoothed_tables(public, STAR)
    empirical = np.bincount(np.ravel_multi_index(tuple(private.T), STAR.sizes), minlength=24) / 400

    def distance(ours):
        return np.sort(0.5 * np.abs(ours.candidate_laws - empirical).sum(axis=1))[:4].mean()

    assert distance(joint(STAR, centre=centre, alpha=4.0)) < 0.6 * distance(joint(STAR, alpha=4.0))


def test_smoothed_tables_have_no_zero_and_the_right_shapes():
    few = np.array([[1, 0, 0], [1, 1, 2]])
    found = quantization.smoothed_tables(few, STAR)
    assert [len(law) for law in found] == [2, 3, 3, 4, 4, 4]
    assert found[0] == pytest.approx((0.5, 0.5))
    assert found[1] == pytest.approx((0.25, 0.5, 0.25))
    assert found[3] == pytest.approx((0.25,) * 4)  # nobody has this parent value
    assert min(map(min, found)) > 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (dict(nearest=9), "nearest"),
        (dict(candidates=61), "candidates"),
        (dict(alpha=0.0), "alpha"),
        (dict(centre=((0.5, 0.5),)), "centre"),
        (dict(centre=((1.0, 0.0), (0.5, 0.5), (0.5, 0.5))), "centre"),
        (dict(tree=quantization.Tree(0, (-1, 0, 0), (100, 100, 100))), "tree"),
    ],
)
def test_impossible_parameters_are_refused_when_made(change, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        joint(**change)
