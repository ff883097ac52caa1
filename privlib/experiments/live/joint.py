"""Joint accounting of synthesis from embeddings: the thresholded count and the noisy sum billed as one release."""

from __future__ import annotations

import math

import numpy as np

from privlib import synthesis
from privlib.dp import threshold_delta
from privlib.experiments.live.charts import axis, layer, layered, series
from privlib.experiments.live.panel import Chart, Control, Number, Panel, Shown
from privlib.experiments.style import PALETTE

DIMS, V = 20, 4.0  # k of the paper's grid; its v at epsilon 4 and 8
POINTS, FEW = 5, 2  # of the two lines: incomplete beta functions are slow in a browser
SERIES = ("count and sum, jointly", "count alone")
SMALLEST = 1e-18


def compute(epsilon: float, delta: float, rate: float, frequency: int, multiplier: float, ratio: float) -> Shown:
    """What multiplier the budget needs, and what the multiplier that was chosen costs.

    `multiplier` (m): noise per unit of distance. `ratio` (u): records of one bucket lie within u r but for a chance
    delta_sensitivity, as the paper has it, which is billed beside the rest. Noise is stated in units of r.
    """
    threshold = synthesis.threshold_count(rate, frequency)
    rest = delta - (gap := synthesis.collision_probability(ratio, 2 / math.sqrt(DIMS), DIMS))
    spent = gap + synthesis.joint_delta(epsilon, multiplier, rate, threshold)
    numbers = [
        Number("threshold", "threshold τ = ⌈p_s t⌉", threshold, str(threshold)),
        Number("delta_sensitivity", "δ left to distances beyond u r", gap, f"{gap:.2e}"),
        Number("delta_spent", "exact δ at ε of noise m", spent, f"{spent:.2e}"),
    ]
    try:
        if rest <= 0:
            raise synthesis.InfeasibleBudget("delta_sensitivity", f"{gap:.4g} of {delta:.4g}")
        needed = synthesis.joint_noise_multiplier(epsilon, rest, rate, threshold)
        numbers.append(Number("joint_noise", "noise needed, in r (joint)", needed * ratio))
        problem = ""
    except synthesis.InfeasibleBudget as refused:
        problem = f"No noise meets this budget. {refused}"
    try:
        paper = synthesis.calibrate(epsilon, delta, rate, threshold, V, ratio, DIMS).noise_multiplier
        numbers.append(Number("paper_noise", "noise needed, in r (the paper, v = 4)", paper * ratio))
    except synthesis.InfeasibleBudget:
        pass  # the line is missing where the paper's calibration has no answer; the page says so
    rows = [
        {"series": name, "epsilon": at, "delta": cost}
        for name, points, price in (
            (SERIES[0], POINTS, lambda at: synthesis.joint_delta(at, multiplier, rate, threshold)),
            (SERIES[1], FEW, lambda at: threshold_delta(at, rate, threshold)),
        )
        for at in (np.linspace(0.4, 1.6, points) * epsilon).tolist()
        if (cost := price(at)) > SMALLEST
    ]
    data = {"curve": rows, "budget": [{"epsilon": epsilon, "delta": delta}]}
    return Shown(tuple(numbers), data, problem)


_X = axis("epsilon", "ε")
_Y = axis("delta", "exact δ", log=True, axis={"format": "~e"})
PANEL = Panel(
    name="joint",
    title="Count and noisy sum, billed together",
    controls=(
        Control("epsilon", "ε", "log", 4.0, 1.0, 16.0),
        Control("delta", "δ", "log", 1e-6, 1e-9, 1e-3),
        Control("rate", "sampling rate p_s", "linear", 0.3, 0.1, 0.6, 0.05),
        Control("frequency", "frequency t", "linear", 100, 20, 150, 5),
        Control("multiplier", "noise multiplier m", "log", 1.0, 0.2, 10.0),
        Control("ratio", "reach u, in r", "linear", 2.4, 1.6, 3.2, 0.1),
    ),
    charts=(
        Chart(
            "curve",
            "Exact delta against epsilon for the count with its noisy sum and for the count alone; a dot marks the "
            "stated budget.",
            layered(
                [
                    layer(
                        "curve",
                        {"type": "line", "point": {"filled": True, "size": 45}, "strokeWidth": 2.5},
                        x=_X,
                        y=_Y,
                        **series(SERIES),
                    ),
                    layer("budget", {"type": "point", "color": PALETTE[4], "filled": True, "size": 140}, x=_X, y=_Y),
                ]
            ),
        ),
    ),
    compute=compute,
)
