"""Text measures against slow twins; what is not defined raises."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privlib.evaluation import (
    bigram_jaccard,
    embedding_cosine,
    keyphrase_jaccard,
    keyphrases,
    tfidf_cosine,
    token_jaccard,
)

WORDS = ("heart", "disease", "the", "of", "flu", "and", "sleep")
TEXT = st.lists(st.sampled_from((*WORDS, ",", "12", ".", "Heart")), max_size=12).map(" ".join)


def letters(text):
    return [word for word in re.split(r"[^a-z]+", text.lower()) if word]


def slow_jaccard(first, second):
    shared = sum(item in second for item in set(first))
    return shared / (len(set(first)) + len(set(second)) - shared)


def slow_pairs(text):
    pieces = text.lower().split()
    return [pair for pair in pairwise(pieces) if all(piece.isalpha() for piece in pair)]


def slow_phrases(text):
    found, run = set(), []
    for piece in [*text.lower().split(), "."]:
        if piece in {"the", "of", "and", ",", ".", "12"}:
            if run:
                found.add(tuple(run))
            run = []
        else:
            run.append(piece)
    return found


@given(TEXT, TEXT)
def test_jaccards_against_slow_twins(first, second):
    words = letters(first), letters(second)
    pairs = [slow_pairs(first), slow_pairs(second)]
    phrases = slow_phrases(first), slow_phrases(second)
    assert keyphrases(first) == phrases[0]
    for measure, (mine, theirs) in ((token_jaccard, words), (bigram_jaccard, pairs), (keyphrase_jaccard, phrases)):
        if not mine and not theirs:
            with pytest.raises(ValueError, match="not defined"):
                measure(first, second)
            continue
        assert measure(first, second) == pytest.approx(slow_jaccard(mine, theirs), abs=1e-15)
        assert measure(first, second) == measure(second, first)
        assert not mine or measure(first, first) == 1.0


class Counts:
    """A representation whose rows are word counts over a public list."""

    def transform(self, texts):
        return np.array([[letters(text).count(word) for word in WORDS] for text in texts], dtype=float)


@given(TEXT, TEXT)
def test_cosines_against_a_slow_twin(first, second):
    rows = Counts().transform([first, second]).tolist()
    lengths = [math.sqrt(sum(x * x for x in row)) for row in rows]
    assume(all(lengths))
    slow = sum(x * y for x, y in zip(*rows, strict=True)) / lengths[0] / lengths[1]
    assert tfidf_cosine(first, second, Counts()) == pytest.approx(slow, abs=1e-12)
    assert embedding_cosine(first, second, Counts().transform) == pytest.approx(slow, abs=1e-12)


def test_the_house_tfidf_works_as_representation():
    from privlib.plans import Tfidf

    fitted = Tfidf.fit(["heart disease kills", "flu season", "sleep well"])
    assert tfidf_cosine("heart disease", "heart disease", fitted) == pytest.approx(1.0)
    assert tfidf_cosine("heart disease", "flu", fitted) == 0.0
    with pytest.raises(ValueError, match="tfidf_cosine"):
        tfidf_cosine("unheard", "flu", fitted)


def test_numbers_and_case_do_not_count():
    assert token_jaccard("Heart (about 12)", "heart about 977") == 1.0


def test_opposite_embeddings_are_minus_one_and_bad_vectors_raise():
    assert embedding_cosine("a", "b", lambda texts: np.array([[1.0, 2.0], [-2.0, -4.0]])) == pytest.approx(-1)
    for rows in ([[0.0, 0.0], [1.0, 0.0]], [[np.nan, 0.0], [1.0, 0.0]], [[np.inf, 0.0], [1.0, 0.0]]):
        with pytest.raises(ValueError, match="embedding_cosine"):
            embedding_cosine("a", "b", lambda texts, rows=rows: np.array(rows))
