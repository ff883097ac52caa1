"""Norms of texts' vectors before an encoder normalises them, by how long the texts are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.studies.synthesis_text_scores import student

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus
    from privlib.models import Encoder

NORM_BANDS = {name: ("rel", 1e-3) for name in ("norm", "norm_low", "norm_high")}
_PARTS = 4


def unnormed(encoder: Encoder) -> Encoder:
    """The encoder up to its pooling, where it normalises its vectors afterwards; itself where it does not."""
    from privlib import models

    if math.isinf(encoder.norm):
        return encoder
    return replace(models.encoder(encoder.folder, pooled=True), name=f"{encoder.name}, pooled")


def norms(encoder: Encoder, parts: Sequence[Corpus], count: int) -> pd.DataFrame:
    """Mean norm of the first `count` texts of each corpus, in quarters by number of words, with Student's interval.

    One row a (corpus, quarter): corpus, quarter, texts, words (mean of the quarter), norm, norm_low, norm_high.
    """
    import pandas as pd

    rows = []
    for part in parts:
        texts = part.texts[:count]
        words = np.array([len(text.split()) for text in texts])
        lengths = np.linalg.norm(encoder.embed(texts), axis=1)
        for quarter, places in enumerate(np.array_split(np.argsort(words, kind="stable"), _PARTS), start=1):
            mean, low, high = student(lengths[places])
            row = {"corpus": part.name, "quarter": quarter, "texts": len(places), "words": float(words[places].mean())}
            rows.append(row | {"norm": mean, "norm_low": low, "norm_high": high})
    return pd.DataFrame(rows)
