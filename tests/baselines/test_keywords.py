"""What a record can say: words of the public list only, and at most so many."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib.baselines import keyword_rows, public_vocabulary
from privlib.baselines.keywords import words

VOCABULARY = ("heart", "sleep", "sugar", "winter")
PIECES = st.sampled_from((*VOCABULARY, "Heart", "zebra", "sugar,", "1", "sleep.")) | st.text(alphabet="hel p,.H1é\n")
TEXTS = st.lists(st.lists(PIECES, max_size=9).map(" ".join), max_size=5)


def slow_row(text, vocabulary, most):
    found = []
    for word in re.sub(r"[\d_]", " ", text.lower()).replace(",", " ").replace(".", " ").split():
        if word in vocabulary and word not in found:
            found.append(word)
    return [float(word in found[:most]) for word in vocabulary]


@given(TEXTS, st.integers(1, 5))
def test_rows_against_a_slow_twin_and_never_over_the_clip(texts, most):
    rows = keyword_rows(texts, VOCABULARY, most).toarray()
    assert rows.tolist() == [slow_row(text, VOCABULARY, most) for text in texts]
    assert (rows.sum(axis=1) <= most).all()


def test_words_in_order_clip_and_repeats():
    rows = keyword_rows(["Sugar, sugar and SLEEP in winter; heart", "", "nothing here"], VOCABULARY, 2)
    assert rows.toarray().tolist() == [[0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_links_handles_and_masks_are_no_words():
    text = "XXXX told @someone at a.b@mail.example or https://x.example/heart #tag: sleep, XX"
    assert words(text) == ["told", "at", "or", "sleep", "xx"]


def test_a_vocabulary_is_the_most_supported_words_without_function_words():
    public = ["the heart and the sleep", "heart of sugar", "heart heart", "sleep it off", "a tie zebra aardvark"]
    assert public_vocabulary(public, 4) == ("heart", "sleep", "aardvark", "sugar")
    assert len(public_vocabulary(public, 99)) == 5
    with pytest.raises(ValueError, match="public_texts"):
        public_vocabulary(["the of and", ""], 3)


@pytest.mark.parametrize("wrong", ["one text", b"bytes", [b"bytes"], [1, 2]])
def test_private_texts_of_another_type_are_named_by_type_only(wrong):
    with pytest.raises(TypeError, match="sequence of str") as caught:
        keyword_rows(wrong, VOCABULARY, 2)
    assert "one text" not in str(caught.value)


def test_most_is_a_whole_number():
    for wrong in (0, -1, 2.5, True):
        with pytest.raises((TypeError, ValueError), match="most"):
            keyword_rows(["heart"], VOCABULARY, wrong)
    assert np.array_equal(keyword_rows([], VOCABULARY, 3).toarray(), np.zeros((0, 4)))


def test_words_of_a_private_corpus_are_no_public_vocabulary():
    class Private(list):
        provenance = SimpleNamespace(public=False)

    with pytest.raises(ValueError, match="public_texts must be public"):
        public_vocabulary(Private(["headache after lunch"]), 3)
