"""Figures of support protection, drawn from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.style import HATCHES, LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

FLOOR = 1e-5  # of the axis: what some runs cannot show anyway
SHOWN = ("centroids, denoised", "texts of them", "Aug-PE", "the paper's grid", "the paper's grid, denoised")


def draw_distances(record: Record) -> Figure:
    """Histograms of the distance to the nearest output, frequent against infrequent texts, a panel a method."""
    import matplotlib.pyplot as plt

    methods = [method for method in SHOWN if (record.rows["method"] == method).any()]
    figure, panels = plt.subplots(len(methods), 1, figsize=(WIDTH, 2.0 * len(methods)), sharex=True, squeeze=False)
    for axes, method in zip(panels[:, 0], methods, strict=True):
        _histograms(axes, record, method)
        axes.set_title(method, loc="left", fontsize=11)
        axes.set_ylabel("share")
    panels[-1, 0].set_xlabel("distance to the nearest output")
    panels[-1, 0].set_xlim(0, _farthest(record))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_distances_elsewhere(records: Sequence[Record]) -> Figure:
    """The same for records of several corpora: a row a corpus, a column a method without a grid."""
    import matplotlib.pyplot as plt

    methods = SHOWN[:3]
    figure, panels = plt.subplots(len(records), 3, figsize=(WIDTH, 1.8 * len(records)), sharey="row", squeeze=False)
    for row, record in zip(panels, records, strict=True):
        for axes, method in zip(row, methods, strict=True):
            _histograms(axes, record, method)
            axes.set_xlim(0, _farthest(record))
        row[0].set_ylabel(record.corpus)
    for axes, method in zip(panels[0], methods, strict=True):
        axes.set_title(method, loc="left", fontsize=10)
    panels[-1, 1].set_xlabel("distance to the nearest output")
    most = max(panels.ravel(), key=lambda axes: len(axes.get_legend_handles_labels()[1]))
    figure.legend(*most.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _histograms(axes: Axes, record: Record, method: str) -> None:
    for index, kind in enumerate(("frequent", "infrequent")):
        rows = record.rows[(record.rows["method"] == method) & (record.rows["kind"] == kind)]
        if rows.empty:
            continue  # a small corpus may hold no frequent text
        color = PALETTE[(0, 4)[index]]
        look = {"color": color, "alpha": 0.55, "hatch": HATCHES[index], "edgecolor": color, "linewidth": 0.8}
        axes.bar(rows["distance"], rows["share"], width=0.05, align="edge", label=f"{kind} texts", **look)
    axes.axvline(float(record.parameters["radius"]), color="black", linestyle=":", label="r")


def _farthest(record: Record) -> float:
    """Where the axis of distances ends: no further than two vectors can lie apart."""
    seen = float(record.rows[record.rows["share"] > 0]["distance"].max())
    return min(2 * record.parameters.get("max_norm", 1.0), seen + 0.1)


def draw_protection(record: Record, bounds: Record) -> Figure:
    """delta* by reach on a log axis, a line a method with its interval, at the least and the largest t; below what is
    proved."""
    import matplotlib.pyplot as plt

    frequencies = sorted({record.rows["frequency"].min(), record.rows["frequency"].max()})
    figure, panels = plt.subplots(len(frequencies) + 1, 1, figsize=(WIDTH, 3.0 * len(frequencies) + 2.6), sharex=True)
    methods = list(dict.fromkeys(record.rows["method"]))
    for axes, frequency in zip(panels, frequencies, strict=False):
        for index, method in enumerate(methods):
            rows = record.rows[(record.rows["frequency"] == frequency) & (record.rows["method"] == method)]
            seen = rows[rows["mean"] > 0]
            look = {"color": PALETTE[index], "marker": MARKERS[index]}
            axes.plot(seen["psi"], seen["mean"], linestyle=LINESTYLES[index], label=method, **look)
            axes.fill_between(
                seen["psi"], np.maximum(seen["mean_low"], FLOOR), seen["mean_high"], color=PALETTE[index], alpha=0.15
            )
        axes.set_yscale("log")
        axes.set_ylim(FLOOR, 1.5)
        axes.set_ylabel("δ*, mean over texts")
        axes.set_title(f"texts with fewer than {frequency} others within r", loc="left", fontsize=11)
    rows = bounds.rows
    panels[-1].plot(rows["psi"], rows["log10_bound"], color="black", marker=MARKERS[0], label="worst text")
    panels[-1].plot(rows["psi"], rows["log10_mean"], color=PALETTE[0], marker=MARKERS[1], linestyle="--", label="mean")
    panels[-1].set_ylabel("log10 of the proved bound")
    panels[-1].set_title("undenoised centroids: proved, not counted", loc="left", fontsize=11)
    panels[-1].legend(loc="lower right", ncols=2)
    panels[-1].set_xlabel("reach ψ, in units of r")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=3)
    return figure


def draw_neighbours(*records: Record) -> Figure:
    """Mean distance to the nearest output by number of neighbours, a line a method, a panel a record."""
    import matplotlib.pyplot as plt

    columns = min(2, len(records))
    rows = -(-len(records) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(WIDTH, 3.8 if rows == 1 else 2.9 * rows), squeeze=False)
    for axes in panels.ravel()[len(records) :]:
        axes.remove()
    methods = [method for method in SHOWN if any((record.rows["method"] == method).any() for record in records)]
    for axes, record in zip(panels.ravel(), records, strict=False):
        for index, method in enumerate(methods):
            part = record.rows[record.rows["method"] == method]
            axes.errorbar(
                part["neighbours"] + 1,
                part["distance"],
                yerr=np.maximum([part["distance"] - part["distance_low"], part["distance_high"] - part["distance"]], 0),
                color=PALETTE[index],
                marker=MARKERS[index],
                linestyle=LINESTYLES[index],
                label=method,
            )
        least = sorted(set(record.rows["neighbours"]))
        axes.set_xscale("log")
        axes.set_xticks([count + 1 for count in least], [f"{count:g}" for count in least])
        axes.minorticks_off()
        if len(records) > 1:
            axes.set_title(record.corpus, loc="left", fontsize=11)
    for axes in panels[-1]:
        axes.set_xlabel("other texts within r, at least")
    for axes in panels[:, 0]:
        axes.set_ylabel("distance to nearest output")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, handlelength=3)
    return figure


def draw_utility(record: Record) -> Figure:
    """F1 and L2 by epsilon, ours and Aug-PE's, with the two references as lines."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.4))
    methods = list(dict.fromkeys(record.rows["method"]))
    for axes, score in zip(panels, ("f1", "l2"), strict=True):
        _by_epsilon(axes, record.rows, methods, score)
        axes.set_title({"f1": "F1", "l2": "L2, smaller is nearer"}[score], loc="left", fontsize=11)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=3)
    return figure


def draw_heavy(record: Record) -> Figure:
    """Recall and precision of heavy cells by epsilon, a line a mechanism."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True)
    methods = list(dict.fromkeys(record.rows["method"]))
    for axes, score in zip(panels, ("recall", "precision"), strict=True):
        _by_epsilon(axes, record.rows[record.rows["score"] == score], methods, "value")
        axes.set_title(f"{score} of heavy cells", loc="left", fontsize=11)
    panels[0].set_ylim(-0.03, 1.05)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=3)
    return figure


def _by_epsilon(axes: Axes, table: pd.DataFrame, methods: Sequence[str], column: str) -> None:
    """`column` against epsilon, a line a method, bars from its low to its high."""
    for index, method in enumerate(methods):
        rows = table[table["method"] == method]
        axes.errorbar(
            rows["epsilon"],
            rows[column],
            yerr=np.maximum([rows[column] - rows[f"{column}_low"], rows[f"{column}_high"] - rows[column]], 0),
            color=PALETTE[index],
            marker=MARKERS[index],
            linestyle=LINESTYLES[index],
            label=method,
        )
    epsilons = sorted(set(table["epsilon"]))
    axes.set_xscale("log", base=2)
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.set_xlabel("ε")
