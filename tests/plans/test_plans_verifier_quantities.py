"""How many people raised a theme, how many themes there are, which are as large: false ones rejected, true ones not."""

from __future__ import annotations

import pytest

from privlib import plans
from privlib.plans.plan import Atom

# "t" is said of the plan of three themes (supports .24, .060 and .058, the last two within the margin), "w" of one with
# supports .92, .5 and .008; "-" is false, "+" true
CROWDS = """
t- Almost all mentioned long wait.
t- Nearly all of them raised long wait.
t- Practically all raised long wait.
t- Nearly everyone raised long wait.
t- Long wait was mentioned by almost all.
t- Long wait was mentioned by nearly all guests.
t- All mentioned long wait.
t- Most raised long wait.
t- The bulk of them raised long wait.
t- Few people raised long wait.
t- Few raised long wait.
t- Only a few people raised long wait.
t- A handful raised long wait.
t- Only a couple of guests raised long wait.
t- Hardly anyone raised long wait.
t- Hardly any guests raised long wait.
t- Next to nobody raised long wait.
t- Almost no one raised long wait.
t- Long wait was raised by few people.
t- Long wait was raised by next to nobody.
t- Half of them raised long wait.
w- Not all mentioned long wait, and few mentioned rude staff.
w+ Almost all mentioned long wait.
w+ Nearly all of them raised long wait.
w+ Practically all raised long wait.
w+ Nearly everyone raised long wait.
w+ Long wait was mentioned by almost all.
w+ Long wait was mentioned by nearly all guests.
w+ Most raised long wait.
w+ The bulk of them raised long wait.
w+ Few people raised cold food.
w+ Few raised cold food.
w+ Only a few people raised cold food.
w+ A handful raised cold food.
w+ Only a couple of guests raised cold food.
w+ Hardly anyone raised cold food.
w+ Hardly any guests raised cold food.
w+ Next to nobody raised cold food.
w+ Almost no one raised cold food.
w+ Cold food was raised by few people.
w+ Cold food was raised by next to nobody.
w+ Half of them raised rude staff.
w+ Not all mentioned cold food.
t+ Quite a few people raised long wait.
t+ Many people raised long wait.
t+ Almost all of the values of long wait are noisy.
t+ Few themes are as large as long wait.
t+ A few words on long wait: it leads.
"""
SIZES = """
t- The plan lists two themes.
t- The plan lists five themes.
t- The plan lists a couple of themes.
t- The plan admits a couple of themes.
t- The plan admits a pair of themes.
t- There are a couple of topics in the plan.
t- A couple of themes were admitted.
t- The plan lists only two themes.
t- The release contains four topics.
t- Two themes were admitted.
t- Five themes made the list.
t- There are two themes in the plan.
t- The report covers two themes.
t- The number of themes is two.
t- A total of two themes were released.
t- The plan lists two themes: long wait and rude staff.
t+ The plan lists three themes.
t+ The plan lists only three themes.
t+ The release contains three topics.
t+ Three themes were admitted.
t+ Three themes made the list.
t+ There are three themes in the plan.
t+ The report covers three themes.
t+ The number of themes is three.
t+ A total of three themes were released.
t+ The plan does not list five themes.
t+ The plan does not admit a couple of themes.
t+ A couple of themes exceed the rest.
t+ A pair of themes exceeds the rest.
t+ This summary lists a couple of themes: long wait and rude staff.
t+ The plan could list five themes.
t+ The plan lists two moderate themes.
t+ Two themes were not admitted.
t+ Five themes were considered.
t+ The universe has five themes.
t+ This summary lists two themes: long wait and rude staff.
"""
LEVEL = """
t- Rude staff was raised as often as long wait.
t- Parking problems were raised as often as long wait.
t- Rude staff came up as many times as long wait.
t- Rude staff is as large as long wait.
t- Rude staff and long wait were raised equally often.
t- Rude staff and long wait were mentioned equally.
t- Rude staff is on a par with long wait.
t- Rude staff and long wait are neck and neck.
t- Rude staff is level with long wait.
t- Rude staff draws level with long wait.
t- Rude staff keeps pace with long wait.
t- It is a dead heat between rude staff and long wait.
t- Rude staff and long wait share first place.
t- Rude staff and long wait come out even.
t- There is no difference between rude staff and long wait.
t- Rude staff is not on a par with cold food.
t- Rude staff and cold food are not tied.
t- Rude staff is twice as common as cold food.
t- Rude staff is half as common as cold food.
t+ Rude staff was raised as often as cold food.
t+ Rude staff came up as many times as cold food.
t+ Rude staff is as large as cold food.
t+ Rude staff and cold food were mentioned equally.
t+ Rude staff is on a par with cold food.
t+ Rude staff and cold food are neck and neck.
t+ Rude staff is level with cold food.
t+ Rude staff keeps pace with cold food.
t+ It is a dead heat between rude staff and cold food.
t+ There is no difference between rude staff and cold food.
t+ Rude staff is not on a par with long wait.
t+ Rude staff and long wait are not neck and neck.
t+ Rude staff was not raised as often as long wait.
t+ Long wait and rude staff are not equally common.
t+ Rude staff is reported at the record level.
"""
CROWNS = """
t- Cold food takes the crown.
t- Cold food wears the crown.
t- Cold food is king.
t- Cold food is crowned.
t- Cold food takes first prize.
t- Cold food wins the race.
t- Cold food reigns supreme.
t- Cold food is the undisputed champion.
t- Long wait takes second prize.
t+ Long wait takes the crown.
t+ Long wait wears the crown.
t+ Long wait is king.
t+ Long wait is crowned.
t+ Long wait takes first prize.
t+ Long wait wins the race.
t+ Long wait reigns supreme.
t+ Long wait is the undisputed champion.
t+ Rude staff takes second prize.
t+ Cold food does not take the crown.
t+ The race is on: long wait leads.
"""
STRANGERS = """
t- Carpets win gold.
t- Carpets take the crown.
t- Carpets wins the race.
t- Dirty room wins gold.
t- Nobody raised carpets.
t- Nobody raised dirty room.
t- No one raised carpets.
t- No guest raised carpets.
t- None of the guests raised carpets.
t- Not one guest spoke of carpets.
t- Nobody complained about carpets.
t- Carpets were raised by nobody.
t+ The plan says nothing about carpets.
t+ Nobody complained about noise.
t+ Nobody reads the small print.
t+ Nobody asked me about prices.
t+ Nobody said that the figures are exact.
t+ No guest wrote these sentences.
"""
WEIGHT = """
t- Long wait is a minor issue.
w- Cold food is a major concern.
t+ Long wait is a major concern.
w+ Cold food is a minor issue.
t+ Rude staff is a minor issue.
"""
BY_KIND = {"number": CROWDS + SIZES, "comparison": LEVEL, "rank": CROWNS, "atom": STRANGERS, "bin": WEIGHT}
LINES = [(kind, *line.split(" ", 1)) for kind, block in BY_KIND.items() for line in block.strip().splitlines() if line]


@pytest.fixture
def wide(three_themes):
    atoms = (
        Atom(1, "long wait", "", 1840.0, 0.92, "high"),
        Atom(2, "rude staff", "", 1000.6, 0.5003, "high"),
        Atom(3, "cold food", "", 16.0, 0.008, "trace"),
    )
    return plans.SemanticPlan("gaussian", three_themes.guarantee, 2000.0, 5, 3, 9.1, atoms, noise=three_themes.noise)


@pytest.mark.parametrize(("kind", "sign", "text"), LINES)
def test_a_quantity_is_held_against_the_plan(kind, sign, text, three_themes, wide, universe):
    kinds = {
        violation.kind
        for violation in plans.verify(text, wide if sign[0] == "w" else three_themes, universe).violations
    }
    assert kind in kinds if sign[1] == "-" else kinds == set()


@pytest.mark.parametrize("text", [text for _, sign, text in LINES if sign == "t-"])
def test_none_of_the_false_ones_passes_without_the_labels(text, three_themes):
    assert not plans.verify(text, three_themes).accepted
