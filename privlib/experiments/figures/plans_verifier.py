"""Recall and precision of the verifier on the labelled set, drawn from the record only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from privlib import plans
from privlib.experiments.studies.plans_verifier import APART, EVERY
from privlib.experiments.style import MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

SHOWN = {
    "evaluation": "evaluation: not read while tuning",
    "development-i": "development-i: only its totals read",
    "development-h": "development-h: read, tuned on last",
    "development": "development: read, tuned on first",
}
MEASURES = ("recall", "specificity", "precision")
BY_KIND = ("recall", "precision")
ORIGINS = ("template", "prose", "model")


def draw_recall(record: Record) -> Figure:
    """Share of the corrupted texts that are rejected, a line a corruption, each file, 95 % intervals; labels known."""
    rows = record.rows
    rows = rows[(rows.universe == "known") & (rows.origin == EVERY) & (rows.measure == "recall")]
    rows = rows[~rows.subject.isin(plans.verifier.KINDS)]
    rows = rows.assign(subject=rows.subject.replace({EVERY: "all but unsupported prose"}))
    held = rows[rows.file == "evaluation"].set_index("subject").share
    names = sorted(held.index, key=lambda name: (name.startswith("all"), name != APART, held[name], name))
    figure, axes = plt.subplots(figsize=(WIDTH, 9.0))
    _dots(axes, rows, "subject", names)
    axes.set_xlabel("recall: share of the corrupted texts rejected")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=1)
    return figure


def draw_precision(record: Record) -> Figure:
    """Recall, specificity and precision of whole texts by origin, and recall and precision by kind of claim."""
    rows = record.rows
    rows = rows[rows.universe == "known"]
    texts = rows[(rows.subject == EVERY) & rows.measure.isin(MEASURES) & rows.origin.isin(ORIGINS)]
    texts = texts.assign(line=texts.origin + ": " + texts.measure)
    kinds = rows[(rows.origin == EVERY) & rows.subject.isin(plans.verifier.KINDS) & rows.measure.isin(BY_KIND)]
    kinds = kinds.assign(line=kinds.subject + ": " + kinds.measure)
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(WIDTH, 11.0), sharex=True, height_ratios=[9, 10])
    _dots(upper, texts, "line", [f"{origin}: {measure}" for origin in reversed(ORIGINS) for measure in MEASURES[::-1]])
    upper.set_title("whole texts")
    named = dict.fromkeys(kinds.subject)
    _dots(lower, kinds, "line", [f"{kind}: {measure}" for kind in reversed(named) for measure in BY_KIND[::-1]])
    lower.set_title("by kind of claim: recall of texts with one false claim, precision of the violations")
    lower.set_xlabel("share")
    figure.legend(*upper.get_legend_handles_labels(), loc="outside upper center", ncols=1)
    return figure


def _dots(axes: Axes, rows: pandas.DataFrame, column: str, names: list[str]) -> None:
    """A line a name: the share of each file with its interval, the files a little apart."""
    for j, (file, label) in enumerate(SHOWN.items()):
        part = rows[rows.file == file].set_index(column).reindex(names)
        height = [k + 0.3 - 0.6 * j / (len(SHOWN) - 1) for k in range(len(names))]
        axes.errorbar(
            part.share,
            height,
            xerr=[part.share - part.low, part.high - part.share],
            fmt=MARKERS[j],
            color=PALETTE[j],
            markerfacecolor=PALETTE[j] if j == 0 else "white",
            linestyle="none",
            label=label,
        )
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    axes.set_xlim(-0.02, 1.02)
