"""Where to spend leakage: the best gamma/k for every table or attribute under a bound on SML. Ours.

All of it is public: it reads auxiliary laws and what the curator believes of the private ones, never a private row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privlib.dp import Simulation, checks

from .budgets import BudgetedQuantization, TableBudget, ordered_candidates
from .tables import checked_centre, checked_public
from .tree import Tree, checked_tree

GRID = (1, 2, 3, 4, 6, 8, 12, 24, 48, 120)  # gamma and k: ratios of few primes, so that budgets add to few sums
GROUPINGS = ("table", "attribute", "all")


def plausible_tables(
    tree: Tree, centre: Sequence[Sequence[float]] | None, alpha: float, count: int, noise: Simulation
) -> tuple[tuple[np.ndarray, ...], ...]:
    """What the private tables may be: `count` tuples of tables of Dirichlet(alpha s centre), a public belief.

    Args:
        centre: one law a table; None for uniform laws.
        alpha: > 0; the larger, the nearer to the centre the private tables are held to be.
    """
    checked_tree(tree)
    checks.positive("alpha", alpha)
    checks.whole("count", count, at_least=1)
    checked_centre(centre, tree)
    checked_public(noise)
    drawn = []
    for table, (attribute, _) in enumerate(tree.components):
        size = tree.sizes[attribute]
        law = np.full(size, 1 / size) if centre is None else np.asarray(centre[table], dtype=float)
        drawn.append(noise.child("belief").generator.dirichlet(alpha * size * law, size=count))
    return tuple(tuple(column[row] for column in drawn) for row in range(count))


def parent_shares(tables: Sequence[np.ndarray], tree: Tree) -> np.ndarray:
    """float[E]: the share of rows that each table governs, which is that of its parent's value; 1 for the root."""
    marginal = {attribute: np.zeros(size) for attribute, size in enumerate(tree.sizes)}
    shares = []
    for (attribute, value), table in zip(tree.components, tables, strict=True):
        share = 1.0 if value < 0 else marginal[tree.parent[attribute]][value]
        marginal[attribute] += share * table  # a parent stands before its children, so its marginal is complete
        shares.append(share)
    return np.array(shares)


def choice_distances(ordered: np.ndarray, tables: np.ndarray, gammas: Sequence[int]) -> dict[int, np.ndarray]:
    """Expected TV of a table to a uniform choice among its k nearest of the first gamma candidates.

    Args:
        ordered: candidates float[most, s]. tables: float[b, s]. gammas: each in 1..most.

    Returns:
        gamma to float[b, gamma], column k - 1 for k nearest.
    """
    distances = 0.5 * np.abs(tables[:, None, :] - ordered[None, :, :]).sum(axis=2)
    return {
        gamma: np.cumsum(np.sort(distances[:, :gamma], axis=1), axis=1) / np.arange(1, gamma + 1) for gamma in gammas
    }


def best_budgets(
    tree: Tree,
    nats: float,
    belief: Sequence[Sequence[np.ndarray]],
    *,
    public_seed: int,
    grid: Sequence[int] = GRID,
    alphas: Sequence[float] = (1.0,),
    centre: tuple[tuple[float, ...], ...] | None = None,
    pool_size: int = 1200,
    by: str = "table",
) -> BudgetedQuantization:
    """The mechanism of smallest expected distance whose bound is at most `nats`.

    The distance is sum over tables of (share of rows the table governs) x (TV of the private table to the released
    one), an upper bound on the TV of the joint laws of the tree, averaged over the belief and the secret draw. It adds
    over tables as leakage does, so the best choice is a knapsack; it is solved exactly, by joining the tables' Pareto
    fronts one after the other.

    Args:
        nats: >= 0, bound on SML with style ratio 1; the mechanism's bound is at most this (to 1 part in 10^9).
        belief: plausible private tables, from `plausible_tables`; at least one tuple.
        public_seed, centre, pool_size: of the candidates, see `BudgetedQuantization`.
        grid: numbers allowed for gamma and for k; must hold a gamma = k, so that spending nothing is possible.
        alphas: concentrations of candidates to choose from.
        by: "table"; "attribute": one choice for all tables of an attribute; "all": one for all tables.
    """
    checked_tree(tree)
    checks.nonnegative("nats", nats)
    checks.whole("public_seed", public_seed, at_least=0)
    sizes = sorted({checks.whole("grid", size, at_least=1) for size in checks.sequence("grid", grid, "integers")})
    alphas = [checks.positive("alphas", alpha) for alpha in checks.sequence("alphas", alphas, "numbers")]
    checks.whole("pool_size", pool_size)
    if not isinstance(by, str) or by not in GROUPINGS:
        raise ValueError(f"by: expected one of {GROUPINGS}, got {by!r}")
    told = checks.sequence("belief", belief, "tuples of tables")
    if not told or any(len(checks.sequence("belief", tables, "tables")) != tree.tables for tables in told):
        raise ValueError(f"belief: expected tuples of {tree.tables} tables, got {len(told)}")
    for name, values in (("grid", sizes), ("alphas", alphas)):
        if not values:
            raise ValueError(f"{name}: expected at least one value, got none")
    checked_centre(centre, tree)
    shares = np.stack([parent_shares(tables, tree) for tables in belief])
    options = [TableBudget(gamma, k, alpha) for alpha in alphas for gamma in sizes for k in sizes if k <= gamma]
    costs = np.empty((tree.tables, len(options)))
    for table in range(tree.tables):
        private = np.stack([tables[table] for tables in belief])
        for alpha in alphas:
            ordered = ordered_candidates(tree, table, sizes[-1], alpha, centre, pool_size, public_seed)
            expected = choice_distances(ordered, private, sizes)
            for place, option in enumerate(options):
                if option.alpha == alpha:
                    far = expected[option.candidates][:, option.nearest - 1]
                    costs[table, place] = float((shares[:, table] * far).mean())
    keys = [{"table": table, "attribute": attribute, "all": 0}[by] for table, (attribute, _) in
            enumerate(tree.components)]  # fmt: skip
    groups = [[table for table, key in enumerate(keys) if key == group] for group in dict.fromkeys(keys)]
    prices = np.array([option.nats for option in options])
    chosen = _best([(len(g) * prices, costs[g].sum(axis=0)) for g in groups], nats * (1 + 1e-12))
    budgets: dict[int, TableBudget] = {}
    for group, place in zip(groups, chosen, strict=True):
        budgets |= dict.fromkeys(group, options[place])
    return BudgetedQuantization(
        tree, tuple(budgets[table] for table in range(tree.tables)), public_seed=public_seed, centre=centre,
        pool_size=pool_size,
    )  # fmt: skip


def _best(groups: Sequence[tuple[np.ndarray, np.ndarray]], limit: float) -> list[int]:
    """One option a group, of smallest total cost at a total price <= limit: joins Pareto fronts, exact.

    groups: (prices float[o], costs float[o]) each, some price zero.
    """
    price, cost, taken = np.zeros(1), np.zeros(1), np.zeros((1, 0), dtype=int)
    for prices, costs in groups:
        state, option = (index.ravel() for index in np.indices((len(price), len(prices))))
        joined, worth = price[state] + prices[option], cost[state] + costs[option]
        order = np.lexsort((worth, np.round(joined, 9)))
        order = order[joined[order] <= limit]
        least = np.minimum.accumulate(np.concatenate([[np.inf], worth[order][:-1]]))
        front = order[worth[order] < least]
        price, cost = joined[front], worth[front]
        taken = np.column_stack([taken[state[front]], option[front]])
    return taken[np.argmin(cost)].tolist()
