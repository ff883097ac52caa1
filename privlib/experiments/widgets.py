"""Sliders for JupyterLab: what epsilon, delta and sensitivity do to the noise. ipywidgets is imported when used.

The static book shows none of this: a Jupyter widget needs a kernel behind it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import Simulation, gaussian_delta, gaussian_noise_std
from privlib.experiments.style import LINESTYLES, PALETTE, SETTINGS

if TYPE_CHECKING:
    import ipywidgets

POINTS = 81


@dataclass(frozen=True)
class Calibration:
    """What the sliders show: noise for one budget, and what that noise costs at every other epsilon.

    `noise_std` of Gaussian noise, (epsilon, delta)-DP at the stated l2 sensitivity; `laplace_scale`, (epsilon, 0)-DP
    when the l1 sensitivity is the same number; `epsilons` float[81] from 0 to twice the stated one, `deltas` float[81]
    the exact delta of the Gaussian noise there. All for continuous noise.
    """

    epsilon: float
    delta: float
    sensitivity: float
    noise_std: float
    laplace_scale: float
    epsilons: np.ndarray
    deltas: np.ndarray

    def text(self) -> str:
        """One line for a reader."""
        return (
            f"ε = {self.epsilon:g}, δ = {self.delta:.1e}, sensitivity {self.sensitivity:g}: "
            f"Gaussian noise of deviation {self.noise_std:.4g}; Laplace noise of scale {self.laplace_scale:.4g}"
        )


def calibration(epsilon: float, delta: float, sensitivity: float) -> Calibration:
    """The numbers behind the sliders. Raises ValueError outside the ranges of `gaussian_noise_std`."""
    noise_std = gaussian_noise_std(epsilon, delta, sensitivity)
    epsilons = np.linspace(0, 2 * epsilon, POINTS)
    deltas = np.array([gaussian_delta(value, noise_std, sensitivity) for value in epsilons.tolist()])
    laplace_scale = Simulation(0).laplace_scale(epsilon, sensitivity, 1)
    return Calibration(epsilon, delta, sensitivity, noise_std, laplace_scale, epsilons, deltas)


def curve_svg(shown: Calibration) -> str:
    """The privacy curve of the Gaussian noise as SVG text, the stated budget marked; no pyplot, no display."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(5.5, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.semilogy(shown.epsilons, shown.deltas, color=PALETTE[0], linestyle=LINESTYLES[0])
        axes.plot(shown.epsilon, shown.delta, marker="o", color=PALETTE[4], linestyle="none")
        axes.set_xlabel("ε")
        axes.set_ylabel("exact δ of this noise")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def calibration_sliders(epsilon: float = 1.0, delta: float = 1e-6, sensitivity: float = 1.0) -> ipywidgets.VBox:
    """Three sliders, a line of numbers and the curve; redrawn when a slider is let go.

    Raises ValueError when a starting value lies outside its slider: epsilon 0.01..100, delta 1e-12..0.1,
    sensitivity 0.01..100 (all on logarithmic scales).
    """
    import ipywidgets

    starts = {"epsilon": (epsilon, -2, 2), "delta": (delta, -12, -1), "sensitivity": (sensitivity, -2, 2)}
    sliders = {}
    for name, (value, low, high) in starts.items():
        if not 10.0**low <= value <= 10.0**high:
            raise ValueError(f"{name} must lie in [1e{low}, 1e{high}] for the slider, got {value!r}")
        sliders[name] = ipywidgets.FloatLogSlider(
            value=value, min=low, max=high, step=0.05, description=name, continuous_update=False, readout_format=".2g"
        )
    line, picture = ipywidgets.HTML(), ipywidgets.HTML()

    def update(_change=None) -> None:
        shown = calibration(*(slider.value for slider in sliders.values()))
        line.value, picture.value = shown.text(), curve_svg(shown)

    for slider in sliders.values():
        slider.observe(update, names="value")
    update()
    return ipywidgets.VBox([*sliders.values(), line, picture])
