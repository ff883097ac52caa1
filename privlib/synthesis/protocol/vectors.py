"""Vectors on the way to a sum: rotated by public signs, rounded to a grid by fair coins, and back.

Rotation is orthonormal, so norms and distances stay. Rounding adds one uniform number to each entry and takes the
floor: without bias, and for two vectors x, y of one bucket under the same coins the rounded ones differ by less than
|x - y| / step + sqrt(d) in l2. The coins are part of the mechanism, so by joint convexity that is its sensitivity, also
when one record is replaced by another: no factor of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import NoiseSource, Simulation, checks

_COIN = 1 << 53


@dataclass(frozen=True, eq=False)
class Rotation:
    """Public randomized Hadamard rotation of R^dimension into R^size, size the next power of two.

    x -> H (signs * x padded with zeros) / sqrt(size); signs from `public_seed`. It spreads a vector over all entries,
    so none is large. Source: Kairouz, Liu and Steinke 2021, Section 4.
    """

    dimension: int
    public_seed: int
    signs: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checks.whole("dimension", self.dimension, at_least=1)
        signs = 1.0 - 2.0 * Simulation(self.public_seed).child("rotation").integers(2, self.size)
        signs.setflags(write=False)
        object.__setattr__(self, "signs", signs)

    @property
    def size(self) -> int:
        return 1 << (self.dimension - 1).bit_length()

    def forward(self, vector: np.ndarray) -> np.ndarray:
        """float64[dimension] -> float64[size]."""
        padded = np.zeros(self.size)
        padded[: self.dimension] = vector
        return _hadamard(padded * self.signs)

    def backward(self, vector: np.ndarray) -> np.ndarray:
        """float64[size] -> float64[dimension]: the transpose, so the inverse of `forward`."""
        return (_hadamard(np.asarray(vector, dtype=np.float64)) * self.signs)[: self.dimension]


def _hadamard(vector: np.ndarray) -> np.ndarray:
    """Orthonormal Walsh-Hadamard transform of a power of two of entries; its own inverse."""
    half, size = 1, len(vector)
    while half < size:
        pairs = vector.reshape(-1, 2, half)
        vector = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return vector / math.sqrt(size)


def rounded(vector: np.ndarray, step: float, noise: NoiseSource) -> np.ndarray:
    """int64 multiples of `step` that `vector` float64[m] is on average: floor(vector / step + uniform)."""
    coins = noise.integers(_COIN, vector.shape) / _COIN
    return np.floor(vector / step + coins).astype(np.int64)


def grid_sensitivity(distance: float, step: float, size: int) -> float:
    """l2 distance in steps, rounded up, of two rounded vectors of `size` entries that were `distance` apart."""
    return (distance / step + math.sqrt(size)) * (1 + 1e-9)
