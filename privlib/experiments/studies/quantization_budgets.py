"""Where a budget of leakage is best spent: gamma/k by attribute and by table against one joint table.

All at label level: rewriting is ideal and released labels are read exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.dp import Simulation
from privlib.evaluation.text import joint_match
from privlib.quantization import BudgetedQuantization, JointQuantization, Share, TableBudget, Tree
from privlib.quantization.allocation import GRID, choice_distances
from privlib.quantization.budgets import ordered_candidates
from privlib.quantization.tables import joint_law, nearest_candidates

if TYPE_CHECKING:
    import pandas as pd

BELIEFS = 64  # plausible private files an allocation is optimised over
SAME, BY_ATTRIBUTE, BY_TABLE, ONE = "same γ/k everywhere", "γ/k by attribute", "γ/k by table", "one joint table"
CENTRED = ", centred"
PUBLISHED = "public tables instead"


@dataclass(frozen=True, eq=False)
class Allocator:
    """Finds mechanisms under a bound, from public labels alone.

    Args:
        tree, auxiliary: public tree and labels int[m, a].
        trust: alpha of the belief: the private tables are held to be Dirichlet(alpha s public table).
        alphas: concentrations that centred candidates may have.
        public_seed: of candidates and belief.
    """

    tree: Tree
    auxiliary: np.ndarray
    trust: float
    alphas: tuple[float, ...]
    public_seed: int

    @cached_property
    def centre(self) -> tuple[tuple[float, ...], ...]:
        return quantization.smoothed_tables(self.auxiliary, self.tree)

    @cached_property
    def belief(self) -> tuple[tuple[np.ndarray, ...], ...]:
        noise = Simulation(self.public_seed).child("belief")
        return quantization.plausible_tables(self.tree, self.centre, self.trust, BELIEFS, noise)

    def tables(self, by: str, centred: bool, nats: float) -> BudgetedQuantization:
        """The best found with a budget for every table, attribute or for all, see `best_budgets`."""
        centre, alphas = (self.centre, self.alphas) if centred else (None, (1.0,))
        return quantization.best_budgets(
            self.tree, nats, self.belief, public_seed=self.public_seed, alphas=alphas, centre=centre, by=by
        )

    def one_table(self, centred: bool, nats: float) -> JointQuantization:
        """The joint table of smallest expected TV whose bound is at most `nats`."""
        legal = [option for option in self._joint[centred] if option[0] <= nats * (1 + 1e-12)]
        *_, ours = min(legal, key=lambda option: option[1])
        return ours

    def methods(self, nats: float) -> dict[str, BudgetedQuantization | JointQuantization]:
        """The best found of each kind whose bound is at most `nats`."""
        found = {}
        for centred, suffix in ((False, ""), (True, CENTRED)):
            for name, by in ((SAME, "all"), (BY_ATTRIBUTE, "attribute"), (BY_TABLE, "table")):
                found[name + suffix] = self.tables(by, centred, nats)
            found[ONE + suffix] = self.one_table(centred, nats)
        return found

    @cached_property
    def _joint(self) -> dict[bool, list[tuple[float, float, JointQuantization]]]:
        laws = _laws(self.belief, self.tree)
        found: dict[bool, list] = {False: [], True: []}
        kinds = [(False, None, 1.0), *((True, self.centre, alpha) for alpha in self.alphas)]
        for centred, centre, alpha in kinds:
            drawn = dict(public_seed=self.public_seed, alpha=alpha, centre=centre)
            whole = JointQuantization(self.tree, max(GRID), 1, **drawn)
            expected = choice_distances(whole.candidate_laws, laws, GRID)
            found[centred] += [
                (TableBudget(gamma, k).nats, float(expected[gamma][:, k - 1].mean()),
                 JointQuantization(self.tree, gamma, k, **drawn))
                for gamma in GRID
                for k in GRID
                if k <= gamma
            ]  # fmt: skip
        return found


def skewed_labels(labels: np.ndarray, secret: Share, share: float, noise: Simulation) -> np.ndarray:
    """The largest part of labels int[n, a] in which the secret has about this share: a file unlike the public one."""
    holds = secret.holds(labels)
    inside, outside = np.flatnonzero(holds), np.flatnonzero(~holds)
    n = int(min(len(inside) / share, len(outside) / (1 - share)))
    wanted = round(share * n)
    rows = [
        part[noise.child("skew").permutation(len(part))[:count]]
        for part, count in ((inside, wanted), (outside, n - wanted))
    ]
    return labels[np.sort(np.concatenate(rows))]


def tree_rows(tree: Tree, private: int, public: int) -> pd.DataFrame:
    """The tree that auxiliary labels give, one row an attribute, and the sizes of both parts.

    Returns:
        attribute, categories, parent ("none" for the root), children, tables, private, public.
    """
    import pandas as pd

    names, made = tree.schema.names, []
    for attribute, parent in enumerate(tree.parent):
        above = "none" if parent < 0 else names[parent]
        tables = 1 if parent < 0 else tree.sizes[parent]
        children = tree.parent.count(attribute)
        made.append((names[attribute], tree.sizes[attribute], above, children, tables, private, public))
    columns = ["attribute", "categories", "parent", "children", "tables", "private", "public"]
    return pd.DataFrame(made, columns=columns)


def trade(
    files: dict[str, np.ndarray], allocator: Allocator, secrets: Sequence[Share], nats: Sequence[float], draws: int,
    seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Utility and attack error of the best mechanism of each kind at each bound, on each private file.

    Args:
        files: name to private labels int[n, a].
        nats: bounds on SML.
        draws: fresh releases a point, >= 2.

    Returns:
        file, method, nats (allowed), bound (stated), joint, joint_sd (1 - TV of joint label laws), error, error_sd (of
        counting labels exactly, mean over secrets), and the row `PUBLISHED` at 0 nats: as many rows drawn from the
        public tables.
    """
    import pandas as pd

    source, made = Simulation(seed), []
    public = BudgetedQuantization(
        allocator.tree, (TableBudget(1, 1),) * allocator.tree.tables, public_seed=allocator.public_seed,
        centre=allocator.centre,
    )  # fmt: skip
    kinds = [(0.0, {PUBLISHED: public}), *((limit, allocator.methods(limit)) for limit in nats)]
    for file, private in files.items():
        for limit, methods in kinds:
            for method, ours in methods.items():
                noise = source.child(f"{file}/{method}/{limit}")
                released = [ours.release(private, noise).labels for _ in range(draws)]
                joint = np.array([joint_match(private, labels, ours.tree.sizes) for labels in released])
                error = np.mean([[abs(s(labels) - s(private)) for labels in released] for s in secrets], axis=0)
                found = (joint.mean(), joint.std(ddof=1), error.mean(), error.std(ddof=1))
                made.append((file, method, float(limit), ours.guarantee.bound, *map(float, found)))
    columns = ["file", "method", "nats", "bound", "joint", "joint_sd", "error", "error_sd"]
    return pd.DataFrame(made, columns=columns)


def spent(allocator: Allocator, nats: Sequence[float]) -> pd.DataFrame:
    """What each allocation of `BY_TABLE` spends on each attribute.

    Returns:
        candidates ("uniform" or "centred"), nats (allowed), attribute (index), tables (how many it has), spent (nats).
    """
    import pandas as pd

    made = []
    for limit in nats:
        for kind in ("uniform", "centred"):
            budgets = allocator.tables("table", kind == "centred", limit).budgets
            for attribute in range(len(allocator.tree.sizes)):
                own = [b.nats for b, (a, _) in zip(budgets, allocator.tree.components, strict=True) if a == attribute]
                made.append((kind, float(limit), attribute, len(own), math.fsum(own)))
    return pd.DataFrame(made, columns=["candidates", "nats", "attribute", "tables", "spent"])


SMALL = Tree(0, (-1, 0), (2, 2))  # three tables: the smallest case with something to divide


def exact_trade(most: int, rows: int, nats: Sequence[float], public_seed: int) -> pd.DataFrame:
    """Exact leakage and exact expected distance of allocations over three tables of two categories.

    Every private file of `rows` rows is enumerated for the leakage (secret: share of the root's second category);
    the distance is the mean TV of joint laws over a uniform belief and the secret draw.

    Args:
        most: largest gamma; every gamma and k up to it is tried for the attributes.
        nats: bounds for which `best_budgets` chooses by table.

    Returns:
        method, place (a number within the method), bound, exact (nats), distance.
    """
    import pandas as pd

    sizes = tuple(range(1, most + 1))
    belief = quantization.plausible_tables(SMALL, None, 1.0, BELIEFS, Simulation(public_seed).child("belief"))
    laws = _laws(belief, SMALL)
    secret = Share(((0, 1),))
    options = [TableBudget(gamma, k) for gamma in sizes for k in sizes if k <= gamma]
    allocations = [(BY_ATTRIBUTE, (root, child, child)) for root in options for child in options]
    allocations += [(SAME, (option,) * 3) for option in options]
    for limit in nats:
        chosen = quantization.best_budgets(SMALL, limit, belief, public_seed=public_seed, grid=sizes)
        allocations.append((BY_TABLE, chosen.budgets))
    made = []
    for method, budgets in allocations:
        sets = [ordered_candidates(SMALL, t, b.candidates, 1.0, None, 1200, public_seed) for t, b in enumerate(budgets)]
        nearest = [budget.nearest for budget in budgets]
        exact = quantization.exact_choice_sml(SMALL, sets, nearest, secret, rows)
        bound = math.fsum(budget.nats for budget in budgets)
        made.append((method, bound, exact, _expected_distance(sets, nearest, belief, laws)))
    cells = np.array(list(itertools.product(range(2), repeat=2)))
    for option in options:
        ours = JointQuantization(SMALL, option.candidates, option.nearest, public_seed=public_seed)
        exact = quantization.exact_sml(ours.candidate_laws, option.nearest, np.flatnonzero(secret.holds(cells)), rows)
        far = choice_distances(ours.candidate_laws, laws, [option.candidates])[option.candidates][:, option.nearest - 1]
        made.append((ONE, option.nats, exact, float(far.mean())))
    table = pd.DataFrame(made, columns=["method", "bound", "exact", "distance"])
    table.insert(1, "place", table.groupby("method").cumcount())
    return table


def frontier(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows of each method that no other row of it beats in `column` (leakage) and distance together."""
    kept = []
    for _, part in table.sort_values([column, "distance"]).groupby("method", sort=False):
        best = part["distance"].cummin().shift(fill_value=math.inf)
        kept += part.index[part["distance"] < best - 1e-12].tolist()
    return table.loc[kept]


def _laws(belief: Sequence[Sequence[np.ndarray]], tree: Tree) -> np.ndarray:
    return joint_law([np.stack(column) for column in zip(*belief, strict=True)], tree)


def _expected_distance(sets, nearest, belief, laws) -> float:
    """Mean TV of the joint law over the belief and over all draws of the tables."""
    drawn = np.indices([len(s) for s in sets])
    released = joint_law([s[places] for s, places in zip(sets, drawn, strict=True)], SMALL)
    far = []
    for tables, law in zip(belief, laws, strict=True):
        near = [nearest_candidates(s, table, k) for s, table, k in zip(sets, tables, nearest, strict=True)]
        far.append(0.5 * np.abs(released[np.ix_(*near)] - law).sum(axis=-1).mean())
    return float(np.mean(far))
