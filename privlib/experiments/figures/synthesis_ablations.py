"""Ablations of the grid release, drawn from records alone: scores along one axis, noise and buckets by edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

AXES = {
    "multiplier": "edge, in units of 2r/√k",
    "dims": "projected dimensions k",
    "frequency": "frequency t",
    "rate": "sampling rate $p_s$",
    "epsilon": "ε",
}
PANELS = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "l2": "L2 / r",
    "released": "released buckets",
}
EDGE_PANELS = {
    "occupied": "occupied buckets",
    "members": "texts an occupied bucket",
    "pair_distance": "distance of a pair, in r",
    "heavy": "buckets of t texts or more",
}
_FARTHEST = 5.0  # radii; noisier centroids leave the panel


def draw_axis(record: Record) -> Figure:
    """F1, precision, recall, L2 and the number of buckets along the record's axis, a column an encoder.

    Bars span the runs. On the frequent texts where an encoder has them, else on all; the axis epsilon has a line for
    each kind of text, the others one for each epsilon and bill.
    """
    import matplotlib.pyplot as plt

    rows = record.rows
    axis = rows["axis"].iloc[0]
    rows = rows.assign(**{name: rows[name] / rows["radius"] for name in ("l2", "l2_low", "l2_high")})
    encoders = list(dict.fromkeys(rows["encoder"]))
    values = sorted(set(rows[axis]))
    place = values.index if axis == "epsilon" else float
    figure, panels = plt.subplots(
        len(PANELS), len(encoders), figsize=(WIDTH, 9.6), sharex=True, sharey="row", squeeze=False
    )
    for column, encoder in zip(panels.T, encoders, strict=True):
        part, scored = _shown(rows[rows["encoder"] == encoder], axis)
        column[0].set_title(f"{encoder}\n{scored}", fontsize=10)
        for panel, measure in zip(column, PANELS, strict=True):
            for index, (label, line) in enumerate(_lines(part, axis).items()):
                line = line[np.isfinite(line[measure])].sort_values(axis)
                low, high = (line.get(f"{measure}_{end}", line[measure]) for end in ("low", "high"))
                high = high.where(np.isfinite(high), _FARTHEST)
                panel.errorbar(
                    [place(value) for value in line[axis]], line[measure],
                    yerr=np.maximum([line[measure] - low, high - line[measure]], 0), label=label,
                    color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index],
                )  # fmt: skip
        column[-1].set_xticks([place(value) for value in values], [f"{v:g}".replace("inf", "∞") for v in values])
        column[-1].set_xlabel(AXES[axis])
    for panel, (measure, name) in zip(panels[:, 0], PANELS.items(), strict=True):
        panel.set_ylabel(name)
        panel.set_ylim(*{"l2": (0, _FARTHEST), "released": (0, None)}.get(measure, (-0.05, 1.05)))
    entries = {}
    for panel in panels[0]:
        handles, labels = panel.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=2)
    return figure


def _shown(rows: pd.DataFrame, axis: str) -> tuple[pd.DataFrame, str]:
    """The rows of one encoder that are drawn, and how its column says what they are scored on."""
    if axis == "epsilon":
        return rows, ""
    scored = "frequent" if "frequent" in set(rows["scored"]) else "all"
    return rows[rows["scored"] == scored], f"on {scored} texts"


def _lines(rows: pd.DataFrame, axis: str) -> dict[str, pd.DataFrame]:
    if axis == "epsilon":
        return {f"on {scored} texts": part for scored, part in rows.groupby("scored", sort=True)}
    return {
        bill if np.isinf(epsilon) else f"ε = {epsilon:g}, {bill}": part
        for (epsilon, bill), part in rows.groupby(["epsilon", "bill"], sort=True)
    }


def draw_noise(record: Record) -> Figure:
    """Noise on a bucket's sum against the edge, at the paper's settings: published, and by the integrated bill."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, 3.8))
    for index, (epsilon, part) in enumerate(record.rows.groupby("epsilon", sort=True)):
        for bill, linestyle in (("published", "-"), ("integrated", "--")):
            line = part[part["bill"] == bill].sort_values("multiplier")
            axes.plot(
                line["multiplier"], line["noise_std"], linestyle=linestyle, marker=MARKERS[index],
                color=PALETTE[index], label=f"ε = {epsilon:g}, {bill}",
            )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel(AXES["multiplier"])
    axes.set_ylabel("noise deviation on a sum, r = 0.5")
    axes.legend()
    return figure


def draw_edges(record: Record) -> Figure:
    """What a larger edge does before any sampling or noise: buckets, their sizes, and how far apart their texts are."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 5.4), sharex=True)
    for index, (encoder, rows) in enumerate(record.rows.groupby("encoder", sort=False)):
        for panel, (measure, name) in zip(panels.flat, EDGE_PANELS.items(), strict=True):
            panel.plot(
                rows["multiplier"], rows[measure], label=encoder,
                marker=MARKERS[index], color=PALETTE[index], linestyle=LINESTYLES[index],
            )  # fmt: skip
            panel.set_title(name)
        panels[1, 0].axhline(rows["any_pair"].iloc[0], color=PALETTE[index], linestyle=":", linewidth=1)
    panels[0, 0].set_yscale("log")
    for panel in panels.flat[1:]:
        panel.set_ylim(bottom=0)
    for panel in panels[1]:
        panel.set_xlabel(AXES["multiplier"])
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
