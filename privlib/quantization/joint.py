"""One table instead of many: the release chooses among whole joint laws fixed beforehand. Ours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from privlib.dp import Simulation

from .leakage import MaximalLeakage
from .mechanism import Released, check_choice, check_means, private_rows, released_rows, stated
from .rewriting import Rewriter, ideal
from .tables import checked_centre, empirical_tables, farthest, joint_law, nearest_candidates
from .tree import Tree, checked_labels, checked_tree

MOST_CELLS = 100_000


@dataclass(frozen=True)
class JointQuantization:
    """Release a dataset whose joint attribute law is one of k public ones near the private one, by one secret draw.

    Each of gamma public candidates is a joint law of all attributes: one table for every component of the tree, drawn
    together beforehand. The k nearest to the private joint law in TV are found once, and one of them is drawn.
    Released, assumptions and relation as for `RandomizedQuantization`. Guarantee: SML about any share of attribute
    categories <= ln(gamma/k) + ln(style), which is Theorem IV.3 with E = 1 on the one table of combinations, where
    E tables chosen one by one leak up to E ln(gamma/k). (One draw *shared* by E nearest-sets is not this, and leaks
    more than either.) The price is distance: gamma laws cover the joint laws more thinly than gamma^E do.

    Args:
        tree: of auxiliary data; at most 100,000 combinations.
        candidates: gamma, joint candidates.
        nearest: k, 1 <= k <= gamma.
        public_seed: of the candidates.
        alpha: concentration, > 0: a table of s categories is drawn from Dirichlet(alpha s centre).
        pool_size: tuples drawn, of which gamma are taken far apart in TV.
        centre: one law with positive entries a component, for instance `smoothed_tables` of auxiliary rows; None for
            the uniform laws, the paper's choice. Public: it is never made from private rows.
        style: l, see `RandomizedQuantization`.
    """

    tree: Tree
    candidates: int = 120
    nearest: int = 30
    public_seed: int = field(kw_only=True)
    alpha: float = 1.0
    pool_size: int = 1200
    centre: tuple[tuple[float, ...], ...] | None = None
    style: float = 1.0

    def __post_init__(self) -> None:
        check_choice(self.tree, self.candidates, self.nearest, self.public_seed, self.alpha, self.pool_size)
        _ = self.guarantee.bound  # refuses an impossible style
        if math.prod(self.tree.sizes) > MOST_CELLS:
            raise ValueError(f"tree: expected at most {MOST_CELLS} combinations, got {math.prod(self.tree.sizes)}")
        checked_centre(self.centre, self.tree)

    @property
    def guarantee(self) -> MaximalLeakage:
        """For secret choices and ideal rewriting; the number of rows is added by the release."""
        return stated(1, self.candidates, self.nearest, self.style)

    @cached_property
    def candidate_tables(self) -> tuple[tuple[np.ndarray, ...], ...]:
        """Public candidates, gamma tuples of one law a component."""
        public = Simulation(self.public_seed)
        pool = []
        for place, (attribute, _) in enumerate(self.tree.components):
            size = self.tree.sizes[attribute]
            centre = np.full(size, 1 / size) if self.centre is None else np.array(self.centre[place])
            drawn = public.child("candidates").generator.dirichlet(self.alpha * size * centre, size=self.pool_size)
            pool.append(drawn)
        taken = farthest(joint_law(pool, self.tree), self.candidates)
        return tuple(tuple(column[row] for column in pool) for row in taken)

    @cached_property
    def candidate_laws(self) -> np.ndarray:
        """float[gamma, cells]: the candidates as laws over combinations, one table for `exact_sml`."""
        return joint_law([np.stack(column) for column in zip(*self.candidate_tables, strict=True)], self.tree)

    def release(self, private, noise, rewriter: Rewriter = ideal) -> Released:
        """Draw one candidate, draw targets, match, rewrite. Arguments as in `RandomizedQuantization.release`."""
        check_means(noise, rewriter)
        labels, texts = private_rows(private, self.tree)
        cells = np.ravel_multi_index(tuple(labels.T), self.tree.sizes)
        empirical = np.bincount(cells, minlength=math.prod(self.tree.sizes)) / len(labels)
        near = nearest_candidates(self.candidate_laws, empirical, self.nearest)
        tables = self.candidate_tables[near[int(noise.child("choice").integers(self.nearest))]]
        return released_rows(labels, texts, tables, self.tree, self.guarantee, noise, rewriter)


def smoothed_tables(auxiliary: np.ndarray, tree: Tree) -> tuple[tuple[float, ...], ...]:
    """Tables of public labels int[m, a], one row added to every category, so that none is zero: a `centre`."""
    auxiliary = checked_labels(auxiliary, checked_tree(tree).sizes, "auxiliary")
    laws = []
    for (attribute, value), table in zip(tree.components, empirical_tables(auxiliary, tree), strict=True):
        rows = len(auxiliary) if value < 0 else int((auxiliary[:, tree.parent[attribute]] == value).sum())
        smoothed = (table * rows + 1) / (rows + len(table))
        laws.append(tuple((smoothed / smoothed.sum()).tolist()))
    return tuple(laws)
