"""Sliders for JupyterLab: what a released centroid costs, by budget, rate, frequency, grid and bound on distances.

Closed forms only, each move a few root searches of `joint_delta` and at most one `release_delta`: no privacy-loss
distribution is computed behind a slider. ipywidgets is imported when used; the static book shows none of this.
"""

from __future__ import annotations

import contextlib
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib import synthesis
from privlib.experiments.style import LINESTYLES, PALETTE, SETTINGS

if TYPE_CHECKING:
    import ipywidgets

SENSITIVITIES = ("paper", "union", "integrated", "worst_case")
DELTA, MAX_RECORDS = 1e-6, 1_000_000
RADIUS = 0.5  # the paper's r; vectors of norm at most 1, so that no two are farther apart than 2 = 4 r
FARTHEST = 2 / RADIUS
POINTS = 121


@dataclass(frozen=True)
class ShownRelease:
    """What the sliders show, distances and noise in units of r.

    `distance` Delta that is paid for, `failure` the share of delta put aside for farther records (0 where the mode has
    none), `multiplier` m by joint accounting of the rest, `noise_std` = m Delta, `noise_per_kept` = noise_std / p;
    `lemma_multiplier` by Lemma 1 at its best v; both infinite, with `term` the part of the bill that ate the budget,
    where no noise is enough ("" else). `delta` stated by the mode for this noise: for "integrated" the integrated bill,
    1 where there is no noise to bill.
    """

    epsilon: float
    rate: float
    frequency: int
    threshold: int
    dims: int
    sensitivity: str
    distance: float
    failure: float
    multiplier: float
    lemma_multiplier: float
    delta: float
    term: str

    @property
    def noise_std(self) -> float:
        return self.multiplier * self.distance

    @property
    def noise_per_kept(self) -> float:
        return self.noise_std / self.rate

    def text(self) -> str:
        """One line for a reader."""
        head = (
            f"ε = {self.epsilon:.3g}, p = {self.rate:g}, t = {self.frequency}: τ = {self.threshold}; "
            f"Δ = {self.distance:.2f} r ({self.sensitivity})"
        )
        if self.term:
            return f"{head}: infeasible at δ = {DELTA:g}, {self.term} uses up the budget"
        kept = "kept" if self.delta <= DELTA * (1 + 1e-6) else "NOT kept: raise u"
        return (
            f"{head}: m = {self.multiplier:.3f} (Lemma 1, best v: {self.lemma_multiplier:.3f}), "
            f"noise {self.noise_std:.2f} r on a sum, {self.noise_per_kept:.2f} r a kept record; "
            f"billed δ = {self.delta:.2g}, budget {DELTA:g} {kept}"
        )


def shown_release(
    epsilon: float, rate: float, frequency: int, dims: int, ratio: float, sensitivity: str
) -> ShownRelease:
    """The numbers behind the sliders at delta = 1e-6 and at most 1e6 records. `ratio` is u.

    "paper": Delta = u r, failure f(2 / u)^k once. "union": Delta = u r, failure 1e6 f(2 / u)^k. "integrated": noise for
    Delta = u r, billed by the integrated bound (the least u that keeps the budget is its noise). "worst_case": Delta =
    2 R, whatever u. Raises ValueError for another `sensitivity`.
    """
    if sensitivity not in SENSITIVITIES:
        raise ValueError(f"sensitivity must be one of {SENSITIVITIES}, got {sensitivity!r}")
    threshold = synthesis.threshold_count(rate, frequency)
    distance = FARTHEST if sensitivity == "worst_case" else min(ratio, FARTHEST)
    chance = synthesis.collision_probability(distance, 2 / math.sqrt(dims), dims) if distance < FARTHEST else 0.0
    failure = {"paper": chance, "union": min(1.0, MAX_RECORDS * chance)}.get(sensitivity, 0.0)
    rest, multiplier, lemma, delta, term = DELTA - failure, math.inf, math.inf, 1.0, ""
    try:
        if rest <= 0:
            raise synthesis.InfeasibleBudget("delta_sensitivity", f"{failure:.3g} of {DELTA:g}")
        multiplier = synthesis.joint_noise_multiplier(epsilon, rest, rate, threshold)
        delta = synthesis.joint_delta(epsilon, multiplier, rate, threshold) + failure
        if sensitivity == "integrated":
            worst = delta if distance == FARTHEST else 1.0
            grid = (rate, threshold, dims, MAX_RECORDS)
            delta = min(worst, synthesis.release_delta(epsilon, multiplier * distance, *grid))
    except synthesis.InfeasibleBudget as error:
        term = error.term
    else:
        with contextlib.suppress(synthesis.InfeasibleBudget):  # the lemma may allow nothing where the exact count does
            lemma = synthesis.lemma_noise_multiplier(epsilon, rest, rate, threshold)[0]
    return ShownRelease(
        epsilon, rate, frequency, threshold, dims, sensitivity, distance, failure, multiplier, lemma, delta, term
    )


def release_svg(shown: ShownRelease) -> str:
    """How soon pairs stop sharing a bucket: chance by distance, one pair and a million, and the Delta paid for; SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    distances = np.linspace(0.05, max(FARTHEST, shown.distance) * 1.05, POINTS)
    chances = synthesis.collision_probability(distances, 2 / math.sqrt(shown.dims), shown.dims)
    # fixed places and text as text: an automatic layout, a log axis and outlined letters take longer than the numbers
    with mpl.rc_context(SETTINGS | {"figure.constrained_layout.use": False, "svg.fonttype": "none"}):
        figure = Figure(figsize=(5.5, 3.4))
        axes = figure.add_axes((0.15, 0.17, 0.82, 0.78))
        curves = (("a fixed pair", chances), ("any of 1,000,000, at most", np.minimum(MAX_RECORDS * chances, 1.0)))
        for index, (label, curve) in enumerate(curves):
            heights = np.log10(np.maximum(curve, 1e-30))
            axes.plot(distances, heights, color=PALETTE[index], linestyle=LINESTYLES[index], label=label)
        axes.axhline(math.log10(DELTA), color="black", linestyle=LINESTYLES[3], label="δ")
        axes.axvline(shown.distance, color=PALETTE[4], linestyle=LINESTYLES[2], label="Δ paid for")
        axes.set_ylim(-14, 0.3)
        axes.set_yticks([-12, -9, -6, -3, 0], ["1e-12", "1e-9", "1e-6", "1e-3", "1"])
        axes.set_xlim(0, distances[-1])
        axes.set_xticks(range(5))
        axes.set_xlabel("distance in units of r")
        axes.set_ylabel("chance to share a bucket")
        axes.legend(loc="lower left")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def release_sliders() -> ipywidgets.VBox:
    """Sliders for epsilon, p_s, t, k and u, a choice of the bound on distances; redrawn when one is let go."""
    import ipywidgets

    held = {"continuous_update": False}
    controls = {
        "epsilon": ipywidgets.FloatLogSlider(value=4.0, min=-1, max=1.2, step=0.05, readout_format=".2g", **held),
        "rate": ipywidgets.FloatSlider(value=0.3, min=0.1, max=0.9, step=0.05, **held),
        "frequency": ipywidgets.IntSlider(value=100, min=20, max=200, step=5, **held),
        "dims": ipywidgets.IntSlider(value=20, min=10, max=30, **held),
        "ratio": ipywidgets.FloatSlider(value=2.4, min=0.5, max=4.0, step=0.05, **held),
        "sensitivity": ipywidgets.Dropdown(options=SENSITIVITIES, value="paper"),
    }
    names = {"rate": "p", "frequency": "t", "dims": "k", "ratio": "u"}
    for name, control in controls.items():
        control.description = names.get(name, name)
    line, picture = ipywidgets.HTML(), ipywidgets.HTML()

    def update(_change=None) -> None:
        values = {name: control.value for name, control in controls.items()}
        shown = shown_release(**values | {"rate": round(values["rate"], 2)})
        line.value, picture.value = shown.text(), release_svg(shown)

    for control in controls.values():
        control.observe(update, names="value")
    update()
    return ipywidgets.VBox([*controls.values(), line, picture])
