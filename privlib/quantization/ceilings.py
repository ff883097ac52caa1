"""Ceilings: how much of a leakage bound says anything, against all attackers or against one who knows public rows.

A bound of `eta` nats allows the best guess to succeed with probability min(1, p e^eta), p without the release. It is
vacuous for that attacker where p e^eta >= 1, and for every attacker where eta >= ln(rows + 1). Ours.
"""

from __future__ import annotations

import math

import numpy as np

from privlib.dp import checks

from .leakage import secret_ceiling


def share_prior(rows: int, public_rows: int, public_holding: int) -> np.ndarray:
    """Law float[rows + 1] of the number of rows that meet a condition, for who has seen only public rows.

    Beta-binomial: the condition's rate is uniform beforehand and the same in both files, `public_holding` of
    `public_rows` met it. An attacker who believes this is a mild one; sharper beliefs lower the ceiling.

    Args:
        rows: private rows, >= 1, a public number.
        public_rows: >= 0; public_holding: 0..public_rows.
    """
    from scipy.special import betaln, gammaln

    checks.whole("rows", rows, at_least=1)
    checks.whole("public_rows", public_rows, at_least=0)
    if not 0 <= checks.whole("public_holding", public_holding, at_least=0) <= public_rows:
        raise ValueError(f"public_holding: expected 0..public_rows ({public_rows}), got {public_holding}")
    count = np.arange(rows + 1)
    yes, no = public_holding + 1, public_rows - public_holding + 1
    ways = gammaln(rows + 1) - gammaln(count + 1) - gammaln(rows - count + 1)
    law = np.exp(ways + betaln(count + yes, rows - count + no) - betaln(yes, no))
    return law / law.sum()


def guess_ceiling(prior: np.ndarray) -> float:
    """-ln max prior, in nats: the bound at and above which the best guess may be certain. `prior` sums to one."""
    prior = checks.floats("prior", prior)
    if prior.ndim != 1 or not len(prior) or not (prior >= 0).all() or abs(prior.sum() - 1) > 1e-9:
        raise ValueError(f"prior: expected probabilities that sum to one, got shape {prior.shape}")
    return max(0.0, -math.log(prior.max()))


def useful_dilution(tables: int, rows: int, prior: np.ndarray | None = None) -> float:
    """The gamma/k at which `tables` ln(gamma/k) meets the ceiling: smaller ones are informative, it and larger vacuous.

    Args:
        tables: E, >= 1; rows: n, >= 1.
        prior: None for the ceiling ln(n + 1) of all attackers; else the smaller one of an attacker with this prior.
    """
    checks.whole("tables", tables, at_least=1)
    ceiling = secret_ceiling(rows)
    if prior is not None:
        ceiling = min(ceiling, guess_ceiling(prior))
    return math.exp(ceiling / tables)
