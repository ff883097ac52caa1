"""What writers say about their own report, idioms of order, enumerations: true siblings pass, false ones do not."""

from __future__ import annotations

import pytest

from privlib import plans

# signs: + accepted; a, c, r, n rejected as atom, comparison, rank, number
SENTENCES = """
+ Draft for the newsroom, figures rounded.
+ Happy to walk anyone through the table.
+ Quick note before lunch: three themes came out of the release.
+ I kept the wording simple for the intern.
a Draft for the newsroom: guests complained about parking.
a Note for parking, the fourth theme.
a Happy to walk anyone through the theme of missing towels.
r Quick note before lunch: cold food leads.
a Not to be forgotten: wet towels.
+ The others go home without a medal. I mean rude staff.
r Long wait goes home without a medal.
+ Where two values nearly tie, I have kept silent on the order.
+ Rude staff and cold food nearly tie, so I do not order them.
c Long wait and cold food nearly tie.
a The plan stays mute on cold food.
a Nothing is said in the plan of long wait.
a Nothing in the plan speaks of long wait.
+ Nothing in the plan speaks of dirty room.
+ Nothing in the plan speaks of the weather.
+ Nobody asked me about prices.
c Long wait has to yield to cold food.
+ Cold food has to yield to long wait.
c Long wait cannot keep up with cold food.
+ Cold food cannot keep up with long wait.
c Rude staff is comfortably in front of cold food.
+ Long wait is comfortably in front of cold food.
c Cold food leaves long wait standing.
+ Long wait leaves cold food standing.
c Cold food cannot be caught by long wait.
+ Long wait cannot be caught by cold food.
c Long wait has nothing on cold food.
+ Cold food has nothing on long wait.
a The plan has nothing on cold food.
c Long wait is left standing by rude staff.
c Rude staff has 121 and cold food 115, so rude staff is clearly the bigger of the two.
+ Rude staff is listed. Behind long wait stands a released mass of 482.
c Behind cold food comes long wait.
r The podium reads rude staff, long wait, cold food.
+ The podium reads long wait, rude staff, cold food.
r In plan order: 1) long wait 2) cold food 3) rude staff
+ In plan order: 1) long wait 2) rude staff 3) cold food
+ Ranked: 1. long wait, 2. rude staff, 3. cold food.
r Ranked: 1. cold food, 2. long wait, 3. rude staff.
+ No. 1 is long wait, no. 2 is rude staff.
r No. 1 is cold food, no. 2 is long wait.
+ Long wait + rude staff + cold food = what goes on our slide.
c Long wait = cold food.
+ Long wait, rude staff, cold food: three of them.
+ There are three themes, and I picked two of them.
n Long wait counts seven of them.
+ Three bullets: long wait, rude staff, cold food.
+ Long wait and rude staff, these two go on the slide.
+ I leave out figures because the exercise was about words.
+ On the list because it was released: long wait.
a On the list because it was released: wet towels.
a I leave out figures because guests hate the parking.
a Long wait is high because the exercise failed.
a I recommend more ovens.
+ I recommend reading the appendix first.
n Cold food is a theme. Nobody raised it.
+ Is rude staff moderate? It is, no question.
n Nobody mentioned long wait, no question.
b Is rude staff in the high bin? It is, no question.
a We did spot weak coffee, and lifts that broke.
a What people wrote about was loud music.
+ Noise included, long wait adds up to about 480.
+ Last but not least, rude staff.
+ Cold food attracts less support than long wait. Behind rude staff stands a released mass of 121.
+ I stay silent on cold food.
a Note for our parking: high.
a I put long wait first because the course was hard.
a The mass of long wait is high because of the software.
+ Among the moderate ones, rude staff leads.
"""
KINDS = {"a": "atom", "c": "comparison", "r": "rank", "n": "number", "b": "bin"}
LINES = [(line[0], line[2:]) for line in SENTENCES.strip().splitlines()]


@pytest.mark.parametrize(("sign", "text"), LINES)
def test_the_voice_of_a_report(sign, text, three_themes, universe):
    kinds = {violation.kind for violation in plans.verify(text, three_themes, universe).violations}
    assert KINDS[sign] in kinds if sign in KINDS else kinds == set()
