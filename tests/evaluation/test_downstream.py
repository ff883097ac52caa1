"""Labels of held-out texts, told from released outputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from privlib.dp import Simulation
from privlib.evaluation import downstream
from privlib.evaluation.downstream import Accuracy, classifier_accuracy, scored, vote, vote_accuracies


def test_the_majority_of_the_nearest_wins_and_a_tie_goes_to_the_nearer():
    outputs, labels = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]]), np.array([0, 1, 1, 2, 2])
    texts = np.array([[-1.0], [10.4]])
    np.testing.assert_array_equal(vote(outputs, labels, texts, 1), [0, 2])
    np.testing.assert_array_equal(vote(outputs, labels, texts, 3), [1, 2])
    np.testing.assert_array_equal(vote(outputs, labels, texts, 2), [0, 2])  # 0 and 1 have one vote each
    np.testing.assert_array_equal(vote(outputs, labels, texts, 5), [1, 2])  # two of 1, two of 2: the nearer pair


@pytest.mark.parametrize("neighbours", [1, 5, 20])
def test_against_a_plain_count(neighbours, monkeypatch):
    generator = Simulation(1).generator
    outputs, texts = generator.standard_normal((60, 4)), generator.standard_normal((100, 4))
    labels = generator.integers(0, 3, 60)
    monkeypatch.setattr(downstream, "_ROWS", 7)
    for text, told in zip(texts, vote(outputs, labels, texts, neighbours), strict=True):
        nearest = labels[np.argsort(np.linalg.norm(outputs - text, axis=1))[:neighbours]]
        counts = np.bincount(nearest, minlength=3)
        best = np.flatnonzero(counts == counts.max())
        assert told == next(label for label in nearest if label in best)


def test_accuracies_come_with_the_prior_and_an_interval():
    found = scored(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    assert (found.accuracy, found.prior, found.texts) == (3 / 4, 3 / 4, 4)
    low, high = Accuracy(30, 40, 0.5).interval()
    assert low < 0.75 < high
    assert Accuracy(40, 40, 0.5).interval()[1] == 1.0
    assert Accuracy(0, 40, 0.5).interval()[0] == 0.0
    with pytest.raises(ValueError, match="length"):
        scored(np.array([0, 1]), np.array([0]))


def test_a_signal_is_learnt_and_labels_without_one_are_not():
    """Two clouds three deviations apart; with the true labels shuffled the accuracy is the prior.

    400 held-out texts: 0.5 +- 5 standard errors of 0.025, false alarm below 1e-6.
    """
    generator = Simulation(2).generator
    labels, true = generator.integers(0, 2, 300), generator.integers(0, 2, 400)
    centre = np.array([3.0, 0.0])
    outputs = generator.standard_normal((300, 2)) + labels[:, None] * centre
    texts = generator.standard_normal((400, 2)) + true[:, None] * centre
    for k, found in vote_accuracies(outputs, labels, texts, true).items():
        assert found.accuracy > (0.8 if k == 1 else 0.9)
    assert classifier_accuracy(outputs, labels, texts, true).accuracy > 0.9
    assert classifier_accuracy(sparse.csr_array(outputs), labels, sparse.csr_array(texts), true).accuracy > 0.9
    shuffled = generator.permutation(true)
    assert abs(classifier_accuracy(outputs, labels, texts, shuffled).accuracy - 0.5) < 0.125


def test_what_cannot_be_told_raises():
    outputs, labels = np.zeros((3, 2)), np.array([0, 1, 1])
    with pytest.raises(ValueError, match="neighbours"):
        vote(outputs, labels, outputs, 4)
    with pytest.raises(ValueError, match="do not fit"):
        vote(outputs, labels[:2], outputs, 1)
    with pytest.raises(ValueError, match="output_labels"):
        vote(outputs, labels - 1, outputs, 1)
    with pytest.raises(ValueError, match="two different"):
        classifier_accuracy(outputs, np.ones(3, dtype=int), outputs, labels)
