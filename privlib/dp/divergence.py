"""Hockey-stick divergence of two discrete laws, in log space."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from privlib.dp import checks


def hockey_stick(log_p, log_q, epsilon: float) -> float:
    """Smallest delta with P(S) <= exp(epsilon) Q(S) + delta for every set S: sum of max(0, p - exp(epsilon) q).

    One direction only: a guarantee needs both (P against Q and Q against P).
    Arguments: `log_p`, `log_q` float[m], natural logarithms of two probability laws on the same m outcomes, -inf
    for impossible ones, each summing to 1 within 1e-9; `epsilon` in [0, inf] (0: total variation distance;
    inf: the mass of P where Q is impossible). Returns a float in [0, 1].
    Raises ValueError for other shapes, NaN, unnormalised laws or a negative epsilon.
    Source: Barthe and Olmedo 2013, Section 2; (epsilon, delta)-DP means this is <= delta for all neighbours.
    """
    epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
    log_p, log_q = log_law("log_p", log_p), log_law("log_q", log_q)
    if log_p.shape != log_q.shape:
        raise ValueError(f"log_p and log_q must have one shape, got {log_p.shape} and {log_q.shape}")
    impossible = log_q == -np.inf
    bound = np.full_like(log_q, -np.inf)  # log(exp(epsilon) q); exp(inf) * 0 counts as 0
    bound[~impossible] = log_q[~impossible] + epsilon
    above = log_p > bound
    if not above.any():
        return 0.0
    # factored, so that no exponential of epsilon is ever taken
    gap = log_p[above] + np.log(-np.expm1(bound[above] - log_p[above]))
    return min(1.0, math.fsum(np.exp(gap)))


def log_law(name: str, values) -> np.ndarray:
    """`values` float[m], m >= 1, as the natural logarithms of a law; TypeError or ValueError by name otherwise."""
    law = checks.floats(name, values)
    if law.ndim != 1 or law.size == 0:
        raise ValueError(f"{name} must be float[m], m >= 1; got shape {law.shape}")
    if np.isnan(law).any() or not abs(logsumexp(law)) <= 1e-9:
        raise ValueError(f"{name} must hold logarithms of probabilities that sum to 1 (shape {law.shape})")
    return law
