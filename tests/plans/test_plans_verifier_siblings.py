"""One rule and its sentences: what is false is rejected for its kind, and the same grammar said truly is accepted."""

from __future__ import annotations

import pytest

from privlib import plans
from privlib.plans.plan import Atom

PEOPLE = """
- Everyone raised cold food.
- Nobody raised cold food.
- All guests raised cold food.
- Every single guest complained about long wait.
- None of the guests raised cold food.
- Not one guest spoke of cold food.
- Cold food was raised by everyone.
- Cold food troubled every diner.
- Long wait is everyone's complaint.
- Almost everyone raised cold food.
- Everyone who wrote in raised cold food.
+ No guest who raised cold food is named.
+ Not everyone raised cold food.
+ Every theme listed here was raised.
+ For everyone to see, long wait leads.
+ No guest can be identified from the mass of long wait.
+ Each guest adds at most one to the mass of long wait.
+ We thank every guest who raised long wait.
+ Nobody can tell from the plan whether a guest raised cold food.
+ Nobody knows who raised cold food.
+ All guests are protected: long wait has a noisy mass.
"""
QUESTIONS = """
- Which is first? Cold food.
- Which theme leads? Cold food.
- Who leads? Cold food does.
- Who won? Rude staff.
- First? Cold food.
- What is in front? Cold food.
- Cold food leads.
- Cold food comes out ahead.
- Long wait trails.
- Is cold food the biggest theme? It certainly is.
- Is cold food the biggest theme? It is indeed.
- Is cold food the biggest theme? That it is.
- Is cold food the biggest theme? This is so.
- Is cold food the biggest theme? Of course.
- Is long wait the biggest theme? It never was.
- Is long wait the biggest theme? It is, alas, not.
- Is long wait the biggest theme? Certainly not.
- Is long wait the biggest theme? Far from it.
- Is cold food the biggest theme? It is not wrong.
+ Which is first? Long wait.
+ Which theme leads? Long wait.
+ Who leads? Long wait does.
+ First? Long wait.
+ Long wait leads.
+ Cold food leads to complaints.
+ Among the moderate ones, rude staff leads.
+ Where does that lead? Cold food and rude staff cannot be ordered.
+ Which theme do we name first? Long wait.
+ Is long wait the biggest theme? It certainly is.
+ Is long wait the biggest theme? It is, and by far.
+ Is cold food the biggest theme? It never was.
+ Is cold food the biggest theme? It is, alas, not.
+ Is cold food the biggest theme? No, it is not.
+ Is cold food the biggest theme? Sadly, cold food is third.
+ Is cold food the biggest theme? Possibly.
+ Is cold food the biggest theme? That is long wait.
"""
MEDALS = """
- Gold is cold food.
- The gold goes to cold food.
- Cold food wins gold.
- Cold food takes the gold medal.
- Cold food (gold)
- Long wait settles for bronze.
- Gold, silver and bronze go to cold food, long wait and rude staff.
+ Gold is long wait.
+ The silver medal goes to rude staff.
+ Long wait takes the gold medal.
+ Cold food settles for bronze.
+ Gold, silver and bronze go to long wait, rude staff and cold food.
+ Cold food does not win gold.
+ All that glitters is not gold: cold food is third.
+ The silver lining: cold food is only third.
+ Silver or gold, cold food is moderate.
"""
LISTS = r"""
- The plan lists these themes:\n\n- long wait\n- grimy carpets
- Themes:\n* long wait\n* grimy carpets\n* cold food
- a) long wait\nb) grimy carpets
- - long wait (482.3)\n- rude staff (120.6)\n- grimy carpets
- Long wait; rude staff; grimy carpets.
- Themes: long wait; grimy carpets; cold food.
- Long wait + grimy carpets.
- Long wait & grimy carpets.
- Long wait\ngrimy carpets\ncold food
- Long wait\nRude staff\nGrimy carpets
- Long wait. Grimy carpets. Cold food.
- - long wait\n- privacy\n- cold food
+ Themes:\n- long wait\n- rude staff\n- cold food
+ Hotel Bellevue\n\n- long wait\n- rude staff\n- cold food
+ Front desk\n- long wait\n- rude staff\nKitchen\n- cold food
+ - long wait\n- rude staff\n- differential privacy protects the guests
+ - long wait\n- analytic calibration of the noise
+ - long wait\n- rude staff\n- lawyers vetted the sentences
+ Contents:\n- long wait\n- method\n- privacy
+ Long wait\nThe Miller Group
+ Quarterly digest\nLong wait\nRude staff\nCold food\nEnd of digest
+ Long wait. Enough said. Cold food.
+ Long wait; see the annex; cold food.
+ Long wait is listed; the annex explains the method; cold food is third.
"""
METHOD = """
- Privacy is the top theme.
- Another theme is privacy.
- Privacy is the top theme of the plan.
- The theme noise was admitted.
- Long wait, noise and cold food are listed.
- Privacy and long wait were the complaints.
- The plan lists long wait and privacy.
- Complaints about noise were recorded.
- Guests complained of privacy and long wait.
- Reviewers wrote about privacy.
- Noise made the list.
- The budget is the largest concern.
+ Noise is not a theme.
+ Nobody complained about noise.
+ The plan never lists privacy.
+ Privacy comes first: noise was added to the values.
+ Privacy is the topic of this note.
+ Privacy was the main concern when the plan was released.
+ Accuracy is second to privacy here.
+ The plan includes noise in every value.
+ A remark on the noise: its scale is public.
+ Long wait, with noise, has a mass of 482.3.
+ The summary covers long wait and the method.
+ None of these values of long wait is exact.
"""
DENIED = """
- Cold food is not ranked.
- Cold food is not told of.
- The plan does not rank cold food.
- The plan does not order cold food.
- Cold food is unranked.
- Cold food has no rank.
- The summary does not know cold food.
- The list does not say cold food.
- Long wait is first, and cold food is not ranked.
- Without doubt the sheet does not greet cold food.
- The sheet that we made does not greet cold food.
- Everything but cold food was ranked.
+ The plan does not rank cold food above rude staff.
+ Rude staff is not ranked above cold food by more than the margin.
+ Rude staff and cold food are not told apart.
+ The order of rude staff and cold food is not told.
+ The plan does not rank cold food and rude staff by cause.
+ The plan does not know who raised cold food.
+ Cold food is not ranked first.
+ Noise does not change the rank of long wait.
+ Dirty room is not ranked.
+ We take no position on long wait.
+ Nothing but long wait is high.
"""
COMPARISONS = """
- The plan does not rank long wait above cold food.
- Long wait and cold food do not differ by more than the margin.
- Compared with long wait, cold food leads.
- Of long wait and cold food, the second is larger.
+ Rude staff and cold food do not differ by more than the margin.
+ Of long wait and cold food, the first is larger.
+ Compared with cold food, long wait leads.
"""
CERTAIN = """
- Without doubt cold food ranks first.
- There is no doubt that cold food ranks first.
- Nobody doubts that cold food ranks first.
- They say that cold food leads.
- Three themes were admitted, but cold food leads.
- Is cold food the largest theme? Everyone says so.
+ Without doubt long wait ranks first.
+ Nobody doubts that long wait ranks first.
+ They say that long wait leads.
+ No guest is named beside cold food.
+ No one is identified by cold food.
"""
BY_KIND = {"number": PEOPLE, "rank": QUESTIONS + MEDALS + CERTAIN, "atom": LISTS + METHOD + DENIED}
BY_KIND |= {"comparison": COMPARISONS}


def sentences(sign: str) -> list[tuple[str, str]]:
    lines = [(kind, line) for kind, block in BY_KIND.items() for line in block.strip().splitlines()]
    return [(kind, line[2:].replace("\\n", "\n")) for kind, line in lines if line[:1] == sign]


@pytest.mark.parametrize(("kind", "text"), sentences("-"))
def test_a_false_sentence_is_rejected_for_its_kind(kind, text, three_themes, universe):
    assert kind in {violation.kind for violation in plans.verify(text, three_themes, universe).violations}


@pytest.mark.parametrize(("kind", "text"), sentences("+"))
def test_its_true_sibling_is_accepted(kind, text, three_themes, universe):
    assert plans.verify(text, three_themes, universe).violations == (), kind


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda plan: ("text", None), "plan must be a SemanticPlan, got NoneType"),
        (lambda plan: ("text", {"atoms": ()}), "plan must be a SemanticPlan, got dict"),
        (lambda plan: (b"text", plan), "text must be a string, got bytes"),
        (lambda plan: ("text", plan, 5), "universe must be a sequence of str, got int"),
        (lambda plan: ("text", plan, [1]), "universe must be a sequence of str, got an entry of type int"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(arguments, message, three_themes):
    with pytest.raises(TypeError, match=f"^{message}$"):
        plans.verify(*arguments(three_themes))


def test_nearly_all_and_hardly_any_of_the_people_are_shares(three_themes, universe):
    atoms = (Atom(1, "long wait", "", 1800.0, 0.9, "high"), Atom(2, "cold food", "", 20.0, 0.01, "trace"))
    plan = plans.SemanticPlan("gaussian", three_themes.guarantee, 2000.0, 5, 2, 9.1, atoms, noise=three_themes.noise)
    for few, many in (("Almost nobody", "Almost everyone"), ("Hardly anyone", "Nearly every guest")):
        for text, right in ((f"{many} raised %s.", "long wait"), (f"{few} raised %s.", "cold food")):
            for label in ("long wait", "cold food"):
                assert plans.verify(text % label, plan, universe).accepted == (label == right), text % label


def test_a_noun_that_a_label_holds_is_that_label(three_themes):
    """ "Noise" is a step of the method only where no atom is called so."""
    atoms = (*three_themes.atoms[:2], Atom(3, "noise at night", "", 115.0, 0.0575, "moderate"))
    universe = ("long wait", "rude staff", "noise at night", "dirty room", "billing error")
    plan = plans.SemanticPlan("gaussian", three_themes.guarantee, 2000.0, 5, 3, 9.1, atoms, noise=three_themes.noise)
    for text in ("Noise is the third theme.", "Guests complained about noise.", "- long wait\n- rude staff\n- noise"):
        assert plans.verify(text, plan, universe).accepted, text
