"""Figures of the selection rules, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record


def draw_mass_kept(record: Record) -> Figure:
    """Mass kept against epsilon, one panel a shape of the scores, one line a rule; bars: 5 to 95 % of the draws."""
    import matplotlib.pyplot as plt

    shapes = list(dict.fromkeys(record.rows["shape"]))
    figure, panels = plt.subplots(len(shapes), 1, figsize=(WIDTH, 6.6), sharex=True)
    for panel, shape in zip(panels, shapes, strict=True):
        rows = record.rows[record.rows["shape"] == shape]
        for index, (name, part) in enumerate(rows.groupby("rule", sort=False)):
            panel.errorbar(
                part["epsilon"] * 1.05 ** (index - 2),  # side by side, so that the bars can be told apart
                part["mean"],
                yerr=[(part["mean"] - part["low"]).clip(lower=0), (part["high"] - part["mean"]).clip(lower=0)],
                color=PALETTE[index],
                marker=MARKERS[index],
                linestyle=LINESTYLES[index],
                elinewidth=0.9,
                markersize=5,
                label=name,
            )
        panel.set_xscale("log")
        ticks = sorted(set(rows["epsilon"]))
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.set_title(f"{shape} scores")
        panel.set_ylabel("mass kept")
    panels[-1].set_xlabel("ε of the whole list")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_bills(record: Record) -> Figure:
    """Exact loss as a share of the bill, one line a (law, bill); beyond 1 the bill is false."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, panel = plt.subplots(figsize=(WIDTH, 2.9))
    for place, row in enumerate(rows.itertuples()):
        index = 4 if row.share > 1 else 0
        panel.plot(row.share, place, MARKERS[index], color=PALETTE[index], markersize=9)
        panel.annotate(
            f"{row.share:.2f}",
            (row.share, place),
            xytext=(-9, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=10,
        )
    panel.axvline(1, color="black", linestyle=":")
    panel.set_yticks(
        range(len(rows)), [f"{law}:\n{what}" for law, what in zip(rows["law"], rows["quantity"], strict=True)]
    )
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.set_xlim(0, max(1.0, rows["share"].max()) * 1.15)
    panel.set_xlabel("exact / billed (dotted: all of the bill; beyond: a false bill)")
    return figure
