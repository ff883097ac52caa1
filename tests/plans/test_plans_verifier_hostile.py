"""No string breaks the verifier, and none takes more than linear time."""

from __future__ import annotations

import random
import time

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom, Noise

ADMITTED = ("long wait", "rude staff", "cold food")
UNIVERSE = (*ADMITTED, "dirty room", "billing error", "Loans / Fees / Late fee")
PLAN = plans.SemanticPlan(
    "gaussian",
    Guarantee(1.0, 1e-6, "record", "add_drop"),
    public_denominator=2000.0,
    universe_size=len(UNIVERSE),
    plan_size=3,
    comparison_margin=9.1,
    atoms=(
        Atom(1, "long wait", "waiting time", 482.3, 0.24115, "high"),
        Atom(2, "rude staff", "", 120.6, 0.0603, "moderate"),
        Atom(3, "cold food", "", -3.2, 0.0, "trace"),
    ),
    noise=Noise("gaussian", 3.9),
)

MARKS = [
    *"\u0301\u0308\u20dd\u202e\u2066\u2069\u200b\ufeff\u00ad\x00\x1b\x7f",  # combining, bidi, invisible, control
    *("\ud800", "\udfff", "\u2028", "\u2029", "\r", "\n", "\t", "\v"),
    *"“”„«»\"'`*_#|()[]{}<>/\\~=+-−–—%‰.,;:!?…",
]
DIGITS = [*"٣४৫௧๔０９Ⅻ⅓½²⑨五百", "1e999", "-1e-999", "9" * 400, "1,000,0", "0.0.0", ".5.", "1/0", "0/0", "½/½"]
WORDS = """
more than|less than|the first|second to last|third|half of|most of|hardly any of|no theme|not|never|the former|both
the remaining three|a hundred|one in|percent|per cent|times|is|has a mass of|ranks|comes|followed by|too close to call
denominator|epsilon|margin|in order|then|as well as|compared with|against|and|or|with|, which|because|should
the plan lists|was admitted|made the list|high|rarely|all the time|twenty-|point|million|thousandths|<b>|</b>|&amp;
**|```|$x^2$|long|wait|long wait|LONG WAIT|longwait|long wait482|482long wait|dirty|room|Late fee|Loans /|/ Fees
cold food|staff"""
WORDS = WORDS.strip().replace("\n", "|").split("|")


def hostile(seed: int) -> str:
    """One string of marks, digits of many scripts, claim words and pieces of labels, glued with or without blanks."""
    draw = random.Random(seed)
    pools = (MARKS, DIGITS, WORDS, WORDS, [chr(draw.randrange(0x110000)) for _ in range(8)])
    parts = [draw.choice(draw.choice(pools)) for _ in range(draw.randrange(1, 40))]
    if draw.random() < 0.2:
        parts.append(draw.choice(parts) * draw.randrange(2, 200))
    return draw.choice(["", " ", " ", "\n"]).join(parts)


@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_hostile_strings_get_a_verdict(block):
    """Each gets a verdict, with violations that lie in the text."""
    rejected = 0
    for seed in range(1000 * block, 1000 * (block + 1)):
        text = hostile(seed)
        for universe in (None,) if seed % 4 == 0 else (UNIVERSE,):
            verdict = plans.verify(text, PLAN, universe)
            assert verdict.accepted == (not verdict.violations)
            assert all(0 <= v.span[0] < v.span[1] <= len(text) for v in verdict.violations), ascii(text)
            assert {v.kind for v in verdict.violations} <= set(plans.verifier.KINDS)
        rejected += not verdict.accepted
    assert rejected > 300  # most make claims: the strings do reach the rules


REPEATED = {
    "items in a row": "1) long wait ",
    "numbered items": "no. 2 is long wait, ",
    "idioms of order": "long wait has to yield to cold food cannot keep up with ",
    "winners": "leaves long wait standing behind ",
    "addressees": "draft for the newsroom ",
    "reasons": "because it was released ",
    "nobody raised": "nobody raised it, ",
    "no medals": "without a medal ",
    "bounds": "more than ",
    "one token": "a",
    "digits": "7",
    "groups of digits": "1,000,",
    "fractions": "1/2/",
    "nested fractions": "one third of a half of ",
    "labels": "long wait ",
    "labels in a list": "long wait, rude staff and ",
    "label fragments": "long cold rude ",
    "slashes": "Loans / Fees / ",
    "quotes": "“",
    "quoted labels": '"long wait" ',
    "stand-ins": "long wait the former both ",
    "others": "long wait, all other themes ",
    "orders": "long wait is larger than rude staff and ",
    "one of two": "long wait is the larger of the two and ",
    "close": "long wait too close to call ",
    "denials": "long wait was not admitted and ",
    "numbers": "long wait has 482 and ",
    "gaps": "the gap between long wait and rude staff is 361, ",
    "ranks": "long wait first, rude staff second, ",
    "names from nowhere": "tall trees, long wait and ",
    "advice": "cooks should because ",
    "shares": "no theme takes most of ",
    "sentences": "It has 482. ",
    "lines": "long wait:\n",
    "marks": "e\u0301\u202e\x00 ",
    "emphasis": "**",
    "surrogates": "\ud800",
    "people": "every guest who raised ",
    "nobody": "nobody who ",
    "questions": "who leads? cold food. ",
    "verbs without object": "long wait leads, ",
    "echoes": "is it? it is indeed not ",
    "medals": "wins gold and silver, ",
    "items": "- carpets\n- long wait\n",
    "items between semicolons": "long wait; carpets; ",
    "steps of the method": "long wait, noise and ",
    "unranked": "does not rank cold food, ",
    "crowds": "almost all of them and hardly any guests raised long wait by few ",
    "unheard": "nobody mentioned carpets by no guest ",
    "sizes": "the plan lists two themes and ",
    "levels": "long wait is level with cold food and draws level with ",
    "crowns": "takes the first crown is the champion ",
}


def seconds(text: str) -> float:
    start = time.process_time()
    plans.verify(text, PLAN, UNIVERSE)
    return time.process_time() - start


@pytest.mark.parametrize("piece", REPEATED.values(), ids=REPEATED)
def test_every_repeated_pattern_takes_linear_time(piece):
    """Eight times the text takes less than 24 times as long: linear takes 8, quadratic 64.

    CPU time of this process, so that other processes do not count; the shorter of two runs of each size; a short run
    counts as 10 ms at least, so that the clock's steps do not. Three times the linear ratio is out of reach of caches.
    """
    short, long = (piece * (n // len(piece)) for n in (2_000, 16_000))
    base = min(seconds(short) for _ in range(2))
    assert min(seconds(long) for _ in range(2)) < 24 * max(base, 0.01)


@pytest.mark.parametrize("piece", ["a", "7", "**", "long wait "])
def test_a_megabyte_takes_four_times_as_long_as_a_quarter(piece):
    """The best of five runs of 1 MB is below 8 times that of 256 kB: linear takes 4, quadratic 16.

    CPU time of this process, so the machine's load does not count; between 4 and 8 there is room for what no longer
    fits a cache, and a short run counts as 50 ms at least.
    """
    best = [min(seconds(piece * (n // len(piece))) for _ in range(5)) for n in (1 << 18, 1 << 20)]
    assert best[1] < 8 * max(best[0], 0.05)


def mixed(block: int, length: int) -> str:
    """Hostile strings of one block of seeds in a row: labels, numbers, markup and Unicode, `length` characters."""
    parts, size = [], 0
    seed = block << 20
    while size <= length:
        parts.append(hostile(seed))
        size += len(parts[-1]) + 1
        seed += 1
    return " ".join(parts)[:length]


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("universe", [UNIVERSE, None], ids=["labels", "no labels"])
def test_a_mixed_megabyte_takes_four_times_as_long_as_a_quarter(block, universe):
    """1 MB of hostile strings in a row is read in less than 8 times the time of 256 kB, as above.

    The mixture of labels, numbers, marks, lines and Unicode reaches rules that no repeated piece does.
    """
    long = mixed(block, 1 << 20)
    best = []
    for text in (long[: 1 << 18], long):
        start = time.process_time()
        verdict = plans.verify(text, PLAN, universe)
        best.append(time.process_time() - start)
        assert not verdict.accepted
        assert all(0 <= v.span[0] < v.span[1] <= len(text) for v in verdict.violations)
    assert best[1] < 8 * max(best[0], 0.05)
