"""One sentence or more for each class of language that the verifier reads, none from the labelled set.

Each group names the class. The supported sentences must pass, the unsupported ones be rejected for the kind they are
false of: a rule that is taken out fails its group.
"""

from __future__ import annotations

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom, Noise

ADMITTED = ("long wait", "rude staff", "parking fee", "cold food")
UNIVERSE = (*ADMITTED, "dirty room", "billing error", "weak coffee", *(f"zebra{k} crossing" for k in range(43)))
PLAN = plans.SemanticPlan(
    "gaussian",
    Guarantee(1.0, 1e-6, "record", "add_drop", ("idealized numerics",), ("gaussian sketch",)),
    public_denominator=2000.0,
    universe_size=50,
    plan_size=10,
    comparison_margin=9.1,
    atoms=(
        Atom(1, "long wait", "waiting time", 482.3, 0.24115, "high"),
        Atom(2, "rude staff", "", 120.6, 0.0603, "moderate"),
        Atom(3, "parking fee", "", 115.0, 0.0575, "moderate"),
        Atom(4, "cold food", "", -3.2, 0.0, "trace"),
    ),
    noise=Noise("gaussian", 3.9),
)

SUPPORTED = {
    "public settings": """
Four topics survived out of fifty candidates.
The masses were divided by the constant 2,000.
Long wait leads; every figure is read against a denominator of 2000.
Two masses must lie at least 9.1 apart before they can be ordered.
Gaussian noise with a standard deviation of 3.9 was added, and long wait still reached 482.
The budget was epsilon = 1 with delta = 0.000001.
The high bin starts at 10 %, and long wait is in it.
With a denominator of 2,000, long wait comes to 24.1 %.
Epsilon is 1, delta one in a million.
Of 50 labels, 4 were kept.
""",
    "counts of themes": """
Long wait, rude staff and parking fee are the three strongest themes.
The two moderate themes are rude staff and parking fee.
Long wait is high; the other three themes are not.
Rude staff is the bigger of the two, cold food and rude staff.
""",
    "numbers in words": """
Rude staff stands at a hundred and twenty, give or take.
Rude staff comes to one hundred and twenty-one.
Long wait has a mass of just under five hundred.
Long wait has a mass of roughly five hundred.
Long wait collected four hundred eighty-two.
Rude staff has about ten dozen of mass.
""",
    "fractions and shares": """
Long wait takes a little under a quarter of the denominator.
Less than half of the denominator falls to long wait.
Only a small share of the denominator goes to parking fee.
Hardly any of the denominator belongs to cold food.
Rude staff accounts for one seventeenth of the denominator.
Long wait takes five twentieths of the denominator.
Roughly 6 in 100 of the denominator are rude staff.
No theme takes up the majority of the denominator.
Long wait is not a majority theme.
None of the themes makes up most of the denominator.
A minority of the denominator goes to long wait.
""",
    "numbers given to their atoms": """
Rude staff (121), parking fee (115) and long wait (482) were released.
Long wait - 482.3 - 24.1 %
| 1 | long wait | 482.3 | 24.1 % | high |
Masses: 482 for long wait, 121 for rude staff, 115 for parking fee.
At 482, long wait is far ahead of rude staff, which has 121.
Long wait and rude staff reached 482 and 121, parking fee 115.
(1) long wait, (2) rude staff, (3) parking fee
While long wait has 482, rude staff only gets 121.
Long wait has 482, and 121 goes to rude staff.
With 482 long wait is first, and with 121 rude staff is second.
Long wait outweighs rude staff, 482 to 121.
**Long wait** and **rude staff** have masses of *482* and *121*.
Which theme leads? Long wait, with 482.
""",
    "ranks": """
In the lead is long wait, the runner-up is rude staff.
Cold food closes the list.
Nothing scores higher than long wait.
No theme has less mass than cold food.
Cold food takes the bottom spot.
Rude staff holds second position.
Parking fee is number three.
Long wait heads the ranking.
Long wait is number one of four themes.
Of all themes, long wait weighs most.
Long wait first, rude staff second, parking fee third.
Second comes rude staff.
Second: rude staff.
Cold food brings up the rear.
In third place we find parking fee.
The top three, in order, are long wait, rude staff and parking fee.
Parking fee is second to last.
Cold food isn't among the top three themes.
Parking fee is not the leading theme.
Theme 2 is rude staff.
""",
    "comparisons": """
Of rude staff and cold food, the former is the bigger one.
Cold food stays below parking fee.
Rude staff comes in behind long wait.
Long wait has a higher support than rude staff, parking fee or cold food.
Rude staff, with 121, trails long wait.
Long wait has a clear lead over parking fee.
Long waits beat rude staff.
Rude staff and cold food: the latter is smaller.
Long wait is ahead of rude staff, and cold food is last.
Long wait outweighs all other themes.
""",
    "close masses": """
Between rude staff and parking fee no order can be claimed.
Rude staff and parking fee are too close to call.
Rude staff and parking fee cannot be told apart.
""",
    "bins and frequency": """
Customers seldom bring up cold food.
Long wait is brought up again and again.
Rude staff and parking fee are both moderate, cold food is trace.
Texts hardly ever speak of cold food.
Cold food is hardly mentioned.
Long wait is raised regularly.
Long wait belongs in the high band.
""",
    "what stands for another": """
Long wait and rude staff were admitted. The former has 482, the latter 121.
Rude staff and parking fee follow. Both are moderate.
Long wait is high. The remaining three themes are not.
The largest theme has a mass of 482.
Long wait:
- mass 482.3
- rank 1
""",
    "other voices: slides, letters, questions, notes": """
Overview of a semantic plan
4 out of 50 labels made it into the release.
This text rests on a release with a privacy budget of 1.
The reference constant is 2000.
Protection is given at the record level with epsilon 1.
Report on 4 themes
Readers should keep in mind a denominator of 2000.
The list of candidates had 50 entries; 4 of them are shown.
Privacy was bought with epsilon 1 and delta 1e-6.
The mechanism kept 4 labels of a list of 50.
Every number here was perturbed.
Random noise was added to each mass.
Differences below the margin of 9.1 mean nothing.
Masses can be negative, since noise is added on top.
No raw text was seen when this was written.
All the numbers stem from one noisy release.
Nothing is said here about single records.
Percentages are masses over 2000.
Percentages are taken of a public constant, 2000.
Each mass is a sum with noise of scale 3.9 on top.
Two themes whose masses are close should not be put in order.
This is a simulation.
Key figures
Dear reader, here is what the plan says.
What the plan says
Long wait made the list.
Among the released labels we find long wait.
Rude staff was selected.
Also part of the plan: long wait.
We see long wait and rude staff in the plan.
Long wait, together with rude staff, was admitted.
Long wait weighs 482.
482 is the noisy mass of long wait.
At 482, long wait has the largest mass.
The mechanism returned 482 for long wait.
Long wait scores 482.
Long wait has been assigned a mass of 482.3.
Long wait comes with a mass of 482.
Long wait totals four hundred and eighty-two.
Nearly five hundred is the mass of long wait.
24.1% of the public denominator is taken by long wait.
Long wait covers 24.1 percent.
Relative to the denominator, long wait comes to 24 %.
Long wait has a share of 24% of the denominator.
Divided by the denominator this is 24% for long wait.
Around a quarter of the denominator is covered by long wait.
Some six percent of the denominator is rude staff.
Long wait covers under half of the denominator.
Parking fee accounts for a tiny fraction of the denominator.
Long wait falls short of half the denominator.
Long wait comes up regularly.
Cold food comes up infrequently.
Cold food comes up only seldom.
Authors bring up long wait a great deal.
Long wait exceeds rude staff.
Long wait surpasses rude staff.
Rude staff is smaller than long wait.
Long wait scores higher than rude staff.
Rude staff trails long wait.
Long wait gets more mass than rude staff.
Rude staff does not reach the level of long wait.
Rude staff falls short of long wait.
Next to rude staff, long wait is the heavier theme.
Set against rude staff, long wait weighs more.
Between long wait and rude staff, long wait has more mass.
Rude staff carries less weight than long wait.
There is more mass on long wait than on rude staff.
The mass of long wait is higher than the mass of rude staff.
The mass of long wait exceeds the mass of rude staff.
Rude staff lies below long wait.
Rude staff ranks lower than long wait.
Long wait ranks higher than rude staff.
Long wait takes first place.
Rude staff takes second place.
Rude staff holds rank 2.
Number 2 is rude staff.
Rude staff comes in second.
Rude staff is placed second.
The second spot goes to rude staff.
Rude staff stands at position 2.
#2: rude staff
Rank 2: rude staff.
In the ranking, rude staff is second.
By mass, rude staff is second.
Second in line is rude staff.
Rude staff occupies the second place of the ranking.
Rude staff is number 2 of the list.
Long wait tops the ranking.
Long wait leads the field.
Nothing in the plan weighs more than long wait.
Long wait is the strongest theme.
Long wait is at the head of the plan.
Long wait has the highest mass of all.
Long wait has the largest support of all themes.
Long wait is on top.
Cold food closes the ranking.
Cold food is the weakest of the themes.
Every other theme outweighs cold food.
All other themes have more mass than cold food.
Cold food has the smallest mass.
Cold food has the lowest support.
Cold food ends the list.
No theme is lighter than cold food.
Long wait, rude staff and parking fee make up the top three, in this order.
The order at the top is long wait, rude staff, parking fee.
Long wait is followed by rude staff and parking fee.
After long wait come rude staff and parking fee.
First long wait, then rude staff, then parking fee.
The podium: long wait, rude staff, parking fee.
Rude staff is labelled moderate.
Rude staff sits in the bin called moderate.
Rude staff: moderate
Rude staff is rated moderate.
Rude staff counts as moderate.
Moderate is the bin of rude staff.
The plan puts rude staff into the bin moderate.
Rude staff has been sorted into the moderate bin.
Rude staff is of moderate size.
In the moderate bin we find rude staff.
The moderate bin holds rude staff and parking fee.
Long wait is the only high theme.
Rude staff isn't high.
Presumably, long wait has a mass of 482.
One may assume that long wait has a mass of 482.
Long wait is probably the largest theme.
There are signs that rude staff is second.
Long wait seems to have a support of 24%.
It looks as if long wait is ahead of rude staff.
Rude staff would then be in the moderate bin.
Long wait (rank 1) has a mass of 482 and a support of 24%.
Rude staff, second, has a mass of 121.
Long wait has 482 and is in the high bin.
Long wait is first with 482 and cold food last.
Rude staff: rank 2, mass 121, support 6%, bin moderate
Long wait is at 24%, rude staff at 6%.
Long wait is high but rude staff is moderate.
Long wait has a mass of 482 (high), rude staff one of 121 (moderate).
Q: Which theme is largest?
A: Long wait.
Q: How large is rude staff? A: Its noisy mass is 121, that is 6% of the denominator.
What comes second? Rude staff, at 121.
How many themes were released? Four.
Slide 1: Long wait is the leading theme
Slide 2: the moderate themes are rude staff and parking fee
Takeaway: long wait is far ahead
Our reading: long wait dominates the plan with 24% of the denominator.
I write to tell you that long wait came out at 482.
Please note that rude staff and parking fee are within the margin of each other.
We recommend not to read the order of rude staff and parking fee.
Rude staff and parking fee differ by less than the margin.
Rude staff and parking fee are practically level.
The gap between rude staff and parking fee is 5.6, below the margin of 9.1.
Long wait leads rude staff by about 362.
The difference between long wait and rude staff is larger than the margin.
Long waits are the heart of the matter: 24%.
First, long wait (482). Second, rude staff (121).
At the lower end there is cold food.
The list ends with cold food.
The list begins with long wait.
The list starts with long wait at 482 and ends with cold food.
Bringing up the rear is cold food.
One theme is high: long wait.
Two themes are moderate: rude staff and parking fee.
Only long wait is in the high bin.
Long wait is one of the four themes.
Long wait is one of the strongest themes.
Waiting time is first.
The long wait has 482.
Waits that are long have 482.
Staff being rude is second.
Parking fees are third.
Complaints about cold food are rare.
""",
    "names in other words": """
The staff, who are rude, come second.
A fee for parking is third.
Food that is cold is last.
""",
}

CORRUPTED = {
    ("number", "public settings"): """
The masses were divided by 3,000, the public denominator 3,000.
The comparison margin is 2.5.
Of 60 labels, 4 were kept.
Read against a denominator of 482, long wait leads.
The budget was epsilon = 2.
Long wait is read against a denominator of 200.
""",
    ("number", "counts of themes"): """
Seven themes were admitted.
The three moderate themes are rude staff and parking fee.
""",
    ("number", "numbers in words"): """
Rude staff stands at two hundred.
Long wait has a mass of roughly six hundred.
Long wait has a mass of just over five hundred.
Long wait has a mass of forty-eight.
""",
    ("number", "fractions and shares"): """
Long wait takes more than half of the denominator.
A seventh of the denominator goes to long wait.
Nearly all of the denominator belongs to rude staff.
A large part of the denominator goes to parking fee.
Hardly any of the denominator belongs to long wait.
Long wait takes up most of the denominator.
Rude staff accounts for one twelfth of the denominator.
""",
    ("number", "numbers given to their atoms"): """
Masses: 482 for long wait, 115 for rude staff.
Long wait and rude staff reached 121 and 482.
| 2 | rude staff | 482.3 | 6 % |
While long wait has 121, rude staff gets 482.
With 482 long wait is first, and with 115 rude staff is second.
Long wait outweighs rude staff, 121 to 482.
Rude staff (482), long wait (121)
""",
    ("rank", "ranks"): """
Cold food opens the list.
Long wait closes the list.
No theme has less mass than rude staff.
The runner-up is parking fee.
(1) rude staff, (2) long wait
Parking fee is number two.
Rude staff first, long wait second.
Third comes rude staff.
Second: parking fee.
Long wait brings up the rear.
The top three, in order, are rude staff, long wait and parking fee.
Long wait isn't among the top three themes.
Long wait is second to last.
Theme 3 is rude staff.
""",
    ("comparison", "comparisons"): """
Of rude staff and cold food, the latter is the bigger one.
Cold food is above parking fee.
Rude staff narrowly beats parking fee.
Cold food has a clear lead over parking fee.
Rude staff and parking fee: the latter is smaller.
Rude staff outweighs all other themes.
""",
    ("comparison", "close masses"): """
Long wait and rude staff are too close to call.
Long wait and cold food cannot be told apart.
The difference between rude staff and parking fee is larger than the margin.
""",
    ("bin", "bins and frequency"): """
Customers seldom bring up long wait.
Cold food is brought up again and again.
Cold food and long wait are both high.
Texts hardly ever speak of long wait.
Long wait is hardly mentioned.
Long wait belongs in the low band.
""",
    ("number", "what stands for another"): """
Long wait and rude staff were admitted. The former has 121, the latter 482.
The largest theme has a mass of 121.
Long wait:
- mass 120.6
""",
    ("bin", "what stands for another"): """
Long wait is high. The remaining three themes are low.
Rude staff and parking fee follow. Both are high.
""",
    ("atom", "names from nowhere"): """
Long wait, rude staff and dreadful toilets were admitted.
The plan also names dreadful toilets.
Dreadful toilets are third.
Dreadful toilets: 115.
Themes include dreadful toilets.
The theme dreadful toilets was admitted.
It may be that dreadful toilets are among the themes.
""",
    ("atom", "denied admission"): """
Long wait was left out of the plan.
Rude staff does not appear in the release.
Cold food is missing from the list.
The plan never mentions parking fee.
Rude staff was not admitted.
Parking fee isn't part of the plan.
""",
    ("number", "other voices"): """
Long wait weighs 382.
482 is the noisy mass of rude staff.
The mechanism returned 121 for long wait.
42.1% of the public denominator is taken by long wait.
Around a half of the denominator is covered by long wait.
Long wait covers over half of the denominator.
Long wait accounts for a tiny fraction of the denominator.
Rude staff covers the bulk of the denominator.
Well over half of the denominator is long wait.
Almost all of the denominator is long wait.
""",
    ("bin", "other voices"): """
Cold food comes up regularly.
Long wait comes up infrequently.
Rude staff is labelled high.
Rude staff sits in the bin called high.
Rude staff: high
Rude staff counts as high.
High is the bin of rude staff.
The plan puts rude staff into the bin high.
In the high bin we find rude staff.
Rude staff isn't moderate.
Rude staff is of high support.
One theme is high: rude staff.
""",
    ("comparison", "other voices"): """
Rude staff exceeds long wait.
Rude staff surpasses parking fee.
Long wait is smaller than rude staff.
Rude staff scores higher than long wait.
Long wait trails rude staff.
Long wait does not reach the level of rude staff.
Long wait falls short of rude staff.
Next to long wait, rude staff is the heavier theme.
Set against long wait, rude staff weighs more.
There is more mass on rude staff than on parking fee.
The mass of rude staff exceeds the mass of parking fee.
Long wait lies below rude staff.
Rude staff ranks higher than long wait.
Between long wait and rude staff, rude staff has more mass.
It looks as if rude staff is ahead of long wait.
""",
    ("rank", "other voices"): """
Rude staff takes first place.
Parking fee takes second place.
Parking fee holds rank 2.
Number 2 is parking fee.
Parking fee comes in second.
The second spot goes to parking fee.
Parking fee stands at position 2.
#2: parking fee
Rude staff tops the ranking.
Rude staff leads the field.
Nothing in the plan weighs more than rude staff.
Rude staff is the strongest theme.
Rude staff is at the head of the plan.
Rude staff has the highest mass of all.
Rude staff closes the ranking.
Rude staff is the weakest of the themes.
Every other theme outweighs rude staff.
No theme is lighter than rude staff.
Parking fee, rude staff and long wait make up the top three, in this order.
The order at the top is rude staff, long wait, parking fee.
Rude staff is followed by long wait.
First rude staff, then long wait.
The list begins with rude staff.
The list ends with rude staff.
Rude staff is on top.
Perhaps rude staff takes first place.
""",
    ("atom", "other voices"): """
Rude staff did not make the list.
Rude staff is absent from the plan.
Rude staff was not selected.
There is no trace of rude staff in the plan.
Rude staff fell out of the plan.
Unclean tables made the list.
Among the released labels we find unclean tables.
We see long wait and unclean tables in the plan.
Long wait, together with unclean tables, was admitted.
Also part of the plan: unclean tables.
Unclean tables were selected.
Unclean tables may be one of the themes.
Unclean tables have a mass of 121.
The plan speaks of unclean tables.
Next to long wait stands the theme of unclean tables.
Guests ask for better cutlery because of this.
""",
    ("atom", "causes and advice"): """
Management should train its waiters, since long wait is first.
Long wait is caused by lazy cooks.
The kitchen is to blame for cold food.
""",
}


def _cases(groups):
    for name, block in groups.items():
        sentences = []
        for line in block.strip().splitlines():
            # a heading and its bullets are one text
            if line.startswith("- "):
                sentences[-1] += "\n" + line
            else:
                sentences.append(line)
        for sentence in sentences:
            yield pytest.param(name, sentence, id=sentence[:60])


@pytest.mark.parametrize(("name", "text"), list(_cases(SUPPORTED)))
def test_supported(name, text):
    assert plans.verify(text, PLAN, UNIVERSE).violations == (), name


@pytest.mark.parametrize(("name", "text"), list(_cases(CORRUPTED)))
def test_unsupported(name, text):
    kind, group = name
    found = {violation.kind for violation in plans.verify(text, PLAN, UNIVERSE).violations}
    assert kind in found, group
