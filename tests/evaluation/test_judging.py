"""The judge's path: strict reading, failures counted and never filled in, prompts that hold released things only."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import models
from privlib.evaluation import CRITERIA, Judgement, NotAScore, expected, judge, read_score, scores
from privlib.evaluation.judging import prompt


@pytest.mark.parametrize(
    ("answer", "score"),
    [("4", 4), (" 5 \n", 5), ("Score: 3", 3), ("score=2", 2), ("1/5", 1), ("4.", 4), ("SCORE : 5 / 5", 5)],
)  # fmt: skip
def test_scores_are_read(answer, score):
    assert read_score(answer) == score


@pytest.mark.parametrize(
    "answer",
    ["", "0", "6", "45", "4.5", "3-4", "-3", "four", "I say 4", "4 as it is good", "4\n5", "4/10", "Score:", "٤"],
)  # fmt: skip
def test_anything_else_is_refused(answer):
    with pytest.raises(NotAScore, match="whole number"):
        read_score(answer)


@given(st.text(max_size=20))
def test_any_string_is_a_score_or_refused(answer):
    try:
        score = read_score(answer)
    except NotAScore:
        return
    assert 1 <= score <= 5
    assert str(score) in answer


def test_a_failed_answer_is_recorded_as_it_came_and_gets_no_score():
    answers = iter(["5", "it is fine", "2", "9"])
    found = judge("released", "summary", lambda prompts: [next(answers) for _ in prompts])
    assert [judgement.score for judgement in found] == [5, None, 2, None]
    assert found[1].answer == "it is fine"
    assert [judgement.criterion for judgement in found] == list(CRITERIA)


def test_the_judge_is_shown_what_was_released_and_nothing_else():
    seen = []
    judge("heart disease: 12", "Hearts fail.", lambda prompts: seen.extend(prompts) or ["3"] * len(prompts))
    assert len(seen) == len(CRITERIA)
    for criterion, text in zip(CRITERIA, seen, strict=True):
        assert text == prompt(criterion, "heart disease: 12", "Hearts fail.")
        assert "heart disease: 12" in text
        assert "Hearts fail." in text
        assert CRITERIA[criterion] in text
    with pytest.raises(ValueError, match="criterion"):
        prompt("beauty", "a", "b")


def test_too_few_answers_are_an_error():
    with pytest.raises(ValueError, match="one answer a prompt"):
        judge("released", "summary", lambda prompts: ["5"])


@given(st.lists(st.none() | st.integers(1, 5), max_size=12))
def test_means_leave_failures_out_and_count_them(given_scores):
    judgements = [Judgement("safety", "", score) for score in given_scores] + [Judgement("insight", "", 1)]
    read = [score for score in given_scores if score is not None]
    if len(read) < 2:
        with pytest.raises(ValueError, match="two scored answers"):
            scores(judgements, "safety")
        return
    found = scores(judgements, "safety")
    assert found.mean == pytest.approx(sum(read) / len(read))
    assert found.sd == pytest.approx(math.sqrt(sum((x - statistics.mean(read)) ** 2 for x in read) / (len(read) - 1)))
    assert (found.scored, found.failed) == (len(read), len(given_scores) - len(read))


def test_the_packaged_model_goes_through_the_code_path():
    """It is far too small to judge: what it says is not looked at, only that it is a score or a recorded failure."""
    model = models.language_model()
    found = judge(
        "heart disease: 12", "Main theme: heart disease.", lambda p: model.generate(p, max_new_tokens=4), ["safety"]
    )
    (judgement,) = found
    assert judgement.score in (None, 1, 2, 3, 4, 5)
    assert isinstance(judgement.answer, str)


def chances(**given):
    """A model whose next piece is one of these, with these chances, after a prompt that asks for a score."""

    def continuations(prompt_text, beginnings, count):
        assert prompt_text.endswith("\n\nScore: ")
        assert (tuple(beginnings), count >= 10) == (("",), True)
        return [[(piece.removeprefix("_"), math.log(chance)) for piece, chance in given.items()]]

    return continuations


def test_the_expected_score_is_the_mean_of_the_five_answers_alone():
    found = expected("released", "summary", chances(_4=0.3, _0=0.2, _9=0.2, _2=0.1, no=0.1), ["safety"])
    assert found[0].score == pytest.approx((4 * 0.3 + 2 * 0.1) / 0.4)
    assert (found[0].criterion, found[0].answer) == ("safety", "2: 0.100, 4: 0.300")


def test_chances_without_any_of_the_five_answers_are_a_failure():
    found = expected("released", "summary", chances(_7=0.5, the=0.4))
    assert [one.score for one in found] == [None] * len(CRITERIA)
    with pytest.raises(ValueError, match="criterion"):
        expected("released", "summary", chances(_1=1.0), ["beauty"])


def test_a_local_model_gives_chances_of_the_five_answers():
    model = models.language_model()
    (found,) = expected("heart disease: 12", "Hearts fail.", model.continuations, ["safety"])
    assert 1 < found.score < 5
