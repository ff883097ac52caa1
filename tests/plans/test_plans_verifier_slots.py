"""Phrases in the place of a topic, denials that deny admission, and orders told by a preposition."""

from __future__ import annotations

import time

import pytest

from privlib import plans

RULES = {  # a supported sentence, the same with one thing wrong, the kind
    "subject": ("Long wait cleared the bar.", "Grimy carpets cleared the bar.", "atom"),
    "object": ("The tally also has cold food.", "The tally also has grimy carpets.", "atom"),
    "told of": ("There were remarks on rude staff.", "There were remarks on grimy carpets.", "atom"),
    "company": ("Besides cold food, it lists rude staff.", "Besides grimy carpets, it lists rude staff.", "atom"),
    "two denials": ("Cold food has not been dropped.", "Grimy carpets have not been dropped.", "atom"),
    "no row": ("Cold food earned a row.", "Cold food earned no row.", "atom"),
    "verb denied": ("The sheet greets cold food.", "The sheet does not greet cold food.", "atom"),
    "it is not": (
        "Is long wait the biggest theme? It is.",
        "Is long wait the biggest theme? It is not.",
        "rank",
    ),
    "medal": ("Gold: long wait.", "Silver: long wait.", "rank"),
    "over": ("Long wait towers over cold food.", "Cold food towers over long wait.", "comparison"),
    "behind": ("Rude staff falls behind long wait.", "Cold food falls behind rude staff.", "comparison"),
    "a larger noun": (
        "Of rude staff and long wait, long wait is a larger nuisance.",
        "Of cold food and long wait, cold food is a larger nuisance.",
        "comparison",
    ),
    "draws": (
        "Compared with cold food, long wait draws a bigger crowd.",
        "Compared with long wait, cold food draws a bigger crowd.",
        "comparison",
    ),
    "by": ("The plan lists long wait side by side with cold food.", "The plan lists carpets by carpets.", "atom"),
    "at all": ("The sheet greets cold food.", "The sheet does not greet cold food at all.", "atom"),
    "there is no": ("There is no dirty room in the plan.", "There is no cold food in the plan.", "atom"),
    "leaves behind": ("Long wait leaves rude staff behind.", "Rude staff leaves long wait behind.", "comparison"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_accepts_what_holds_and_rejects_what_does_not(rule, three_themes, universe):
    right, wrong, kind = RULES[rule]
    assert plans.verify(right, three_themes, universe).violations == ()
    assert {violation.kind for violation in plans.verify(wrong, three_themes, universe).violations} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "Auditor's remarks on the released table.",
        "Grimy carpets have been dropped.",  # true of what is no theme
        "More on the method in the annex.",
        "Set side by side, long wait outweighs cold food.",
        "The mass of long wait is not an exact count.",
        "The true mass of cold food is not known.",
        "The difference between rude staff and cold food is not meaningful.",
        "The plan does not explain long wait.",
    ],
)
def test_a_report_may_speak_of_itself_and_of_what_is_not_in_the_plan(text, three_themes, universe):
    assert plans.verify(text, three_themes, universe).accepted


@pytest.mark.parametrize("unit", ["gadgets, ", "besides gadgets, ", "not cold food and ", "about gadgets, and "])
def test_time_is_linear_in_clauses(unit, three_themes, universe):
    def seconds(times):
        begin = time.process_time()
        plans.verify(unit * times, three_themes, universe)
        return time.process_time() - begin

    seconds(100)
    assert seconds(4000) < 12 * seconds(1000) + 0.2
