"""Figures of the limits of the quantization chapter, drawn from records alone."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

VERDICTS = ("informative", "vacuous for who knows public rows", "vacuous")


def draw_map(edges: Record, settings: Record) -> Figure:
    """Vacuous region over tables and gamma/k, from `useful_dilutions` and `verdicts` of `quantization_limits`."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 5.4))
    groups = edges.rows.groupby(["rows", "attacker"], sort=False)
    for index, ((rows, attacker), part) in enumerate(groups):
        style = dict(color=PALETTE[index // 2], linestyle="-" if index % 2 == 0 else "--", linewidth=1.4)
        panel.plot(part["tables"], part["dilution"], label=f"n = {rows:,}: {attacker}", **style)
    shown = settings.rows.assign(dilution=settings.rows["gamma"] / settings.rows["k"])
    for place, (_, part) in enumerate(shown.groupby("setting", sort=False)):
        for mark, verdict in enumerate(VERDICTS):
            some = part[part["verdict"] == verdict]
            face = ("black", "0.7", "white")[mark]
            panel.plot(some["tables"] + 0.12 * place - 0.12, some["dilution"], MARKERS[mark], color="black",
                       markerfacecolor=face, zorder=3)  # fmt: skip
    for mark, verdict in enumerate(VERDICTS):
        face = ("black", "0.7", "white")[mark]
        panel.plot([], [], MARKERS[mark], color="black", markerfacecolor=face, label=f"a setting: {verdict}")
    panel.set_yscale("log")
    panel.set_ylim(1, 200)
    panel.set_yticks([1, 2, 3, 4, 6, 8, 12, 30, 100], ["1", "2", "3", "4", "6", "8", "12", "30", "100"])
    panel.minorticks_off()
    panel.set_xticks(sorted(set(edges.rows["tables"]))[::2])
    panel.set_xlabel("tables E")
    panel.set_ylabel("candidate dilution γ/k")
    panel.set_title("Above its line a bound says nothing.", fontsize=10)
    figure.legend(loc="outside lower center", ncols=1, fontsize=9)
    return figure


def draw_seeded(record: Record) -> Figure:
    """Exact leakage of one table at a fixed gamma/k, draw secret or seeded, from `seeded_choice`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, panel = plt.subplots(figsize=(WIDTH, 3.6))
    panel.plot(rows["gamma"], rows["everything"], color=PALETTE[6], linestyle=":", label="ln γ: the candidate itself")
    panel.plot(rows["gamma"], rows["seeded"], MARKERS[1], color=PALETTE[4], label="exact, seed of the draw known")
    panel.plot(rows["gamma"], rows["bound"], color=PALETTE[0], label="bound ln(γ/k)")
    panel.plot(rows["gamma"], rows["secret"], MARKERS[0], color=PALETTE[1], label="exact, draw secret")
    panel.set_xlabel(f"candidates γ, at γ/k = {rows['gamma'].iloc[0] / rows['k'].iloc[0]:g}")
    panel.set_ylabel("leakage (nats)")
    panel.set_ylim(0, rows["everything"].max() * 1.1)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_order(record: Record) -> Figure:
    """Error of the order attack in three release orders beside counting labels, from `release_order`."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 3.9))
    names = {"private": "private order", "target": "order of the drawn targets", "shuffled": "shuffled in secret"}
    for index, (order, name) in enumerate(names.items()):
        part = record.rows[record.rows["order"] == order]
        style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index])
        panel.errorbar(part["dilution"] * (1 + 0.03 * (index - 1)), part["order_error"], yerr=part["order_sd"],
                       linewidth=1.2, elinewidth=0.8, label=f"change point, {name}", **style)  # fmt: skip
    part = record.rows[record.rows["order"] == "target"]
    panel.plot(part["dilution"], part["label_error"], color=PALETTE[6], linestyle=":", marker=MARKERS[3],
               label="counting released labels")  # fmt: skip
    panel.set_xscale("log")
    panel.set_xticks(sorted(set(part["dilution"])), [f"{d:g}" for d in sorted(set(part["dilution"]))])
    panel.minorticks_off()
    panel.set_ylim(bottom=-0.02)
    panel.set_xlabel("candidate dilution γ/k")
    panel.set_ylabel("error of the attack (bars: 1 sd)")
    figure.legend(loc="outside lower center", ncols=1, fontsize=9)
    return figure


def draw_few(record: Record) -> Figure:
    """How often few releases a point order two settings as many would, from `few_draws`."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 3.7))
    for index, (pair, part) in enumerate(record.rows.groupby("pair", sort=False)):
        style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index])
        panel.plot(part["runs"], part["agreeing"], label=f"γ/k = {pair}", **style)
    panel.axhline(0.5, color=PALETTE[6], linestyle=":", linewidth=1.2, label="tossing a coin")
    panel.axhline(0.95, color="0.6", linewidth=0.8)
    panel.set_xscale("log")
    runs = sorted(set(record.rows["runs"]))
    panel.set_xticks(runs, [str(run) for run in runs])
    panel.minorticks_off()
    panel.set_ylim(0.4, 1.02)
    panel.set_xlabel("releases a point")
    panel.set_ylabel("figures with the right order")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_one_table(record: Record) -> Figure:
    """Utility against the bound for many tables and for one, from `one_table`."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 4.6))
    for index, (method, part) in enumerate(record.rows.groupby("method", sort=False)):
        style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index])
        panel.errorbar(part["bound"], part["joint"], yerr=part["joint_sd"], linewidth=1.2, elinewidth=0.8,
                       label="\n".join(textwrap.wrap(method, 60)), **style)  # fmt: skip
    panel.set_xlabel("bound on SML (nats)")
    panel.set_ylabel("utility (1 − TV, joint; bars: 1 sd)")
    panel.set_ylim(0.3, 1)
    panel.set_xlim(left=0)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_counts(record: Record) -> Figure:
    """Attack error and utility while gamma and k grow together, from `candidate_counts`."""
    import matplotlib.pyplot as plt

    figure, (errors, utility) = plt.subplots(1, 2, figsize=(WIDTH, 4.2))
    for index, (secret, part) in enumerate(record.rows.groupby("secret", sort=False)):
        style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index], linewidth=1.2)
        shift = 1.5 * (index - 1.5)
        errors.errorbar(part["gamma"] + shift, part["mean"], yerr=part["sd"], elinewidth=0.8,
                        label="\n".join(textwrap.wrap(secret, 50)), **style)  # fmt: skip
    utility.errorbar(part["gamma"], part["joint"], yerr=part["joint_sd"], color=PALETTE[6], marker=MARKERS[4],
                     elinewidth=0.8)  # fmt: skip
    for panel, label in ((errors, "attack error (bars: 1 sd)"), (utility, "utility (1 − TV, joint)")):
        panel.set_xticks(sorted(set(part["gamma"])))
        panel.tick_params(axis="x", labelsize=8)
        panel.set_xlabel("candidates γ")
        panel.set_ylabel(label, fontsize=10)
    errors.set_ylim(bottom=0)
    utility.set_ylim(0.3, 1)
    figure.legend(loc="outside lower center", ncols=1, fontsize=9)
    return figure
