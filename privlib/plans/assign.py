"""Stage I of DP-SPIN: each record becomes a sparse vector over the atoms, of mass at most one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from privlib.dp import checks
from privlib.plans.universe import AtomUniverse

GRID = 2.0**-20
"""Masses are whole multiples of this. Sums of them are exact in float64 up to 2^33 records, so the sketch does
not depend on the order of records, the stated sensitivities hold to the last bit, and the finer grid of
`privlib.dp.Secure` rounds nothing."""

_BATCH = 4096


def assign(texts: Sequence[str], universe: AtomUniverse, sparsity: int = 3) -> sparse.csr_array:
    """Rows v_i of the assignment map: private data, for the sketch only.

    score_j(x) = max(0, cos(rep(x), rep(atom_j))); the `sparsity` (K >= 1) largest stay (ties: lower index) and
    are divided by their sum, rounded down to `GRID`; a record that matches nothing is a row of zeros.
    So each row has at most K entries, all >= 0, summing to at most 1.
    Returns float64 CSR (n, m). Raises ValueError when the universe has no representation, TypeError when it
    is no universe and when `texts` is not a sequence of str (types only in the message).
    Source: DP-SPIN, Section 4.1; Appendix E.5.
    """
    if not isinstance(universe, AtomUniverse):
        raise TypeError(f"universe must be an AtomUniverse, got {type(universe).__name__}")
    if universe.representation is None:
        raise ValueError("universe must have a representation fitted on public text, got None")
    if isinstance(sparsity, bool) or not isinstance(sparsity, int) or sparsity < 1:
        raise ValueError(f"sparsity must be an integer of at least 1, got {sparsity!r}")
    texts = checks.texts("texts", texts)
    atoms = universe.representation.transform(universe.texts).T
    rows = [sparse.csr_array((0, len(universe)))]
    for start in range(0, len(texts), _BATCH):
        scores = universe.representation.transform(texts[start : start + _BATCH]) @ atoms
        dense = scores.toarray() if sparse.issparse(scores) else np.asarray(scores)
        rows.append(sparse.csr_array(keep_largest(np.maximum(dense, 0.0), sparsity)))
    return sparse.csr_array(sparse.vstack(rows, format="csr"))


def keep_largest(scores: np.ndarray, sparsity: int) -> np.ndarray:
    """Rows of float[n, m] scores >= 0 cut to their `sparsity` largest entries, normalized to mass at most one."""
    # a stable sort of the negated scores puts the lower index first among equals
    kept = np.argsort(-scores, axis=1, kind="stable")[:, :sparsity]
    weights = np.take_along_axis(scores, kept, axis=1)
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    result = np.zeros_like(scores)
    np.put_along_axis(result, kept, np.floor(shares / GRID) * GRID, axis=1)
    return result
