"""A public low-dimensional ball that embeddings are mapped into before private clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlib.dp import checks

_REACH = 1e100  # longer than any embedding, and its square is finite
AT_ONCE = 1 << 16  # rows whose embeddings, or distances to every centre, are held together
GRID = 2.0**-20
"""Coordinates are whole multiples of this, rounded towards 0, so that sums of them are exact in float64."""


@dataclass(frozen=True, eq=False)
class PublicSpace:
    """Maps an embedding e in R^d to clip((e - mean) directions / radius), a point of norm at most 1 in R^q.

    `mean` float[d], `directions` float[d, q], `radius` > 0, `centres` float[k, q] inside the unit ball: all public.
    Noise on sums grows with sqrt(q), so clustering in the encoder's own hundreds of dimensions drowns in it.
    """

    mean: np.ndarray
    directions: np.ndarray
    radius: float
    centres: np.ndarray

    def __post_init__(self) -> None:
        directions = checks.private_floats("directions", self.directions, (None, None))
        d, q = directions.shape
        mean = checks.private_floats("mean", self.mean, (d,))
        centres = checks.private_floats("centres", self.centres, (None, q))
        if not len(centres) or (np.linalg.norm(centres, axis=1) > 1).any():
            raise ValueError(f"centres must be at least one point of norm at most 1, got shape {centres.shape}")
        checks.positive("radius", self.radius)
        for name, array in (("mean", mean), ("directions", directions), ("centres", centres)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def fit(cls, public_embeddings: np.ndarray, dims: int, clusters: int, seed: int) -> PublicSpace:
        """Principal directions, radius (95 % quantile of norms) and k-means centres of public embeddings.

        `public_embeddings` float[n, d] of public texts, n >= `clusters` >= 1, min(n, d) >= `dims` >= 1.
        """
        from sklearn.cluster import KMeans

        points = checks.private_floats("public_embeddings", public_embeddings, (None, None))
        dims, clusters = checks.whole("dims", dims, at_least=1), checks.whole("clusters", clusters, at_least=1)
        seed = checks.whole("seed", seed, at_least=0)
        if clusters > len(points):
            raise ValueError(f"clusters must be at most the {len(points)} public embeddings, got {clusters!r}")
        if dims > min(points.shape):
            raise ValueError(f"dims must be at most {min(points.shape)} (shape {points.shape}), got {dims!r}")
        mean = points.mean(axis=0)
        directions = np.linalg.svd(points - mean, full_matrices=False)[2][:dims].T
        # the sign of a singular vector is arbitrary and differs between libraries: the largest entry is made positive
        directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(dims)])
        radius = float(np.quantile(np.linalg.norm((points - mean) @ directions, axis=1), 0.95))
        bare = cls(mean, directions, radius, np.zeros((1, dims)))
        centres = KMeans(clusters, n_init=4, random_state=seed).fit(bare.points(points)).cluster_centers_
        return cls(mean, directions, radius, inside(centres))

    def points(self, embeddings: np.ndarray) -> np.ndarray:
        """float64[n, q] on the grid, each of norm at most 1, from float[n, d]; a point depends on its row alone."""
        rows = checks.private_floats("embeddings", embeddings, (None, len(self.mean)))
        return inside(self._coordinates(tamed(rows)))

    def _coordinates(self, rows: np.ndarray) -> np.ndarray:
        # no matrix product: BLAS rounds a row differently when others join it, and a point may depend on its row alone
        return np.einsum("nd,dq->nq", rows - self.mean, self.directions, optimize=False) / self.radius

    def nearest(self, points: np.ndarray, centres: np.ndarray) -> np.ndarray:
        """int64[n]: index of the nearest centre of each point, ties to the lower index."""
        nearest = np.zeros(len(points), dtype=np.int64)
        for start in range(0, len(points), AT_ONCE):
            block = slice(start, start + AT_ONCE)
            nearest[block] = np.argmin(((points[block, None, :] - centres) ** 2).sum(axis=2), axis=1)
        return nearest


def inside(points: np.ndarray, norm: float = 1.0) -> np.ndarray:
    """Rows over `norm`, scaled into the unit ball and rounded towards 0 on the grid: no norm exceeds 1 by a bit.

    Finite rows of any length; a row depends on itself alone.
    """
    points = tamed(points) / norm
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    scaled = points / np.maximum(1.0, norms * (1 + 2.0**-40))
    return np.trunc(scaled / GRID) * GRID


def tamed(rows: np.ndarray) -> np.ndarray:
    """The same rows, but those with an entry beyond `_REACH` scaled down to it, so that no square of theirs overflows.

    Such a row would else become infinite or NaN, and one record would undo a sum that everyone is in.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return rows if (largest <= _REACH).all() else rows / np.maximum(1.0, largest / _REACH)
