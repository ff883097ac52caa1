"""Additive mechanisms add, to every coordinate, fresh noise of the scale that their bill was computed for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtri

from privlib.dp import GaussianMechanism, LaplaceMechanism, Simulation, gaussian_delta, hockey_stick

WHO = {"unit": "record", "relation": "add_drop"}
MECHANISMS = {
    "laplace": LaplaceMechanism(0.8, 1.3, (2, 3), **WHO),
    "gaussian": GaussianMechanism(0.8, 1e-5, 1.3, (2, 3), **WHO),
}
RUNS, FALSE_ALARM = 3000, 1e-7


def statistic(law: str, noise: np.ndarray) -> np.ndarray:
    """Chi-square of each coordinate under the stated scale: 2 |x| / b has 2 degrees of freedom, (x / std)^2 has 1."""
    mechanism = MECHANISMS[law]
    if law == "laplace":
        return (2 * np.abs(noise) / (mechanism.l1_sensitivity / mechanism.epsilon)).sum(axis=0)
    assert gaussian_delta(0.8, mechanism.noise_std(Simulation(1)), 1.3) <= 1e-5
    return ((noise / mechanism.noise_std(Simulation(1))) ** 2).sum(axis=0)


@pytest.mark.parametrize("law", MECHANISMS)
def test_released_noise_has_the_billed_scale_on_every_coordinate(law):
    """Six coordinates, 3,000 releases, chi-square bounds at 1e-7 in all; power: noise times 0.7 is far outside."""
    source, private = Simulation(13), np.arange(6.0).reshape(2, 3)
    noise = np.array([MECHANISMS[law].release(private, source) for _ in range(RUNS)]) - private
    degrees = (2 if law == "laplace" else 1) * RUNS
    low, high = chdtri(degrees, 1 - FALSE_ALARM / 12), chdtri(degrees, FALSE_ALARM / 12)
    energy = statistic(law, noise)
    assert ((low <= energy) & (energy <= high)).all()
    assert (statistic(law, 0.7 * noise) < low).all()
    correlation = np.corrcoef(noise.reshape(RUNS, 6).T)[np.triu_indices(6, 1)]
    assert np.abs(correlation).max() < 7 / math.sqrt(RUNS)  # no draw is shared between coordinates


def test_laplace_on_a_fine_grid_attains_its_epsilon_and_not_less():
    """Theorem of Dwork et al.: the loss of Lap(1 / epsilon) under a shift by 1 is at most epsilon, and is reached."""
    x, epsilon = np.arange(-60, 60, 1 / 128), 0.8
    laws = [-np.abs(x - centre) * epsilon for centre in (0.0, 1.0)]
    p, q = (law - np.logaddexp.reduce(law) for law in laws)
    assert max(hockey_stick(p, q, epsilon + 1e-9), hockey_stick(q, p, epsilon + 1e-9)) < 1e-12
    assert hockey_stick(p, q, 0.9 * epsilon) > 0.01
