"""The two histograms: sensitivities that hold and are attained, bills, noise of the stated scale, public shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib.baselines import CategoryHistogram, KeywordHistogram
from privlib.dp import Secure, Simulation, gaussian_noise_std

WORDS = ("heart", "sleep", "sugar", "winter", "zebra")
ANY_TEXT = st.text(alphabet="heartslpugwinz bH1\n", max_size=40) | st.lists(st.sampled_from(WORDS)).map(" ".join)


def built(kind, delta=1e-6, epsilon=1.0, **more):
    return kind(WORDS, epsilon, delta, **more)


@given(st.lists(ANY_TEXT, max_size=5), ANY_TEXT, st.integers(1, 6), st.integers(0, 5))
def test_one_record_more_moves_the_counts_by_no_more_than_is_paid_for(texts, extra, most, place):
    for mechanism in (built(KeywordHistogram, max_keywords=most), built(CategoryHistogram)):
        change = np.abs(mechanism.counts([*texts[:place], extra, *texts[place:]]) - mechanism.counts(texts))
        assert change.sum() <= mechanism.l1_sensitivity
        assert np.linalg.norm(change) <= mechanism.l2_sensitivity * (1 + 1e-15)


def test_the_sensitivities_are_attained():
    for most in (1, 2, 3, 5, 9):
        mechanism = built(KeywordHistogram, max_keywords=most)
        change = mechanism.counts(["zebra winter sugar sleep heart"]) - mechanism.counts([])
        assert change.sum() == mechanism.l1_sensitivity == min(most, 5)
        assert np.linalg.norm(change) == pytest.approx(mechanism.l2_sensitivity, rel=1e-15)
        assert mechanism.l2_sensitivity**2 >= min(most, 5)
    category = built(CategoryHistogram)
    assert (category.counts(["zebra"]) - category.counts([])).sum() == category.l1_sensitivity == 1


@pytest.mark.parametrize(("kind", "factor"), [(KeywordHistogram, 3), (CategoryHistogram, 1)])
def test_noise_has_the_scale_that_the_sensitivity_asks_for(kind, factor):
    """10 draws on 5,000 labels: the sample deviation is within 5 % except with probability below 1e-12 (chi-square,
    50,000 normals; for Laplace by its fourth moment 6, below 1e-9). Without the factor the test would fail."""
    more = {"max_keywords": 3} if kind is KeywordHistogram else {}
    source = Simulation(4)
    for delta, std in ((0.0, factor * math.sqrt(2)), (1e-6, gaussian_noise_std(1.0, 1e-6, math.sqrt(factor)))):
        mechanism = kind(tuple(f"label {k}" for k in range(5000)), 1.0, delta, **more)
        drawn = np.array([mechanism.release([], source.child("draw")).counts for _ in range(10)])
        assert drawn.std() == pytest.approx(std, rel=0.05)


def test_bills():
    assert built(KeywordHistogram, 0.0).guarantee.delta == 0
    guarantee = built(CategoryHistogram, epsilon=2.0).guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.unit, guarantee.relation) == (2.0, 1e-6, "record", "add_drop")
    secure = built(KeywordHistogram).release(["heart sleep"], Secure())
    assert secure.guarantee.epsilon <= 1.0
    assert "system entropy" in secure.guarantee.assumptions


def test_outside_categories_count_for_nothing_and_the_shape_is_public():
    mechanism = built(CategoryHistogram, epsilon=1e6)
    released = mechanism.release(["heart", "HEART", "unheard of", "", "heart"], Simulation(1))
    np.testing.assert_allclose(released.counts, [2, 0, 0, 0, 0], atol=1e-3)
    assert mechanism.release([], Simulation(1)).counts.shape == (5,)


def test_themes_are_the_largest_positive_counts():
    released = built(KeywordHistogram, epsilon=1e6).release(
        ["sleep", "sleep heart", "sleep heart sugar"], Simulation(1)
    )
    assert [theme.text for theme in released.themes(2)] == ["sleep", "heart"]
    told = built(KeywordHistogram, epsilon=0.01).release([], Simulation(3))
    assert all(theme.weight > 0 for theme in told.themes(5))
    assert len(told.themes(5)) == (told.counts > 0).sum() < 5


@pytest.mark.parametrize(
    ("labels", "epsilon", "delta", "name"),
    [
        ((), 1.0, 0.0, "labels"),
        (("a", "a"), 1.0, 0.0, "labels"),
        (("a", ""), 1.0, 0.0, "labels"),
        ("text", 1.0, 0.0, "labels"),
        (WORDS, 0.0, 0.0, "epsilon"),
        (WORDS, 1.0, 1.0, "delta"),
        (WORDS, 1.0, -1e-9, "delta"),
    ],
)
def test_bad_settings_are_refused_by_name(labels, epsilon, delta, name):
    with pytest.raises((TypeError, ValueError), match=name):
        KeywordHistogram(labels, epsilon, delta)


def test_max_keywords_is_checked_at_construction():
    with pytest.raises(ValueError, match="max_keywords"):
        built(KeywordHistogram, max_keywords=0)
