"""Figures of the judged summaries, drawn from records only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.experiments.style import MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record


def draw_scores(record: Record, reading: str) -> Figure:
    """Methods against scores, a panel a criterion; points are means, bars one sample standard deviation.

    A marker a (decoder, epsilon). Where nothing was scored there is no point.
    """
    import matplotlib.pyplot as plt

    rows = record.rows[(record.rows["quantity"] == "score") & (record.rows["reading"] == reading)]
    criteria, methods = (list(dict.fromkeys(rows[name])) for name in ("criterion", "method"))
    kinds = list(dict.fromkeys(rows[["decoder", "epsilon"]].itertuples(index=False, name=None)))
    size = (WIDTH, 1.1 + 0.45 * max(2, len(methods)))
    figure, axes = plt.subplots(1, max(1, len(criteria)), figsize=size, sharey=True, squeeze=False)
    for axis, criterion in zip(axes[0], criteria, strict=False):
        for k, (decoder, epsilon) in enumerate(kinds):
            part = rows[(rows["criterion"] == criterion) & (rows["decoder"] == decoder) & (rows["epsilon"] == epsilon)]
            places = [methods.index(name) + 0.2 * (k - (len(kinds) - 1) / 2) for name in part["method"]]
            axis.errorbar(
                part["mean"], places, xerr=part["sd"], linestyle="none", marker=MARKERS[k], color=PALETTE[k],
                elinewidth=0.9, capsize=2, markersize=5, label=f"{decoder}, epsilon {epsilon:g}",
            )  # fmt: skip
        axis.set_xlim(0.9, 5.1)
        axis.set_xticks(range(1, 6))
        axis.set_xlabel(criterion)
    axes[0][0].set_yticks(range(len(methods)), methods)
    axes[0][0].set_ylim(len(methods) - 0.5, -0.5)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_control(records: Sequence[Record]) -> Figure:
    """Share of pairs whose true summary gets the higher score, with 95 % limits, a marker a record; a toss has .5."""
    import matplotlib.pyplot as plt

    criteria = list(records[0].rows["criterion"])
    figure, axis = plt.subplots(figsize=(WIDTH * 0.7, 0.9 + 0.45 * len(criteria)))
    for k, record in enumerate(records):
        rows = record.rows
        places = [criteria.index(name) + 0.2 * (k - (len(records) - 1) / 2) for name in rows["criterion"]]
        spread = [rows["share"] - rows["low"], rows["high"] - rows["share"]]
        axis.errorbar(
            rows["share"], places, xerr=spread, linestyle="none", marker=MARKERS[k], color=PALETTE[k],
            elinewidth=0.9, capsize=2, markersize=5, label=f"{record.corpus}, {record.profile}",
        )  # fmt: skip
    axis.axvline(0.5, color="0.5", linewidth=0.8, linestyle="--")
    axis.set_xlim(-0.03, 1.03)
    axis.set_xlabel("share of pairs told apart rightly")
    axis.set_yticks(range(len(criteria)), criteria)
    axis.set_ylim(len(criteria) - 0.5, -0.5)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
