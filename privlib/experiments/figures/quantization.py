"""Figures of the quantization chapter, drawn from records alone."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

NAMES = {
    "quantization": "randomized quantization, γ/k from end to end",
    "noisy histogram": "DP histogram of labels (ε = 1 to 4)",
    "raw": "raw rows",
    "half": "random half of the rows",
    "auxiliary": "public rows instead; dotted: its error, the prior's",
}


def draw_tradeoff(record: Record) -> Figure:
    """Attack error against joint utility, one panel a secret, from `studies.quantization.tradeoff`."""
    import matplotlib.pyplot as plt

    secrets = list(dict.fromkeys(record.rows["secret"]))
    lines = math.ceil(len(secrets) / 2)
    figure, axes = plt.subplots(lines, 2, figsize=(WIDTH, 2.9 * lines + 1.1), sharey=True, squeeze=False)
    figure.get_layout_engine().set(h_pad=0.12)  # a title of two lines stays clear of the axis above
    for panel, secret in zip(axes.flat, secrets, strict=False):
        _tradeoff_panel(panel, record.rows[record.rows["secret"] == secret], secret)
    for panel in axes.flat[len(secrets) :]:
        panel.set_axis_off()
    for panel in axes[:, 0]:
        panel.set_ylabel("utility (1 − TV, joint)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    handles, labels = [*handles[-1:], *handles[:-1]], [*labels[-1:], *labels[:-1]]  # error bars come last
    figure.legend(handles, labels, loc="outside lower center", ncols=1, fontsize=9)
    return figure


def _tradeoff_panel(panel: Axes, rows, secret: str) -> None:
    for index, (method, name) in enumerate(NAMES.items()):
        part = rows[rows["method"] == method].sort_values("strength")
        style = dict(color=PALETTE[index], marker=MARKERS[index], label=name, zorder=3)
        if method == "quantization":
            spread = [part["mean"] - part["low"], part["high"] - part["mean"]]
            spread = [side.clip(lower=0) for side in spread]
            line = panel.errorbar(part["mean"], part["joint"], xerr=spread, linestyle="-", linewidth=1, **style)
            line.lines[2][0].set(alpha=0.45, linewidth=0.8)
            for place, point in ((-11, part.iloc[0]), (6, part.iloc[-1])):
                panel.annotate(
                    f"γ/k = {point['strength']:g}", (point["mean"], point["joint"]), xytext=(2, place),
                    textcoords="offset points", fontsize=8, color=PALETTE[index],
                )  # fmt: skip
        else:
            panel.plot(part["mean"], part["joint"], linestyle="none", **style)
        if method == "auxiliary":
            panel.axvline(part["mean"].iloc[0], color=PALETTE[index], linestyle=":", linewidth=1.2)
    panel.set_title("\n".join(textwrap.wrap(secret, 34)), fontsize=9)
    panel.set_xlabel("attack error, mean (5 to 95 %)", fontsize=10)
    panel.set_ylim(0.4, 1.05)
    panel.set_xlim(left=-0.004)


def draw_bounds(record: Record) -> Figure:
    """Bound of Theorem IV.3 against ln(n + 1), from `studies.quantization.bounds`."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 4.4))
    for index, (setting, part) in enumerate(record.rows.groupby("setting", sort=False)):
        colour, marker = PALETTE[index], MARKERS[index]
        label = f"{setting}: E = {part['tables'].iloc[0]}, n = {part['rows'].iloc[0]:,}"
        panel.plot(part["dilution"], part["bound"], color=colour, linestyle=LINESTYLES[index], linewidth=1.2)
        for vacuous, some in part.groupby("vacuous"):
            face = "white" if vacuous else colour
            panel.plot(some["dilution"], some["bound"], marker, color=colour, markerfacecolor=face)
        panel.plot([], [], marker=marker, color=colour, linestyle=LINESTYLES[index], label=label)
    low, high = record.rows["ceiling"].min(), record.rows["ceiling"].max()
    panel.axhspan(low, high, color="0.8", zorder=0)
    middle = math.sqrt(low * high)
    panel.annotate("ceilings ln(n + 1)", (max(record.rows["dilution"]), middle), ha="right", va="center", fontsize=9)
    panel.set_yscale("log")
    panel.set_yticks([0.5, 1, 2, 5, 10, 20, 40], ["0.5", "1", "2", "5", "10", "20", "40"])
    panel.minorticks_off()
    panel.set_xticks(sorted(set(record.rows["dilution"])))
    panel.set_xlabel("candidate dilution γ/k")
    panel.set_ylabel("bound on SML (nats)")
    panel.set_title("Filled: below its ceiling. Hollow: vacuous.", fontsize=10)
    figure.legend(loc="outside lower center", ncols=1, fontsize=9)
    return figure


def draw_exact(record: Record) -> Figure:
    """Enumerated leakage of one table, from `studies.quantization.exact_leakage`."""
    import matplotlib.pyplot as plt

    rows = record.rows.sort_values("dilution")
    figure, panel = plt.subplots(figsize=(WIDTH, 3.4))
    panel.plot(rows["dilution"], rows["bound"], color=PALETTE[0], label="bound ln(γ/k)")
    panel.plot(rows["dilution"], rows["secret"], MARKERS[0], color=PALETTE[1], label="exact, secret draw")
    panel.plot(rows["dilution"], rows["seeded"], MARKERS[1], color=PALETTE[4], label="exact, seed known")
    everything = rows["everything"].iloc[0]
    panel.axhline(everything, color=PALETTE[6], linestyle=":", linewidth=1.2, label="ln γ: the candidate itself")
    panel.set_xlabel("candidate dilution γ/k")
    panel.set_ylabel("leakage (nats)")
    panel.set_ylim(0, everything * 1.12)
    panel.legend(loc="lower right")
    return figure


def draw_attackers(record: Record) -> Figure:
    """Errors of labellers on raw texts, one line a secret, from `studies.quantization.attackers`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    secrets, names = list(dict.fromkeys(rows["secret"])), [n for n in dict.fromkeys(rows["attacker"]) if n != "prior"]
    figure, panel = plt.subplots(figsize=(WIDTH, 0.75 * len(secrets) + 1.9))
    for index, name in enumerate(names):
        style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle="none")
        for quantity, shift, face in (("error", 0.12, "white"), ("corrected error", -0.12, PALETTE[index])):
            part = rows[(rows["attacker"] == name) & (rows["quantity"] == quantity)]
            places = [secrets.index(secret) + shift for secret in part["secret"]]
            panel.plot(part["value"], places, markerfacecolor=face, **style)
        panel.plot([], [], label=name, **style)
    blind = rows[rows["attacker"] == "prior"]
    places = [secrets.index(secret) for secret in blind["secret"]]
    panel.plot(blind["value"], places, "|", color=PALETTE[6], markersize=22)
    panel.plot([], [], "|", color=PALETTE[6], markersize=11, label="public share, without looking")
    panel.set_yticks(range(len(secrets)), ["\n".join(textwrap.wrap(secret, 26)) for secret in secrets], fontsize=9)
    panel.set_ylim(len(secrets) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.set_xlabel("error on raw texts (hollow: counted, filled: corrected)")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure
