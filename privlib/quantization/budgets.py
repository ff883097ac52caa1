"""A budget for every table: tables chosen one by one, each among a number of candidates of its own. Ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from privlib.dp import Simulation, checks

from .leakage import MaximalLeakage
from .mechanism import Released, check_means, private_rows, released_rows, stated
from .rewriting import Rewriter, ideal
from .tables import checked_centre, empirical_tables, farthest, nearest_candidates
from .tree import Tree, checked_tree


@dataclass(frozen=True)
class TableBudget:
    """How one table is chosen, and what that costs.

    Args:
        candidates: gamma of this table, >= 1.
        nearest: k of this table, 1 <= k <= gamma; k = gamma reads nothing of the private table.
        alpha: concentration of its candidates, > 0: drawn from Dirichlet(alpha s centre), s categories.
    """

    candidates: int
    nearest: int
    alpha: float = 1.0

    def __post_init__(self) -> None:
        checks.whole("candidates", self.candidates)
        if checks.whole("nearest", self.nearest) > self.candidates:
            raise ValueError(f"nearest: expected 1..candidates ({self.candidates}), got {self.nearest}")
        checks.positive("alpha", self.alpha)

    @property
    def nats(self) -> float:
        """ln(gamma/k)."""
        return math.log(self.candidates / self.nearest)


@dataclass(frozen=True)
class BudgetedQuantization:
    """`RandomizedQuantization` with gamma, k and the spread of candidates chosen for each table.

    Released, assumptions and relation as there. Guarantee: SML about any share of attribute categories <=
    sum over tables of ln(gamma_t/k_t) + ln(style). It is the proof of Theorem IV.3 with products for powers: the tables
    take prod gamma_t values, each with probability at most 1 / prod k_t. `guarantee` states it as one choice of
    prod k_t among prod gamma_t.

    Args:
        tree: of auxiliary data.
        budgets: one a table, in `tree.components` order. Public: made from auxiliary data, for instance by
            `best_budgets`.
        public_seed: of the candidates.
        centre: one law with positive entries a table, for instance `smoothed_tables` of auxiliary rows, which is then
            the first candidate too; None for uniform laws, the paper's choice.
        pool_size: laws drawn a table, of which gamma_t are taken far apart in TV.
        style: l, see `RandomizedQuantization`.
    """

    tree: Tree
    budgets: tuple[TableBudget, ...]
    public_seed: int = field(kw_only=True)
    centre: tuple[tuple[float, ...], ...] | None = None
    pool_size: int = 1200
    style: float = 1.0

    def __post_init__(self) -> None:
        checked_tree(self.tree)
        listed = isinstance(self.budgets, tuple | list)
        if not listed or not all(isinstance(budget, TableBudget) for budget in self.budgets):
            raise TypeError(f"budgets: expected TableBudgets, got {self.budgets!r}")
        checks.whole("public_seed", self.public_seed, at_least=0)
        checks.whole("pool_size", self.pool_size)
        if len(self.budgets) != self.tree.tables:
            raise ValueError(f"budgets: expected one for each of {self.tree.tables} tables, got {len(self.budgets)}")
        if max(budget.candidates for budget in self.budgets) > self.pool_size:
            raise ValueError(f"budgets: expected at most pool_size ({self.pool_size}) candidates a table")
        checked_centre(self.centre, self.tree)
        _ = self.guarantee.bound  # refuses an impossible style before any private row is seen

    @property
    def guarantee(self) -> MaximalLeakage:
        """For secret choices and ideal rewriting; the number of rows is added by the release."""
        gamma, k = (math.prod(getattr(b, name) for b in self.budgets) for name in ("candidates", "nearest"))
        return stated(1, gamma, k, self.style)

    @cached_property
    def candidate_sets(self) -> tuple[np.ndarray, ...]:
        """Public candidates, one float[gamma_t, s] a table."""
        return tuple(
            ordered_candidates(self.tree, table, budget.candidates, budget.alpha, self.centre, self.pool_size,
                               self.public_seed)
            for table, budget in enumerate(self.budgets)
        )  # fmt: skip

    def release(self, private, noise, rewriter: Rewriter = ideal) -> Released:
        """Draw tables, draw targets, match, rewrite. Arguments as in `RandomizedQuantization.release`."""
        check_means(noise, rewriter)
        labels, texts = private_rows(private, self.tree)
        choice, tables = noise.child("choice"), []
        empirical = empirical_tables(labels, self.tree)
        for candidate_set, table, budget in zip(self.candidate_sets, empirical, self.budgets, strict=True):
            near = nearest_candidates(candidate_set, table, budget.nearest)
            tables.append(candidate_set[near[int(choice.integers(budget.nearest))]])
        return released_rows(labels, texts, tuple(tables), self.tree, self.guarantee, noise, rewriter)


def ordered_candidates(
    tree: Tree,
    table: int,
    count: int,
    alpha: float,
    centre: Sequence[Sequence[float]] | None,
    pool_size: int,
    public_seed: int,
) -> np.ndarray:
    """The first `count` public candidates float[count, s] of one table; fewer are the beginning of more.

    Without a centre these are the candidates of `RandomizedQuantization` at the same seed.
    """
    public = Simulation(public_seed)
    for _ in range(table + 1):  # each table's stream is the next one of this name
        stream = public.child("candidates")
    size = tree.sizes[tree.components[table][0]]
    law = np.full(size, float(alpha)) if centre is None else alpha * size * np.asarray(centre[table], dtype=float)
    pool = stream.generator.dirichlet(law, size=pool_size)
    if centre is not None:
        pool[0] = np.asarray(centre[table], dtype=float)  # the arbitrary first one of Algorithm 2
    return pool[farthest(pool, count)]
