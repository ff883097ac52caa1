"""How alike a released set of texts is to the private one: the four utility metrics of QuanText, each in [0, 1].

Rescaling rules, larger is better and 1 is "as alike as can be":

- KNN precision and recall are shares already.
- Fréchet distance F becomes 1 - F / F0, where F0 = tr S + tr S' + |m - m'|^2 is what two Gaussians with these means
  and covariances would be at if nothing but their means were aligned (F <= F0 always). No constant is chosen.
- Attribute match: token length by 1 - W2 / W0 with W0^2 = var + var' + (mean - mean')^2, the same rule in one
  dimension; each attribute by 1 - TV; then the mean over length and attributes.

The aggregate is the mean of the four; it hides their scales, so show the parts beside it. These are curator's figures:
they read private rows and are never part of a release. Source: QuanText section V-C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import checks

from .text import attribute_match, checked_labels

_BLOCK = 1024


@dataclass(frozen=True)
class Fidelity:
    """precision, recall, frechet, attributes: in [0, 1]; n rows a side and d dimensions they were measured with."""

    precision: float
    recall: float
    frechet: float
    attributes: float
    n: int
    d: int

    @property
    def aggregate(self) -> float:
        """Mean of the four parts."""
        return (self.precision + self.recall + self.frechet + self.attributes) / 4


def fidelity(
    real: np.ndarray,
    released: np.ndarray,
    real_lengths: np.ndarray,
    released_lengths: np.ndarray,
    real_labels: np.ndarray,
    read_labels: np.ndarray,
    sizes: Sequence[int],
    k: int = 3,
) -> Fidelity:
    """All four metrics of two sets with the same number of rows n > k; draw from the larger one beforehand.

    Args:
        real, released: embeddings float[n, d].
        real_lengths, released_lengths: tokens of each text, numbers [n].
        real_labels, read_labels: category indices int[n, a]; those of the release as an independent labeller reads
            them off the released texts, never the assigned ones.
        sizes: categories of each attribute.
        k: see `knn_precision_recall`.

    Raises ValueError where the numbers of rows differ: precision, recall and Fréchet distance all depend on it.
    """
    real, released = _points("real", real), _points("released", released)
    real_lengths = _lengths("real_lengths", real_lengths)
    released_lengths = _lengths("released_lengths", released_lengths)
    sizes = checks.sequence("sizes", sizes, "integers")
    real_labels = checked_labels("real_labels", real_labels, sizes)
    read_labels = checked_labels("read_labels", read_labels, sizes)
    rows = {len(part) for part in (real, released, real_lengths, released_lengths, real_labels, read_labels)}
    if len(rows) != 1:
        raise ValueError(f"released: expected as many rows as real in every argument, got {sorted(rows)}")
    precision, recall = knn_precision_recall(real, released, k)
    distance, most = frechet_distance(real, released)
    matches = [length_match(real_lengths, released_lengths)]
    matches += [attribute_match(real_labels[:, [i]], read_labels[:, [i]], [size]) for i, size in enumerate(sizes)]
    scaled = 1.0 if most == 0 else 1 - distance / most
    return Fidelity(precision, recall, scaled, float(np.mean(matches)), len(real), real.shape[1])


def knn_precision_recall(real: np.ndarray, released: np.ndarray, k: int = 3) -> tuple[float, float]:
    """Precision: share of released rows within the radius of some real row; recall: the same with sides exchanged.

    The radius of a row is the Euclidean distance to its k-th nearest other row on its own side. (The paper's sentence
    can be read as the radius of the row that is tested; with that reading an outlier is close to everything.)

    Args:
        real: float[n, d]; released: float[m, d]; n, m > k >= 1.
    """
    real, released = _points("real", real), _points("released", released)
    checks.whole("k", k, at_least=1)
    if min(len(real), len(released)) <= k:
        raise ValueError(f"k: expected fewer neighbours than rows ({len(real)} and {len(released)}), got {k}")
    return _covered(released, real, k), _covered(real, released, k)


def frechet_distance(real: np.ndarray, released: np.ndarray) -> tuple[float, float]:
    """Fréchet distance (squared, as "FID" is) of the two Gaussian fits, and the largest it could be: (F, F0).

    F = |m - m'|^2 + tr S + tr S' - 2 tr (S S')^{1/2}, with sample covariances over n - 1. The last trace is the
    nuclear norm of X X'^T / (n - 1) for centred rows, so singular covariances need no regularization and none is used.
    With n near d or below, F of two samples of one law is far from 0: report n and d, compare equal sizes only.

    Args:
        real, released: float[n, d], the same n >= 2.
    """
    real, released = _points("real", real), _points("released", released)
    if real.shape != released.shape or len(real) < 2:
        raise ValueError(
            f"released: expected the shape of real, two rows or more, got {released.shape} beside {real.shape}"
        )
    centred = [side - side.mean(axis=0) for side in (real, released)]
    scale = len(real) - 1
    spread = sum(float((side**2).sum()) / scale for side in centred)
    apart = float(((real.mean(axis=0) - released.mean(axis=0)) ** 2).sum())
    if real.shape[0] >= real.shape[1]:  # the triangular factors give the same singular values, d x d instead of n x n
        centred = [np.linalg.qr(side, mode="r") for side in centred]
    product = centred[0] @ centred[1].T
    shared = float(np.linalg.norm(product, ord="nuc")) / scale
    most = apart + spread
    return min(most, max(0.0, most - 2 * shared)), most


def length_match(real: np.ndarray, released: np.ndarray) -> float:
    """1 - W2 / W0 of two samples of numbers (see the module), each at least one; 1 where both are one same number."""
    real, released = np.sort(_lengths("real", real)), np.sort(_lengths("released", released))
    edges = np.union1d(np.arange(1, len(real) + 1) / len(real), np.arange(1, len(released) + 1) / len(released))
    middles = edges - np.diff(edges, prepend=0.0) / 2
    pairs = [side[np.minimum((middles * len(side)).astype(int), len(side) - 1)] for side in (real, released)]
    squared = float(((pairs[0] - pairs[1]) ** 2 * np.diff(edges, prepend=0.0)).sum())
    most = float(real.var() + released.var() + (real.mean() - released.mean()) ** 2)
    return 1.0 if most == 0 else max(0.0, 1 - float(np.sqrt(squared / most)))


def _lengths(name: str, lengths: np.ndarray) -> np.ndarray:
    array = checks.private_floats(name, lengths, (None,))
    if not len(array):
        raise ValueError(f"{name}: expected at least one number, got none")
    return array


def _covered(points: np.ndarray, centres: np.ndarray, k: int) -> float:
    """Share of points within the k-th nearest neighbour's distance of some centre."""
    radii = np.concatenate([
        np.partition(_distances(centres[start : start + _BLOCK], centres), k, axis=1)[:, k]  # the 0-th is itself
        for start in range(0, len(centres), _BLOCK)
    ])  # fmt: skip
    inside = [
        (_distances(points[start : start + _BLOCK], centres) <= radii).any(axis=1)
        for start in range(0, len(points), _BLOCK)
    ]
    return float(np.concatenate(inside).mean())


def _distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
    return np.sqrt(np.maximum(squared, 0.0))


def _points(name: str, points: np.ndarray) -> np.ndarray:
    array = checks.floats(name, points)
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers [n, d], got shape {array.shape}")
    return array
