"""Which word edits are tried: guessed at each place, and learnt from what was tried."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.synthesis.edits import Guesses, edited
from privlib.synthesis.pulls import Pulls

D = 40
WORDS = [f"w{i}" for i in range(200)]
UNITS = np.random.default_rng(0).standard_normal((len(WORDS), D))
UNITS /= np.linalg.norm(UNITS, axis=1, keepdims=True)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def embed(text: str, turn: np.ndarray | None = None) -> np.ndarray:
    """Unit sum of the words' vectors, each turned first: what a word does is not what it does alone."""
    rows = UNITS[[WORDS.index(word) for word in text.split()]]
    return unit((rows if turn is None else rows @ turn).sum(axis=0))


def about(words, turn=None):
    """A text, its vector, and those of the text without each word."""
    less = [edited(words, [(place, "delete", "")]) for place in range(len(words))]
    return " ".join(words), embed(" ".join(words), turn), np.array([embed(text, turn) for text in less])


def truth(words, target, turn=None) -> np.ndarray:
    kinds = [(place, "replace") for place in range(len(words))] + [(place, "insert") for place in range(len(words) + 1)]
    return np.array([[embed(edited(words, [(*kind, word)]), turn) @ target for word in WORDS] for kind in kinds])


def rng():
    return np.random.default_rng(1)


def test_what_a_place_lacks_decides_what_is_tried_there():
    """One word is wrong: only in its place does the wanted word complete the text, wherever else it may go."""
    right = ["w0", "w1", "w2", "w3", "w4", "w5"]
    for place in range(6):
        wrong = [*right[:place], f"w{50 + place}", *right[place + 1 :]]
        target = embed(" ".join(right))
        (first,) = Guesses(WORDS, UNITS, target).chosen(*about(wrong), 1, True, set(wrong), rng())
        assert first == (place, "replace", f"w{place}")


def test_tried_edits_are_far_better_than_drawn_ones():
    words, target = ["w7", "w8", "w9", "w10"], unit(UNITS[[7, 20, 21, 22]].sum(axis=0))
    cosines = truth(words, target)
    tried = Guesses(WORDS, UNITS, target).chosen(*about(words), 16, True, set(words), rng())
    best = max(embed(edited(words, [edit])) @ target for edit in tried)
    assert best == pytest.approx(cosines.max())
    drawn = rng().choice(cosines.ravel(), (2000, 16))
    assert (drawn.max(axis=1) < best).mean() > 0.85


def correlations(learnt: int) -> tuple[float, float]:
    """Of guesses with true cosines, where words do other things in a text than alone, before and after learning."""
    turn = 0.5 * np.eye(D) + np.random.default_rng(2).standard_normal((D, D)) * 0.8 / np.sqrt(D)
    words, target = ["w3", "w4", "w5", "w6"], unit(UNITS[[60, 61, 62]].sum(axis=0))
    given, cosines, guesses = about(words, turn), truth(words, target, turn), Guesses(WORDS, UNITS, target)
    before = np.corrcoef(guesses.cosines(*given).ravel(), cosines.ravel())[0, 1]
    for _ in range(learnt):
        tried = guesses.chosen(*given, 40, True, set(words), rng())
        found = np.array([embed(edited(words, [edit]), turn) @ target for edit in tried])
        guesses.learn(*given, tried, found)
    rest = np.ones_like(cosines, dtype=bool)
    for _, row, word in guesses._tried:
        rest[row, WORDS.index(word)] = False
    after = np.corrcoef(guesses.cosines(*given)[rest], cosines[rest])[0, 1]
    return before, after


def test_tried_edits_teach_what_untried_ones_do():
    before, after = correlations(5)
    assert after > before + 0.1


def test_nothing_is_tried_twice_nor_where_it_may_not_be():
    words, target = ["w7", "w8", "w9"], UNITS[20]
    guesses, given, seen = Guesses(WORDS, UNITS, target), about(words), set()
    for _ in range(4):
        tried = guesses.chosen(*given, 30, True, {"w7", "w20"}, rng())
        assert len(tried) == len(set(tried)) == 30
        assert not seen & set(tried)
        assert not {"w7", "w20"} & {word for _, _, word in tried}
        seen |= set(tried)
        guesses.learn(*given, tried, np.zeros(30))
    assert {kind for _, kind, _ in guesses.chosen(*given, 30, False, set(), rng())} == {"replace"}
    assert guesses.chosen(*given, 10, True, set(WORDS), rng()) == []


def test_the_generator_decides_part_of_what_is_tried():
    given = about(["w7", "w8", "w9"])
    first, again, other = (Guesses(WORDS, UNITS, UNITS[20]).chosen(*given, 20, True, set(), np.random.default_rng(seed))
                           for seed in (1, 1, 2))  # fmt: skip
    assert first == again != other
    assert first[:15] == other[:15]


def test_expectations_are_those_of_the_gaussian_process():
    """Against the textbook's formula, entry by entry."""
    draw = np.random.default_rng(5)
    words, missed = unit(draw.standard_normal((7, D))), draw.standard_normal(7)
    places, asked, there = ["a", "a", "b", "b", "b", "c", "c"], unit(draw.standard_normal((3, D))), ["b", "new"]
    pulls = Pulls()
    assert not pulls.expected(asked, there).any()
    pulls.learn(words[:4], places[:4], missed[:4])
    pulls.learn(words[4:], places[4:], missed[4:])

    def covariance(u, v, p, q):
        return (u @ v + 0.25) * (2 if p == q else 1)

    inner = np.array([[covariance(u, v, p, q) for v, q in zip(words, places, strict=True)]
                      for u, p in zip(words, places, strict=True)])  # fmt: skip
    weights = np.linalg.solve(inner + 0.5 * np.eye(7), missed)
    for row, place in enumerate(there):
        for column, word in enumerate(asked):
            cross = [covariance(word, v, place, q) for v, q in zip(words, places, strict=True)]
            assert pulls.expected(asked, there)[row, column] == pytest.approx(np.dot(cross, weights))


def test_a_text_without_direction_teaches_nothing():
    words, pulls, other = UNITS[:3], Pulls(), Pulls()
    pulls.learn(words, ["a", "b", "c"], np.array([0.1, -np.inf, 0.2]))
    other.learn(words[[0, 2]], ["a", "c"], np.array([0.1, 0.2]))
    np.testing.assert_array_equal(pulls.expected(UNITS[5:7], ["b", "c"]), other.expected(UNITS[5:7], ["b", "c"]))


def test_edits_at_several_places_keep_their_places():
    words = ["a", "b", "c"]
    assert edited(words, []) == "a b c"
    assert edited(words, [(0, "insert", "x"), (1, "delete", ""), (2, "replace", "z"), (3, "insert", "y")]) == "x a z y"


def test_a_word_takes_over_the_capital_and_the_marks_of_the_one_it_replaces():
    assert edited(["(Pain,", "then"], [(0, "replace", "fever")]) == "(Fever, then"
    assert edited(["then", "pain."], [(1, "replace", "fever")]) == "then fever."
    assert edited(["--", "pain"], [(0, "replace", "fever")]) == "--fever pain"
