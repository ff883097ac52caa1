"""Edges of the centroid release: exactly at the threshold, and whether any two numbers share a draw."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import AnchoredBuckets, CentroidRelease

D, THRESHOLD = 6, 25
BUCKETS = AnchoredBuckets.at(np.eye(D)[:4], radius=0.4)
RELEASE = CentroidRelease(BUCKETS, 8.0, 1e-6, 0.5, THRESHOLD)


class KeepAll(Simulation):
    """Every record is sampled."""

    def child(self, name):
        return self

    def bernoulli(self, probability, size):
        return np.ones(size, dtype=bool)


@pytest.mark.parametrize("records", [THRESHOLD - 1, THRESHOLD, THRESHOLD + 1])
def test_a_bucket_is_released_from_the_threshold_on(records):
    """Non-strict, as billed: tau kept records are enough, tau - 1 are not."""
    out = RELEASE.release(np.tile(np.eye(D)[0], (records, 1)), KeepAll(1))
    assert out.counts.tolist() == ([records] if records >= THRESHOLD else [])


@pytest.mark.parametrize("length", [0.39, 0.41, 3.0, 1e6])
def test_one_record_weighs_at_most_the_clip_norm(length):
    """The record that differs is certainly sampled: the sum of 30 moves by at most 0.4, whatever the record's length.

    Embeddings far outside the ball of their cell are the point; the noise is the same in both releases.
    """
    data = np.tile(np.eye(D)[0], (30, 1))
    changed = data.copy()
    changed[0, 0] += length
    first, second = (RELEASE.release(rows, KeepAll(3)) for rows in (data, changed))
    moved = np.linalg.norm((second.centroids - first.centroids) * 30)
    assert moved <= 0.4 * (1 + 1e-9)
    assert moved == pytest.approx(min(length, 0.4), rel=1e-5)


def test_no_two_numbers_of_a_release_share_a_draw():
    """Four buckets of records at their anchors: all that is left of a sum is noise, and no two noises are equal."""
    out = RELEASE.release(np.repeat(np.eye(D)[:4], 60, axis=0), KeepAll(2))
    noise = (out.centroids - out.origins) * out.counts[:, None]
    assert noise.shape == (4, D)
    gaps = np.abs(noise.ravel()[:, None] - noise.ravel())[~np.eye(4 * D, dtype=bool)]
    assert gaps.min() > 1e-9  # two independent draws come that close with probability below 1e-6 in all
    assert np.abs(noise).min() > 0


def test_ids_are_a_keyed_hash_of_the_cell():
    out = RELEASE.release(np.repeat(np.eye(D)[:4], 60, axis=0), KeepAll(2))
    again = RELEASE.release(np.repeat(np.eye(D)[1:3], 60, axis=0), KeepAll(3))
    ids = out.ids(b"k" * 16)
    assert len(set(ids)) == 4
    assert ids[1:3] == again.ids(b"k" * 16)
    assert not set(ids) & set(out.ids(b"l" * 16))
    for key in (b"short", "k" * 16):
        with pytest.raises(ValueError, match="key"):
            out.ids(key)
