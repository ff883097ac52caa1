"""Exact accounting and calibration of the Gaussian mechanism at every epsilon (Balle and Wang 2018, Theorem 8)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr

from privlib.dp import checks

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_REACH = 46.0  # exp(-46) is below the last bit of the integrals' leading term


def gaussian_delta(epsilon: float, noise_std: float, l2_sensitivity: float) -> float:
    """Smallest delta for which adding N(0, noise_std^2 I) to a query is (epsilon, delta)-DP.

    Inequality (tight): with mu = l2_sensitivity / noise_std,
    delta = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), the hockey-stick divergence of
    N(mu, 1) from N(0, 1); holds for whatever neighbouring relation the l2 sensitivity was taken.
    Arguments: `epsilon` in [0, inf], `noise_std` in (0, inf), `l2_sensitivity` in (0, inf), all public.
    Returns a float in [0, 1], rounded up by a bound on its rounding error. Raises ValueError outside the
    ranges (a sensitivity or a noise of 0 is refused), and for ratios of the two outside 1e-100..1e100.
    Source: Balle and Wang 2018, Theorem 8; idealized (continuous) noise.
    """
    epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
    mu = _ratio(l2_sensitivity, noise_std)
    if epsilon == math.inf:
        return 0.0
    log_delta = _log_delta(epsilon, mu)[0]
    return 0.0 if log_delta == -math.inf else math.exp(min(0.0, log_delta + _rounding(epsilon, mu)))


def gaussian_epsilon(delta: float, noise_std: float, l2_sensitivity: float) -> float:
    """Smallest epsilon >= 0 with `gaussian_delta(epsilon, noise_std, l2_sensitivity) <= delta`, rounded up.

    Arguments: `delta` strictly between 0 and 1, the others as in `gaussian_delta`. Returns 0.0 where the noise
    already is (0, delta). Raises ValueError outside the ranges.
    """
    delta = checks.open_probability("delta", delta)
    mu = _ratio(l2_sensitivity, noise_std)
    if gaussian_delta(0.0, noise_std, l2_sensitivity) <= delta:
        return 0.0
    target = _log_odds(delta)

    def excess(log_epsilon: float) -> float:
        return _odds(math.exp(log_epsilon), mu) - target

    guess = math.log(mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta)) + mu)
    return _round_to_safe(
        math.exp(_root(excess, guess)), lambda epsilon: gaussian_delta(epsilon, noise_std, l2_sensitivity) <= delta
    )


def gaussian_noise_std(epsilon: float, delta: float, l2_sensitivity: float) -> float:
    """Smallest standard deviation for which Gaussian noise is (epsilon, delta)-DP, rounded up.

    Returns sigma with `gaussian_delta(epsilon, sigma, l2_sensitivity) <= delta`, proportional to the sensitivity.
    Arguments: `epsilon` in (0, 1e150], `delta` strictly between 0 and 1, `l2_sensitivity` in (0, inf), all
    public. Raises ValueError outside the ranges: in particular a sensitivity of 0 never means no noise.
    Valid at every epsilon, unlike the textbook sqrt(2 ln(1.25/delta)) / epsilon, which fails above 1.
    Source: Balle and Wang 2018, Theorem 8 and Algorithm 1.
    """
    epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)
    if epsilon > 1e150:
        raise ValueError(f"epsilon must be at most 1e150, got {epsilon!r}")
    return _noise_std(epsilon, delta, checks.positive("l2_sensitivity", l2_sensitivity))


def classical_gaussian_noise_std(epsilon: float, delta: float, l2_sensitivity: float) -> float:
    """The textbook deviation sqrt(2 ln(1.25/delta)) l2_sensitivity / epsilon, refused above epsilon 1: wrong there.

    For comparison only: never below `gaussian_noise_std`, which releases use. Its proof needs epsilon <= 1; for delta
    1e-5 it really gives 2.3e-5 at epsilon 10 and 1.5e-3 at 20. Arguments: `epsilon` in (0, 1], `delta` strictly between
    0 and 1, `l2_sensitivity` in (0, inf). Raises ValueError outside.
    Source: Dwork and Roth 2014, Theorem A.1; the failure above 1: Balle and Wang 2018, Section 2.
    """
    epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)
    if epsilon > 1:
        raise ValueError(f"epsilon must be at most 1 for the classical deviation, got {epsilon!r}: gaussian_noise_std")
    return math.sqrt(2 * math.log(1.25 / delta)) * checks.positive("l2_sensitivity", l2_sensitivity) / epsilon


@functools.lru_cache(maxsize=4096)  # mechanisms ask again at every release
def _noise_std(epsilon: float, delta: float, l2_sensitivity: float) -> float:
    target = _log_odds(delta)

    def excess(log_multiplier: float) -> float:
        return _odds(epsilon, math.exp(-log_multiplier)) - target

    root = math.sqrt(-2 * math.log(delta))
    multiplier = math.exp(_root(excess, math.log(2 / (math.sqrt(root * root + 2 * epsilon) - root + delta))))
    return _round_to_safe(
        l2_sensitivity * multiplier, lambda noise_std: gaussian_delta(epsilon, noise_std, l2_sensitivity) <= delta
    )


def _log_delta(epsilon: float, mu: float) -> tuple[float, float]:
    """(log delta, log(1 - delta)) of N(mu, 1) against N(0, 1), each to nearly full relative precision.

    The textbook difference of two nearly equal terms cancels for small mu. With x = epsilon/mu - mu/2 and the
    identity exp(epsilon) phi(x + mu) = phi(x), delta = phi(x) (M(x) - M(x + mu)), M the Mills ratio, and
    M(x) - M(x + mu) = int_0^inf exp(-s^2/2 - x s) (1 - exp(-mu s)) ds, whose integrand is positive.
    """
    x = epsilon / mu - mu / 2
    if x > 1e100:  # delta is below exp(-1e199); its square would overflow
        return -math.inf, 0.0
    log_density = -x * x / 2 - math.log(2 * math.pi) / 2
    if x < -1:  # delta is near 1: its complement is a sum of positive terms
        log_complement = float(np.logaddexp(log_ndtr(x), log_density + math.log(_mills(x + mu))))
        return math.log1p(-math.exp(log_complement)), log_complement
    # where the integrand has fallen to exp(-46); written so that a large x does not cancel
    end = 2 * _REACH / (x + math.hypot(x, math.sqrt(2 * _REACH)))
    if mu * end <= _REACH:
        s = end * (_NODES + 1) / 2
        difference = float(end / 2 * np.dot(_WEIGHTS, np.exp(-s * s / 2 - x * s) * -np.expm1(-mu * s)))
    else:
        difference = _mills(x) - _mills(x + mu)
    log_delta = log_density + math.log(difference)
    return log_delta, math.log(-math.expm1(log_delta))


def _rounding(epsilon: float, mu: float) -> float:
    """Bound on the rounding error of log delta: x is off by some units in the last place of epsilon/mu."""
    return 2.0**-50 * (1 + abs(epsilon / mu - mu / 2)) * (1 + epsilon / mu + mu)


def _ratio(l2_sensitivity: float, noise_std: float) -> float:
    ratio = checks.positive("l2_sensitivity", l2_sensitivity) / checks.positive("noise_std", noise_std)
    if not 1e-100 <= ratio <= 1e100:
        raise ValueError(f"l2_sensitivity / noise_std must lie in [1e-100, 1e100], got {ratio:g}")
    return ratio


def _mills(x: float) -> float:
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def _odds(epsilon: float, mu: float) -> float:
    log_delta, log_complement = _log_delta(epsilon, mu)
    return log_delta - log_complement


def _log_odds(delta: float) -> float:
    return math.log(delta) - math.log1p(-delta)


def _root(decreasing: Callable[[float], float], guess: float) -> float:
    low, high, step = guess, guess, 1.0
    while decreasing(low) < 0:
        low, step = low - step, 2 * step
    while decreasing(high) > 0:
        high, step = high + step, 2 * step
    return brentq(decreasing, low, high, xtol=1e-14, rtol=1e-14) if low < high else guess


def _round_to_safe(value: float, safe: Callable[[float], bool]) -> float:
    step = 2.0**-52
    while not safe(value):
        value, step = value * (1 + step), 2 * step
    return value
