"""DP-SPIN, Theorem 5.8: two datasets with the same plan give the same bytes (claims P026, P055, P061)."""

from __future__ import annotations

import hashlib
import inspect
import json
import typing
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Guarantee, Simulation

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


def boastful(plan, attempts):
    return f"“{plan.atoms[-1].label}” is the most common theme."


def hashed(prompts):
    """A model without a state: its answers follow from the prompts, right, wrong and malformed ones among them."""
    answers = []
    for prompt in prompts:
        digest = hashlib.sha256(prompt.encode()).digest()
        theme = UNIVERSE[digest[0] % 3]
        claim = {"claim": "rank", "theme": theme, "rank": 1 + digest[1] % 2}
        claimed = [json.dumps([claim]), json.dumps(claim)[:-1], f"The most common theme is {theme}.", f"Only {theme}."]
        answers.append(claimed[digest[2] % 4])
    return answers


@pytest.mark.parametrize("decoder", [plans.free_text, plans.structured_claims])
@pytest.mark.parametrize("at_once", [1, 2])
def test_a_language_model_gives_the_same_bytes_and_the_same_attempts(decoder, at_once):
    """Whatever the data: prompts, answers, verdicts, feedback and text are functions of the plan (Theorem 5.8)."""
    first, second = release([39.0, 2.0, 26.0]), release([1000.0, 0.0, 0.0])
    seen = [[], []]

    def listening(k):
        def generate(prompts):
            seen[k].append(list(prompts))
            return hashed(prompts)

        return generate

    one, two = (plans.report(plan, decoder(listening(k), at_once), UNIVERSE) for k, plan in enumerate((first, second)))
    assert one == two
    assert one.text.encode() == two.text.encode()
    assert seen[0] == seen[1]
    assert seen[0]


@pytest.mark.parametrize("decoder", [plans.free_text, plans.structured_claims])
def test_a_decoder_that_is_handed_the_sketch_breaks_the_premise(decoder):
    """Negative control (the remark after Theorem 5.8): a model that knows the true masses tells two corpora apart."""

    def knowing(masses):
        words = " ".join(f"theme {int(mass)}" for mass in masses)
        return decoder(lambda prompts: [words] * len(prompts))

    data = [[39.0, 2.0, 26.0], [1000.0, 0.0, 0.0]]
    one, two = (plans.report(release(masses), knowing(masses), UNIVERSE) for masses in data)
    assert one.attempts != two.attempts


def test_private_by_post_processing_and_consistent_with_the_plan_are_two_properties():
    """Either without the other: a false text that follows from the plan, true texts that tell two corpora apart."""
    data = [[39.0, 2.0, 26.0], [1000.0, 0.0, 0.0]]
    first, second = (release(masses) for masses in data)
    false = [plans.report(plan, boastful, UNIVERSE).attempts[0] for plan in (first, second)]
    assert false[0] == false[1]
    assert not false[0].verdict.accepted
    told = {39.0: "“long wait” is one of the themes.", 1000.0: "“cold food” is one of the themes."}
    leaking = [told[max(masses)] for masses in data]
    true = [
        plans.report(plan, lambda plan, attempts, text=text: text, UNIVERSE)
        for plan, text in zip((first, second), leaking, strict=True)
    ]
    assert all(report.attempts[0].verdict.accepted for report in true)
    assert true[0].text != true[1].text


def reached(kind, seen=None):
    """All types that a value of type `kind` can hold, by the annotations of dataclasses."""
    seen = set() if seen is None else seen
    for part in (kind, *typing.get_args(kind)):
        if part is not kind:
            reached(part, seen)
        elif isinstance(part, type) and part not in seen:
            seen.add(part)
            if is_dataclass(part):
                hints = typing.get_type_hints(part)
                for field in fields(part):
                    reached(hints[field.name], seen)
    return seen


def test_no_type_that_a_decoder_sees_can_hold_the_protected_texts():
    """Plan and attempts are texts, numbers and tuples of these: there is nowhere to put a corpus or a sketch."""
    plain = {str, int, float, bool, type(None)}
    ours = {
        plans.SemanticPlan,
        plans.Atom,
        plans.Noise,
        plans.Attempt,
        plans.Verdict,
        plans.Violation,
        Guarantee,
    }
    assert reached(plans.SemanticPlan) | reached(plans.Attempt) == plain | ours
    assert np.ndarray in reached(plans.Sketch)  # the same walk does find a private type


@pytest.mark.parametrize("decoder", [plans.free_text, plans.structured_claims])
def test_a_language_model_is_handed_texts_and_a_decoder_takes_no_data(decoder):
    assert set(inspect.signature(decoder).parameters) == {"generate", "atoms_at_once"}
    assert set(inspect.signature(decoder(hashed)).parameters) == {"plan", "attempts"}
    given = []
    plans.report(
        release([39.0, 2.0, 26.0]), decoder(lambda prompts: given.extend(prompts) or hashed(prompts)), UNIVERSE
    )
    assert {type(prompt) for prompt in given} == {str}
    with pytest.raises(TypeError, match="plan must be a SemanticPlan"):
        plans.report(plans.Sketch(np.array([39.0]), "record", 1.0), decoder(hashed))


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
