"""Matching against the Hungarian method, and at size."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from privlib import quantization


def cost(private, targets, assigned, weights):
    return float(((private != targets[assigned]) @ weights).sum())


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 4), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_same_cost_as_the_assignment_of_all_pairs_and_common_mass_kept(seed, n, attributes, categories):
    generator = np.random.default_rng(seed)
    private = generator.integers(0, categories, (n, attributes))
    targets = generator.integers(0, categories, (n, attributes))
    weights = generator.choice([0.0, 0.5, 1.0, 3.0], attributes)
    for given_weights in (None, weights):
        used = np.ones(attributes) if given_weights is None else weights
        assigned = quantization.match(private, targets, given_weights)
        assert sorted(assigned) == list(range(n))
        pairs = (private[:, None] != targets[None]) @ used
        rows, columns = linear_sum_assignment(pairs)
        assert cost(private, targets, assigned, used) == pytest.approx(pairs[rows, columns].sum(), abs=1e-9)
        common = Counter(map(tuple, private.tolist())) & Counter(map(tuple, targets.tolist()))
        assert (private == targets[assigned]).all(axis=1).sum() == common.total()


def test_many_distinct_combinations():
    generator = np.random.default_rng(5)
    private, targets = generator.integers(0, 10**12, (2, 60, 6))
    targets[:, :3] = private[generator.permutation(60), :3]
    pairs = (private[:, None] != targets[None]).sum(axis=2)
    rows, columns = linear_sum_assignment(pairs)
    assigned = quantization.match(private, targets)
    assert cost(private, targets, assigned, np.ones(6)) == pairs[rows, columns].sum()


def test_a_million_rows_in_seconds():
    generator = np.random.default_rng(1)
    n, sizes = 10**6, (6, 3, 3)
    private = np.stack([generator.integers(0, size, n) for size in sizes], axis=1)
    law = [generator.dirichlet(np.ones(size)) for size in sizes]
    targets = np.stack([generator.choice(size, n, p=p) for size, p in zip(sizes, law, strict=True)], axis=1)
    began = time.process_time()
    assigned = quantization.match(private, targets)
    assert time.process_time() - began < 30
    assert np.bincount(assigned, minlength=n).max() == 1
    # The optimum is at least the largest total variation of a marginal, times n, for each attribute.
    moved = (private != targets[assigned]).sum(axis=0)
    for column, size in enumerate(sizes):
        gap = np.bincount(private[:, column], minlength=size) - np.bincount(targets[:, column], minlength=size)
        assert moved[column] >= np.maximum(gap, 0).sum()


def test_no_rows_and_one_row():
    assert quantization.match(np.zeros((0, 2), int), np.zeros((0, 2), int)).shape == (0,)
    assert quantization.match(np.array([[1]]), np.array([[0]])).tolist() == [0]


@pytest.mark.parametrize(
    ("private", "targets", "weights", "named"),
    [
        (np.zeros((2, 1), int), np.zeros((3, 1), int), None, "private"),
        (np.zeros((2, 1)), np.zeros((2, 1)), None, "private"),
        (np.zeros((2, 1), int), np.zeros((2, 1), int), [-1.0], "weights"),
        (np.zeros((2, 1), int), np.zeros((2, 1), int), [1.0, 1.0], "weights"),
    ],
)
def test_refusals(private, targets, weights, named):
    with pytest.raises(ValueError, match=named):
        quantization.match(private, targets, weights)
