"""Admission and mention of a probe against its injected support, drawn from records only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.figures.plans import NAMES, corpus_rows, curves, shared_legend, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

PANELS = {"admitted": "admitted to the plan", "mentioned_headlines": "told by a short text"}


def draw_probe(record: Record, epsilon: float, others: Sequence[Record] = ()) -> Figure:
    """Rates at one budget, a row a corpus: how often the plan admits the probe, and a text of three themes tells it.

    `record`: made by the run at hand; `others`: recorded on other corpora at this budget, titled so.
    """
    parts = titled(record, others)
    figure, grid = corpus_rows(list(parts), list(PANELS.values()))
    for axes, rows in zip(grid, parts.values(), strict=True):
        shown = rows[rows.epsilon == epsilon]
        for axis, column in zip(axes, PANELS, strict=True):
            curves(axis, shown, "support", column, "mechanism", NAMES)
            axis.set_xscale("symlog", base=2, linthresh=shown.support[shown.support > 0].min())
            axis.set_xticks(ticks := sorted(shown.support.unique())[::2], [str(s) for s in ticks])
            axis.minorticks_off()
            axis.set_xlabel("injected records s")
            axis.set_ylim(-0.03, 1.03)
    shared_legend(figure, grid[0][0])
    return figure
