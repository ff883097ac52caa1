"""Plan JSON: schema 1 both ways, strict in what it reads."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import DEFAULT_BIN_EDGES, Atom, bin_of

EXAMPLE = {
    "schema": 1,
    "mechanism": "gaussian",
    "guarantee": {"epsilon": 1.0, "delta": 1e-6, "unit": "record", "relation": "add_drop"},
    "noise": {"law": "gaussian", "scale": 3.9},
    "composition": ["gaussian sketch"],
    "public_denominator": 2000.0,
    "universe_size": 50,
    "plan_size": 10,
    "comparison_margin": 9.1,
    "bin_edges": {"low": 0.02, "moderate": 0.05, "high": 0.1},
    "atoms": [
        {
            "rank": 1,
            "label": "long wait",
            "description": "waiting time",
            "mass": 482.3,
            "support": 0.24115,
            "bin": "high",
        }
    ],
}


def read(**changes) -> plans.SemanticPlan:
    return plans.SemanticPlan.from_json(json.dumps(copy.deepcopy(EXAMPLE) | changes))


def test_the_example_of_the_specification_round_trips():
    plan = read()
    assert json.loads(plan.to_json()) == EXAMPLE
    assert list(json.loads(plan.to_json())) == list(EXAMPLE)
    assert plan.atoms[0].label == "long wait"
    assert plan.guarantee == Guarantee(1.0, 1e-6, "record", "add_drop", composed=("gaussian sketch",))


@pytest.mark.parametrize("key", ["noise", "composition", "bin_edges", "plan_size"])
def test_keys_that_may_be_missing(key):
    raw = {name: value for name, value in EXAMPLE.items() if name != key}
    plan = plans.SemanticPlan.from_json(json.dumps(raw))
    assert plans.SemanticPlan.from_json(plan.to_json()) == plan
    assert plans.verify(plans.report(plan, plans.template()).text, plan).accepted


@pytest.mark.parametrize(
    "key", [key for key in EXAMPLE if key not in {"noise", "composition", "bin_edges", "plan_size"}]
)
def test_keys_that_may_not(key):
    with pytest.raises(ValueError, match=f"lacks the keys \\['{key}'\\]"):
        plans.SemanticPlan.from_json(json.dumps({name: value for name, value in EXAMPLE.items() if name != key}))


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": 1},
        {"schema": 2},
        {"mechanism": 3},
        {"public_denominator": 0.0},
        {"public_denominator": "2000"},
        {"comparison_margin": float("nan")},
        {"universe_size": 5},
        {"plan_size": True},
        {"guarantee": {"epsilon": 1.0, "delta": 1e-6, "unit": "record"}},
        {"guarantee": {"epsilon": 1.0, "delta": 1e-6, "unit": "village", "relation": "add_drop"}},
        {"noise": {"law": "cauchy", "scale": 1.0}},
        {"composition": [1]},
        {"bin_edges": {"low": 0.5, "high": 0.1}},
        {"atoms": [EXAMPLE["atoms"][0] | {"rank": 2}]},
        {"atoms": [EXAMPLE["atoms"][0], EXAMPLE["atoms"][0] | {"rank": 2}]},
        {"atoms": [EXAMPLE["atoms"][0] | {"secret": 1}]},
        {"atoms": [EXAMPLE["atoms"][0] | {"mass": float("inf")}]},
        {"atoms": [EXAMPLE["atoms"][0] | {"label": "two\nlines"}]},
    ],
)
def test_everything_else_is_refused(changes):
    with pytest.raises(ValueError, match=r"\S"):
        read(**changes)


def test_assumptions_travel_in_the_composition():
    promise = Guarantee(1.0, 0.0, "user", "replace", ("idealized numerics",), ("laplace sketch",))
    plan = plans.SemanticPlan("laplace", promise, 10.0, 2, 1, 1.0, (Atom(1, "a", "", 1.0, 0.1, "high"),))
    assert json.loads(plan.to_json())["composition"] == ["laplace sketch", "assuming idealized numerics"]
    assert plans.SemanticPlan.from_json(plan.to_json()) == plan


@given(st.text())
def test_any_text_is_a_plan_or_a_value_error(text):
    with pytest.raises(ValueError, match=r"\S"):
        plans.SemanticPlan.from_json(text)


@pytest.mark.parametrize(
    ("support", "name"),
    [(0.0, "trace"), (0.0199, "trace"), (0.02, "low"), (0.05, "moderate"), (0.1, "high"), (3, "high")],
)
def test_bins(support, name):
    assert bin_of(support, DEFAULT_BIN_EDGES) == name


def atom(**changes) -> dict:
    return EXAMPLE["atoms"][0] | changes


SECOND = {"rank": 2, "label": "rude staff", "description": "", "mass": 10.0, "support": 0.005, "bin": "trace"}


def test_a_consistent_second_atom_and_the_rounding_of_json_are_read():
    assert len(read(atoms=[atom(), SECOND]).atoms) == 2
    assert read(atoms=[atom(support=0.24115 * (1 + 1e-12))]).atoms[0].bin == "high"
    assert read(atoms=[atom(mass=-3.0, support=0.0, bin="trace")]).atoms[0].support == 0
    assert read(atoms=[atom(mass=200.0 * (1 - 1e-12), support=0.1, bin="high")]).atoms[0].bin == "high"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"atoms": [atom(rank=2), SECOND | {"rank": 1}]}, "masses must fall"),
        ({"atoms": [atom(support=0.25)]}, "support of 'long wait' must be 0.24115"),
        ({"atoms": [atom(mass=-482.3)]}, "support of 'long wait' must be 0.0"),
        ({"atoms": [atom(bin="low")]}, "bin of 'long wait' must be high"),
        ({"atoms": [atom(bin="huge")]}, "bin of 'long wait' must be high"),
        ({"noise": {"law": "laplace", "scale": 3.9}}, "noise law of mechanism 'gaussian'"),
        ({"mechanism": "laplace"}, "noise law of mechanism 'laplace'"),
        ({"mechanism": "private_topL", "noise": {"law": "laplace", "scale": 3.9}}, "noise law"),
        ({"public_denominator": 10**400}, "finite number"),
        ({"universe_size": 10**400}, "larger integer"),
        ({"bin_edges": {"low": 10**400}}, "finite number"),
    ],
)
def test_values_that_disagree_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        read(**changes)


@pytest.mark.parametrize("text", [None, 3, b"{}", "[" * 100_000, '{"schema": 1, "schema": 1}', '{"a":' * 100_000])
def test_what_is_no_plan_text_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"must be a string|nested too deeply|each key once"):
        plans.SemanticPlan.from_json(text)


@pytest.mark.parametrize("name", ["most", "half", "than", "no", "exact", "High", "two words", "ｌow", "common"])
def test_a_bin_is_not_named_by_a_word_that_makes_a_claim(name):
    with pytest.raises(ValueError, match="bin_edges must be named"):
        read(bin_edges={name: 0.02}, atoms=[])


def test_bins_of_other_names_have_a_template_that_verifies():
    plan = read(bin_edges={"sizable": 0.02}, atoms=[atom(bin="sizable")])
    assert plans.report(plan, plans.template()).attempts[0].verdict.violations == ()
