"""Utility metrics against hand-made cases."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import plans

MASSES = np.array([10.0, 8.0, 8.0, 2.0, 0.0])


def test_top_and_its_ties():
    assert plans.top(MASSES, 2).tolist() == [0, 1]
    assert plans.top(np.zeros(3), 2).tolist() == [0, 1]


def test_a_perfect_and_a_poor_plan():
    perfect, poor = np.array([1, 0]), np.array([3, 4])
    measures = (plans.overlap, plans.mass_retained, plans.loss)
    assert [measure(MASSES, perfect) for measure in measures] == [1, 1, 0]
    assert [measure(MASSES, poor) for measure in measures] == [0, 2 / 18, 16]


def test_a_plan_can_miss_an_atom_and_keep_all_mass():
    """The pair behind P014 and P015: equal masses at the border."""
    swapped = np.array([0, 2])
    assert plans.overlap(MASSES, swapped) == 0.5
    assert plans.mass_retained(MASSES, swapped) == 1.0


def test_undefined_is_an_error_not_a_number():
    with pytest.raises(ValueError, match="undefined"):
        plans.mass_retained(np.zeros(3), np.array([0]))


@pytest.mark.parametrize("indices", [np.array([0, 0]), np.array([9]), np.array([-1]), np.array([]), np.array([0.0])])
def test_indices_are_checked(indices):
    with pytest.raises(ValueError, match=r"^admitted must be"):
        plans.loss(MASSES, indices)


def test_value_errors_are_of_raw_values_at_the_indices():
    errors = plans.value_errors(MASSES, np.array([0, 3]), np.array([13.0, -2.0]))
    assert errors == {"linf": 4.0, "l1": 7.0, "l2": 5.0}
