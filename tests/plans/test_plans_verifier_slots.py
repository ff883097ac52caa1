"""Phrases in the place of a topic, denials that deny admission, and orders told by a preposition."""

from __future__ import annotations

import time

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom, Noise

UNIVERSE = ("long wait", "rude staff", "cold food", "dirty room", "billing error")
ATOMS = (
    Atom(1, "long wait", "", 482.3, 0.24115, "high"),
    Atom(2, "rude staff", "", 120.6, 0.0603, "moderate"),
    Atom(3, "cold food", "", 115.0, 0.0575, "moderate"),
)
PLAN = plans.SemanticPlan(
    "gaussian", Guarantee(1.0, 1e-6, "record", "add_drop"), 2000.0, 5, 3, 9.1, ATOMS, noise=Noise("gaussian", 3.9)
)
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
def test_a_rule_accepts_what_holds_and_rejects_what_does_not(rule):
    right, wrong, kind = RULES[rule]
    assert plans.verify(right, PLAN, UNIVERSE).violations == ()
    assert {violation.kind for violation in plans.verify(wrong, PLAN, UNIVERSE).violations} == {kind}


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
def test_a_report_may_speak_of_itself_and_of_what_is_not_in_the_plan(text):
    assert plans.verify(text, PLAN, UNIVERSE).accepted


@pytest.mark.parametrize("unit", ["gadgets, ", "besides gadgets, ", "not cold food and ", "about gadgets, and "])
def test_time_is_linear_in_clauses(unit):
    def seconds(times):
        begin = time.process_time()
        plans.verify(unit * times, PLAN, UNIVERSE)
        return time.process_time() - begin

    seconds(100)
    assert seconds(4000) < 12 * seconds(1000) + 0.2
