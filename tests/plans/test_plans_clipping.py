"""Clipping in whole multiples of the grid: the fast and the wide arithmetic are both exact, on either side of 2^63."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from privlib import plans
from privlib.plans.assign import GRID
from privlib.plans.sketch import clip_rows

STEP = int(1 / GRID)


def _by_hand(steps: list[int], bound: int) -> list[int]:
    total = sum(steps)
    return steps if total <= bound else [step * bound // total for step in steps]


@pytest.mark.parametrize(
    ("steps", "bound"),
    [
        ([STEP, 2 * STEP, 5], STEP),  # products far below 2^63
        ([2**42, 3, 2**41 + 1], STEP),  # a product of exactly 2^62
        ([2**43, 3, 2**41 + 1], STEP),  # a product of exactly 2^63: one too many for 64 bits
        ([2**43 - 1, 3, 2**41 + 1], STEP),  # the largest that fits
        ([2**50, 2**49 + 7, 1], 2**45 + 3),  # far above
        ([5, 6], STEP),  # nothing to clip
    ],
)
def test_shares_are_whole_numbers_rounded_down(steps, bound):
    rows = sparse.csr_array(np.array([steps], dtype=np.float64) * GRID)
    clipped = (clip_rows(rows, bound * GRID) / GRID).astype(np.int64).tolist()
    assert clipped == _by_hand(steps, bound)
    assert sum(clipped) <= max(bound, 0)


def test_users_with_ids_that_end_in_nul_stay_apart():
    vectors = sparse.csr_array(np.full((2, 1), 1.0))
    assert plans.user_sketch(vectors, ["a", "a\0"], 1.0).masses.tolist() == [2.0]
    assert plans.user_sketch(vectors, ["a", "a"], 1.0).masses.tolist() == [1.0]
