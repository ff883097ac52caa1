"""Utility of released centroids against epsilon: the paper's mechanism by several bills, ours, a curator, public text.

Everything is measured on the target itself: curator-side figures on public corpora, not releases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privlib import synthesis
from privlib.baselines import CuratorRelease
from privlib.dp import Simulation, gaussian_noise_std
from privlib.evaluation import embedding as measures
from privlib.experiments.studies.synthesis import (
    PAPER_DELTA,
    PAPER_DIMS,
    PAPER_FREQUENCY,
    PAPER_RATIO,
    target_and_auxiliary,
)

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus
    from privlib.models import Encoder

# epsilon: (p_s, v) as published; v = 5 at epsilon 4 is Section 7.3's, since Appendix A.1's 4 is infeasible at t = 50
PUBLISHED = {4.0: (0.3, 5.0), 8.0: (0.5, 4.0), 16.0: (0.6, 3.0)}
RATES = tuple(k / 10 for k in range(1, 10))
SCORES = ("precision", "recall", "f1", "l2")
FIXED = ("public anchors", "no privacy")


@dataclass(frozen=True)
class Setting:
    """Public choices: r, t, delta, k of the grid, seeds of the noise, alpha of the scores."""

    radius: float
    frequency: int
    delta: float
    dims: int
    seeds: tuple[int, ...]
    alpha: float = 1.5


@dataclass(frozen=True, eq=False)
class Case:
    """One target beside one public auxiliary: name, both texts' vectors, and how many anchors the latter gives."""

    name: str
    target: np.ndarray
    auxiliary: np.ndarray
    cells: int
    setting: Setting

    @cached_property
    def anchored(self) -> synthesis.AnchoredBuckets:
        return synthesis.AnchoredBuckets(self.auxiliary, self.cells, self.setting.radius)

    @cached_property
    def grid(self) -> synthesis.JLBuckets:
        return synthesis.JLBuckets(self.setting.dims, self.setting.radius, 1, dimension=self.target.shape[1])

    @cached_property
    def spectra(self) -> dict[str, synthesis.PublicSpectrum]:
        """Directions of public text, as seen from the origin of each kind of bucket."""
        residuals = self.auxiliary - self.anchored.origins(self.anchored.assign(self.auxiliary))
        fit = synthesis.PublicSpectrum.fit
        return {"anchored": fit(residuals), "grid": fit(self.auxiliary)}

    @cached_property
    def scored(self) -> dict[str, np.ndarray]:
        """All target texts, and the frequent ones where there are any."""
        mask = measures.frequent(self.target, self.setting.radius, self.setting.frequency)
        return {"all": self.target} | ({"frequent": self.target[mask]} if mask.any() else {})

    def scores(self, outputs: np.ndarray) -> Iterator[dict[str, object]]:
        for scored, texts in self.scored.items():
            found = measures.utility(outputs.astype(np.float32), texts, self.setting.radius, self.setting.alpha)
            yield {"scored": scored} | vars(found)


def case(
    name: str, data: str, encoder: Encoder, setting: Setting, sizes: tuple[int, int, int], split_seed: int
) -> tuple[Case, list[Corpus]]:
    """`name` is "target/auxiliary", or "target/" for the auxiliary half of the same corpus; `sizes`: about how many
    target and auxiliary texts, and how many target texts there are for one anchor.
    """
    corpus, other = name.split("/")
    target, auxiliary = target_and_auxiliary(corpus, other, data, *sizes[:2], split_seed)
    private, public = encoder.embed(target), encoder.embed(auxiliary)
    cells = max(2, min(len(target) // sizes[2], len(auxiliary)))
    title = f"{corpus}, anchors of {other or 'its other half'}"
    return Case(title, private, public, cells, setting), [target, auxiliary]


@dataclass(frozen=True)
class _OlderBill(synthesis.CentroidRelease):
    """A release with the noise an older bill asks for: never less than the joint one, so its promise holds."""

    std: float = math.inf

    def noise_std(self, noise) -> float:
        return self.std


def grid_releases(case: Case, epsilon: float) -> Iterator[tuple[str, synthesis.CentroidRelease]]:
    """The paper's buckets under each bill that is feasible: (bill, mechanism).

    All pay for Delta = min(u r, 2 R), R = 1: at a small k the u that makes delta_sensitivity small is past 2 R, so it
    is 2 R and delta_sensitivity is 0; "integrated" takes the smaller of the integrated noise and that for 2 R.
    """
    buckets, setting = case.grid, case.setting
    budget = (epsilon, setting.delta)

    def older(multiplier: float, rate: float, threshold: int):
        return _OlderBill(
            buckets, *budget, rate, threshold, sensitivity="worst_case", std=multiplier * buckets.diameter
        )

    if epsilon in PUBLISHED:
        rate, v = PUBLISHED[epsilon]
        threshold = synthesis.threshold_count(rate, setting.frequency)
        spent, lost = synthesis.lemma1(v, rate, threshold)
        if spent < epsilon and lost < setting.delta:
            yield "paper", older(gaussian_noise_std(epsilon - spent, setting.delta - lost, 1.0), rate, threshold)
    for bill, needed in (
        ("best v", synthesis.lemma_noise_multiplier),
        ("exact count", synthesis.composed_noise_multiplier),
    ):
        found = []
        for rate in RATES:
            threshold = synthesis.threshold_count(rate, setting.frequency)
            try:
                found.append((needed(*budget, rate, threshold)[0] / rate, rate, threshold))
            except synthesis.InfeasibleBudget:
                continue
        if found:
            noise, rate, threshold = min(found)
            yield bill, older(noise * rate, rate, threshold)
    rate, threshold, _ = synthesis.best_rate(*budget, setting.frequency, RATES)
    yield "joint", synthesis.CentroidRelease(buckets, *budget, rate, threshold, sensitivity="worst_case")
    yield "integrated", synthesis.CentroidRelease(buckets, *budget, rate, threshold)


def outputs(case: Case, epsilon: float) -> Iterator[tuple[str, dict[str, object], int, np.ndarray, float]]:
    """Yields (method, its settings, seed, centroids, kept share of the target) of every simulated release.

    Settings: buckets, rate, threshold, noise_std of a sum's coordinate, sensitivity.
    """
    setting = case.setting
    rate, threshold, _ = synthesis.best_rate(epsilon, setting.delta, setting.frequency, RATES)
    ours = synthesis.CentroidRelease(case.anchored, epsilon, setting.delta, rate, threshold)
    for kind, mechanisms in (("grid", grid_releases(case, epsilon)), ("anchored", [("anchored", ours)])):
        for name, mechanism in mechanisms:
            public = _public(kind, mechanism)
            for seed in setting.seeds:
                released = mechanism.release(case.target, Simulation(seed))
                share = float(released.counts.sum()) / mechanism.rate / len(case.target)
                yield name, public, seed, released.centroids, share
                if name in ("integrated", "anchored"):
                    denoised = released.denoised(case.spectra[kind])
                    yield f"{name}, denoised", public, seed, denoised.centroids, share
                if name == "anchored":
                    yield "released anchors", public, seed, released.origins, share
    for kind, buckets in (("grid", case.grid), ("anchored", case.anchored)):
        curator = CuratorRelease(buckets, epsilon, setting.delta, float(setting.frequency))
        public = {"buckets": kind, "rate": 1.0, "threshold": setting.frequency, "sensitivity": "clip norm"}
        public["noise_std"] = curator.deviations(Simulation(0))[1]
        for seed in setting.seeds:
            means = curator.release(case.target, Simulation(seed))
            share = float(means.counts.sum()) / len(case.target)
            yield "central" if kind == "grid" else "central, anchored", public, seed, means.centroids, share


def _public(kind: str, mechanism: synthesis.CentroidRelease) -> dict[str, object]:
    bound = mechanism.sensitivity
    if bound != "worst_case" and mechanism.noise_std(Simulation(0)) >= _worst_case_std(mechanism):
        bound = "worst_case, as the integral gives no less"
    return {
        "buckets": kind,
        "rate": mechanism.rate,
        "threshold": mechanism.threshold,
        "sensitivity": bound,
        "noise_std": mechanism.noise_std(Simulation(0)),
    }


def _worst_case_std(mechanism: synthesis.CentroidRelease) -> float:
    public = (mechanism.epsilon, mechanism.delta, mechanism.rate, mechanism.threshold)
    return synthesis.joint_noise_multiplier(*public) * mechanism.buckets.diameter


def utility_tables(cases: Sequence[Case], epsilons: Sequence[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Settings of every method, and its scores where every run released something: mean and range over the seeds.

    First: case, epsilon, method, buckets, rate, threshold, sensitivity, noise_std, released (mean number), kept_share
    (estimated share of the target in released buckets), texts, frequent_texts, cells. A method that its bill does not
    allow has no row. Second: case, scored ("all" or "frequent" texts), epsilon, method, seeds, outputs, and precision,
    recall, f1, l2 with _low and _high. "public anchors" (nothing private) and "no privacy" (means of the cells that t
    texts share) are the same at every epsilon.
    """
    import pandas as pd

    settings, scores = [], []
    for one in cases:
        fixed = {"public anchors": one.anchored.anchors, "no privacy": _cell_means(one)}
        held = {name: list(one.scores(centroids)) for name, centroids in fixed.items() if len(centroids)}
        sizes = {"texts": len(one.target), "frequent_texts": len(one.scored.get("frequent", ())), "cells": one.cells}
        for epsilon in epsilons:
            here = {"case": one.name, "epsilon": epsilon}
            for method, public, seed, centroids, share in outputs(one, epsilon):
                settings.append(
                    here | {"method": method} | public | {"released": len(centroids), "kept_share": share} | sizes
                )
                found = list(one.scores(centroids)) if len(centroids) else []
                scores += [here | {"method": method, "seed": seed} | score for score in found]
            for method, found in held.items():
                scores += [here | {"method": method, "seed": one.setting.seeds[0]} | score for score in found]
    table = pd.DataFrame(settings)
    keys = [column for column in table.columns if column not in ("released", "kept_share")]
    table = table.groupby(keys, sort=False).agg(released=("released", "mean"), kept_share=("kept_share", "mean"))
    runs = len(cases[0].setting.seeds)
    rows = []
    grid = ["case", "scored", "epsilon", "method"]
    for (name, scored, epsilon, method), part in pd.DataFrame(scores).groupby(grid, sort=False):
        if len(part) < runs and method not in FIXED:
            continue  # some run released nothing: the settings' table says how many buckets there were
        row = {"case": name, "scored": scored, "epsilon": epsilon, "method": method, "seeds": len(part)}
        row["outputs"] = float(part["outputs"].mean())
        for measure in SCORES:
            row[measure] = float(part[measure].mean())
            row[f"{measure}_low"] = float(part[measure].min())
            row[f"{measure}_high"] = float(part[measure].max())
        rows.append(row)
    return table.reset_index(), pd.DataFrame(rows)


def _cell_means(case: Case) -> np.ndarray:
    """Means of the target texts in every cell that at least t of them share: the ceiling, with no privacy at all."""
    cells = case.anchored.assign(case.target)[:, 0]
    counts = np.bincount(cells, minlength=case.cells)
    heavy = np.flatnonzero(counts >= case.setting.frequency)
    return np.array([case.target[cells == cell].mean(axis=0) for cell in heavy]).reshape(-1, case.target.shape[1])


def standing_rows(epsilons: Sequence[float], rates: Sequence[float], max_records: int) -> pd.DataFrame:
    """Noise per kept record, noise_std / p_s in units of r, at the paper's t, k, delta: what accounting alone gives.

    Rows: the paper at its epsilon and rate; joint (Delta = 2.4 r and the paper's delta_sensitivity, whose gap stays)
    and integrated (at most max_records, data fixed before the projection) at the best of `rates`; `against` is the
    ratio to the paper's value at epsilon 8.
    """
    import pandas as pd

    pair = synthesis.collision_probability(PAPER_RATIO, 2 / math.sqrt(PAPER_DIMS), PAPER_DIMS)

    def best(needed) -> tuple[float, float]:
        found = []
        for rate in rates:
            try:
                found.append((needed(rate, synthesis.threshold_count(rate, PAPER_FREQUENCY)) / rate, rate))
            except synthesis.InfeasibleBudget:
                continue
        return min(found)

    def paper(epsilon: float, rate: float, v: float) -> float:
        tau = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        bill = synthesis.calibrate(epsilon, PAPER_DELTA, rate, tau, v, PAPER_RATIO, PAPER_DIMS)
        return bill.noise_std(1.0) / rate

    rows = [
        {"accounting": "paper", "epsilon": epsilon, "rate": rate, "noise_per_kept": paper(epsilon, rate, v)}
        for epsilon, rate, v in ((4.0, 0.3, 4.0), (8.0, 0.5, 4.0), (16.0, 0.6, 3.0))
    ]
    for epsilon in epsilons:
        bills = {
            "joint": lambda p, tau, e=epsilon: (
                PAPER_RATIO * synthesis.joint_noise_multiplier(e, PAPER_DELTA - pair, p, tau)
            ),
            "integrated": lambda p, tau, e=epsilon: synthesis.release_noise_std(
                e, PAPER_DELTA, p, tau, PAPER_DIMS, max_records
            ),
        }
        for accounting, needed in bills.items():
            noise, rate = best(needed)
            rows.append({"accounting": accounting, "epsilon": epsilon, "rate": rate, "noise_per_kept": noise})
    table = pd.DataFrame(rows)
    return table.assign(against=table["noise_per_kept"] / rows[1]["noise_per_kept"])


def null_space_rows(distances: Sequence[float], pairs: int, radius: float, seed: int) -> pd.DataFrame:
    """Someone who picks data after seeing Z: pairs `distance` x r apart, moved along the null space of its transpose.

    At t = 100, k = 20, p_s = .3, epsilon = 4, d = 384 and the integrated noise for 1e6 records: fixed_chance that a
    pair fixed beforehand shares a bucket (formula), chosen_share of `pairs` chosen pairs that do (measured), and
    delta_of_pair, the exact delta of a bucket whose other members all lie at that distance; worst_case_delta with the
    noise of `sensitivity="worst_case"` (2 R = 2 for unit vectors).
    """
    import pandas as pd

    rate, tau, epsilon = 0.3, 30, 4.0
    buckets = synthesis.JLBuckets(PAPER_DIMS, radius, seed, dimension=384)
    integrated = synthesis.release_noise_std(epsilon, PAPER_DELTA, rate, tau, PAPER_DIMS, 10**6, radius)
    worst = synthesis.joint_noise_multiplier(epsilon, PAPER_DELTA, rate, tau) * buckets.diameter
    _, _, directions = np.linalg.svd(buckets.projection.T)
    free = directions[PAPER_DIMS:]
    draw = Simulation(seed).child("null space").generator
    start = draw.standard_normal((pairs, 384))
    step = draw.standard_normal((pairs, len(free))) @ free
    step /= np.linalg.norm(step, axis=1, keepdims=True)
    start -= (start * step).sum(axis=1, keepdims=True) * step
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    rows = []
    for distance in distances:
        half = distance * radius / 2
        middle = start * math.sqrt(max(0.0, 1 - half**2))  # both ends on the unit sphere
        same = (buckets.assign(middle - half * step) == buckets.assign(middle + half * step)).all(axis=1)
        chance = synthesis.collision_probability(distance * radius, buckets.edge, PAPER_DIMS)
        rows.append(
            {
                "distance": distance,
                "fixed_chance": chance,
                "chosen_share": float(same.mean()),
                "delta_of_pair": synthesis.joint_delta(epsilon, integrated / (distance * radius), rate, tau),
                "worst_case_delta": synthesis.joint_delta(epsilon, worst / (distance * radius), rate, tau),
            }
        )
    return pd.DataFrame(rows)
