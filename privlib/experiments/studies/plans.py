"""Utility of released plans over a grid of budgets and mechanisms: one sketch, many simulated draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus

MECHANISMS = ("gaussian", "laplace", "private_topL")
METRICS = ("mass_retained", "loss", "overlap")
MOST = 0.9  # "most of the mass" in words
BANDS = {  # what another machine's arithmetic may move; the draws are seeded, so hardly anything
    **{column: ("abs", 0.02) for column in ("mass_retained", "mass_retained_low", "mass_retained_high")},
    **{column: ("abs", 0.1) for column in ("overlap", "overlap_low", "overlap_high", "overlap_gap", "missed_but_kept")},
    **{column: ("rel", 0.25) for column in ("loss", "loss_low", "loss_high")},
    **{f"{metric}_sd": ("rel", 0.25) for metric in METRICS},
}
SPREAD = (5.0, 95.0)  # percentiles of the draws that bands show


def texts(corpus: Corpus, atoms: str, count: int, seed: int) -> Corpus:
    """The texts an experiment on a public corpus uses: those with an issue for "metadata", about `count` (0: all)."""
    if atoms == "metadata":
        corpus = corpus.where([bool(issue) for issue in corpus.attributes["issue"]])
    return corpus if count == 0 else corpus.sample(min(count, len(corpus)), seed=seed, public_size=len(corpus))


def universe(auxiliary: Corpus, atoms: str, profile: str, size: int) -> plans.AtomUniverse:
    """Public atoms of a public split: `atoms` "phrases" (by a domain `profile`) or "metadata" (issues)."""
    if atoms == "phrases":
        return plans.phrase_universe(auxiliary, profile=profile, size=size)
    if atoms == "metadata":
        return plans.metadata_universe(auxiliary, size=size)
    raise ValueError(f"atoms must be 'phrases' or 'metadata', got {atoms!r}")


def mechanism(
    name: str, atoms: plans.AtomUniverse, epsilon: float, delta: float, plan_size: int, relation: str = "add_drop"
) -> plans.GaussianPlan | plans.LaplacePlan | plans.PrivateTopLPlan:
    """The record-level mechanism called `name` in `MECHANISMS`; Laplace has no delta."""
    settings = {"epsilon": epsilon, "plan_size": plan_size, "unit": "record", "relation": relation}
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

    Columns: mechanism, epsilon, draws; for each metric of `METRICS` its mean (the metric's name), _sd, _low,
    _high; overlap_gap (mean of mass_retained - overlap); missed_but_kept (share of draws that miss a top atom
    and keep at least 90 % of the mass). Uses the true sketch: an
    experiment on a public corpus, not a release.
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
            measured = np.array([_measure(setting, sketch, stream.child("draw")) for _ in range(draws)])
            rows.append({"mechanism": name, "epsilon": float(epsilon), "draws": draws} | _summary(measured))
    return pd.DataFrame(rows)


def promises(names: Sequence[str], delta: float, epsilons: Sequence[float]) -> list[str]:
    """What each simulated release of the grid promises, and what the figure itself does not."""
    grid = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    said = [
        f"{name}: each release (epsilon, {0.0 if name == 'laplace' else delta:g})-DP at epsilon in {{{grid}}}, "
        "unit record, relation add_drop; assuming idealized numerics, secret seed (simulation)"
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


def _measure(setting: plans.mechanisms.PlanMechanism, sketch: plans.Sketch, noise: Simulation) -> tuple[float, ...]:
    indices, values = setting.draw(sketch.masses, noise)
    admitted = indices[np.lexsort((indices, -values))[: setting.plan_size]]
    return tuple(metric(sketch.masses, admitted) for metric in (plans.mass_retained, plans.loss, plans.overlap))


def _summary(measured: np.ndarray) -> dict[str, float]:
    row: dict[str, float] = {}
    for k, name in enumerate(METRICS):
        column = measured[:, k]
        low, high = np.percentile(column, SPREAD)
        row |= {
            name: float(column.mean()),
            f"{name}_sd": float(column.std(ddof=1)),
            f"{name}_low": float(low),
            f"{name}_high": float(high),
        }
    kept, _, overlap = measured.T
    row["overlap_gap"] = float((kept - overlap).mean())
    row["missed_but_kept"] = float(((overlap < 1) & (kept >= MOST)).mean())
    return row
