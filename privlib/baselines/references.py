"""References without privacy: what a summary can be when nothing is protected. They show what leaks, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from privlib.baselines.keywords import check_texts, content_words, keyword_rows, public_vocabulary
from privlib.baselines.redaction import redact
from privlib.baselines.themes import Theme
from privlib.dp import checks

NO_GUARANTEE = "none"

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_SHORTEST, _LONGEST = 4, 40  # content words; more than that without a full stop is no sentence
_SAME = 0.7  # cosine above which two sentences say the same

Generate = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class SentenceReference:
    """Direct summarization: the sentences nearest to the centroid of all protected sentences, quoted. Guarantee: none.

    TF-IDF on the protected sentences of 4 to 40 content words; greedily the nearest to the mean row, none of cosine
    above 0.7 to one chosen. Deterministic. `sentences` >= 1. `redacted`: every text is first blanked by `redact`.
    `generate` (prompts -> texts): a language model then rewrites the quoted sentences; None leaves the quotes.
    Source: Radev, Jing, Stys and Tam 2004 (centroid); DP-SPIN, Section 6 names the references, not how they are made.
    """

    guarantee: ClassVar[str] = NO_GUARANTEE

    sentences: int = 5
    redacted: bool = False
    generate: Generate | None = None

    def summarize(self, private: Sequence[str]) -> str:
        """A summary that quotes protected texts. Raises ValueError when no sentence has 4 to 40 content words."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        most = checks.whole("sentences", self.sentences, at_least=1)
        checks.truth("redacted", self.redacted)
        if self.generate is not None:
            checks.function("generate", self.generate)
        texts = [redact(text) for text in check_texts(private)] if self.redacted else check_texts(private)
        parts = [
            part.strip()
            for text in texts
            for part in _SENTENCE_END.split(text)
            if _SHORTEST <= len(content_words(part)) <= _LONGEST
        ]
        if not parts:
            raise ValueError(
                f"private must hold a sentence of {_SHORTEST} to {_LONGEST} content words, got {len(texts)} texts"
            )
        vectorizer = TfidfVectorizer(analyzer=content_words, sublinear_tf=True)
        rows = sparse.csr_array(vectorizer.fit_transform(parts))
        centre = np.asarray(rows.mean(axis=0)).ravel()
        chosen: list[int] = []
        for candidate in np.argsort(-(rows @ centre), kind="stable"):
            if len(chosen) == most:
                break
            if not chosen or (rows[chosen] @ rows[[candidate]].T).toarray().max() <= _SAME:
                chosen.append(int(candidate))
        quoted = " ".join(parts[j] for j in chosen)
        if self.generate is None:
            return quoted
        (text,) = self.generate(
            [f"Summarize what these texts have in common in two sentences.\n\n{quoted}\n\nSummary:"]
        )
        return text


@dataclass(frozen=True)
class ClusterReference:
    """Non-private clustering: k-means of all embeddings, each cluster told by its own words. Guarantee: none.

    `encoder` (`.embed(texts) -> float[n, d]`), `clusters` k >= 1, `keywords` >= 1 a cluster, `vocabulary` how many
    words, here taken from the protected texts themselves; `seed` of k-means.
    Raises ValueError (by scikit-learn) for fewer texts than clusters.
    """

    guarantee: ClassVar[str] = NO_GUARANTEE

    encoder: Any
    clusters: int = 10
    keywords: int = 4
    vocabulary: int = 300
    seed: int = 0

    def themes(self, private: Sequence[str]) -> tuple[Theme, ...]:
        """One theme a cluster, largest first: the words that most of its texts hold, weighted by size."""
        from sklearn.cluster import KMeans

        checks.offers("encoder", self.encoder, "embed")
        for name in ("clusters", "keywords", "vocabulary"):
            checks.whole(name, getattr(self, name), at_least=1)
        checks.whole("seed", self.seed, at_least=0)
        texts = check_texts(private)
        owners = KMeans(self.clusters, n_init=4, random_state=self.seed).fit_predict(self.encoder.embed(texts))
        vocabulary = public_vocabulary(texts, self.vocabulary)  # of the protected texts: nothing here is public
        rows = keyword_rows(texts, vocabulary, len(vocabulary))
        told = []
        for cluster in range(self.clusters):
            members = np.flatnonzero(owners == cluster)
            counts = np.asarray(rows[members].sum(axis=0)).ravel()
            best = np.argsort(-counts, kind="stable")[: self.keywords]
            text = ", ".join(vocabulary[j] for j in best if counts[j] > 0)
            if text:
                told.append(Theme(text, float(len(members))))
        return tuple(sorted(told, key=lambda theme: -theme.weight))
