"""Wrong public arguments of baselines, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from privlib import baselines, synthesis

NOISY = dict(epsilon=4.0, delta=1e-6)
BUCKETS = synthesis.AnchoredBuckets.at(np.eye(3), radius=0.5)
POINTS = np.random.default_rng(0).standard_normal((30, 3))
ENCODER = SimpleNamespace(embed=lambda texts: np.array([[len(text), 1.0, 0.0] for text in texts]) / 50)
SPACE = baselines.PublicSpace(np.zeros(3), np.eye(3)[:, :2], 1.0, np.zeros((2, 2)))
VOTING = dict(iterations=1, population=2, variations=2, max_norm=1.0, public_seed=0, **NOISY)
MODELS = dict(generate=len, vary=len, embed=len)

PUBLIC_ARGUMENTS = {
    "AugPE": (baselines.AugPE, MODELS | VOTING),
    "LabelledPE": (baselines.LabelledPE, dict(categories=2, **MODELS, **VOTING)),
    "CuratorRelease": (baselines.CuratorRelease, dict(buckets=BUCKETS, threshold=100.0, count_share=0.25, **NOISY)),
    "LocalEmbeddings": (baselines.LocalEmbeddings, dict(buckets=BUCKETS, threshold=100, max_norm=1.0, **NOISY)),
    "LocalBuckets": (
        baselines.LocalBuckets,
        dict(buckets=BUCKETS, public_tags=np.arange(3)[:, None], threshold=100.0, count_share=0.5, **NOISY),
    ),
    "UnaryEncoding": (baselines.UnaryEncoding, dict(epsilon=1.0, values=3)),
    "UnaryEncoding.deviation": (baselines.UnaryEncoding(1.0, 3).deviation, dict(users=3)),
    "KeywordHistogram": (
        baselines.KeywordHistogram,
        dict(labels=("a", "b"), max_keywords=2, **NOISY),
        dict(labels={"['a']"}),
    ),
    "CategoryHistogram": (baselines.CategoryHistogram, dict(labels=("a", "b"), **NOISY), dict(labels={"['a']"})),
    "NoisyHistogram.themes": (baselines.NoisyHistogram(("a",), np.ones(1), None).themes, dict(most=1)),
    "UraniaStyle": (
        baselines.UraniaStyle,
        dict(
            space=SPACE,
            encoder=ENCODER,
            vocabulary=("a", "b"),
            rounds=2,
            smallest=2.0,
            max_keywords=2,
            shares=(0.3, 0.1, 0.6),
            **NOISY,
        ),
        dict(vocabulary={"['a']"}),
    ),
    "DPFineTuning": (
        baselines.DPFineTuning,
        dict(learner=len, rate=0.5, epochs=1, expected_records=4, clip_norm=1.0, samples=2, public_seed=0, **NOISY),
    ),
    "PublicSpace": (
        baselines.PublicSpace,
        dict(mean=np.zeros(3), directions=np.eye(3)[:, :2], radius=1.0, centres=np.zeros((2, 2))),
    ),
    "PublicSpace.fit": (baselines.PublicSpace.fit, dict(public_embeddings=POINTS, dims=2, clusters=2, seed=1)),
    "public_vocabulary": (baselines.public_vocabulary, dict(public_texts=["skin food"], size=2)),
    "keyword_rows": (
        lambda vocabulary, most: baselines.keyword_rows(["a"], vocabulary, most),
        dict(vocabulary=("skin",), most=1),
        dict(vocabulary={"['a']"}),
    ),
    "in_words": (baselines.in_words, dict(themes=(baselines.Theme("a", 1.0),)), dict(themes={"[]"})),
    "redact": (baselines.redact, dict(text="dry"), dict(text={"a"})),
    "SentenceReference": (
        lambda **public: baselines.SentenceReference(**public).summarize(["skin food doctor nurse here."]),
        dict(sentences=1, redacted=False, generate=None),
        dict(redacted={"True"}, generate={"None"}),
    ),
    "ClusterReference": (
        lambda **public: baselines.ClusterReference(**public).themes(["skin food", "food skin"]),
        dict(encoder=ENCODER, clusters=1, keywords=2, vocabulary=3, seed=0),
    ),
}

NEED_NONE = "NO_GUARANTEE BucketMeans Evolution LabelledEvolution Learner Session Theme TunedTexts UraniaRelease"
"""A constant, protocols, and records that the library makes."""
