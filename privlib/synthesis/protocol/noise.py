r"""Noise that no one knows: the sum of discrete Gaussians drawn by the users of a bucket, and its bill.

**Bound** (Kairouz, Liu and Steinke 2021, Theorem 1). n users each add independent discrete Gaussian noise of parameter
s >= 1/2 to every entry; a sum of d entries that moves by at most Delta in l2 is (epsilon^2 / 2)-zCDP with

    epsilon = min( sqrt(Delta^2 / (n s^2) + psi d / 2), Delta / (sqrt(n) s) + psi sqrt(d) ),
    psi = 10 sum_{k=1}^{n-1} exp(-2 pi^2 s^2 k / (k+1)):

the sum is no discrete Gaussian, but nearly the one of parameter sqrt(n) s. psi falls below 1e-8 at s = 1.5.

**Two ways to share a total of S.** "constant": each user adds S / sqrt(tau), enough for the smallest bucket that is
released, so a bucket of c has sqrt(c / tau) S (Fre-E2T, Section 6.2). "count_scaled": c is public before anybody adds
noise, so each adds S / sqrt(c) and every bucket has S, as a curator's release would (ours).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from privlib.dp import ZCDP, checks, discrete_gaussian_log_pmf, hockey_stick, largest_rho

RULES = ("count_scaled", "constant", "off")
SMALLEST_USER_STD = 1.5
"""Below it psi would have to be paid for; the grid is made fine enough."""
_ROUND_UP = 1 + 1e-12


def psi(contributors: int, user_std: float) -> float:
    """How far the sum of `contributors` discrete Gaussians of parameter `user_std` >= 1/2 is from one, rounded up."""
    contributors, user_std = checks.whole("contributors", contributors, at_least=1), _user_std(user_std)
    k = np.arange(1.0, contributors)
    return float(10 * np.exp(-2 * (math.pi * user_std) ** 2 * k / (k + 1)).sum()) * _ROUND_UP


def summed_epsilon(
    contributors: int, user_std: float, l2_sensitivity: float, size: int, at_most: int | None = None
) -> float:
    """epsilon of the module's bound, rounded up: the sum over users is (epsilon^2 / 2)-zCDP.

    `l2_sensitivity` > 0 in grid units, `size` d >= 1 entries; `at_most` >= contributors when more may come: then psi
    is theirs, and the rest that of the fewest. For one user the noise is a discrete Gaussian, psi is 0
    and the bound is exact. Against a member of the bucket, who knows its own noise, take one contributor less.
    """
    l2_sensitivity, size = checks.positive("l2_sensitivity", l2_sensitivity), checks.whole("size", size, at_least=1)
    distance = psi(contributors if at_most is None else at_most, user_std)
    ratio = l2_sensitivity / (math.sqrt(contributors) * user_std)
    return min(math.sqrt(ratio**2 + distance * size / 2), ratio + distance * math.sqrt(size)) * _ROUND_UP


def summed_zcdp(contributors: int, user_std: float, l2_sensitivity: float, size: int) -> ZCDP:
    """The bound as a statement about records: rho = epsilon^2 / 2, rounded up. Relation: one record replaced.

    Given a released count, neighbours couple so that one member of the bucket is another; that is all it is used for.
    """
    epsilon = summed_epsilon(contributors, user_std, l2_sensitivity, size)
    return ZCDP(epsilon**2 / 2 * _ROUND_UP, "record", "replace", (), ("sum of users' discrete Gaussians",))


def total_std(epsilon: float, delta: float, fewest: int, most: int, l2_sensitivity: float, size: int) -> float:
    """Smallest total S (to 1e-9) for which users who add S / sqrt(fewest) each, `fewest` to `most` of them, are billed
    at most (epsilon, delta), by the zCDP bound; never so small that one user's part is below `SMALLEST_USER_STD`.

    In a smaller bucket with the same S a user's part is larger and psi smaller, so the largest bucket decides.
    """
    enough = math.sqrt(2 * largest_rho(epsilon, delta))
    floor = SMALLEST_USER_STD * math.sqrt(fewest) * _ROUND_UP

    def fits(total: float) -> bool:
        return summed_epsilon(fewest, total / math.sqrt(fewest), l2_sensitivity, size, most) <= enough

    low, high = floor, max(floor, l2_sensitivity / enough)
    if fits(low):
        return low
    while not fits(high):
        low, high = high, high * 2
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def contributors_needed(count: int, drop_out: float) -> int:
    """ceil((1 - drop_out) count): how many of a bucket's reporters must contribute for its sum to be opened."""
    return max(1, math.ceil(round((1 - drop_out) * count, 9)))


def user_std(rule: str, total: float, count: int, threshold: int, drop_out: float) -> float:
    """Parameter of one user's noise in a bucket of `count`, such that the fewest who may contribute reach `total`.

    rule "count_scaled", "constant" or "off" (0: a test's release, never a private one).
    """
    if checks.one_of("rule", rule, RULES) == "off":
        return 0.0
    sharing = contributors_needed(count if rule == "count_scaled" else threshold, drop_out)
    return total / math.sqrt(sharing) * _ROUND_UP


def summed_log_pmf(contributors: int, user_std: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and ln probabilities of the sum of `contributors` discrete Gaussians on one entry, by convolution.

    For small cases: absolute rounding about 1e-16 a point, tails beyond 12 deviations left out (below 1e-30).
    Direct convolution, so that small probabilities keep their digits; at most 64 contributors of at most 40.
    """
    contributors = checks.whole("contributors", contributors, at_least=1)
    if contributors > 64 or not 0 < user_std <= 40:
        raise ValueError(f"small cases only: 64 contributors of 40, got {contributors} of {user_std!r}")
    return _summed_log_pmf(contributors, float(user_std))


@functools.lru_cache(maxsize=64)
def _summed_log_pmf(contributors: int, user_std: float) -> tuple[np.ndarray, np.ndarray]:
    reach = math.ceil(12 * user_std) + 2
    one = np.exp(discrete_gaussian_log_pmf(np.arange(-reach, reach + 1), user_std))
    law = one
    for _ in range(contributors - 1):
        law = np.convolve(law, one)
    points = np.arange(len(law)) - len(law) // 2
    inside = np.abs(points) <= 12 * math.sqrt(contributors) * user_std + 2
    law = law[inside] / law[inside].sum()
    return points[inside], np.log(law)


def summed_delta(epsilon: float, contributors: int, user_std: float, sensitivity: int) -> float:
    """Delta at `epsilon` of one integer that moves by at most `sensitivity`, by enumerating the sum's law.

    What the bound is held against where the case is small (`summed_log_pmf`): every shift 1..sensitivity.
    """
    _, law = summed_log_pmf(contributors, user_std)
    sensitivity = checks.whole("sensitivity", sensitivity, at_least=1)
    worst = 0.0
    for shift in range(1, sensitivity + 1):
        empty = np.full(shift, -np.inf)
        moved, still = np.concatenate([empty, law]), np.concatenate([law, empty])
        worst = max(worst, hockey_stick(moved, still, epsilon))
    return worst


def _user_std(value: float) -> float:
    number = checks.positive("user_std", value)
    if number < 0.5:
        raise ValueError(f"user_std must be at least 1/2 for the bound, got {value!r}")
    return number
