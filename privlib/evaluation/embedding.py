"""How near a set of outputs comes to private texts, in the embedding space; blocked, no n x n array.

These are curator-side measures on the data itself: they are not releases and carry no guarantee.
Source: Fre-E2T, Section 2.2 and Section 7 ("Utility metrics").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlib.dp import checks

_BLOCK = 1024


def neighbour_counts(embeddings: np.ndarray, radius: float) -> np.ndarray:
    """Number of *other* rows within l2 distance `radius` of each row: int64[n] from float[n, d].

    Work n^2 d, memory block x n. Distances come from inner products in double precision when rows are
    double, single when they are single (error about 1e-3 near distance 0; harmless at useful radii).
    """
    points = _points("embeddings", embeddings)
    limit = checks.positive("radius", radius) ** 2
    squares = np.einsum("ij,ij->i", points, points)
    counts = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        squared = squares[start : start + _BLOCK, None] + squares - 2 * (block @ points.T)
        counts[start : start + _BLOCK] = np.count_nonzero(squared <= limit, axis=1)
        own = squared[np.arange(len(block)), start + np.arange(len(block))]
        counts[start : start + _BLOCK] -= own <= limit
    return counts


def frequent(embeddings: np.ndarray, radius: float, frequency: int) -> np.ndarray:
    """Mask of (r, t)-frequent rows: at least `frequency` other rows within `radius`. bool[n].

    Infrequent is the complement: fewer than t others within r. (The paper says it three ways; this is ours.)
    """
    return neighbour_counts(embeddings, radius) >= checks.whole("frequency", frequency, at_least=1)


def nearest_distances(texts: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """l2 distance from each row of `texts`, float[n, d], to the nearest row of `outputs`, float[m, d]: float64[n]."""
    texts, outputs = _points("texts", texts), _points("outputs", outputs)
    if not len(outputs):
        raise ValueError("outputs must hold at least one row: no distance to nothing")
    if texts.shape[1] != outputs.shape[1]:
        raise ValueError(f"texts and outputs must share a dimension, got {texts.shape[1]} and {outputs.shape[1]}")
    half = 0.5 * np.einsum("ij,ij->i", outputs, outputs)
    distances = np.empty(len(texts))
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        nearest = outputs[np.argmax(block @ outputs.T - half, axis=1)]
        # by differences, so that near duplicates keep their digits
        distances[start : start + _BLOCK] = np.linalg.norm(
            block.astype(np.float64) - nearest.astype(np.float64), axis=1
        )
    return distances


@dataclass(frozen=True)
class Utility:
    """precision, recall, f1 in [0, 1]; l2 >= 0; `outputs` how many were scored."""

    precision: float
    recall: float
    f1: float
    l2: float
    outputs: int


def utility(outputs: np.ndarray, frequent_texts: np.ndarray, radius: float, alpha: float = 1.5) -> Utility:
    """Scores outputs (float[m, d]) against the frequent private texts (float[n, d]), both at least one row.

    Precision: share of outputs with a frequent text within alpha r. Recall: share of frequent texts with an
    output within alpha r. F1: their harmonic mean (0 when both are 0). L2: mean distance from a frequent text
    to its nearest output. Raises ValueError when either side is empty: there is nothing to score.
    """
    reach = checks.positive("alpha", alpha) * checks.positive("radius", radius)
    to_outputs = nearest_distances(frequent_texts, outputs)
    if not len(to_outputs):
        raise ValueError("frequent_texts must hold at least one row: no text is frequent at this radius and size")
    precision = float(np.mean(nearest_distances(outputs, frequent_texts) <= reach))
    recall = float(np.mean(to_outputs <= reach))
    both = precision + recall
    return Utility(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / both if both else 0.0,
        l2=float(to_outputs.mean()),
        outputs=len(outputs),
    )


@dataclass(frozen=True)
class SupportProtection:
    """Failures of support protection counted over independent runs.

    `mean` is the share of (run, infrequent text) pairs with an output within r*; `any_run` the share of runs in
    which any infrequent text had one, with its exact one-sided upper bound `upper` at level 1 - `alpha`:
    zero failures in R runs leave an upper bound of about 3 / R, so small delta* cannot be shown by counting.
    """

    mean: float
    any_run: float
    upper: float
    runs: int


def support_protection(distances: np.ndarray, reach: float, alpha: float = 0.05) -> SupportProtection:
    """Estimates delta* from nearest-output distances, float[runs, infrequent texts], at r* = `reach` > 0."""
    distances = np.asarray(distances, dtype=np.float64)
    if distances.ndim != 2 or not distances.size:
        raise ValueError(f"distances must be an array (runs, texts) with both at least 1, got shape {distances.shape}")
    near = distances <= checks.positive("reach", reach)
    runs, failures = len(near), int(near.any(axis=1).sum())
    return SupportProtection(
        mean=float(near.mean()),
        any_run=failures / runs,
        upper=upper_bound(failures, runs, alpha),
        runs=runs,
    )


def upper_bound(failures: int, runs: int, alpha: float = 0.05) -> float:
    """Clopper-Pearson one-sided upper bound of a probability after `failures` in `runs` independent trials."""
    from scipy.special import betaincinv

    runs = checks.whole("runs", runs, at_least=1)
    failures = checks.whole("failures", failures, at_least=0)
    checks.open_probability("alpha", alpha)
    if failures > runs:
        raise ValueError(f"failures must be at most runs = {runs}, got {failures}")
    return 1.0 if failures == runs else float(betaincinv(failures + 1, runs - failures, 1 - alpha))


def _points(name: str, points) -> np.ndarray:
    array = np.asarray(points)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise ValueError(f"{name} must be a floating-point array of shape (n, d), got {array.dtype} {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers only (array of shape {array.shape})")
    return array
