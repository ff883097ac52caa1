"""Utility against epsilon, drawn from a record alone: the grid by its bills, and cells of public anchors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

MEASURES = {"f1": "F1", "precision": "precision", "recall": "recall", "l2": "L2 to nearest output"}
GRID = {
    "paper": "the paper's bill",
    "best v": "best v, Lemma 1",
    "exact count": "exact count",
    "joint": "joint",
    "integrated": "integrated",
    "integrated, denoised": "integrated, denoised",
    "central": "a curator, same grid",
}
ANCHORED = {
    "anchored": "anchored",
    "anchored, denoised": "anchored, denoised",
    "released anchors": "anchors of released cells",
    "central, anchored": "a curator, same cells",
    "public anchors": "public only: all anchors",
    "no privacy": "no privacy: cell means",
}
OURS, PUBLIC, PAPER = "anchored, denoised", "public anchors", "paper"
BESIDE = (OURS, "released anchors", PUBLIC, "central, anchored")
_FIXED = ("public anchors", "no privacy")


def cases(record: Record) -> list[str]:
    """Targets with their auxiliary texts, in the order of the record."""
    return list(dict.fromkeys(record.rows["case"]))


def chosen(record: Record, case: str) -> pd.DataFrame:
    """Rows of one case: on the frequent texts where it has them, else on all texts."""
    rows = record.rows[record.rows["case"] == case]
    return rows[rows["scored"] == ("frequent" if "frequent" in set(rows["scored"]) else "all")]


def beside_public_text(records: Sequence[Record], measure: str = "f1") -> pd.DataFrame:
    """Every case of every record, one row each: what a release adds to public text, and what the paper's gives.

    Columns: run (first corpus and profile of the record), case, own_half (are the anchors of the same corpus), scored,
    epsilon (the least of the record), the methods of BESIDE there, largest_epsilon, ours_largest and paper_largest
    there, and above_from, the least epsilon from which on the release is above all public anchors. NaN: nothing was
    released, or no bill allows it; in above_from: at none.
    """
    import pandas as pd

    found = []
    for record in records:
        for case in cases(record):
            rows = chosen(record, case)
            values = rows.pivot(index="epsilon", columns="method", values=measure).sort_index()
            values = values.reindex(columns=[*BESIDE, PAPER])
            below = values.index[~(values[OURS] > values[PUBLIC])]
            above = values.index[values.index > (below.max() if len(below) else 0)]
            found.append(
                {"run": f"{record.corpus}, {record.profile}", "case": case, "own_half": case.endswith("its other half")}
                | {"scored": rows["scored"].iloc[0], "epsilon": values.index[0]}
                | {method: values[method].iloc[0] for method in BESIDE}
                | {"largest_epsilon": values.index[-1], "ours_largest": values[OURS].iloc[-1]}
                | {"paper_largest": values[PAPER].iloc[-1], "above_from": above.min()}
            )
    return pd.DataFrame(found)


def draw_utility(record: Record, methods: dict[str, str], case: str) -> Figure:
    """F1, precision, recall and L2 against epsilon, one panel a measure; bars span the seeds.

    On the frequent texts where the case has them, else on all texts; the title says which.
    """
    import matplotlib.pyplot as plt

    rows = chosen(record, case)
    scored = rows["scored"].iloc[0]
    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 6.4), sharex=True)
    for panel, (measure, name) in zip(panels.flat, MEASURES.items(), strict=True):
        for index, (method, label) in enumerate(methods.items()):
            part = rows[rows["method"] == method].sort_values("epsilon")
            reach = [part[measure] - part[f"{measure}_low"], part[f"{measure}_high"] - part[measure]]
            panel.errorbar(
                part["epsilon"], part[measure], yerr=None if method in _FIXED else reach,
                color="#666666" if method == "no privacy" else PALETTE[index],
                marker="" if method in _FIXED else MARKERS[index], linestyle=LINESTYLES[index], label=label,
            )  # fmt: skip
        panel.set_xscale("log", base=2)
        ticks = sorted(set(rows["epsilon"]))
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.set_title(name)
        # vectors of norm R are no farther apart than 2 R; noisier centroids leave the panel
        panel.set_ylim(*((0, 2 * record.parameters.get("max_norm", 1.0)) if measure == "l2" else (-0.03, 1.03)))
    for panel in panels[1]:
        panel.set_xlabel("ε")
    figure.suptitle(f"{case}\nscored on {scored} texts", fontsize=11)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
