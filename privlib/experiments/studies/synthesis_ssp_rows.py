"""Tables of support protection: distances, delta* by reach, neighbours, probes, gaps to a curator, heavy cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import Simulation
from privlib.evaluation import embedding as measures
from privlib.evaluation import support
from privlib.experiments.studies.synthesis_ssp import (
    AUG_PE,
    CENTRAL,
    DENOISED,
    GRID,
    GRID_DENOISED,
    LOCAL,
    OUE,
    PLAIN,
    TEXTS,
    Case,
    Methods,
    Setting,
)
from privlib.experiments.studies.synthesis_text_scores import student

if TYPE_CHECKING:
    import pandas as pd

Runs = Mapping[str, Sequence[np.ndarray]]
SAME, UNRELATED, MEAN = "same corpus", "unrelated corpus", "mean of public texts"
COMPARED = (PLAIN, DENOISED, TEXTS, AUG_PE, GRID, GRID_DENOISED)  # what the figures of distances show
PSIS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
BOUND_PSIS = (0.5, 0.8, 1.0, 1.2, 1.5)  # each costs as much as all the counting of a run
SLOW_RUNS = 3  # of noise on every embedding, a draw a record
DISTANCE_BANDS = {"share": ("abs", 0.1)}
PROTECTION_BANDS = {name: ("abs", 0.2) for name in ("mean", "mean_low", "mean_high", "mean_upper")}
PROTECTION_BANDS |= {name: ("abs", 1.0) for name in ("any_run", "any_upper", "worst", "worst_low", "worst_high")}
PROTECTION_BANDS |= {"texts": ("rel", 0.05)}
BOUND_BANDS = {"log10_bound": ("abs", 20.0), "log10_mean": ("abs", 20.0)}
NEIGHBOUR_BANDS = {
    "distance": ("abs", 0.1),
    "distance_low": ("abs", 0.1),
    "distance_high": ("abs", 0.1),
    "texts": ("rel", 0.1),
}
PROBE_BANDS = {name: ("abs", 0.15) for name in ("distance", "distance_low", "distance_high", "closest")}
PROBE_BANDS |= {"reached": ("abs", 0.3), "upper": ("abs", 0.5), "texts": ("rel", 0.05)}
UTILITY_BANDS = {
    f"{score}{end}": ("abs", 0.1) for score in ("precision", "recall", "f1", "l2") for end in ("", "_low", "_high")
}
UTILITY_BANDS |= {"outputs": ("abs", 5.0)}
FREQUENT_BANDS = UTILITY_BANDS | {"texts": ("rel", 0.1)}
GAP_BANDS = {name: ("abs", 0.1) for name in ("ours", "curator", "gap")}
GAP_BANDS |= {f"{who}_{score}": ("abs", 0.1) for who in ("ours", "curator") for score in ("precision", "recall")}
GAP_BANDS |= {name: ("abs", 0.2) for name in ("gap_low", "gap_high")}
HEAVY_BANDS = {name: ("abs", 0.25) for name in ("value", "value_low", "value_high")}


def counts(case: Case, setting: Setting) -> np.ndarray:
    """Other protected texts, probes included, within r of each: int[n]."""
    return measures.neighbour_counts(case.private, setting.radius)


def distances(case: Case, runs: Runs, near: np.ndarray, frequency: int, width: float = 0.05) -> pd.DataFrame:
    """Share of texts by distance to the nearest output, by `COMPARED` method and kind, over all runs.

    One row a (method, kind, left end of a bin); frequent: at least `frequency` others within r.
    """
    import pandas as pd

    rows = []
    for method in (method for method in COMPARED if method in runs):
        found = np.array([measures.nearest_distances(case.private, made) for made in runs[method] if len(made)])
        if not len(found):
            continue
        edges = np.arange(0, math.ceil(found.max() / width) + 1) * width
        for kind, mask in (("frequent", near >= frequency), ("infrequent", near < frequency)):
            if mask.any():
                share = np.histogram(found[:, mask], bins=edges)[0] / found[:, mask].size
                rows += [
                    {"method": method, "kind": kind, "distance": round(float(left), 6), "share": float(height)}
                    for left, height in zip(edges[:-1], share, strict=True)
                ]
    return pd.DataFrame(rows)


def protection(
    case: Case, runs: Runs, near: np.ndarray, setting: Setting, frequencies: Sequence[int], picking: int
) -> pd.DataFrame:
    """delta* by method, t and psi: `support_protection`'s mean with its interval and bound, worst text, any text."""
    import pandas as pd

    rows = []
    for method, made in runs.items():
        for frequency in frequencies:
            infrequent = case.private[near < frequency]
            for psi, found in zip(
                PSIS,
                support.support_protection(
                    infrequent, made, [psi * setting.radius for psi in PSIS], min(picking, len(made) - 1)
                ),
                strict=True,
            ):
                row = {"method": method, "frequency": frequency, "psi": psi, "runs": found.runs, "texts": found.texts}
                row |= {"mean": found.mean, "mean_low": found.low, "mean_high": found.high}
                row |= {"mean_upper": found.mean_upper, "any_run": found.any_run, "any_upper": found.any_upper}
                rows.append(row | {"worst": found.worst, "worst_low": found.worst_low, "worst_high": found.worst_high})
    return pd.DataFrame(rows)


def bounds(methods: Methods, near: np.ndarray, frequency: int, runs: int) -> pd.DataFrame:
    """What counting cannot show: log10 of the proved bound of delta* for undenoised centroids, by psi.

    log10_bound: of the worst infrequent text, log10_mean: of the mean over them; each averaged over `runs` samplings
    before the logarithm is taken. 0 means that nothing is proved.
    """
    import pandas as pd

    texts = methods.case.private[near < frequency]
    kept = [methods.exact_means(seed) for seed in methods.setting.seeds[:runs]]
    rows = []
    for psi in BOUND_PSIS:
        reach = psi * methods.setting.radius
        chances = np.mean([support.near_chance(texts, means, stds, reach) for means, stds in kept], axis=0)
        rows.append({"psi": psi, "reach": reach, "runs": len(kept), "log10_bound": math.log10(chances.max()),
                     "log10_mean": math.log10(chances.mean())})  # fmt: skip
    return pd.DataFrame(rows)


def neighbours(case: Case, runs: Runs, near: np.ndarray, edges: Sequence[int]) -> pd.DataFrame:
    """Mean distance to the nearest output by number of neighbours within r, with Student's interval over runs."""
    import pandas as pd

    rows = []
    for method in COMPARED:
        groups = [
            support.distance_by_neighbours(near, measures.nearest_distances(case.private, made), edges)
            for made in runs.get(method, ())
            if len(made)
        ]
        for same in zip(*groups, strict=True):
            mean, low, high = student([group.mean_distance for group in same])
            rows.append({"method": method, "neighbours": same[0].low, "texts": same[0].texts, "distance": mean,
                         "distance_low": low, "distance_high": high})  # fmt: skip
    return pd.DataFrame(rows)


def probes(case: Case, runs: Runs, near: np.ndarray, setting: Setting, frequency: int) -> pd.DataFrame:
    """Planted probes beside the protected texts' own frequent and infrequent ones, by method.

    distance: mean over texts and runs to the nearest output, with Student's interval over runs; closest: the least of
    all; reached: share of (run, text) within r, upper: its bound over runs.
    """
    import pandas as pd

    kinds = {
        "probe": case.probe,
        "infrequent": ~case.probe & (near < frequency),
        "frequent": ~case.probe & (near >= frequency),
    }
    rows = []
    for method, made in runs.items():
        found = np.array([measures.nearest_distances(case.private, outputs) for outputs in made if len(outputs)])
        if not len(found):
            continue
        for kind, mask in kinds.items():
            if not mask.any():
                continue
            part = found[:, mask]
            mean, low, high = student(part.mean(axis=1))
            reached = float((part <= setting.radius).mean())
            rows.append({"method": method, "kind": kind, "texts": int(mask.sum()), "runs": len(part), "distance": mean,
                         "distance_low": low, "distance_high": high, "closest": float(part.min()), "reached": reached,
                         "upper": support.mean_upper(reached, len(part))})  # fmt: skip
    return pd.DataFrame(rows)


def utilities(
    by_epsilon: Mapping[float, Methods], runs: int, outputs: int, frequent: np.ndarray | None = None
) -> pd.DataFrame:
    """F1, precision, recall and L2 by epsilon, ours and Aug-PE's, against all protected texts (probes aside).

    One row a (epsilon, method, scored), mean over `runs` seeds with Student's interval; none where some run released
    nothing. The paper's grid, as released and denoised, stands beside ours where there is one. Beside them, the same at
    every epsilon, the paper's references for as many as `outputs` (or half of the texts, where that is less): texts of
    the corpus itself, and the unrelated probes' corpus; and one of ours, a single point, the mean of the public texts.
    scored: "all" of the `texts`, as in the paper's Table 16; with `frequent`, a mask over the rows of the case, also
    the "frequent" ones alone, as in its Table 1, where there are two or more.
    """
    import pandas as pd

    rows = []
    for epsilon, methods in by_epsilon.items():
        case, setting = methods.case, methods.setting
        groups = {"all": case.private[~case.probe]}
        if frequent is not None and (frequent & ~case.probe).sum() > 1:
            groups["frequent"] = case.private[frequent & ~case.probe]
        ours = (DENOISED, TEXTS, AUG_PE, GRID, GRID_DENOISED) if methods.grid else (DENOISED, TEXTS, AUG_PE)
        scored: dict[tuple[str, str], list[measures.Utility]] = {
            (name, kind): [] for kind in groups for name in (*ours, SAME, UNRELATED, MEAN)
        }
        for seed in setting.seeds[:runs]:
            found, noise = methods.outputs(seed, local=False), Simulation(seed)
            few, strange = min(outputs, int(case.probe.sum())), case.private[case.probe]
            for kind, texts in groups.items():
                for name in ours:
                    if len(found[name]):
                        scored[name, kind].append(measures.utility(found[name], texts, setting.radius))
                own, other = min(outputs, len(texts) // 2), noise.child(UNRELATED)
                scored[SAME, kind].append(measures.same_corpus_reference(texts, own, setting.radius, noise.child(SAME)))
                scored[UNRELATED, kind].append(measures.unrelated_reference(strange, texts, few, setting.radius, other))
                scored[MEAN, kind].append(measures.utility(case.public.mean(axis=0)[None], texts, setting.radius))
        for (name, kind), made in scored.items():
            if len(made) < min(runs, len(setting.seeds)):
                continue
            row = {
                "epsilon": epsilon,
                "method": name,
                "scored": kind,
                "texts": len(groups[kind]),
                "runs": len(made),
                "outputs": float(np.mean([u.outputs for u in made])),
            }
            for score in ("precision", "recall", "f1", "l2"):
                row |= dict(zip((score, f"{score}_low", f"{score}_high"),
                                student([getattr(one, score) for one in made]), strict=True))  # fmt: skip
            rows.append(row)
    return pd.DataFrame(rows)


def against_all(utilities: pd.DataFrame) -> pd.DataFrame:
    """The rows of `utilities` against all protected texts."""
    return utilities[utilities["scored"] == "all"].drop(columns=["scored", "texts"])


def curator_gaps(by_epsilon: Mapping[float, Methods], runs: int) -> pd.DataFrame:
    """What it costs to do without a trusted curator, by epsilon: its F1 less ours, with both's precision and recall.

    The paper's Table 9, of vectors and of near public texts in place of inverted ones.
    One row a (epsilon, outputs): centroids as released, and the public texts nearest to them, scored against all
    protected texts (probes aside); means over `runs` seeds, gap with Student's interval. No row where some run released
    nothing.
    """
    import pandas as pd

    rows = []
    for epsilon, methods in by_epsilon.items():
        setting, texts = methods.setting, methods.case.private[~methods.case.probe]
        pairs = [[methods.released(name, seed).centroids for name in (PLAIN, CENTRAL)] for seed in setting.seeds[:runs]]
        if not all(len(outputs) for pair in pairs for outputs in pair):
            continue
        for name, of in ((PLAIN, np.asarray), (TEXTS, methods.nearest_texts)):
            made = [[measures.utility(of(outputs), texts, setting.radius) for outputs in pair] for pair in pairs]
            ours, curator = np.array([[one.f1 for one in pair] for pair in made]).T
            gap, low, high = student(curator - ours)
            row = {"epsilon": epsilon, "outputs": name, "runs": len(pairs), "ours": float(ours.mean()),
                   "curator": float(curator.mean()), "gap": gap, "gap_low": low, "gap_high": high}  # fmt: skip
            for score in ("precision", "recall"):
                means = np.mean([[getattr(one, score) for one in pair] for pair in made], axis=0)
                row |= {f"ours_{score}": float(means[0]), f"curator_{score}": float(means[1])}
            rows.append(row)
    return pd.DataFrame(rows)


def heavy(by_epsilon: Mapping[float, Methods]) -> pd.DataFrame:
    """Precision and recall of the cells that t of all records share, by epsilon and mechanism (the paper's Table 8).

    One row a (epsilon, method, score); precision is left out of a method that named nothing in some run, and of noise
    on every embedding there are `SLOW_RUNS` runs.
    """
    import pandas as pd

    rows = []
    for epsilon, methods in by_epsilon.items():
        setting = methods.setting
        cells = methods.ours.buckets.assign(methods.case.private)
        for method in (PLAIN, CENTRAL, OUE, LOCAL, GRID) if methods.grid else (PLAIN, CENTRAL, OUE, LOCAL):
            tags = methods.grid.buckets.assign(methods.case.private) if method == GRID else cells
            found = []
            for seed in setting.seeds[: SLOW_RUNS if method == LOCAL else setting.local_runs]:
                named = methods.released(method, seed).cells
                found.append(measures.heavy_buckets(named, tags, setting.frequency))
            scores = {"recall": [one.recall for one in found]}
            if all(one.found for one in found):
                scores["precision"] = [one.precision for one in found]
            for score, values in scores.items():
                mean, low, high = student(values)
                rows.append({"epsilon": epsilon, "method": method, "score": score, "runs": len(values),
                             "heavy": found[0].heavy, "value": mean, "value_low": low, "value_high": high})  # fmt: skip
    return pd.DataFrame(rows)
