"""Renyi divergences, neighbours of small datasets, and the largest change of a query."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.dp import hockey_stick, largest_change, neighbouring_pairs, renyi_divergence, user_values


def logs(*probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def law(least=0):
    weights = st.lists(st.integers(least, 20), min_size=4, max_size=4).filter(any)
    return weights.map(lambda w: np.array(w) / sum(w))


# ------------------------------------------------------------------------------------------------- divergences
@settings(derandomize=True, deadline=None)
@given(p=law(), q=law(1), order=st.sampled_from([0.25, 0.5, 2.0, 3.0, 17.5]))
def test_renyi_is_the_sum_of_the_definition(p, q, order):
    slow = math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True) if a > 0)) / (order - 1)
    assert renyi_divergence(logs(*p), logs(*q), order) == pytest.approx(slow, rel=1e-9, abs=1e-12)


@settings(derandomize=True, deadline=None)
@given(p=law(), q=law(1))
def test_renyi_never_falls_in_the_order_and_meets_its_limits(p, q):
    """Orders 1 and infinity by their own formulas, and neighbours of 1 on both sides: no jump, no cancellation."""
    p_logs, q_logs = logs(*p), logs(*q)
    kullback_leibler = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    largest = max(math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    assert renyi_divergence(p_logs, q_logs, 1.0) == pytest.approx(kullback_leibler, abs=1e-12)
    assert renyi_divergence(p_logs, q_logs, math.inf) == pytest.approx(max(0.0, largest), abs=1e-12)
    for near in (1 - 1e-9, 1 + 1e-9):
        assert renyi_divergence(p_logs, q_logs, near) == pytest.approx(kullback_leibler, rel=1e-6, abs=1e-12)
    orders = [0.1, 0.5, 0.99, 1.0, 1.01, 2.0, 8.0, 64.0, 1e6, math.inf]
    curve = [renyi_divergence(p_logs, q_logs, order) for order in orders]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(curve))


def test_renyi_of_gaussians_on_a_fine_grid_is_the_closed_form():
    """Order times mu^2 / 2, the curve of zCDP: grid masses of N(0, 1) and N(mu, 1), far tails included."""
    x, mu = np.arange(-60, 60, 1 / 64), 0.75
    p, q = (-((x - centre) ** 2) / 2 - math.log(64 * math.sqrt(2 * math.pi)) for centre in (mu, 0.0))
    for order in (0.5, 1.0, 1.5, 2.0, 10.0, 40.0):
        assert renyi_divergence(p, q, order) == pytest.approx(order * mu**2 / 2, rel=1e-9)
        assert renyi_divergence(q, p, order) == pytest.approx(order * mu**2 / 2, rel=1e-9)


def test_renyi_corners():
    p, q = logs(0.5, 0.5, 0), logs(0, 0.5, 0.5)
    for order in (1.0, 1.5, math.inf):
        assert renyi_divergence(p, q, order) == math.inf
    assert renyi_divergence(p, q, 0.5) == pytest.approx(2 * math.log(2))
    assert renyi_divergence(logs(1, 0), logs(0, 1), 0.5) == math.inf
    assert renyi_divergence(p, logs(1e-300, 0.5, 0.5), math.inf) == pytest.approx(math.log(0.5) + 300 * math.log(10))
    for order in (0.5, 1.0, 2.0, math.inf):
        assert renyi_divergence(p, p, order) == 0.0
    # an order at which the powers themselves would overflow
    assert renyi_divergence(logs(0.9, 0.1), logs(1e-200, 1 - 1e-200), 1e5) == pytest.approx(460.4, rel=1e-3)
    tiny = logs(0.5 + 1e-8, 0.5 - 1e-8)
    assert renyi_divergence(tiny, logs(0.5, 0.5), 2.0) == pytest.approx(4e-16, rel=0.3)


@pytest.mark.parametrize("order", [0.0, -1.0, math.nan])
def test_renyi_orders_outside_the_range_are_refused(order):
    with pytest.raises(ValueError, match="order must"):
        renyi_divergence(logs(0.5, 0.5), logs(0.5, 0.5), order)


@pytest.mark.parametrize(("p", "q"), [(logs(1), logs(0.5, 0.5)), (logs(0.5, 0.4), logs(0.5, 0.5)), ([], [])])
def test_what_is_no_pair_of_laws_is_refused(p, q):
    with pytest.raises(ValueError, match="must"):
        renyi_divergence(p, q, 2.0)


@settings(derandomize=True, deadline=None)
@given(p=law(1), q=law(1))
def test_order_infinity_is_the_smallest_pure_epsilon(p, q):
    epsilon = renyi_divergence(logs(*p), logs(*q), math.inf)
    assert hockey_stick(logs(*p), logs(*q), epsilon + 1e-9) == 0
    if epsilon > 1e-3:
        assert hockey_stick(logs(*p), logs(*q), epsilon - 1e-3) > 0


# -------------------------------------------------------------------------------------------------- neighbours
def differ_in_one_place(first, second):
    return len(first) == len(second) and sum(a != b for a, b in zip(first, second, strict=True)) == 1


def is_one_more(smaller, larger):
    return any(larger[:place] + larger[place + 1 :] == smaller for place in range(len(larger)))


def everything(values, sizes):
    return [data for size in sizes for data in itertools.product(values, repeat=size)]


RELATED = {
    "add_drop": (lambda a, b: is_one_more(a, b), {}, "ab", range(4)),
    "replace": (differ_in_one_place, {}, "ab", range(4)),
    "replace_with_null": (
        lambda a, b: differ_in_one_place(a, b) and null_differs(a, b),
        {"null": "-"},
        "ab-",
        range(4),
    ),
}


def null_differs(first, second):
    return any(a != "-" == b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("relation", RELATED)
def test_neighbours_are_those_of_the_definition_and_all_of_them(relation):
    """The twin filters all pairs of all datasets by the definition."""
    related, extra, values, sizes = RELATED[relation]
    data = everything(values, sizes)
    expected = {(a, b) for a in data for b in data if related(a, b)}
    assert set(neighbouring_pairs("ab", 3, relation, **extra)) == expected
    assert expected


def test_a_user_is_exchanged_whole():
    users = user_values("ab", 2)
    assert users == ((), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"))
    pairs = set(neighbouring_pairs(users, 2, "replace"))
    assert ((("a", "a"), ()), (("b", "b"), ())) in pairs
    added = set(neighbouring_pairs(users, 2, "add_drop"))
    assert ((("a",),), (("a",), ("b", "b"))) in added
    nulled = set(neighbouring_pairs(users, 1, "replace_with_null", null=()))
    assert nulled == {((user,), ((),)) for user in users if user}


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("ab", 2, "swap"), {}),
        (("ab", 0, "replace"), {}),
        (("ab", 2, "replace_with_null"), {}),
        (("ab", 2, "add_drop"), {"null": "-"}),
    ],
)
def test_neighbours_need_a_relation_and_its_null(arguments, extra):
    with pytest.raises(ValueError, match="must"):
        neighbouring_pairs(*arguments, **extra)


# ------------------------------------------------------------------------------------------------ sensitivities
def histogram(data):
    return [data.count(0), data.count(1), data.count(2)]


@pytest.mark.parametrize(
    ("relation", "extra", "l1", "l2_squared", "coordinate"),
    [("add_drop", {}, 1, 1, 1), ("replace", {}, 2, 2, 1), ("replace_with_null", {"null": None}, 1, 1, 1)],
)
def test_sensitivity_of_a_histogram_under_each_relation(relation, extra, l1, l2_squared, coordinate):
    change = largest_change(histogram, neighbouring_pairs(range(3), 3, relation, **extra))
    assert (change.l1, change.l2_squared, change.coordinate) == (l1, l2_squared, coordinate)
    assert change.within(l1=l1, l2=math.nextafter(math.sqrt(l2_squared), 2), coordinate=coordinate)
    assert not change.within(l1=l1 - 1e-9)
    assert not change.within(coordinate=0.5)
    first, second = change.witnesses[0]
    assert np.abs(np.subtract(histogram(first), histogram(second))).sum() == l1


def test_opendp_2945_a_user_of_k_rows_changes_2k_when_replaced():
    """At most k rows a user: adding or dropping a user moves a histogram by k, exchanging one by 2k, not k."""
    k, users = 3, user_values(range(2), 3)

    def counts(data):
        rows = list(itertools.chain.from_iterable(data))
        return [rows.count(0), rows.count(1)]

    assert largest_change(counts, neighbouring_pairs(users, 2, "add_drop")).l1 == k
    replaced = largest_change(counts, neighbouring_pairs(users, 2, "replace"))
    assert replaced.l1 == 2 * k
    assert not replaced.within(l1=k)


def test_smartnoise_core_356_a_mean_moves_more_than_the_bounds_over_the_count_at_hand():
    """Bounds [0, 1], add/drop, all datasets of 0 to 4 records: (U - L) / n of the data at hand is no sensitivity."""
    pairs = list(neighbouring_pairs((0.0, 1.0), 4, "add_drop"))
    mean = largest_change(lambda data: sum(data) / max(1, len(data)), pairs)
    assert mean.l1 == 1  # from nobody to one record
    assert mean.witnesses[0] == ((), (1.0,))
    assert not mean.within(l1=1 / 4)
    # sum and count, noised together, have the stated sensitivity, the empty dataset included
    assert largest_change(lambda data: [sum(data), len(data)], pairs).within(l1=2.0, coordinate=1.0)


def test_opendp_2923_float_rounding_of_a_mean_exceeds_its_sensitivity():
    """1024 values near 2^50, one moved by 1/4: a float mean moves by far more than 1/4096, an exact one by 1/4096."""
    base, stated, pairs = np.full(1024, 2.0**50 + 0.25), 0.25 / 1024, []
    for index in range(0, 1024, 16):
        moved = base.copy()
        moved[index] -= 0.25
        pairs.append((tuple(base.tolist()), tuple(moved.tolist())))
    naive = largest_change(lambda data: np.mean(data), pairs)
    exact = largest_change(lambda data: float(sum(map(Fraction, data)) / 1024 - 2**50), pairs[:3])
    assert naive.l1 > 1.6 * Fraction(stated)
    assert not naive.within(l1=stated)
    assert exact.l1 == Fraction(stated)
    assert exact.within(l1=stated)


def test_rounding_is_not_ours():
    """A change of one ulp above the claim is seen: differences are exact fractions."""
    change = largest_change(lambda data: 0.1 + 0.2 if data else 0.0, [((), (1,))])
    assert not change.within(l1=0.3)
    assert change.within(l1=0.1 + 0.2, l2=0.1 + 0.2, coordinate=0.1 + 0.2)


def test_a_query_that_leaves_out_one_place_is_found():
    """opendp#2707's loop that starts at one: only ordered datasets show that the first record counts for nothing."""
    lazy = largest_change(lambda data: sum(data[1:]), [((0, 0), (1, 0))])
    assert lazy.l1 == 0
    assert largest_change(lambda data: sum(data[1:]), neighbouring_pairs((0, 1), 2, "replace")).l1 == 1


@pytest.mark.parametrize(
    ("query", "pairs", "words"),
    [
        (sum, [], "at least one pair"),
        (list, [((1,), (1, 2))], "one shape"),
        (lambda data: math.nan, [((), (1,))], "finite"),
    ],
)
def test_what_has_no_largest_change_is_refused(query, pairs, words):
    with pytest.raises(ValueError, match=words):
        largest_change(query, pairs)


def test_within_needs_a_declared_sensitivity():
    change = largest_change(sum, [((0,), (1,))])
    with pytest.raises(ValueError, match="at least one"):
        change.within()
    with pytest.raises(ValueError, match="l1"):
        change.within(l1=-1.0)
