"""Order attack: read a share off a sorted file by the place where its labels change. Ours.

Private files often come sorted (by ward, date, outcome). Released in private order, matched rows stand where their
originals stood, so the change point survives even ideal rewriting. SML of the chosen tables does not cover it.
"""

from __future__ import annotations

import numpy as np

from privlib.dp import checks

from .attacks import Attack


def order_attack(holds: np.ndarray, gold: float) -> Attack:
    """Estimate of the share of rows that met the condition, of a file thought to have been sorted by it.

    The rows before the change point, over all rows: the split at which two constant rates fit the released sequence
    best (greatest likelihood, smallest split among equals), the rows that met the condition first or last, whichever
    side has the higher rate.

    Args:
        holds: bool[n], in released order: whether the released row meets the condition; n >= 1.
        gold: private share, for the error.
    """
    holds = np.asarray(holds)
    if holds.ndim != 1 or not len(holds) or holds.dtype.kind not in "biu":
        raise ValueError(
            f"holds: expected bool[n] with n >= 1, got {checks.type_of_entries(holds)}, shape {holds.shape}"
        )
    holds = holds.astype(bool)
    if not holds.any():
        return Attack(0.0, gold)
    n = len(holds)
    before = np.concatenate([[0], np.cumsum(holds)])
    split = np.arange(n + 1)
    fit = _log_likelihood(before, split) + _log_likelihood(before[-1] - before, n - split)
    place = int(np.argmax(np.round(fit, 9)))
    first = before[place] / place if place else 0.0
    last = (before[-1] - before[place]) / (n - place) if place < n else 0.0
    return Attack(place / n if first > last else (n - place) / n, gold)


def _log_likelihood(ones: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Largest log-likelihood, in nats, of `ones` among `rows` at a constant rate."""
    from scipy.special import xlogy

    rate = ones / np.maximum(rows, 1)
    return xlogy(ones, rate) + xlogy(rows - ones, 1 - rate)
