from __future__ import annotations

import types

import numpy as np
import pytest

from privlib import models
from privlib.models import radius


def slow_nearest(vectors):
    out = []
    for i, row in enumerate(vectors.astype(float)):
        out.append(min(np.linalg.norm(row - other) for j, other in enumerate(vectors.astype(float)) if j != i))
    return np.array(out)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_nearest_distances_match_the_slow_twin(block, monkeypatch):
    monkeypatch.setattr(radius, "_BLOCK", block)
    vectors = np.random.default_rng(5).normal(size=(50, 6)).astype(np.float32)
    vectors[9] = vectors[31] + np.float32(1e-5)  # near duplicates keep their digits
    np.testing.assert_allclose(models.nearest_distances(vectors), slow_nearest(vectors), rtol=1e-9)


def test_radius_is_the_quantile_over_distinct_texts():
    points = {"a": 0.0, "b": 1.0, "c": 3.0, "d": 7.0}
    encoder = types.SimpleNamespace(embed=lambda texts: np.array([[points[t]] for t in texts], np.float32))
    texts = ["a", "b", "c", "d", "a", "a"]  # nearest distances 1, 1, 2, 4 without the copies
    assert models.fit_radius(encoder, texts, 0.5) == pytest.approx(1.5)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, float("nan")])
def test_a_quantile_outside_the_open_interval_is_refused(quantile):
    with pytest.raises(ValueError, match="quantile"):
        models.fit_radius(None, ["a", "b"], quantile)


def test_copies_of_one_text_give_no_radius():
    with pytest.raises(ValueError, match="two distinct"):
        models.fit_radius(None, ["a", "a"], 0.5)
