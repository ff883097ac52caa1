"""Noise on the integers: the law of a released count for two neighbouring answers, and its exact price."""

from __future__ import annotations

import math

import numpy as np

from privlib.dp import (
    Simulation,
    discrete_gaussian_delta,
    discrete_gaussian_log_pmf,
    discrete_gaussian_noise_std,
    discrete_laplace_log_pmf,
)
from privlib.experiments.live.charts import axis, layer, layered, series
from privlib.experiments.live.panel import Chart, Control, Number, Panel, Shown

LAWS = ("discrete Gaussian", "discrete Laplace")
SERIES = ("answer 0", "answer 0 + sensitivity")
MOST_POINTS = 61


def compute(law: str, epsilon: float, delta: float, sensitivity: int) -> Shown:
    """Scale for the budget, and the probabilities of every released integer when the answer is 0 or the sensitivity."""
    if law == "discrete Gaussian":
        scale = discrete_gaussian_noise_std(epsilon, delta, sensitivity, 1)
        price = discrete_gaussian_delta(epsilon, scale, sensitivity)
        pmf, name = discrete_gaussian_log_pmf, "parameter s (its deviation is at most s)"
    else:
        scale, price = Simulation(0).laplace_scale(epsilon, sensitivity, 1), 0.0
        pmf, name = discrete_laplace_log_pmf, "scale b"
    reach = max(3, math.ceil(4 * scale))
    stride = max(1, math.ceil((2 * reach + sensitivity + 1) / MOST_POINTS))
    at = np.arange(-reach, reach + sensitivity + 1, stride)
    laws = (pmf(at, scale), pmf(at - sensitivity, scale))
    rows = [
        {"series": series_name, "x": int(x), "probability": math.exp(log)}
        for series_name, logs in zip(SERIES, laws, strict=True)
        for x, log in zip(at, logs, strict=True)
    ]
    exact = math.exp(float(pmf(np.array([0]), scale)[0]))
    numbers = (
        Number("scale", name, scale),
        Number("delta", "exact δ at ε", price, f"{price:.3e}" if price else "0"),
        Number("exact", "chance that the answer comes out exact", exact),
    )
    return Shown(numbers, {"law": rows})


PANEL = Panel(
    name="integers",
    title="Noise on the integers",
    controls=(
        Control("law", "law", "choice", LAWS[0], choices=LAWS),
        Control("epsilon", "ε", "log", 1.0, 0.1, 10.0),
        Control("delta", "δ (Gaussian only)", "log", 1e-6, 1e-10, 1e-2),
        Control("sensitivity", "sensitivity", "linear", 1, 1, 20, 1),
    ),
    charts=(
        Chart(
            "law",
            "Probability of each released integer for two neighbouring answers: two bells of the same shape, one moved "
            "by the sensitivity.",
            layered(
                [
                    layer(
                        "law",
                        {"type": "line", "point": {"filled": True, "size": 40}, "strokeWidth": 1.5},
                        x=axis("x", "released integer", axis={"format": "d"}),
                        y=axis("probability", "probability", scale={"zero": True}),
                        **series(SERIES),
                    )
                ]
            ),
        ),
    ),
    compute=compute,
)
