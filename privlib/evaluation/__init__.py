"""Measures of what was released: embeddings, label tables, summaries against a reference, a judge's opinion.

None of it is private: with a private side these are the curator's figures, never part of a release.
"""

from __future__ import annotations

from privlib.evaluation.judging import CRITERIA, Judgement, NotAScore, Scores, expected, judge, read_score, scores
from privlib.evaluation.overlap import (
    bigram_jaccard,
    embedding_cosine,
    keyphrase_jaccard,
    keyphrases,
    tfidf_cosine,
    token_jaccard,
)

__all__ = [
    "CRITERIA",
    "Judgement",
    "NotAScore",
    "Scores",
    "bigram_jaccard",
    "embedding_cosine",
    "expected",
    "judge",
    "keyphrase_jaccard",
    "keyphrases",
    "read_score",
    "scores",
    "tfidf_cosine",
    "token_jaccard",
]
