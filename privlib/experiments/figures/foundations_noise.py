"""Figures of the noise notebook, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import HATCHES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

SAMPLERS = {"float": "floating point: the answer shows", "grid": "integers times 2⁻⁴⁰: it does not"}


def draw_laws(record: Record) -> Figure:
    """Exact probabilities (marks) on sampled shares (bars), one panel a law, one colour a scale."""
    import matplotlib.pyplot as plt

    rows = record.rows
    names = list(dict.fromkeys(rows["law"]))
    figure, panels = plt.subplots(len(names), 1, figsize=(WIDTH, 2.3 * len(names)))
    for panel, law in zip(panels, names, strict=True):
        for index, (scale, part) in enumerate(rows[rows["law"] == law].groupby("scale", sort=True)):
            panel.bar(
                part["x"], part["share"], width=0.9, color=PALETTE[index], alpha=0.35, hatch=HATCHES[index],
                edgecolor=PALETTE[index], linewidth=0.5, label=f"drawn, scale {scale:g}",
            )  # fmt: skip
            panel.plot(
                part["x"], part["probability"], linestyle="none", marker=MARKERS[index], markersize=5,
                color=PALETTE[index], markeredgecolor="white", label=f"exact, scale {scale:g}",
            )  # fmt: skip
        panel.set_title(law, loc="left")
        panel.xaxis.get_major_locator().set_params(integer=True)
        panel.set_ylabel("probability")
    panels[-1].set_xlabel("noise (last panel: number of dummies)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_leak(record: Record) -> Figure:
    """Outputs in (0, 1/2) by the lowest bit they use, one panel a sampler, one colour a true answer."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, panels = plt.subplots(len(SAMPLERS), 1, figsize=(WIDTH, 5.0), sharex=True)
    for panel, (sampler, title) in zip(panels, SAMPLERS.items(), strict=True):
        for index, (answer, part) in enumerate(rows[rows["sampler"] == sampler].groupby("answer", sort=True)):
            panel.bar(
                part["bit"] + 0.42 * (index - 0.5), part["share"], width=0.42, color=PALETTE[index],
                hatch=HATCHES[index], edgecolor="white", linewidth=0.4, label=f"true answer {answer:g}",
            )  # fmt: skip
        panel.set_title(title, loc="left")
        panel.set_ylabel("share of outputs")
        panel.axvline(-53.5, color="black", linestyle=":", linewidth=1)
    panels[0].legend(loc="upper right")
    panels[-1].set_xticks(range(-64, -29, 4), ["≤ −64", *(f"−{-bit}" for bit in range(-60, -29, 4))])
    panels[-1].set_xlabel("lowest bit of the released number, as a power of two")
    return figure
