"""Grids of the page on budgets: where anything can be released, what the paper's noise costs, one bill a bucket size.

Closed forms at the paper's t = 100, k = 20, u = 2.4, delta = 1e-6 unless said otherwise; distances in units of r.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from privlib import synthesis
from privlib.dp import Guarantee
from privlib.experiments.studies.synthesis import (
    PAPER_DELTA,
    PAPER_DIMS,
    PAPER_FREQUENCY,
    PAPER_RATIO,
    PAPER_SETTINGS,
)
from privlib.synthesis.calibration import best_split
from privlib.synthesis.joint import deltas_by_size
from privlib.synthesis.user_counts import lemma_for_user
from privlib.synthesis.users import direct_multiplier

if TYPE_CHECKING:
    import pandas as pd

COUNT_BILLS = {
    "lemma, v at most 5": partial(synthesis.lemma_delta, largest_v=5.0),
    "lemma, v free": synthesis.lemma_delta,
    "exact": synthesis.threshold_delta,
}


def region_rows(epsilons: Sequence[float], rates: Sequence[float], largest_frequency: int) -> pd.DataFrame:
    """Least t, up to `largest_frequency`, that each rate p_s makes feasible at delta = 1e-6: epsilon, accounting, rate,
    frequency, threshold. Rates that no such t makes feasible have no row. tau = ceil(p_s t) grows with t and delta
    falls in tau, so every larger t is feasible too.
    """
    import pandas as pd

    frequencies = range(1, largest_frequency + 1)
    rows = []
    for epsilon in epsilons:
        for accounting, bill in COUNT_BILLS.items():
            for rate in rates:
                least = _first(lambda t, e=epsilon, b=bill, p=rate: _feasible(b, e, p, t), frequencies)
                if least is not None:
                    tau = synthesis.threshold_count(rate, least)
                    rows.append(
                        {"epsilon": epsilon, "accounting": accounting, "rate": rate}
                        | {"frequency": least, "threshold": tau}
                    )
    return pd.DataFrame(rows)


def _feasible(bill, epsilon: float, rate: float, frequency: int) -> bool:
    return bool(synthesis.feasible_region(bill, epsilon, PAPER_DELTA, [rate], [frequency])[0, 0])


def _first(holds: Callable[[int], bool], ordered: Sequence[int]) -> int | None:
    """First entry for which `holds`, by bisection; `holds` must not turn false again."""
    if not holds(ordered[-1]):
        return None
    low, high = -1, len(ordered) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(ordered[middle]) else (middle, high)
    return ordered[high]


def split_rows(epsilon: float, rates: Sequence[float], splits: Sequence[float]) -> pd.DataFrame:
    """The paper's procedure over p_s and v at t = 100: the lemma's two terms, the multiplier, and what ate the budget.

    `term` is "feasible" or the part of the bill that `calibrate` names; the multiplier is infinite where there is none.
    """
    import pandas as pd

    rows = []
    for rate in rates:
        threshold = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        for v in splits:
            epsilon_threshold, delta_threshold = synthesis.lemma1(v, rate, threshold)
            term, multiplier = "feasible", math.inf
            try:
                multiplier = _paper(epsilon, rate, threshold, v).noise_multiplier
            except synthesis.InfeasibleBudget as error:
                term = error.term
            rows.append(
                {"rate": rate, "v": v, "threshold": threshold, "epsilon_threshold": epsilon_threshold}
                | {"delta_threshold": delta_threshold, "noise_multiplier": multiplier, "term": term}
            )
    return pd.DataFrame(rows)


def _paper(epsilon: float, rate: float, threshold: int, v: float) -> synthesis.Calibration:
    return synthesis.calibrate(epsilon, PAPER_DELTA, rate, threshold, v, PAPER_RATIO, PAPER_DIMS)


def collision_rows(dims: Sequence[int]) -> pd.DataFrame:
    """f(2 / u)^k by k: at Delta = 2 r, at 2.4 r, and the u that gives what u = 2.4 gives at k = 20."""
    import pandas as pd
    from scipy.optimize import brentq

    target = synthesis.collision_probability(PAPER_RATIO, 2 / math.sqrt(PAPER_DIMS), PAPER_DIMS)
    rows = []
    for k in dims:
        chance = partial(synthesis.collision_probability, edge=2 / math.sqrt(k), dims=k)
        ratio = brentq(lambda u, chance=chance: math.log(chance(u) / target), 0.5, 50.0)
        rows.append({"dims": k, "at_2r": chance(2.0), "at_2_4r": chance(PAPER_RATIO), "ratio": ratio})
    return pd.DataFrame(rows)


def cost_rows(max_records: Sequence[int]) -> pd.DataFrame:
    """What the paper's noise costs and what its epsilon needs, by accounting and by the cap on the number of records.

    Columns: epsilon (the paper's), accounting, max_records, noise_std (for r = 1, of the paper), epsilon_spent by that
    noise, noise_needed for that epsilon, share = noise_needed / noise_std. "integrated" and "union" hold for data
    fixed before the projection and at most max_records of them; "worst case" for any data of norm at most 2 r (unit
    vectors at r = .5), whatever their number.
    """
    import pandas as pd

    rows = []
    for epsilon, rate, v in PAPER_SETTINGS:
        threshold = synthesis.threshold_count(rate, PAPER_FREQUENCY)
        noise_std = _paper(epsilon, rate, threshold, v).noise_std(1.0)
        diameter = 4.0
        worst = (
            synthesis.joint_epsilon(PAPER_DELTA, noise_std / diameter, rate, threshold),
            synthesis.joint_noise_multiplier(epsilon, PAPER_DELTA, rate, threshold) * diameter,
        )
        for records in max_records:
            grid = (rate, threshold, PAPER_DIMS, records)
            bills = {
                "integrated": (
                    synthesis.release_epsilon(PAPER_DELTA, noise_std, *grid),
                    synthesis.release_noise_std(epsilon, PAPER_DELTA, *grid),
                ),
                "union": (
                    synthesis.union_epsilon(PAPER_DELTA, noise_std, *grid)[0],
                    synthesis.union_noise_std(epsilon, PAPER_DELTA, *grid)[0],
                ),
                "worst case": worst,
            }
            rows += [
                {"epsilon": epsilon, "accounting": accounting, "max_records": records, "noise_std": noise_std}
                | {"epsilon_spent": spent, "noise_needed": needed, "share": needed / noise_std}
                for accounting, (spent, needed) in bills.items()
            ]
    return pd.DataFrame(rows)


def headline_rows(costs: pd.DataFrame, max_records: int) -> pd.DataFrame:
    """Of `cost_rows`, at one cap: what the paper's noise really costs, one row an epsilon of the paper.

    Columns: epsilon, and for each accounting epsilon_spent by the paper's noise and the share of it that epsilon needs.
    Raises ValueError for a cap that `costs` lacks.
    """
    at = costs[costs["max_records"] == max_records]
    if at.empty:
        raise ValueError(f"max_records must be one of {sorted(set(costs['max_records']))}, got {max_records!r}")
    wide = at.pivot(index="epsilon", columns="accounting", values=["epsilon_spent", "share"])
    wide.columns = [f"{column}, {accounting}" for column, accounting in wide.columns]
    return wide.reset_index()


def rate_rows(rates: Sequence[float]) -> pd.DataFrame:
    """Noise multiplier at t = 100 over p_s by accounting: the paper's v, the best real v, exact count, joint.

    noise_per_kept = multiplier / rate is the noise of a centroid, up to the size of its bucket and the distance in it.
    All leave the paper's delta_sensitivity aside. Rates at which an accounting is infeasible have no row.
    """
    import pandas as pd

    rest = PAPER_DELTA - synthesis.collision_probability(PAPER_RATIO, 2 / math.sqrt(PAPER_DIMS), PAPER_DIMS)
    rows = []
    for epsilon, _, v in PAPER_SETTINGS:
        for rate in rates:
            tau = synthesis.threshold_count(rate, PAPER_FREQUENCY)
            stages = (epsilon, rest, rate, tau)
            found = {
                "lemma, paper's v": lambda e=epsilon, p=rate, tau=tau, v=v: _paper(e, p, tau, v).noise_multiplier,
                "lemma, best v": lambda s=stages: synthesis.lemma_noise_multiplier(*s)[0],
                "exact count": lambda s=stages: synthesis.composed_noise_multiplier(*s)[0],
                "joint": lambda s=stages: synthesis.joint_noise_multiplier(*s),
            }
            for accounting, needed in found.items():
                try:
                    multiplier = needed()
                except synthesis.InfeasibleBudget:
                    continue
                rows.append(
                    {"epsilon": epsilon, "accounting": accounting, "rate": rate, "threshold": tau}
                    | {"noise_multiplier": multiplier, "noise_per_kept": multiplier / rate}
                )
    return pd.DataFrame(rows)


def best_rate_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Of `rate_rows`: the rate with the least noise per kept record, by epsilon and accounting."""
    best = rows.loc[rows.groupby(["epsilon", "accounting"])["noise_per_kept"].idxmin()]
    return best.reset_index(drop=True)


def size_rows(epsilon: float, multipliers: Sequence[float], rate: float, sizes: Sequence[int]) -> pd.DataFrame:
    """delta_N of a bucket of N records, and what bounds every larger bucket: the delta at N + 1 without a threshold.

    Columns: noise_multiplier, size (N), delta, bound_beyond. The envelope is the maximum of delta over all N.
    """
    import pandas as pd

    threshold = synthesis.threshold_count(rate, PAPER_FREQUENCY)
    counted = np.array([size for size in sizes if size >= threshold])
    rows = []
    for multiplier in multipliers:
        shown = deltas_by_size(epsilon, multiplier, rate, threshold, counted)
        beyond = deltas_by_size(epsilon, multiplier, rate, 0, counted + 1)
        rows += [
            {"noise_multiplier": multiplier, "size": int(size), "delta": float(here), "bound_beyond": float(bound)}
            for size, here, bound in zip(counted, shown, beyond, strict=True)
        ]
    return pd.DataFrame(rows)


def envelope_rows(epsilon: float, multipliers: Sequence[float], rate: float, coarse: Sequence[int]) -> pd.DataFrame:
    """The envelope `joint_delta`, the N that attains it, and what a coarse grid of N would have reported."""
    import pandas as pd

    threshold = synthesis.threshold_count(rate, PAPER_FREQUENCY)
    every, some = np.arange(threshold, 8 * PAPER_FREQUENCY), np.array(coarse)
    rows = []
    for multiplier in multipliers:
        found = deltas_by_size(epsilon, multiplier, rate, threshold, every)
        rows.append(
            {
                "noise_multiplier": multiplier,
                "envelope": synthesis.joint_delta(epsilon, multiplier, rate, threshold),
                "worst_size": int(every[found.argmax()]),
                "coarse_grid": float(deltas_by_size(epsilon, multiplier, rate, threshold, some).max()),
            }
        )
    return pd.DataFrame(rows)


def milliseconds(evaluate: Callable[[float], object], arguments: Sequence[float]) -> float:
    """Median time of one evaluation, over `arguments` that nothing has seen: what a reader waits, not a result."""
    times = []
    for argument in arguments:
        start = time.perf_counter()
        evaluate(argument)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


def lemma_multiplier(epsilon: float, delta: float, rate: float, threshold: int, records: int) -> float:
    """Least noise multiplier for `records` l in a bucket by the paper's lemma for l and composition, over every v."""
    per_v = -records * math.log1p(-rate)

    def bill(share: float) -> tuple[float, float]:
        try:
            return lemma_for_user(records, share * epsilon / per_v, rate, threshold)
        except ValueError:  # l so large that the lemma says nothing
            return share * epsilon, 1.0

    return best_split(epsilon, delta, rate, threshold, bill)[0] * records


def several_rows(records: Sequence[int], settings: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """Noise multiplier for users of l records at (epsilon, 1e-6), by route; infinite where no noise is enough.

    `settings`: pairs (epsilon, rate), t = 100. Routes: "capped, l buckets" of one record each (joint bill of 1 / l of
    the budget); "direct, lemma", "direct, composed" (by the exact count) and "direct, joint": l records in one bucket;
    "group privacy" of the record's bill. The multiplier is in units of the distance between two records of a bucket.
    """
    import pandas as pd

    rows = []
    for epsilon, rate in settings:
        stages = (rate, synthesis.threshold_count(rate, PAPER_FREQUENCY))
        for count in records:
            base = PAPER_DELTA * math.expm1(epsilon / count) / math.expm1(epsilon)
            routes = {
                "capped, l buckets": lambda n=count, e=epsilon, s=stages: synthesis.joint_noise_multiplier(
                    e / n, PAPER_DELTA / n, *s
                ),
                "direct, lemma": lambda n=count, e=epsilon, s=stages: lemma_multiplier(e, PAPER_DELTA, *s, n),
                "direct, composed": lambda n=count, e=epsilon, s=stages: direct_multiplier(e, PAPER_DELTA, *s, n),
                "direct, joint": lambda n=count, e=epsilon, s=stages: synthesis.joint_noise_multiplier_for_user(
                    e, PAPER_DELTA, *s, n
                ),
                "group privacy": lambda n=count, e=epsilon, s=stages, d=base: synthesis.joint_noise_multiplier(
                    e / n, d, *s
                ),
            }
            for route, needed in routes.items():
                try:
                    multiplier = needed()
                except synthesis.InfeasibleBudget:
                    multiplier = math.inf
                rows.append({"epsilon": epsilon, "route": route, "records": count, "noise_multiplier": multiplier})
    return pd.DataFrame(rows)


def group_rows(records: Sequence[int], epsilons: Sequence[float]) -> pd.DataFrame:
    """What group privacy says of l records of one user when a record is (epsilon, 1e-6)-DP."""
    import pandas as pd

    rows = []
    for epsilon in epsilons:
        one = Guarantee(epsilon, PAPER_DELTA, "record", "add_drop")
        for count in records:
            bill = one.for_users(count)
            rows.append(
                {"epsilon": epsilon, "records": count, "group_epsilon": bill.epsilon, "group_delta": bill.delta}
            )
    return pd.DataFrame(rows)
