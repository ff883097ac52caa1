"""Which sampling rates and frequencies a budget allows at all, by the paper's lemma and exactly.

A bucket of t records is released when about t p_s of them are kept; with tau = ceil(p_s t) the thresholded count alone
costs a delta that no noise on the centroid can lower. Where it is not below the budget, nothing can be released.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from privlib.dp import checks
from privlib.synthesis.calibration import InfeasibleBudget, lemma1, threshold_count

CountBill = Callable[[float, float, int], float]
"""(epsilon, rate, threshold) -> delta of the thresholded count: `threshold_delta`, or `lemma_delta`, the paper's."""

_LARGEST_FREQUENCY = 10_000


def lemma_delta(epsilon: float, rate: float, threshold: int, largest_v: float = math.inf) -> float:
    """Least delta that Lemma 1 states within `epsilon`: delta falls in v, so v is as large as epsilon allows.

    `epsilon` > 0, `rate` in (0, 1), `threshold` >= 1, `largest_v` > 0: the paper tries v up to 5 (its Section 7.3).
    """
    epsilon, rate = checks.positive("epsilon", epsilon), checks.open_probability("rate", rate)
    checks.nonnegative("largest_v", largest_v, infinite=True)
    largest = epsilon / -math.log1p(-rate)
    return lemma1(min(largest, largest_v), rate, threshold)[1]


def feasible_region(
    bill: CountBill, epsilon: float, delta: float, rates: Sequence[float], frequencies: Sequence[int]
) -> np.ndarray:
    """Whether the count leaves some of (epsilon, delta) to the centroid: bool[len(rates), len(frequencies)].

    `bill`: how the count is billed. Rates are public settings in (0, 1), written as the decimals that they stand for;
    tau = ceil(rate x frequency) by exact fractions. What is feasible depends on the grid of rates: a finer one may
    allow a smaller frequency, since a rate just above a multiple of 1 / t needs one kept record more.
    Source: Fre-E2T, Section 7.3 and Appendix A.2.
    """
    checks.function("bill", bill)
    delta = checks.open_probability("delta", delta)
    rates = checks.sequence("rates", rates, "probabilities")
    frequencies = checks.sequence("frequencies", frequencies, "integers")
    return np.array(
        [[bill(epsilon, rate, threshold_count(rate, t)) < delta for t in frequencies] for rate in rates], dtype=bool
    )


def least_frequency(bill: CountBill, epsilon: float, delta: float, rates: Sequence[float]) -> int:
    """Smallest t that some of the `rates` makes feasible. Arguments as in `feasible_region`.

    Raises InfeasibleBudget when none does up to t = 10,000.
    """
    if not checks.sequence("rates", rates, "probabilities"):
        raise ValueError("rates must hold at least one probability, got none")
    for frequency in range(1, _LARGEST_FREQUENCY + 1):
        if feasible_region(bill, epsilon, delta, rates, [frequency]).any():
            return frequency
    raise InfeasibleBudget("delta_threshold", f"no frequency up to {_LARGEST_FREQUENCY} at delta {delta:.4g}")
