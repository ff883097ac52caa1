"""Figures of attacks on rewritten texts, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import HATCHES, LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

UNREWRITTEN = ("raw rows", "half of the rows")
SHOWN = ("public share, without looking", "count labels, read exactly", "provenance")


def draw_shares(record: Record) -> Figure:
    """Error of not looking, counting and provenance, one panel a private share, from `quantization_text.by_share`."""
    import matplotlib.pyplot as plt

    rows = record.rows[~record.rows["rewriter"].isin(UNREWRITTEN)]
    shares, rewriters = (list(dict.fromkeys(rows[column])) for column in ("share", "rewriter"))
    figure, panels = plt.subplots(1, len(shares), figsize=(WIDTH, 0.55 * len(rewriters) + 2.6), sharey=True,
                                  squeeze=False)  # fmt: skip
    for panel, share in zip(panels[0], shares, strict=True):
        part = rows[rows["share"] == share]
        for index, attack in enumerate(SHOWN):
            some = part[part["attack"] == attack]
            places = [rewriters.index(name) + 0.26 * (index - 1) for name in some["rewriter"]]
            panel.barh(places, some["error"], 0.24, xerr=some["sd"], color=PALETTE[index], hatch=HATCHES[index],
                       edgecolor="white", error_kw=dict(elinewidth=0.8, capsize=2), label=attack)  # fmt: skip
        panel.set_title(f"private share {share:g}", fontsize=10)
        panel.set_yticks(range(len(rewriters)), rewriters, fontsize=9)
        panel.set_xlim(left=0)
        panel.set_xlabel("error")
    panels[0, 0].set_ylim(len(rewriters) - 0.5, -0.5)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=1, fontsize=9)
    return figure


def draw_price(errors: Record, costs: Record) -> Figure:
    """Error of the provenance attack against the share of private words kept, one mark a rewriter and private share."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(WIDTH, 4.2))
    kept = costs.rows[costs.rows["quantity"] == "own words"].set_index(["share", "rewriter"])["value"]
    rewriters, shares = (list(dict.fromkeys(costs.rows[column])) for column in ("rewriter", "share"))
    for attack, face in (("provenance", True), ("count labels, read exactly", False)):
        part = errors.rows[errors.rows["attack"] == attack].set_index(["share", "rewriter"])["error"]
        for index, rewriter in enumerate(rewriters):
            points = [(kept[share, rewriter], part[share, rewriter]) for share in shares if (share, rewriter) in part]
            if points:
                panel.plot(*zip(*points, strict=True), MARKERS[index], color=PALETTE[index],
                           markerfacecolor=PALETTE[index] if face else "white")  # fmt: skip
    for index, rewriter in enumerate(rewriters):
        panel.plot([], [], MARKERS[index], color=PALETTE[index], label=rewriter)
    panel.plot([], [], "o", color=PALETTE[6], markerfacecolor="white", label="hollow: counting labels instead")
    panel.set_xlabel("released words from private clauses")
    panel.set_ylabel("error of the attack (filled: provenance)")
    panel.set_ylim(bottom=0)
    panel.set_xlim(left=-0.02)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def draw_families(record: Record) -> Figure:
    """Errors of labellers, counted and corrected, averaged over private shares, from `quantization_text.by_share`."""
    import matplotlib.pyplot as plt

    rows = record.rows[~record.rows["attack"].isin(SHOWN)]
    means = rows.groupby(["rewriter", "attack"], sort=False)["error"].mean()
    rewriters = list(dict.fromkeys(rows["rewriter"]))
    families = [name for name in dict.fromkeys(rows["attack"]) if not name.endswith(", corrected")]
    figure, panel = plt.subplots(figsize=(WIDTH, 0.5 * len(rewriters) + 2.4))
    for index, family in enumerate(families):
        for name, face, shift in ((family, "white", -0.1), (f"{family}, corrected", PALETTE[index], 0.1)):
            places = [place + shift for place in range(len(rewriters))]
            panel.plot([means[rewriter, name] for rewriter in rewriters], places, MARKERS[index], color=PALETTE[index],
                       linestyle=LINESTYLES[index] if face != "white" else "none", linewidth=0.8,
                       markerfacecolor=face)  # fmt: skip
        panel.plot([], [], MARKERS[index], color=PALETTE[index], label=family)
    exact = record.rows[record.rows["attack"] == SHOWN[1]].groupby("rewriter", sort=False)["error"].mean()
    panel.plot([exact[rewriter] for rewriter in rewriters], range(len(rewriters)), "|", color=PALETTE[6], markersize=22,
               label=SHOWN[1])  # fmt: skip
    panel.set_yticks(range(len(rewriters)), rewriters, fontsize=9)
    panel.set_ylim(len(rewriters) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.set_xlabel("error, mean over private shares (hollow: counted, filled: corrected)", fontsize=10)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure
