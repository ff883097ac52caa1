from __future__ import annotations

import pandas as pd
import pytest

from privlib.experiments.rules import Alternative, NoRows, evaluate, parse
from privlib.experiments.workspace import ExperimentError

ROWS = pd.DataFrame(
    [
        (law, epsilon, mean, mean - 0.05, mean + 0.05)
        for law, means in {"rises": (0.1, 0.4, 0.5, 0.9), "falls": (0.9, 0.8, 0.3, 0.05), "flat": (0.5,) * 4}.items()
        for epsilon, mean in zip((1.0, 2.0, 4.0, float("inf")), means, strict=True)
    ],
    columns=["law", "epsilon", "mean", "low", "high"],
)


def holds(text, rows=ROWS, tolerance="") -> bool:
    (alternative,) = parse(text).alternatives
    return evaluate(alternative, rows, tolerance).holds


@pytest.mark.parametrize(
    ("text", "tolerance", "expected"),
    [
        ("number: mean where law=rises and epsilon=2 is 0.42", "", True),
        ("number: mean where law=rises and epsilon=2 is 0.43", "", False),
        ("number: mean where law=rises and epsilon=2 is 0.43", "10%", True),
        ("number: mean where law=rises and epsilon=2 is 0.43", "abs 0.03", True),
        ("number: mean where law=rises and epsilon=2 is 0.43", "abs 0.02", False),
        ("number: mean where law=falls and epsilon=inf is 0.1", "rounding", True),
        ("number: mean where law=falls and epsilon=inf is 0.11", "rounding", False),
        ("number: mean where law=falls and epsilon=inf is 0.1", "rounded up", True),
        ("number: mean where law=falls and epsilon=inf is 0.2", "rounded up", False),
        ("number: mean where law=falls and epsilon=inf is 0.0", "rounded up", False),
        ("number: mean where law=flat is 0.5", "exact", True),
        ("number: epsilon where law=flat and epsilon>4 is inf", "exact", True),
        ("number: mean where law=flat is 0.5; mean where law=rises and epsilon=1 is 0.1", "", True),
        ("number: mean where law=flat is 0.5; mean where law=rises and epsilon=1 is 0.2", "", False),
        ("number: mean where law!=falls and epsilon>=2 at least 0.4", "", True),
        ("number: mean where law!=falls at least 0.4", "", False),
        ("number: mean at most 0.9", "", True),
        ("trend: mean rising over epsilon where law=rises", "", True),
        ("trend: mean falling over epsilon where law=rises", "", False),
        ("trend: mean falling over epsilon where law=falls", "", True),
        ("trend: mean rising over epsilon by law", "", False),
        ("trend: mean rising over epsilon where law=flat", "", False),
        ("trend: mean steady over epsilon where law=flat", "", True),
        ("trend: mean steady over epsilon where law=rises", "abs 0.5", False),
        ("trend: mean steady over epsilon where law=rises", "abs 0.9", True),
        ("order: mean of law=falls above law=rises where epsilon<=4", "", False),
        ("order: mean of law=falls above law=rises by epsilon where epsilon<=2", "", True),
        ("order: mean of law=falls above law=rises by epsilon", "", False),
        ("order: mean of law=falls below law=rises by epsilon where epsilon>2", "", True),
        ("order: mean of law=rises below law=flat by epsilon where epsilon=2", "", False),  # intervals touch
        ("trend: mean rising over epsilon where law=rises; mean falling over epsilon where law=falls", "", True),
        ("trend: mean rising over epsilon where law=rises; mean rising over epsilon where law=falls", "", False),
        ("order: mean of law=falls above law=rises where epsilon=1; mean of law=flat below law=rises", "", False),
        ("order: mean of law=flat below law=rises; mean of law=falls above law=rises where epsilon=1", "", False),
        ("order: mean of law=falls above law=rises where epsilon=1; mean of mean=0.9 above law=flat", "", True),
    ],
)
def test_what_holds(text, tolerance, expected):
    assert holds(text, tolerance=tolerance) is expected


def test_an_order_without_intervals_compares_the_values():
    rows = ROWS.drop(columns=["low", "high"])
    assert holds("order: mean of law=rises below law=flat by epsilon where epsilon=2", rows)
    named = rows.assign(mean_low=0.0, mean_high=1.0)
    assert not holds("order: mean of law=rises below law=flat by epsilon where epsilon=2", named)


def test_rounding_to_the_paper_s_digits():
    rows = pd.DataFrame({"multiplier": [1.7734, 0.9426, 0.4291], "epsilon": [4.0, 8.0, 16.0], "p": [8.9151e-11] * 3})
    assert holds(
        "number: multiplier where epsilon=4 is 1.78; multiplier where epsilon=8 is 0.95; "
        "multiplier where epsilon=16 is 0.43",
        rows,
        "rounded up",
    )
    assert not holds("number: multiplier where epsilon=4 is 1.78", rows, "rounding")
    assert holds("number: p is 8.9e-11", rows, "rounding")
    assert not holds("number: p is 8.8e-11", rows, "rounding")


def test_ours_is_said_in_words():
    alternative = Alternative("number", "mean where epsilon=1 at most 1; mean where law=flat is 0.5")
    assert evaluate(alternative, ROWS, "").ours == "mean 0.1 to 0.9; mean 0.5"
    rank = "rank correlation of mean with epsilon: "
    for kind, body, words in (
        ("trend", "mean rising over epsilon where law=rises", rank + "1"),
        ("trend", "mean falling over epsilon by law where law!=rises", rank + "-1 to 0 (2 series, by law)"),
        ("trend", "mean steady over epsilon where law=flat", "spread of mean: 0"),
        ("order", "mean of law=rises below law=flat where epsilon=1", "mean below in 1 of 1 comparison"),
    ):
        assert evaluate(Alternative(kind, body), ROWS, "").ours == words


@pytest.mark.parametrize("column", ["corpus", "case"])
def test_the_corpora_are_those_of_the_rows_that_were_judged(column):
    names = {"rises": "tweets, anchors of chat", "falls": "chat", "flat": "reviews"}
    rows = ROWS.assign(**{column: ROWS.law.map(names)})
    for text, corpora in (
        ("number: mean where law=flat is 0.5", ("reviews",)),
        ("number: mean where law=flat is 0.5; mean where law!=falls at least 0", ("reviews", "tweets")),
        ("trend: mean falling over epsilon where law=falls", ("chat",)),
        ("trend: mean falling over epsilon by law", ("tweets", "chat", "reviews")),
        ("order: mean of law=rises below law=falls where epsilon=1", ("chat", "tweets")),
        ("order: mean of law=flat below law=falls by epsilon where epsilon<=2", ("chat", "reviews")),
    ):
        assert evaluate(*parse(text).alternatives, rows, "").corpora == corpora
        assert evaluate(*parse(text).alternatives, ROWS, "").corpora == ()


def test_a_group_that_holds_one_side_only_is_not_among_the_corpora():
    rows = ROWS[ROWS.law != "flat"].assign(corpus="both")
    lonely = ROWS[ROWS.law == "falls"].assign(corpus="lonely")
    order = parse("order: mean of law=falls above law=rises by corpus where epsilon=1").alternatives[0]
    assert evaluate(order, pd.concat([rows, lonely]), "").corpora == ("both",)


@pytest.mark.parametrize(
    "text",
    [
        "looks right",
        "number: mean equals 3",
        "number: mean is",
        "trend: mean growing over epsilon",
        "order: mean of law=a over law=b",
        "theorem else absent",
        "smaller: theorem",
        "seen: setting",
        "smaller: seen: number: mean is 3",
        "trend: mean rising over epsilon; mean growing over epsilon",
        "number:mean is 3",
    ],
)
def test_what_is_not_in_the_language_is_refused(text):
    with pytest.raises(ExperimentError, match=r"not a rule|stand alone"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "tolerance", "message"),
    [
        ("number: median is 1", "", "no column 'median'"),
        ("number: mean where size=1 is 1", "", "no column 'size'"),
        ("number: mean where epsilon=big is 1", "", "must compare with a number"),
        ("number: mean where epsilon is 1", "", "not a condition"),
        ("number: mean is 1", "about", "tolerance must be"),
        ("trend: mean rising over epsilon by corpus", "", "no column 'corpus'"),
    ],
)
def test_a_rule_that_does_not_fit_its_record_is_an_error(text, tolerance, message):
    with pytest.raises(ExperimentError, match=message):
        holds(text, tolerance=tolerance)


@pytest.mark.parametrize(
    "text",
    [
        "number: mean where epsilon=3 is 1",
        "trend: mean rising over epsilon where epsilon<=2",
        "order: mean of law=rises above law=other by epsilon",
    ],
)
def test_a_selection_of_nothing_is_never_a_success(text):
    with pytest.raises(NoRows):
        holds(text)


def test_alternatives_and_size():
    rule = parse("smaller: number: mean is 1 else trend: mean rising over epsilon")
    assert rule.smaller
    assert [a.kind for a in rule.alternatives] == ["number", "trend"]
    assert parse("absent").word == "absent"
    assert rule.word is None
    assert not rule.seen


def test_a_rule_may_say_that_values_had_been_seen():
    rule = parse("seen: smaller: number: mean is 1")
    assert rule.seen
    assert rule.smaller
    assert rule.alternatives == parse("number: mean is 1").alternatives
