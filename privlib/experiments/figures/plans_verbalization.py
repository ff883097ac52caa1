"""Figures of the decoders, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.style import HATCHES, LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

NAMES = {
    "template": "template",
    "free-text-likeliest": "free text, likeliest words",
    "free-text-drawn": "free text, drawn words",
    "structured-claims": "structured claims",
}
KINDS = {
    "atom": "unknown\ntheme",
    "number": "wrong\nnumber",
    "bin": "wrong\nbin",
    "comparison": "wrong\norder",
    "rank": "wrong\nrank",
    "form": "form",
}


def draw_acceptance(*records: Record) -> Figure:
    """Share of plans with an accepted text by attempt, a panel a record, a line a decoder; bars are 95 % intervals."""
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(
        1, len(records), figsize=(WIDTH, 3.4 if len(records) == 1 else 3.2), sharey=True, squeeze=False
    )
    for axes, record in zip(grid[0], records, strict=True):
        decoders = list(dict.fromkeys(record.rows.decoder))
        for k, name in enumerate(decoders):
            rows = record.rows[record.rows.decoder == name]
            style = {"color": PALETTE[k], "marker": MARKERS[k], "linestyle": LINESTYLES[k], "label": NAMES[name]}
            place = rows.attempt + 0.07 * (k - (len(decoders) - 1) / 2)
            reach = [(rows.accepted - rows.low).clip(lower=0), (rows.high - rows.accepted).clip(lower=0)]
            axes.errorbar(place, rows.accepted, yerr=reach, elinewidth=0.9, capsize=2, **style)
        axes.set_xticks(sorted(set(record.rows.attempt)))
        axes.set_ylim(-0.03, 1.05)
        axes.set_xlabel("attempts")
        if len(records) > 1:
            axes.set_title(record.parameters["corpus"], loc="left", fontsize=11)
    grid[0][0].set_ylabel("plans with an accepted text")
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=3)
    return figure


def draw_reasons(record: Record) -> Figure:
    """Why texts were rejected (above) and which claims were left out before (below), bars by decoder."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(WIDTH, 5.4), sharex=True)
    decoders = list(dict.fromkeys(record.rows.decoder))
    width = 0.8 / len(decoders)
    for k, name in enumerate(decoders):
        rows = record.rows[record.rows.decoder == name].set_index("kind").loc[list(KINDS)]
        place = np.arange(len(KINDS)) + width * (k - (len(decoders) - 1) / 2)
        style = {"color": PALETTE[k], "hatch": HATCHES[k], "edgecolor": "white", "label": NAMES[name]}
        above.bar(place, rows.rejected, width, **style)
        below.bar(place, rows.dropped, width, **style)
    above.set_ylim(0, 1.02)
    above.set_ylabel("share of attempts")
    above.set_title("text rejected for", loc="left", fontsize=11)
    below.set_ylabel("claims an attempt")
    below.set_title("claims left out before the text", loc="left", fontsize=11)
    below.set_xticks(range(len(KINDS)), list(KINDS.values()))
    below.set_ylim(bottom=0)
    for axes in (above, below):
        axes.grid(axis="x", visible=False)
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
