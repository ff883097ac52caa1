"""Statistic maximal leakage (SML) of a release: the paper's bound, its ceiling, and exact values.

For a secret g with values G, SML = sup over priors P and attackers A of
ln( Pr[A(release) = g] / max_g P(g) ): how many times, in nats, a release can multiply the success of
the best guess, whatever the prior. Sources: QuanText equation (1), Theorem IV.3, Proposition IV.4 and
Appendix B.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from privlib.dp import checks

from .schema import Share, checked_share
from .tables import empirical_tables, nearest_candidates
from .tree import Tree, checked_tree

MOST_TABLES = 200_000  # enumeration stops being small beyond this many private tables
MOST_ENTRIES = 5_000_000  # of an enumerated channel


def sml_bound(tables: int, gamma: int, k: int, style: float = 1.0) -> float:
    """Upper bound of Theorem IV.3 in nats: SML <= tables ln(gamma / k) + ln(style), rounded up.

    Holds for choices drawn in secret, independently for each table, and rewriting that shows the
    assigned attributes and nothing else of the content.

    Args:
        tables: E, number of tables, >= 1.
        gamma: candidates a table; k: nearest among which one is chosen, 1 <= k <= gamma.
        style: l, largest ratio by which content changes the probability of a style, for the whole
            dataset (for independent rows the rows' ratios multiply); 1 is independence.
    """
    _check_choice(gamma, k)
    checks.whole("tables", tables, at_least=1)
    if checks.positive("style", style) < 1.0:
        raise ValueError(f"style: expected a finite ratio >= 1, got {style}")
    if gamma == k and style == 1.0:
        return 0.0
    return (tables * math.log(gamma / k) + math.log(style)) * (1 + 2**-50)


def secret_ceiling(rows: int) -> float:
    """ln(rows + 1): no release can leak more about a share, which takes rows + 1 values (SML <= ln |G|)."""
    checks.whole("rows", rows, at_least=1)
    return math.log(rows + 1)


def success_bound(prior: float, tables: int, gamma: int, k: int, style: float = 1.0) -> float:
    """Best attack success <= min(1, prior * style * (gamma/k)^tables).

    Proposition IV.4, with the factor `style` that follows from Theorem IV.3 and that the proposition
    leaves out. `prior` in (0, 1] is the success of the best guess without the release.
    """
    if checks.probability("prior", prior) == 0:
        raise ValueError(f"prior: expected a probability in (0, 1], got {prior}")
    return math.exp(min(0.0, math.log(prior) + sml_bound(tables, gamma, k, style)))


def channel_sml(channel: np.ndarray, groups: np.ndarray) -> float:
    """Exact SML, in nats, of a finite channel about a secret that is a function of its input.

    The supremum is reached where each secret value g occurs with one input x_g (Appendix B, after
    Wang, Lin and Fanti 2026): SML = max over such choices of ln sum_y max_g channel[x_g, y]. Solved as
    a mixed-integer program, to optimality.

    Args:
        channel: float[inputs, outputs], rows summing to one.
        groups: int[inputs], the secret's value of each input.
    """
    channel, groups = checks.floats("channel", channel), np.asarray(groups)
    if channel.ndim != 2 or groups.shape != channel.shape[:1] or not len(groups):
        raise ValueError(
            f"channel: expected float[inputs, outputs] beside groups int[inputs], "
            f"got {channel.shape} beside {groups.shape}"
        )
    if not (channel >= 0).all() or not np.allclose(channel.sum(axis=1), 1.0, rtol=0, atol=1e-9):
        raise ValueError("channel: expected rows of probabilities that sum to one")
    distinct = np.unique(np.column_stack([np.unique(groups, return_inverse=True)[1], channel]), axis=0)
    group, law = distinct[:, 0].astype(int), distinct[:, 1:]
    if len(group) == group.max() + 1:  # one law a secret value: nothing to choose
        return max(0.0, math.log(law.max(axis=0).sum()))
    return max(0.0, math.log(_best_coverage(law, group)))


def exact_sml(candidates: np.ndarray, k: int, secret: int | Sequence[int], n: int, seeded: bool = False) -> float:
    """Exact SML, in nats, of the choice of one table, by enumeration of all private tables of n rows.

    Args:
        candidates: float[gamma, s], public.
        k: size of the neighbourhood.
        secret: category, or categories, of the attribute whose share is the secret.
        n: private rows.
        seeded: the draw among the k nearest comes from a seed the attacker knows, so that the attacker
            sees it beside the table. This is what a "reproducible" release leaks.

    Raises:
        ValueError: more than 200,000 private tables.
    """
    candidates = checks.floats("candidates", candidates)
    if candidates.ndim != 2 or candidates.shape[1] < 2:
        raise ValueError(f"candidates: expected float[gamma, s] with s >= 2, got shape {candidates.shape}")
    if not (candidates >= 0).all() or not np.allclose(candidates.sum(axis=1), 1.0, rtol=0, atol=1e-9):
        raise ValueError(f"candidates: expected rows of probabilities that sum to one, got shape {candidates.shape}")
    gamma, support = candidates.shape
    _check_choice(gamma, k)
    codes = np.atleast_1d(np.asarray(secret))
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise TypeError(f"secret: expected a category or a sequence of them, got {secret!r}")
    checks.truth("seeded", seeded)
    if ((codes < 0) | (codes >= support)).any() or len(set(codes.tolist())) not in range(1, support):
        raise ValueError(f"secret: expected some but not all of the categories 0..{support - 1}, got {secret}")
    if math.comb(checks.whole("n", n) + support - 1, support - 1) > MOST_TABLES:
        raise ValueError(f"n: expected at least 1 row and at most {MOST_TABLES} tables, got {n}")
    counts = _compositions(n, support)
    channel = np.zeros((len(counts), gamma * k if seeded else gamma))
    for row, count in enumerate(counts):
        near = nearest_candidates(candidates, count / n, k)
        channel[row, near * k + np.arange(k) if seeded else near] = 1 / k
    return channel_sml(channel, counts[:, np.unique(codes)].sum(axis=1))


def exact_choice_sml(
    tree: Tree, candidate_sets: Sequence[np.ndarray], nearest: Sequence[int], secret: Share, n: int
) -> float:
    """Exact SML, in nats, of tables chosen one by one, by enumeration of all private datasets of n rows.

    The supremum is over every prior on datasets of n rows, so tables that depend on each other (the rows that one
    leaves for another) are accounted for; it may lie below the bound.

    Args:
        tree: with few combinations.
        candidate_sets: one float[gamma_t, s] a table, in `tree.components` order; nearest: k of each.
        secret: share of rows.
        n: private rows.

    Raises:
        ValueError: datasets times released values exceed 5,000,000.
    """
    checked_tree(tree)
    checked_share(secret)
    candidate_sets = [
        checks.private_floats("candidate_sets", candidate_set, (None, None))
        for candidate_set in checks.sequence("candidate_sets", candidate_sets, "float[gamma, s]")
    ]
    nearest = checks.sequence("nearest", nearest, "integers")
    if not len(candidate_sets) == len(nearest) == tree.tables:
        raise ValueError(
            f"candidate_sets, nearest: expected one for each of {tree.tables} tables, got "
            f"{len(candidate_sets)} and {len(nearest)}"
        )
    for candidate_set, k in zip(candidate_sets, nearest, strict=True):
        _check_choice(len(candidate_set), k)
    combinations = math.prod(tree.sizes)
    released = tuple(len(candidate_set) for candidate_set in candidate_sets)
    checks.whole("n", n, at_least=1)
    datasets = math.comb(n + combinations - 1, combinations - 1)
    if datasets * math.prod(released) > MOST_ENTRIES:
        raise ValueError(
            f"n: expected a channel of at most {MOST_ENTRIES} entries, got {datasets} datasets and "
            f"{math.prod(released)} released values"
        )
    cells = np.array(list(itertools.product(*map(range, tree.sizes))))
    channel, holding = np.zeros((datasets, *released)), np.zeros(datasets, dtype=int)
    for row, counts in enumerate(_compositions(n, combinations)):
        data = np.repeat(cells, counts, axis=0)
        near = [
            nearest_candidates(candidate_set, table, k)
            for candidate_set, table, k in zip(candidate_sets, empirical_tables(data, tree), nearest, strict=True)
        ]
        channel[row][np.ix_(*near)] = 1 / math.prod(nearest)
        holding[row] = int(secret.holds(data).sum())
    return channel_sml(channel.reshape(datasets, -1), holding)


@dataclass(frozen=True)
class MaximalLeakage:
    """Guarantee of a quantized release: SML <= `bound` nats about any share of attribute categories.

    In words: whatever the attacker believed, the success of the best guess of the share grows by a
    factor of at most e^bound, under the named assumptions. A bound at or above the ceiling says
    nothing: that much no release could leak.

    Args:
        tables, gamma, k, style: see `sml_bound`.
        rows: number of released rows, which is public and equals the number of private rows; None
            where the release has not been made.
        assumptions: names of what must hold besides.
    """

    tables: int
    gamma: int
    k: int
    style: float = 1.0
    rows: int | None = None
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _ = self.bound  # refuses numbers that no choice has
        if self.rows is not None:
            checks.whole("rows", self.rows)
        checks.texts("assumptions", self.assumptions)

    @property
    def bound(self) -> float:
        """Nats, by Theorem IV.3."""
        return sml_bound(self.tables, self.gamma, self.k, self.style)

    @property
    def ceiling(self) -> float:
        """Nats that no release of `rows` rows can exceed; infinite where the number is not known yet."""
        return math.inf if self.rows is None else secret_ceiling(self.rows)

    @property
    def vacuous(self) -> bool:
        """Whether the bound allows everything: the ceiling is not above it."""
        return self.bound >= self.ceiling

    def __str__(self) -> str:
        text = (
            f"SML <= {self.bound:.4g} nats ({self.tables} tables, gamma/k = {self.gamma}/{self.k}, "
            f"style ratio {self.style:g})"
        )
        if self.rows is not None:
            text += f"; ceiling {self.ceiling:.4g} nats at {self.rows} rows"
            text += ", so the bound is vacuous" if self.vacuous else ""
        return text + (f"; assuming {', '.join(self.assumptions)}" if self.assumptions else "")


def _check_choice(gamma: int, k: int) -> None:
    checks.whole("gamma", gamma, at_least=1)
    if checks.whole("k", k, at_least=1) > gamma:
        raise ValueError(f"k: expected 1..gamma ({gamma}), got {k}")


def _compositions(n: int, parts: int) -> np.ndarray:
    """All int[m, parts] of non-negative counts that sum to n (stars and bars)."""
    bars = np.array(list(itertools.combinations(range(n + parts - 1), parts - 1)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n + parts - 1)])
    return np.diff(edges, axis=1) - 1


def _best_coverage(law: np.ndarray, group: np.ndarray) -> float:
    """max over one input a group of sum_y max over the chosen of law[x, y]."""
    inputs, outputs = len(law), law.shape[1]
    x, y = np.nonzero(law)
    pairs = np.arange(len(x))
    # Variables: one 0/1 an input (chosen), then one a (input, output) pair (this input attains the maximum).
    size = inputs + len(pairs)
    one_a_group = coo_array((np.ones(inputs), (group, np.arange(inputs))), shape=(group.max() + 1, size))
    one_an_output = coo_array((np.ones(len(pairs)), (y, inputs + pairs)), shape=(outputs, size))
    only_chosen = coo_array(
        (np.repeat([1.0, -1.0], len(pairs)), (np.tile(pairs, 2), np.concatenate([inputs + pairs, x]))),
        shape=(len(pairs), size),
    )
    solved = milp(
        -np.concatenate([np.zeros(inputs), law[x, y]]),
        constraints=[
            LinearConstraint(one_a_group.tocsr(), 1, 1),
            LinearConstraint(one_an_output.tocsr(), -np.inf, 1),
            LinearConstraint(only_chosen.tocsr(), -np.inf, 0),
        ],
        integrality=np.repeat([1, 0], [inputs, len(pairs)]),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    if solved.status != 0:
        raise RuntimeError(f"channel_sml: the integer program ended with status {solved.status}")
    chosen = np.rint(solved.x[:inputs]).astype(bool)
    return float(law[chosen].max(axis=0).sum())
