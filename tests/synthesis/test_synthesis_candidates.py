"""Texts tried for one centroid: embedded and read once, judged sparingly, charged for what is unlikely."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.synthesis.candidates import Candidates, Fluency

TARGET = np.array([1.0, 0.0])


class Units:
    """A text's vector lies at as many tenths of a right angle from the target as it has letters."""

    def __init__(self):
        self.calls = []

    def __call__(self, texts):
        self.calls.append(list(texts))
        angles = np.array([len(text) for text in texts]) * np.pi / 20
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def candidates(units=None, batch=3, known=None, fluency=None):
    return Candidates(units or Units(), TARGET, batch, {} if known is None else known, fluency)


def test_texts_are_embedded_once_in_batches_and_the_nearest_is_kept():
    units = Units()
    best = candidates(units)
    worths = best.score(["aaaa", "aa", "aaaaa", "aaa", "aa"])
    np.testing.assert_allclose(worths, np.cos(np.array([4, 2, 5, 3, 2]) * np.pi / 20))
    assert (best.text, best.worth, best.cosine) == ("aa", worths[1], worths[1])
    best.score(["aaa", "aaaaaa"])
    assert best.text == "aa"
    assert units.calls == [["aaaa", "aa", "aaaaa"], ["aaa"], ["aaaaaa"]]
    assert best.top(2) == ["aa", "aaa"]
    assert best.vectors([]).shape == (0, 2)


def test_only_likelihood_above_what_is_natural_costs():
    fluency = Fluency(lambda texts: np.zeros(len(texts)), 0.5, 4.0, 1)
    np.testing.assert_allclose(fluency.cost(np.array([0.0, 4.0, 5.0, 6.0])), [0, 0, 0.5, 1.0])
    np.testing.assert_array_equal(candidates().cost(np.array([9.0])), [0.0])


@pytest.mark.parametrize("said", [np.array([np.nan]), np.array([np.inf]), np.zeros(2)])
def test_likelihoods_that_are_none_are_refused_by_name(said):
    best = candidates(fluency=Fluency(lambda texts: said, 0.5, 4.0, 1))
    with pytest.raises(ValueError, match=r"writer\.score must give finite float\[1\]"):
        best.score(["aa"])


def test_the_nearest_that_were_not_read_yet_are_judged_and_the_others_count_for_nothing():
    read = []

    def judge(texts):
        read.append(list(texts))
        return np.array([{"a": 9.0, "aa": 8.0}.get(text, 1.0) for text in texts])

    best = candidates(fluency=Fluency(judge, 0.1, 4.0, 2))
    worths = best.score(["aaa", "a", "aaaa", "aa"])
    assert read == [["a", "aa"]]
    np.testing.assert_allclose(worths, [-np.inf, np.cos(np.pi / 20) - 0.5, -np.inf, np.cos(np.pi / 10) - 0.4])
    assert best.text == "aa"
    worths = best.score(["aaaa", "a", "aaa", "aa"])
    assert read[1:] == [["aaa", "aaaa"]]
    assert np.isfinite(worths).all()
    assert best.text == "aaa"


def test_no_text_is_read_that_could_not_be_worth_more():
    read = []
    best = candidates(fluency=Fluency(lambda texts: read.extend(texts) or np.full(len(texts), 5.0), 0.1, 4.0, 2))
    best.score(["aaa"])
    worths = best.score(["aaaa", "aaaaa", "aa"])  # at .89 less .1, "aaa" is beaten by what is nearer than .79
    assert read == ["aaa", "aa", "aaaa"]
    np.testing.assert_allclose(worths, [np.cos(np.pi / 5) - 0.1, -np.inf, np.cos(np.pi / 10) - 0.1])
    best.score(["aaaaaa"])
    assert len(read) == 3


def test_a_text_without_direction_is_infinitely_far():
    best = candidates(lambda texts: np.array([[0.6, 0.8] if text == "b" else [0.0, 0.0] for text in texts]))
    np.testing.assert_array_equal(best.score(["a"]), [-np.inf])
    assert best.text == ""
    np.testing.assert_allclose(best.score(["a", "b"]), [-np.inf, 0.6])
    assert best.text == "b"
    assert best.nearest(["a", "b"], 1) == ["b"]


def test_pieces_are_embedded_once_in_lower_case_and_marks_pull_nowhere():
    units, known = Units(), {"abc": np.array([0.6, 0.8])}
    best = candidates(units, known=known)
    found = best.piece_vectors([" ABC", ", ", " Ab", "ab"])
    assert units.calls == [["ab"]]
    assert found[0] == pytest.approx([0.6, 0.8])
    assert not found[1].any()
    np.testing.assert_array_equal(found[2], found[3])
    candidates(units, known=known).piece_vectors(["ab"])
    assert units.calls == [["ab"]]
