"""Utility of released centroids against epsilon: the paper's mechanism by several bills, ours, a curator, public text.

Everything is measured on the target itself: curator-side figures on public corpora, not releases.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privlib import synthesis
from privlib.baselines import CuratorRelease
from privlib.baselines.aug_pe import nearest_candidates
from privlib.dp import Guarantee, Simulation
from privlib.evaluation import embedding as measures
from privlib.experiments.studies import synthesis as base
from privlib.experiments.studies import synthesis_paper as paper
from privlib.experiments.studies.synthesis_means import ExactMeans
from privlib.experiments.studies.synthesis_paper import PAPER_DELTA, PAPER_DIMS, PAPER_FREQUENCY, PAPER_RATIO

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus
    from privlib.models import Encoder

SPLITS = {4.0: (None, 5.0)}  # v of Appendix A.1, then of Section 7.3: at t = 50 the former is infeasible
RATES = tuple(k / 10 for k in range(1, 10))
SCORES = ("precision", "recall", "f1", "l2")
FIXED = ("public anchors", "no privacy")
CHOSEN_PAIRS = {"epsilon": 4.0, "rate": 0.3, "threshold": 30, "max_records": 10**6}


@dataclass(frozen=True)
class Setting(base.Setting):
    """The same with k of the grid."""

    dims: int


@dataclass(frozen=True, eq=False)
class Case:
    """One target beside one public auxiliary: name, both texts' vectors, public choices."""

    name: str
    target: np.ndarray
    auxiliary: np.ndarray
    setting: Setting

    @cached_property
    def anchored(self) -> synthesis.AnchoredBuckets:
        return self.setting.anchored(self.auxiliary)

    @cached_property
    def grid(self) -> synthesis.JLBuckets:
        return self.setting.grid(self.setting.dims, self.target.shape[1])

    @cached_property
    def means(self) -> dict[str, ExactMeans]:
        """Of each kind of bucket: the exact means of the target's texts."""
        rules = {"anchored": self.anchored, "grid": self.grid}
        return {kind: ExactMeans(self.target, buckets.assign(self.target)) for kind, buckets in rules.items()}

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
            found = measures.utility(outputs.astype(np.float32), texts, self.setting.radius)
            yield {"scored": scored} | vars(found)


def case(
    name: str, data: str, encoder: Encoder, public: Mapping[str, object], sizes: tuple[int, int, int], split_seed: int
) -> tuple[Case, list[Corpus]]:
    """`name` is "target/auxiliary", or "target/" for the auxiliary half of the same corpus; `public`: the setting but
    for its cells; `sizes`: about how many target and auxiliary texts, and how many target texts there are for one cell.
    """
    corpus, other = name.split("/")
    target, auxiliary = base.target_and_auxiliary(corpus, other, data, *sizes[:2], split_seed)
    setting = Setting(cells=max(2, min(len(target) // sizes[2], len(auxiliary))), **public)
    title = f"{corpus}, anchors of {other or 'its other half'}"
    return Case(title, encoder.embed(target), encoder.embed(auxiliary), setting), [target, auxiliary]


def grid_releases(case: Case, epsilon: float) -> Iterator[tuple[str, synthesis.CentroidRelease]]:
    """The paper's buckets under each bill that is feasible: (bill, mechanism).

    All but the last pay for Delta = min(u r, 2 R), with the u of this k, and for its delta_sensitivity: at a small k
    that is 2 R and 0. "integrated" takes the smaller of the integrated noise and that for 2 R.
    """
    buckets, setting = case.grid, case.setting
    budget = (epsilon, setting.delta)
    for mechanism in paper.published(buckets, *budget, setting.frequency, SPLITS.get(epsilon, (None,))):
        yield "paper", mechanism
    stages = (epsilon, setting.delta - paper.distance_paid(buckets)[1])
    for bill, needed in (
        ("best v", lambda *public: synthesis.lemma_noise_multiplier(*public)[0]),
        ("exact count", lambda *public: synthesis.composed_noise_multiplier(*public)[0]),
        ("joint", synthesis.joint_noise_multiplier),
    ):
        found = []
        for rate in RATES:
            threshold = synthesis.threshold_count(rate, setting.frequency)
            try:
                multiplier = needed(*stages, rate, threshold)
            except synthesis.InfeasibleBudget:
                continue
            found.append((multiplier / rate, rate, threshold, multiplier))
        if found:
            yield bill, paper.older_bill(buckets, *budget, *min(found)[1:])
    rate, threshold, _ = synthesis.best_rate(*budget, setting.frequency, RATES)
    yield "integrated", synthesis.CentroidRelease(buckets, *budget, rate, threshold)


def anchored_release(case: Case, epsilon: float) -> synthesis.CentroidRelease:
    """Cells of public anchors at the public rate with the least noise per kept record."""
    setting = case.setting
    rate, threshold, _ = synthesis.best_rate(epsilon, setting.delta, setting.frequency, RATES)
    return synthesis.CentroidRelease(case.anchored, epsilon, setting.delta, rate, threshold)


def curators(case: Case, epsilon: float) -> dict[str, CuratorRelease]:
    """A curator with the grid and with the anchored cells, by kind of bucket."""
    public = (epsilon, case.setting.delta, float(case.setting.frequency))
    return {"grid": CuratorRelease(case.grid, *public), "anchored": CuratorRelease(case.anchored, *public)}


def guarantees(case: Case, epsilons: Sequence[float]) -> list[Guarantee]:
    """What the mechanisms of `outputs` promise at every epsilon: each promise once, in that order."""
    promised = {}
    for epsilon in epsilons:
        ours = [mechanism for _, mechanism in grid_releases(case, epsilon)] + [anchored_release(case, epsilon)]
        for mechanism in ours + list(curators(case, epsilon).values()):
            promised[str(mechanism.guarantee)] = mechanism.guarantee
    return list(promised.values())


def outputs(case: Case, epsilon: float) -> Iterator[tuple[str, dict[str, object], int, np.ndarray, np.ndarray, float]]:
    """Yields (method, its settings, seed, cells, centroids, kept share of the target) of every simulated release.

    Settings: buckets, rate, threshold, noise_std of a sum's coordinate, sensitivity.
    """
    setting, ours = case.setting, [("anchored", anchored_release(case, epsilon))]
    for kind, mechanisms in (("grid", grid_releases(case, epsilon)), ("anchored", ours)):
        for name, mechanism in mechanisms:
            public = _public(kind, mechanism)
            for seed in setting.seeds:
                released = mechanism.release(case.target, Simulation(seed))
                share = float(released.counts.sum()) / mechanism.rate / len(case.target)
                yield name, public, seed, released.cells, released.centroids, share
                if name in ("integrated", "anchored"):
                    denoised = released.denoised(case.spectra[kind])
                    yield f"{name}, denoised", public, seed, denoised.cells, denoised.centroids, share
                if name == "anchored":
                    yield "released anchors", public, seed, released.cells, released.origins, share
    for kind, curator in curators(case, epsilon).items():
        public = {"buckets": kind, "rate": 1.0, "threshold": setting.frequency, "sensitivity": "clip norm"}
        public["noise_std"] = curator.deviations(Simulation(0))[1]
        for seed in setting.seeds:
            means = curator.release(case.target, Simulation(seed))
            share = float(means.counts.sum()) / len(case.target)
            name = "central" if kind == "grid" else "central, anchored"
            yield name, public, seed, means.cells, means.centroids, share


def _public(kind: str, mechanism: synthesis.CentroidRelease) -> dict[str, object]:
    bound = paper.bound_of(mechanism)
    if bound == "integrated" and mechanism.noise_std(Simulation(0)) >= _worst_case_std(mechanism):
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
    allow has no row. Second: case, scored ("all" or "frequent" texts), epsilon, method, seeds, outputs, precision,
    recall, f1, l2 with _low and _high, and centroid_error, the mean distance of a centroid from the exact mean of the
    target's texts in its bucket. "public anchors" (nothing private) and "no privacy" (means of the cells that t texts
    share) are the same at every epsilon.
    """
    import pandas as pd

    settings, scores = [], []
    for one in cases:
        held = {name: list(_scored(one, "anchored", *fixed)) for name, fixed in _fixed(one).items()}
        sizes = {"texts": len(one.target), "frequent_texts": len(one.scored.get("frequent", ()))}
        sizes |= {"cells": one.setting.cells}
        for epsilon in epsilons:
            here = {"case": one.name, "epsilon": epsilon}
            for method, public, seed, cells, centroids, share in outputs(one, epsilon):
                settings.append(
                    here | {"method": method} | public | {"released": len(centroids), "kept_share": share} | sizes
                )
                found = _scored(one, public["buckets"], cells, centroids)
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
        rows.append(row | {"centroid_error": float(part["centroid_error"].mean())})
    return table.reset_index(), pd.DataFrame(rows)


def _scored(case: Case, kind: str, cells: np.ndarray, centroids: np.ndarray) -> Iterator[dict[str, object]]:
    """Scores of what was put out, with centroid_error over the buckets that hold a text; nothing of no output."""
    if not len(centroids):
        return
    means = case.means[kind]
    occupied = means.holds(cells)
    error = means.error(cells[occupied], centroids[occupied])
    for score in case.scores(centroids):
        yield score | {"centroid_error": error}


def _fixed(case: Case) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Cells and outputs of the lines that no epsilon moves: all public anchors, and, with no privacy at all, means of
    the target texts in every cell that at least t of them share.
    """
    cells = case.anchored.assign(case.target)[:, 0]
    counts = np.bincount(cells, minlength=case.setting.cells)
    heavy = np.flatnonzero(counts >= case.setting.frequency)
    means = np.array([case.target[cells == cell].mean(axis=0) for cell in heavy]).reshape(-1, case.target.shape[1])
    every = np.arange(len(case.anchored.anchors))
    return dict(zip(FIXED, ((every[:, None], case.anchored.anchors), (heavy[:, None], means)), strict=True))


def seconds_beside_a_vote(case: Case, epsilon: float) -> tuple[float, float]:
    """CPU seconds of one anchored release of the target, and of one vote of the same texts for the auxiliary ones.

    The vote is the step of private evolution that reads the private texts, once a round; here it has one candidate an
    auxiliary text.
    """
    mechanism = anchored_release(case, epsilon)
    rows, candidates = case.target.astype(np.float64), case.auxiliary.astype(np.float64)
    took = []
    for task in (
        lambda: mechanism.release(rows, Simulation(case.setting.seeds[0])),
        lambda: nearest_candidates(rows, candidates, case.setting.max_norm),
    ):
        start = time.process_time()
        task()
        took.append(time.process_time() - start)
    return took[0], took[1]


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

    def published(epsilon: float, rate: float, v: float) -> float:
        tau = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        bill = synthesis.calibrate(epsilon, PAPER_DELTA, rate, tau, v, PAPER_RATIO, PAPER_DIMS)
        return bill.noise_std(1.0) / rate

    rows = [
        {"accounting": "paper", "epsilon": epsilon, "rate": rate, "noise_per_kept": published(epsilon, rate, v)}
        for epsilon, rate, v in paper.PAPER_SETTINGS
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


def null_space_rows(
    distances: Sequence[float], pairs: int, setting: base.Setting, dimension: int, seed: int
) -> pd.DataFrame:
    """Someone who picks data after seeing Z: pairs `distance` x r apart, moved along the null space of its transpose.

    At t = 100, k = 20, the bill of CHOSEN_PAIRS, vectors of `dimension` on the sphere of radius R, and the integrated
    noise: fixed_chance that a pair fixed beforehand shares a bucket (formula), chosen_share of `pairs`
    chosen pairs that do (measured), and delta_of_pair, the exact delta of a bucket whose other members all lie at that
    distance; worst_case_delta with the noise of `sensitivity="worst_case"`, for 2 R.
    Raises ValueError for a distance that two points of the sphere cannot have, and for `dimension` at most k.
    """
    import pandas as pd

    if dimension <= PAPER_DIMS:
        raise ValueError(f"dimension must be above k = {PAPER_DIMS}: there is no null space, got {dimension}")
    epsilon, rate, tau, cap = CHOSEN_PAIRS.values()
    radius = setting.radius
    buckets = synthesis.JLBuckets(PAPER_DIMS, radius, seed, dimension, setting.max_norm)
    integrated = synthesis.release_noise_std(epsilon, PAPER_DELTA, rate, tau, PAPER_DIMS, cap, radius)
    worst = synthesis.joint_noise_multiplier(epsilon, PAPER_DELTA, rate, tau) * buckets.diameter
    _, _, directions = np.linalg.svd(buckets.projection.T)
    free = directions[PAPER_DIMS:]
    draw = Simulation(seed).child("null space").generator
    start = draw.standard_normal((pairs, dimension))
    step = draw.standard_normal((pairs, len(free))) @ free
    step /= np.linalg.norm(step, axis=1, keepdims=True)
    start -= (start * step).sum(axis=1, keepdims=True) * step
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    rows = []
    for distance in distances:
        half = distance * radius / 2
        if half > setting.max_norm:
            raise ValueError(f"distances x r must be at most 2 R = {buckets.diameter:.4g}, got {2 * half:.4g}")
        middle = start * math.sqrt(setting.max_norm**2 - half**2)  # both ends on the sphere
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
