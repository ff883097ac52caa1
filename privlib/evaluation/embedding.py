"""How near a set of outputs comes to private texts, in the embedding space; in tiles, no n x n array.

These are curator-side measures on the data itself: they are not releases and carry no guarantee.
Source: Fre-E2T, Section 2.2 and Section 7 ("Utility metrics").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlib.dp import NoiseSource, checks

_ROWS, _COLUMNS = 1024, 8192  # a tile of distances: 64 MiB in double precision, however many texts there are


def neighbour_counts(embeddings: np.ndarray, radius: float) -> np.ndarray:
    """Number of *other* rows within l2 distance `radius` of each row: int64[n] from float[n, d].

    Work n^2 d, memory a tile of fixed size. Distances come from inner products in double precision when rows are
    double, single when they are single (error about 1e-3 near distance 0; harmless at useful radii).
    """
    points = checked_points("embeddings", embeddings)
    limit = checks.positive("radius", radius) ** 2
    squares = np.einsum("ij,ij->i", points, points)
    counts = np.zeros(len(points), dtype=np.int64)
    for rows in _slices(len(points), _ROWS):
        for columns in _slices(len(points), _COLUMNS):
            squared = points[rows] @ points[columns].T
            squared *= -2
            squared += squares[rows, None]
            squared += squares[columns]
            counts[rows] += np.count_nonzero(squared <= limit, axis=1)
            both = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
            counts[both] -= squared[both - rows.start, both - columns.start] <= limit
    return counts


def frequent(embeddings: np.ndarray, radius: float, frequency: int) -> np.ndarray:
    """Mask of (r, t)-frequent rows: at least `frequency` other rows within `radius`. bool[n].

    Infrequent is the complement: fewer than t others within r. (The paper says it three ways; this is ours.)
    """
    return neighbour_counts(embeddings, radius) >= checks.whole("frequency", frequency, at_least=1)


def nearest_distances(texts: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """l2 distance from each row of `texts`, float[n, d], to the nearest row of `outputs`, float[m, d]: float64[n].

    Work n m d, memory a tile of fixed size.
    """
    texts, outputs = checked_points("texts", texts), checked_points("outputs", outputs)
    if not len(outputs):
        raise ValueError("outputs must hold at least one row: no distance to nothing")
    if texts.shape[1] != outputs.shape[1]:
        raise ValueError(f"texts and outputs must share a dimension, got {texts.shape[1]} and {outputs.shape[1]}")
    half = 0.5 * np.einsum("ij,ij->i", outputs, outputs)
    distances = np.empty(len(texts))
    for rows in _slices(len(texts), _ROWS):
        block = texts[rows]
        nearest, score = np.zeros(len(block), dtype=np.int64), np.full(len(block), -np.inf)
        for columns in _slices(len(outputs), _COLUMNS):
            scores = block @ outputs[columns].T
            scores -= half[columns]
            best = scores.argmax(axis=1)
            found = scores[np.arange(len(block)), best]
            nearest = np.where(found > score, best + columns.start, nearest)
            score = np.maximum(score, found)
        # by differences, so that near duplicates keep their digits
        distances[rows] = np.linalg.norm(block.astype(np.float64) - outputs[nearest].astype(np.float64), axis=1)
    return distances


@dataclass(frozen=True)
class Utility:
    """precision, recall, f1 in [0, 1]; l2 >= 0; `outputs` how many were scored."""

    precision: float
    recall: float
    f1: float
    l2: float
    outputs: int


def utility(outputs: np.ndarray, texts: np.ndarray, radius: float, alpha: float = 1.5) -> Utility:
    """Scores outputs (float[m, d]) against private texts (float[n, d]), both at least one row.

    The paper scores against the frequent texts only (`frequent`), its Table 16 against all: give the one or the other.
    Precision: share of outputs with a text within alpha r. Recall: share of texts with an output within alpha r.
    F1: their harmonic mean (0 when both are 0). L2: mean distance from a text to its nearest output.
    Raises ValueError when either side is empty: there is nothing to score.
    """
    reach = checks.positive("alpha", alpha) * checks.positive("radius", radius)
    to_outputs = nearest_distances(texts, outputs)
    if not len(to_outputs):
        raise ValueError("texts must hold at least one row: no text is frequent at this radius and size")
    precision = float(np.mean(nearest_distances(outputs, texts) <= reach))
    recall = float(np.mean(to_outputs <= reach))
    both = precision + recall
    return Utility(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / both if both else 0.0,
        l2=float(to_outputs.mean()),
        outputs=len(outputs),
    )


def same_corpus_reference(texts: np.ndarray, outputs: int, radius: float, noise: NoiseSource) -> Utility:
    """Lower bound of the distance: `outputs` of the (frequent) texts, drawn without replacement, score the others.

    `texts` float[n, d], 1 <= `outputs` < n. Source: Fre-E2T, Section 7.1, same-dataset reference.
    """
    texts = checked_points("texts", texts)
    checks.noise_source("noise", noise)
    if not checks.whole("outputs", outputs) < len(texts):
        raise ValueError(f"outputs must be at least 1 and below the {len(texts)} texts, got {outputs}")
    order = noise.permutation(len(texts))
    return utility(texts[order[:outputs]], texts[order[outputs:]], radius)


def unrelated_reference(
    unrelated: np.ndarray, texts: np.ndarray, outputs: int, radius: float, noise: NoiseSource
) -> Utility:
    """What texts of other corpora score: `outputs` of the `unrelated` float[m, d], drawn without replacement.

    1 <= `outputs` <= m. Source: Fre-E2T, Section 7.1, unrelated reference.
    """
    unrelated = checked_points("unrelated", unrelated)
    checks.noise_source("noise", noise)
    if not checks.whole("outputs", outputs) <= len(unrelated):
        raise ValueError(f"outputs must be at least 1 and at most the {len(unrelated)} unrelated texts, got {outputs}")
    return utility(unrelated[noise.permutation(len(unrelated))[:outputs]], texts, radius)


@dataclass(frozen=True)
class HeavyBuckets:
    """How well a mechanism names the heavy buckets: `heavy` truly are, `found` were named, `correct` of those are."""

    heavy: int
    found: int
    correct: int

    @property
    def recall(self) -> float:
        return self.correct / self.heavy

    @property
    def precision(self) -> float:
        """ValueError when nothing was named: a share of nothing is no number, and recall 0 says it all."""
        if not self.found:
            raise ValueError("precision is not defined: no bucket was named")
        return self.correct / self.found


def heavy_buckets(named: np.ndarray, tags: np.ndarray, frequency: int) -> HeavyBuckets:
    """Compares `named` tags (int64[j, k], as released, distinct) with those that `frequency` t of all records hold.

    `tags` int64[n, k]: the bucket of every private record. Raises ValueError when no bucket is heavy.
    Source: Fre-E2T, Section 8, Table 8 (with t = 100).
    """
    named, tags = np.asarray(named), np.asarray(tags)
    if named.ndim != 2 or tags.ndim != 2 or named.shape[1] != tags.shape[1]:
        raise ValueError(f"named and tags must be int[any, k] of one k, got shapes {named.shape} and {tags.shape}")
    distinct, counts = np.unique(tags, axis=0, return_counts=True)
    heavy = {tuple(tag) for tag in distinct[counts >= checks.whole("frequency", frequency, at_least=1)].tolist()}
    if not heavy:
        raise ValueError(f"tags must hold a bucket of {frequency} records: there is nothing to find")
    found = {tuple(tag) for tag in named.tolist()}
    if len(found) != len(named):
        raise ValueError("named must hold distinct tags")
    return HeavyBuckets(heavy=len(heavy), found=len(found), correct=len(heavy & found))


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def checked_points(name: str, points) -> np.ndarray:
    """`points` as float[n, d], single or double, all finite; ValueError that names types and shapes only."""
    array = np.asarray(points)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise ValueError(f"{name} must be a floating-point array of shape (n, d), got {array.dtype} {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers only (array of shape {array.shape})")
    return array
