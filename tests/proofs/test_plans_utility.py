"""DP-SPIN, Appendix A: error, loss and recovery bounds, by property and by simulation (claims P067-P074)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privlib.dp import Simulation
from privlib.plans import AtomUniverse, GaussianPlan, LaplacePlan, PrivateTopLPlan, loss, mass_retained, overlap, top

M, L, BETA = 20, 4, 0.1
UNIVERSE = AtomUniverse(tuple(f"theme {k}" for k in range(M)))
COMMON = {"epsilon": 1.0, "plan_size": L, "unit": "record", "relation": "add_drop", "public_denominator": 100.0}
MASSES = np.linspace(300.0, 0.0, M) ** 1.2
DRAWS = 2000


def rate_allows(failures: int, draws: int, beta: float) -> bool:
    """False only with probability below 1e-6 when the true failure rate is at most beta (Hoeffding)."""
    return failures / draws <= beta + math.sqrt(math.log(1e6) / (2 * draws))


vectors = st.lists(st.floats(0, 100, allow_nan=False), min_size=6, max_size=12)


@given(vectors, st.data())
def test_loss_is_at_most_2_L_tau(raw, data):
    """Proposition A.3 and its corollary, for any perturbation with ||C~ - C||_inf <= tau."""
    masses = np.array(raw)
    tau = data.draw(st.floats(0, 50))
    errors = np.array(data.draw(st.lists(st.floats(-tau, tau), min_size=len(raw), max_size=len(raw))))
    size = data.draw(st.integers(1, len(raw)))
    admitted = top(masses + errors, size)
    assert loss(masses, admitted) <= 2 * size * tau + 1e-9
    best = masses[top(masses, size)].sum()
    if best > 1e-6:
        assert mass_retained(masses, admitted) >= 1 - 2 * size * tau / best - 1e-9


@given(vectors, st.data())
def test_a_gap_above_2_tau_recovers_the_exact_set(raw, data):
    """Second half of Proposition A.3."""
    masses = np.array(raw)
    size = data.draw(st.integers(1, len(raw) - 1))
    ordered = np.sort(masses)[::-1]
    gap = ordered[size - 1] - ordered[size]
    assume(gap > 1e-6)
    tau = gap / 2 * 0.999
    errors = np.array(data.draw(st.lists(st.sampled_from([-tau, tau, 0.0]), min_size=len(raw), max_size=len(raw))))
    assert overlap(masses, top(masses + errors, size)) == 1.0


def test_at_a_gap_of_exactly_2_tau_recovery_can_fail():
    """Negative control: the strict inequality is needed (ties go to the lower index)."""
    assert overlap(np.array([1.0, 3.0]), top(np.array([1.0, 3.0]) + np.array([1.0, -1.0]), 1)) == 0.0


def test_laplace_error_bound():
    """||C~ - C||_inf <= b ln(m / beta) with probability >= 1 - beta; and the bound is not idle."""
    mechanism, noise = LaplacePlan(UNIVERSE, **COMMON), Simulation(11)
    scale = mechanism.noise_law(noise).scale
    worst = np.array([np.abs(mechanism.draw(MASSES, noise)[1] - MASSES).max() for _ in range(DRAWS)])
    assert rate_allows(int((worst > scale * math.log(M / BETA)).sum()), DRAWS, BETA)
    assert not rate_allows(int((worst > 0.5 * scale * math.log(M / BETA)).sum()), DRAWS, BETA)


def test_gaussian_error_bound():
    """||C~ - C||_inf <= std sqrt(2 ln(2m / beta)) with probability >= 1 - beta."""
    mechanism, noise = GaussianPlan(UNIVERSE, delta=1e-6, **COMMON), Simulation(12)
    scale = mechanism.noise_law(noise).scale
    worst = np.array([np.abs(mechanism.draw(MASSES, noise)[1] - MASSES).max() for _ in range(DRAWS)])
    assert rate_allows(int((worst > scale * math.sqrt(2 * math.log(2 * M / BETA))).sum()), DRAWS, BETA)
    assert not rate_allows(int((worst > scale).sum()), DRAWS, BETA)


def test_admission_loss_and_value_error_bounds():
    """Every round t loses <= (2 Delta / eps_t)(ln(m-t+1) + ln(L/beta)); values err <= std sqrt(2 ln(2L/beta))."""
    mechanism, noise = PrivateTopLPlan(UNIVERSE, delta=1e-6, **{**COMMON, "epsilon": 4.0}), Simulation(13)
    std = mechanism.noise_law(noise).scale
    per_round = 4.0 / 2 / L
    late = wrong = 0
    for _ in range(DRAWS):
        chosen, values = mechanism.draw(MASSES, noise)
        left, missed = MASSES.copy(), False
        for t, index in enumerate(chosen, 1):
            missed |= left.max() - left[index] > 2 / per_round * (math.log(M - t + 1) + math.log(L / BETA))
            left[index] = -np.inf
        late += missed
        wrong += np.abs(values - MASSES[chosen]).max() > std * math.sqrt(2 * math.log(2 * L / BETA))
    assert rate_allows(late, DRAWS, BETA)
    assert rate_allows(wrong, DRAWS, BETA)


@pytest.mark.parametrize("factor", [2.0, 10.0])
def test_loss_scales_with_the_sketch(factor):
    """P018: Loss is in support mass (it grows with the sketch), MassRetained is a ratio (it does not)."""
    admitted = np.array([0, 2, 5, 7])
    assert loss(factor * MASSES, admitted) == pytest.approx(factor * loss(MASSES, admitted))
    assert mass_retained(factor * MASSES, admitted) == pytest.approx(mass_retained(MASSES, admitted))
