"""The release as the paper runs it: its rate, split of the budget and noise by epsilon, and the distance it pays for.

Source: Fre-E2T, Sections 7 and 7.3, Appendix A.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from privlib import synthesis
from privlib.dp import Simulation, checks

# epsilon, p_s, v of the paper's main experiments (Appendix A.1); t = 100, k = 20, u = 2.4, delta = 1e-6
PAPER_SETTINGS = ((4.0, 0.3, 4.0), (8.0, 0.5, 4.0), (16.0, 0.6, 3.0))
PAPER_FREQUENCY, PAPER_DIMS, PAPER_RATIO, PAPER_DELTA = 100, 20, 2.4, 1e-6
_FAR = 1e300  # a ratio at which no pair ever shares a bucket: delta_sensitivity is 0


@dataclass(frozen=True)
class OlderBill(synthesis.CentroidRelease):
    """A release with the noise that an older bill asks for, never less than the library's own: its promise holds.

    `std` is the deviation of a sum's coordinate, in the units of the vectors, where the source does not need more.
    Raises ValueError where it is less than continuous noise needs.
    """

    std: float = math.inf

    def __post_init__(self) -> None:
        if self.std != math.inf:
            object.__setattr__(self, "std", checks.positive("std", self.std))
        super().__post_init__()
        needed = super().noise_std(Simulation(0))
        if self.std < needed * (1 - 1e-9):
            raise ValueError(f"std must be at least {needed:.6g}, which the promise needs, got {self.std!r}")

    def noise_std(self, noise) -> float:
        return max(self.std, super().noise_std(noise))  # every source has its own bill


def distance_ratio(dims: int) -> float:
    """u at which f(2 / u)^k is what u = 2.4 gives at k = 20: the paper's delta_sensitivity, carried to another k."""

    def log_share(ratio: float) -> float:
        return math.log(synthesis.collision_probability(ratio, 2.0, 1))  # f(2 / u), one coordinate

    wanted = PAPER_DIMS * log_share(PAPER_RATIO) / dims
    return math.exp(brentq(lambda log_ratio: log_share(math.exp(log_ratio)) - wanted, -1.0, 30.0))


def distance_paid(buckets: synthesis.JLBuckets) -> tuple[float, float]:
    """(Delta, delta_sensitivity): u r with the u of this k and f(2 / u)^k, or 2 R and 0 where that is no more."""
    ratio = distance_ratio(buckets.dims)
    if ratio * buckets.radius >= buckets.diameter:
        return buckets.diameter, 0.0
    return ratio * buckets.radius, synthesis.collision_probability(ratio, 2 / math.sqrt(buckets.dims), buckets.dims)


def older_bill(
    buckets: synthesis.JLBuckets, epsilon: float, delta: float, rate: float, threshold: int, multiplier: float
) -> OlderBill:
    """The grid's release with `multiplier` times the distance that the paper pays for."""
    distance, lost = distance_paid(buckets)
    bound = "integrated" if lost else "worst_case"
    return OlderBill(buckets, epsilon, delta, rate, threshold, sensitivity=bound, std=multiplier * distance)


def as_published(
    buckets: synthesis.JLBuckets, epsilon: float, delta: float, frequency: int, v: float | None = None
) -> OlderBill:
    """The release at the paper's p_s and v of this epsilon; `v` another one than Appendix A.1's.

    The multiplier is rounded up as printed where the paper's distance u r is paid, and exact where 2 R is less.
    Raises ValueError for an epsilon that the paper does not run, InfeasibleBudget naming the term that ate the budget.
    """
    found = {at: (rate, split) for at, rate, split in PAPER_SETTINGS}
    if epsilon not in found:
        raise ValueError(f"epsilon must be one that the paper runs, {sorted(found)}, got {epsilon!r}")
    rate, split = found[epsilon]
    threshold = synthesis.threshold_count(rate, frequency)
    distance, lost = distance_paid(buckets)
    ratio = distance / buckets.radius if lost else _FAR
    bill = synthesis.calibrate(epsilon, delta, rate, threshold, split if v is None else v, ratio, buckets.dims)
    multiplier = bill.published_multiplier if lost else bill.noise_multiplier
    return older_bill(buckets, epsilon, delta, rate, threshold, multiplier)


def bound_of(mechanism: synthesis.CentroidRelease) -> str:
    """How the bill of a release bounds the distance inside a bucket, for a table."""
    paid = isinstance(mechanism, OlderBill) and mechanism.sensitivity != "worst_case"
    return "u r, delta_sensitivity" if paid else mechanism.sensitivity


def published(
    buckets: synthesis.JLBuckets, epsilon: float, delta: float, frequency: int, splits=(None,)
) -> list[OlderBill]:
    """`as_published` at the first of `splits` that it allows, or [] where there is none or the paper has no epsilon."""
    if epsilon not in {at for at, _, _ in PAPER_SETTINGS}:
        return []
    for v in splits:
        try:
            return [as_published(buckets, epsilon, delta, frequency, v)]
        except synthesis.InfeasibleBudget:
            continue
    return []
