"""Groups, users, exchanges, many equal releases, disjoint parts: what is stated, what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from privlib.dp import Guarantee, GuaranteeLoss, Partition, PrivacyCurve, advanced_composition, hockey_stick

ONE = Guarantee(0.5, 1e-3, "record", "add_drop", ("idealized numerics",), ("vector",))
PURE = dataclasses.replace(ONE, delta=0.0)


def telling_chain(epsilon, delta, size):
    """Log laws of datasets 0..size on the outcomes (bad, other): bad grows by the most that one step allows."""
    bad = [0.0]
    for _ in range(size):
        bad.append(math.exp(epsilon) * bad[-1] + delta)
    with np.errstate(divide="ignore"):
        return [np.log([share, 1 - share]) for share in bad]


@pytest.mark.parametrize("size", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_group_privacy_is_kept_and_attained(size, epsilon):
    """Each step of the chain is (epsilon, delta); its ends need the delta stated; size * delta is too little."""
    delta = 1e-4
    laws, grown = telling_chain(epsilon, delta, size), Guarantee(epsilon, delta, "record", "add_drop").group(size)
    for here, there in itertools.pairwise(laws):
        assert hockey_stick(there, here, epsilon) <= delta * (1 + 1e-9)
        assert hockey_stick(here, there, epsilon) <= delta * (1 + 1e-9)
    assert grown.epsilon == pytest.approx(size * epsilon, rel=1e-15)
    attained = hockey_stick(laws[-1], laws[0], grown.epsilon)
    assert attained == pytest.approx(grown.delta, rel=1e-9)
    assert attained <= grown.delta * (1 + 1e-12)
    assert hockey_stick(laws[0], laws[-1], grown.epsilon) <= grown.delta * (1 + 1e-9)
    if epsilon > 0 and size > 1:
        assert attained > size * delta


def test_groups_at_the_corners():
    assert PURE.group(3) == dataclasses.replace(PURE, epsilon=1.5, composed=("groups of 3: vector",))
    assert ONE.group(1) == ONE
    assert Guarantee(1.0, 1e-9, "record", "add_drop").group(2000).delta == 1.0
    assert Guarantee(math.inf, 1e-9, "record", "add_drop").group(2).delta == 1.0
    assert Guarantee(math.inf, 0.0, "record", "add_drop").group(2).epsilon == math.inf
    assert Fraction(Guarantee(0.1, 0, "record", "add_drop").group(3).epsilon) >= 3 * Fraction(0.1)
    with pytest.raises(ValueError, match="size"):
        ONE.group(0)


def test_from_records_to_users_the_bound_is_assumed_by_name():
    for_users = ONE.for_users(4)
    assert (for_users.unit, for_users.epsilon) == ("user", 2.0)
    assert for_users.delta == ONE.group(4).delta
    assert for_users.assumptions == ("idealized numerics", "at most 4 records a user")
    with pytest.raises(ValueError, match="unit"):
        for_users.for_users(2)
    with pytest.raises(ValueError, match="relation"):
        dataclasses.replace(ONE, relation="replace").for_users(2)


def test_opendp_2945_an_exchange_is_two_steps():
    exchanged = ONE.as_replace()
    assert (exchanged.relation, exchanged.epsilon, exchanged.delta) == ("replace", 1.0, ONE.group(2).delta)
    with pytest.raises(ValueError, match="relation"):
        exchanged.as_replace()


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("times", [1, 10, 100])
def test_advanced_composition_is_above_the_exact_curve_and_no_worse_than_addition(epsilon, times):
    slack = 1e-5
    said = advanced_composition(Guarantee(epsilon, 0.0, "record", "add_drop"), times, slack)
    exact = PrivacyCurve((GuaranteeLoss(epsilon),), "record", "add_drop", grid=1e-3).repeat(times)
    assert exact.epsilon(slack) <= said.epsilon <= times * epsilon * (1 + 1e-15)
    assert said.delta == slack
    if times == 100 and epsilon < 1:  # negative control: without the spread of the sum it is undercut
        assert times * epsilon * math.tanh(epsilon / 2) < exact.epsilon(slack)


def test_advanced_composition_pays_every_delta():
    said = advanced_composition(ONE, 3, 1e-5)
    assert Fraction(said.delta) >= 3 * Fraction(1e-3) + Fraction(1e-5)
    assert said.assumptions == ONE.assumptions
    assert said.composed == ("vector",) * 3


CELLS = Partition("outlet", ("bbc", "cnn"), "record")


def test_disjoint_units_pay_once_and_the_declaration_travels_by_name():
    together = CELLS.compose({"bbc": ONE, "cnn": dataclasses.replace(ONE, epsilon=0.9, delta=1e-5, assumptions=("x",))})
    assert (together.epsilon, together.delta) == (0.9, 1e-3)
    assert together.assumptions == ("idealized numerics", "x", "units disjoint by outlet")
    assert together.composed == ("bbc: vector", "cnn: vector")
    assert CELLS.compose({"bbc": ONE}).epsilon == 0.5


def test_parallel_composition_by_enumeration():
    """Counts of two cells with randomized parity, of unlike budgets: one record more or less keeps to the larger bill,
    and in one cell attains it; two in two cells (an exchange across cells) do not keep to it, which is why "replace"
    is refused."""
    bills = {"bbc": 0.8, "cnn": 0.5}
    tell = [np.array([[epsilon, 0.0], [0.0, epsilon]]) - np.logaddexp(epsilon, 0.0) for epsilon in bills.values()]

    def law(counts):
        return (tell[0][counts[0] % 2][:, None] + tell[1][counts[1] % 2][None, :]).ravel()

    stated = {cell: Guarantee(epsilon, 0.0, "record", "add_drop") for cell, epsilon in bills.items()}
    said = CELLS.compose(stated).epsilon
    assert hockey_stick(law((0, 0)), law((1, 0)), 0.99 * said) > 0
    for counts in np.ndindex(3, 3):
        for more in ((counts[0] + 1, counts[1]), (counts[0], counts[1] + 1)):
            for p, q in ((law(counts), law(more)), (law(more), law(counts))):
                assert hockey_stick(p, q, said + 1e-12) == 0
        moved = law((counts[0] + 1, counts[1] + 1))  # parity of one less in one cell, one more in the other
        assert hockey_stick(law(counts), moved, said + 1e-12) > 0.1


@pytest.mark.parametrize("relation", ["replace", "replace_with_null"])
def test_a_unit_that_may_move_between_cells_is_refused(relation):
    bills = {"bbc": dataclasses.replace(ONE, relation=relation), "cnn": dataclasses.replace(ONE, relation=relation)}
    with pytest.raises(ValueError, match="change its cell"):
        CELLS.compose(bills)
    fixed = dataclasses.replace(CELLS, fixed=True).compose(bills)
    assert (fixed.epsilon, fixed.assumptions[-1]) == (0.5, "units disjoint by outlet, cells fixed")


@pytest.mark.parametrize(
    "bills",
    [
        {},
        {"itv": ONE},
        {"bbc": ONE, "itv": ONE},
        {"bbc": dataclasses.replace(ONE, unit="user")},
        {"bbc": ONE, "cnn": dataclasses.replace(ONE, relation="replace")},
    ],
)
def test_what_was_not_declared_is_refused(bills):
    with pytest.raises(ValueError, match="guarantees must"):
        CELLS.compose(bills)


@pytest.mark.parametrize(
    "changes", [{"cells": ()}, {"cells": ("a", "a")}, {"unit": "row"}, {"cells": "ab"}, {"name": ""}, {"fixed": 1}]
)
def test_declarations_that_declare_nothing_are_refused(changes):
    with pytest.raises((TypeError, ValueError), match=next(iter(changes))):
        dataclasses.replace(CELLS, **changes)


def test_split_checks_the_declaration_without_naming_anyone():
    users = Partition("region", ("north", "south"), "user")
    rows = users.split(["u1", "u2", "u1"], ["north", "south", "north"])
    assert {cell: found.tolist() for cell, found in rows.items()} == {"north": [0, 2], "south": [1]}
    for units, cells in ((["u987", "u987"], ["north", "south"]), (["u987"], ["u987west"]), (["u987"], [])):
        with pytest.raises(ValueError, match="cell") as refusal:
            users.split(units, cells)
        assert "987" not in str(refusal.value)
