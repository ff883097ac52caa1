"""Figures of the calibration notebook, drawn from records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.style import LINESTYLES, MARKERS, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record

CALIBRATIONS = {"classical": "classical", "analytic": "analytic", "integers": "analytic, on the integers"}
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_deviations(record: Record) -> Figure:
    """Deviation as a share of the classical one against epsilon, one panel a delta, one line a calibration."""
    import matplotlib.pyplot as plt

    rows = record.rows
    deltas = sorted(set(rows["delta"]), reverse=True)
    figure, panels = plt.subplots(len(deltas), 1, figsize=(WIDTH, 2.6 * len(deltas)), sharex=True, squeeze=False)
    for panel, delta in zip(panels[:, 0], deltas, strict=True):
        for index, (name, label) in enumerate(CALIBRATIONS.items()):
            part = rows[(rows["delta"] == delta) & (rows["calibration"] == name)].sort_values("epsilon")
            panel.plot(
                part["epsilon"], part["share"], color=PALETTE[index], linestyle=LINESTYLES[index],
                marker=MARKERS[index], markevery=(index, 5), label=label,
            )  # fmt: skip
        panel.axvspan(panel.get_xlim()[0], 1, color="#e8e8e8", zorder=0, label="where the classical proof holds")
        panel.set(xscale="log", xlim=(rows["epsilon"].min(), rows["epsilon"].max()), ylabel="share of classical σ")
        panel.set_title(f"δ = {scientific(delta)}", loc="left")
        panel.set_xticks([0.1, 1, 10, 20], ["0.1", "1", "10", "20"])
    panels[-1, 0].set_xlabel("ε")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def scientific(value: float) -> str:
    """A power of ten as 10⁻⁵, other numbers as they are."""
    mantissa, _, exponent = f"{value:e}".partition("e")
    return "10" + str(int(exponent)).translate(SUPERSCRIPT) if float(mantissa) == 1 else f"{value:g}"


def draw_true_delta(record: Record) -> Figure:
    """True over stated delta of the classical deviation against epsilon; the analytic one stays at 1."""
    import matplotlib.pyplot as plt

    rows = record.rows
    figure, axes = plt.subplots(figsize=(WIDTH, 4.2))
    classical = rows[rows["calibration"] == "classical"]
    for index, delta in enumerate(sorted(set(rows["delta"]), reverse=True)):
        part = classical[classical["delta"] == delta].sort_values("epsilon")
        axes.plot(
            part["epsilon"], part["excess"], color=PALETTE[index], linestyle=LINESTYLES[index], marker=MARKERS[index],
            markevery=5, label=f"classical, δ = {scientific(delta)}",
        )  # fmt: skip
    analytic = rows[rows["calibration"] == "analytic"].groupby("epsilon", sort=True)["excess"].max()
    axes.plot(analytic.index, analytic, color="#666666", linestyle=(0, (1, 1)), label="analytic, every δ")
    axes.axvspan(0, 1, color="#e8e8e8", zorder=0, label="where the classical proof holds")
    axes.set(yscale="log", xlabel="ε", ylabel="true δ / stated δ", xlim=(0, classical["epsilon"].max()))
    axes.set_ylim(bottom=1e-4)
    axes.legend(loc="lower right")
    return figure
