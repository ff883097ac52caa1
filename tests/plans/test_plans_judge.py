"""The study of judged summaries: what the judge is shown, what is counted, and whether its control can tell."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from privlib import models, plans
from privlib.evaluation import Judgement
from privlib.experiments.studies import plans_baselines as base
from privlib.experiments.studies import plans_corpora, plans_verifier
from privlib.experiments.studies import plans_judge as study

GAUSSIAN = "plan, Gaussian sketch"


@pytest.fixture
def told(three_themes):
    """Three releases each of a plan and of a histogram, told by the frame and by a model."""
    return [
        study.Summary(
            method, decoder, 1.0, run, study.described(three_themes), "long wait (about 482)" + "!" * run,
            three_themes if method == GAUSSIAN else None,
        )
        for method in (GAUSSIAN, base.KEYWORDS)
        for decoder in (study.TEMPLATE, study.MODEL)
        for run in range(3)
    ]  # fmt: skip


def scoring(score):
    """A judge that gives score(summary); None is a failure."""
    return lambda released, text, criteria: [Judgement(name, "", score(text)) for name in criteria]


def test_scores_and_failures_are_counted_over_the_first_runs(told):
    judge = scoring(lambda text: None if text.endswith("!!") else 2.0 + text.count("!"))
    rows = study.judged(told, judge, "asked", ["safety"], 3)
    first = [row for row in rows if (row["method"], row["decoder"]) == (GAUSSIAN, study.TEMPLATE)]
    assert [(row["quantity"], row["summaries"]) for row in first] == [(study.SCORE, 2), (study.FAILED, 3)]
    assert (first[0]["mean"], first[0]["sd"]) == (2.5, pytest.approx(math.sqrt(0.5)))
    assert first[1]["mean"] == pytest.approx(1 / 3)
    assert len(rows) == 4 * 2
    fewer = study.judged(told, judge, "asked", ["safety"], 2)
    assert {(row["summaries"], row["mean"]) for row in fewer} == {(2, 2.5), (2, 0.0)}
    silent = study.judged(told, scoring(lambda text: None), "asked", ["safety"], 3)
    assert {(row["quantity"], row["mean"]) for row in silent} == {(study.FAILED, 1.0)}
    with pytest.raises(ValueError, match="runs must be at least 2"):
        study.judged(told, judge, "asked", ["safety"], 1)


def test_the_verifier_counts_plans_only_and_reads_their_text(told, universe):
    wrong = [one for one in told if one.run < 2]
    wrong[0] = study.Summary(GAUSSIAN, study.TEMPLATE, 1.0, 0, "", "long wait (about 999)", wrong[0].plan)
    rows = study.accepted(wrong, universe, 2)
    assert [(row["method"], row["decoder"], row["mean"]) for row in rows] == [
        (GAUSSIAN, study.TEMPLATE, 0.5),
        (GAUSSIAN, study.MODEL, 1.0),
    ]


def test_spoilt_summaries_are_worse_in_one_way_each(told):
    pairs = study.spoilt(told, 3)
    assert {name: len(given) for name, given in pairs.items()} == {"coverage": 3, "insight": 3, "safety": 3}
    (_, true, bad), *_ = pairs["coverage"]
    assert "cold food" in bad
    assert "long wait" not in bad
    assert "long wait" in true
    assert not any(label in pairs["insight"][0][2] for label in ("long wait", "rude staff", "cold food"))
    safety = [bad for _, _, bad in pairs["safety"]]
    assert all(bad.startswith(true) and len(bad) > len(true) for _, true, bad in pairs["safety"])
    assert len({bad.removeprefix(true) for _, true, bad in pairs["safety"]}) == len(safety)


def test_labelled_pairs_are_a_true_text_and_its_own_corruption():
    known = plans_verifier.load()
    pairs = study.labelled(known, "development", 25, 1)
    assert len(set(pairs)) == 25
    released = {study.described(plan) for plan, _ in known.plans.values()}
    items = {item.text: item for item in known.items["development"]}
    for shown, true, bad in pairs:
        assert shown in released
        assert (items[true].corruption, items[true].base) == (plans_verifier.CONSISTENT, items[bad].base)
        assert items[bad].corruption != plans_verifier.CONSISTENT
    assert study.labelled(known, "development", 25, 2) != pairs


def test_the_control_knows_a_good_judge_from_a_toss_and_from_a_silent_one():
    pairs = {"safety": [("released", "good", "bad")] * 40}
    good = study.control(pairs, scoring(lambda text: 5.0 if text == "good" else 1.0)).iloc[0]
    assert (good["share"], good["high"], good["pairs"]) == (1.0, 1.0, 40)
    assert good["low"] > 0.9
    for tie in (None, 3.0):
        toss = study.control(pairs, scoring(lambda text, tie=tie: tie)).iloc[0]
        assert toss["share"] == 0.5
        assert toss["low"] < 0.4 < 0.6 < toss["high"]
    assert study.control(pairs, scoring(lambda text: float(text == "bad"))).iloc[0]["share"] == 0.0


def test_only_a_model_at_hand_is_read_by_its_chances():
    asked = []

    def generate(prompts, max_new_tokens):
        asked.extend(prompts)
        return ["4"] * len(prompts)

    served = study.judges(SimpleNamespace(generate=generate))
    assert list(served) == [study.ANSWERED]
    assert [one.score for one in served[study.ANSWERED]("r", "s", ["safety", "insight"])] == [4, 4]
    assert len(asked) == 2
    local = SimpleNamespace(generate=generate, continuations=lambda prompt, some, count: [[("5", 0.0)]])
    assert study.judges(local)[study.EXPECTED]("r", "s", ["safety"])[0].score == 5


def test_every_method_is_told_by_the_frame_and_by_the_model_a_plan_under_the_verifier():
    case = plans_corpora.prepare("health-news", "packaged", universe_size=20, texts=1500)
    public = base.public_side(
        case.auxiliary, case.universe, models.encoder(), "outlet", embedded=60, clusters=3, plan_size=4
    )
    shown = []

    def write(prompts):
        shown.extend(prompts)
        return ["They lie."] * len(prompts)

    settings = dict(epsilons=[4.0], delta=1e-6, runs=2, seed=3, methods=[GAUSSIAN, base.KEYWORDS, base.URANIA])
    told = study.summaries(
        case.select(150, 1, "record"), "outlet", public, **settings, write=write,
        decoder=lambda plan, attempts: "They lie about cancer.",
    )  # fmt: skip
    assert len(told) == 3 * 2 * 2
    assert len({one.released for one in told}) == 6  # every release has noise of its own
    for one in told:
        if one.plan is not None:
            assert plans.verify(one.text, one.plan, public.universe).accepted  # the fallback, where the model lies
        elif one.decoder == study.MODEL:
            assert one.text == "They lie."
            assert any(one.released in prompt for prompt in shown)
        else:
            assert one.text == one.released
    assert len(shown) == 4
    assert {line.split(":")[0] for line in study.promises(settings["methods"], [4.0], 1e-6)[:-1]} == set(
        settings["methods"]
    )
