"""The verifier: every template report passes, every kind of corruption is found, no string breaks it."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import plans
from privlib.dp import Guarantee, Simulation
from privlib.plans.plan import Atom, Noise
from privlib.plans.verifier.tokens import tokenize

UNIVERSE = ("long wait", "rude staff", "parking fee", "cold food", "dirty room", "billing error")
UNIVERSE += tuple(f"zebra{k} crossing" for k in range(44))
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
TEMPLATE = plans.template()(PLAN, ())
KNOWN = pytest.mark.parametrize("universe", [UNIVERSE, None], ids=["universe", "alone"])

SUPPORTED = """
Long waits are the most common theme, with a mass of about 482 (24% of the public denominator), in the high bin.
The most common concern is long wait, and the second is rude staff.
Rude staff was mentioned with a support of roughly six percent.
Long wait is more common than rude staff.
Rude staff is less common than long wait.
Long wait and rude staff have masses of 482 and 121 respectively.
482.3 for long wait and 120.6 for rude staff.
Cold food is rare.
Less common than long wait is cold food.
Compared with rude staff, long wait is more common.
People waited a long time; it has support of about a quarter of the denominator.
Long wait tops the list. It accounts for twenty-four percent.
Cold food is the least supported theme.
Waiting time exceeds all others.
The top two themes are long wait and rude staff.
four hundred and eighty-two of mass: long wait.
Long wait: high. Rude staff: moderate.
More than 400 of the mass is for long wait.
Cold food is not the most common theme.
""".strip().splitlines()

CORRUPTED = [
    ("atom", "Dirty room is common."),
    ("atom", "Rooms were dirty."),
    ("atom", "The report says “billing error”."),
    ("atom", "Other complaints concern billing errors."),
    ("number", "Long wait has mass 300."),
    ("number", "Long wait has mass of three hundred."),
    ("number", "Rude staff has support 24%."),
    ("number", "Rude staff has support of twenty-four percent."),
    ("number", "Long wait has support 25%."),
    ("number", "Half of the records mention long wait."),
    ("number", "One in three mention long wait."),
    ("number", "Most customers mention long wait."),
    ("number", "Cold food and parking fee have masses of 115 and -3.2."),
    ("number", "More than 500 of the mass is for long wait."),
    ("number", "½ of the support is long wait."),
    ("comparison", "Rude staff is more common than long wait."),
    ("comparison", "Rude staff is more common than parking fee."),
    ("comparison", "Long wait is less frequent than cold food."),
    ("comparison", "Long wait is not more common than rude staff."),
    ("comparison", "Long wait is twice as common as rude staff."),
    ("comparison", "Cold food outweighs rude staff."),
    ("comparison", "Long wait is listed. Rude staff has higher support."),
    ("rank", "Parking fee is the most common theme."),
    ("rank", "Rude staff ranks third."),
    ("rank", "Long wait is the second most common concern."),
    ("rank", "The least common is long wait."),
    ("rank", "1. Rude staff\n2. Long wait"),
    ("rank", "The top two themes are long wait and parking fee."),
    ("bin", "Long wait is rare."),
    ("bin", "Cold food has high support."),
    ("bin", "Long wait, rude staff and cold food are common."),
]


@KNOWN
@pytest.mark.parametrize("text", SUPPORTED)
def test_supported_sentences_pass(text, universe):
    assert plans.verify(text, PLAN, universe).violations == ()


@KNOWN
@pytest.mark.parametrize(("kind", "text"), CORRUPTED)
def test_corrupted_sentences_are_found(kind, text, universe):
    verdict = plans.verify(text, PLAN, universe)
    assert kind in {violation.kind for violation in verdict.violations}
    assert not verdict.accepted


@KNOWN
@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("atom", "“cold food”: mass", "“dirty room”: mass"),
        ("number", "mass 482.3", "mass 382.3"),
        ("number", "24.12%", "42.12%"),
        ("number", "24.12%", "0.24%"),
        ("number", "mass 120.6", "mass 115.0"),
        ("number", "mass 482.3", "mass three hundred"),
        ("number", "of 4 themes", "of 7 themes"),
        ("number", "epsilon 1.0", "epsilon 0.1"),
        ("number", "denominator 2000.0", "denominator 3000.0"),
        ("comparison", "“long wait” has more", "“long wait” has less"),
        (
            "comparison",
            "“rude staff” has more support than “cold food”",
            "“rude staff” has more support than “parking fee”",
        ),
        ("rank", "2. “rude", "3. “rude"),
        ("rank", "theme is “long wait”", "theme is “rude staff”"),
        ("rank", "The most", "The least"),
        ("bin", "bin high", "bin low"),
        ("bin", "bin trace", "bin moderate"),
    ],
)
def test_one_corruption_of_the_template_is_one_kind_of_violation_at_its_place(kind, old, new, universe):
    assert TEMPLATE.count(old) == 1
    text = TEMPLATE.replace(old, new)
    verdict = plans.verify(text, PLAN, universe)
    assert {violation.kind for violation in verdict.violations} == {kind}
    assert any(abs(v.span[0] - TEMPLATE.index(old)) <= len(old) for v in verdict.violations)
    for violation in verdict.violations:
        start, end = violation.span
        assert 0 <= start < end <= len(text)


@KNOWN
def test_the_template_of_the_example_passes(universe):
    assert plans.verify(TEMPLATE, PLAN, universe) == plans.Verdict(True, ())


labels = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 /,.'%:;!?-]{0,18}[A-Za-z0-9]", fullmatch=True)
masses = st.one_of(st.floats(-50, 5000), st.floats(-1e12, 1e12), st.sampled_from([0.0, -0.04, 0.05, 1e300]))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(labels, masses), min_size=1, max_size=6, unique_by=lambda x: _key(x[0])), st.data())
def test_every_template_report_passes(pairs, data):
    """Whatever the public labels say, numbers, ranks and stops inside them included."""
    pairs = sorted(pairs, key=lambda pair: -pair[1])
    size = data.draw(st.integers(1, len(pairs)))
    atoms = tuple(
        Atom(rank, label, "", mass, max(0.0, mass) / 100.0, "low") for rank, (label, mass) in enumerate(pairs[:size], 1)
    )
    margin = data.draw(st.floats(0, 100))
    plan = plans.SemanticPlan(PLAN.mechanism, PLAN.guarantee, 100.0, len(pairs), size, margin, atoms, PLAN.noise)
    text = plans.template()(plan, ())
    for universe in (None, [label for label, _ in pairs]):
        assert plans.verify(text, plan, universe).violations == ()


@pytest.mark.parametrize("seed", range(20))
def test_every_released_plan_has_a_template_report_that_passes(seed):
    universe = plans.AtomUniverse(
        (
            "support",
            "mass",
            "more support",
            "top 10",
            "most",
            "1st class",
            "high",
            "U.S. care",
            "a / b",
            "e-mail",
            "two",
        ),
        manifest={"auxiliary_records": 100},
    )
    sketch = plans.Sketch(Simulation(seed).generator.gamma(1.0, 20.0, len(universe)), "record", 1.0)
    mechanism = plans.LaplacePlan(universe, epsilon=0.5, plan_size=6, unit="record", relation="replace")
    plan = mechanism.release(sketch, Simulation(seed))
    report = plans.report(plan, plans.template(), universe)
    assert report.attempts[0].verdict.violations == ()
    assert plans.verify(report.text, plan).violations == ()


def _key(label: str) -> str:
    return " ".join(re.sub(r"[\W_]", " ", label.casefold()).split())


PIECES = """long wait|rude|staff|more|than|most|the|top|10|1.|#|%|one in|half|twenty-|point|and|“|"|”|½|1e999|-
9,999,999|second|hundred|\u200b|İ|²|at least|compared with|/|0"""
PIECES = [*PIECES.replace("\n", "|").split("|"), "\n", "\ud800"]
fragments = st.lists(st.one_of(st.text(max_size=8), st.sampled_from(PIECES)), max_size=40)


@settings(max_examples=400, deadline=None)
@given(fragments)
def test_no_string_breaks_it(parts):
    for text in (" ".join(parts), "".join(parts)):
        for universe in (UNIVERSE, None):
            verdict = plans.verify(text, PLAN, universe)
            assert verdict.accepted == (not verdict.violations)
            assert all(0 <= v.span[0] < v.span[1] <= len(text) for v in verdict.violations)


HOSTILE = [
    "long ",
    "1",
    "1,000,",
    "“",
    '"long wait',
    "more than ",
    "one hundred ",
    "long wait, ",
    "a.",
    "\n",
    "long wait is ",
    "long wait ties ",
    "long wait, rude staff equal ",
    "no noise ",
    "the unit is ",
    "12,",
    "rank is 1 ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear_in_the_text(piece):
    """Eight times the text takes less than thirty times as long (a quadratic reader would take 64)."""
    short, long = (piece * (n // len(piece)) for n in (4_000, 32_000))
    plans.verify(short, PLAN, UNIVERSE)

    def seconds(text):
        runs = []
        for _ in range(2):
            start = time.process_time()
            plans.verify(text, PLAN, UNIVERSE)
            runs.append(time.process_time() - start)
        return min(runs)

    assert seconds(long) < 30 * max(seconds(short), 0.01)


def test_only_a_string_is_a_text():
    with pytest.raises(TypeError, match="text must be a string, got bytes"):
        plans.verify(b"long wait", PLAN)


def test_disguised_words_are_seen_through():
    for text in ("D\u200birty room", "ＤＩＲＴＹ ＲＯＯＭ", "dirty   rooms", "the room's dirty"):
        assert [v.kind for v in plans.verify(text, PLAN, UNIVERSE).violations] == ["atom"], text


def test_without_a_universe_words_from_nowhere_are_rejected_with_their_place():
    text = "Long wait is common. We thank the asbestos inspectors."
    (violation,) = plans.verify(text, PLAN).violations
    assert text[slice(*violation.span)] == "asbestos inspectors"
    assert plans.verify(text, PLAN, UNIVERSE).accepted


def test_words_of_two_labels_do_not_make_a_third():
    assert [v.kind for v in plans.verify("Some mention a parking wait.", PLAN).violations] == ["atom"]


@pytest.mark.parametrize("universe", ["long wait", b"long wait", {}, dict.fromkeys(UNIVERSE), 3, [*UNIVERSE[:-1], 7]])
def test_what_is_no_list_of_labels_is_no_universe(universe):
    with pytest.raises(TypeError, match="universe must be a sequence of str"):
        plans.verify("Dirty room.", PLAN, universe)


@pytest.mark.parametrize("universe", [[], (), ["x"], UNIVERSE[1:], (*UNIVERSE[1:], "x"), (*UNIVERSE[:-1], UNIVERSE[0])])
def test_a_universe_that_is_not_the_plans_is_refused(universe):
    with pytest.raises(ValueError, match="universe must"):
        plans.verify("Dirty room.", PLAN, universe)


def test_groups_of_digits_are_read_in_linear_time():
    def seconds(count):
        text = "1" + ",111" * count + ","
        start = time.process_time()
        plans.verify(text, PLAN)
        return time.process_time() - start

    seconds(10)
    assert seconds(20_000) < 2.0


def test_numbers_are_grouped_by_threes_or_not_at_all():
    read = [t.text for t in tokenize("1,234, 1,23 1234,567.5 12,345.5e2")]
    assert read == ["1,234", ",", "1", ",", "23", "1234", ",", "567.5", "12,345.5e2"]


BILLS = plans.SemanticPlan(
    "gaussian",
    Guarantee(1.0, 1e-6, "record", "add_drop"),
    public_denominator=2000.0,
    universe_size=6,
    plan_size=5,
    comparison_margin=9.1,
    atoms=(
        Atom(1, "long wait", "", 482.3, 0.24115, "high"),
        Atom(2, "billing error", "", 120.0, 0.06, "moderate"),
        Atom(3, "rude staff", "", 10.0, 0.005, "trace"),
    ),
    noise=Noise("gaussian", 3.9),
)


@pytest.mark.parametrize("universe", [UNIVERSE[:6], None], ids=["universe", "alone"])
@pytest.mark.parametrize(
    "text",
    """No noise was added.
Noise was not added.
The masses are noise-free.
These values are exact.
The unit is the user.
The unit is not the record.
The relation is replace.
Guarantee: epsilon 0, delta 0.
Guarantee: epsilon 1, delta 0.
Guarantee: epsilon 0.9, delta 1e-6.
"long wait" has mass 3.9 with noise.
"long wait": mass 2000 (denominator).
"long wait" comes first. It has mass 3.9 with noise.
"billing error" is not in the moderate bin.
"billing error" has no support.
"billing error" does not have mass 120.
"billing error" does not have a mass of 120.
"rude staff" is the number-one theme.
The rank of "rude staff" is one.
The rank of "rude staff" is 1.
"long wait" and "rude staff" are equally frequent.
"long wait" is on par with "rude staff".
"long wait" and "rude staff" tie.
"rude staff" comes before "long wait".
"long wait" comes after "rude staff".
"long wait" has Ⅻ percent.
"long wait" has mass 五百.
"long wait" has rank ⑨.
"long wait" is a dіrty theme.""".splitlines(),
)
def test_false_statements_about_the_release_are_found(text, universe):
    assert not plans.verify(text, BILLS, universe).accepted


@pytest.mark.parametrize("universe", [UNIVERSE[:6], None], ids=["universe", "alone"])
@pytest.mark.parametrize(
    "text",
    """All values are noisy.
The values are not exact.
The unit is the record.
The relation is add_drop.
Guarantee: epsilon 1, delta 1e-6.
The public denominator is 2000.
"long wait" comes first. The public denominator is 2000.
The noise has scale 3.9.
"billing error" is not in the high bin.
The rank of "rude staff" is three.
"long wait" comes before "rude staff".""".splitlines(),
)
def test_true_statements_about_the_release_pass(text, universe):
    assert plans.verify(text, BILLS, universe).violations == ()


@pytest.mark.parametrize("labels", [("why not", "say no"), ("say no", "rather not"), ("never again", "not first")])
def test_negations_inside_labels_negate_nothing(labels):
    atoms = tuple(Atom(k, name, "", 300.0 / k, 3.0 / k, "high") for k, name in enumerate(labels, 1))
    plan = plans.SemanticPlan(PLAN.mechanism, PLAN.guarantee, 100.0, 2, 2, 9.1, atoms, PLAN.noise)
    for universe in (labels, None):
        assert plans.report(plan, plans.template(), universe).attempts[0].verdict.violations == ()


def test_a_count_of_themes_is_no_label_that_ends_in_a_number():
    names = ("theme 1", "theme 2", "theme 3")
    atoms = tuple(Atom(k, name, "", 300.0 / k, 3.0 / k, "high") for k, name in enumerate(names[:2], 1))
    plan = plans.SemanticPlan(PLAN.mechanism, PLAN.guarantee, 100.0, 3, 2, 9.1, atoms, PLAN.noise)
    assert "3 themes" in plans.template()(plan, ())  # "theme 3" itself was not admitted
    for universe in (names, None):
        assert plans.verify(plans.template()(plan, ()), plan, universe).violations == ()
