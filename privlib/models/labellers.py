"""Labellers of three unrelated families, trained on public labelled text.

They label released text, and they attack it: an attack that succeeds with three families which read
text in different ways is not an artefact of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import checks
from privlib.models import encoders
from privlib.models.encoders import Encoder, strings

KINDS = ("linear", "bayes", "neighbours")


@dataclass(frozen=True)
class Labeller:
    """A family of labellers, not trained: `fit` gives the trained one. Raises as `labeller`.

    Attributes:
        kind: "linear", TF-IDF of words and word pairs with logistic regression; "bayes", multinomial
            naive Bayes on word counts; "neighbours", vote of the nearest embeddings, weighted by closeness.
        encoder: of the "neighbours" kind, else None.
        neighbours: how many of them vote, at least 1.
    """

    kind: str
    encoder: Encoder | None = None
    neighbours: int = 5

    def __post_init__(self) -> None:
        checks.one_of("kind", self.kind, KINDS)
        checks.settle(self, neighbours=checks.whole)
        if self.kind != "neighbours" and self.encoder is not None:
            raise ValueError(f"kind {self.kind!r} reads words and takes no encoder")
        if self.kind == "neighbours":
            checks.offers("encoder", self.encoder, "embed")

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> FittedLabeller:
        """A labeller trained on public texts and their labels; the same input gives the same labeller.

        Raises ValueError when lengths differ or fewer than two labels occur.
        """
        listed, gold = strings(texts), np.asarray(labels)
        if gold.shape != (len(listed),):
            raise ValueError(f"labels must have shape ({len(listed)},), one a text, got {gold.shape}")
        names = np.unique(gold)
        if len(names) < 2:
            raise ValueError(f"labels must hold two values or more to learn from, got {len(names)}")
        model = self._pipeline(len(listed))
        model.fit(self._features(listed), gold)
        return FittedLabeller(self, tuple(names.tolist()), model)

    def _features(self, listed: list[str]):
        return listed if self.encoder is None else self.encoder.embed(listed)

    def _pipeline(self, n_texts: int):
        from sklearn.pipeline import make_pipeline

        if self.kind == "linear":
            from sklearn.feature_extraction.text import TfidfVectorizer
            from sklearn.linear_model import LogisticRegression

            vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
            return make_pipeline(vectors, LogisticRegression(C=10.0, max_iter=1000))
        if self.kind == "bayes":
            from sklearn.feature_extraction.text import CountVectorizer
            from sklearn.naive_bayes import MultinomialNB

            return make_pipeline(CountVectorizer(), MultinomialNB())
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(min(self.neighbours, n_texts), weights="distance", algorithm="brute")


@dataclass(frozen=True, eq=False)
class FittedLabeller:
    """A trained labeller.

    Attributes:
        family: the untrained labeller it comes from.
        labels: the label values it can give, sorted.
        model: the fitted scikit-learn estimator.
    """

    family: Labeller
    labels: tuple
    model: object

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """One label a text: array of shape (n,) of values from `labels`."""
        listed = strings(texts)
        if not listed:
            return np.array([], dtype=np.asarray(self.labels).dtype)
        return self.model.predict(self.family._features(listed))

    def accuracy(self, texts: Sequence[str], gold: Sequence[str]) -> float:
        """Share of texts labelled as gold says. Raises ValueError without texts or with unequal lengths."""
        confusion = self.confusion(texts, gold)
        return float(np.trace(confusion) / len(np.asarray(gold)))

    def confusion(self, texts: Sequence[str], gold: Sequence[str]) -> np.ndarray:
        """Counts int64[a, a]: rows gold, columns predicted, both in the order of `labels`.

        Raises ValueError when there is no text, lengths differ, or gold holds a label never trained on.
        """
        listed, truth = strings(texts), np.asarray(gold)
        if truth.shape != (len(listed),) or not listed:
            raise ValueError(f"gold must have one label a text, got shape {truth.shape} for {len(listed)} texts")
        place = {label: i for i, label in enumerate(self.labels)}
        unknown = set(truth.tolist()) - place.keys()
        if unknown:
            raise ValueError(f"gold must hold only labels trained on, got {len(unknown)} other values")
        counts = np.zeros((len(place), len(place)), np.int64)
        rows = [place[label] for label in truth.tolist()]
        columns = [place[label] for label in self.predict(listed).tolist()]
        np.add.at(counts, (rows, columns), 1)
        return counts


def labeller(kind: str, encoder: Encoder | None = None, neighbours: int = 5) -> Labeller:
    """An untrained labeller of a family: "linear", "bayes" or "neighbours".

    Args:
        kind: one of `KINDS`.
        encoder: for "neighbours"; the packaged encoder when None.
        neighbours: for "neighbours", at least 1.
    Raises ValueError for an unknown kind, an encoder given to a family that reads words, or fewer neighbours than 1;
    TypeError for a number of neighbours that is no integer, or an encoder without `embed`.
    """
    if encoder is None and isinstance(kind, str) and kind == "neighbours":
        encoder = encoders.encoder()
    return Labeller(kind, encoder, neighbours)
