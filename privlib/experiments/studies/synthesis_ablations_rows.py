"""What the ablations' sweeps say: noise and buckets by edge, where F1 peaks, frequent against all texts, other r."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from privlib import synthesis
from privlib.dp import Simulation
from privlib.experiments.studies.synthesis import (
    PAPER_DELTA,
    PAPER_DIMS,
    PAPER_FREQUENCY,
    PAPER_RATIO,
    PAPER_SETTINGS,
)
from privlib.experiments.studies.synthesis_ablations import SCORES, Case, Setting, spread, sweep
from privlib.synthesis.centroids import distinct_tags

if TYPE_CHECKING:
    import pandas as pd

    from privlib.experiments.records import Record


def noise_rows(multipliers: Sequence[float], radius: float = 0.5) -> pd.DataFrame:
    """The paper's noise by edge multiplier at its settings (closed form), and what the integrated bill needs there.

    Columns: epsilon, bill ("published": Delta = 2.4 r x multiplier and its rounded multiplier; "integrated": at most
    1e6 records, fixed before the projection), multiplier, noise_std, noise_per_edge = noise_std / multiplier.
    """
    import pandas as pd

    rows = []
    for epsilon, rate, v in PAPER_SETTINGS:
        tau = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        paper = synthesis.calibrate(epsilon, PAPER_DELTA, rate, tau, v, PAPER_RATIO, PAPER_DIMS)
        ours = synthesis.release_noise_std(epsilon, PAPER_DELTA, rate, tau, PAPER_DIMS, 10**6)
        for scale in multipliers:
            for bill, noise in (("published", paper.noise_std(scale * radius)), ("integrated", ours * scale * radius)):
                row = {"epsilon": epsilon, "bill": bill, "multiplier": scale, "noise_std": noise}
                rows.append(row | {"noise_per_edge": noise / scale})
    return pd.DataFrame(rows)


def edge_rows(cases: Sequence[Case], setting: Setting, multipliers: Sequence[float]) -> pd.DataFrame:
    """What the edge does to buckets, nothing sampled and no noise; means over one grid a seed.

    Columns: encoder, multiplier, occupied and heavy (t members or more) buckets, members of an occupied one,
    pair_distance (root mean square over all pairs of texts that share a bucket, in units of r, 0 without any), and
    any_pair, the same over all pairs of texts; for occupied, members and pair_distance the difference to the next
    smaller edge (_more, 0 for the smallest).
    """
    import pandas as pd

    names = ["occupied", "members", "pair_distance", "heavy"]
    tables = []
    for case in cases:
        whole, _ = _pair_distance(case, np.zeros(len(case.target), dtype=np.int64))
        rows = []
        for scale in sorted(multipliers):
            runs = []
            for seed in setting.seeds:
                _, owners, counts = distinct_tags(case.buckets(setting.dims, scale, seed).assign(case.target))
                distance, sizes = _pair_distance(case, owners)
                runs.append((len(sizes), sizes.mean(), distance, np.sum(counts >= setting.frequency)))
            rows.append(np.mean(runs, axis=0))
        table = pd.DataFrame(rows, columns=names)
        more = table[names[:3]].diff().fillna(0.0).add_suffix("_more")
        table.insert(0, "encoder", case.encoder)
        table.insert(1, "multiplier", sorted(multipliers))
        tables.append(table.assign(any_pair=whole).join(more))
    return pd.concat(tables, ignore_index=True)


def _pair_distance(case: Case, owners: np.ndarray) -> tuple[float, np.ndarray]:
    """Root mean square distance, in units of r, of the pairs of rows with one owner; and the size of every group."""
    rows = case.target.astype(np.float64)
    sizes = np.bincount(owners)
    sums = csr_array((np.ones(len(rows)), (owners, np.arange(len(rows))))) @ rows
    # over the pairs of a group, sum |x - y|^2 = n sum |x|^2 - |sum x|^2
    squared = sizes @ np.bincount(owners, np.einsum("ij,ij->i", rows, rows)) - np.einsum("ij,ij->", sums, sums)
    pairs = float(np.sum(sizes * (sizes - 1)) / 2)
    return (math.sqrt(max(squared, 0.0) / pairs) / case.radius if pairs else 0.0), sizes


def best_rows(sweeps: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Where F1 is largest along each axis: axis, encoder, epsilon, bill, scored, best (the value), f1 there, and how
    far F1 rises to it from the smallest value of the axis and falls from it to the largest. A line that is 0 throughout
    peaks nowhere and has no row.
    """
    import pandas as pd

    rows = []
    for table in sweeps:
        axis = table["axis"].iloc[0]
        grid = ["encoder", "epsilon", "bill", "scored"]
        for keys, part in table.groupby(grid, sort=False):
            line = part.set_index(axis)["f1"].sort_index()
            top = float(line.max())
            if not top:
                continue
            rows.append(
                {"axis": axis} | dict(zip(grid, keys, strict=True)) | {"best": float(line.idxmax()), "f1": top}
                | {"rise": top - float(line.iloc[0]), "fall": top - float(line.iloc[-1])}
            )  # fmt: skip
    return pd.DataFrame(rows)


def short_rows(by_epsilon: pd.DataFrame) -> pd.DataFrame:
    """How far the scores at each epsilon stay below those without noise: encoder, scored, epsilon, and precision,
    recall and f1 with _short, 0 where they are not below.
    """
    import pandas as pd

    rows = []
    for (encoder, scored), part in by_epsilon.groupby(["encoder", "scored"], sort=False):
        free = part[np.isinf(part["epsilon"])].iloc[0]
        for _, here in part[np.isfinite(part["epsilon"])].iterrows():
            short = {f"{score}_short": max(0.0, float(free[score] - here[score])) for score in SCORES[:3]}
            rows.append({"encoder": encoder, "scored": scored, "epsilon": here["epsilon"]} | short)
    return pd.DataFrame(rows)


def reference_rows(cases: Sequence[Case], setting: Setting, by_epsilon: pd.DataFrame) -> pd.DataFrame:
    """Scores of outputs that are no release, beside those of the release without noise; columns as of `sweep`.

    Sources: "released, no noise"; "real texts", as many texts of the target itself as that release has buckets, drawn
    at random: no protection at all; "the origin", one zero vector: nothing private at all.
    """
    import pandas as pd

    rows = []
    for case in cases:
        free = by_epsilon[(by_epsilon["encoder"] == case.encoder) & np.isinf(by_epsilon["epsilon"])]
        outputs = math.ceil(free["released"].iloc[0])
        draws = [Simulation(seed).child("real texts").permutation(len(case.target))[:outputs] for seed in setting.seeds]
        sources = {
            "real texts": [case.target[drawn] for drawn in draws],
            "the origin": [np.zeros((1, case.target.shape[1]))],
        }
        scored = case.scored(setting.frequency)
        rows += free.assign(source="released, no noise").to_dict("records")
        for source, runs in sources.items():
            rows += list(spread({"encoder": case.encoder, "source": source}, runs, scored, case, setting))
    columns = ["encoder", "source", "scored", "precision_gain"]
    return pd.DataFrame(rows)[columns + [f"{score}{end}" for score in SCORES for end in ("", "_low", "_high")]]


def quantile_rows(
    cases: Sequence[Case],
    publics: Sequence[np.ndarray],
    setting: Setting,
    epsilon: float,
    bills: Sequence[str],
    quantiles: Sequence[float],
) -> pd.DataFrame:
    """What r declared at another quantile of nearest-neighbour distances would do, over the same runs at one epsilon.

    `publics`: the auxiliary vectors, float[m, d], that r is fitted on, one array a case; equal rows count once.
    Columns: encoder, quantile, bill, radius, noise_std, texts, frequent_texts, released, kept_share, empty, scored
    ("all", "frequent" where some text is), precision, recall and f1 with _low and _high, and origin_f1 of the origin
    alone: where alpha r passes every norm that is 1, and scores say nothing.
    """
    import pandas as pd

    from privlib.models import nearest_distances

    names = ["encoder", "bill", "radius", "noise_std", "texts", "frequent_texts", "released", "kept_share", "empty"]
    names += ["scored"] + [f"{score}{end}" for score in SCORES[:3] for end in ("", "_low", "_high")]
    tables = []
    for case, public in zip(cases, publics, strict=True):
        nearest = nearest_distances(np.unique(public, axis=0))
        for quantile in quantiles:
            here = replace(case, radius=float(np.quantile(nearest, quantile)))
            table = sweep("frequency", [here], setting, [epsilon], bills, [setting.frequency])
            alone = spread({}, [np.zeros((1, case.target.shape[1]))], here.scored(setting.frequency), here, setting)
            origin = {row["scored"]: row["f1"] for row in alone}
            table = table[names].assign(origin_f1=table["scored"].map(origin))
            table.insert(1, "quantile", quantile)
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def peaks_by_corpus(records: Sequence[Record]) -> pd.DataFrame:
    """Where F1 on all texts peaks, from records of `best_rows`: "value of the axis: F1" by corpus, encoder and axis.

    A column an epsilon, under "integrated" or "joint", and "no noise"; "" where F1 is 0 throughout or nothing was run.
    """
    rows = _by_corpus(records)
    rows = rows[(rows["scored"] == "all") & rows["bill"].isin(["integrated", "joint", "no noise"])]
    told = [f"{best:g}: {f1:.2f}" for best, f1 in zip(rows["best"], rows["f1"], strict=True)]
    return _by_epsilon(rows.assign(told=told), ["corpus", "encoder", "axis"], "told").fillna("")


def f1_by_corpus(records: Sequence[Record]) -> pd.DataFrame:
    """Mean F1, from records of a sweep of epsilon: by corpus, encoder and kind of text, a column an epsilon."""
    return _by_epsilon(_by_corpus(records), ["corpus", "encoder", "scored"], "f1")


def _by_corpus(records: Sequence[Record]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([made.rows.assign(corpus=made.corpus) for made in records], ignore_index=True)


def _by_epsilon(rows: pd.DataFrame, index: Sequence[str], values: str) -> pd.DataFrame:
    table = rows.pivot(index=list(index), columns="epsilon", values=values)
    order = rows[list(index)].drop_duplicates().sort_values(list(index[:2]), kind="stable")  # last one: as recorded
    names = {epsilon: f"ε = {epsilon:g}" for epsilon in table.columns} | {math.inf: "no noise"}
    return table.reindex(list(map(tuple, order.to_numpy()))).rename(columns=names).rename_axis(columns=None)
