"""Scope: what a negation, a question, a share or a paraphrase reaches; one supported and one false sentence a rule."""

from __future__ import annotations

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom, Noise

ADMITTED = ("long wait", "rude staff", "parking garage fee", "cold food")
UNIVERSE = (*ADMITTED, "dirty room", "billing error", "weak coffee")
PLAN = plans.SemanticPlan(
    "gaussian",
    Guarantee(1.0, 1e-6, "record", "add_drop"),
    public_denominator=2000.0,
    universe_size=len(UNIVERSE),
    plan_size=4,
    comparison_margin=9.1,
    atoms=(
        Atom(1, "long wait", "", 482.3, 0.24115, "high"),
        Atom(2, "rude staff", "", 120.6, 0.0603, "moderate"),
        Atom(3, "parking garage fee", "", 115.0, 0.0575, "moderate"),
        Atom(4, "cold food", "", 3.2, 0.0016, "trace"),
    ),
    noise=Noise("gaussian", 3.9),
)

RULES = {
    "part of a label": ("The parking fee has a mass of 115.", "The parking fee has a mass of 482.", "number"),
    "related words": ("The rudeness of staff comes second.", "The rudeness of staff comes third.", "rank"),
    "one word of a label": ("The garage is third.", "The garage is first.", "rank"),
    "passive": ("Rude staff is surpassed by long wait.", "Long wait is surpassed by rude staff.", "comparison"),
    "one of a pair": (
        "While long wait is the heavier, cold food is the lighter.",
        "While cold food is the heavier, long wait is the lighter.",
        "comparison",
    ),
    "asked and answered": (
        "Which weighs more, long wait or rude staff? It is long wait.",
        "Which weighs more, long wait or rude staff? It is rude staff.",
        "comparison",
    ),
    "a number asked for": (
        "How large is the support of rude staff? It is 6 %.",
        "How large is the support of rude staff? It is 24 %.",
        "number",
    ),
    "yes and no": ("Is cold food first? No.", "Is long wait first? No.", "rank"),
    "a larger part": (
        "Long wait takes a good part of the denominator.",
        "Long wait takes the greater part of the denominator.",
        "number",
    ),
    "a scrap": ("Cold food is a sliver of the denominator.", "Long wait is a sliver of the denominator.", "number"),
    "few occasions": (
        "Cold food was named on very few occasions.",
        "Long wait was named on very few occasions.",
        "bin",
    ),
    "denial after a claim": (
        "7 % is not the support of rude staff.",
        "6 % is not the support of rude staff.",
        "number",
    ),
    "failure": ("Rude staff fails to beat long wait.", "Long wait fails to beat cold food.", "comparison"),
    "exclusion": ("The plan does not exclude cold food.", "The plan excludes cold food.", "atom"),
    "no entry": ("There is an entry called cold food.", "There is no entry called cold food.", "atom"),
    "an absent label": ("Weak coffee was not admitted.", "Weak coffee was admitted.", "atom"),
    "names from nowhere": ("Admission was granted to cold food.", "Admission was granted to broken lifts.", "atom"),
    "hyphened fraction": (
        "Long wait covers one-quarter of the denominator.",
        "Long wait covers one-half of the denominator.",
        "number",
    ),
    "range": (
        "Rude staff has between five and seven percent.",
        "Rude staff has between seven and nine percent.",
        "number",
    ),
    "end of a list": (
        "With cold food, the list comes to its end.",
        "With long wait, the list comes to its end.",
        "rank",
    ),
    "left open": (
        "Whether rude staff exceeds parking garage fee is left open.",
        "Rude staff exceeds parking garage fee, I think.",
        "comparison",
    ),
    "as a bin": ("As high the plan classes long wait.", "As trace the plan classes long wait.", "bin"),
    "row of dots": ("Long wait ..... 482.3", "Long wait ..... 115.0", "number"),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_supported_sentence_passes(rule):
    verdict = plans.verify(RULES[rule][0], PLAN, UNIVERSE)
    assert verdict.accepted, verdict.violations


@pytest.mark.parametrize("rule", RULES)
def test_the_false_one_is_rejected_for_its_kind(rule):
    _, text, kind = RULES[rule]
    assert kind in [v.kind for v in plans.verify(text, PLAN, UNIVERSE).violations]
