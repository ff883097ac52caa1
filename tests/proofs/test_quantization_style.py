"""Content and style (QuanText section IV-B): the dependence ratio, mutual information, and a slip in a proof."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.quantization import channel_sml, sml_bound


def dependence_ratio(channel):
    """L(Y; Z): largest ratio, over styles z and contents y1, y2, of Pr[z | y1] to Pr[z | y2] (equation 2)."""
    seen = channel[:, channel.max(axis=0) > 0]
    return float(np.max(seen.max(axis=0) / seen.min(axis=0))) if (seen > 0).all() else math.inf


def mutual_information(channel, prior):
    joint = prior[:, None] * channel
    independent = prior[:, None] * joint.sum(axis=0)
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))


styles = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.3, 1.0, 30.0]))


def drawn(seed, contents, kinds, concentration):
    generator = np.random.default_rng(seed)
    return (
        generator.dirichlet(np.full(kinds, concentration), size=contents),
        generator.dirichlet(np.full(contents, concentration)),
    )


@given(styles)
@settings(max_examples=200, deadline=None)
def test_proposition_iv1_ratio_bounds_mutual_information(parameters):
    channel, prior = drawn(*parameters)
    ratio = dependence_ratio(channel)
    assert mutual_information(channel, prior) <= math.log(ratio) + 1e-9
    if ratio < math.inf:  # and the leakage of style alone is below the bound's last term
        assert channel_sml(channel, np.arange(len(channel))) <= sml_bound(1, 2, 2, style=ratio) + 1e-9


@given(styles)
@settings(max_examples=100, deadline=None)
def test_ratio_is_one_exactly_at_independence_and_never_below(parameters):
    """So the independent case is l = 1, ln l = 0; Appendix B takes it as L = 0, which no law has."""
    channel, _ = drawn(*parameters)
    assert dependence_ratio(channel) >= 1
    same = np.repeat(channel[:1], len(channel), axis=0)
    assert dependence_ratio(same) == 1
    if dependence_ratio(channel) == 1:
        np.testing.assert_array_equal(channel, same)


def test_ratios_of_independent_rows_multiply():
    """Style of two rows drawn independently: the ratio for the dataset is the product, so l grows with n."""
    row = np.array([[0.6, 0.4], [0.3, 0.7]])
    pair = np.array([np.kron(row[a], row[b]) for a in range(2) for b in range(2)])
    assert dependence_ratio(pair) == pytest.approx(dependence_ratio(row) ** 2)
