"""What the variants of admission buy at equal (epsilon, delta), and how often a reader's intervals hold."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans as base
from privlib.experiments.studies.plans_corpora import spread
from privlib.plans.intervals import half_width, range_quantile

if TYPE_CHECKING:
    import pandas as pd

ADMISSIONS = {  # name in the record -> settings of PrivateTopLPlan
    "private_topL": {},
    "private_topL_one_shot": {"selection": "one_shot"},
    "private_topL_permute_and_flip": {"selection": "permute_and_flip"},
    "private_topL_monotone": {"monotone": True},
    "private_topL_permute_and_flip_monotone": {"selection": "permute_and_flip", "monotone": True},
    "private_topL_zcdp": {"accounting": "zcdp"},
    "private_topL_monotone_zcdp": {"monotone": True, "accounting": "zcdp"},
}
MECHANISMS = (*ADMISSIONS, "gaussian", "laplace")
METRICS = ("mass_retained", "overlap", "linf", *base.ERRORS)
SHAPES = ("flat", "Zipf")
COVERED = ("gaussian", "laplace", "private_topL_one_shot")  # the last has the law of private_topL, and is faster
INTERVALS = ("one atom alone", "simultaneous")
BANDS = {  # what another machine's arithmetic may move; the draws are seeded, so hardly anything
    **{f"mass_retained{end}": ("abs", 0.02) for end in ("", "_low", "_high")},
    **{f"overlap{end}": ("abs", 0.1) for end in ("", "_low", "_high")},
    **{f"{error}{end}": ("rel", 0.25) for error in ("linf", *base.ERRORS) for end in ("", "_low", "_high")},
    **{f"{metric}_sd": ("rel", 0.5) for metric in METRICS},
    "selection_scale": ("rel", 1e-6),
    "value_scale": ("rel", 1e-6),
}
COVERAGE_BANDS = {
    **{column: ("abs", 0.03) for column in ("each", "all", "all_low", "all_high", "orders")},
    **{column: ("rel", 1e-6) for column in ("half_width", "order_width")},
}
SIGMAS = 5.4  # of the binomial share: a false alarm below 1e-7


def mechanism(
    name: str, atoms: plans.AtomUniverse, epsilon: float, delta: float, plan_size: int
) -> plans.mechanisms.PlanMechanism:
    """The record-level add/drop mechanism called `name` in `MECHANISMS`; Laplace has no delta."""
    settings = {"epsilon": epsilon, "plan_size": plan_size, "unit": "record", "relation": "add_drop"}
    if name == "laplace":
        return plans.LaplacePlan(atoms, **settings)
    if name == "gaussian":
        return plans.GaussianPlan(atoms, delta=delta, **settings)
    if name not in ADMISSIONS:
        raise ValueError(f"name must be one of {MECHANISMS}, got {name!r}")
    return plans.PrivateTopLPlan(atoms, delta=delta, **settings, **ADMISSIONS[name])


def variants(
    sketch: plans.Sketch,
    atoms: plans.AtomUniverse,
    *,
    epsilons: Sequence[float],
    plan_size: int,
    delta: float,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """One row a (mechanism, epsilon): metrics over `draws` >= 10 simulated releases, and the noise that was used.

    Columns: plan_size, mechanism, epsilon, delta, draws; selection_scale (Gumbel or exponential parameter on a mass;
    the full sketches select by their values' noise), value_scale (std or b); for mass_retained, overlap, linf (largest
    error of an admitted mass) and the base study's `ERRORS` (of all m values of the full sketches) the mean, _sd, _low,
    _high (5 % and 95 % of the draws). Every mechanism draws from streams of the same names, so that equal laws of noise
    meet equal luck. Uses the true sketch: an experiment on public text.
    """
    import pandas as pd

    if draws < 10:
        raise ValueError(f"draws must be at least 10 for a spread, got {draws!r}")
    rows = []
    for name, epsilon in itertools.product(MECHANISMS, map(float, epsilons)):
        setting, noise = mechanism(name, atoms, epsilon, delta, plan_size), Simulation(seed)
        streams = [noise.child(f"epsilon {epsilon!r}, draw {k}") for k in range(draws)]
        measured = np.array([_measure(setting, sketch.masses, stream) for stream in streams])
        scale = setting.noise_law(noise).scale
        selects = setting.selection_scale if isinstance(setting, plans.PrivateTopLPlan) else scale
        row = {"plan_size": plan_size, "mechanism": name, "epsilon": epsilon}
        row |= {"delta": 0.0 if name == "laplace" else delta, "draws": draws}
        rows.append(row | {"selection_scale": selects, "value_scale": scale})
        for metric, column in zip(METRICS, measured.T, strict=True):
            rows[-1] |= spread(metric, column)
    return pd.DataFrame(rows)


def leaders(rows: pd.DataFrame, metric: str, among: Sequence[str] = MECHANISMS) -> dict[float, tuple[str, ...]]:
    """For each epsilon the mechanisms that the draws do not tell from the best mean `metric` (linf: the smallest).

    Best first; not told apart: means within two standard errors of their difference, as of independent draws.
    """
    found = {}
    for epsilon, point in rows[rows["mechanism"].isin(list(among))].groupby("epsilon"):
        point = point.sort_values(metric, ascending=metric == "linf", kind="stable")
        variance = point[f"{metric}_sd"] ** 2 / point["draws"]
        apart = (point[metric] - point[metric].iloc[0]).abs() > 2 * np.sqrt(variance + variance.iloc[0])
        found[float(epsilon)] = tuple(point["mechanism"][~apart])
    return found


def winners(rows: pd.DataFrame) -> pd.DataFrame:
    """The leaders by epsilon, among the admissions and among all, for retained mass and value error, as a table.

    Variants by what follows "private_topL_" in their names.
    """
    import pandas as pd

    table = {
        f"{title}, {label}": {
            epsilon: ", ".join(name.removeprefix("private_topL_") for name in names)
            for epsilon, names in leaders(rows, metric, among).items()
        }
        for metric, title in (("mass_retained", "MassRetained"), ("linf", "value error"))
        for label, among in (("admission", tuple(ADMISSIONS)), ("any", MECHANISMS))
    }
    return pd.DataFrame(table).rename_axis("epsilon").reset_index()


def chosen(rows: pd.DataFrame, metric: str, among: Sequence[str] = MECHANISMS) -> str:
    """The mechanism that leads `metric` at most epsilons; of several, the one that is more often the very best."""
    led = list(leaders(rows, metric, among).values())
    return max(among, key=lambda name: (sum(name in names for names in led), sum(name == names[0] for names in led)))


def masses(shape: str, atoms: int, top: float) -> np.ndarray:
    """Made-up true masses: "flat" all equal to a tenth of `top`, "Zipf" `top` / rank."""
    if shape == "flat":
        return np.full(atoms, top / 10)
    if shape == "Zipf":
        return top / np.arange(1.0, atoms + 1)
    raise ValueError(f"shape must be one of {SHAPES}, got {shape!r}")


def coverage(
    *, level: float, epsilon: float, delta: float, atoms: int, plan_size: int, top: float, draws: int, seed: int
) -> pd.DataFrame:
    """How often intervals of `level` hold over `draws` simulated plans; one row a (shape, mechanism, intervals).

    Columns: half_width and order_width (what is taken off a difference), in mass; each (mean share of the admitted
    atoms whose interval holds), all (share of plans in which all hold) with its 5.4-deviation binomial interval
    all_low, all_high; orders (share of plans in which all order bounds hold); kept (whether all and orders may be
    `level` or more: false alarm below 1e-6). "one atom alone": the widths that are right for one atom, or one
    pair, picked beforehand.
    """
    import pandas as pd

    universe = plans.AtomUniverse(tuple(f"atom {k}" for k in range(atoms)), manifest={"auxiliary_records": 1000})
    slack, rows = SIGMAS * float(np.sqrt(level * (1 - level) / draws)), []
    for shape, name in itertools.product(SHAPES, COVERED):
        setting, noise = mechanism(name, universe, epsilon, delta, plan_size), Simulation(seed).child(f"{shape} {name}")
        law, errors = setting.noise_law(noise), _ranked_errors(setting, masses(shape, atoms, top), draws, noise)
        several = plan_size if isinstance(setting, plans.PrivateTopLPlan) else atoms
        widths = (
            (half_width(law, level, 1), plans.difference_quantile(law, level)),
            (half_width(law, level, several), range_quantile(law, level, several)),
        )
        for kind, (width, apart) in zip(INTERVALS, widths, strict=True):
            inside = np.abs(errors) <= width
            together, orders = float(inside.all(axis=1).mean()), float((_overstated(errors) <= apart).mean())
            row = {"shape": shape, "mechanism": name, "intervals": kind, "draws": draws, "half_width": width}
            row |= {"order_width": apart, "each": float(inside.mean()), "all": together}
            row |= {"all_low": max(0.0, together - slack), "all_high": min(1.0, together + slack)}
            rows.append(row | {"orders": orders, "kept": bool(min(together, orders) >= level - slack)})
    return pd.DataFrame(rows)


def _measure(setting: plans.mechanisms.PlanMechanism, truth: np.ndarray, noise: Simulation) -> tuple[float, ...]:
    indices, values = setting.draw(truth, noise)
    kept = np.lexsort((indices, -values))[: setting.plan_size]
    admitted, errors = indices[kept], plans.value_errors(truth, indices, values)
    shown = plans.value_errors(truth, admitted, values[kept])["linf"]
    return plans.mass_retained(truth, admitted), plans.overlap(truth, admitted), shown, *errors.values()


def _ranked_errors(
    setting: plans.mechanisms.PlanMechanism, truth: np.ndarray, draws: int, noise: Simulation
) -> np.ndarray:
    """float[draws, L]: noise in the released masses, by released rank. Full sketches are drawn all at once."""
    if isinstance(setting, plans.PrivateTopLPlan):
        chosen, values = map(np.array, zip(*(setting.draw(truth, noise) for _ in range(draws)), strict=True))
        errors = values - truth[chosen]
    else:
        law, flat = setting.noise_law(noise), np.zeros((draws, len(truth)))
        errors = (noise.add_laplace if law.law == "laplace" else noise.add_gaussian)(flat, law.scale)
        values = truth + errors
    order = np.argsort(-values, axis=1, kind="stable")[:, : setting.plan_size]
    return np.take_along_axis(errors, order, axis=1)


def _overstated(errors: np.ndarray) -> np.ndarray:
    """Per row the largest error of a higher rank minus that of a lower one: what a plan's orders overstate at most."""
    highest = np.maximum.accumulate(errors, axis=1)[:, :-1]
    return (highest - errors[:, 1:]).max(axis=1)
