"""Figures of the synthesis chapter, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import HATCHES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

ACCOUNTINGS = {
    "paper": "the paper's v, Lemma 1",
    "lemma, best split": "best v, Lemma 1",
    "exact threshold": "exact threshold, best split",
    "joint": "joint count and centroid",
    "integrated": "joint, over distances",
}


def draw_accountings(record: Record) -> Figure:
    """Noise on a bucket's sum, in units of r, that each accounting needs for the same budget."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    names = list(ACCOUNTINGS)
    for index, (epsilon, part) in enumerate(rows.groupby("epsilon", sort=True)):
        heights = [names.index(name) + 0.16 * (index - 1) for name in part["accounting"]]
        axes.plot(
            part["noise_std"],
            heights,
            marker=MARKERS[index],
            linestyle="none",
            color=PALETTE[index],
            markersize=8,
            label=f"ε = {epsilon:g}",
        )
    axes.set_yticks(range(len(names)), ACCOUNTINGS.values())
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("noise deviation on a sum, in units of r")
    axes.legend(loc="lower right")
    return figure


def draw_support(histogram: Record, protection: Record) -> Figure:
    """Distances to the nearest output, frequent against infrequent texts; and how often infrequent ones are reached."""
    import matplotlib.pyplot as plt

    figure, (upper, lower) = plt.subplots(2, 1, figsize=(WIDTH, 6.4))
    rows = histogram.rows
    for index, kind in enumerate(("frequent", "infrequent")):
        part = rows[rows["kind"] == kind]
        if part.empty:
            continue  # a small corpus may hold no frequent text
        left = part["distance"].to_numpy()
        upper.bar(
            left,
            part["share"],
            width=left[1] - left[0],
            align="edge",
            color=PALETTE[(0, 4)[index]],
            alpha=0.55,
            hatch=HATCHES[index],
            edgecolor=PALETTE[(0, 4)[index]],
            linewidth=0.8,
            label=f"{kind} texts",
        )
    radius = float(histogram.parameters["radius"])
    upper.axvline(radius, color="black", linestyle=":", label="r")
    upper.set_xlim(left=0)
    upper.set_xlabel("distance to the nearest released centroid")
    upper.set_ylabel("share of texts")
    upper.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)

    rows = protection.rows.sort_values("psi")
    lower.plot(rows["psi"], rows["mean"], color=PALETTE[4], marker=MARKERS[0], label="an infrequent text")
    lower.plot(rows["psi"], rows["any_run"], color=PALETTE[0], marker=MARKERS[1], linestyle="--", label="any, per run")
    lower.plot(rows["psi"], rows["upper"], color="black", linestyle=":", label="any: 95 % bound")
    lower.set_ylim(-0.03, 1.03)
    lower.set_xlabel("reach ψ, in units of r")
    lower.set_ylabel("share reached (δ*)")
    lower.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    return figure
