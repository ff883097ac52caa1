"""Encoders, language models and labellers: the only package that runs torch, and only when used.

`encoder()` texts to vectors, cached on disk; `language_model()` local or served generation and
scoring; `labeller(kind)` attackers of three families; `fit_radius` the neighbourhood radius of an
encoder; `vec2text_inverter` the published inverter of embeddings. Importing this package costs
numpy; torch, transformers and scikit-learn load on first use.
"""

from __future__ import annotations

from privlib.models.answers import RememberedModel, remembered
from privlib.models.bigrams import BigramModel
from privlib.models.encoders import Encoder, encoder
from privlib.models.finetuning import LoraLearner
from privlib.models.inverters import Vec2TextInverter, vec2text_inverter
from privlib.models.labellers import FittedLabeller, Labeller, labeller
from privlib.models.language_models import LanguageModel, language_model
from privlib.models.radius import fit_radius, nearest_distances

__all__ = [
    "BigramModel",
    "Encoder",
    "FittedLabeller",
    "Labeller",
    "LanguageModel",
    "LoraLearner",
    "RememberedModel",
    "Vec2TextInverter",
    "encoder",
    "fit_radius",
    "labeller",
    "language_model",
    "nearest_distances",
    "remembered",
    "vec2text_inverter",
]
