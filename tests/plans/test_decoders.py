"""Attempts, feedback, fallback (claim P063)."""

from __future__ import annotations

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans import decoders
from privlib.plans.decoders import supported_comparisons
from privlib.plans.plan import Atom

PLAN = plans.SemanticPlan(
    "laplace",
    Guarantee(1.0, 0.0, "record", "add_drop"),
    public_denominator=100.0,
    universe_size=3,
    plan_size=2,
    comparison_margin=5.0,
    atoms=(Atom(1, "long wait", "", 40.0, 0.4, "high"), Atom(2, "cold food", "", 36.0, 0.36, "high")),
)


def test_the_first_accepted_candidate_is_returned_and_all_attempts_are_kept():
    def decoder(plan, attempts):
        if not attempts:
            return "Cold food is the most common theme."
        assert attempts[-1].verdict.violations[0].kind == "rank"  # public feedback
        return "Long wait is the most common theme."

    report = plans.report(PLAN, decoder)
    assert report.text == "Long wait is the most common theme."
    assert [attempt.verdict.accepted for attempt in report.attempts] == [False, True]
    assert not report.fallback


@pytest.mark.parametrize("limit", [1, 3])
def test_after_the_last_rejected_attempt_the_deterministic_fallback_is_returned(limit):
    report = plans.report(PLAN, lambda plan, attempts: "Dirty room.", max_attempts=limit)
    assert len(report.attempts) == limit
    assert report.fallback
    assert report.text == plans.template()(PLAN, ())
    assert plans.verify(report.text, PLAN).accepted


def test_the_template_says_no_comparison_within_the_margin():
    assert supported_comparisons(PLAN) == []
    assert "more support" not in plans.template()(PLAN, ())


def test_the_template_says_what_a_support_is_of():
    text = plans.template()(PLAN, ())
    assert "A support is a noisy mass over the public denominator 100.0, not a share of the protected texts." in text
    assert plans.verify(text, PLAN).accepted
    assert plans.verify(text, PLAN, ("long wait", "cold food", "dirty room")).accepted


def test_feedback_names_the_passage_and_each_complaint_once():
    text = "Cold food is first. Cold food is the most common theme. Cold food is number one. It is at 99%."
    said = decoders.feedback(text, plans.verify(text, PLAN).violations).splitlines()
    assert said[0] == "first: the released ranks do not give this to 'cold food'."
    assert 1 < len(said) == len(set(said)) <= 3
    report = plans.report(PLAN, lambda plan, attempts: text)
    assert report.attempts[0].feedback == "\n".join(said)
    assert plans.report(PLAN, plans.template()).attempts[0].feedback == ""


@pytest.mark.parametrize("limit", [0, -1, True, 2.0])
def test_max_attempts_is_checked(limit):
    with pytest.raises(ValueError, match="max_attempts"):
        plans.report(PLAN, plans.template(), max_attempts=limit)


def test_an_empty_plan_has_a_report():
    empty = plans.SemanticPlan("laplace", PLAN.guarantee, 100.0, 3, 2, 5.0, ())
    assert plans.report(empty, plans.template()).attempts[0].verdict.accepted


def test_a_fallback_that_does_not_verify_is_not_released(monkeypatch):
    monkeypatch.setattr("privlib.plans.decoders.attempts.template", lambda: lambda plan, attempts: "Dirty room.")
    with pytest.raises(ValueError, match="template text that verifies, got violations of kind \\['atom'\\]"):
        plans.report(PLAN, lambda plan, attempts: "Asbestos.")
