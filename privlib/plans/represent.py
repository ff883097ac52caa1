"""Vectors for texts, fitted on public text: what the assignment compares records and atoms with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from privlib.dp import checks


class Representation(Protocol):
    """Anything that turns n texts into n rows of length at most one (dense or CSR)."""

    def transform(self, texts: Sequence[str]) -> np.ndarray | sparse.csr_array: ...


@dataclass(frozen=True)
class Tfidf:
    """TF-IDF on words and word pairs, English function words dropped; rows have Euclidean length 1 (or 0)."""

    vectorizer: Any

    @classmethod
    def fit(cls, public_texts: Sequence[str]) -> Tfidf:
        """Vocabulary and document frequencies of public texts only.

        `public_texts`: at least one text with a word in it, else scikit-learn raises ValueError.
        Source: DP-SPIN, Sections 4.1 and 6 ("fitted only on public or auxiliary text").
        """
        from sklearn.feature_extraction.text import TfidfVectorizer

        public_texts = checks.texts("public_texts", public_texts)
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), stop_words="english", sublinear_tf=True, dtype=np.float64)
        return cls(vectorizer.fit(public_texts))

    def transform(self, texts: Sequence[str]) -> sparse.csr_array:
        """float64 CSR (n, vocabulary); words outside the vocabulary count for nothing."""
        return sparse.csr_array(self.vectorizer.transform(checks.texts("texts", texts)))


@dataclass(frozen=True)
class Embedding:
    """A public sentence encoder (an object with `.embed(texts) -> float[n, d]`) in place of TF-IDF.

    Texts are embedded one by one (`alone=True` where the encoder has it): in a batch the texts beside a text move its
    vector in the last bits, and a record that moved others would cost more than the stated sensitivity.
    """

    encoder: Any

    def transform(self, texts: Sequence[str]) -> np.ndarray:
        """float64 (n, d) with rows scaled to length 1 (rows of zeros stay)."""
        texts = checks.texts("texts", texts)
        if "alone" in signature(self.encoder.embed).parameters:
            rows = np.asarray(self.encoder.embed(texts, alone=True), dtype=np.float64)
        else:
            rows = np.array([self.encoder.embed([text])[0] for text in texts], dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
