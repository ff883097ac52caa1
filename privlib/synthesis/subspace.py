"""Public directions: keep a released centroid in the subspace where public text lives, drop the noise outside.

The noise of a released mean has norm about noise_std sqrt(d) / count, spread evenly over d directions; the
signal lies mostly in few. Projecting uses the release and public text only: post-processing, no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlib.dp import checks


@dataclass(frozen=True, eq=False)
class PublicSubspace:
    """An orthonormal basis (float64[d, dims]) of a subspace through a bucket's origin."""

    basis: np.ndarray

    @classmethod
    def fit(cls, vectors: np.ndarray, dims: int) -> PublicSubspace:
        """The `dims` directions that hold most of the squared length of public `vectors`, float[n, d], n >= 1.

        For anchored buckets give residuals, `embeddings - buckets.origins(buckets.assign(embeddings))`; for
        the grid, whose origin is 0, the embeddings. 1 <= dims <= d. Private vectors must never enter.
        """
        vectors = np.asarray(vectors, dtype=np.float64)
        if vectors.ndim != 2 or not len(vectors) or not np.isfinite(vectors).all():
            raise ValueError(f"vectors must be a finite array of shape (at least 1, d), got shape {vectors.shape}")
        if checks.whole("dims", dims, at_least=1) > vectors.shape[1]:
            raise ValueError(f"dims must be at most the dimension {vectors.shape[1]}, got {dims}")
        _, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
        basis = directions[:, ::-1][:, :dims].copy()
        basis.setflags(write=False)
        return cls(basis)

    def project(self, vectors: np.ndarray) -> np.ndarray:
        """Orthogonal projection of each row: float64[n, d]."""
        return (vectors @ self.basis) @ self.basis.T
