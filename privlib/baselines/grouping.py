"""What the bucket baselines share: a public bucket rule, sums of clipped residuals, and what is released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from privlib.baselines.space import inside, tamed
from privlib.dp import Guarantee, checks


class Buckets(Protocol):
    """A public rule that puts an embedding into a bucket, from that embedding alone; `privlib.synthesis` has such."""

    dimension: int
    clip_norm: float

    def assign(self, embeddings: np.ndarray) -> np.ndarray:
        """int64[n, k], the tag of each row."""
        ...

    def origins(self, tags: np.ndarray) -> np.ndarray:
        """float64[n, d], the public origin of each tagged bucket, from which residuals are taken."""
        ...


@dataclass(frozen=True, eq=False)
class BucketMeans:
    """Released: `cells` int64[j, k] in tag order, noisy `counts` float64[j], `centroids` float64[j, d]; the bill."""

    cells: np.ndarray
    counts: np.ndarray
    centroids: np.ndarray
    guarantee: Guarantee
    kind: str

    def __len__(self) -> int:
        return len(self.cells)


def check_buckets(buckets: Buckets) -> None:
    """TypeError unless `buckets` has all that a bucket rule needs."""
    checks.offers("buckets", buckets, "dimension", "clip_norm", "assign", "origins")


def checked(private: np.ndarray, buckets: Buckets) -> np.ndarray:
    """Private embeddings as finite float64[n, d]; errors name type and shape only."""
    return checks.private_floats("private", private, (None, buckets.dimension))


def residual_sums(rows: np.ndarray, owners: np.ndarray, tags: np.ndarray, buckets: Buckets) -> np.ndarray:
    """float64[j, d]: by bucket, the sum of its rows' residuals from its origin, each clipped to `clip_norm`.

    `owners` int64[n]: index into `tags`, negative for a row that counts nowhere. Residuals lie on a grid, so sums are
    exact in any order and one row moves one sum by at most `clip_norm`.
    """
    origins, sums = buckets.origins(tags), np.zeros((len(tags), rows.shape[1]))
    for tag in range(len(tags)):
        members = tamed(rows[owners == tag])
        sums[tag] = inside(members - origins[tag], buckets.clip_norm).sum(axis=0)
    return sums * buckets.clip_norm


def places(tags: np.ndarray, public_tags: np.ndarray) -> np.ndarray:
    """int64[n]: index of each tag in a public list of distinct tags, int64[m, k]; -1 where it is not in the list."""
    index = {tuple(tag): place for place, tag in enumerate(public_tags.tolist())}
    return np.array([index.get(tuple(tag), -1) for tag in tags.tolist()], dtype=np.int64)
