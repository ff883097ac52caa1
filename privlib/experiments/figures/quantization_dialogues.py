"""Figures of the dialogues experiment, drawn from records alone."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from privlib.experiments.studies.quantization_dialogues import NOT_LOOKING, PUBLIC
from privlib.experiments.studies.quantization_text import COUNT, RAW
from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

PARTS = ("aggregate", "faithfulness", "own words")


def draw_errors(record: Record) -> Figure:
    """Attack error against gamma/k, one panel a private file and secret, from `over_dilutions`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    panels_of = list(dict.fromkeys(zip(rows["file"], rows["secret"], strict=True)))
    columns = min(3, len(panels_of))
    lines = -(-len(panels_of) // columns)
    figure, panels = plt.subplots(lines, columns, figsize=(WIDTH, 2.5 * lines + 1.3), sharex=True, sharey="row",
                                  squeeze=False)  # fmt: skip
    for panel, (file, secret) in zip(panels.ravel(), panels_of, strict=False):
        part = rows[(rows["file"] == file) & (rows["secret"] == secret)]
        ours = part[part["method"].str.isdigit()].assign(dilution=lambda r: r["method"].astype(int))
        corrected = ours["attack"].str.endswith(", corrected")
        kinds = {
            "labels read exactly": ours[ours["attack"] == COUNT],
            "labellers, mean": ours[~corrected & (ours["attack"] != COUNT)],
            "labellers, corrected, mean": ours[corrected],
        }
        for index, (name, some) in enumerate(kinds.items()):
            means = some.groupby("dilution")[["error", "sd"]].mean()
            style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index])
            panel.errorbar(means.index * (1 + 0.04 * (index - 1)), means["error"], yerr=means["sd"], linewidth=1.2,
                           elinewidth=0.6, markersize=4, label=name, **style)  # fmt: skip
        raw = part[(part["method"] == RAW) & (part["attack"] != COUNT) & ~part["attack"].str.endswith(", corrected")]
        blind = part[part["method"] == NOT_LOOKING]["error"].iloc[0]
        panel.axhline(raw["error"].mean(), color=PALETTE[1], linewidth=0.8, label="labellers on raw rows, mean")
        panel.axhline(blind, color=PALETTE[6], linestyle=":", linewidth=1.2, label="quoting the public share")
        panel.set_xscale("log")
        ticks = sorted(set(ours["dilution"]))
        panel.set_xticks(ticks, [str(tick) for tick in ticks])
        panel.minorticks_off()
        panel.tick_params(labelsize=8)
        panel.set_title("\n".join([f"{file}:", *textwrap.wrap(secret, 20)]), fontsize=9)
        panel.set_ylim(bottom=0)
    for panel in panels.ravel()[len(panels_of) :]:
        panel.set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("γ/k", fontsize=10)
    for panel in panels[:, 0]:
        panel.set_ylabel("attack error", fontsize=10)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_quality(record: Record) -> Figure:
    """Utility, faithfulness and kept private words against gamma/k, one panel a private file, from `over_dilutions`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    files = list(dict.fromkeys(rows["file"]))
    columns = min(2, len(files))
    lines = -(-len(files) // columns)
    figure, panels = plt.subplots(lines, columns, figsize=(WIDTH, 2.4 * lines + 1.2), sharex=True, sharey=True,
                                  squeeze=False)  # fmt: skip
    for panel, file in zip(panels.ravel(), files, strict=False):
        part = rows[rows["file"] == file]
        ours = part[part["method"].str.isdigit()].assign(dilution=lambda r: r["method"].astype(int))
        for index, name in enumerate(PARTS):
            some = ours[ours["quantity"] == name].sort_values("dilution")
            style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index])
            panel.errorbar(some["dilution"], some["value"], yerr=some["sd"], linewidth=1.2, elinewidth=0.6,
                           label="utility (mean of four)" if name == PARTS[0] else name, **style)  # fmt: skip
        public = part[(part["method"] == PUBLIC) & (part["quantity"] == PARTS[0])]["value"].iloc[0]
        panel.axhline(public, color=PALETTE[6], linestyle=":", linewidth=1.2, label="utility of public rows")
        panel.set_xscale("log")
        ticks = sorted(set(ours["dilution"]))
        panel.set_xticks(ticks, [str(tick) for tick in ticks])
        panel.minorticks_off()
        panel.set_title(file, fontsize=9)
        panel.set_ylim(0, 1)
    for panel in panels.ravel()[len(files) :]:
        panel.set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("γ/k", fontsize=10)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure
