"""Figure of the plans chapter's comparison with other summaries, drawn from records only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.style import MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

PANELS = (
    ("atoms_recovered", "atoms recovered"),
    ("tfidf_cosine", "TF-IDF cosine"),
    ("plain_secret_told", "secret told"),
)


def draw_comparison(record: Record, others: Sequence[Record] = ()) -> Figure:
    """Methods against three measures, a row of panels a record; points are means, bars 5 % to 95 % of the runs.

    `record`: made by the run at hand; `others`: recorded on other corpora, titled so. One marker a budget; methods
    without a guarantee have a marker of their own.
    """
    import matplotlib.pyplot as plt

    shown = [record, *others]
    figure, grid = plt.subplots(
        len(shown), len(PANELS), figsize=(WIDTH, 0.9 + 3.0 * len(shown)), sharey="row", squeeze=False
    )
    for axes, made in zip(grid, shown, strict=True):
        methods = list(dict.fromkeys(made.rows["method"]))
        for axis, (metric, label) in zip(axes, PANELS, strict=True):
            _panel(axis, made.rows[made.rows["metric"] == metric], methods)
            axis.set_xlabel(label)
        axes[0].set_yticks(range(len(methods)), methods)
        axes[0].set_ylim(len(methods) - 0.5, -0.5)
        corpus = made.parameters["corpus"]
        title = corpus if made is record else f"{corpus} (recorded, {made.profile})"
        axes[0].set_title(title, fontsize=11, weight="bold", loc="left")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), columnspacing=1.2)
    return figure


def _panel(axis, rows, methods: list[str]) -> None:
    budgets = sorted(rows["epsilon"].unique(), reverse=True)
    private = [epsilon for epsilon in budgets if epsilon < float("inf")]
    for k, epsilon in enumerate(budgets):
        part = rows[rows["epsilon"] == epsilon]
        shift = 0.14 * (2 * private.index(epsilon) - len(private) + 1) if epsilon in private else 0.0
        places = [methods.index(name) + shift for name in part["method"]]
        lower, upper = ((part["mean"] - part["low"]).clip(lower=0), (part["high"] - part["mean"]).clip(lower=0))
        axis.errorbar(
            part["mean"], places, xerr=[lower, upper], linestyle="none", marker=MARKERS[k], color=PALETTE[k],
            elinewidth=0.9, capsize=2, markersize=5,
            label="no privacy" if epsilon == float("inf") else f"epsilon {epsilon:g}",
        )  # fmt: skip
    axis.set_xlim(-0.06, 1.06)
    axis.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
