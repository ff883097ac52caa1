"""Sliders for JupyterLab: what budget, plan size, sparsity, dictionary and bound do to one released plan.

The texts are public, so the truth is shown beside the plan; the noise is a simulation. ipywidgets is imported when
used; the static book shows none of this.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.style import HATCHES, PALETTE, SETTINGS

if TYPE_CHECKING:
    import ipywidgets
    from scipy import sparse

MECHANISMS = ("gaussian", "laplace", "private_topL")
DELTA = 1e-6
MOST_ATOMS = 12  # bars that fit the picture


@dataclass(frozen=True, eq=False)
class PublicTexts:
    """What the sliders work on: public texts, their users or None, and the atoms, the largest dictionary first made."""

    texts: Sequence[str]
    unit_ids: Sequence[str] | None
    universe: plans.AtomUniverse

    def vectors(self, sparsity: int, size: int) -> tuple[plans.AtomUniverse, sparse.csr_array]:
        """The first `size` atoms and the assignment of every text to at most `sparsity` of them."""
        labels, descriptions = self.universe.labels[:size], self.universe.descriptions[:size]
        some = plans.AtomUniverse(labels, descriptions, self.universe.manifest, self.universe.representation)
        return some, plans.assign(self.texts, some, sparsity)


@dataclass(frozen=True, eq=False)
class ShownPlan:
    """One simulated plan beside the truth: `labels`, `noisy` and `true` mass of each admitted atom, by rank."""

    guarantee: str
    retained: float
    labels: tuple[str, ...]
    noisy: np.ndarray
    true: np.ndarray
    in_true_plan: tuple[bool, ...]

    def text(self) -> str:
        """One line for a reader."""
        hits = sum(self.in_true_plan)
        return (
            f"SIMULATION, {self.guarantee}: {hits} of {len(self.labels)} atoms are of the true plan, "
            f"which keep {self.retained:.1%} of its mass"
        )


def shown_plan(
    source: PublicTexts,
    epsilon: float,
    plan_size: int,
    sparsity: int,
    size: int,
    contribution_bound: float,
    mechanism: str,
    draw: int = 0,
) -> ShownPlan:
    """The plan behind the sliders. `contribution_bound` is B of a user where users are known; records have 1.

    Raises ValueError as the mechanisms do, and for `mechanism` not in `MECHANISMS`.
    """
    if mechanism not in MECHANISMS:
        raise ValueError(f"mechanism must be one of {MECHANISMS}, got {mechanism!r}")
    universe, vectors = source.vectors(sparsity, size)
    unit = "record" if source.unit_ids is None else "user"
    bound = 1.0 if unit == "record" else contribution_bound
    fingerprint = universe.fingerprint
    if unit == "record":
        sketch = plans.record_sketch(vectors, fingerprint)
    else:
        sketch = plans.user_sketch(vectors, source.unit_ids, bound, fingerprint)
    settings = {
        "epsilon": epsilon,
        "plan_size": min(plan_size, len(universe)),
        "unit": unit,
        "relation": "add_drop",
        "contribution_bound": bound,
        "public_denominator": len(source.texts),
    }
    kinds = {"gaussian": plans.GaussianPlan, "private_topL": plans.PrivateTopLPlan}
    if mechanism == "laplace":
        setting = plans.LaplacePlan(universe, **settings)
    else:
        setting = kinds[mechanism](universe, delta=DELTA, **settings)
    plan = setting.release(sketch, Simulation(draw).child("plan sliders"))
    admitted = np.array([universe.labels.index(atom.label) for atom in plan.atoms])
    best = set(plans.top(sketch.masses, len(admitted)).tolist())
    return ShownPlan(
        guarantee=str(plan.guarantee),
        retained=plans.mass_retained(sketch.masses, admitted),
        labels=tuple(atom.label for atom in plan.atoms),
        noisy=np.array([atom.mass for atom in plan.atoms]),
        true=sketch.masses[admitted],
        in_true_plan=tuple(index in best for index in admitted.tolist()),
    )


def plan_svg(shown: ShownPlan) -> str:
    """Bars of released and true mass of the first `MOST_ATOMS` admitted atoms as SVG text; no pyplot, no display."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    count = min(len(shown.labels), MOST_ATOMS)
    places = np.arange(count)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(6.0, 0.9 + 0.36 * count), layout="constrained")
        axes = figure.subplots()
        axes.barh(places - 0.2, shown.noisy[:count], 0.4, color=PALETTE[0], label="released")
        axes.barh(places + 0.2, shown.true[:count], 0.4, color=PALETTE[1], hatch=HATCHES[1], label="true")
        marks = ["" if inside else " *" for inside in shown.in_true_plan[:count]]
        axes.set_yticks(places, [label + mark for label, mark in zip(shown.labels[:count], marks, strict=True)])
        axes.invert_yaxis()
        axes.set_xlabel("mass (*: not of the true plan)")
        axes.legend(loc="lower right")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def packaged_texts(users: int = 400) -> PublicTexts:
    """Generated reviews with users who write by a power law; their auxiliary half makes the atoms."""
    from privlib import corpora

    halves = corpora.generate(n_users=users, most_records=30, exponent=0.5).corpus.split(seed=1)
    universe = plans.phrase_universe(halves.auxiliary, size=60)
    return PublicTexts(halves.target.texts, halves.target.unit_ids, universe)


def plan_sliders(source: PublicTexts | None = None) -> ipywidgets.VBox:
    """Sliders for epsilon, L, K, m and B, a choice of mechanism and a draw; redrawn when one is let go.

    `source`: public texts with atoms (None: `packaged_texts`). B moves nothing where no users are known.
    """
    import ipywidgets

    source = packaged_texts() if source is None else source
    most = len(source.universe)
    held = {"continuous_update": False}
    controls = {
        "epsilon": ipywidgets.FloatLogSlider(value=1.0, min=-2, max=1, step=0.05, readout_format=".2g", **held),
        "plan_size": ipywidgets.IntSlider(value=min(10, most), min=1, max=min(MOST_ATOMS, most), **held),
        "sparsity": ipywidgets.IntSlider(value=3, min=1, max=10, **held),
        "size": ipywidgets.IntSlider(value=most, min=1, max=most, **held),
        "contribution_bound": ipywidgets.FloatSlider(value=1.0, min=0.5, max=10.0, step=0.5, **held),
        "mechanism": ipywidgets.Dropdown(options=MECHANISMS, value="gaussian"),
        "draw": ipywidgets.IntSlider(value=0, min=0, max=99, **held),
    }
    names = {"plan_size": "L", "sparsity": "K", "size": "m", "contribution_bound": "B"}
    for name, control in controls.items():
        control.description = names.get(name, name)
    line, picture = ipywidgets.HTML(), ipywidgets.HTML()

    def update(_change=None) -> None:
        shown = shown_plan(source, **{name: control.value for name, control in controls.items()})
        line.value, picture.value = shown.text(), plan_svg(shown)

    for control in controls.values():
        control.observe(update, names="value")
    update()
    return ipywidgets.VBox([*controls.values(), line, picture])
