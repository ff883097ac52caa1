"""Noise that public data can remove: shrink a released mean along the directions where public text varies little.

The noise of a released mean is spread evenly over the d directions, with variance (noise_std / count)^2 in each;
both are public. The signal, the mean's offset from the bucket's public origin, lies mostly in few directions. Which
ones, public auxiliary text tells; how large offsets are here, the release itself tells. Nothing else enters:
post-processing, no privacy. A projection on a public subspace is the same with weights of 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlib.dp import checks


@dataclass(frozen=True, eq=False)
class PublicSpectrum:
    """Orthonormal directions (columns of `basis`, float64[d, d]) and the mean square of public vectors along each."""

    basis: np.ndarray
    energies: np.ndarray

    @classmethod
    def fit(cls, vectors: np.ndarray) -> PublicSpectrum:
        """From public `vectors`, finite float[n, d], n >= 1; private vectors must never enter.

        For anchored buckets give residuals, `embeddings - buckets.origins(buckets.assign(embeddings))`; for the
        grid, whose origin is 0, the embeddings themselves.
        """
        vectors = np.asarray(vectors)
        if vectors.dtype.kind not in "fiu":
            raise TypeError(f"vectors must be an array of real numbers, got {checks.type_of_entries(vectors)}")
        vectors = vectors.astype(np.float64, copy=False)
        if vectors.ndim != 2 or not len(vectors) or not np.isfinite(vectors).all():
            raise ValueError(f"vectors must be a finite array of shape (at least 1, d), got shape {vectors.shape}")
        energies, basis = np.linalg.eigh(vectors.T @ vectors / len(vectors))
        energies = np.maximum(energies, 0.0)
        if energies.sum() == 0:
            raise ValueError("vectors must not all be zero: they show no direction")
        basis.setflags(write=False)
        energies.setflags(write=False)
        return cls(basis, energies)

    def shrink(self, offsets: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """Wiener estimate of noisy offsets, float64[n, d], whose noise has variance `variances[i]` >= 0 a coordinate.

        The component j of row i is multiplied by s_j / (s_j + variances_i), s = scale x energies, where scale makes
        the total s match the rows' mean squared length less the noise's (0 when noise explains it all). Without
        noise nothing changes; in much noise rows go to the origin.
        """
        offsets = checks.private_floats("offsets", offsets, (None, len(self.energies)))
        variances = checks.floats("variances", variances)
        if variances.shape != (len(offsets),) or not ((variances >= 0) & (variances < np.inf)).all():
            raise ValueError(
                f"variances must be finite numbers of at least 0, one a row of offsets {np.shape(offsets)}, "
                f"got shape {variances.shape}"
            )
        if not len(offsets):
            return offsets
        excess = np.mean(np.einsum("ij,ij->i", offsets, offsets) - len(self.energies) * variances)
        signal = max(0.0, float(excess)) / self.energies.sum() * self.energies
        total = signal + variances[:, None]
        weights = np.where(total > 0, signal / np.where(total > 0, total, 1.0), 1.0)
        return (offsets @ self.basis * weights) @ self.basis.T
