"""Utility of released plans over a grid of budgets and mechanisms: one sketch, many simulated draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies.plans_corpora import Case, spread

if TYPE_CHECKING:
    import pandas as pd

MECHANISMS = ("gaussian", "laplace", "private_topL")
METRICS = ("mass_retained", "loss", "overlap")
ERRORS = ("error_linf", "error_l1", "error_l2")  # of all m released values, or of the admitted ones of private top-L
MOST = 0.9  # "most of the mass" in words
BANDS = {  # what another machine's arithmetic may move; the draws are seeded, so hardly anything
    **{column: ("abs", 0.02) for column in ("mass_retained", "mass_retained_low", "mass_retained_high")},
    **{column: ("abs", 0.1) for column in ("overlap", "overlap_low", "overlap_high", "overlap_gap", "missed_but_kept")},
    **{column: ("rel", 0.25) for column in ("loss", "loss_low", "loss_high")},
    **{f"{error}{end}": ("rel", 0.25) for error in ERRORS for end in ("", "_low", "_high")},
    **{f"{metric}_sd": ("rel", 0.25) for metric in (*METRICS, *ERRORS)},
}
SPREAD = (5.0, 95.0)  # percentiles of the draws that bands show


def mechanism(
    name: str,
    atoms: plans.AtomUniverse,
    epsilon: float,
    delta: float,
    plan_size: int,
    relation: str = "add_drop",
    unit: str = "record",
    contribution_bound: float = 1.0,
) -> plans.GaussianPlan | plans.LaplacePlan | plans.PrivateTopLPlan:
    """The mechanism called `name` in `MECHANISMS`; Laplace has no delta."""
    settings = {
        "epsilon": epsilon,
        "plan_size": plan_size,
        "unit": unit,
        "relation": relation,
        "contribution_bound": contribution_bound,
    }
    if name == "laplace":
        return plans.LaplacePlan(atoms, **settings)
    if name not in MECHANISMS:
        raise ValueError(f"mechanism must be one of {MECHANISMS}, got {name!r}")
    kind = plans.GaussianPlan if name == "gaussian" else plans.PrivateTopLPlan
    return kind(atoms, delta=delta, **settings)


def utility(
    sketch: plans.Sketch,
    atoms: plans.AtomUniverse,
    *,
    epsilons: Sequence[float],
    plan_size: int = 10,
    delta: float = 1e-6,
    draws: int = 20,
    seed: int = 7,
    mechanisms: Sequence[str] = MECHANISMS,
) -> pd.DataFrame:
    """One row a (mechanism, epsilon): mean, sd, and 5 % and 95 % percentile over `draws` independent releases.

    Columns: plan_size, mechanism, epsilon, delta, draws; for each of `METRICS` its mean (the metric's name), _sd, _low,
    _high; overlap_gap (mean of mass_retained - overlap); missed_but_kept (share of draws that miss a top atom and keep
    at least 90 % of the mass); the same four of each of `ERRORS`, and error_values, over how many values they are: the
    whole vector for the full sketches, the admitted ones for private top-L. Uses the true sketch: an experiment on a
    public corpus, not a release.
    Raises ValueError for fewer than 2 draws.
    """
    import pandas as pd

    if draws < 2:
        raise ValueError(f"draws must be at least 2 for a spread, got {draws!r}")
    noise = Simulation(seed)
    rows = []
    for name in mechanisms:
        for epsilon in epsilons:
            setting = mechanism(name, atoms, float(epsilon), delta, plan_size)
            stream = noise.child(f"{name} {float(epsilon)!r}")
            measured = [measure(setting, sketch, stream.child("draw")) for _ in range(draws)]
            key = {
                "plan_size": plan_size,
                "mechanism": name,
                "epsilon": float(epsilon),
                "delta": 0.0 if name == "laplace" else delta,
                "draws": draws,
            }
            rows.append(key | _summary(measured))
    return pd.DataFrame(rows)


def promises(
    names: Sequence[str],
    delta: float,
    epsilons: Sequence[float],
    unit: str = "record",
    relation: str = "add_drop",
) -> list[str]:
    """What each simulated release of the grid promises, and what the figure itself does not."""
    grid = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    said = [
        f"{name}: each release (epsilon, {0.0 if name == 'laplace' else delta:g})-DP at epsilon in {{{grid}}}, "
        f"unit {unit}, relation {relation}; assuming idealized numerics, secret seed (simulation)"
        for name in names
    ]
    return [*said, "simulation on a public corpus: utility is measured on the true sketch, so the figure is no release"]


def select(rows: pd.DataFrame, **where: object) -> pd.DataFrame:
    """Rows whose columns equal the values given; raises ValueError when there are none."""
    found = rows
    for column, value in where.items():
        found = found[found[column] == value]
    if found.empty:
        raise ValueError(f"rows must hold {where}, found none")
    return found


def across(cases: Sequence[Case], **grid: object) -> pd.DataFrame:
    """`utility` of each corpus at record level, all its target texts protected; `keyed`."""
    import pandas as pd

    tables = []
    for case in cases:
        sketch = plans.record_sketch(case.vectors, case.universe.fingerprint)
        tables.append(keyed(utility(sketch, case.universe, **grid), case))
    return pd.concat(tables, ignore_index=True)


def keyed(rows: pd.DataFrame, case: Case) -> pd.DataFrame:
    """`rows` of a whole target half at record level, behind what else groups points: corpus, unit, n, m, K and B.

    B is 1: the mass of one record is at most that.
    """
    key = {
        "corpus": case.name,
        "unit": "record",
        "n_units": case.units("record"),
        "universe_size": len(case.universe),
        "sparsity": case.sparsity,
        "contribution_bound": 1.0,
    }
    return rows.assign(**key)[[*key, *rows.columns]]


def measure(setting: plans.mechanisms.PlanMechanism, sketch: plans.Sketch, noise: Simulation) -> dict[str, float]:
    """`METRICS` and `ERRORS` of one simulated draw on the true sketch, and error_values."""
    indices, values = setting.draw(sketch.masses, noise)
    admitted = strongest(indices, values, setting.plan_size)
    measures = zip(METRICS, (plans.mass_retained, plans.loss, plans.overlap), strict=True)
    errors = plans.value_errors(sketch.masses, indices, values)
    return (
        {name: metric(sketch.masses, admitted) for name, metric in measures}
        | {f"error_{norm}": error for norm, error in errors.items()}
        | {"error_values": len(indices)}
    )


def admit(setting: plans.mechanisms.PlanMechanism, sketch: plans.Sketch, noise: Simulation) -> np.ndarray:
    """Indices of the atoms that one simulated plan admits, by released value."""
    return strongest(*setting.draw(sketch.masses, noise), setting.plan_size)


def strongest(indices: np.ndarray, values: np.ndarray, plan_size: int) -> np.ndarray:
    """The `plan_size` of int[k] `indices` with the largest of float[k] `values`, ties to the lower index."""
    return indices[np.lexsort((indices, -values))[:plan_size]]


def _summary(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    columns = {name: np.array([one[name] for one in measured]) for name in (*METRICS, *ERRORS)}
    row = {column: value for name in METRICS for column, value in spread(name, columns[name], SPREAD).items()}
    kept, overlap = columns["mass_retained"], columns["overlap"]
    row["overlap_gap"] = float((kept - overlap).mean())
    row["missed_but_kept"] = float(((overlap < 1) & (kept >= MOST)).mean())
    row |= {column: value for name in ERRORS for column, value in spread(name, columns[name], SPREAD).items()}
    return row | {"error_values": measured[0]["error_values"]}
