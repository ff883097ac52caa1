"""Wrong public arguments of models, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from privlib import models
from privlib.models.local import LocalLanguageModel

ENCODER = SimpleNamespace(embed=lambda texts: np.array([[len(text), 1.0] for text in texts]))

PUBLIC_ARGUMENTS = {
    "BigramModel": (models.BigramModel, dict(texts=["a b"]), dict(texts={"['a']"})),
    "BigramModel.complete": (
        models.BigramModel(["a b"]).complete,
        dict(prompts=["a"], max_new_tokens=3, temperature=0.5),
        dict(prompts={"[]", "['a']"}),
    ),
    "Labeller": (models.Labeller, dict(kind="neighbours", encoder=ENCODER, neighbours=5)),
    "labeller": (models.labeller, dict(kind="linear", neighbours=5)),
    "LoraLearner": (
        models.LoraLearner,
        dict(
            model=LocalLanguageModel("none", "", None),
            opening="Message:",
            rank=2,
            layers=8,
            learning_rate=1e-3,
            max_tokens=48,
            temperature=1.0,
            public_texts=("a",),
            batch=8,
        ),
        dict(opening={"a"}, public_texts={"[]", "['a']"}),
    ),
    "fit_radius": (
        lambda auxiliary_texts, quantile: models.fit_radius(ENCODER, auxiliary_texts, quantile),
        dict(auxiliary_texts=["a", "bc"], quantile=0.5),
    ),
}

NEED_NONE = (
    "Encoder FittedLabeller LanguageModel RememberedModel Vec2TextInverter encoder language_model nearest_distances "
    "remembered vec2text_inverter"
)
"""A protocol, what the library makes, what reads weights or a folder, and a function of vectors."""
