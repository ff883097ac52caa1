r"""Joint privacy of randomly projected buckets, integrated over the distance inside a bucket.

The paper pays f(2/u)^k once, the chance that one *fixed* pair at distance u r shares a bucket; but
the record that the coupling puts in x's place is any member of the bucket, so with many records far
from x some of them may collide. What saves it is that colliding records are mostly near.

**Theorem (integrated accounting).** Let the data be fixed before the public projection Z and the
offsets are drawn, and let there be at most N_max records. With F(D) = f(L sqrt(k) / D)^k the
collision probability and delta_N(epsilon; m) the joint delta of a bucket of N records,

    delta(epsilon) <= min over Delta of  sup_N delta_N(epsilon; sigma / Delta)
                    + N_max  sup_{D > Delta} F(D) sup_{N >= 2} delta_N(epsilon; sigma / D) / (N - 1).

*Proof.* Given Z, let x's bucket hold N records. The coupled record y is uniform among the N - 1
others whatever n is, so joint convexity gives delta_Z <= sum_y delta_N(epsilon; sigma/|x-y|) / (N-1)
over the others y in the bucket. Those within Delta contribute at most the first term, since
delta_N grows with the distance. A far y contributes only when it shares x's bucket, which has
probability F(|x-y|), and then at most sup_N delta_N(epsilon; sigma/|x-y|)/(N-1); take the
expectation over Z (Z is public, and the divergence of (Z, output) is the expected divergence), and
there are at most N_max far records.  ∎

It does not cover someone who picks the data after seeing Z: two points far apart along the null
space of Z share every bucket.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import bdtrc

from privlib.dp import checks
from privlib.synthesis.calibration import InfeasibleBudget, collision_probability, sampling
from privlib.synthesis.joint import (
    ROUND_UP,
    crossing,
    deltas_by_size,
    joint_delta,
    joint_epsilon,
    joint_noise_multiplier,
)

_STEP = 1.06  # ratio of neighbouring distances; between them F is taken at the near, delta at the far end


def release_delta(
    epsilon: float,
    noise_std: float,
    rate: float,
    threshold: int,
    dims: int,
    max_records: int,
    radius: float = 1.0,
) -> float:
    """delta of releasing counts and noisy sums of buckets of edge 2 radius / sqrt(dims), add or drop.

    `epsilon` >= 0, `noise_std` > 0 (deviation of each coordinate of a sum), `rate` in (0, 1],
    `threshold` >= 1, `dims` >= 1 (k), `max_records` >= 1 (public cap N_max), `radius` > 0 (r).
    Assumes the data were fixed before the projection was drawn. Source: the module's theorem, ours.
    """
    epsilon = checks.nonnegative("epsilon", epsilon)
    noise_std = checks.positive("noise_std", noise_std)
    radius = checks.positive("radius", radius)
    rate, threshold = sampling(rate, threshold)
    dims = checks.whole("dims", dims, at_least=1)
    max_records = checks.whole("max_records", max_records, at_least=1)
    if rate == 1:
        return 1.0
    return _release_delta(epsilon, noise_std / radius, rate, threshold, dims, max_records)


@lru_cache(maxsize=1024)
def _release_delta(epsilon: float, noise_std: float, rate: float, threshold: int, dims: int, records: int) -> float:
    edge = 2 / math.sqrt(dims)
    largest = 1 / max(threshold - 1, 1)  # delta_N / (N - 1) is at most this at any distance
    distances = [0.5]
    while True:  # beyond the last distance the far term is at most records * F * largest
        rest = records * collision_probability(distances[-1], edge, dims) * largest
        if rest <= 1e-3 * rate**threshold or rest <= 1e-14 or len(distances) > 120:
            break
        distances.append(distances[-1] * _STEP)
    share = np.array([_largest_share(epsilon, noise_std / distance, rate, threshold) for distance in distances[1:]])
    ends = collision_probability(np.array(distances), edge, dims)
    far = records * np.append(ends[:-1] * share, ends[-1] * largest)
    beyond = np.maximum.accumulate(far[::-1])[::-1]  # sup over D > distances[i]
    best = 1.0
    for distance, tail in zip(distances, beyond, strict=True):
        if tail < best:
            near = joint_delta(epsilon, noise_std / distance, rate, threshold)
            if near >= best:
                break  # it only grows with the distance
            best = min(best, near + tail)
    return min(1.0, best * ROUND_UP)


def _largest_share(epsilon: float, multiplier: float, rate: float, threshold: int) -> float:
    """sup over N >= max(threshold, 2) of delta_N / (N - 1), by the same scan and tail as `joint_delta`."""
    start, block, best = max(threshold, 2), max(8, math.ceil(threshold / rate) // 4), 0.0
    while True:
        sizes = np.arange(start, start + block)
        sizes = sizes[bdtrc(threshold - 1.0, sizes, rate) > best * (sizes - 1)]  # delta_N is at most this chance
        if len(sizes):
            found = deltas_by_size(epsilon, multiplier, rate, threshold, sizes, negligible=1e-6 * rate**threshold)
            best = max(best, (found / (sizes - 1)).max())
        start += block
        # for every N >= start: delta_N is at most the unthresholded delta at start
        rest = deltas_by_size(epsilon, multiplier, rate, 0, np.array([start]))[0] / (start - 1)
        if rest <= best or start > 8 * threshold / rate + 200:
            return max(best, rest)


def release_epsilon(
    delta: float, noise_std: float, rate: float, threshold: int, dims: int, max_records: int, radius: float = 1.0
) -> float:
    """Smallest epsilon >= 0 with `release_delta(epsilon, ...) <= delta`, rounded up; infinite when there is none."""
    delta = checks.open_probability("delta", delta)

    def curve(epsilon: float) -> float:
        return release_delta(epsilon, noise_std, rate, threshold, dims, max_records, radius)

    if curve(0.0) <= delta:
        return 0.0
    high = 1.0
    while curve(high) > delta:
        high *= 2
        if high > 500:
            return math.inf
    low = 0.0 if high == 1 and curve(0.5) <= delta else high / 2
    return crossing(curve, delta, low, high, precision=1e-6)


def union_noise_std(
    epsilon: float, delta: float, rate: float, threshold: int, dims: int, max_records: int, radius: float = 1.0
) -> tuple[float, float]:
    """(noise deviation, distance Delta) of the all-or-nothing bound, at the Delta that needs the least noise.

    delta <= sup_N delta_N(epsilon; sigma / Delta) + N_max F(Delta): any record beyond Delta that shares the bucket
    counts as a failure, whatever it would cost. Simpler than `release_noise_std`, and never less noise.
    Arguments and assumption as in `release_delta`. Raises InfeasibleBudget as `release_noise_std` does.
    """
    epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)
    rate, threshold = sampling(rate, threshold)
    dims, max_records = (checks.whole(*named, at_least=1) for named in (("dims", dims), ("max_records", max_records)))
    noise, distance = _union_noise_std(epsilon, delta, rate, threshold, dims, max_records)
    radius = checks.positive("radius", radius)
    return noise * radius, distance * radius


@lru_cache(maxsize=256)
def _union_noise_std(
    epsilon: float, delta: float, rate: float, threshold: int, dims: int, records: int
) -> tuple[float, float]:
    edge = 2 / math.sqrt(dims)

    def left(log_distance: float) -> float:
        return delta - records * float(collision_probability(math.exp(log_distance), edge, dims))

    def noise(log_distance: float) -> float:
        return joint_noise_multiplier(epsilon, left(log_distance), rate, threshold) * math.exp(log_distance)

    alone = joint_delta(epsilon, math.inf, rate, threshold)
    if alone >= delta:
        raise InfeasibleBudget("delta_threshold", f"{alone:.4g} of {delta:.4g} at epsilon {epsilon:.4g}")
    low = 0.0
    while left(low) <= alone:
        low += 0.01
    best = minimize_scalar(noise, bounds=(low, low + 2.0), method="bounded", options={"xatol": 1e-4})
    return float(best.fun), math.exp(float(best.x))


def union_epsilon(
    delta: float, noise_std: float, rate: float, threshold: int, dims: int, max_records: int, radius: float = 1.0
) -> tuple[float, float]:
    """(epsilon, distance Delta) of the all-or-nothing bound for given noise, at the Delta that costs the least.

    The inverse of `union_noise_std`; any Delta gives a valid bill. Infinite when no Delta leaves a finite epsilon.
    """
    delta, radius = checks.open_probability("delta", delta), checks.positive("radius", radius)
    noise = checks.positive("noise_std", noise_std) / radius
    rate, threshold = sampling(rate, threshold)
    dims, max_records = (checks.whole(*named, at_least=1) for named in (("dims", dims), ("max_records", max_records)))
    edge = 2 / math.sqrt(dims)

    def left(log_distance: float) -> float:
        return delta - max_records * float(collision_probability(math.exp(log_distance), edge, dims))

    def spent(log_distance: float) -> float:
        return joint_epsilon(max(left(log_distance), floor), noise / math.exp(log_distance), rate, threshold)

    floor = max(rate**threshold * (1 + 1e-6), math.ulp(0.0))  # no finite epsilon has a smaller delta
    if floor >= delta:
        return math.inf, math.inf
    low = 0.0
    while left(low) <= floor:
        low += 0.01
    best = minimize_scalar(spent, bounds=(low, low + 1.0), method="bounded", options={"xatol": 1e-4})
    return float(best.fun), math.exp(float(best.x)) * radius


def release_noise_std(
    epsilon: float, delta: float, rate: float, threshold: int, dims: int, max_records: int, radius: float = 1.0
) -> float:
    """Smallest noise deviation with `release_delta(epsilon, ...) <= delta`, rounded up.

    Raises InfeasibleBudget when the thresholded count alone costs more than `delta`.
    """
    epsilon = checks.positive("epsilon", epsilon)
    delta = checks.open_probability("delta", delta)
    radius = checks.positive("radius", radius)
    rate, threshold = sampling(rate, threshold)
    alone = joint_delta(epsilon, math.inf, rate, threshold)
    if alone >= delta:
        raise InfeasibleBudget("delta_threshold", f"{alone:.4g} of {delta:.4g} at epsilon {epsilon:.4g}")

    def curve(noise_std: float) -> float:
        return release_delta(epsilon, noise_std, rate, threshold, dims, max_records)

    high = 1.0
    while curve(high) > delta:
        high *= 2
        if high > 1e6:
            raise InfeasibleBudget("delta_sensitivity", f"far records of one bucket, at most {max_records} of them")
    low = high / 2
    while curve(low) <= delta:
        high, low = low, low / 2
        if low < 1e-6:
            return high * radius
    return crossing(curve, delta, low, high, precision=1e-6) * radius
