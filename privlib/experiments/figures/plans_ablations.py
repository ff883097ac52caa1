"""What one setting at a time does, drawn from records only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.figures.plans import NAMES, curves, shared_legend, titled
from privlib.experiments.style import WIDTH

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

KNOBS = {
    "universe_size": "dictionary size m",
    "sparsity": "sparsity K",
    "plan_size": "plan size L",
    "kept_share": "units n",
    "contribution_bound": "bound B (user level)",
}
AXES = {"kept_share": "n_units"}  # a share of each corpus: the axis shows how many units that is
SHAPES = (
    ("universe_size", "border_margin", "margin at the top-L border"),
    ("plan_size", "reference_mass", "mass of the true top L"),
    ("kept_share", "sketch_mass", "mass of the whole sketch"),
)


def draw_ablations(record: Record, others: Sequence[Record] = ()) -> Figure:
    """MassRetained against each setting, a row a setting; left the Gaussian sketch, right admission in rounds.

    A line a corpus. `record`: made by the run at hand; `others`: recorded on other corpora, labelled so.
    """
    import matplotlib.pyplot as plt
    import pandas as pd

    rows = pd.concat([part.assign(corpus=name) for name, part in titled(record, others).items()], ignore_index=True)
    corpora = rows.corpus.unique()
    knobs = [knob for knob in KNOBS if knob in set(rows.knob)]
    shown = ("gaussian", "private_topL")
    figure, grid = plt.subplots(len(knobs), 2, figsize=(WIDTH, 0.8 + 2.0 * len(knobs)), squeeze=False, sharey=True)
    for axes, knob in zip(grid, knobs, strict=True):
        for axis, mechanism in zip(axes, shown, strict=True):
            part = rows[(rows.knob == knob) & (rows.mechanism == mechanism)]
            _settings(axis, part, knob, "mass_retained", corpora)
            axis.set_ylim(0.0, 1.03)
        axes[0].set_ylabel("MassRetained")
    for axis, mechanism in zip(grid[0], shown, strict=True):
        axis.set_title(NAMES[mechanism], fontsize=11)
    shared_legend(figure, grid[0][0], columns=2)
    return figure


def draw_shapes(record: Record) -> Figure:
    """The true sketch before any noise: its border margin by m, its reference mass by L, its whole mass by n."""
    import matplotlib.pyplot as plt

    rows = record.rows[record.rows.mechanism == "gaussian"]
    figure, grid = plt.subplots(len(SHAPES), 1, figsize=(WIDTH, 0.8 + 2.1 * len(SHAPES)))
    for axis, (knob, column, title) in zip(grid, SHAPES, strict=True):
        _settings(axis, rows[rows.knob == knob], knob, column, rows.corpus.unique())
        axis.set_title(title, fontsize=11)
        axis.set_ylim(bottom=0.0)
    shared_legend(figure, grid[0], columns=2)
    return figure


def _settings(axis: Axes, part: pandas.DataFrame, knob: str, column: str, corpora: Sequence[str]) -> None:
    x = AXES.get(knob, knob)
    curves(axis, part, x, column, "corpus", order=corpora)
    axis.set_xlabel(KNOBS[knob])
    if knob != "kept_share":
        values = sorted(part[x].unique())
        room = (values[-1] - values[0]) / 12  # nearer labels would print over each other
        ticks = [v for k, v in enumerate(values) if k == 0 or v - values[k - 1] > room]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
