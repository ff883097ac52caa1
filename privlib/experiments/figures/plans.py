"""Figures of the plans chapter, drawn from records only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

NAMES = {"gaussian": "Gaussian sketch", "laplace": "Laplace sketch", "private_topL": "private top-L admission"}
PANELS = (("mass_retained", "MassRetained"), ("loss", "Loss (support mass)"))


def draw_utility(record: Record, others: Sequence[Record] = ()) -> Figure:
    """MassRetained and Loss against epsilon, a row of panels a record; lines are means, bands 5 % to 95 % of the draws.

    `record`: made by the run at hand; `others`: recorded on other corpora, titled so. Each row has its own scale of
    loss, linear below one and logarithmic above.
    """
    import matplotlib.pyplot as plt

    shown = [record, *others]
    figure, grid = plt.subplots(len(shown), 2, figsize=(WIDTH, 0.8 + 2.6 * len(shown)), squeeze=False)
    for axes, made in zip(grid, shown, strict=True):
        for axis, (column, label) in zip(axes, PANELS, strict=True):
            _panel(axis, made, column)
            axis.set_title(label, fontsize=11)
            axis.set_xlabel("epsilon")
        axes[0].set_ylim(top=1.02)
        axes[1].set_yscale("symlog", linthresh=1.0)
        axes[1].yaxis.set_major_formatter("{x:g}")
        axes[1].set_ylim(bottom=0.0)
        titles = made.corpus if made is record else f"{made.corpus} (recorded, {made.profile})"
        axes[0].annotate(
            titles, (0, 1), (0, 22), xycoords="axes fraction", textcoords="offset points", weight="bold", fontsize=11
        )
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), columnspacing=1.2, handlelength=2.4)
    return figure


def _panel(axis, record: Record, column: str) -> None:
    for k, (name, rows) in enumerate(record.rows.groupby("mechanism", sort=False)):
        style = {"color": PALETTE[k], "marker": MARKERS[k], "linestyle": LINESTYLES[k]}
        axis.fill_between(
            rows.epsilon, rows[f"{column}_low"], rows[f"{column}_high"], color=PALETTE[k], alpha=0.18, lw=0
        )
        axis.plot(rows.epsilon, rows[column], label=NAMES.get(name, name), markersize=5, **style)
    epsilons = sorted(record.rows.epsilon.unique())
    axis.set_xscale("log", base=2)
    axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axis.minorticks_off()
