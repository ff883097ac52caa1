"""Figure of the variants of admission, drawn from a record alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

NAMES = {
    "private_topL": "rounds (the paper)",
    "private_topL_one_shot": "one-shot",
    "private_topL_monotone": "monotone",
    "private_topL_permute_and_flip_monotone": "permute-and-flip, monotone",
    "private_topL_zcdp": "zCDP",
    "private_topL_monotone_zcdp": "monotone, zCDP",
    "gaussian": "Gaussian sketch",
    "laplace": "Laplace sketch",
    "private_topL_permute_and_flip": "permute-and-flip",
}
PANELS = (("mass_retained", "MassRetained"), ("linf", "largest error of an admitted mass"))
LOOKS = dict(  # of a name, whichever others a record has
    zip(NAMES, zip(PALETTE, MARKERS, LINESTYLES, strict=True), strict=True)
)


def draw_variants(record: Record) -> Figure:
    """MassRetained and largest value error against epsilon, a line a mechanism; bars: 5 % to 95 % of the draws."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(PANELS), 1, figsize=(WIDTH, 8.2), sharex=True)
    groups = list(record.rows.groupby("mechanism", sort=False))
    for panel, (column, title) in zip(panels, PANELS, strict=True):
        for index, (name, rows) in enumerate(groups):
            colour, marker, line = LOOKS[name]
            shift = index - (len(groups) - 1) / 2  # side by side, so that the bars can be told apart
            low, high = rows[column] - rows[f"{column}_low"], rows[f"{column}_high"] - rows[column]
            panel.errorbar(
                rows["epsilon"] * 1.035**shift,
                rows[column],
                yerr=[low.clip(lower=0), high.clip(lower=0)],
                color=colour,
                marker=marker,
                linestyle=line,
                elinewidth=0.8,
                capsize=0,
                linewidth=1.4,
                markersize=5,
                label=NAMES[name],
            )
        panel.set_title(title)
        panel.set_xscale("log", base=2)
    panels[1].set_yscale("log")
    panels[1].yaxis.set_major_formatter("{x:g}")
    ticks = sorted(set(record.rows["epsilon"]))
    panels[1].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[1].minorticks_off()
    panels[1].set_xlabel("ε of the whole plan")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=3.2)
    return figure
