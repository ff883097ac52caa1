"""Free text: the model sees the plan only, rejected paragraphs are mended, and no answer gets past the verifier."""

from __future__ import annotations

import re
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans import decoders
from privlib.plans.plan import Atom

LABELS = ("long wait", "rude staff", "cold food", "dirty room", "late refund")
PLAN = plans.SemanticPlan(
    "laplace",
    Guarantee(1.0, 0.0, "record", "add_drop"),
    public_denominator=1000.0,
    universe_size=7,
    plan_size=5,
    comparison_margin=5.0,
    atoms=tuple(
        Atom(k, label, "", m, m / 1000, "low")
        for k, (label, m) in enumerate(zip(LABELS, (45.5, 40, 36, 31, 22), strict=True), 1)
    ),
)
UNIVERSE = (*LABELS, "loud music", "broken lift")


def copied(prompt: str) -> str:
    """The facts of a prompt, as an obedient model would repeat them."""
    return "\n".join(re.findall(r"^The theme .*\.$", prompt, re.MULTILINE))


class Scripted:
    """A model that obeys, apart from the scripted answers by (call, place in the call)."""

    def __init__(self, answers=()):
        self.answers, self.calls = dict(answers), []

    def __call__(self, prompts):
        self.calls.append(list(prompts))
        call = len(self.calls) - 1
        return [self.answers.get((call, k), copied(prompt)) for k, prompt in enumerate(prompts)]


def test_an_obedient_model_is_accepted_at_once_and_says_how_to_read_a_support():
    model = Scripted()
    report = plans.report(PLAN, plans.free_text(model), UNIVERSE)
    assert [len(call) for call in model.calls] == [2]
    assert not report.fallback
    assert plans.mentioned(report.text, PLAN) == LABELS
    assert report.text.endswith("1000.0, not a share of the protected texts.")
    assert plans.verify(report.text, PLAN, UNIVERSE).accepted


def test_only_the_rejected_paragraph_is_asked_for_again_with_public_feedback():
    model = Scripted(
        {(0, 1): 'The theme "dirty room" has a support of 9.9%.', (1, 0): "Loud music is a theme, and dirty room."}
    )
    report = plans.report(PLAN, plans.free_text(model), UNIVERSE)
    assert [len(call) for call in model.calls] == [2, 3, 3]  # mended one theme at a time
    assert [attempt.verdict.accepted for attempt in report.attempts] == [False, False, True]
    assert [attempt.verdict.violations[0].kind for attempt in report.attempts[:2]] == ["number", "atom"]
    first, second = model.calls[1][0], model.calls[2][0]
    assert "9.9%: no released value of 'dirty room' rounds to this number." in first
    assert "Loud music: 'loud music' is not in the plan." in second
    assert report.attempts[0].answers[0] == report.attempts[2].answers[0]
    assert report.attempts[0].feedback in first


@pytest.mark.parametrize("wrong", range(5))
def test_a_complaint_finds_its_paragraph_by_place(wrong):
    model = Scripted({(0, wrong): f"A {LABELS[wrong]} has 9.9%."})
    plans.report(PLAN, plans.free_text(model, atoms_at_once=1), UNIVERSE)
    assert [len(call) for call in model.calls] == [5, 1]
    assert LABELS[wrong] in model.calls[1][0].partition("Rewrite")[2]


def test_equal_complaints_do_not_make_equal_prompts():
    model = Scripted({(k, 0): "Loud music." for k in range(3)})  # of two themes in the first group
    report = plans.report(PLAN, plans.free_text(model), UNIVERSE)
    assert report.fallback
    assert report.text == plans.template()(PLAN, ())
    assert len({call[0] for call in model.calls}) == 3
    assert report.attempts[1].feedback == report.attempts[2].feedback


@pytest.mark.parametrize(
    ("answer", "message"), [("", "none of the themes"), ("Here is a summary.", "none of the themes")]
)
def test_a_paragraph_must_name_one_of_its_themes(answer, message):
    report = plans.report(PLAN, plans.free_text(Scripted({(0, 0): answer})), UNIVERSE)
    (fault,) = report.attempts[0].verdict.violations
    assert fault.kind == decoders.FORM
    assert message in fault.message
    assert report.attempts[1].verdict.accepted


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ('The theme "long wait" has 4.5%. The next', 'The theme "long wait" has 4.5%.'),
        ('They say "a long wait."\n\n So it', 'They say "a long wait."'),
        ("A long wait of 4.5", "A long wait of 4.5"),
        ("A long wait. It\n\nHas\nrude staff. It", "A long wait. Has rude staff."),
        ("A long wait!", "A long wait!"),
    ],
)
def test_a_sentence_that_was_cut_off_is_left_out(answer, kept):
    offered = plans.free_text(lambda prompts: [answer, copied(prompts[1])])(PLAN, ())
    assert offered.text.split("\n\n")[0] == kept
    assert offered.answers[0] == answer


def test_a_text_without_a_word_is_no_summary():
    report = plans.report(PLAN, lambda plan, attempts: " . ", UNIVERSE)
    assert report.attempts[0].verdict.violations[0].message == "the answer has no text"
    assert report.fallback


def test_the_prompt_holds_released_values_only():
    secret = plans.SemanticPlan.from_json(PLAN.to_json())
    model, other = Scripted(), Scripted()
    plans.report(PLAN, plans.free_text(model), UNIVERSE)
    plans.report(secret, plans.free_text(other), UNIVERSE)
    assert model.calls == other.calls
    numbers = set(re.findall(r"\d+(?:\.\d+)?", "".join(model.calls[0])))
    assert numbers <= {f"{100 * atom.support:.1f}" for atom in PLAN.atoms}
    assert not any(label in "".join(model.calls[0]) for label in UNIVERSE[5:])


@pytest.mark.parametrize("size", range(1, 7))
def test_groups_are_balanced_and_hold_every_atom_once(size):
    model = Scripted()
    plans.report(PLAN, plans.free_text(model, atoms_at_once=size), UNIVERSE)
    counts = [prompt.count("The theme") for prompt in model.calls[0]]
    assert sum(counts) == 5
    assert max(counts) <= size
    assert max(counts) - min(counts) <= 1
    assert len(counts) == -(-5 // size)


def test_descriptions_are_shown():
    described = Atom(1, "long wait", "waiting for hours", 40.0, 0.04, "low")
    assert 'The theme "long wait" (waiting for hours) has a support of 4.0%' in decoders.prose_prompt([described])


@pytest.mark.parametrize("size", [0, -1, True, 2.0])
def test_atoms_at_once_is_checked(size):
    with pytest.raises(ValueError, match="atoms_at_once"):
        plans.free_text(Scripted(), atoms_at_once=size)


@pytest.mark.parametrize("answers", [[], ["one"], ["a", "b", "c"], [None, "b"]])
def test_a_model_must_give_one_text_a_prompt(answers):
    with pytest.raises(ValueError, match="generate must return 2 str"):
        plans.report(PLAN, plans.free_text(lambda prompts: answers), UNIVERSE)


def test_a_decoder_must_offer_text():
    with pytest.raises(TypeError, match="decoder must return"):
        plans.report(PLAN, lambda plan, attempts: None)
    with pytest.raises(TypeError, match="plan must be a SemanticPlan"):
        plans.report({"sketch": [1.0]}, plans.template())


@given(
    st.lists(st.text(max_size=60) | st.sampled_from([*UNIVERSE, "9.9%", "\n\n", '"', "most"]), min_size=6, max_size=6)
)
def test_no_answer_crashes_or_gets_past_the_verifier(answers):
    left = cycle(answers)
    report = plans.report(PLAN, plans.free_text(lambda prompts: [next(left) for _ in prompts]), UNIVERSE)
    assert plans.verify(report.text, PLAN, UNIVERSE).accepted
    assert len(report.attempts) <= 3


@pytest.mark.parametrize("quote", ['"{}"', "“{}”", "{}", "The {} problem"])
def test_mentioned_finds_labels_by_rank(quote):
    text = " ".join(quote.format(label) + "." for label in ("cold food", "long wait", "loud music"))
    assert plans.mentioned(text, PLAN) == ("long wait", "cold food")
    assert plans.mentioned("Nothing here.", PLAN) == ()
