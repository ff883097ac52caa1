"""Rules of grammar of the verifier, each by true sentences that must pass and false ones that must not.

None is from the labelled set. A rule that is taken out fails its group.
"""

from __future__ import annotations

import time

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom, Noise

ADMITTED = ("chain wear", "sleepwalking", "closed point", "stolen helmet", "flat pedals")
UNIVERSE = (*ADMITTED, "small text", "brake dust", *(f"zebra{k} crossing" for k in range(33)))
PLAN = plans.SemanticPlan(
    "gaussian",
    Guarantee(1.0, 1e-6, "record", "add_drop", ("idealized numerics",), ("gaussian sketch",)),
    public_denominator=4000.0,
    universe_size=40,
    plan_size=10,
    comparison_margin=9.1,
    atoms=(
        Atom(1, "chain wear", "", 1003.4, 0.25085, "high"),
        Atom(2, "sleepwalking", "", 500.2, 0.12505, "high"),
        Atom(3, "closed point", "", 210.7, 0.052675, "moderate"),
        Atom(4, "stolen helmet", "", 206.1, 0.051525, "moderate"),
        Atom(5, "flat pedals", "", 12.6, 0.00315, "trace"),
    ),
    noise=Noise("gaussian", 3.9),
)

SUPPORTED = {
    "words that can name no theme": """
Let us stroll through the published rows.
An inexact weight is all that the release gives.
The ombudsman told us that the plan is public.
In layman's terms, chain wear takes a quarter of the total.
It was agreed that the list is short.
No single cyclist can be found in the release.
Readers of this gazette wrote about five themes.
The shortest row, that of flat pedals, has 12.6.
""",
    "topics": """
Something was written on chain wear, and on flat pedals as well.
A line is devoted to stolen helmets.
Chain wear was kept, and so was sleepwalking.
Next to chain wear, the data speak of flat pedals.
""",
    "other forms of a label": """
Walking in one's sleep has 500.2.
The theft of a helmet that someone stole is moderate: stolen helmets have 206.1.
Points that closed have 210.7.
""",
    "denials of admission": """
Chain wear has not been dropped.
Chain wear is not absent from the list.
The list is not silent on chain wear.
If a theme is absent, nothing follows.
Chain wear turned out to be one of the themes.
It is not wrong to say that chain wear was kept.
""",
    "bounds and fractions": """
Upwards of a fifth of the base is chain wear.
Sleepwalking takes one eighth, and flat pedals about one three-hundredth.
Chain wear takes not even half of the total.
Chain wear is at nearly 26 %.
Sleepwalking has twelve and a half percent.
Sleepwalking has 125 per thousand.
Sleepwalking takes about thirteen out of every hundred units.
Chain wear has 1,003 of 4,000.
On a base of 4,000, chain wear has 1,003.
Chain wear has a thousand or more.
""",
    "numbers of something else": """
Minutes, item 4, of a public body.
Page 3 of 7.
There were two steps.
Prepared in June 2026.
Values below zero are due to noise.
You asked for examples, so here are two: chain wear and flat pedals.
Flat pedals is the lesser of the two when held against chain wear.
Chain wear beats flat pedals, noise or no noise.
35 more candidates were not released.
""",
    "places and comparisons": """
A total of 206.1 is recorded under stolen helmet.
Of chain wear and flat pedals, the larger is chain wear.
The bigger one, compared with flat pedals, is chain wear.
Flat pedals loses to chain wear.
Flat pedals is second to chain wear.
Flat pedals is not as large as chain wear.
The gap is wide enough to put chain wear over flat pedals.
Flat pedals trails all the others.
Chain wear has the edge over flat pedals.
""",
    "ranks": """
Sleepwalking ended up second.
In first, second and third place we see chain wear, sleepwalking and closed point.
The leaders: chain wear, sleepwalking, closed point, in that order.
Chain wear, sleepwalking and closed point occupy ranks one, two and three.
Gold goes to chain wear, silver to sleepwalking, bronze to closed point.
The ranking starts with chain wear, sleepwalking and closed point.
Behind all others comes flat pedals.
Chain wear is second to none.
Chain wear wins.
First on the list is chain wear.
1,003: chain wear
""",
    "bins and shares": """
Chain wear has a high rating.
Flat pedals is categorised as trace.
Chain wear is high rather than low.
People rarely commented on flat pedals.
Close to none of the base belongs to flat pedals.
""",
    "causes and advice": """
Readers should not panic.
You must take the figures with goodwill.
The annex explains the noise in full.
""",
}

CORRUPTED = {
    ("atom", "words that can name no theme"): """
The ombudsman was kept by the mechanism.
""",
    ("atom", "topics"): """
Something was written on chain wear, and on rusty gears as well.
A line is devoted to rusty gears.
There is something on rusty gears, too.
Rusty gears earned a line in the tally.
Chain wear was kept, and so was rusty gears.
Next to rusty gears, the data speak of flat pedals.
The mechanism let rusty gears through.
On the list, rusty gears has its own row.
Marked trace: rusty gears.
What else? Rusty gears.
**small text** is here.
""",
    ("atom", "denials of admission"): """
Chain wear has been dropped.
Chain wear is absent.
The list is silent on chain wear.
Chain wear is nowhere on the list.
Chain wear was passed over.
Chain wear did not make it.
Chain wear missed the cut.
Chain wear remained unpublished.
The plan says nothing about chain wear.
The list does not have chain wear on it.
It is wrong to say that chain wear was kept.
We do not hear about chain wear.
No line is devoted to chain wear.
The release comes without chain wear.
Chain wear did not come through.
""",
    ("number", "other forms of a label"): """
Walking in one's sleep has 700.2.
Points that closed have 310.7.
""",
    ("number", "bounds and fractions"): """
Upwards of a third of the base is chain wear.
Sleepwalking takes one fourth.
Flat pedals takes about one fiftieth.
Chain wear takes not even a tenth of the total.
Chain wear is at nearly 60 %.
Sleepwalking has twenty and a half percent.
Sleepwalking has 225 per thousand.
Sleepwalking takes about thirty out of every hundred units.
Chain wear has 2,003 of 4,000.
Chain wear has two thousand or more.
The figure for chain wear is anything but 1,003.
1,003 is wrong for chain wear.
""",
    ("number", "numbers of something else"): """
Three themes: chain wear and flat pedals have 12.6 and 700.
Chain wear has 4.
""",
    ("comparison", "places and comparisons"): """
Of flat pedals and chain wear, the larger is flat pedals.
The bigger one, compared with chain wear, is flat pedals.
Chain wear loses to flat pedals.
Chain wear is second to flat pedals.
Chain wear is not as large as flat pedals.
Stolen helmet is not as large as closed point.
The gap is wide enough to put flat pedals over chain wear.
Chain wear trails all the others.
Flat pedals has the edge over chain wear.
It is wrong to say that chain wear outweighs flat pedals.
Chain wear is no larger than flat pedals.
""",
    ("rank", "ranks"): """
Sleepwalking ended up third.
In first, second and third place we see chain wear, closed point and sleepwalking.
The leaders: chain wear, closed point, sleepwalking, in that order.
Chain wear, closed point and sleepwalking occupy ranks one, two and three.
Gold goes to sleepwalking, silver to chain wear.
The ranking starts with chain wear, closed point and sleepwalking.
Behind all others comes chain wear.
Flat pedals is second to none.
Flat pedals wins.
First on the list is flat pedals.
Chain wear is far from being the leading theme.
No other theme is as small as chain wear.
""",
    ("bin", "bins and shares"): """
Chain wear has a low rating.
Flat pedals is categorised as high.
People rarely commented on chain wear.
Chain wear lacks high support.
Chain wear lies outside the high band.
""",
    ("number", "bins and shares"): """
Close to none of the base belongs to chain wear.
Each and every one of the total belongs to chain wear.
""",
    ("atom", "causes and advice"): """
Mechanics should hire apprentices.
Rusty gears are to blame.
""",
}


def _cases(groups):
    return [(name, line) for name, text in groups.items() for line in text.strip().splitlines()]


@pytest.mark.parametrize(("name", "text"), _cases(SUPPORTED))
def test_true_sentences_pass(name, text):
    assert plans.verify(text, PLAN, UNIVERSE).violations == (), name


@pytest.mark.parametrize(("name", "text"), _cases(CORRUPTED))
def test_false_sentences_are_found_for_what_they_are(name, text):
    kind, group = name
    assert kind in {violation.kind for violation in plans.verify(text, PLAN, UNIVERSE).violations}, group


@pytest.mark.parametrize(
    "piece",
    ["wins, ", "gold and silver ", "absent ", "must gears ", "no larger than ", "first, second and ", "one hundredth "],
)
def test_new_rules_take_linear_time(piece):
    def clock(size):
        text = "chain wear " + piece * (size // len(piece))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            plans.verify(text, PLAN, UNIVERSE)
            best = min(best, time.process_time() - start)
        return best

    assert clock(80_000) < 9 * clock(20_000)  # 4 times the text; a quadratic rule takes some 16 times as long
