"""A budget for every table: the mechanism, the exact knapsack behind it, and exact leakage on small cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import dp, quantization
from privlib.dp import Simulation
from privlib.experiments.studies import quantization as base
from privlib.experiments.studies import quantization_budgets as studies
from privlib.quantization import BudgetedQuantization, TableBudget, best_budgets, channel_sml, exact_choice_sml
from privlib.quantization.allocation import _best, choice_distances, parent_shares, plausible_tables
from privlib.quantization.budgets import ordered_candidates
from privlib.quantization.leakage import _compositions
from privlib.quantization.tables import empirical_tables, joint_law, nearest_candidates

CHAIN = quantization.Tree(0, (-1, 0), (2, 2))  # three tables
STAR = quantization.Tree(1, (1, -1, 0), (3, 2, 4))  # 1 + 2 + 3 tables
SHARE = quantization.Share(((0, 1),))
BUDGETS = (TableBudget(3, 1), TableBudget(4, 2), TableBudget(2, 2))


def ours(tree=CHAIN, budgets=BUDGETS, **changes):
    return BudgetedQuantization(tree, budgets, **dict(public_seed=5, pool_size=60) | changes)


def labels(n, seed=0, sizes=(3, 2, 4)):
    generator = np.random.default_rng(seed)
    return np.stack([generator.choice(size, n, p=generator.dirichlet(np.ones(size))) for size in sizes], axis=1)


# ------------------------------------------------------------------------------------------- mechanism
def test_equal_budgets_are_randomized_quantization_release_for_release():
    same = quantization.RandomizedQuantization(STAR, 12, 3, public_seed=5, pool_size=60)
    mine = ours(STAR, (TableBudget(12, 3),) * 6)
    assert mine.guarantee.bound == pytest.approx(same.guarantee.bound)
    for one, other in zip(mine.candidate_sets, same.candidate_sets, strict=True):
        np.testing.assert_array_equal(one, other)
    data = labels(80)
    one, other = (m.release(data, Simulation(3)).targets for m in (mine, same))
    np.testing.assert_array_equal(one, other)


def test_bound_is_the_sum_over_tables_and_names_its_assumptions():
    stated = ours(style=2.0).guarantee
    assert stated.bound == pytest.approx(math.log(4 / 2) + math.log(3) + 0 + math.log(2))
    assert "secret choice" in stated.assumptions
    assert ours().release(labels(30, sizes=(2, 2)), dp.Secure()).guarantee.rows == 30


def test_each_table_is_one_of_its_own_nearest():
    mine, data = ours(), labels(40, sizes=(2, 2))
    near = [
        candidates[nearest_candidates(candidates, table, budget.nearest)]
        for candidates, table, budget in zip(mine.candidate_sets, empirical_tables(data, CHAIN), BUDGETS, strict=True)
    ]
    seen = [set(), set(), set()]
    noise = Simulation(1)
    for _ in range(60):  # a candidate of two is missed with probability 2^-59
        for place, table in enumerate(mine.release(data, noise).tables):
            found = np.flatnonzero((near[place] == table).all(axis=1))
            assert len(found) == 1
            seen[place].add(int(found[0]))
    assert [len(s) for s in seen] == [1, 2, 2]


def test_the_centre_is_a_candidate_and_one_candidate_at_no_cost_publishes_it():
    centre = quantization.smoothed_tables(labels(60), STAR)
    mine = ours(STAR, (TableBudget(1, 1),) * 6, centre=centre)
    assert mine.guarantee.bound == 0
    released = mine.release(labels(50, seed=4), Simulation(1))
    for table, law in zip(released.tables, centre, strict=True):
        np.testing.assert_allclose(table, law)


def test_fewer_candidates_are_the_beginning_of_more():
    for centre in (None, quantization.smoothed_tables(labels(60), STAR)):
        many = ordered_candidates(STAR, 3, 12, 2.0, centre, 60, 5)
        np.testing.assert_array_equal(ordered_candidates(STAR, 3, 5, 2.0, centre, 60, 5), many[:5])


# ------------------------------------------------------------------------------------------- exact leakage
def by_definition(mechanism, n):
    """The channel as the product of the tables' laws, entry by entry."""
    cells = np.array(list(itertools.product(range(2), repeat=2)))
    rows, holding = [], []
    for counts in _compositions(n, 4):
        data = np.repeat(cells, counts, axis=0)
        laws = []
        for candidates, table, budget in zip(
            mechanism.candidate_sets, empirical_tables(data, CHAIN), mechanism.budgets, strict=True
        ):
            law = np.zeros(len(candidates))
            law[nearest_candidates(candidates, table, budget.nearest)] = 1 / budget.nearest
            laws.append(law)
        rows.append(np.einsum("i,j,k->ijk", *laws).ravel())
        holding.append(int(SHARE.holds(data).sum()))
    return channel_sml(np.array(rows), np.array(holding))


@pytest.mark.parametrize(
    "pairs", [((4, 2), (3, 1), (2, 2)), ((4, 4), (4, 2), (1, 1)), ((3, 1), (3, 2), (3, 3)), ((2, 1), (2, 1), (2, 1))]
)
def test_exact_leakage_is_that_of_the_product_and_below_the_bound_and_the_ceiling(pairs):
    mine = ours(budgets=tuple(TableBudget(*pair) for pair in pairs))
    exact = exact_choice_sml(CHAIN, mine.candidate_sets, [b.nearest for b in mine.budgets], SHARE, 5)
    assert exact == pytest.approx(by_definition(mine, 5), abs=1e-7)
    assert exact <= min(mine.guarantee.bound, math.log(6)) + 1e-7
    assert exact > 0.4


def test_exact_leakage_of_one_attribute_is_that_of_one_table():
    tree = quantization.Tree(0, (-1,), (2,))
    table = ordered_candidates(tree, 0, 12, 1.0, None, 120, 5)
    exact = exact_choice_sml(tree, [table], [4], SHARE, 150)
    assert exact == pytest.approx(quantization.exact_sml(table, 4, 1, 150), abs=1e-9)
    assert exact == pytest.approx(math.log(3), abs=1e-9)


# ------------------------------------------------------------------------------------------- allocation
def test_parent_shares_are_those_of_the_joint_law():
    for tables in plausible_tables(STAR, None, 1.0, 5, Simulation(1)):
        law = joint_law(tables, STAR).reshape(STAR.sizes)
        shares = dict(zip(STAR.components, parent_shares(tables, STAR), strict=True))
        for (attribute, value), share in shares.items():
            parent = STAR.parent[attribute]
            expected = 1.0 if value < 0 else law.take(value, axis=parent).sum()
            assert share == pytest.approx(expected)


def test_several_joint_laws_at_once_are_each_one():
    belief = plausible_tables(STAR, None, 1.0, 6, Simulation(1))
    together = joint_law([np.stack(column).reshape(2, 3, -1) for column in zip(*belief, strict=True)], STAR)
    for tables, law in zip(belief, together.reshape(6, -1), strict=True):
        np.testing.assert_allclose(law, joint_law(tables, STAR))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 1.0, 5.0]))
@settings(max_examples=60, deadline=None)
def test_weighted_distances_of_tables_bound_the_distance_of_joint_laws(seed, alpha):
    private, released = plausible_tables(STAR, None, alpha, 2, Simulation(seed))
    joint = 0.5 * np.abs(joint_law(private, STAR) - joint_law(released, STAR)).sum()
    tables = [0.5 * np.abs(p - r).sum() for p, r in zip(private, released, strict=True)]
    assert joint <= parent_shares(private, STAR) @ tables + 1e-12


def test_choice_distances_are_means_over_the_nearest():
    ordered = ordered_candidates(STAR, 0, 9, 1.0, None, 60, 5)
    tables = np.random.default_rng(0).dirichlet(np.ones(2), size=4)
    found = choice_distances(ordered, tables, [1, 5, 9])
    for gamma, table in itertools.product((1, 5, 9), range(4)):
        for k in range(1, gamma + 1):
            near = nearest_candidates(ordered[:gamma], tables[table], k)
            by_hand = np.mean([0.5 * np.abs(ordered[i] - tables[table]).sum() for i in near])
            assert found[gamma][table, k - 1] == pytest.approx(by_hand)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_joined_fronts_equal_trying_all_options(seed, groups, options):
    generator = np.random.default_rng(seed)
    prices = [np.append(0.0, generator.choice([0.5, 1, 1.5, 2.5], options)) for _ in range(groups)]
    costs = [generator.random(options + 1) for _ in range(groups)]
    limit = float(generator.choice([0, 1, 2, 4]))
    taken = _best(list(zip(prices, costs, strict=True)), limit)
    spent = sum(p[i] for p, i in zip(prices, taken, strict=True))
    least = min(
        sum(c[i] for c, i in zip(costs, way, strict=True))
        for way in itertools.product(range(options + 1), repeat=groups)
        if sum(p[i] for p, i in zip(prices, way, strict=True)) <= limit
    )
    assert spent <= limit
    assert sum(c[i] for c, i in zip(costs, taken, strict=True)) == pytest.approx(least)


BELIEF = plausible_tables(CHAIN, ((0.9, 0.1), (0.5, 0.5), (0.5, 0.5)), 8.0, 40, Simulation(2))
CHOSEN = dict(public_seed=5, pool_size=60)


def surrogate(mechanism, belief):
    """What `best_budgets` minimises, written out."""
    total = 0.0
    for tables in belief:
        shares = parent_shares(tables, mechanism.tree)
        for share, table, candidates, budget in zip(
            shares, tables, mechanism.candidate_sets, mechanism.budgets, strict=True
        ):
            near = nearest_candidates(candidates, table, budget.nearest)
            total += share * np.mean([0.5 * np.abs(candidates[i] - table).sum() for i in near])
    return total / len(belief)


@pytest.mark.parametrize("nats", [0.0, math.log(2), 1.5, 3.0])
def test_best_budgets_equal_the_best_of_all_allocations(nats):
    options = [TableBudget(gamma, k) for gamma in (1, 2, 4) for k in (1, 2, 4) if k <= gamma]
    allowed = [
        budgets
        for budgets in itertools.product(options, repeat=3)
        if math.fsum(b.nats for b in budgets) <= nats + 1e-12
    ]
    few = BELIEF[:6]
    groupings = {"table": lambda b: True, "attribute": lambda b: b[1] == b[2], "all": lambda b: len(set(b)) == 1}
    for by, same in groupings.items():
        found = best_budgets(CHAIN, nats, few, grid=(1, 2, 4), by=by, **CHOSEN)
        assert found.guarantee.bound <= nats * (1 + 1e-9)
        assert same(found.budgets)
        least = min(surrogate(ours(budgets=budgets), few) for budgets in allowed if same(budgets))
        assert surrogate(found, few) == pytest.approx(least)


def test_nothing_is_spent_where_no_rows_are():
    """Nine rows in ten have the root's first category: its child table is worth more than the other's."""
    found = best_budgets(CHAIN, 2.0, BELIEF, **CHOSEN)
    root, common, rare = (budget.nats for budget in found.budgets)
    assert common > rare
    assert root > 0


def test_allocation_reads_no_private_row_and_is_the_same_every_time():
    assert best_budgets(CHAIN, 1.4, BELIEF, **CHOSEN) == best_budgets(CHAIN, 1.4, BELIEF, **CHOSEN)


def test_at_the_same_exact_leakage_the_optimised_tables_lie_nearer_than_equal_ones():
    """Exact on both sides: gamma/k = 2 for every table against what the optimiser does with as much leakage."""
    equal = ours(budgets=(TableBudget(4, 2),) * 3)
    spent = exact_choice_sml(CHAIN, equal.candidate_sets, [2, 2, 2], SHARE, 6)
    found = best_budgets(CHAIN, spent, BELIEF, grid=(1, 2, 3, 4), **CHOSEN)
    exact = exact_choice_sml(CHAIN, found.candidate_sets, [b.nearest for b in found.budgets], SHARE, 6)
    assert exact <= spent + 1e-9
    assert surrogate(found, BELIEF) < surrogate(equal, BELIEF) - 0.02


# ------------------------------------------------------------------------------------------- study
def test_expected_distance_of_the_study_is_the_mean_over_all_draws():
    mine, few = ours(), BELIEF[:4]
    nearest = [budget.nearest for budget in BUDGETS]
    laws = np.stack([joint_law(tables, CHAIN) for tables in few])
    by_hand = []
    for tables, law in zip(few, laws, strict=True):
        near = [
            candidates[nearest_candidates(candidates, table, k)]
            for candidates, table, k in zip(mine.candidate_sets, tables, nearest, strict=True)
        ]
        drawn = [joint_law(draw, CHAIN) for draw in itertools.product(*near)]
        by_hand.append(np.mean([0.5 * np.abs(law - other).sum() for other in drawn]))
    assert studies._expected_distance(mine.candidate_sets, nearest, few, laws) == pytest.approx(np.mean(by_hand))


def test_the_tree_is_written_down_with_its_tables():
    schema = base.codebook("stance").schema
    rows = studies.tree_rows(quantization.Tree(0, (-1, 0, 0), schema.sizes, schema), 10, 4)
    assert rows["parent"].tolist() == ["none", "target", "target"]
    assert rows["children"].tolist() == [2, 0, 0]
    assert rows["tables"].sum() == 1 + 6 + 6


def test_exact_trades_stay_under_bound_and_ceiling_and_by_table_is_never_behind():
    table = studies.exact_trade(3, 4, [0.0, math.log(2), math.log(3)], 5)
    assert (table["exact"] <= np.minimum(table["bound"], math.log(5)) + 1e-7).all()
    for limit in (0.0, math.log(2), math.log(3)):
        under = table[table["bound"] <= limit + 1e-9].groupby("method")["distance"].min()
        assert under[studies.BY_ATTRIBUTE] <= under[studies.SAME] + 1e-12
        assert under[studies.BY_TABLE] < under[studies.SAME]
    best = studies.frontier(table, "exact")
    for _, part in best.groupby("method"):
        assert part["exact"].is_monotonic_increasing
        assert part["distance"].is_monotonic_decreasing
    assert len(best) < len(table)


def test_best_of_each_kind_keeps_to_its_bound_and_a_moved_file_has_its_share():
    book = base.codebook("drug-reviews")
    public = labels(150, 0, book.schema.sizes)
    allocator = studies.Allocator(quantization.chow_liu(public, book.schema), public, 4.0, (1.0, 16.0), 5)
    for method in allocator.methods(1.4).values():
        assert method.guarantee.bound <= 1.4 * (1 + 1e-9)
    moved = studies.skewed_labels(public, book.secrets[0], 0.5, Simulation(1))
    assert book.secrets[0](moved) == pytest.approx(0.5, abs=0.01)
    rows = studies.trade({"moved": moved}, allocator, book.secrets, [1.4], 2, 7)
    assert rows[rows["method"] == studies.PUBLISHED]["bound"].tolist() == [0.0]
    assert len(rows) == 9
    assert rows["joint"].between(0, 1).all()


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: TableBudget(3, 4), "nearest"),
        (lambda: TableBudget(3, 1, 0.0), "alpha"),
        (lambda: ours(budgets=BUDGETS[:2]), "budgets"),
        (lambda: ours(pool_size=3), "budgets"),
        (lambda: ours(centre=((0.5, 0.5),)), "centre"),
        (lambda: ours(style=0.5), "style"),
        (lambda: best_budgets(CHAIN, -1.0, BELIEF, **CHOSEN), "nats"),
        (lambda: best_budgets(CHAIN, 1.0, BELIEF, by="row", **CHOSEN), "by"),
        (lambda: best_budgets(CHAIN, 1.0, [], **CHOSEN), "belief"),
        (lambda: best_budgets(CHAIN, 1.0, BELIEF, grid=(), **CHOSEN), "grid"),
        (lambda: plausible_tables(CHAIN, None, 0.0, 3, Simulation(1)), "alpha"),
        (lambda: exact_choice_sml(CHAIN, [np.eye(2)] * 2, [1, 1], SHARE, 4), "candidate_sets"),
        (lambda: exact_choice_sml(CHAIN, [np.eye(2)] * 3, [1, 1, 3], SHARE, 4), "k"),
        (lambda: exact_choice_sml(CHAIN, [np.eye(2)] * 3, [1, 1, 1], SHARE, 2000), "n"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        call()
