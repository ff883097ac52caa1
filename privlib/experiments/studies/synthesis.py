"""Grids of the synthesis figures: the published calibration, what accounting saves, centroids on real text.

Utility, support protection and bucket counts are measured on the target itself: curator-side figures on
public corpora, not releases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from privlib import synthesis
from privlib.dp import Simulation, checks
from privlib.evaluation import embedding as measures
from privlib.evaluation.support import support_protection
from privlib.experiments.studies.synthesis_paper import (
    PAPER_DELTA,
    PAPER_DIMS,
    PAPER_FREQUENCY,
    PAPER_RATIO,
    PAPER_SETTINGS,
    bound_of,
    published,
)

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus
    from privlib.models import Encoder

# the paper's main settings beside epsilon, p_s and v, as the record of a closed form states them beside its run's own
PAPER = {
    "paper_frequency": PAPER_FREQUENCY,
    "paper_dims": PAPER_DIMS,
    "paper_ratio": PAPER_RATIO,
    "paper_delta": PAPER_DELTA,
}
PAPER_SENSITIVITY = "u r = 2.4 r, failing with delta_sensitivity"


def target_and_auxiliary(
    corpus: str, auxiliary_corpus: str, data: str, records: int, auxiliary_records: int, split_seed: int
) -> tuple[Corpus, Corpus]:
    """About `records` protected and `auxiliary_records` public texts, kept independently with public probabilities.

    `auxiliary_corpus` names another corpus, or is "" for the auxiliary split of the same one. The corpora of the
    book are public, so their sizes may set the probabilities.
    """
    from privlib import corpora

    if auxiliary_corpus:
        auxiliary, target = corpora.load(auxiliary_corpus, data=data), corpora.load(corpus, data=data)
    else:
        auxiliary, target = corpora.load(corpus, data=data).split(seed=split_seed)
    return tuple(
        part.sample(min(size, len(part)), split_seed, public_size=len(part))
        for part, size in ((target, records), (auxiliary, auxiliary_records))
    )


def chosen_encoder(name: str, pooled: bool, radius: float, max_norm: float) -> tuple[Encoder, dict[str, float]]:
    """The encoder of a run with its r, and {"max_norm": R} where mechanisms cut its vectors to another norm than 1.

    `name` of a folder or a hub, "" for the packaged one; `pooled` as in `models.encoder`; `radius` r, 0 for the one
    that the encoder ships with; `max_norm` R, public, 0 for the encoder's own bound. Records name encoder and r anyway.
    Raises ValueError where neither the encoder nor the argument says r or R.
    """
    from privlib import models

    encoder = models.encoder(name or None, pooled=pooled)
    if radius:
        encoder = replace(encoder, radius=checks.positive("radius", radius), radius_quantile=None)
    if encoder.radius is None:
        raise ValueError(f"radius must be above 0: the encoder {encoder.name!r} ships with none, got {radius!r}")
    norm = min(checks.positive("max_norm", max_norm), encoder.norm) if max_norm else encoder.norm
    if math.isinf(norm):
        raise ValueError(f"max_norm must be above 0: the encoder {encoder.name!r} does not normalise, got {max_norm!r}")
    return encoder, {} if norm == 1.0 else {"max_norm": norm}


def calibration_table(radius: float = 0.5) -> pd.DataFrame:
    """The paper's calibration by its own procedure, one row an epsilon; noise_std at the given radius."""
    import pandas as pd

    rows = []
    for epsilon, rate, v in PAPER_SETTINGS:
        threshold = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        bill = synthesis.calibrate(epsilon, PAPER_DELTA, rate, threshold, v, PAPER_RATIO, PAPER_DIMS)
        rows.append(
            {
                "epsilon": epsilon,
                "rate": rate,
                "v": v,
                "threshold": threshold,
                "epsilon_threshold": bill.epsilon_threshold,
                "epsilon_centroid": bill.epsilon_centroid,
                "delta_threshold": bill.delta_threshold,
                "delta_centroid": bill.delta_centroid,
                "delta_sensitivity": bill.delta_sensitivity,
                "delta_sensitivity_at_2r": synthesis.collision_probability(2.0, 2 / math.sqrt(PAPER_DIMS), PAPER_DIMS),
                "sensitivity_share": bill.delta_sensitivity / PAPER_DELTA,
                "noise_multiplier": bill.noise_multiplier,
                "published_multiplier": bill.published_multiplier,
                "noise_std": bill.noise_std(radius),
            }
        )
    return pd.DataFrame(rows)


def accountings(max_records: int = 1_000_000) -> pd.DataFrame:
    """Noise that each accounting needs at the paper's settings, for r = 1, and the epsilon of the paper's noise.

    Columns: epsilon, accounting, noise_std, share (of the paper's noise), epsilon_of_paper_noise (its own epsilon where
    the accounting is the paper's), assumption. The first four rows of an epsilon bound the distance in a bucket by
    2.4 r (with the paper's delta_sensitivity, whose gap the chapter shows), the last integrates over it.
    """
    import pandas as pd

    rows = []
    for epsilon, rate, v in PAPER_SETTINGS:
        threshold = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        bill = synthesis.calibrate(epsilon, PAPER_DELTA, rate, threshold, v, PAPER_RATIO, PAPER_DIMS)
        rest = PAPER_DELTA - bill.delta_sensitivity
        stages = (epsilon, rest, rate, threshold)
        grid = (rate, threshold, PAPER_DIMS, max_records)
        paper = bill.noise_multiplier
        needed = {
            "paper": paper * PAPER_RATIO,
            "lemma, best split": synthesis.lemma_noise_multiplier(*stages)[0] * PAPER_RATIO,
            "exact threshold": synthesis.composed_noise_multiplier(*stages)[0] * PAPER_RATIO,
            "joint": synthesis.joint_noise_multiplier(*stages) * PAPER_RATIO,
            "integrated": synthesis.release_noise_std(epsilon, PAPER_DELTA, *grid),
        }
        spent = {
            "paper": epsilon,
            "joint": synthesis.joint_epsilon(rest, paper, rate, threshold),
            "integrated": synthesis.release_epsilon(PAPER_DELTA, paper * PAPER_RATIO, *grid),
        }
        for accounting, noise_std in needed.items():
            rows.append(
                {
                    "epsilon": epsilon,
                    "accounting": accounting,
                    "noise_std": noise_std,
                    "share": noise_std / needed["paper"],
                    "saving": needed["paper"] / noise_std,
                    "epsilon_of_paper_noise": spent.get(accounting, epsilon),
                }
            )
    return pd.DataFrame(rows)


def lemma_grid(
    rates: Sequence[float], splits: Sequence[float], frequencies: Sequence[int] = (PAPER_FREQUENCY,)
) -> pd.DataFrame:
    """Lemma 1 over frequencies t, rates p_s and splits v, tau = ceil(p_s t)."""
    import pandas as pd

    rows = []
    for frequency in frequencies:
        for rate in rates:
            threshold = synthesis.threshold_count(rate, frequency)
            for v in splits:
                epsilon, delta = synthesis.lemma1(v, rate, threshold)
                rows.append(
                    {
                        "frequency": frequency,
                        "rate": rate,
                        "v": v,
                        "threshold": threshold,
                        "epsilon_threshold": epsilon,
                        "delta_threshold": delta,
                    }
                )
    return pd.DataFrame(rows)


def smallest_frequencies(epsilons: Sequence[float], delta: float = PAPER_DELTA) -> pd.DataFrame:
    """Least t at which some rate leaves delta unspent by the threshold, by the lemma (v <= 5, v free) and exactly."""
    import pandas as pd

    bills = {
        "lemma, v at most 5": partial(synthesis.lemma_delta, largest_v=5.0),
        "lemma, v free": synthesis.lemma_delta,
        "exact": synthesis.threshold_delta,
    }
    rates = [k / 100 for k in range(1, 100)]
    rows = [
        {
            "epsilon": epsilon,
            "accounting": accounting,
            "frequency": synthesis.least_frequency(bill, epsilon, delta, rates),
        }
        for epsilon in epsilons
        for accounting, bill in bills.items()
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Setting:
    """Public choices of a centroid experiment: r, t, delta, number of cells, seeds of the noise, norm R of the grid."""

    radius: float
    frequency: int
    delta: float
    cells: int
    seeds: tuple[int, ...]
    max_norm: float = field(default=1.0, kw_only=True)

    def anchored(self, auxiliary: np.ndarray) -> synthesis.AnchoredBuckets:
        """Cells of public anchors; residuals are cut to r, whatever the encoder's norms."""
        return synthesis.AnchoredBuckets(auxiliary, self.cells, self.radius)

    def grid(self, dims: int, dimension: int) -> synthesis.JLBuckets:
        """The paper's grid for vectors of `dimension`, cut to R."""
        return synthesis.JLBuckets(dims, self.radius, 1, dimension, self.max_norm)


def releases(auxiliary: np.ndarray, target: np.ndarray, setting: Setting, epsilon: float) -> Iterator[np.ndarray]:
    """One simulated anchored release a seed, denoised: yields its centroids, float[m, d].

    The rate is the public one with the least noise per kept record at (epsilon, delta, t).
    """
    buckets = setting.anchored(auxiliary)
    residuals = auxiliary - buckets.origins(buckets.assign(auxiliary))
    spectrum = synthesis.PublicSpectrum.fit(residuals)
    rate, threshold, _ = synthesis.best_rate(epsilon, setting.delta, setting.frequency)
    mechanism = synthesis.CentroidRelease(buckets, epsilon, setting.delta, rate, threshold)
    for seed in setting.seeds:
        released = mechanism.release(target, Simulation(seed))
        yield released.denoised(spectrum).centroids


def support_rows(
    auxiliary: np.ndarray,
    target: np.ndarray,
    setting: Setting,
    epsilon: float,
    neighbours: int,
    width: float = 0.05,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Distances from frequent and infrequent texts to the nearest denoised centroid, binned; and delta* by reach.

    A text is frequent here when at least `neighbours` others lie within r. First table: kind, distance (left end
    of a bin of `width`), share of texts (mean over seeds). Second: psi, reach, mean over (run, text), share of runs
    in which any infrequent text was reached, its exact 95 % upper bound, runs. Third: kind, texts, mean distance
    over texts and runs with the range of the runs' means.
    """
    import pandas as pd

    mask = measures.frequent(target, setting.radius, neighbours)
    released = list(releases(auxiliary, target, setting, epsilon))
    runs = np.array([measures.nearest_distances(target, outputs) for outputs in released])
    edges = np.arange(0, math.ceil(runs.max() / width) + 1) * width
    bins, distances = [], []
    for kind, part in (("frequent", runs[:, mask]), ("infrequent", runs[:, ~mask])):
        if not part.size:
            continue
        means = part.mean(axis=1)
        distances.append(
            {
                "kind": kind,
                "texts": part.shape[1],
                "mean": float(means.mean()),
                "low": float(means.min()),
                "high": float(means.max()),
            }
        )
        share = np.histogram(part, bins=edges)[0] / part.size
        bins += [
            {"kind": kind, "distance": round(float(left), 6), "share": float(height)}
            for left, height in zip(edges[:-1], share, strict=True)
        ]
    psis = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.5)
    protection = [
        {"psi": psi, "reach": found.reach, "mean": found.mean}
        | {"any_run": found.any_run, "upper": found.any_upper, "runs": found.runs}
        for psi, found in zip(
            psis, support_protection(target[~mask], released, [psi * setting.radius for psi in psis], 1), strict=True
        )
    ]
    return pd.DataFrame(bins), pd.DataFrame(protection), pd.DataFrame(distances)


def bucket_mechanisms(
    auxiliary: np.ndarray, setting: Setting, epsilon: float, dims: Sequence[int]
) -> list[tuple[str, int, synthesis.CentroidRelease]]:
    """The releases that `bucket_rows` counts: (buckets, k or 0 for anchored cells, mechanism)."""
    budget = (epsilon, setting.delta)
    rate, threshold, _ = synthesis.best_rate(*budget, setting.frequency)
    made = []
    for k in dims:
        grid = setting.grid(k, auxiliary.shape[1])
        made.append(("grid", k, synthesis.CentroidRelease(grid, *budget, rate, threshold)))
        made += [("grid, as published", k, older) for older in published(grid, *budget, setting.frequency)]
    return [*made, ("anchored", 0, synthesis.CentroidRelease(setting.anchored(auxiliary), *budget, rate, threshold))]


def bucket_rows(
    auxiliary: np.ndarray, target: np.ndarray, setting: Setting, epsilon: float, dims: Sequence[int]
) -> pd.DataFrame:
    """How many buckets are released at this size: the paper's grid at several k, and the anchored cells.

    Columns: buckets ("grid" at our rate, "grid, as published" where the paper's bill allows it, "anchored"), dims (0
    for anchored), rate, threshold, released (mean over seeds), kept_share (estimated share of the target in released
    buckets), noise_std of a sum's coordinate, sensitivity (how the distance is bounded), texts and frequent_texts
    (those with t others within r) of the target.
    """
    import pandas as pd

    frequent_texts = int(measures.frequent(target, setting.radius, setting.frequency).sum())
    rows = []
    for name, k, mechanism in bucket_mechanisms(auxiliary, setting, epsilon, dims):
        runs = [mechanism.release(target, Simulation(seed)) for seed in setting.seeds]
        rows.append(
            {
                "buckets": name,
                "dims": k,
                "rate": mechanism.rate,
                "threshold": mechanism.threshold,
                "released": float(np.mean([len(run) for run in runs])),
                "kept_share": float(np.mean([run.counts.sum() for run in runs])) / mechanism.rate / len(target),
                "noise_std": runs[0].noise_std,
                "sensitivity": bound_of(mechanism),
                "texts": len(target),
                "frequent_texts": frequent_texts,
            }
        )
    return pd.DataFrame(rows)
