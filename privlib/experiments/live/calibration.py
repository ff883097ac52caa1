"""Noise for a budget: epsilon, delta and sensitivity, and what the noise costs at every other epsilon."""

from __future__ import annotations

from privlib.dp import classical_gaussian_noise_std, gaussian_delta
from privlib.experiments.live.charts import axis, layer, layered
from privlib.experiments.live.panel import Chart, Control, Number, Panel, Shown
from privlib.experiments.style import PALETTE
from privlib.experiments.widgets import calibration

SMALLEST = 1e-18  # deltas below this are not drawn


def compute(epsilon: float, delta: float, sensitivity: float) -> Shown:
    """The least noise for the budget, beside the classical formula, and the exact privacy curve of it."""
    made = calibration(epsilon, delta, sensitivity)
    numbers = [
        Number("noise_std", "Gaussian noise, standard deviation", made.noise_std),
        Number("laplace_scale", "Laplace noise, scale (δ = 0)", made.laplace_scale),
    ]
    if epsilon <= 1:
        textbook = classical_gaussian_noise_std(epsilon, delta, sensitivity)
        truth = gaussian_delta(epsilon, textbook, sensitivity)
        numbers += [
            Number("textbook_std", "classical formula, standard deviation", textbook),
            Number("textbook_delta", "exact δ of the classical noise", truth, f"{truth:.2e}"),
        ]
    curve = [
        {"epsilon": float(at), "delta": float(cost)}
        for at, cost in zip(made.epsilons, made.deltas, strict=True)
        if cost > SMALLEST
    ]
    return Shown(tuple(numbers), {"curve": curve, "budget": [{"epsilon": epsilon, "delta": delta}]})


_X = axis("epsilon", "ε")
_Y = axis("delta", "exact δ of this noise", log=True, axis={"format": "~e"})
PANEL = Panel(
    name="calibration",
    title="Noise for a budget",
    controls=(
        Control("epsilon", "ε", "log", 1.0, 0.05, 20.0),
        Control("delta", "δ", "log", 1e-6, 1e-12, 1e-2),
        Control("sensitivity", "sensitivity", "log", 1.0, 0.1, 100.0),
    ),
    charts=(
        Chart(
            "curve",
            "Exact delta of the Gaussian noise against epsilon, falling; a dot marks the stated budget on the curve.",
            layered(
                [
                    layer("curve", {"type": "line", "color": PALETTE[0], "strokeWidth": 2.5}, x=_X, y=_Y),
                    layer("budget", {"type": "point", "color": PALETTE[4], "filled": True, "size": 120}, x=_X, y=_Y),
                ]
            ),
        ),
    ),
    compute=compute,
)
