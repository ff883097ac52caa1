"""The published calibration of synthesis from embeddings: every term of its budget, in closed form.

A text's embedding falls into a bucket; each record is kept with probability `rate` (p_s), a bucket
is released with its kept count when that count reaches `threshold` (tau), and Gaussian noise is
added to the sum of its kept embeddings. The paper composes two stages and one failure:

    epsilon = epsilon_threshold + epsilon_centroid
    delta   = delta_threshold + delta_centroid + delta_sensitivity

Neighbouring relation: add or drop one record. Sources: Fre-E2T, Lemmas 1 and 2, Theorems 3 and 4,
Appendix A.1 (Algorithm 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import erf

from privlib.dp import checks, gaussian_noise_std, threshold_delta


class InfeasibleBudget(ValueError):
    """No noise meets the budget; `term` names the part of the bill that ate it."""

    def __init__(self, term: str, detail: str):
        super().__init__(f"infeasible: {term} uses up the budget ({detail})")
        self.term = term


def sampling(rate: float, threshold: int) -> tuple[float, int]:
    """The pair (p_s, tau) checked: a probability in (0, 1] and a positive integer."""
    rate = checks.probability("rate", rate)
    if rate == 0:
        raise ValueError("rate must be above 0: at 0 nothing is ever released")
    return rate, checks.whole("threshold", threshold, at_least=1)


def threshold_count(rate: float | str | Fraction, frequency: int) -> int:
    """tau = ceil(p_s t), the kept count that releases a bucket, by exact fractions.

    A float stands for the decimal it prints as: `threshold_count(.07, 100)` is 7, where the product
    of floats rounds up to 8. Source: Fre-E2T, Section 5.1, "Choosing tau".
    """
    try:
        exact = Fraction(rate) if isinstance(rate, Fraction) else Fraction(str(rate))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"rate must be a probability in (0, 1] or its decimal, got {rate!r}") from None
    if not 0 < exact <= 1:
        raise ValueError(f"rate must be a probability in (0, 1], got {rate!r}")
    return math.ceil(exact * checks.whole("frequency", frequency, at_least=1))


def lemma1(v: float, rate: float, threshold: int) -> tuple[float, float]:
    """Privacy (epsilon, delta) of the thresholded, sampled count as the paper bounds it.

    With q = 1 - (1 - rate)^(v + 1) and D the binary Kullback-Leibler divergence in nats,

        epsilon = v ln(1 / (1 - rate)),    delta = exp(-(threshold / q) D(q || rate)).

    `v` > 0 is any real split of the budget; `rate` in (0, 1); `threshold` a positive integer.
    Returns two floats. Source: Fre-E2T, Lemma 1 (after Bharadwaj and Cormode 2022).
    """
    v = checks.positive("v", v)
    rate, threshold = sampling(rate, threshold)
    if rate == 1:
        return math.inf, 1.0
    keep_nothing = math.log1p(-rate)  # ln(1 - p)
    log_one_minus_q = (v + 1) * keep_nothing
    q = -math.expm1(log_one_minus_q)
    divergence = q * math.log(q / rate) + math.exp(log_one_minus_q) * v * keep_nothing
    return -v * keep_nothing, math.exp(-threshold / q * divergence)


def collision_probability(distance, edge: float, dims: int):
    """Chance, over the public projection and offsets, that two fixed points share a bucket.

        f(edge sqrt(dims) / distance)^dims,   f(c) = E[max(0, 1 - |g| / c)],  g ~ N(0, 1)
                                                   = 2 Phi(c) - 1 - (2 / c)(phi(0) - phi(c)).

    `distance` >= 0, a number or an array (same shape is returned); `edge` > 0 is the side L of the
    grid, `dims` = k its dimension. It falls with the distance; at distance 0 it is 1.
    Holds for points fixed before the projection is drawn. Source: Fre-E2T, Lemma 2.
    """
    edge = checks.positive("edge", edge)
    dims = checks.whole("dims", dims, at_least=1)
    gap = np.asarray(distance)
    if gap.dtype.kind not in "fiu":
        raise TypeError(f"distance must hold real numbers, got {checks.type_of_entries(gap)}")
    gap = gap.astype(float)
    if not np.all(gap >= 0):
        raise ValueError("distance must hold numbers of at least 0")
    with np.errstate(divide="ignore"):
        c = edge * math.sqrt(dims) / gap
    here = np.where(np.isfinite(c) & (c > 0), c, 1.0)
    share = erf(here / math.sqrt(2)) + math.sqrt(2 / math.pi) * np.expm1(-(here**2) / 2) / here
    share = np.where(np.isposinf(c), 1.0, np.where(c == 0, 0.0, share))
    probability = share**dims
    return float(probability) if np.ndim(distance) == 0 else probability


@dataclass(frozen=True)
class Calibration:
    """The paper's split of one budget, and the noise per unit of distance that it leaves.

    `noise_multiplier` is exact; `published_multiplier` is what the paper prints, rounded up to two
    digits; `noise_std(radius)` = published_multiplier x ratio x radius.
    """

    epsilon_threshold: float
    delta_threshold: float
    epsilon_centroid: float
    delta_centroid: float
    delta_sensitivity: float
    noise_multiplier: float
    ratio: float

    @property
    def published_multiplier(self) -> float:
        return math.ceil(round(self.noise_multiplier * 100, 9)) / 100

    def noise_std(self, radius: float) -> float:
        """sigma of the noise on a bucket's sum, for buckets of radius `radius` (r)."""
        return self.published_multiplier * self.ratio * radius


def calibrate(
    epsilon: float, delta: float, rate: float, threshold: int, v: float, ratio: float, dims: int
) -> Calibration:
    """The paper's procedure: what Lemma 1 and the sensitivity bound leave goes to the Gaussian.

    delta_sensitivity = f(2 / ratio)^dims is the chance that one fixed pair at distance ratio x r
    shares a bucket of edge 2 r / sqrt(dims). (The chapter shows what that bound misses.)
    Arguments: `epsilon` > 0, 0 < `delta` < 1, `rate` in (0, 1), `threshold` >= 1, `v` > 0, `ratio` > 0
    (u), `dims` >= 1 (k). Raises InfeasibleBudget, naming the term, when nothing is left.
    Source: Fre-E2T, Appendix A.1, Algorithm 3.
    """
    epsilon = checks.positive("epsilon", epsilon)
    delta = checks.open_probability("delta", delta)
    ratio = checks.positive("ratio", ratio)
    dims = checks.whole("dims", dims, at_least=1)
    epsilon_threshold, delta_threshold = lemma1(v, rate, threshold)
    delta_sensitivity = collision_probability(ratio, 2 / math.sqrt(dims), dims)
    for term, value, budget in (
        ("epsilon_threshold", epsilon_threshold, epsilon),
        ("delta_threshold", delta_threshold, delta),
        ("delta_sensitivity", delta_sensitivity, delta),
        ("delta_threshold + delta_sensitivity", delta_threshold + delta_sensitivity, delta),
    ):
        if value >= budget:
            raise InfeasibleBudget(term, f"{value:.4g} of {budget:.4g}")
    epsilon_centroid = epsilon - epsilon_threshold
    delta_centroid = delta - delta_threshold - delta_sensitivity
    return Calibration(
        epsilon_threshold=epsilon_threshold,
        delta_threshold=delta_threshold,
        epsilon_centroid=epsilon_centroid,
        delta_centroid=delta_centroid,
        delta_sensitivity=delta_sensitivity,
        noise_multiplier=gaussian_noise_std(epsilon_centroid, delta_centroid, 1.0),
        ratio=ratio,
    )


def lemma_noise_multiplier(epsilon: float, delta: float, rate: float, threshold: int) -> tuple[float, float]:
    """Least multiplier that Lemma 1 composed with the Gaussian allows, over every real v: (multiplier, v)."""

    def bill(share: float) -> tuple[float, float]:
        return lemma1(share * epsilon / -math.log1p(-rate), rate, threshold)

    multiplier, share = best_split(epsilon, delta, rate, threshold, bill)
    return multiplier, share * epsilon / -math.log1p(-rate)


def composed_noise_multiplier(
    epsilon: float, delta: float, rate: float, threshold: int
) -> tuple[float, tuple[float, float]]:
    """Least multiplier when the exact threshold is composed with the Gaussian, over every split.

    Returns (multiplier, (epsilon_threshold, delta_threshold)). Composition holds because, given a
    released count n <= N - 1, the kept sets of neighbours couple so that one record is replaced;
    the count n = N has no partner and lies inside delta_threshold.
    Raises InfeasibleBudget when the threshold alone takes delta.
    """

    def bill(share: float) -> tuple[float, float]:
        return share * epsilon, threshold_delta(share * epsilon, rate, threshold)

    multiplier, share = best_split(epsilon, delta, rate, threshold, bill)
    return multiplier, bill(share)


def best_split(epsilon, delta, rate, threshold, bill) -> tuple[float, float]:
    """Smallest Gaussian multiplier over the share of epsilon that the threshold gets: (multiplier, share)."""
    epsilon = checks.positive("epsilon", epsilon)
    delta = checks.open_probability("delta", delta)
    rate, threshold = sampling(rate, threshold)
    if rate == 1:
        raise InfeasibleBudget("delta_threshold", f"1 of {delta:.4g}: nothing is sampled away")

    def multiplier(share: float) -> float:
        epsilon_used, delta_used = bill(share)
        if delta_used >= delta or epsilon_used >= epsilon:
            return math.inf
        return gaussian_noise_std(epsilon - epsilon_used, delta - delta_used, 1.0)

    # coarse first: shares that leave no delta are a whole interval, where a local search is blind
    shares = np.linspace(0, 1, 61)[1:-1]
    values = np.array([multiplier(share) for share in shares])
    if not np.isfinite(values).any():
        least = bill(shares[-1])[1]
        raise InfeasibleBudget("delta_threshold", f"{least:.4g} of {delta:.4g} even at epsilon {epsilon:.4g}")
    best = int(np.argmin(values))
    step = shares[1] - shares[0]
    low, high = max(shares[best] - step, 1e-9), min(shares[best] + step, 1 - 1e-9)
    refined = minimize_scalar(
        lambda share: min(multiplier(share), 1e12), bounds=(low, high), method="bounded", options={"xatol": 1e-7}
    )
    if refined.fun < values[best]:
        return float(refined.fun), float(refined.x)
    return float(values[best]), float(shares[best])
