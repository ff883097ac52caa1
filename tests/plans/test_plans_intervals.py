"""Intervals for the reader of a plan: exact quantiles, coverage by simulation, and what per-atom intervals do."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.plans.intervals import half_width, range_quantile
from privlib.plans.plan import Noise

M, L, RUNS, LEVEL = 200, 10, 1200, 0.95
UNIVERSE = plans.AtomUniverse(tuple(f"theme {k}" for k in range(M)), manifest={"auxiliary_records": 500})
SHAPES = {"flat": np.full(M, 40.0), "Zipf": 400.0 / np.arange(1.0, M + 1)}
COMMON = {"epsilon": 1.0, "plan_size": L, "unit": "record", "relation": "add_drop"}
MECHANISMS = {
    "gaussian": plans.GaussianPlan(UNIVERSE, delta=1e-6, **COMMON),
    "laplace": plans.LaplacePlan(UNIVERSE, **COMMON),
    "private_topL": plans.PrivateTopLPlan(
        UNIVERSE, delta=1e-6, selection="one_shot", monotone=True, accounting="zcdp", **COMMON
    ),
}
LAWS = ("gaussian", "laplace")
SIGMAS = 5.4  # a normal deviate exceeds it with probability 7e-8


def at_least(share: float, level: float, runs: int) -> bool:
    """False with probability below 1e-7 (binomial) where the true share is at least `level`."""
    return share >= level - SIGMAS * math.sqrt(level * (1 - level) / runs)


def near(share: float, level: float, runs: int) -> bool:
    return abs(share - level) <= SIGMAS * math.sqrt(level * (1 - level) / runs)


def drawn(law: str, size, seed: int) -> np.ndarray:
    return getattr(Simulation(seed).generator, {"gaussian": "normal", "laplace": "laplace"}[law])(size=size) * 3.0


# ------------------------------------------------------------------------------------------ quantiles
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("draws", [1, 2, 30])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_largest_of_many_draws_stays_within_the_half_width(law, draws, level):
    """Exact, not only safe: 40,000 simulated rows, false alarm below 1e-7; power: a level 5 points off."""
    worst = np.abs(drawn(law, (40_000, draws), 1)).max(axis=1)
    share = (worst <= half_width(Noise(law, 3.0), level, draws)).mean()
    assert near(share, level, len(worst))
    assert not near((worst <= half_width(Noise(law, 3.0), level - 0.05, draws)).mean(), level, len(worst))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("draws", [2, 5, 60])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_range_of_many_draws_stays_within_its_quantile(law, draws, level):
    """As above; 40,000 rows, false alarm below 1e-7; power: a level 5 points off."""
    spread = np.ptp(drawn(law, (40_000, draws), 2), axis=1)
    assert near((spread <= range_quantile(Noise(law, 3.0), level, draws)).mean(), level, len(spread))
    assert not near((spread <= range_quantile(Noise(law, 3.0), level - 0.05, draws)).mean(), level, len(spread))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 1 - 1e-9])
def test_the_range_of_two_is_the_law_of_one_difference(law, level):
    """Closed form of the difference of two draws, an independent derivation."""
    noise = Noise(law, 2.0)
    assert range_quantile(noise, level, 2) == pytest.approx(plans.difference_quantile(noise, (1 + level) / 2), rel=1e-7)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("draws", [2, 10, 1000, 100_000])
def test_the_range_lies_below_what_bonferroni_and_two_half_widths_allow(law, draws):
    noise = Noise(law, 1.0)
    found = range_quantile(noise, 0.95, draws)
    pairs = draws * (draws - 1)
    assert found <= plans.difference_quantile(noise, 1 - 0.05 / pairs) * (1 + 1e-9)
    assert half_width(noise, 0.95, draws) < found < 2 * half_width(noise, 0.95, draws)


@pytest.mark.parametrize("law", LAWS)
def test_quantiles_scale_with_the_noise_and_grow_with_level_and_draws(law):
    for quantile in (half_width, range_quantile):
        assert quantile(Noise(law, 6.0), 0.9, 20) == pytest.approx(6 * quantile(Noise(law, 1.0), 0.9, 20))
        grown = [quantile(Noise(law, 1.0), level, draws) for draws in (5, 50) for level in (0.5, 0.9, 0.999)]
        assert grown[:3] == sorted(grown[:3])
        assert all(a < b for a, b in zip(grown[:3], grown[3:], strict=True))


# ------------------------------------------------------------------------------------------ coverage
def coverage(name: str, shape: str) -> dict[str, float]:
    """Shares over `RUNS` releases in which all statements hold; and what per-atom intervals reach."""
    mechanism, masses, noise = MECHANISMS[name], SHAPES[shape], Simulation(9)
    sketch = plans.Sketch(masses, "record", 1.0, UNIVERSE.fingerprint)
    truth = dict(zip(UNIVERSE.labels, masses, strict=True))
    single = half_width(mechanism.noise_law(noise), LEVEL, 1)
    hits = {"masses": 0, "orders": 0, "one atom alone": 0.0}
    for _ in range(RUNS):
        plan = mechanism.release(sketch, noise)
        said = plans.intervals(plan, LEVEL)
        hits["masses"] += all(one.low <= truth[one.label] <= one.high for one in said.masses)
        hits["orders"] += all(truth[one.above] - truth[one.below] >= one.at_least for one in said.orders)
        hits["one atom alone"] += np.mean([abs(atom.mass - truth[atom.label]) <= single for atom in plan.atoms])
    return {name: found / RUNS for name, found in hits.items()}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_all_intervals_and_all_orders_hold_together(name, shape):
    """1,200 releases, false alarm below 1e-7; negative control on the flat sketch: per-atom intervals of the same
    level after selection by the noise cover less than 60 % of the admitted atoms, but do for values drawn afresh."""
    found = coverage(name, shape)
    assert at_least(found["masses"], LEVEL, RUNS)
    assert at_least(found["orders"], LEVEL, RUNS)
    if name == "private_topL":
        assert near(found["masses"], LEVEL, RUNS)  # Sidak over independent draws: exact
        assert near(found["one atom alone"], LEVEL, RUNS)
    elif shape == "flat":
        assert found["one atom alone"] < 0.6
        assert not at_least(found["one atom alone"], LEVEL, RUNS)


def test_negative_control_over_the_plan_instead_of_the_universe():
    """Sidak over the L admitted atoms of a full sketch is refuted: it forgets that they were picked by the noise."""
    mechanism, noise, masses = MECHANISMS["gaussian"], Simulation(3), SHAPES["flat"]
    reach, hits = half_width(mechanism.noise_law(noise), LEVEL, L), 0
    for _ in range(RUNS):
        indices, values = mechanism.draw(masses, noise)
        admitted = np.argsort(-values)[:L]
        hits += np.abs(values - masses[indices])[admitted].max() <= reach
    assert not at_least(hits / RUNS, LEVEL, RUNS)


# ------------------------------------------------------------------------------------------ the record
PLAN = MECHANISMS["gaussian"].release(plans.Sketch(SHAPES["Zipf"], "record", 1.0, UNIVERSE.fingerprint), Simulation(1))


def test_the_record_is_what_the_quantiles_say():
    said = plans.intervals(PLAN, level=0.95)
    reach, spread = half_width(PLAN.noise, 0.95, M), range_quantile(PLAN.noise, 0.95, M)
    assert said.draws == M
    assert [one.label for one in said.masses] == [atom.label for atom in PLAN.atoms]
    assert [(one.low, one.high) for one in said.masses] == [
        (max(0.0, atom.mass - reach), atom.mass + reach) for atom in PLAN.atoms
    ]
    wanted = [(a.label, b.label, a.mass - b.mass - spread) for a, b in itertools.combinations(PLAN.atoms, 2)]
    assert [dataclasses.astuple(one) for one in said.orders] == wanted
    again = plans.intervals(plans.SemanticPlan.from_json(PLAN.to_json()))
    assert again == said
    few = plans.intervals(MECHANISMS["private_topL"].release(_flat(), Simulation(1)))
    assert few.draws == L


def _flat() -> plans.Sketch:
    return plans.Sketch(SHAPES["flat"], "record", 1.0, UNIVERSE.fingerprint)


def test_printing_shows_level_law_and_what_is_established():
    said = plans.intervals(PLAN)
    text = str(said)
    assert "Confidence 0.95 for all lines at once, over 200 draws of gaussian noise" in text
    assert "“theme 0”: true mass in [" in text
    first = said.orders[0]
    assert f"“theme 0” above “theme 1” by at least {first.at_least:.1f}" in text
    assert text.count("“theme 0” above") == 1
    established = sum(one.at_least > 0 for one in said.orders)
    assert f"Orders established at confidence 0.95, all at once: {established} of 45; of each" in text
    assert 1 < established < 45
    assert "Orders established at confidence 0.95, all at once: 0 of 45" in str(
        plans.intervals(MECHANISMS["gaussian"].release(_flat(), Simulation(1)))
    )


def test_no_end_below_zero_and_no_orders_of_one_atom():
    atom = plans.Atom(1, "a", "", -50.0, 0.0, "trace")
    alone = dataclasses.replace(PLAN, atoms=(atom,))
    said = plans.intervals(alone)
    assert (said.masses[0].low, said.masses[0].high, said.orders) == (0.0, 0.0, ())
    assert plans.intervals(dataclasses.replace(PLAN, atoms=())).masses == ()


def test_a_plan_without_noise_and_bad_levels_are_refused():
    with pytest.raises(ValueError, match="plan must state its noise"):
        plans.intervals(dataclasses.replace(PLAN, noise=None))
    with pytest.raises(TypeError, match="plan must be a SemanticPlan, got ndarray"):
        plans.intervals(SHAPES["flat"])
    for level in (0.0, 1.0, 95, True, "0.95", math.nan):
        with pytest.raises(ValueError, match="level must be a number strictly between 0 and 1"):
            plans.intervals(PLAN, level)
    for draws in (1, 2.0, True):
        with pytest.raises(ValueError, match="draws must be an integer of at least 2"):
            range_quantile(PLAN.noise, 0.9, draws)
    with pytest.raises(ValueError, match="draws must be an integer of at least 1"):
        half_width(PLAN.noise, 0.9, 0)
