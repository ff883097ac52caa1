"""User-level utility and the price of clipping, drawn from records only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.figures.plans import NAMES, PANELS, budgets, corpus_rows, curves, shared_legend, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record


def draw_user_level(record: Record, others: Sequence[Record] = ()) -> Figure:
    """MassRetained and Overlap against epsilon at the smallest bound, a row a corpus (the paper's Figure 5).

    `record`: made by the run at hand; `others`: recorded on other corpora, titled so.
    """
    parts = titled(record, others)
    figure, grid = corpus_rows(list(parts), [PANELS["mass_retained"], PANELS["overlap"]])
    for axes, rows in zip(grid, parts.values(), strict=True):
        main = rows[rows.contribution_bound == rows.contribution_bound.min()]
        for axis, column in zip(axes, ("mass_retained", "overlap"), strict=True):
            curves(axis, main, "epsilon", column, "mechanism", NAMES)
            budgets(axis, main.epsilon)
            axis.set_ylim(0.0, 1.03)
    shared_legend(figure, grid[0][0])
    return figure


def draw_clipping(record: Record, others: Sequence[Record] = ()) -> Figure:
    """What clipping removes against B, and what the Gaussian sketch then keeps of the mass without clipping.

    A row a corpus, as in `draw_user_level`.
    """
    parts = titled(record, others)
    figure, grid = corpus_rows(list(parts), ["mass clipped away", "kept of unclipped mass"])
    for (clipped, kept), rows in zip(grid, parts.values(), strict=True):
        gaussian = rows[rows.mechanism == "gaussian"]
        bounds = gaussian[gaussian.epsilon == gaussian.epsilon.min()]
        clipped.plot(bounds.contribution_bound, bounds.clipped_share, color="black", marker="o")
        clipped.set_xlabel("bound B")
        clipped.set_ylim(0.0, 1.2 * max(bounds.clipped_share.max(), 0.05))
        clipped.set_xticks(bounds.contribution_bound, [f"{bound:g}" for bound in bounds.contribution_bound])
        names = {bound: f"B = {bound:g}" for bound in bounds.contribution_bound}
        curves(kept, gaussian, "epsilon", "kept_unclipped", "contribution_bound", names)
        budgets(kept, gaussian.epsilon)
        kept.set_ylim(0.0, 1.03)
    shared_legend(figure, grid[0][1])
    return figure
