"""The mechanisms: what they bill, what they admit, what they refuse."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Secure, Simulation, gaussian_noise_std, largest_rho
from privlib.plans.plan import ACCOUNTINGS, SELECTIONS, Noise

UNIVERSE = plans.AtomUniverse(tuple(f"theme {k}" for k in range(8)), manifest={"auxiliary_records": 200})
MASSES = np.array([50.0, 10.0, 40.0, 0.0, 30.0, 5.0, 20.0, 1.0])
SKETCH = plans.Sketch(MASSES, "record", 1.0, UNIVERSE.fingerprint)
COMMON = {"epsilon": 1.0, "plan_size": 3, "unit": "record", "relation": "add_drop"}


def build(name, **changes):
    settings = COMMON | changes
    if name == "laplace":
        return plans.LaplacePlan(UNIVERSE, **settings)
    if name == "gaussian":
        return plans.GaussianPlan(UNIVERSE, **{"delta": 1e-6} | settings)
    return plans.PrivateTopLPlan(UNIVERSE, **{"delta": 1e-6} | VARIANTS[name] | settings)


VARIANTS = {  # what each name means, written out
    "private_topL": {},
    "private_topL_monotone": {"monotone": True},
    "private_topL_zcdp": {"accounting": "zcdp"},
    "private_topL_monotone_zcdp": {"monotone": True, "accounting": "zcdp"},
    "private_topL_one_shot": {"selection": "one_shot"},
    "private_topL_one_shot_monotone": {"selection": "one_shot", "monotone": True},
    "private_topL_one_shot_zcdp": {"selection": "one_shot", "accounting": "zcdp"},
    "private_topL_one_shot_monotone_zcdp": {"selection": "one_shot", "monotone": True, "accounting": "zcdp"},
    "private_topL_permute_and_flip": {"selection": "permute_and_flip"},
    "private_topL_permute_and_flip_monotone": {"selection": "permute_and_flip", "monotone": True},
    "private_topL_permute_and_flip_zcdp": {"selection": "permute_and_flip", "accounting": "zcdp"},
    "private_topL_permute_and_flip_monotone_zcdp": {
        "selection": "permute_and_flip",
        "monotone": True,
        "accounting": "zcdp",
    },
}
NAMES = ("gaussian", "laplace", *VARIANTS)


@pytest.mark.parametrize("name", NAMES)
def test_a_release_is_a_plan_with_its_bill(name):
    mechanism = build(name)
    plan = mechanism.release(SKETCH, Simulation(1))
    assert plan.mechanism == name
    assert [atom.rank for atom in plan.atoms] == [1, 2, 3]
    assert list(plan.atoms) == sorted(plan.atoms, key=lambda atom: -atom.mass)
    assert plan.guarantee == mechanism.guarantee
    assert 1 - 1e-9 < plan.guarantee.epsilon <= 1.0
    assert plan.guarantee.delta == (0.0 if name == "laplace" else 1e-6)
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


@pytest.mark.parametrize("name", ["gaussian", "laplace", "private_topL"])
def test_each_required_public_parameter_left_out_raises(name):
    for missing in ("epsilon", "plan_size", "unit", "relation"):
        settings = {key: value for key, value in COMMON.items() if key != missing} | (
            {} if name == "laplace" else {"delta": 1e-6}
        )
        kind = {"gaussian": plans.GaussianPlan, "laplace": plans.LaplacePlan}.get(name, plans.PrivateTopLPlan)
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
    with pytest.raises((ValueError, TypeError), match=match):
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


def test_ties_in_released_values_go_to_the_lower_index():
    class Silent(Simulation):
        def add_laplace(self, values, scale):
            return np.ones(len(values))

    plan = build("laplace").release(SKETCH, Silent(1))
    assert [atom.label for atom in plan.atoms] == ["theme 0", "theme 1", "theme 2"]


def test_every_coordinate_is_noised():
    draws = np.array([build("laplace").draw(np.zeros(8), Simulation(seed))[1] for seed in range(30)])
    assert (draws.std(axis=0) > 0.2).all()


# ------------------------------------------------------------------------------------------ variants of admission
def test_every_setting_has_a_name_of_its_own_and_the_paper_s_is_private_top_l():
    settings = list(itertools.product(SELECTIONS, (False, True), ACCOUNTINGS))
    names = [
        build("private_topL", selection=selection, monotone=monotone, accounting=accounting).name
        for selection, monotone, accounting in settings
    ]
    assert len(set(names)) == len(settings)
    assert set(names) == set(VARIANTS)
    assert names[0] == "private_topL"
    assert build("private_topL").guarantee.composed == ("exponential mechanism, 3 rounds", "Gaussian vector")


def test_the_composition_says_what_was_drawn_and_how_it_was_billed():
    plan = build("private_topL_permute_and_flip_monotone_zcdp").release(SKETCH, Simulation(1))
    assert plan.composition == ("permute-and-flip, 3 rounds, monotone, by zCDP", "Gaussian vector, by zCDP")
    plan = build("private_topL_one_shot").release(SKETCH, Simulation(1))
    assert plan.composition == ("one-shot Gumbel, 3 rounds", "Gaussian vector")


def test_zcdp_splits_rho_and_is_never_above_what_the_budget_allows():
    for epsilon, share, name in itertools.product((0.1, 1.0, 7.7), (0.1, 0.5, 0.9), VARIANTS):
        if not name.endswith("zcdp"):
            continue
        mechanism = build(name, epsilon=epsilon, selection_share=share)
        rho, noise = largest_rho(epsilon, 1e-6), Simulation(1)
        rounds, values = mechanism._rounds.zcdp_under(noise), mechanism._values.zcdp_under(noise)
        assert rounds.rho == pytest.approx(share * rho, rel=1e-9)
        assert values.rho == pytest.approx((1 - share) * rho, rel=1e-9)
        assert mechanism.zcdp_under(noise).rho <= rho
        assert epsilon * (1 - 1e-9) < mechanism.guarantee.epsilon <= epsilon
        scale = mechanism.noise_law(noise).scale
        assert scale == pytest.approx(1 / math.sqrt(2 * (1 - share) * rho), rel=1e-9)


def test_a_secure_release_by_zcdp_pays_for_its_grid():
    """On a coarse grid the source's bill of a deviation is larger, so the deviation grows until the bill fits."""
    coarse, mechanism = Secure(-2), build("private_topL_zcdp")
    fine = mechanism.noise_law(Simulation(1)).scale
    assert mechanism.noise_law(coarse).scale > fine * 1.05
    assert mechanism.guarantee_under(coarse).epsilon <= 1.0
    assert mechanism.zcdp_under(coarse).rho <= largest_rho(1.0, 1e-6)


def test_user_level_variants_scale_with_the_bound():
    one, two = (
        build("private_topL_monotone_zcdp", unit="user", contribution_bound=bound, public_denominator=9.0)
        for bound in (1.0, 2.0)
    )
    noise = Simulation(1)
    assert two._rounds.gumbel_scale == pytest.approx(2 * one._rounds.gumbel_scale, rel=1e-12)
    assert two.noise_law(noise).scale == pytest.approx(2 * one.noise_law(noise).scale, rel=1e-12)
    assert build("private_topL")._rounds.gumbel_scale == 2 * build("private_topL_monotone")._rounds.gumbel_scale


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"selection": "magic"}, "selection must be one of"),
        ({"accounting": "guess"}, "accounting must be one of"),
        ({"monotone": True, "relation": "replace"}, "monotone must be False under relation 'replace'"),
        ({"selection_share": 1.0}, "selection_share must lie strictly"),
        ({"delta": 0.0, "accounting": "zcdp"}, "delta must lie strictly"),
    ],
)
def test_settings_of_admission_are_checked_at_construction(changes, match):
    with pytest.raises(ValueError, match=match):
        build("private_topL", **changes)
    with pytest.raises(TypeError, match="monotone must be True or False"):
        build("private_topL", monotone=1)


@pytest.mark.parametrize("name", NAMES)
def test_noise_that_is_no_source_is_refused_by_name(name):
    for wrong in (7, None, np.random.default_rng(1), Simulation):
        with pytest.raises(TypeError, match="noise must be a source"):
            build(name).release(SKETCH, wrong)


def test_a_plan_of_an_unknown_mechanism_is_not_read():
    raw = json.loads(build("gaussian").release(SKETCH, Simulation(1)).to_json())
    for name in ("magic", "private_topL_basic", "private_topL_rounds", "Gaussian", "exponential", ""):
        with pytest.raises(ValueError, match="mechanism must be one of"):
            plans.SemanticPlan.from_json(json.dumps(raw | {"mechanism": name}))
    with pytest.raises(ValueError, match="noise law of mechanism 'private_topL_zcdp' must be 'gaussian'"):
        plans.SemanticPlan.from_json(
            json.dumps(raw | {"mechanism": "private_topL_zcdp", "noise": {"law": "laplace", "scale": 1.0}})
        )
