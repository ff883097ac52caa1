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
