"""Figures of the plans chapter, drawn from records only: panels of curves, a row of panels a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

NAMES = {"gaussian": "Gaussian sketch", "laplace": "Laplace sketch", "private_topL": "private top-L admission"}
PANELS = {"mass_retained": "MassRetained", "overlap": "Overlap@L", "loss": "Loss (mass)"}


def draw_utility(record: Record, others: Sequence[Record] = ()) -> Figure:
    """MassRetained, Overlap and Loss against epsilon, a row of panels a corpus; lines are means, bands 5 % to 95 %.

    `record`: made by the run at hand; `others`: recorded on other corpora, titled so. Each row has its own scale of
    loss, linear below one and logarithmic above.
    """
    parts = titled(record, others)
    figure, grid = corpus_rows(list(parts), list(PANELS.values()))
    for axes, rows in zip(grid, parts.values(), strict=True):
        for axis, column in zip(axes, PANELS, strict=True):
            curves(axis, rows, "epsilon", column, "mechanism", NAMES)
            budgets(axis, rows.epsilon)
        for axis in axes[:2]:
            axis.set_ylim(top=1.03)
        axes[2].set_yscale("symlog", linthresh=1.0)
        axes[2].yaxis.set_major_formatter("{x:g}")
        axes[2].set_ylim(bottom=0.0)
    shared_legend(figure, grid[0][0])
    return figure


def by_corpus(record: Record) -> list[tuple[str, pandas.DataFrame]]:
    """The rows of each corpus of a record, in its order; all of them where it has no such column."""
    if "corpus" not in record.rows:
        return [(record.corpus, record.rows)]
    return list(record.rows.groupby("corpus", sort=False))


def titled(record: Record, others: Sequence[Record]) -> dict[str, pandas.DataFrame]:
    """The rows of each corpus by its title: those of `record`, then corpora that only `others` hold, said so."""
    parts = {name: rows for name, rows in by_corpus(record)}
    for made in others:
        parts |= {f"{name} (recorded, {made.profile})": rows for name, rows in by_corpus(made) if name not in parts}
    return parts


def corpus_rows(titles: Sequence[str], panels: Sequence[str], height: float = 2.3):
    """A figure of one row of named panels a title, the title above its first panel; (figure, array of axes)."""
    import matplotlib.pyplot as plt

    shape = (len(titles), len(panels))
    figure, grid = plt.subplots(*shape, figsize=(WIDTH, 0.8 + height * len(titles)), squeeze=False)
    for axes, title in zip(grid, titles, strict=True):
        for axis, panel in zip(axes, panels, strict=True):
            axis.set_title(f"\n{panel}", fontsize=11)  # the line above is for the title of the row
        named = axes[0].annotate(
            title, (0, 1), (0, 22), xycoords="axes fraction", textcoords="offset points", weight="bold", fontsize=11
        )
        named.set_in_layout(False)  # a long title would squeeze the first column
    return figure, grid


def curves(
    axis: Axes,
    rows: pandas.DataFrame,
    x: str,
    column: str,
    by: str,
    names: Mapping[object, str] | None = None,
    order: Sequence[object] | None = None,
) -> None:
    """A line of means a value of `by`, with the band from `column`_low to `column`_high where the rows have them.

    `order`: all values that the figure tells apart, so that one keeps its colour where another is missing.
    """
    order = list(dict.fromkeys(rows[by])) if order is None else list(order)
    for value, part in rows.groupby(by, sort=False):
        k = order.index(value)
        if f"{column}_low" in part:
            low, high = part[f"{column}_low"], part[f"{column}_high"]
            axis.fill_between(part[x], low, high, color=PALETTE[k], alpha=0.18, lw=0)
        style = {"color": PALETTE[k], "marker": MARKERS[k], "linestyle": LINESTYLES[k]}
        axis.plot(part[x], part[column], label=(names or {}).get(value, str(value)), markersize=5, **style)


def budgets(axis: Axes, epsilons: pandas.Series) -> None:
    """Epsilon on a binary logarithmic axis, every other budget labelled."""
    shown = sorted(epsilons.unique())
    axis.set_xscale("log", base=2)
    axis.set_xticks(shown, [f"{epsilon:g}" if k % 2 == 0 else "" for k, epsilon in enumerate(shown)])
    axis.minorticks_off()
    axis.set_xlabel("epsilon")


def shared_legend(figure: Figure, axis: Axes, columns: int = 3) -> None:
    """One legend below all panels."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, columnspacing=1.2, handlelength=2.4)
