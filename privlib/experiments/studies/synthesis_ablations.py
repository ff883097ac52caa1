"""Ablations of the paper's grid release at centroid level: edge, dimension k, frequency t, rate p_s, encoder.

Every run draws its own public grid, sample and noise. Scores are measured on the target itself: curator-side figures
on public corpora, not releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from privlib import synthesis
from privlib.dp import Guarantee, Simulation
from privlib.evaluation import embedding as measures
from privlib.experiments.studies.synthesis_paper import (
    PAPER_RATIO,
    as_published,
    distance_paid,
    distance_ratio,
    older_bill,
)

if TYPE_CHECKING:
    import pandas as pd

RATES = tuple(k / 10 for k in range(1, 10))
SCORES = ("precision", "recall", "f1", "l2")
LATENT = "latent semantics"
BILLS = {
    "multiplier": ("integrated", "published distance"),
    "dims": ("integrated", "published distance by k"),
    "frequency": ("joint",),
    "rate": ("joint", "best v"),
    "epsilon": ("joint",),
}
"""What each axis is billed by at sizes at which the paper's k releases nothing."""
PUBLISHED_BILLS = BILLS | dict.fromkeys(("multiplier", "dims"), ("integrated", "as published"))
PUBLISHED_BILLS |= dict.fromkeys(("frequency", "epsilon"), ("as published",))
"""The same at the paper's k, t and delta."""


@dataclass(frozen=True)
class Setting:
    """Public choices: k, t, delta, cap on the number of records, seeds of the runs, alpha of the scores."""

    dims: int
    frequency: int
    delta: float
    seeds: tuple[int, ...]
    max_records: int = 1_000_000
    alpha: float = 1.5


@dataclass(frozen=True, eq=False)
class Case:
    """One target as one encoder sees it: float[n, d], with its radius r and the public norm R that rows are cut to."""

    encoder: str
    target: np.ndarray
    radius: float
    max_norm: float

    @cached_property
    def neighbours(self) -> np.ndarray:
        return measures.neighbour_counts(self.target, self.radius)

    def scored(self, frequency: int) -> dict[str, np.ndarray]:
        """All target texts, and the (r, t)-frequent and infrequent ones where there are frequent ones."""
        mask = self.neighbours >= frequency
        parts = {"frequent": self.target[mask], "infrequent": self.target[~mask]} if mask.any() else {}
        return {"all": self.target} | parts

    def buckets(self, dims: int, multiplier: float, public_seed: int) -> synthesis.JLBuckets:
        """The paper's grid with the edge L = 2 r / sqrt(k) scaled by `multiplier`."""
        return synthesis.JLBuckets(dims, multiplier * self.radius, public_seed, self.target.shape[1], self.max_norm)


def latent_semantics(public_texts: Sequence[str], dimension: int) -> Callable[[Sequence[str]], np.ndarray]:
    """An encoder without a model: TF-IDF weights on the first singular directions of public texts.

    Returns texts -> float32[n, dimension] of natural norms, at most 1 up to rounding: projections of unit vectors.
    `dimension` is below the number of distinct words. Source: Deerwester et al. 1990.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    weights = TfidfVectorizer(sublinear_tf=True)
    directions = TruncatedSVD(dimension, algorithm="arpack", random_state=0).fit(weights.fit_transform(public_texts))
    return lambda texts: directions.transform(weights.transform(texts)).astype(np.float32)


def matched(views: Sequence[tuple[str, np.ndarray, np.ndarray]], radius: float) -> tuple[list[Case], pd.DataFrame]:
    """Cases of one target under several encoders, r moved by the quantile of nearest-neighbour distances.

    `views`: (encoder, target float[n, d], public float[m, d]), `radius` is the first one's, public rows are the same
    texts for all; those that some encoder maps to one point count once. R is the longest public row. Table: encoder,
    dimension, quantile (share of public texts with another within r), radius, median_norm and max_norm of public rows,
    radius_in_norms = radius / median_norm.
    """
    import pandas as pd

    from privlib.models import nearest_distances

    kept = np.arange(len(views[0][2]))
    for _, _, public in views:
        kept = np.intersect1d(kept, np.unique(public, axis=0, return_index=True)[1])
    distances = [nearest_distances(public[kept]) for _, _, public in views]
    quantile = float(np.mean(distances[0] <= radius))
    cases, rows = [], []
    for (name, target, public), nearest in zip(views, distances, strict=True):
        here = float(np.quantile(nearest, quantile)) if cases else radius
        norms = np.linalg.norm(public, axis=1)
        cases.append(Case(name, target, here, float(norms.max())))
        rows.append(
            {"encoder": name, "dimension": public.shape[1], "quantile": quantile, "radius": here}
            | {"median_norm": float(np.median(norms)), "max_norm": float(norms.max())}
            | {"radius_in_norms": here / float(np.median(norms))}
        )
    return cases, pd.DataFrame(rows)


@dataclass(frozen=True)
class _NoiseOff(synthesis.CentroidRelease):
    """The mechanism's sample, counts and sums without its noise: what comes out carries no promise."""

    def noise_std(self, noise) -> float:
        return 0.0

    def guarantee_under(self, noise) -> Guarantee:
        return Guarantee(math.inf, 1.0, "record", "add_drop")


@lru_cache(maxsize=4096)  # bills and epsilons of one rate differ in the noise alone
def _noiseless(case: Case, dims: int, multiplier: float, rate: float, threshold: int, seed: int) -> synthesis.Centroids:
    public = (1.0, 0.5, rate, threshold)  # epsilon and delta set the noise, which is off
    return _NoiseOff(case.buckets(dims, multiplier, seed), *public).release(case.target, Simulation(seed))


@dataclass(frozen=True)
class Point:
    """One combination of public settings and its noise: `epsilon` and `bill` say where noise_std comes from."""

    epsilon: float
    bill: str
    multiplier: float
    dims: int
    frequency: int
    rate: float = 1.0
    threshold: int = 0
    noise_std: float = 0.0

    def runs(self, case: Case, setting: Setting) -> Iterator[synthesis.Centroids]:
        """One simulated release a seed, with a grid, a sample and noise of its own."""
        for seed in setting.seeds:
            found = _noiseless(case, self.dims, self.multiplier, self.rate, self.threshold, seed)
            noise = Simulation(seed).child("sums").add_gaussian(np.zeros_like(found.centroids), self.noise_std)
            yield replace(found, centroids=found.centroids + noise / found.counts[:, None], noise_std=self.noise_std)


def points(case: Case, setting: Setting, epsilon: float, bills: Sequence[str], **changed) -> Iterator[Point]:
    """Settings of the grid at one epsilon under each bill that it allows; `changed`: multiplier, dims, frequency, rate.

    epsilon = inf is "no noise": every record kept, no noise, no bill. Else rate is the public one with the least noise
    per kept record by the joint bill (by its own for "best v"), if not given. Bills, Delta being the distance paid for:
    "integrated": the library's, over the random grid for data fixed before it, or Delta = 2 R where that is less;
    "joint": count and centroid billed as one; "best v": Lemma 1 with the real v of least noise, and a Gaussian; both
    with Delta = u r x multiplier and delta_sensitivity as the paper pays for them at k, or 2 R where that is no more;
    "as published": the paper's p_s, whatever `rate`, v and rounded multiplier of this epsilon, with the same Delta;
    "published distance": the joint multiplier times Delta = 2.4 r x multiplier, whatever k: no promise where its
    delta_sensitivity f(2 / 2.4)^k is past delta; "published distance by k": likewise with the u of each k.
    A setting that its bill does not allow has no point. Raises ValueError "as published" at an epsilon of none of the
    paper's runs.
    """
    at = {"multiplier": 1.0, "dims": setting.dims, "frequency": setting.frequency} | changed
    rates = (at.pop("rate"),) if "rate" in at else RATES
    if math.isinf(epsilon):
        yield Point(epsilon, "no noise", **at, threshold=at["frequency"])
        return
    buckets = case.buckets(at["dims"], at["multiplier"], 1)  # any seed: the noise does not depend on it
    for bill in bills:
        try:
            rate, tau, noise_std = _billed(bill, buckets, (epsilon, setting.delta), at["frequency"], rates, setting)
        except synthesis.InfeasibleBudget:
            continue
        yield Point(epsilon, bill, **at, rate=rate, threshold=tau, noise_std=noise_std)


def _billed(
    bill: str,
    buckets: synthesis.JLBuckets,
    budget: tuple[float, float],
    frequency: int,
    rates: Sequence[float],
    setting: Setting,
) -> tuple[float, int, float]:
    """(rate, threshold, noise_std) of the grid under one bill of `points`; InfeasibleBudget where it allows none."""
    distances = {"published distance": PAPER_RATIO, "published distance by k": distance_ratio(buckets.dims)}
    if bill in distances:
        rate, tau, multiplier = synthesis.best_rate(*budget, frequency, rates)
        return rate, tau, multiplier * distances[bill] * buckets.radius
    if bill == "as published":
        release = as_published(buckets, *budget, frequency)
    elif bill == "integrated":
        rate, tau, _ = synthesis.best_rate(*budget, frequency, rates)
        release = synthesis.CentroidRelease(buckets, *budget, rate, tau, setting.max_records)
    else:
        choose = {"joint": synthesis.best_rate, "best v": _best_v}[bill]
        stages = (budget[0], budget[1] - distance_paid(buckets)[1])
        release = older_bill(buckets, *budget, *choose(*stages, frequency, rates))
    return release.rate, release.threshold, release.noise_std(Simulation(0))


def _best_v(epsilon: float, delta: float, frequency: int, rates: Sequence[float]) -> tuple[float, int, float]:
    """(rate, threshold, multiplier) of least noise per kept record by Lemma 1 with the best real v."""
    found = []
    for rate in rates:
        tau = synthesis.threshold_count(rate, frequency)
        try:
            found.append((synthesis.lemma_noise_multiplier(epsilon, delta, rate, tau)[0] / rate, rate, tau))
        except synthesis.InfeasibleBudget:
            continue
    if not found:
        raise synthesis.InfeasibleBudget("delta_threshold", f"frequency {frequency} at no rate")
    noise, rate, tau = min(found)
    return rate, tau, noise * rate


def sweep(axis: str, cases: Sequence[Case], setting: Setting, epsilons, bills, values=()) -> pd.DataFrame:
    """Scores of every point along one axis of the settings, over the runs: mean, lowest and highest.

    `axis`: "multiplier", "dims", "frequency", "rate" over `values`, or "epsilon", without any. Columns: axis, encoder,
    the point's, radius, texts, frequent_texts (that t others surround), released and kept_share (estimated share of the
    target in released buckets) with the share of runs that released nothing (empty), scored ("all", "frequent"; on the
    axis epsilon "infrequent" too), precision_gain (on all texts, less here), and precision, recall, f1, l2 with _low
    and _high. A run that releases nothing scores 0, 0, 0 and an infinite l2. Settings that their bill does not allow
    have no row, nor have frequent texts where there are none.
    """
    import pandas as pd

    rows = []
    for case in cases:
        for epsilon in epsilons:
            for changed in [{axis: value} for value in values] or [{}]:
                for point in points(case, setting, epsilon, bills, **changed):
                    scored = case.scored(point.frequency)
                    if axis != "epsilon":
                        scored.pop("infrequent", None)
                    rows += list(_scores(case, setting, point, scored))
    return pd.DataFrame([{"axis": axis} | row for row in rows])


def _scores(case: Case, setting: Setting, point: Point, scored: dict[str, np.ndarray]) -> Iterator[dict[str, object]]:
    runs = list(point.runs(case, setting))
    found = np.array([len(run) for run in runs])
    row = {"encoder": case.encoder} | vars(point) | {"radius": case.radius, "texts": len(case.target)}
    row |= {"frequent_texts": len(scored.get("frequent", ())), "released": float(found.mean())}
    row["kept_share"] = float(np.mean([run.counts.sum() for run in runs])) / point.rate / len(case.target)
    row["empty"] = float(np.mean(found == 0))
    yield from spread(row, [run.centroids for run in runs], scored, case, setting)


def spread(row: dict[str, object], outputs: Sequence[np.ndarray], scored: dict[str, np.ndarray], case: Case, setting):
    """`row` with the scores of every run's `outputs` against each kind of text: mean, _low and _high."""
    precision = None
    for name, texts in scored.items():
        each = np.array([_utility(centroids, texts, case, setting) for centroids in outputs])
        mean = each.mean(axis=0)
        precision = mean[0] if precision is None else precision  # all texts come first
        columns = {"scored": name, "precision_gain": float(precision - mean[0])}
        for end, numbers in (("", mean), ("_low", each.min(axis=0)), ("_high", each.max(axis=0))):
            columns |= {f"{score}{end}": float(number) for score, number in zip(SCORES, numbers, strict=True)}
        yield row | columns


def _utility(outputs: np.ndarray, texts: np.ndarray, case: Case, setting: Setting) -> tuple[float, ...]:
    if not len(outputs):
        return 0.0, 0.0, 0.0, math.inf
    found = measures.utility(outputs.astype(np.float32), texts, case.radius, setting.alpha)
    return tuple(getattr(found, score) for score in SCORES)
