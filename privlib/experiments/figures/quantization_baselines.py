"""Figures that set all methods side by side, drawn from records alone."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from privlib.experiments.studies.quantization_baselines import at_table_one
from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

ORDER = (
    "QuanText", "one table", "private evolution", "private evolution, labelled", "raw rows", "half of the rows",
    "public rows instead", "QuanText, language model", "DP fine-tuning",
)  # fmt: skip


def draw_methods(errors: Record, utilities: Record, panels: str = "secret") -> Figure:
    """Aggregate utility against the mean error of corrected labellers, one panel a value of the column `panels`.

    From `studies.quantization_baselines.compared`; the settings of a method are joined in the order of their strength,
    the one that promises most privacy is filled.
    """
    import matplotlib.pyplot as plt

    grid = [c for c in errors.columns[:1] if c == "share"] + ["method", "strength"]
    height = utilities.rows[utilities.rows["quantity"] == "aggregate"].rename(columns={"value": "y", "sd": "y_sd"})
    rows = errors.rows.merge(height[[*grid, "y", "y_sd"]], on=grid)
    shown = rows[rows["attack"] == "labellers, corrected"]
    values = list(dict.fromkeys(shown[panels]))
    lines, across = math.ceil(len(values) / 2), min(2, len(values))
    figure, axes = plt.subplots(lines, across, figsize=(WIDTH, 2.9 * lines + 1.7), sharey=True, squeeze=False)
    for panel, value in zip(axes.flat, values, strict=False):
        part = shown[shown[panels] == value]
        for method in dict.fromkeys(part["method"]):
            index = ORDER.index(method)
            line = part[part["method"] == method].sort_values("strength")
            again = index // len(PALETTE)  # a colour that comes again has another mark
            style = dict(color=PALETTE[index % len(PALETTE)], marker=MARKERS[(index + again) % len(MARKERS)])
            panel.errorbar(line["error"], line["y"], xerr=line["sd"], yerr=line["y_sd"], elinewidth=0.6, capsize=2,
                           linestyle=LINESTYLES[index % len(LINESTYLES)] if len(line) > 1 else "none", linewidth=0.9,
                           markersize=5, markerfacecolor="white", label=method, **style)  # fmt: skip
            panel.plot(line["error"].iloc[:1], line["y"].iloc[:1], markersize=6, linestyle="none", zorder=5, **style)
        blind = rows[(rows["attack"] == "public share, without looking") & (rows[panels] == value)]["error"]
        panel.axvline(blind.iloc[0], color=PALETTE[6], linestyle=":", linewidth=1.2)
        name = f"private share {value:g}" if panels == "share" else value
        panel.set_title("\n".join(textwrap.wrap(name, 26)), fontsize=9)
        panel.set_xlim(left=0)
    for panel in axes.flat[len(values) :]:
        panel.set_axis_off()
    for panel in axes[:, 0]:
        panel.set_ylabel("aggregate utility")
    for panel in axes[-1]:
        panel.set_xlabel("mean error of labellers")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    handles, labels = [*handles, axes[0, 0].lines[-1]], [*labels, "error of quoting the public share"]
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)
    return figure


def draw_attackers(errors: Record) -> Figure:
    """Error of each attacker by method, averaged over the secrets that all attackers read, at the settings of Table I:
    hollow counted, filled corrected, a bar where assigned labels are read exactly."""
    import matplotlib.pyplot as plt

    rows = at_table_one(errors.rows)
    families = [a.removesuffix(", corrected") for a in dict.fromkeys(rows["attack"]) if a.endswith(", corrected")]
    families.remove("labellers")
    shared = [s for s, part in rows.groupby("secret") if set(families) <= set(part["attack"])]
    means = rows[rows["secret"].isin(shared)].groupby(["method", "attack"], sort=False)["error"].mean()
    methods = list(dict.fromkeys(rows["method"]))
    figure, panel = plt.subplots(figsize=(WIDTH, 0.48 * len(methods) + 2.2))
    for index, family in enumerate(families):
        for name, face, shift in ((family, "white", -0.14), (f"{family}, corrected", PALETTE[index], 0.14)):
            places = [place + shift for place, method in enumerate(methods) if (method, name) in means]
            panel.plot([means[m, name] for m in methods if (m, name) in means], places, MARKERS[index],
                       color=PALETTE[index], markerfacecolor=face)  # fmt: skip
        panel.plot([], [], MARKERS[index], color=PALETTE[index], label=family)
    exact = [(means[m, "count labels, read exactly"], i) for i, m in enumerate(methods)
             if (m, "count labels, read exactly") in means]  # fmt: skip
    panel.plot(*zip(*exact, strict=True), "|", color=PALETTE[6], markersize=18, label="assigned labels, read exactly")
    panel.set_yticks(range(len(methods)), methods, fontsize=8)
    panel.set_ylim(len(methods) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.set_xlabel("error (hollow: counted, filled: corrected)", fontsize=9)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure
