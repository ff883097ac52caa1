"""Exact means of buckets, beside which released centroids are measured: curator-side, on public corpora."""

from __future__ import annotations

import numpy as np


class ExactMeans:
    """The mean of the target's own vectors in each bucket: no sample, no noise, nothing clipped. Curator-side.

    `rows` float[n, d], `tags` int64[n, k] of them.
    """

    def __init__(self, rows: np.ndarray, tags: np.ndarray) -> None:
        self._rows = rows
        cells, owners, sizes = np.unique(tags, axis=0, return_inverse=True, return_counts=True)
        self._place = {cell.tobytes(): place for place, cell in enumerate(cells)}
        self._members = np.split(np.argsort(owners.ravel(), kind="stable"), np.cumsum(sizes)[:-1])
        self._made: dict[bytes, np.ndarray] = {}  # a million texts have as many cells of a fine grid: made when asked

    def holds(self, cells: np.ndarray) -> np.ndarray:
        """bool[m]: which of the buckets int64[m, k] hold a text."""
        return np.array([cell.tobytes() in self._place for cell in cells], dtype=bool)

    def of(self, cell: np.ndarray) -> np.ndarray:
        """float64[d], for an occupied cell int64[k]."""
        if (key := cell.tobytes()) not in self._made:
            self._made[key] = self._rows[self._members[self._place[key]]].mean(axis=0, dtype=np.float64)
        return self._made[key]

    def error(self, cells: np.ndarray, centroids: np.ndarray) -> float:
        """Mean distance from the centroids float[m, d], m >= 1, to the exact means of their buckets int64[m, k]."""
        exact = np.array([self.of(cell) for cell in cells])
        return float(np.linalg.norm(centroids - exact, axis=1).mean())
