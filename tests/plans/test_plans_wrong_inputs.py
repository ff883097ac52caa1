"""Wrong arguments of the plans: each is refused by its own name, before anything private is read."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.plans.universe import default_denominator

LABELS = ("dry skin", "long wait", "cold food", "rude staff")
UNIVERSE = plans.AtomUniverse(LABELS, manifest={"auxiliary_records": 40}, representation=plans.Tfidf.fit(LABELS))
TEXTS = ["dry skin again", "a long wait"]
PUBLIC = dict(epsilon=1.0, delta=1e-6, plan_size=2, unit="record", relation="add_drop")
PLAN = plans.GaussianPlan(UNIVERSE, **PUBLIC).release(plans.sketch(TEXTS, UNIVERSE), Simulation(1))


def gaussian(**changes):
    return plans.GaussianPlan(UNIVERSE, **PUBLIC | changes)


def user_level(**changes):
    users = dict(unit="user", contribution_bound=1.0, public_denominator=9.0)
    return gaussian(**users | changes)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        # another unit was taken for users, without a word
        (
            lambda: plans.sketch(TEXTS, UNIVERSE, unit="person"),
            ValueError,
            "^unit must be one of record, user; got 'pers",
        ),
        (lambda: plans.sketch(TEXTS, UNIVERSE, unit=None), ValueError, "^unit must be one of"),
        (lambda: gaussian(unit="person"), ValueError, "^unit must be one of record, user; got 'person'"),
        (lambda: gaussian(unit=None), ValueError, "^unit must be one of"),
        (lambda: default_denominator(UNIVERSE, "person", 1.0), ValueError, "^unit must be one of"),
        # a text was taken for a sequence of its letters
        (lambda: plans.AtomUniverse("abc"), TypeError, "^labels must be a sequence of str, got str"),
        (lambda: plans.AtomUniverse(("a", "b"), "ab"), TypeError, "^descriptions must be a sequence of str, got str"),
        (lambda: plans.phrase_universe("one string"), TypeError, "^auxiliary must be a sequence of str, got str"),
        (
            lambda: plans.phrase_universe([1, 2]),
            TypeError,
            "^auxiliary must be a sequence of str, got an entry of type int",
        ),
        (lambda: plans.phrase_universe(None), TypeError, "^auxiliary must be a sequence of str, got NoneType"),
        (lambda: plans.phrase_universe([]), ValueError, "^auxiliary must hold texts, got none"),
        (
            lambda: plans.metadata_universe(SimpleNamespace(attributes={}), fields="mood"),
            TypeError,
            "^fields must be a sequence of str, got str",
        ),
        (
            lambda: plans.phrase_universe(TEXTS, support_threshold=-1),
            ValueError,
            "^support_threshold must be .* 1, got -1",
        ),
        (
            lambda: plans.phrase_universe(TEXTS, support_threshold="3"),
            TypeError,
            "^support_threshold must be .* got '3'",
        ),
        # texts where numbers are meant
        (lambda: gaussian(epsilon="1"), TypeError, "^epsilon must be a number, got '1'"),
        (lambda: gaussian(epsilon=None), TypeError, "^epsilon must be a number, got None"),
        (lambda: gaussian(public_denominator="9"), TypeError, "^public_denominator must be a number, got '9'"),
        (lambda: gaussian(comparison_margin="9"), TypeError, "^comparison_margin must be a number, got '9'"),
        (lambda: user_level(contribution_bound="2"), TypeError, "^contribution_bound must be a number, got '2'"),
        (lambda: plans.sensitivity("user", "replace", "2"), TypeError, "^contribution_bound must be a number, got '2'"),
        (
            lambda: plans.sketch(TEXTS, UNIVERSE, unit="user", contribution_bound="2"),
            TypeError,
            "^contribution_bound must be a number, got '2'",
        ),
        (lambda: plans.Sketch(np.ones(4), "user", "2"), TypeError, "^contribution_bound must be a number, got '2'"),
        (
            lambda: plans.PrivateTopLPlan(UNIVERSE, selection_share="half", **PUBLIC),
            TypeError,
            "^selection_share must be",
        ),
        (lambda: plans.difference_quantile(PLAN.noise, "0.9"), TypeError, "^probability must be a number, got '0.9'"),
        (lambda: plans.top(np.ones(4), "2"), TypeError, "^plan_size must be an integer, got '2'"),
        (
            lambda: plans.value_errors(np.ones(4), [0], ["x"]),
            TypeError,
            "^values must be an array of real .* got texts",
        ),
        # other objects
        (lambda: plans.sketch(UNIVERSE, TEXTS), TypeError, "^universe must be an AtomUniverse, got list"),
        (lambda: plans.metadata_universe([]), TypeError, "^auxiliary must be texts with attributes, got list"),
        (lambda: gaussian(bin_edges=[0.1]), TypeError, "^bin_edges must map names to supports, got list"),
        (lambda: plans.report(PLAN, "template"), TypeError, "^decoder must be a Decoder such as template.*, got str"),
        (lambda: plans.report(PLAN, plans.template), TypeError, "^decoder must be .* got template without its call"),
        (
            lambda: gaussian().release(plans.sketch(TEXTS, UNIVERSE), Simulation),
            TypeError,
            "^noise must be a source, .* got the class Simulation",
        ),
    ],
)
def test_a_wrong_argument_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_without_user_ids_the_message_says_how_to_read_them():
    """The universe of public texts without ids: the number of users cannot be counted."""
    with pytest.raises(
        ValueError,
        match=r"^public_denominator must be given for unit 'user': the public texts have no user ids "
        r"\(read them with unit=<column>, or state the number of users\)$",
    ):
        user_level(public_denominator=None)
    bare = plans.AtomUniverse(LABELS)
    with pytest.raises(ValueError, match=r"for unit 'record': the universe's manifest has no 'auxiliary_records'"):
        default_denominator(bare, "record", 1.0)


def test_masses_that_are_no_numbers_are_not_shown():
    with pytest.raises(TypeError, match=r"^masses must be an array of real numbers, got texts$") as caught:
        plans.Sketch(["a secret of some length"], "record", 1.0)
    assert "secret" not in str(caught.value)
