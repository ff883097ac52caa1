"""Algorithm 1 of QuanText by brute force: matching, and what moving the secret alone leaks."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import quantization
from privlib.dp import Simulation


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_matching_changes_the_fewest_attributes_of_all_permutations(seed, n, attributes):
    generator = np.random.default_rng(seed)
    private, targets = generator.integers(0, 3, (2, n, attributes))
    fewest = min((private != targets[list(p)]).sum() for p in itertools.permutations(range(n)))
    assert (private != targets[quantization.match(private, targets)]).sum() == fewest


def test_the_secret_is_a_function_of_the_attributes_alone():
    """Section III's core assumption, by type: a Share sees labels, the mechanism's choice sees labels."""
    assert list(inspect.signature(quantization.Share.__call__).parameters) == ["self", "labels"]
    labels = np.random.default_rng(1).integers(0, 2, (50, 2))
    schema = quantization.Schema((("a", ("x", "y")), ("b", ("x", "y"))))

    class Corpus:
        attributes = schema.decode(labels)
        texts = ("one text",) * 50

    class Other(Corpus):
        texts = ("another",) * 50

    tree = quantization.chow_liu(Corpus, schema)
    ours = quantization.RandomizedQuantization(tree, 6, 2, public_seed=1, pool_size=20)
    one, other = (ours.release(corpus, Simulation(1)) for corpus in (Corpus, Other))
    np.testing.assert_array_equal(one.targets, other.targets)


def test_moving_the_secret_alone_leaks_through_a_correlated_attribute():
    """Diagnosis moved to a fixed share, age left alone: age tells the share. Quantizing both does not.

    Pr[old | ill] = .9, Pr[old | well] = .1 are public; 20,000 rows; the attacker inverts the share of old.
    Standard error of that inversion: at most .0045, so .03 is beyond 6 sd (false alarm below 1e-9).
    """
    generator = np.random.default_rng(4)
    for share in (0.2, 0.5, 0.7):
        ill = generator.random(20_000) < share
        old = generator.random(20_000) < np.where(ill, 0.9, 0.1)
        assert abs((old.mean() - 0.1) / 0.8 - ill.mean()) < 0.03  # whatever the released diagnosis says
        labels = np.stack([ill, old], axis=1).astype(int)
        tree = quantization.chow_liu(labels[:1000], [2, 2])
        ours = quantization.RandomizedQuantization(tree, 24, 12, public_seed=3, pool_size=240)
        errors = []
        for seed in range(12):
            released = ours.release(labels, Simulation(seed)).labels
            errors.append(abs((released[:, 1].mean() - 0.1) / 0.8 - ill.mean()))
        assert np.mean(errors) > 0.06
