"""Figures of composition, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import HATCHES, LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record


def draw_costs(record: Record) -> Figure:
    """Epsilon against the number of releases, one panel a law, one line an accountant."""
    import matplotlib.pyplot as plt

    laws = list(dict.fromkeys(record.rows["law"]))
    figure, panels = plt.subplots(1, len(laws), figsize=(WIDTH, 3.9), sharey=True)
    for panel, law in zip(panels, laws, strict=True):
        rows = record.rows[record.rows["law"] == law]
        for index, (name, part) in enumerate(rows.groupby("accountant", sort=False)):
            style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index], markersize=5)
            panel.plot(part["releases"], part["epsilon"], label=name, **style)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_title(law)
        panel.set_xlabel("releases k")
    panels[0].set_ylabel("ε that the accountant states")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw_admitted(record: Record) -> Figure:
    """Number of releases that fit one budget, bars by accountant, one panel a law."""
    import matplotlib.pyplot as plt

    laws = list(dict.fromkeys(record.rows["law"]))
    figure, panels = plt.subplots(1, len(laws), figsize=(WIDTH, 2.6), sharey=True)
    for panel, law in zip(panels, laws, strict=True):
        rows = record.rows[record.rows["law"] == law]
        for index, (name, count) in enumerate(zip(rows["accountant"], rows["releases"], strict=True)):
            bar = panel.barh(name, count, color=PALETTE[index], hatch=HATCHES[index], edgecolor="white")
            panel.bar_label(bar, labels=[f"{count:,}"], padding=3, fontsize=10)
        panel.margins(x=0.2)
        panel.grid(axis="y", visible=False)
        panel.set_title(law)
        panel.set_xlabel("releases that fit")
    panels[0].invert_yaxis()
    return figure
