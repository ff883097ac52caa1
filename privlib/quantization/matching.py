"""Which target combination each private row is rewritten to: fewest changed attributes.

Algorithm 1 solves an n x n assignment by the Hungarian method. Rows with the same combination are
interchangeable, so the same minimum is reached by a transportation problem between the distinct
combinations, whose size does not depend on n.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from privlib.dp import checks


def match(private: np.ndarray, targets: np.ndarray, weights=None) -> np.ndarray:
    """Minimum-cost one-to-one matching of private rows to target rows.

    The cost of a pair is the weighted number of attributes that differ. Rows whose combination is
    also wanted keep it (the common mass stays: always part of some optimum, as the cost is a metric);
    only the surplus is moved. Within one combination rows are taken in index order, so shuffle the
    private rows first where their order is private.

    Args:
        private: int[n, a]; targets: int[n, a].
        weights: cost of changing each attribute, float[a], finite and >= 0; None for one each.

    Returns:
        int64[n], a permutation: index of the target row of each private row.
    """
    private, targets = np.asarray(private), np.asarray(targets)
    if private.ndim != 2 or private.shape != targets.shape or not np.issubdtype(private.dtype, np.integer):
        raise ValueError(
            "private: expected int[n, a] of the shape of targets, "
            f"got {checks.type_of_entries(private)} of shape {private.shape} beside {targets.shape}"
        )
    weights = np.ones(private.shape[1]) if weights is None else checks.floats("weights", weights)
    if weights.shape != private.shape[1:] or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"weights: expected {private.shape[1]} finite numbers >= 0, got {weights}")
    n = len(private)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    codes, combinations = _distinct(np.concatenate([private, targets]))
    source, sink = codes[:n], codes[n:]
    flow = transport(
        np.bincount(source, minlength=len(combinations)),
        np.bincount(sink, minlength=len(combinations)),
        (combinations[:, None, :] != combinations[None, :, :]) @ weights,
    )
    # Both sides are laid out as runs, one a (from, to) pair of combinations, and read off together.
    start, end = np.nonzero(flow)
    amount = flow[start, end]
    small = np.min_scalar_type(len(combinations))  # short integers are sorted by radix
    rows = np.argsort(source.astype(small), kind="stable")  # grouped by combination, as np.nonzero walks the rows
    by_end = np.lexsort((start, end))
    wanted = np.argsort(sink.astype(small), kind="stable")
    offsets = np.empty(len(amount), dtype=np.int64)
    offsets[by_end] = np.cumsum(amount[by_end]) - amount[by_end]
    within = np.arange(n) - np.repeat(np.cumsum(amount) - amount, amount)
    result = np.empty(n, dtype=np.int64)
    result[rows] = wanted[np.repeat(offsets, amount) + within]
    return result


def transport(supply: np.ndarray, demand: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Integer minimum-cost flow int64[c, c] from supply int[c] to demand int[c], common mass kept.

    Args:
        supply, demand: counts with the same sum.
        cost: float[c, c], a metric (zero diagonal, triangle inequality), so that keeping is optimal.

    Raises:
        RuntimeError: the solver stopped early or its vertex is not integral (not seen: the
            constraint matrix is totally unimodular).
    """
    kept = np.minimum(supply, demand)
    flow = np.diag(kept)
    from_, to = np.flatnonzero(supply > kept), np.flatnonzero(demand > kept)
    if len(from_) == 0:
        return flow
    surplus, deficit = (supply - kept)[from_], (demand - kept)[to]
    rows, columns = len(from_), len(to)
    variable = np.arange(rows * columns)
    constraints = coo_array(
        (
            np.ones(2 * len(variable)),
            (np.concatenate([variable // columns, rows + variable % columns]), np.tile(variable, 2)),
        ),
        shape=(rows + columns, len(variable)),
    ).tocsr()
    solved = linprog(
        cost[np.ix_(from_, to)].ravel(),
        A_eq=constraints,
        b_eq=np.concatenate([surplus, deficit]),
        method="highs-ds",  # dual simplex ends on a vertex, and vertices of a transportation problem are integral
        options={"presolve": False},  # finds nothing to remove in a transportation problem and takes half the time
    )
    if solved.status != 0:
        raise RuntimeError(f"transport: the linear program ended with status {solved.status}")
    moved = np.rint(solved.x).astype(np.int64).reshape(rows, columns)
    if (moved < 0).any() or (moved.sum(axis=1) != surplus).any() or (moved.sum(axis=0) != deficit).any():
        raise RuntimeError("transport: the solver's vertex is not integral")
    flow[np.ix_(from_, to)] += moved
    return flow


def _distinct(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes int[n] of the rows of labels int[n, a], and the distinct rows int[c, a] they stand for."""
    codes = np.zeros(len(labels), dtype=np.int64)
    for column in labels.T:
        positions = _ranks(column)
        # Ranked anew after each column: at most n codes, so the product never overflows.
        codes = _ranks(codes * (positions.max() + 1) + positions)
    example = np.empty(codes.max() + 1, dtype=np.int64)
    example[codes] = np.arange(len(labels))
    return codes, labels[example]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank int[n] of each value among the distinct ones; by counting where the range is small, else by sorting."""
    shifted = values - values.min()
    if shifted.max() > 4 * len(values):
        return np.unique(values, return_inverse=True)[1]
    return (np.cumsum(np.bincount(shifted) > 0) - 1)[shifted]
