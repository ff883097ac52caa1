"""Figures of the page on budgets, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.studies.synthesis import PAPER_SETTINGS
from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

COUNT_BILLS = {"lemma, v at most 5": "Lemma 1, v ≤ 5", "lemma, v free": "Lemma 1, v free", "exact": "exact count"}
COSTS = {"integrated": "integrated over distance", "union": "all or nothing", "worst case": "worst case, |x| ≤ 2 r"}
RATES = {
    "lemma, paper's v": "Lemma 1, the paper's v",
    "lemma, best v": "Lemma 1, best v",
    "exact count": "exact count, best split",
    "joint": "joint",
}
ROUTES = {
    "direct, lemma": "l in one bucket, the paper's lemma",
    "direct, composed": "l in one bucket, exact count",
    "group privacy": "group privacy, recalibrated",
    "direct, joint": "l in one bucket, joint",
    "capped, l buckets": "one in each of l buckets",
}


def draw_region(record: Record) -> Figure:
    """Least t by p_s, one panel an epsilon; what lies above a line is feasible by that bill of the count."""
    import matplotlib.pyplot as plt

    epsilons = sorted(set(record.rows["epsilon"]))
    figure, panels = plt.subplots(len(epsilons), 1, figsize=(WIDTH, 2.9 * len(epsilons)), sharex=True, squeeze=False)
    for panel, epsilon in zip(panels.flat, epsilons, strict=True):
        for index, (accounting, label) in enumerate(COUNT_BILLS.items()):
            part = record.rows[(record.rows["accounting"] == accounting) & (record.rows["epsilon"] == epsilon)]
            part = part.sort_values("rate")
            panel.plot(part["rate"], part["frequency"], color=PALETTE[index], linestyle=LINESTYLES[index], label=label)
        panel.plot([0.1], [100], color="black", marker="x", linestyle="none", label="p = .1, t = 100")
        published = [rate for setting, rate, _ in PAPER_SETTINGS if setting == epsilon]
        panel.plot(published, [100] * len(published), color="black", marker="o", linestyle="none")
        panel.set_title(f"ε = {epsilon:g}: feasible above the line")
        panel.set_ylabel("frequency t")
        panel.set_ylim(0, 200)
        panel.set_xlim(0, 1)
    panels[0, 0].plot([], [], color="black", marker="o", linestyle="none", label="the paper's setting")
    panels[-1, 0].set_xlabel("sampling rate p")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_cost(record: Record) -> Figure:
    """Above: epsilon that the paper's noise costs; below: share of its noise that its epsilon needs; by the cap."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 1, figsize=(WIDTH, 7.0), sharex=True)
    for index, (epsilon, rows) in enumerate(record.rows.groupby("epsilon", sort=True)):
        panels[0].axhline(epsilon, color=PALETTE[index], linestyle=":", linewidth=1.2)
        for style, accounting in enumerate(COSTS):
            part = rows[rows["accounting"] == accounting].sort_values("max_records")
            for panel, column in zip(panels, ("epsilon_spent", "share"), strict=True):
                if np.isfinite(part[column]).all():
                    panel.plot(
                        part["max_records"], part[column], color=PALETTE[index], marker=MARKERS[index],
                        linestyle=LINESTYLES[style], label=f"ε = {epsilon:g}" if style == 0 else None,
                    )  # fmt: skip
    panels[1].axhline(1, color="black", linestyle=":", linewidth=1.2)
    for style, label in enumerate(COSTS.values()):
        panels[1].plot([], [], color="black", linestyle=LINESTYLES[style], label=label)
    panels[0].set_ylabel("ε that the noise costs")
    panels[0].set_yscale("log", base=2)
    panels[0].set_yticks([0.5, 1, 2, 4, 8, 16, 32], ["0.5", "1", "2", "4", "8", "16", "32"])
    panels[1].set_ylabel("share of the noise needed")
    panels[1].set_ylim(bottom=0)
    panels[1].set_xscale("log")
    panels[1].set_xlabel("cap on the number of records")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_rates(record: Record) -> Figure:
    """Noise of a centroid, up to the size of its bucket, over p_s; one panel an epsilon."""
    import matplotlib.pyplot as plt

    epsilons = sorted(set(record.rows["epsilon"]))
    figure, panels = plt.subplots(len(epsilons), 1, figsize=(WIDTH, 2.4 * len(epsilons) + 0.7), sharex=True)
    for panel, epsilon in zip(panels, epsilons, strict=True):
        rows = record.rows[record.rows["epsilon"] == epsilon]
        for index, (accounting, label) in enumerate(RATES.items()):
            part = rows[rows["accounting"] == accounting].sort_values("rate")
            panel.plot(
                part["rate"], part["noise_per_kept"], color=PALETTE[index], marker=MARKERS[index], markersize=4,
                linestyle=LINESTYLES[index], label=label,
            )  # fmt: skip
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_yscale("log")
        panel.set_ylabel("m / p")
        low = rows["noise_per_kept"].min()
        panel.set_ylim(0.8 * low, 12 * low)
        ticks = [value for value in (0.5, 1, 2, 5, 10, 20) if 0.8 * low <= value <= 12 * low]
        panel.set_yticks(ticks, [f"{value:g}" for value in ticks])
        panel.minorticks_off()
    panels[-1].set_xlabel("sampling rate p")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_sizes(record: Record) -> Figure:
    """delta of one bucket by its number of records N, and the bound on every larger bucket."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, 4.4))
    for index, (multiplier, part) in enumerate(record.rows.groupby("noise_multiplier", sort=True)):
        axes.plot(part["size"], part["delta"], color=PALETTE[index], linestyle="-", label=f"m = {multiplier:.3g}")
        axes.plot(part["size"], part["bound_beyond"], color=PALETTE[index], linestyle=":")
        worst = part.loc[part["delta"].idxmax()]
        axes.plot(worst["size"], worst["delta"], color=PALETTE[index], marker=MARKERS[index], linestyle="none")
    axes.plot([], [], color="black", linestyle=":", label="bounds every larger N")
    axes.set_yscale("log")
    axes.set_ylim(bottom=record.rows.groupby("noise_multiplier")["delta"].max().min() / 1e3, top=1)
    axes.set_xlabel("records N of the larger bucket")
    axes.set_ylabel("δ of that bucket")
    axes.legend(loc="upper right", ncols=2)
    return figure


def draw_several(noise: Record, group: Record) -> Figure:
    """Above: noise for users of l records by route, one budget; below: what group privacy states for l records."""
    import matplotlib.pyplot as plt

    figure, (upper, lower) = plt.subplots(2, 1, figsize=(WIDTH, 6.8), sharex=True)
    epsilon = max(noise.rows["epsilon"])
    for index, (route, label) in enumerate(ROUTES.items()):
        part = noise.rows[(noise.rows["route"] == route) & (noise.rows["epsilon"] == epsilon)]
        upper.plot(
            part["records"], part["noise_multiplier"], color=PALETTE[index], marker=MARKERS[index],
            linestyle=LINESTYLES[index], label=label,
        )  # fmt: skip
    upper.set_title(f"same promise, ε = {epsilon:g}")
    upper.set_ylabel("noise multiplier m")
    upper.set_yscale("log")
    upper.yaxis.set_major_formatter("{x:g}")
    upper.yaxis.set_minor_formatter("")
    upper.legend(loc="upper left")
    for index, (record_epsilon, part) in enumerate(group.rows.groupby("epsilon", sort=True)):
        lower.plot(
            part["records"], part["group_delta"], color=PALETTE[index + 4], marker=MARKERS[index + 4],
            linestyle=LINESTYLES[index], label=f"a record: ε = {record_epsilon:g}",
        )  # fmt: skip
    lower.set_title("same noise, group privacy's promise")
    lower.set_yscale("log")
    lower.set_ylabel("δ of l records")
    lower.set_xlabel("records of a user, l")
    lower.set_xticks(sorted(set(noise.rows["records"])))
    lower.legend(loc="lower right")
    return figure
