"""One released plan: budget, size, sparsity and mechanism, with confidence intervals from the plan alone."""

from __future__ import annotations

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.live.charts import axis, layer, layered
from privlib.experiments.live.panel import Chart, Control, Number, Panel, Shown
from privlib.experiments.live.sketch import SPARSITIES, packaged
from privlib.experiments.style import PALETTE

MECHANISMS = {
    "gaussian": plans.GaussianPlan,
    "laplace": plans.LaplacePlan,
    "private_topL": plans.PrivateTopLPlan,
}
DELTA, LEVEL, MOST_ATOMS = 1e-6, 0.95, 12


def compute(epsilon: float, plan_size: int, sparsity: int, mechanism: str, draw: int) -> Shown:
    """A simulated release of the packaged sketch: each admitted atom with its interval, and its true mass beside it."""
    source = packaged()
    sketch = source.sketch(sparsity)
    budget = {"epsilon": epsilon} if mechanism == "laplace" else {"epsilon": epsilon, "delta": DELTA}
    setting = MECHANISMS[mechanism](source.universe, plan_size=plan_size, unit="record", relation="add_drop", **budget)
    plan = setting.release(sketch, Simulation(draw).child("live plan"))
    told = plans.intervals(plan, LEVEL)
    admitted = np.array([source.labels.index(atom.label) for atom in plan.atoms])
    best = set(plans.top(sketch.masses, plan_size).tolist())
    rows = [
        {
            "label": atom.label + ("" if index in best else " *"),
            "rank": atom.rank,
            "mass": atom.mass,
            "low": bound.low,
            "high": bound.high,
            "true": float(sketch.masses[index]),
        }
        for atom, bound, index in zip(plan.atoms, told.masses, admitted.tolist(), strict=True)
    ]
    hits, ordered = len(best & set(admitted.tolist())), sum(order.at_least > 0 for order in told.orders)
    numbers = (
        Number("noise_scale", f"scale of the {plan.noise.law} noise in a mass", plan.noise.scale),
        Number("mass_retained", "mass kept, of the true plan's", plans.mass_retained(sketch.masses, admitted)),
        Number("hits", "atoms of the true plan", hits, f"{hits} of {plan_size}"),
        Number(
            "orders", f"orders established, of all pairs, at {LEVEL:g}", ordered, f"{ordered} of {len(told.orders)}"
        ),
    )
    return Shown(numbers, {"atoms": rows})


_Y = {
    "field": "label",
    "type": "nominal",
    "sort": {"field": "rank"},
    "title": None,
    "axis": {"labelLimit": 150, "grid": True},
}
_X = axis("mass", "mass")
PANEL = Panel(
    name="plan",
    title="One released plan",
    controls=(
        Control("epsilon", "ε", "log", 1.0, 0.05, 10.0),
        Control("plan_size", "L, atoms admitted", "linear", 8, 1, MOST_ATOMS, 1),
        Control("sparsity", "K, atoms a text", "linear", 3, SPARSITIES[0], SPARSITIES[-1], 1),
        Control("mechanism", "mechanism", "choice", "gaussian", choices=tuple(MECHANISMS)),
        Control("draw", "draw of the noise", "linear", 0, 0, 99, 1),
    ),
    charts=(
        Chart(
            "atoms",
            "Released atoms by rank: a dot for the released mass, a bar for its confidence interval, a diamond for the "
            "true mass; a star marks atoms that are not of the true plan.",
            layered(
                [
                    layer(
                        "atoms",
                        {"type": "rule", "strokeWidth": 5, "opacity": 0.45, "color": PALETTE[0]},
                        x=axis("low", _X["title"]),
                        x2={"field": "high"},
                        y=_Y,
                    ),
                    layer("atoms", {"type": "point", "filled": True, "size": 90, "color": PALETTE[0]}, x=_X, y=_Y),
                    layer(
                        "atoms",
                        {"type": "point", "shape": "diamond", "size": 110, "strokeWidth": 2, "color": PALETTE[4]},
                        x=axis("true", _X["title"]),
                        y=_Y,
                    ),
                ],
                height=380,
            ),
        ),
    ),
    compute=compute,
)
