"""Gaussian mechanism: the closed form is the hockey-stick divergence of the two laws, in any dimension."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_ndtr

from privlib.dp import Simulation, gaussian_delta, gaussian_epsilon, hockey_stick


def log_cell_masses(edges: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Log masses of the cells cut by `edges`, tails included; each from the side where it does not cancel."""
    z = (edges - mean) / std
    lower, upper = np.concatenate([[-np.inf], z]), np.concatenate([z, [np.inf]])
    flip = lower > 0
    a, b = np.where(flip, -upper, lower), np.where(flip, -lower, upper)
    return log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("std", [0.3, 1.0, 4.0])
def test_closed_form_is_the_divergence_of_the_two_laws(epsilon, std):
    """Binning is post-processing, so it never exceeds; the worst set is a half-line, so fine cells attain it."""
    edges = np.linspace(-12 * std, 1 + 12 * std, 40_001)
    binned = hockey_stick(log_cell_masses(edges, 1.0, std), log_cell_masses(edges, 0.0, std), epsilon)
    stated = gaussian_delta(epsilon, std, 1.0)
    assert binned <= stated * (1 + 1e-9)
    assert binned == pytest.approx(stated, rel=1e-4, abs=1e-14)


def test_only_the_l2_distance_matters():
    """Eight coordinates moved by 1/sqrt(8) each cost what one moved by 1 costs: Monte Carlo, six deviations."""
    shift, epsilon, n = np.full(8, 1 / math.sqrt(8)), 0.5, 200_000
    noise = Simulation(9).add_gaussian(np.zeros((n, 8)), 1.0)
    loss = (noise @ shift) + 0.5  # ln density ratio at a draw from the shifted law
    terms = np.maximum(0.0, -np.expm1(epsilon - loss))
    stated = gaussian_delta(epsilon, 1.0, 1.0)
    assert abs(terms.mean() - stated) < 6 * terms.std() / math.sqrt(n)
    bare = (noise[:, :7] @ shift[:7]) + 7 / 16  # power: the last coordinate left unnoticed is caught
    assert abs(np.maximum(0.0, -np.expm1(epsilon - bare)).mean() - stated) > 6 * terms.std() / math.sqrt(n)


def test_t_releases_are_one_of_sqrt_t_times_the_sensitivity():
    """Ten rounds, Monte Carlo of the summed loss against the closed form (the identity behind Aug-PE's accounting)."""
    std, epsilon, n = 6.0, 1.0, 400_000
    rounds = Simulation(10).add_gaussian(np.zeros((n, 10)), 1.0)
    loss = (rounds / std + 1 / (2 * std**2)).sum(axis=1)
    terms = np.maximum(0.0, -np.expm1(epsilon - loss))
    stated = gaussian_delta(epsilon, std, math.sqrt(10))
    assert abs(terms.mean() - stated) < 6 * terms.std() / math.sqrt(n)
    assert gaussian_epsilon(stated, std, math.sqrt(10)) == pytest.approx(epsilon, rel=1e-9)
