"""Made-up users for measurements: no text, no model, buckets of very different sizes."""

from __future__ import annotations

import numpy as np

from privlib.dp import NoiseSource, Simulation, checks
from privlib.synthesis.buckets import AnchoredBuckets
from privlib.synthesis.protocol.settings import Settings

SPREAD = 0.3
"""Length of the difference between a user's vector and its anchor."""


def population(users: int, dimension: int, cells: int, noise: NoiseSource) -> tuple[np.ndarray, np.ndarray]:
    """Public anchors float64[cells, dimension] of length 1, and vectors float32[users, dimension] around them.

    Anchor j = 0, 1, ... is as popular as 1 / (j + 1): few buckets are large, most stay below any threshold. A vector
    lies `SPREAD` from its anchor in a uniform direction.
    """
    users, cells = checks.whole("users", users, at_least=1), checks.whole("cells", cells, at_least=1)
    dimension = checks.whole("dimension", dimension, at_least=1)
    popularity = 1.0 / np.arange(1, cells + 1)
    anchors = _directions(noise.child("anchors"), cells, dimension)
    mine = noise.child("cells").categorical(popularity / popularity.sum(), users)
    vectors = anchors[mine] + SPREAD * _directions(noise.child("vectors"), users, dimension)
    return anchors, vectors.astype(np.float32)


def stage(users: int, dimension: int, cells: int, seed: int, threshold: int = 30) -> tuple[Settings, np.ndarray]:
    """Settings and vectors of a measured run: rate .3, epsilon 2 for the reports and 2 for the sums."""
    anchors, vectors = population(users, dimension, cells, Simulation(seed).child("population"))
    settings = Settings(
        AnchoredBuckets.at(anchors, 2 * SPREAD), rate=0.3, threshold=threshold, report_epsilon=2.0,
        centroid_epsilon=2.0, centroid_delta=5e-7, max_users=users, dummy_shift=10, dummy_scale=0.65,
    )  # fmt: skip
    return settings, vectors


def _directions(noise: NoiseSource, count: int, dimension: int) -> np.ndarray:
    drawn = noise.add_gaussian(np.zeros((count, dimension)), 1.0)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
