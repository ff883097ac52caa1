"""How alike two sets of labelled rows are, as numbers in [0, 1] where larger is better.

Rescaling rule: a total variation distance t in [0, 1] becomes 1 - t, so 1 means equal distributions
and 0 disjoint ones. Nothing here is private: with a private side these are the curator's figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privlib.dp import checks


def joint_match(real: np.ndarray, released: np.ndarray, sizes: Sequence[int]) -> float:
    """1 - TV between the two empirical distributions over combinations of categories.

    Args:
        real, released: category indices int[n, a] and int[m, a], n, m >= 1.
        sizes: categories of each attribute.

    Source: attribute match of QuanText section V-C, taken on the joint distribution.
    """
    real, released = checked_labels("real", real, sizes), checked_labels("released", released, sizes)
    cells = int(np.prod(sizes))
    shares = [
        np.bincount(np.ravel_multi_index(tuple(labels.T), tuple(sizes)), minlength=cells) / len(labels)
        for labels in (real, released)
    ]
    return float(1 - 0.5 * np.abs(shares[0] - shares[1]).sum())


def attribute_match(real: np.ndarray, released: np.ndarray, sizes: Sequence[int]) -> float:
    """Mean over attributes of 1 - TV between the two empirical distributions of that attribute.

    At least `joint_match`, since a marginal never differs more than the joint. Arguments as there.
    Source: QuanText section V-C, categorical features.
    """
    real, released = checked_labels("real", real, sizes), checked_labels("released", released, sizes)
    return float(np.mean([joint_match(real[:, [i]], released[:, [i]], [size]) for i, size in enumerate(sizes)]))


def checked_labels(name: str, labels: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Labels int64[n, a] below `sizes`, n >= 1; TypeError or ValueError that names types and shapes only."""
    sizes = [checks.whole("sizes", size) for size in checks.sequence("sizes", sizes, "integers")]
    if not sizes:
        raise ValueError("sizes: expected at least one attribute, got none")
    labels = checks.private_integers(name, labels, (None, len(sizes)))
    if not len(labels) or (labels < 0).any() or (labels >= np.array(sizes)).any():
        raise ValueError(
            f"{name}: expected int[n, {len(sizes)}] below {tuple(sizes)}, n >= 1, got shape {labels.shape}"
        )
    return labels
