"""DP-SPIN, Section 5: the sensitivity table holds for all neighbours and is attained (P048-P052, P057, P059)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from privlib.plans.assign import GRID, keep_largest
from privlib.plans.sensitivity import sensitivity
from privlib.plans.sketch import record_sketch, user_sketch

M, K = 4, 3
scores = st.lists(st.floats(0, 1, allow_nan=False), min_size=M, max_size=M)
records = st.lists(scores, min_size=0, max_size=5)
bounds = st.sampled_from([GRID, 0.3, 1.0, 2.0, 2.5])


def rows(raw) -> sparse.csr_array:
    return sparse.csr_array(keep_largest(np.array(raw, dtype=float).reshape(-1, M), K))


def norms(change: np.ndarray) -> tuple[float, float, float]:
    return np.abs(change).sum(), np.sqrt((change**2).sum()), np.abs(change).max()


def within(change: np.ndarray, unit: str, relation: str, bound: float) -> bool:
    allowed = sensitivity(unit, relation, bound)
    l1, l2, coordinate = norms(change)
    return l1 <= allowed.l1 and l2 <= allowed.l2 and coordinate <= allowed.coordinate


def by_user(users: list[list], bound: float) -> np.ndarray:
    raw = [row for user in users for row in user]
    owner = [str(k) for k, user in enumerate(users) for _ in user]
    return user_sketch(rows(raw), owner, bound).masses


@given(st.lists(scores, min_size=1, max_size=8))
def test_every_assignment_row_is_sparse_nonnegative_and_of_mass_at_most_one(raw):
    for row in rows(raw).toarray():
        assert (row >= 0).all()
        assert np.count_nonzero(row) <= K
        assert row.sum() <= 1.0  # exact: entries lie on a dyadic grid


@given(records, scores)
def test_record_add_drop(raw, extra):
    change = record_sketch(rows([*raw, extra])).masses - record_sketch(rows(raw)).masses
    assert within(change, "record", "add_drop", 1.0)


@given(records, scores, scores)
def test_record_replace(raw, old, new):
    change = record_sketch(rows([*raw, old])).masses - record_sketch(rows([*raw, new])).masses
    assert within(change, "record", "replace", 1.0)


@given(st.lists(records, max_size=3), records, bounds)
def test_user_add_drop_whatever_the_number_of_records(users, extra, bound):
    assert within(by_user([*users, extra], bound) - by_user(users, bound), "user", "add_drop", bound)


@given(st.lists(records, max_size=3), records, records, bounds)
def test_user_replace(users, old, new, bound):
    assert within(by_user([*users, old], bound) - by_user([*users, new], bound), "user", "replace", bound)


@pytest.mark.parametrize("bound", [1.0, 2.0, 5.0])
def test_the_table_is_attained_by_explicit_pairs(bound):
    """Unit vectors: one for add/drop, two different ones for replace; users send more records than B lets through."""
    first, second = [1.0, 0, 0, 0], [0, 1.0, 0, 0]
    many = int(bound) + 3
    pairs = {
        "add_drop": by_user([[first] * many], bound) - by_user([], bound) if bound else None,
        "replace": by_user([[first] * many], bound) - by_user([[second] * many], bound),
    }
    for relation, change in pairs.items():
        allowed = sensitivity("user", relation, bound)
        l1, l2, coordinate = norms(change)
        assert (l1, coordinate) == (allowed.l1, allowed.coordinate)
        assert l2 == pytest.approx(allowed.l2, rel=1e-15)
    assert sensitivity("record", "add_drop") == sensitivity("user", "add_drop", 1.0)
    assert sensitivity("record", "replace") == sensitivity("user", "replace", 1.0)


def test_a_sketch_without_clipping_breaks_the_user_row():
    """Negative control: the property above is not vacuous."""
    unclipped = record_sketch(rows([[1.0, 0, 0, 0]] * 3)).masses
    assert not within(unclipped, "user", "add_drop", 1.0)


def test_integer_clipping_is_exact_for_a_user_of_many_records():
    """A million records of one user: the product of counts passes 2^63 and must not wrap."""
    n = 1_000_000
    ones = sparse.csr_array((np.ones(n), (np.arange(n), np.zeros(n, dtype=int))), (n, M))
    assert user_sketch(ones, np.full(n, "u"), 5.0).masses.tolist() == [5.0, 0, 0, 0]


@given(st.permutations(range(6)))
def test_the_sketch_does_not_depend_on_the_order_of_records(order):
    raw = np.random.default_rng(3).random((6, M))
    assert record_sketch(rows(raw[list(order)])).masses.tolist() == record_sketch(rows(raw)).masses.tolist()
