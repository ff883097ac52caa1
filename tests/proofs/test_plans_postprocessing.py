"""DP-SPIN, Theorem 5.8: two datasets with the same plan give the same bytes (claims P026, P055, P061)."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np

from privlib import plans
from privlib.dp import Simulation

UNIVERSE = plans.AtomUniverse(("long wait", "rude staff", "cold food"), manifest={"auxiliary_records": 50})
MECHANISM = plans.GaussianPlan(UNIVERSE, epsilon=1.0, delta=1e-6, plan_size=2, unit="record", relation="add_drop")


class Replayed(Simulation):
    """A noise source whose outcome is fixed, so that different private masses give one plan."""

    def add_gaussian(self, values, std):
        return np.array([40.0, 3.0, 25.0])


def release(masses) -> plans.SemanticPlan:
    return MECHANISM.release(plans.Sketch(np.array(masses), "record", 1.0, UNIVERSE.fingerprint), Replayed(1))


def stubborn(plan, attempts):
    return f"Dirty room {len(attempts)}."


def test_same_plan_same_bytes_whatever_the_data():
    first, second = release([39.0, 2.0, 26.0]), release([1000.0, 0.0, 0.0])
    assert first == second
    assert first.to_json() == second.to_json()
    for decoder in (plans.template(), stubborn):
        one, two = (plans.report(plan, decoder, UNIVERSE) for plan in (first, second))
        assert one == two
        assert one.text.encode() == two.text.encode()
    assert plans.report(first, stubborn).fallback


def test_a_plan_read_back_gives_the_same_report():
    plan = release([39.0, 2.0, 26.0])
    again = plans.SemanticPlan.from_json(plan.to_json())
    assert again == plan
    assert plans.report(again, plans.template()).text == plans.report(plan, plans.template()).text


def test_decoder_and_verifier_take_no_private_object():
    """Their parameters are a text, a plan, public labels, attempts: there is nowhere to put a sketch or a corpus."""
    assert set(inspect.signature(plans.verify).parameters) == {"text", "plan", "universe"}
    assert set(inspect.signature(plans.report).parameters) == {"plan", "decoder", "universe", "max_attempts"}
    assert not {"sketch", "masses", "corpus", "texts", "target"} & set(plans.SemanticPlan.__dataclass_fields__)


def test_the_mechanism_holds_no_private_field():
    released = release([39.0, 2.0, 26.0])
    assert all(not isinstance(value, np.ndarray) for value in vars(released).values())
    assert "39" not in repr(plans.Sketch(np.array([39.0]), "record", 1.0))
    assert replace(MECHANISM, epsilon=2.0).epsilon == 2.0
