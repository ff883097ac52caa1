"""Structured claims: strict reading, each claim against the plan, the cure and its limits."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans import decoders
from privlib.plans.decoders.claims import TYPES, Claim, Malformed, parse
from privlib.plans.plan import Atom

MASSES = (455.0, 400.0, 397.0, 31.0, 22.0)
LABELS = ("long wait", "rude staff", "cold food", "dirty room", "late refund")
BINS = ("high", "high", "high", "low", "low")
PLAN = plans.SemanticPlan(
    "laplace",
    Guarantee(1.0, 0.0, "record", "add_drop"),
    public_denominator=1000.0,
    universe_size=7,
    plan_size=5,
    comparison_margin=5.0,
    atoms=tuple(Atom(k + 1, LABELS[k], "", MASSES[k], MASSES[k] / 1000, BINS[k]) for k in range(5)),
)
UNIVERSE = (*LABELS, "loud music", "broken lift")
GOOD = [
    {"claim": "atom", "theme": "cold food"},
    {"claim": "value", "theme": "long wait", "percent": 45.5},
    {"claim": "bin", "theme": "dirty room", "bin": "low"},
    {"claim": "comparison", "more": "long wait", "less": "rude staff"},
    {"claim": "rank", "theme": "cold food", "rank": 3},
]
WRONG = {
    "atom": [
        {"claim": "atom", "theme": "loud music"},
        {"claim": "value", "theme": "asbestos", "percent": 45.5},
        {"claim": "comparison", "more": "long wait", "less": "broken lift"},
    ],
    "number": [
        {"claim": "value", "theme": "long wait", "percent": 45.6},
        {"claim": "value", "theme": "long wait", "percent": 455},
        {"claim": "value", "theme": "long wait", "percent": 0.455},
    ],
    "bin": [
        {"claim": "bin", "theme": "dirty room", "bin": "high"},
        {"claim": "bin", "theme": "dirty room", "bin": "LOW"},
    ],
    "comparison": [
        {"claim": "comparison", "more": "rude staff", "less": "long wait"},
        {"claim": "comparison", "more": "rude staff", "less": "cold food"},  # within the margin
        {"claim": "comparison", "more": "rude staff", "less": "rude staff"},
    ],
    "rank": [{"claim": "rank", "theme": "cold food", "rank": 2}, {"claim": "rank", "theme": "cold food", "rank": 0}],
    "form": [
        {"claim": "size", "theme": "cold food"},
        {"claim": "atom", "theme": "cold food", "note": "patient 17"},
        {"claim": "value", "theme": "long wait"},
        {"claim": "value", "theme": "long wait", "percent": "45.5"},
        {"claim": "value", "theme": "long wait", "percent": 1e9999},
        {"claim": "value", "theme": "long wait", "percent": -45.5},
        {"claim": "rank", "theme": 3, "rank": 3},
        {"claim": "rank", "theme": "cold food", "rank": [3]},
        {"claim": ["rank"], "theme": "cold food", "rank": 3},
        {"theme": "cold food"},
        ["atom", "cold food"],
        "cold food",
        7,
        None,
    ],
}


def said(answer: str) -> tuple[list[Claim], list[str]]:
    claims, odd = parse(answer)
    return claims, [violation.kind for violation in odd] + [v.kind for c in claims if (v := c.unsupported(PLAN))]


def written(claim) -> str:
    return json.dumps(claim).replace("Infinity", "1e9999")


@pytest.mark.parametrize("claim", GOOD, ids=lambda claim: claim["claim"])
def test_a_supported_claim_of_every_type_becomes_a_sentence_that_the_verifier_accepts(claim):
    (parsed,), wrong = said(json.dumps([claim]))
    assert wrong == []
    assert plans.verify(parsed.sentence(), PLAN, UNIVERSE).accepted
    assert plans.verify(parsed.sentence(), PLAN).accepted
    assert {claim["claim"] for claim in GOOD} == set(TYPES)


@pytest.mark.parametrize(("kind", "claim"), [(kind, claim) for kind, claims in WRONG.items() for claim in claims])
def test_a_claim_that_the_plan_does_not_support_is_dropped_by_its_kind(kind, claim):
    assert said(f"[{written(claim)}]")[1] == [kind]
    answer = f"[{json.dumps(GOOD[0])}, {written(claim)}]"
    report = plans.report(PLAN, plans.structured_claims(lambda prompts: [answer] * len(prompts)), UNIVERSE)
    assert not report.fallback
    assert [violation.kind for violation in report.attempts[0].dropped] == [kind] * 5
    assert report.text == f"“cold food” is one of the themes.\n{decoders.sentences.reading(PLAN)}\n"
    assert report.attempts[0].feedback


@pytest.mark.parametrize(
    ("kind", "claim"),
    [(k, c) for k in ("number", "comparison", "rank", "bin", "atom") for c in WRONG[k] if c.get("bin") != "LOW"],
)
def test_the_text_of_an_unsupported_claim_is_rejected_by_the_verifier_too(kind, claim):
    (parsed,), _ = parse(json.dumps([claim]))
    found = plans.verify(parsed.sentence(), PLAN, UNIVERSE).violations
    assert kind in {violation.kind for violation in found}


def test_no_theme_exceeds_itself_where_the_margin_is_zero():
    loose = replace(PLAN, comparison_margin=0.0)
    alone = Claim("comparison", {"more": "rude staff", "less": "rude staff"})
    assert alone.unsupported(loose).kind == "comparison"
    assert Claim("comparison", {"more": "rude staff", "less": "cold food"}).unsupported(loose) is None


@pytest.mark.parametrize("digits", ["45.5", "45", "46", "45.50", "45.500", "45.4", "45.6", "45.51", "44", "47"])
def test_a_value_holds_within_the_rounding_it_is_written_with(digits):
    (parsed,), wrong = said(f'[{{"claim": "value", "theme": "long wait", "percent": {digits}}}]')
    decimals = len(digits.partition(".")[2])
    assert (wrong == []) == (abs(float(digits) - 45.5) <= 0.5 * 10**-decimals + 1e-9)
    assert plans.verify(parsed.sentence(), PLAN, UNIVERSE).accepted == (wrong == [])


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no JSON",
        "Here is the list: []",
        "```json\n[]\n```",
        '[{"claim": "atom", "theme": "cold food"}',
        '[{"claim": "atom", "theme": "cold food"}] Done.',
        '{"claim": "atom", "theme": "cold food"}\n{"claim": "atom", "the',
        "[NaN]",
        "[" * 100_000,
        '{"a":' * 100_000,
        "[1e",
        '"\\ud800',
        "{'claim': 'atom', 'theme': 'cold food'}",
    ],
)
def test_an_answer_that_is_no_json_is_a_rejected_attempt_with_public_feedback(answer):
    with pytest.raises(Malformed, match="JSON"):
        parse(answer)
    report = plans.report(PLAN, plans.structured_claims(lambda prompts: [answer] * len(prompts)), UNIVERSE)
    assert report.fallback
    assert report.text == plans.template()(PLAN, ())
    assert {v.kind for attempt in report.attempts for v in attempt.verdict.violations} == {"form"}
    assert all(attempt.feedback == "it was not JSON alone." for attempt in report.attempts)


def test_lists_and_lines_are_the_same_claims():
    lines = [json.dumps(claim) for claim in GOOD]
    as_list, as_lines, with_commas = parse(json.dumps(GOOD)), parse("\n\n".join(lines)), parse(",\n".join(lines) + ",")
    assert as_list == as_lines == with_commas
    assert parse(lines[0]) == parse(f"[{lines[0]}]") == parse(f"{lines[0]},")
    assert len(as_list[0]) == 5


def test_a_repeated_key_is_no_claim():
    twice = '{"claim": "atom", "theme": "cold food", "theme": "loud music"}'
    assert said(twice) == said(f"[{twice}]") == ([], ["form"])


def test_a_number_of_any_length_is_read_or_refused():
    for digits in ("9" * 5000, "1e999999999999", "0." + "1" * 5000):
        assert said(f'[{{"claim": "value", "theme": "long wait", "percent": {digits}}}]') == ([], ["form"])


def claims_of(prompt: str) -> str:
    """The claims of a prompt, as an obedient model would repeat them."""
    return prompt.partition("\n\n")[2]


def test_an_obedient_model_is_accepted_at_once():
    report = plans.report(PLAN, plans.structured_claims(lambda prompts: [claims_of(p) for p in prompts]), UNIVERSE)
    assert len(report.attempts) == 1
    assert report.attempts[0].dropped == ()
    assert not report.fallback
    assert plans.mentioned(report.text, PLAN) == LABELS


@pytest.mark.parametrize("type", ["value", "bin", "rank", "comparison"])
def test_a_prompt_shows_supported_claims_of_one_type(type):
    prompt = decoders.claims_prompt(PLAN, PLAN.atoms[:3], type)
    claims, odd = parse(claims_of(prompt))
    assert odd == []
    assert {claim.type for claim in claims} == {type}
    assert [claim.unsupported(PLAN) for claim in claims] == [None] * len(claims)
    close = replace(PLAN, comparison_margin=1e6)
    assert {claim.type for claim in parse(claims_of(decoders.claims_prompt(close, PLAN.atoms[:3], type)))[0]} == {
        "value" if type == "comparison" else type
    }


RANK = '{"claim": "rank", "theme": "dirty room", "rank": 1}'


def test_answers_without_a_supported_claim_are_asked_for_again_and_the_others_stay():
    calls = []

    def model(prompts):
        calls.append(list(prompts))
        if len(calls) == 1:
            return [json.dumps(GOOD[:2]), RANK, "nonsense"]
        return (
            [claims_of(prompts[0]), "more nonsense"]
            if len(calls) == 2
            else ['{"claim": "atom", "theme": "dirty room"}']
        )

    report = plans.report(PLAN, plans.structured_claims(model, atoms_at_once=2), UNIVERSE)
    assert [len(prompts) for prompts in calls] == [3, 2, 1]
    assert calls[1][0].startswith("Answer 1 was wrong: the released ranks do not give this to 'dirty room'. Repeat")
    assert calls[1][1].startswith("Answer 1 was wrong: it was not JSON alone. Repeat")
    assert {claim.type for claim in parse(claims_of(calls[1][0]))[0]} == {"value"}
    assert [attempt.verdict.accepted for attempt in report.attempts] == [False, False, True]
    assert report.text.splitlines()[:2] == ["“cold food” is one of the themes.", "“long wait” has a support of 45.5%."]
    assert "“dirty room” is one of the themes." in report.text


def test_an_unsupported_claim_beside_supported_ones_does_not_reject_the_attempt():
    def model(prompts):
        return [RANK, *map(claims_of, prompts[1:])]

    report = plans.report(PLAN, plans.structured_claims(model), UNIVERSE)
    assert len(report.attempts) == 1
    assert [violation.kind for violation in report.attempts[0].dropped] == ["rank"]
    assert "long wait" not in report.text.partition("\n")[0]


def test_an_attempt_without_any_supported_claim_is_rejected():
    report = plans.report(PLAN, plans.structured_claims(lambda prompts: [RANK] * len(prompts)), UNIVERSE)
    assert report.fallback
    assert [violation.message for violation in report.attempts[0].verdict.violations] == ["no claim is supported"]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from([*UNIVERSE, *TYPES, "theme"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["claim", "theme", "percent", "rank", "bin", "more", "less", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(
    st.text(max_size=80)
    | values.map(json.dumps)
    | st.lists(st.sampled_from([*GOOD, *WRONG["rank"], *WRONG["form"]])).map(written)
)
def test_no_answer_crashes_and_every_text_verifies(answer):
    report = plans.report(PLAN, plans.structured_claims(lambda prompts: [answer] * len(prompts)), UNIVERSE)
    assert plans.verify(report.text, PLAN, UNIVERSE).accepted
