"""What one setting at a time does to a plan: dictionary size m, sparsity K, plan size L, units n, bound B."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans as base
from privlib.experiments.studies.plans_corpora import Case, extent, first, relation_of, spread

if TYPE_CHECKING:
    import pandas as pd

KNOBS = ("universe_size", "sparsity", "plan_size", "kept_share", "contribution_bound")
UNITS = ("record", "user")
METRICS = ("mass_retained", "overlap", "loss")
BANDS = {
    **{f"{name}{end}": ("abs", 0.15) for name in METRICS[:2] for end in ("", "_sd", "_low", "_high")},
    **{f"loss{end}": ("rel", 0.3) for end in ("", "_sd", "_low", "_high")},
    **{name: ("rel", 1e-6) for name in ("border_margin", "reference_mass", "sketch_mass", "noise_scale")},
}
MARGIN_BANDS = {name: ("rel", 1e-6) for name in ("first_margin", "last_margin", "largest_drop")}


@dataclass(frozen=True)
class Point:
    """The setting of one group of runs; `kept_share` is the public probability with which a unit is kept."""

    universe_size: int
    sparsity: int
    plan_size: int
    kept_share: float
    contribution_bound: float = 1.0
    unit: str = "record"


def ablate(
    cases: Sequence[Case],
    *,
    main: Mapping[str, float],
    grid: Mapping[str, Sequence[float]],
    epsilon: float,
    delta: float,
    runs: int,
    seed: int,
    unit: str = "record",
    strict_sample_size: bool = False,
) -> pd.DataFrame:
    """One row a (corpus, knob, value, mechanism), all else as in `main`; means and spreads over `runs` runs.

    `grid`: values of each of `KNOBS`. Bounds are tried at user level, the others at the level of `unit`, "record" or
    "user"; what is of user level is left out for corpora without user ids. border_margin: L-th minus (L+1)-th mass of
    the true sketch; reference_mass: M(S*; C); sketch_mass: all of C (means over the runs). A dictionary with fewer
    atoms than asked counts once, with the size it has.
    Raises ValueError when `grid` names another setting, `unit` is another, or no corpus has a point to try.
    """
    import pandas as pd

    if unknown := sorted(set(grid) - set(KNOBS)):
        raise ValueError(f"grid must name settings of {KNOBS}, got {unknown}")
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {UNITS}, got {unit!r}")
    rows = []
    for case in cases:
        noise = Simulation(seed).child(case.name)
        made: dict[tuple[int, int], Case] = {}
        for knob, point in _points(case, main, grid, unit):
            at = made.setdefault((point.universe_size, point.sparsity), None) or resized(case, point)
            made[point.universe_size, point.sparsity] = at
            stream = noise.child(f"{knob} {point!r}")
            rows += _group(at, knob, point, epsilon, delta, runs, stream, strict_sample_size)
    if not rows:
        raise ValueError("cases must hold a corpus with user ids for a grid at user level, got none")
    return pd.DataFrame(rows)


def margins(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a corpus: the margins of the smallest and largest dictionary, and the largest drop to a larger one.

    largest_drop: over all pairs of dictionary sizes, the largest share of the smaller one's margin that is gone in the
    larger one (negative if the margin only ever grows). "Can shrink" is that some pair has a drop.
    """
    import pandas as pd

    found = []
    swept = rows[(rows.knob == "universe_size") & (rows.mechanism == rows.mechanism.iloc[0])]
    for corpus, group in swept.groupby("corpus", sort=False):
        ordered = group.sort_values("universe_size")
        margin = ordered.border_margin.to_numpy()
        drops = [1 - large / small for k, small in enumerate(margin) for large in margin[k + 1 :]]
        found.append(
            {
                "corpus": corpus,
                "smallest_size": int(ordered.universe_size.iloc[0]),
                "largest_size": int(ordered.universe_size.iloc[-1]),
                "first_margin": margin[0],
                "last_margin": margin[-1],
                "largest_drop": max(drops),
            }
        )
    return pd.DataFrame(found)


def resized(case: Case, point: Point) -> Case:
    """The case with the first `universe_size` atoms and another sparsity, its target half assigned anew."""
    if (point.universe_size, point.sparsity) == (len(case.universe), case.sparsity):
        return case
    universe = first(case.universe, point.universe_size)
    vectors = plans.assign(case.target, universe, point.sparsity)
    return replace(case, universe=universe, sparsity=point.sparsity, vectors=vectors)


def _points(
    case: Case, main: Mapping[str, float], grid: Mapping[str, Sequence[float]], unit: str
) -> Iterator[tuple[str, Point]]:
    """Each knob with the points it makes, without repeats."""
    for knob in KNOBS:
        level = "user" if knob == "contribution_bound" else unit
        if level == "user" and case.target.unit_ids is None:
            continue
        seen = set()
        for value in grid.get(knob, ()):
            point = Point(**{**main, knob: value, "unit": level})
            point = replace(point, universe_size=min(point.universe_size, len(case.universe)))
            if point not in seen:
                seen.add(point)
                yield knob, point


def _group(
    case: Case, knob: str, point: Point, epsilon: float, delta: float, runs: int, noise: Simulation, strict: bool
) -> list[dict[str, object]]:
    n = round(point.kept_share * case.units(point.unit))
    chosen = [case.select(n, run, point.unit, strict) for run in range(1, runs + 1)]
    sketches = [one.sketch(case.universe, point.unit, point.contribution_bound) for one in chosen]
    shape = [_shape(sketch.masses, point.plan_size) for sketch in sketches]
    margin, reference, whole = (float(value) for value in np.mean(shape, axis=0))
    rows = []
    for name in base.MECHANISMS:
        setting = base.mechanism(
            name,
            case.universe,
            epsilon,
            delta,
            point.plan_size,
            relation_of(strict),
            point.unit,
            point.contribution_bound,
        )
        stream = noise.child(name)
        measured = [base.measure(setting, sketch, stream.child("run")) for sketch in sketches]
        spreads = [spread(metric, [one[metric] for one in measured]) for metric in METRICS]
        rows.append(
            {
                "corpus": case.name,
                "knob": knob,
                "unit": point.unit,
                "n_units": n,
                "universe_size": point.universe_size,
                "sparsity": point.sparsity,
                "plan_size": point.plan_size,
                "contribution_bound": float(point.contribution_bound),
                "mechanism": name,
                "epsilon": epsilon,
                "delta": 0.0 if name == "laplace" else delta,
                "runs": runs,
                "l2_sensitivity": setting.sensitivity.l2,
                "border_margin": margin,
                "reference_mass": reference,
                "sketch_mass": whole,
                "noise_scale": setting.noise_law(stream).scale,
                **{column: value for one in spreads for column, value in one.items()},
                **extent("effective_records", [len(one.corpus) for one in chosen]),
            }
        )
    return rows


def _shape(masses: np.ndarray, plan_size: int) -> tuple[float, float, float]:
    ordered = np.sort(masses)[::-1]
    below = ordered[plan_size] if plan_size < len(ordered) else 0.0
    return ordered[plan_size - 1] - below, ordered[:plan_size].sum(), ordered.sum()
