"""Figures of the audits, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record


def draw_bounds(record: Record, size: str, label: str) -> Figure:
    """Mean lower bound against the size of the audit, one line a mechanism; bars span 5 to 95 % of the repeats."""
    import matplotlib.pyplot as plt

    rows, stated = record.rows, float(record.parameters["epsilon"])
    figure, axes = plt.subplots(figsize=(WIDTH, 4.4))
    sizes = sorted(set(rows[size]))
    for index, (name, part) in enumerate(rows.groupby("mechanism", sort=False)):
        part, truth = part.sort_values(size), part["true_epsilon"].iloc[0]
        shown = "infinite" if truth == float("inf") else f"{truth:g}"
        axes.errorbar(
            part[size] * 1.05 ** (index - 1.5),  # side by side, so that bars do not hide each other
            part["mean"],
            yerr=[(part["mean"] - part["low"]).clip(lower=0), (part["high"] - part["mean"]).clip(lower=0)],
            color=PALETTE[index],
            marker=MARKERS[index],
            linestyle=LINESTYLES[index],
            label=f"{name} (true ε: {shown})",
        )
        if truth not in (stated, float("inf")):
            axes.axhline(truth, color=PALETTE[index], linewidth=1, linestyle=":")
    axes.axhline(stated, color="black", linewidth=1.2)
    axes.annotate("stated ε", (1, stated), xycoords=("axes fraction", "data"), xytext=(3, 0),
                  textcoords="offset points", va="center", fontsize=10)  # fmt: skip
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{value:g}" for value in sizes])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(label)
    axes.set_ylabel("lower bound on ε")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_false_alarms(record: Record) -> Figure:
    """Share of audits that report an epsilon for two equal laws, with 95 % intervals, beside what is stated."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, axes = plt.subplots(figsize=(WIDTH, 2.6))
    for index, row in rows.iterrows():
        axes.errorbar(
            row["share"],
            index,
            xerr=[[row["share"] - row["low"]], [row["high"] - row["share"]]],
            color=PALETTE[index],
            marker=MARKERS[index],
        )
    axes.axvline(rows["stated"].iloc[0], color="black", linewidth=1.2)
    axes.annotate("stated", (rows["stated"].iloc[0], 1), xycoords=("data", "axes fraction"), xytext=(4, -2),
                  textcoords="offset points", va="top", fontsize=10)  # fmt: skip
    axes.set_yticks(range(len(rows)), rows["audit"])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=-0.02)
    axes.set_xlabel("share of audits that report an ε where there is none")
    return figure
