"""One code for local and served models: the decoders of semantic plans through a real server of the tiny model."""

from __future__ import annotations

import functools

import pytest

from privlib import models, plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom

PLAN = plans.SemanticPlan(
    "laplace",
    Guarantee(1.0, 0.0, "record", "add_drop"),
    public_denominator=1000.0,
    universe_size=3,
    plan_size=2,
    comparison_margin=5.0,
    atoms=(Atom(1, "long wait", "", 40.0, 0.04, "low"), Atom(2, "late delivery", "", 31.0, 0.031, "low")),
)
UNIVERSE = ("long wait", "late delivery", "phone bill")


@pytest.mark.parametrize("decoder", [plans.free_text, plans.structured_claims])
@pytest.mark.parametrize("settings", [{}, {"temperature": 1.0, "seed": 3}], ids=["likeliest", "drawn"])
def test_a_served_model_tells_a_plan_through_the_code_of_a_local_one(endpoint, tiny_lm, decoder, settings):
    asked = []

    def tell(model):
        write = functools.partial(model.generate, max_new_tokens=12, **settings)

        def noted(prompts):
            asked.append(prompts)
            return write(prompts)

        return plans.report(PLAN, decoder(noted, atoms_at_once=1), UNIVERSE, max_attempts=2)

    local, served = models.language_model(tiny_lm), models.language_model(endpoint=endpoint, model=str(tiny_lm))
    here, there = tell(local), tell(served)
    assert asked[0] == asked[len(asked) // 2]  # the same first prompts
    assert len(there.attempts) == 2  # words at random name no theme
    assert there.fallback
    assert there.text == plans.template()(PLAN, ())
    assert all(attempt.feedback and all(attempt.answers) for attempt in there.attempts)
    assert there == tell(served)
    if not settings:  # a server draws by a generator of its own
        assert there == here
