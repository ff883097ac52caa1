"""Noise on the integers: exact log probabilities of three laws, the exact privacy curve of the discrete Gaussian."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from privlib.dp import checks

LARGEST_SCALE = 2.0**40
"""Largest scale of integer noise: draws stay below 2^46, where every integer is a float."""
EXACT_STD = 2.0**14
"""Largest deviation at which the privacy curve is summed term by term (some 10^5 terms)."""
_REACH = 9.5  # deviations beyond the first term after which what is left is below the last bit of the sum


def discrete_gaussian_log_pmf(x, noise_std: float) -> np.ndarray:
    """ln Pr[X = x] at integers `x` (any shape), Pr proportional to exp(-x^2 / (2 noise_std^2)) on all integers.

    Normaliser: sum over k of exp(-k^2 / (2 s^2)) = s sqrt(2 pi) (1 + 2 sum_{j>=1} exp(-2 pi^2 s^2 j^2)) (Poisson
    summation); the left sum for s < 1, the right one above: ten terms of either are exact in double precision.
    Its variance is at most noise_std^2. Source: Canonne, Kamath and Steinke 2020, Definition 1.
    Raises ValueError unless `noise_std` lies in (0, 2^40], TypeError for `x` of another dtype.
    """
    x, std = _points(x), _scale("noise_std", noise_std)
    terms = np.arange(1.0, 11.0)
    if std < 1:
        with np.errstate(over="ignore"):  # far below 1/2 the other integers have no mass at all
            log_total = math.log1p(2 * float(np.exp(-((terms / std) ** 2) / 2).sum()))
    else:
        log_total = math.log(std) + math.log(2 * math.pi) / 2
        log_total += math.log1p(2 * float(np.exp(-2 * (math.pi * std * terms) ** 2).sum()))
    with np.errstate(over="ignore"):
        return -((x / std) ** 2) / 2 - log_total


def discrete_laplace_log_pmf(x, scale: float) -> np.ndarray:
    """ln Pr[X = x] at integers `x` (any shape), Pr = tanh(1 / (2 scale)) exp(-|x| / scale) on all integers.

    (epsilon, 0)-DP for an integer query of sensitivity Delta when scale >= Delta / epsilon.
    Source: Ghosh, Roughgarden and Sundararajan 2009 (the two-sided geometric law). Raises as above.
    """
    x, scale = _points(x), _scale("scale", scale)
    with np.errstate(over="ignore"):
        return math.log(math.tanh(0.5 / scale)) - np.abs(x) / scale


def truncated_shifted_discrete_laplace_log_pmf(x, shift: int, scale: float) -> np.ndarray:
    """ln Pr[X = x] at integers `x` (any shape): the discrete Laplace law given |X - shift| <= shift; -inf elsewhere.

    Pr = exp(-|x - shift| / scale) / Z on 0..2 shift, Z = 1 + 2 q (1 - q^shift) / (1 - q), q = exp(-1 / scale): never
    negative, so it can be a number of dummies. One side alone costs what no epsilon covers: moving the law by one
    leaves the end point bare, so delta is at least Pr[0] = exp(-shift / scale) / Z.
    Raises TypeError or ValueError as `truncated_arguments`.
    """
    x, (shift, scale) = _points(x), truncated_arguments(shift, scale)
    total = 1 - 2 * math.exp(-1 / scale) * math.expm1(-shift / scale) / -math.expm1(-1 / scale)
    distance = np.abs(x - shift)
    with np.errstate(over="ignore"):
        return np.where(distance <= shift, -distance / scale - math.log(total), -np.inf)


def truncated_arguments(shift: int, scale: float) -> tuple[int, float]:
    """Checked parameters: `shift` 1..2^40, `scale` above 0 and at most 100 (shift + 1), so that rejection ends soon.

    A wider law is nearly uniform on its support and hides nothing. Raises TypeError or ValueError.
    """
    shift, scale = checks.whole("shift", shift, at_least=1), _scale("scale", scale)
    if shift > LARGEST_SCALE:
        raise ValueError(f"shift must be at most 2^40, got {shift!r}")
    if scale > 100 * (shift + 1):
        raise ValueError(f"scale must be at most 100 (shift + 1) = {100 * (shift + 1)}, got {scale!r}")
    return shift, scale


def discrete_gaussian_delta(epsilon: float, noise_std: float, sensitivity: int) -> float:
    """Exact delta of adding discrete Gaussian noise to one integer that moves by at most `sensitivity`; rounded up.

    With L(y) = D (D + 2 y) / (2 s^2), the log ratio of the laws centred at D and at 0 at the point y + D,
    delta = sum over integers y of Pr[Y = y] max(0, 1 - exp(epsilon - L(y))), which is
    Pr[Y > epsilon s^2/D - D/2] - exp(epsilon) Pr[Y > epsilon s^2/D + D/2] without its cancellation.
    Both directions are equal by symmetry, and D = sensitivity is the worst shift: the best event for a shift d is a
    half-line, whose probability only grows when its law moves from d to d + 1.
    Arguments, public: `epsilon` in [0, inf], `noise_std` in [1e-100, 2^14], `sensitivity` an integer 1..2^40. Returns a
    float in [0, 1]. Raises TypeError or ValueError outside. Source: Canonne, Kamath and Steinke 2020, Theorem 7.
    """
    epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
    sensitivity = checks.whole("sensitivity", sensitivity, at_least=1)
    std = checks.positive("noise_std", noise_std)
    if sensitivity > LARGEST_SCALE:
        raise ValueError(f"sensitivity must be at most 2^40, got {sensitivity!r}")
    if not 1e-100 <= std <= EXACT_STD:
        raise ValueError(f"noise_std must lie in [1e-100, 2^14] for the exact curve, got {noise_std!r}")
    if epsilon == math.inf:
        return 0.0
    edge = epsilon * std * std / sensitivity - sensitivity / 2  # the loss is above epsilon for y above it
    if edge > 50 * std + 1:
        return math.ulp(0.0)  # every term is below the smallest float
    reach = math.ceil(_REACH * std) + 10
    first = max(math.floor(edge) - 1, -reach)
    y = np.arange(first, max(first, 0) + reach)
    loss = sensitivity * (sensitivity + 2.0 * y) / (2 * std * std)
    error = 2.0**-50 * (1 + epsilon + np.abs(loss))  # of epsilon - loss, which may cancel
    gain = np.minimum(-np.expm1(np.minimum(epsilon - loss, 0.0)) + error, 1.0)
    above = loss - epsilon > -error
    if not above.any():
        return math.ulp(0.0)
    log_delta = float(logsumexp(discrete_gaussian_log_pmf(y[above], std) + np.log(gain[above])))
    return max(math.ulp(0.0), math.exp(min(0.0, log_delta + 2.0**-46 * (1 + abs(log_delta)))))


def _points(x) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.kind not in "iu":
        raise TypeError(f"x must be an array of integers, got dtype {array.dtype}")
    return array.astype(np.float64)


def _scale(name: str, value: float) -> float:
    number = checks.positive(name, value)
    if number > LARGEST_SCALE:
        raise ValueError(f"{name} must be at most 2^40 for noise on the integers, got {value!r}")
    return number
