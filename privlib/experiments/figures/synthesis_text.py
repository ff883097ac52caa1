"""Figures of the texts made of centroids, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

KINDS = ("exact", "released")


def draw_nearness(record: Record) -> Figure:
    """Cosine to the inverted centroid, and perplexity over that of real texts, by method and kind of centroid."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True)
    methods = list(dict.fromkeys(record.rows["method"]))
    for axes, column in ((left, "cosine"), (right, "ratio")):
        for index, kind in enumerate(KINDS):
            rows = record.rows[record.rows["kind"] == kind]
            _points(axes, rows, [methods.index(method) for method in rows["method"]], column, index, kind)
    right.axvline(2.0, color="black", linestyle=":")
    right.set_xscale("log")
    left.set_xlim(0, 1)
    left.set_xlabel("cosine to the centroid")
    right.set_xlabel("perplexity / real texts'")
    left.set_yticks(range(len(methods)), [method.replace(", ", ",\n") for method in methods])
    left.invert_yaxis()
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_tradeoff(record: Record) -> Figure:
    """Cosine against likelihood, a point a fluency weight."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, 3.4))
    rows = record.rows.sort_values("fluency")
    axes.plot(rows["nll"], rows["cosine"], color=PALETTE[0], marker=MARKERS[0])
    for row in rows.itertuples():
        axes.annotate(f"{row.fluency:g}", (row.nll, row.cosine), xytext=(6, 5), textcoords="offset points")
    axes.axvline(rows["real_nll"].iloc[0], color="black", linestyle=LINESTYLES[1], label="real texts (median)")
    axes.axvline(rows["real_nll"].iloc[0] + np.log(2), color="black", linestyle=":", label="twice their perplexity")
    axes.set_xlabel("negative log-likelihood, nats a token")
    axes.set_ylabel("cosine to the centroid")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_levels(record: Record) -> Figure:
    """Precision, recall and F1 against all protected texts by level, from all centroids to the texts of a few."""
    import matplotlib.pyplot as plt

    rows = record.rows[record.rows["scored"] == "all"]
    levels = list(dict.fromkeys(rows["level"]))
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 3.6), sharey=True)
    for axes, score in zip(panels, ("precision", "recall", "f1"), strict=True):
        for index, kind in enumerate(KINDS):
            part = rows[rows["kind"] == kind]
            _points(axes, part, [levels.index(level) for level in part["level"]], score, index, kind)
        axes.set_xlim(-0.05, 1.05)
        axes.set_xlabel("F1" if score == "f1" else score)
    panels[0].set_yticks(range(len(levels)), [level.replace(": ", ":\n").replace(", ", ",\n") for level in levels])
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_learnt(record: Record) -> Figure:
    """Accuracy on held-out texts by source and by how it was learnt."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, 4.2))
    sources = list(dict.fromkeys(record.rows["source"]))
    methods = list(dict.fromkeys(record.rows["method"]))
    for index, method in enumerate(methods):
        rows = record.rows[record.rows["method"] == method]
        places = [sources.index(source) for source in rows["source"]]
        _points(axes, rows, places, "accuracy", index, method, spread=0.13, among=len(methods))
    axes.axvline(record.rows["prior"].iloc[0], color="black", linestyle=":")
    axes.set_yticks(range(len(sources)), [source.replace(", ", ",\n") for source in sources])
    axes.invert_yaxis()
    axes.set_xlabel("accuracy on held-out texts")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _points(axes, rows, places, column: str, index: int, label: str, spread: float = 0.2, among: int = 2) -> None:
    values, low, high = (rows[f"{column}{end}"].to_numpy() for end in ("", "_low", "_high"))
    axes.errorbar(
        values,
        np.array(places) + spread * (index - (among - 1) / 2),
        xerr=np.maximum([values - low, high - values], 0),
        color=PALETTE[index],
        marker=MARKERS[index],
        linestyle="none",
        label=label,
    )
