"""Figures of budgets of leakage by attribute and by table, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.studies.quantization_budgets import (
    BY_ATTRIBUTE,
    BY_TABLE,
    CENTRED,
    ONE,
    PUBLISHED,
    SAME,
    frontier,
)
from privlib.experiments.style import HATCHES, LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

UNIFORM = (SAME, BY_ATTRIBUTE, BY_TABLE, ONE)
SHOWN = (*UNIFORM, BY_TABLE + CENTRED, ONE + CENTRED)


def draw_trade(record: Record) -> Figure:
    """Utility and error of counting labels against the bound allowed, one column a private file, from `trade`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    files = list(dict.fromkeys(rows["file"]))
    figure, panels = plt.subplots(2, len(files), figsize=(WIDTH, 7.2), sharex=True, sharey="row", squeeze=False)
    for column, file in enumerate(files):
        part = rows[rows["file"] == file]
        public = part[part["method"] == PUBLISHED].iloc[0]
        for row, (value, spread) in enumerate((("joint", "joint_sd"), ("error", "error_sd"))):
            panel = panels[row, column]
            for index, method in enumerate(SHOWN):
                some = part[part["method"] == method]
                hollow = method.endswith(CENTRED)
                style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[1 if hollow else 0])
                panel.errorbar(some["nats"] * (1 + 0.02 * (index - 2)), some[value], yerr=some[spread], linewidth=1.2,
                               elinewidth=0.6, markersize=5, markerfacecolor="white" if hollow else PALETTE[index],
                               label=method, **style)  # fmt: skip
            panel.axhline(public[value], color=PALETTE[6], linestyle=":", linewidth=1.4, label=f"{PUBLISHED}, 0 nats")
        panels[0, column].set_title(file, fontsize=10)
        panels[1, column].set_xlabel("bound on SML allowed (nats)")
    panels[0, 0].set_ylabel("utility (1 − TV, joint)")
    panels[1, 0].set_ylabel("error of counting labels")
    panels[1, 0].set_ylim(bottom=0)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_exact(record: Record, ceiling: float) -> Figure:
    """Expected distance against exact leakage, with each method's best trades joined, from `exact_trade`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, panel = plt.subplots(figsize=(WIDTH, 4.6))
    tried = rows[rows["method"] == BY_ATTRIBUTE]
    panel.plot(tried["exact"], tried["distance"], ".", color="0.75", markersize=4, label="every γ, k by attribute")
    best = frontier(rows, "exact")
    for index, method in enumerate(UNIFORM):
        part = best[best["method"] == method].sort_values("exact")
        style = dict(color=PALETTE[index], marker=MARKERS[index], linestyle=LINESTYLES[index])
        panel.plot(part["exact"], part["distance"], linewidth=1.2, label=method, **style)
    panel.axvline(ceiling, color=PALETTE[6], linestyle=":", label="ceiling ln(n + 1)")
    panel.set_xlabel("exact SML (nats)")
    panel.set_ylabel("expected TV of the joint law")
    panel.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_spent(record: Record, names: tuple[str, ...]) -> Figure:
    """Nats spent on each attribute by the best allocation, one panel a kind of candidates, from `spent`."""
    import matplotlib.pyplot as plt

    rows = record.rows
    kinds = list(dict.fromkeys(rows["candidates"]))
    figure, panels = plt.subplots(1, len(kinds), figsize=(WIDTH, 3.8), sharey=True)
    limits = sorted(set(rows["nats"]))
    for panel, kind in zip(panels, kinds, strict=True):
        base = [0.0] * len(limits)
        for attribute, name in enumerate(names):
            part = rows[(rows["candidates"] == kind) & (rows["attribute"] == attribute)].set_index("nats")
            tables = int(part["tables"].iloc[0])
            label = f"{name} ({tables} {'table' if tables == 1 else 'tables'})"
            panel.bar(range(len(limits)), part["spent"].loc[limits], bottom=base, color=PALETTE[attribute],
                      hatch=HATCHES[attribute], edgecolor="white", label=label)  # fmt: skip
            base = [b + s for b, s in zip(base, part["spent"].loc[limits], strict=True)]
        panel.set_xticks(range(len(limits)), [f"{limit:g}" for limit in limits])
        panel.set_title(f"{kind} candidates", fontsize=10)
        panel.set_xlabel("bound allowed (nats)")
    panels[0].set_ylabel("bound spent (nats)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure
