"""Guarantees: ranges, composition, immutability, text and JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.dp import Guarantee

ONE = Guarantee(1.0, 1e-6, "record", "add_drop", ("idealized numerics",))


def test_text_names_everything():
    composed = ONE.compose(Guarantee(0.5, 0, "record", "add_drop", composed=("rounds",)))
    assert str(composed) == (
        "(1.5, 1e-06)-DP, unit record, relation add_drop; composed of (1, 1e-06)-DP + rounds; "
        "assuming idealized numerics"
    )


def test_composition_adds_and_unites():
    other = Guarantee(2.0, 2e-6, "record", "add_drop", ("idealized numerics", "a lemma"), ("vector", "rounds"))
    both = ONE.compose(other)
    assert (both.epsilon, both.unit, both.relation) == (3.0, "record", "add_drop")
    assert both.delta == pytest.approx(3e-6, rel=1e-15)
    assert both.assumptions == ("idealized numerics", "a lemma")
    assert both.composed == ("(1, 1e-06)-DP", "vector", "rounds")


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 50), min_size=2, max_size=6))
def test_composition_never_rounds_down(epsilons):
    total = Guarantee(epsilons[0], 0, "user", "replace")
    for epsilon in epsilons[1:]:
        total = total.compose(Guarantee(epsilon, 0, "user", "replace"))
    assert Fraction(total.epsilon) >= sum(map(Fraction, epsilons))
    assert total.epsilon == pytest.approx(math.fsum(epsilons), rel=1e-12)


def test_corners_of_composition():
    loose = Guarantee(math.inf, 0.7, "record", "add_drop")
    assert loose.compose(ONE).epsilon == math.inf
    assert loose.compose(loose).delta == 1.0


@pytest.mark.parametrize(("field", "value"), [("unit", "user"), ("relation", "replace")])
def test_unlike_bills_do_not_add(field, value):
    with pytest.raises(ValueError, match=field):
        ONE.compose(dataclasses.replace(ONE, **{field: value}))
    with pytest.raises(TypeError, match="Guarantee"):
        ONE.compose(1.0)


def test_immutable_and_json():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ONE.epsilon = 0.1
    assert json.loads(json.dumps(ONE.to_json())) == {
        "epsilon": 1.0,
        "delta": 1e-6,
        "unit": "record",
        "relation": "add_drop",
        "assumptions": ["idealized numerics"],
        "composed": [],
    }
    assert json.dumps(Guarantee(math.inf, 0, "user", "replace").to_json(), allow_nan=False)
    assert hash(ONE) == hash(dataclasses.replace(ONE))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": -1e-9}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 1.1}, "delta"),
        ({"delta": -1e-12}, "delta"),
        ({"unit": "row"}, "unit"),
        ({"relation": "add/drop"}, "relation"),
    ],
)
def test_values_outside_the_ranges_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(ONE, **changes)


@pytest.mark.parametrize("changes", [{"epsilon": "1"}, {"epsilon": True}, {"assumptions": "one"}, {"composed": (1,)}])
def test_other_types_are_refused(changes):
    with pytest.raises(TypeError):
        dataclasses.replace(ONE, **changes)
