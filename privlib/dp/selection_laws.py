"""Exact laws of selection rules over all ordered lists, for small universes: what a bill is held against."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from privlib.dp import checks
from privlib.dp.noise import gumbel_arguments

_MOST_LISTS = 1_000_000


def ordered_lists(m: int, rounds: int) -> np.ndarray:
    """int64[m! / (m - rounds)!, rounds]: all lists of `rounds` distinct indices below m, in one fixed order.

    Raises ValueError when there are more than a million.
    """
    m, rounds = checks.whole("m", m, at_least=1), checks.whole("rounds", rounds, at_least=1)
    if rounds > m or math.perm(m, rounds) > _MOST_LISTS:
        raise ValueError(f"rounds must be at most m = {m} and leave at most a million lists, got {rounds}")
    return np.array(list(itertools.permutations(range(m), rounds)), dtype=np.int64)


def gumbel_log_law(scores, scale: float, rounds: int) -> np.ndarray:
    """Log probability of each of `ordered_lists` under exponential-mechanism rounds, or one-shot Gumbel noise.

    Rounds: Pr[j_1, ..., j_L] = prod_t w_{j_t} / (W - w_{j_1} - ... - w_{j_{t-1}}), w = exp(scores/scale), W their sum.
    One shot: C_j/scale + G_j with i.i.d. Gumbel G has its maximum at j with probability w_j/W, independent of the
    maximum's value; given that the maximum is j_1 with value v, the others are Gumbels conditioned to lie below v, and
    the order among them does not depend on v (each arrival exp(-(C_j/scale + G_j)) is exponential of rate w_j: after
    the first arrival the rest start anew, by the absence of memory). So the next largest is the exponential mechanism
    on those left, and so on: the same product (Plackett 1975, Luce 1959; Durfee and Rogers 2019, Lemma 4.2).
    """
    return _log_law(scores, scale, rounds, lambda gaps: gaps - logsumexp(gaps))


def permute_and_flip_log_law(scores, scale: float, rounds: int) -> np.ndarray:
    """Log probability of each of `ordered_lists` under rounds of permute-and-flip, each on the indices left.

    One round visits the m indices in uniform order and takes index j with probability p_j = exp((C_j - max C)/scale),
    else moves on; the largest is always taken when visited. With uniform visiting times
    Pr[j] = p_j int_0^1 prod_{i != j} (1 - t p_i) dt, a polynomial of degree m - 1, which m/2 Gauss nodes integrate
    exactly and without cancellation (McKenna and Sheldon 2020, Algorithm 1 and Proposition 4).
    """
    return _log_law(scores, scale, rounds, _permute_and_flip_round)


def _permute_and_flip_round(gaps: np.ndarray) -> np.ndarray:
    accepted = np.exp(gaps - gaps.max())
    nodes, weights = np.polynomial.legendre.leggauss(len(gaps) // 2 + 1)
    kept = np.log1p(-np.outer((nodes + 1) / 2, accepted))  # nodes lie inside (0, 1)
    others = kept.sum(axis=1, keepdims=True) - kept
    return gaps - gaps.max() + logsumexp(others, axis=0, b=weights[:, None] / 2)


def _log_law(scores, scale: float, rounds: int, one_round: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    scores, scale = gumbel_arguments(scores, scale)
    if not np.isfinite(scores).all():
        raise ValueError(f"scores must be finite (array of shape {scores.shape})")
    lists = ordered_lists(len(scores), rounds)
    gaps, known = (scores - scores.max()) / scale, {}
    logs = np.zeros(len(lists))
    for row, chosen in enumerate(lists.tolist()):
        for turn, index in enumerate(chosen):
            gone = frozenset(chosen[:turn])
            if gone not in known:
                left = [j for j in range(len(gaps)) if j not in gone]
                known[gone] = dict(zip(left, one_round(gaps[left]).tolist(), strict=True))
            logs[row] += known[gone][index]
    return logs
