"""Semantic support protection, measured: how often an output lands near a text that few others resemble.

A text is (r, t)-infrequent when fewer than t other texts lie within r of it. (r, t, r*, delta*)-protection: for each
infrequent text, with probability at least 1 - delta* no output lies within r* of it. delta* is a probability over the
mechanism's own randomness, so it is counted over independent runs on the same data. These are curator-side figures.
Source: Fre-E2T, Definitions 2 to 4 and Section 7.1 (Figures 3 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import checks
from privlib.evaluation.embedding import checked_points, nearest_distances


@dataclass(frozen=True)
class SupportProtection:
    """Failures of support protection at one reach r*, counted over independent runs at level 1 - alpha.

    `mean`: over runs and infrequent texts, the share with an output within r*; `low`, `high`: Student's t interval of
    it over the runs' own means, cut to [0, 1] (approximate; of width 0 when all runs agree); `mean_upper`: its
    one-sided upper bound that holds for any law of the runs, never 0.
    `worst`: the rate, over `runs - picking` runs, of the text (`worst_text`, its row) that failed most often in the
    `picking` runs before them; `worst_low`, `worst_high`: its two-sided Clopper-Pearson interval. `worst_low` is a
    lower bound of delta* itself, the largest rate of all texts.
    `any_run`: share of all runs in which some infrequent text had an output near; `any_upper`: its one-sided
    Clopper-Pearson bound, an upper bound of delta*. After R runs without a failure it is about 3 / R.
    """

    reach: float
    mean: float
    low: float
    high: float
    mean_upper: float
    worst_text: int
    worst: float
    worst_low: float
    worst_high: float
    any_run: float
    any_upper: float
    runs: int
    picking: int
    texts: int


def support_protection(
    infrequent: np.ndarray,
    runs: Iterable[np.ndarray],
    reaches: Sequence[float],
    picking: int,
    alpha: float = 0.05,
) -> list[SupportProtection]:
    """One `SupportProtection` a reach r* > 0, from the outputs of independent `runs` on the same data.

    Args:
        infrequent: embeddings of the infrequent texts, float[n, d], n >= 1, the same in every run.
        runs: outputs of each run, float[m, d]; m = 0 (nothing released) is a run without a failure. Read one at a
            time, so a generator will do; memory is n x len(reaches) counts and one tile of distances.
        picking: the first so many runs only pick the worst text; at least one, and one run must follow.
        alpha: each interval and bound holds with probability 1 - alpha, in (0, 1).
    Raises ValueError on fewer than picking + 1 runs.
    """
    picking, alpha = checks.whole("picking", picking, at_least=1), checks.open_probability("alpha", alpha)
    limits = np.array([checks.positive("reaches", each) for each in checks.sequence("reaches", reaches, "numbers")])
    infrequent = checked_points("infrequent", infrequent)
    checks.iterable("runs", runs, "outputs of runs")
    for name, array in (("infrequent", infrequent), ("reaches", limits)):
        if not len(array):
            raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    shares = []
    hits = np.zeros((2, len(infrequent), len(limits)), dtype=np.int64)  # in picking runs, in the others
    for run, outputs in enumerate(runs):
        if len(outputs):
            near = nearest_distances(infrequent, outputs)[:, None] <= limits
        else:
            near = np.zeros((len(infrequent), len(limits)), dtype=bool)
        hits[int(run >= picking)] += near
        shares.append((near.mean(axis=0), near.any(axis=0)))
    count = len(shares)
    if count <= picking:
        raise ValueError(f"runs must be at least picking + 1 = {picking + 1}, got {count}")
    means, anys = (np.array(part) for part in zip(*shares, strict=True))
    return [
        _protection(float(limit), means[:, j], int(anys[:, j].sum()), hits[:, :, j], count, picking, alpha)
        for j, limit in enumerate(limits)
    ]


def _protection(reach, means, failed, hits, count, picking, alpha) -> SupportProtection:
    mean = float(means.mean())
    half = _student(count - 1, 1 - alpha / 2) * float(means.std(ddof=1)) / math.sqrt(count)
    worst, tested = int(np.argmax(hits[0])), count - picking
    near = int(hits[1, worst])
    return SupportProtection(
        reach=reach,
        mean=mean,
        low=max(0.0, mean - half),
        high=min(1.0, mean + half),
        mean_upper=mean_upper(mean, count, alpha),
        worst_text=worst,
        worst=near / tested,
        worst_low=1.0 - upper_bound(tested - near, tested, alpha / 2),
        worst_high=upper_bound(near, tested, alpha / 2),
        any_run=failed / count,
        any_upper=upper_bound(failed, count, alpha),
        runs=count,
        picking=picking,
        texts=hits.shape[1],
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


def mean_upper(mean: float, runs: int, alpha: float = 0.05) -> float:
    """Upper bound at level 1 - `alpha` of the expectation of any variable in [0, 1], from the mean of `runs` draws.

    The largest m with runs KL(mean || m) <= ln(1 / alpha), KL between coins in nats: Hoeffding 1963, Theorem 1.
    A mean of 0 gives 1 - alpha^(1 / runs), about 3 / runs at alpha .05.
    """
    mean, runs = checks.probability("mean", mean), checks.whole("runs", runs, at_least=1)
    allowed = -math.log(checks.open_probability("alpha", alpha)) / runs

    def divergence(m: float) -> float:
        here = mean * math.log(mean / m) if mean > 0 else 0.0
        return here + ((1 - mean) * math.log((1 - mean) / (1 - m)) if mean < 1 else 0.0)

    low, high = mean, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(middle) <= allowed else (low, middle)
    return high


def runs_needed(delta: float, alpha: float = 0.05) -> int:
    """Least number of runs without a failure that show a failure probability of at most `delta`: about 3 / delta.

    ln(alpha) / ln(1 - delta), rounded up: 299,572 for 1e-5, which is why small delta* are not shown by counting.
    """
    delta, alpha = checks.open_probability("delta", delta), checks.open_probability("alpha", alpha)
    return math.ceil(math.log(alpha) / math.log1p(-delta))


def near_chance(texts: np.ndarray, means: np.ndarray, noise_stds: np.ndarray, reach: float) -> np.ndarray:
    """Upper bound, for each text, of the chance that some noisy centroid lies within `reach`: float64[n] in [0, 1].

    What counting cannot show: given the sampled members, centroid h is means_h + N(0, s_h^2 I), so its squared distance
    to a text over s_h^2 is noncentral chi-squared, and its lower tail has the Chernoff bound
    exp(-(d / 2) ln w - l (w - 1) / (2 w) + x (w - 1) / 2), w = (d + sqrt(d^2 + 4 x l)) / (2 x), x = (reach / s_h)^2,
    l = (|text - means_h| / s_h)^2, where w > 1; it is summed over h. Its mean over sampling runs bounds delta*.
    Arguments: `texts` float[n, d], `means` float[m, d] exact means of the kept members (the curator's own, never
    released), `noise_stds` float[m] > 0, a coordinate's deviation of each centroid; not for denoised centroids.
    """
    texts, means = checks.floats("texts", texts), checks.floats("means", means)
    stds = checks.floats("noise_stds", noise_stds)
    reach = checks.positive("reach", reach)
    if texts.ndim != 2 or means.ndim != 2 or texts.shape[1] != means.shape[1] or stds.shape != (len(means),):
        raise ValueError(f"texts {texts.shape}, means {means.shape} and noise_stds {stds.shape} do not fit")
    if not (np.isfinite(stds).all() and (stds > 0).all()):
        raise ValueError(f"noise_stds must be finite numbers above 0 (array of shape {stds.shape})")
    x, d, total = (reach / stds) ** 2, texts.shape[1], np.zeros(len(texts))
    for mean, std, limit in zip(means, stds, x, strict=True):
        length = np.einsum("ij,ij->i", texts - mean, texts - mean) / std**2
        w = np.maximum((d + np.sqrt(d * d + 4 * limit * length)) / (2 * limit), 1.0)
        total += np.exp(-d / 2 * np.log(w) - length * (w - 1) / (2 * w) + limit * (w - 1) / 2)
    return np.clip(total, math.ulp(0.0), 1.0)  # an upper bound is never 0


@dataclass(frozen=True)
class NeighbourGroup:
    """Texts with `low` to `high` others within r: how many, and their mean distance to the nearest output."""

    low: int
    high: int
    texts: int
    mean_distance: float


def distance_by_neighbours(counts: np.ndarray, distances: np.ndarray, edges: Sequence[int]) -> list[NeighbourGroup]:
    """Mean nearest-output distance by number of neighbours; groups [edges[i], edges[i + 1] - 1] without texts left out.

    `counts` int[n] (`neighbour_counts`), `distances` float[n] (`nearest_distances`), `edges` strictly rising integers,
    at least two. Source: Fre-E2T, Figure 3.
    """
    counts, distances = checks.floats("counts", counts), checks.floats("distances", distances)
    edges = np.array(checks.sequence("edges", edges, "integers"))
    if counts.shape != distances.shape or counts.ndim != 1:
        raise ValueError(f"counts and distances must be of one length, got shapes {counts.shape}, {distances.shape}")
    if len(edges) < 2 or edges.dtype.kind not in "iu" or not (np.diff(edges) > 0).all():
        raise ValueError(f"edges must be at least two rising integers, got {edges.tolist()}")
    groups = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        inside = (counts >= low) & (counts < high)
        if inside.any():
            groups.append(NeighbourGroup(low, high - 1, int(inside.sum()), float(distances[inside].mean())))
    return groups


def _student(freedom: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))
