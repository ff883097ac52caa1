"""Shared pieces: a test of fit with a stated false-alarm rate, sources of each kind, a source that enumerates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtrc

from privlib.dp import Secure, Simulation

FALSE_ALARM = 1e-7
"""Every statistical test here rejects a correct sampler with at most this probability (some twenty tests use it)."""


@pytest.fixture(scope="session")
def fits():
    """fits(observed counts, expected probabilities): Pearson's test at FALSE_ALARM, cells of 5 expected or more."""

    def decide(observed, probabilities) -> bool:
        observed, probabilities = np.asarray(observed, dtype=float), np.asarray(probabilities, dtype=float)
        assert math.isclose(probabilities.sum(), 1, abs_tol=1e-9)
        if observed[probabilities == 0].any():
            return False
        observed, probabilities = observed[probabilities > 0], probabilities[probabilities > 0]
        expected = probabilities * observed.sum()
        assert expected.min() >= 5, "too few draws for Pearson's approximation"
        statistic = ((observed - expected) ** 2 / expected).sum()
        return bool(chdtrc(len(expected) - 1, statistic) >= FALSE_ALARM)

    return decide


@pytest.fixture(params=["simulation", "secure"])
def source(request):
    """A fresh source of each kind."""
    return Simulation(20240607) if request.param == "simulation" else Secure()
