"""Wrong arguments of the baselines: each is refused by its own name, before anything private is read."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from privlib import baselines
from privlib.dp import Simulation
from privlib.synthesis import AnchoredBuckets

BUCKETS = AnchoredBuckets.at(np.eye(3), radius=0.5)
SPACE = baselines.PublicSpace(np.zeros(3), np.eye(3)[:, :2], 1.0, np.zeros((2, 2)))
ENCODER = SimpleNamespace(embed=len)
BUDGET = dict(epsilon=4.0, delta=1e-6)
VOTING = dict(generate=len, vary=len, embed=len, iterations=1, population=2, variations=2, **BUDGET)
MECHANISMS = {
    "votes": baselines.AugPE(**VOTING),
    "labelled votes": baselines.LabelledPE(categories=2, **VOTING),
    "curator": baselines.CuratorRelease(BUCKETS, **BUDGET),
    "local embeddings": baselines.LocalEmbeddings(BUCKETS, **BUDGET),
    "local buckets": baselines.LocalBuckets(BUCKETS, np.arange(3)[:, None], **BUDGET),
    "unary encoding": baselines.UnaryEncoding(1.0, 3),
    "keywords": baselines.KeywordHistogram(("skin", "food"), **BUDGET),
    "categories": baselines.CategoryHistogram(("skin", "food"), **BUDGET),
    "urania": baselines.UraniaStyle(space=SPACE, encoder=ENCODER, vocabulary=("skin", "food"), **BUDGET),
    "fine-tuning": baselines.DPFineTuning(learner=len, rate=0.5, epochs=1, expected_records=4, samples=2, **BUDGET),
}


class Unread:
    """Stands for private data: reading it fails the test."""

    def _read(self, *_, **__):
        raise AssertionError("private data was read")

    __array__ = __getitem__ = __iter__ = __len__ = __getattr__ = _read


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("noise", "got"), [(7, "int"), (None, "NoneType"), (Simulation, "the class Simulation")])
def test_noise_that_is_no_source_is_refused_before_private_data_is_read(name, noise, got):
    with pytest.raises(
        TypeError, match=rf"^noise must be a source, dp.Simulation\(seed\) or dp.Secure\(\), got {got}$"
    ):
        MECHANISMS[name].release(Unread(), noise)


def test_every_baseline_that_draws_noise_is_in_the_list():
    """Public names with a `release`: a new one joins."""
    named = {kind for kind in map(baselines.__dict__.get, baselines.__all__) if hasattr(kind, "release")}
    assert named == {type(mechanism) for mechanism in MECHANISMS.values()}
