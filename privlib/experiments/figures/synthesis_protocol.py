"""Figures of the protocol notebook, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import HATCHES, LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

RULES = {"count_scaled": "each user scales by the count", "constant": "constant noise (paper)"}
PROTOCOLS = ("Fre-E2T", "distributed Aug-PE")


def draw_noise(record: Record) -> Figure:
    """Total noise of opened sums over its claimed deviation, by rule: drawn (bars) and claimed (marks)."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, panels = plt.subplots(1, len(RULES), figsize=(WIDTH, 3.0), sharey=True)
    for index, (panel, (rule, title)) in enumerate(zip(panels, RULES.items(), strict=True)):
        part = rows[rows["rule"] == rule]
        panel.bar(
            part["middle"], part["share"], width=0.46, color=PALETTE[index], alpha=0.5, hatch=HATCHES[index + 1],
            edgecolor=PALETTE[index], linewidth=0.5, label="drawn",
        )  # fmt: skip
        panel.plot(
            part["middle"], part["claimed"], linestyle="none", marker=MARKERS[index], color="black",
            markerfacecolor="white", label="claimed",
        )  # fmt: skip
        panel.set_title(title, loc="left", fontsize=11)
        panel.set_xlabel("noise / claimed deviation")
    panels[0].set_ylabel("share of entries")
    panels[0].legend(loc="upper right", handlelength=1.2, borderpad=0.1)
    return figure


def draw_rules(record: Record) -> Figure:
    """Error of a centroid by the size of its bucket: both rules (lines: formula, marks: simulated), and a curator."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 4.0))
    for index, (rule, title) in enumerate(RULES.items()):
        part = record.rows[record.rows["rule"] == rule]
        panel.plot(
            part["contributors"], part["formula"], color=PALETTE[index], linestyle=LINESTYLES[index],
            label=f"{title}: formula",
        )  # fmt: skip
        spread = [part["mean"] - part["low"], part["high"] - part["mean"]]
        panel.errorbar(
            part["contributors"], part["mean"], spread, color=PALETTE[index], linestyle="none", marker=MARKERS[index],
            label="simulated",
        )  # fmt: skip
    part = record.rows[record.rows["rule"] == "curator"]
    panel.plot(part["contributors"], part["formula"], color=PALETTE[6], linestyle=":", label="a curator's Gaussian")
    panel.set_xscale("log")
    panel.set_yscale("log")
    ticks = sorted(set(record.rows["contributors"]))
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.set_xlabel("contributors to the bucket")
    panel.set_ylabel("l2 error of its centroid")
    panel.legend(loc="lower left")
    return figure


def draw_costs(weights: Record, times: Record) -> Figure:
    """One user's bytes sent, bytes received and CPU time online, both protocols, one group of bars a size."""
    import matplotlib.pyplot as plt

    weighed, timed = weights.rows, times.rows
    weighed, timed = weighed[weighed["party"] == "user"], timed[timed["party"] == "user"]
    panels = (
        ("sent (bytes)", weighed[weighed["direction"] == "sent"], "bytes"),
        ("received (bytes)", weighed[weighed["direction"] == "received"], "bytes"),
        ("CPU time (microseconds)", timed[timed["operation"] == "all online work"], "microseconds"),
    )
    sizes = list(dict.fromkeys(weighed["size"]))
    figure, axes = plt.subplots(len(panels), 1, figsize=(WIDTH, 5.6), sharex=False)
    for axis, (title, rows, value) in zip(axes, panels, strict=True):
        for index, protocol in enumerate(PROTOCOLS):
            part = rows[rows["protocol"] == protocol].set_index("size").loc[sizes]
            places = [place + 0.38 * (index - 0.5) for place in range(len(sizes))]
            bars = axis.barh(
                places, part[value], height=0.36, color=PALETTE[index], hatch=HATCHES[index], edgecolor="white",
                linewidth=0.4, label=protocol,
            )  # fmt: skip
            axis.bar_label(bars, [f"{number:,.0f}" for number in part[value]], padding=3, fontsize=9)
        axis.set_xscale("log")
        axis.set_xlim(right=rows[value].max() * 60)
        axis.set_yticks(range(len(sizes)), [size.replace(" M=", "\nM=") for size in sizes], fontsize=8)
        axis.set_title(title, loc="left", fontsize=11)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_growth(weights: Record, times: Record) -> Figure:
    """Fitted exponents of bytes and CPU time, one row a quantity; lines at 0 (constant) and 1 (linear)."""
    import matplotlib.pyplot as plt

    labels: list[str] = []
    figure, panel = plt.subplots(figsize=(WIDTH, 8.4))
    for kind, record, marker in (("bytes", weights, MARKERS[0]), ("CPU time", times, MARKERS[1])):
        for index, protocol in enumerate(PROTOCOLS):
            part = record.rows[record.rows["protocol"] == protocol]
            places = range(len(labels), len(labels) + len(part))
            labels += [f"{row.quantity}\nby {row.over}" for row in part.itertuples()]
            panel.plot(
                part["exponent"], list(places), linestyle="none", marker=marker, color=PALETTE[index],
                label=f"{protocol}: {kind}",
            )  # fmt: skip
    for claimed in (0, 1):
        panel.axvline(claimed, color="black", linestyle=":", linewidth=1)
    panel.set_yticks(range(len(labels)), labels, fontsize=8)
    panel.invert_yaxis()
    panel.set_xlabel("fitted exponent (0: constant, 1: linear)")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
