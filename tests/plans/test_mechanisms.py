"""The three mechanisms: what they bill, what they admit, what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Secure, Simulation, gaussian_noise_std
from privlib.plans.plan import Noise

UNIVERSE = plans.AtomUniverse(tuple(f"theme {k}" for k in range(8)), manifest={"auxiliary_records": 200})
MASSES = np.array([50.0, 10.0, 40.0, 0.0, 30.0, 5.0, 20.0, 1.0])
SKETCH = plans.Sketch(MASSES, "record", 1.0, UNIVERSE.fingerprint)
COMMON = {"epsilon": 1.0, "plan_size": 3, "unit": "record", "relation": "add_drop"}


def build(name, **changes):
    settings = COMMON | changes
    if name == "laplace":
        return plans.LaplacePlan(UNIVERSE, **settings)
    kind = {"gaussian": plans.GaussianPlan, "private_topL": plans.PrivateTopLPlan}[name]
    return kind(UNIVERSE, **{"delta": 1e-6} | settings)


NAMES = ("gaussian", "laplace", "private_topL")


@pytest.mark.parametrize("name", NAMES)
def test_a_release_is_a_plan_with_its_bill(name):
    mechanism = build(name)
    plan = mechanism.release(SKETCH, Simulation(1))
    assert plan.mechanism == name
    assert [atom.rank for atom in plan.atoms] == [1, 2, 3]
    assert list(plan.atoms) == sorted(plan.atoms, key=lambda atom: -atom.mass)
    assert plan.guarantee == mechanism.guarantee
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (1.0, 0.0 if name == "laplace" else 1e-6)
    assert plan.guarantee.assumptions == ("idealized numerics", "secret seed (simulation)")
    assert plan.public_denominator == 200.0
    assert all(atom.support == max(0.0, atom.mass) / 200 for atom in plan.atoms)
    assert plans.SemanticPlan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_plan_other_seed_other_noise(name):
    plan = build(name).release(SKETCH, Simulation(1))
    assert build(name).release(SKETCH, Simulation(1)) == plan
    assert build(name).release(SKETCH, Simulation(2)) != plan


@pytest.mark.parametrize("name", NAMES)
def test_a_huge_budget_recovers_the_true_order(name):
    plan = build(name, epsilon=1e5).release(SKETCH, Simulation(3))
    assert [atom.label for atom in plan.atoms] == ["theme 0", "theme 2", "theme 4"]


def test_scales_follow_the_sensitivity_table():
    noise = Simulation(1)
    assert build("laplace").noise_law(noise) == Noise("laplace", 1.0)
    assert build("laplace", relation="replace").noise_law(noise) == Noise("laplace", 2.0)
    std = build("gaussian", relation="replace").noise_law(noise).scale
    assert std == pytest.approx(gaussian_noise_std(1.0, 1e-6, math.sqrt(2.0)), rel=1e-9)
    assert std >= gaussian_noise_std(1.0, 1e-6, math.sqrt(2.0))
    user = build("laplace", unit="user", contribution_bound=2.0, public_denominator=10.0)
    assert user.noise_law(noise).scale == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_a_secure_release_never_costs_more(name):
    noise = Secure()
    mechanism = build(name)
    plan = mechanism.release(SKETCH, noise)
    assert plan.guarantee.epsilon <= 1.0
    assert plan.guarantee.delta <= 1e-6
    assert "idealized numerics" not in plan.guarantee.assumptions
    assert plan.noise.scale >= mechanism.noise_law(Simulation(1)).scale * (1 - 1e-9)
    assert plans.verify(plans.report(plan, plans.template()).text, plan, UNIVERSE).accepted


@pytest.mark.parametrize("name", NAMES)
def test_each_required_public_parameter_left_out_raises(name):
    for missing in ("epsilon", "plan_size", "unit", "relation"):
        settings = {key: value for key, value in COMMON.items() if key != missing} | (
            {} if name == "laplace" else {"delta": 1e-6}
        )
        kind = {"gaussian": plans.GaussianPlan, "laplace": plans.LaplacePlan, "private_topL": plans.PrivateTopLPlan}[
            name
        ]
        with pytest.raises(TypeError, match=missing):
            kind(UNIVERSE, **settings)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"plan_size": 9}, "plan_size"),
        ({"plan_size": 0}, "plan_size"),
        ({"unit": "house", "public_denominator": 9.0}, "unit"),
        ({"relation": "near"}, "relation"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"public_denominator": 0.0}, "public_denominator"),
        ({"public_denominator": True}, "public_denominator must be a number"),
        ({"epsilon": True}, "epsilon must be a number"),
        ({"comparison_margin": True}, "comparison_margin must be a number"),
        ({"contribution_bound": 2.0}, "contribution_bound"),
        ({"bin_edges": {"low": 0.2, "high": 0.1}}, "bin_edges"),
        ({"comparison_margin": -1.0}, "comparison_margin"),
    ],
)
def test_public_parameters_are_checked_at_construction(changes, match):
    with pytest.raises(ValueError, match=match):
        build("gaussian", **changes)


def test_a_sketch_of_another_kind_is_refused():
    mechanism = build("gaussian")
    for wrong in (
        plans.Sketch(MASSES, "user", 1.0),
        plans.Sketch(MASSES[:4], "record", 1.0),
        plans.Sketch(MASSES, "record", 1.0, universe="another list"),
    ):
        with pytest.raises(ValueError, match="private must be a sketch") as caught:
            mechanism.release(wrong, Simulation(1))
        assert "50" not in str(caught.value)
    with pytest.raises(TypeError, match="got ndarray"):
        mechanism.release(MASSES, Simulation(1))
    user = build("gaussian", unit="user", contribution_bound=1.0, public_denominator=10.0)
    with pytest.raises(ValueError, match=r"contribution_bound at most 1\.0"):
        user.release(plans.Sketch(MASSES, "user", 2.0), Simulation(1))


def test_margin_is_the_95_percent_quantile_of_a_difference():
    rng = Simulation(4).generator
    for law, draws in (("gaussian", rng.normal(0, 3, (2, 400_000))), ("laplace", rng.laplace(0, 3, (2, 400_000)))):
        margin = plans.difference_quantile(Noise(law, 3.0))
        # the share below is binomial: 5.2 standard deviations are a false alarm of 1e-7
        assert abs((draws[0] - draws[1] <= margin).mean() - 0.95) < 5.2 * math.sqrt(0.95 * 0.05 / 400_000)


def test_the_classical_formula_is_kept_below_one_and_refused_above():
    assert plans.classical_std(0.5, 1e-6, 1.0) == pytest.approx(math.sqrt(2 * math.log(1.25e6)) / 0.5)
    for epsilon in (1.0, 2.0, 20.0):
        with pytest.raises(ValueError, match="classical"):
            plans.classical_std(epsilon, 1e-6, 1.0)


def test_ties_in_released_values_go_to_the_lower_index():
    class Silent(Simulation):
        def add_laplace(self, values, scale):
            return np.ones(len(values))

    plan = build("laplace").release(SKETCH, Silent(1))
    assert [atom.label for atom in plan.atoms] == ["theme 0", "theme 1", "theme 2"]


def test_every_coordinate_is_noised():
    draws = np.array([build("laplace").draw(np.zeros(8), Simulation(seed))[1] for seed in range(30)])
    assert (draws.std(axis=0) > 0.2).all()
