"""What released labelled outputs are good for: labels of real held-out texts, told from the outputs alone.

Held-out texts must have taken no part in the release. Source: Fre-E2T, Section 7.2, Table 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import checks
from privlib.evaluation.support import upper_bound

_ROWS = 1024


@dataclass(frozen=True)
class Accuracy:
    """`correct` of `texts` labels told rightly; `prior`: share of the commonest true label, which must be beaten."""

    correct: int
    texts: int
    prior: float

    @property
    def accuracy(self) -> float:
        return self.correct / self.texts

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Two-sided Clopper-Pearson interval at level 1 - `alpha`, over the draw of the held-out texts."""
        alpha = checks.open_probability("alpha", alpha)
        low = 1.0 - upper_bound(self.texts - self.correct, self.texts, alpha / 2)
        return low, upper_bound(self.correct, self.texts, alpha / 2)


def vote(outputs: np.ndarray, output_labels: np.ndarray, texts: np.ndarray, neighbours: int) -> np.ndarray:
    """Label of each text by majority among its nearest outputs, int64[n]; a tie goes to the label met first.

    Args:
        outputs: embeddings of released centroids or texts, float[m, d]; `output_labels` int[m] >= 0, theirs.
        texts: embeddings of held-out texts, float[n, d].
        neighbours: k, 1 <= k <= m: an m too small for k raises, since another k would be another method.
    """
    outputs, texts = _rows("outputs", outputs), _rows("texts", texts)
    labels = _labels("output_labels", output_labels)
    neighbours = checks.whole("neighbours", neighbours, at_least=1)
    if outputs.shape[1] != texts.shape[1] or len(outputs) != len(labels):
        raise ValueError(f"outputs {outputs.shape}, their labels {labels.shape} and texts {texts.shape} do not fit")
    if neighbours > len(outputs):
        raise ValueError(f"neighbours must be at most the {len(outputs)} outputs, got {neighbours}")
    half = 0.5 * np.einsum("ij,ij->i", outputs, outputs)
    told = np.empty(len(texts), dtype=np.int64)
    for start in range(0, len(texts), _ROWS):
        scores = texts[start : start + _ROWS] @ outputs.T - half
        order = np.argsort(-scores, axis=1, kind="stable")[:, :neighbours]
        votes = np.zeros((len(scores), labels.max() + 1))
        rows = np.arange(len(scores))
        for place in range(neighbours):
            # of two labels with equal votes, the one met first, nearest outputs first, is a little ahead
            votes[rows, labels[order[:, place]]] += 1 + 2.0 ** -(place + 2)
        told[start : start + _ROWS] = votes.argmax(axis=1)
    return told


def vote_accuracies(
    outputs: np.ndarray,
    output_labels: np.ndarray,
    texts: np.ndarray,
    text_labels: np.ndarray,
    neighbours: Sequence[int] = (1, 5, 10, 20),
) -> dict[int, Accuracy]:
    """`vote` scored for every k; arguments as there, `text_labels` int[n] the true ones.

    The paper reports the best k on the test texts themselves, which is optimistic: all are returned here.
    """
    true = _labels("text_labels", text_labels)
    counts = checks.sequence("neighbours", neighbours, "integers")
    return {k: scored(vote(outputs, output_labels, texts, k), true) for k in counts}


def classifier_accuracy(features, labels: np.ndarray, held_out, held_out_labels: np.ndarray) -> Accuracy:
    """Logistic regression trained on released outputs, scored on real held-out texts. Deterministic.

    `features` and `held_out`: rows (dense or sparse) of one public representation, embeddings or TF-IDF; labels
    int[m] and int[n]. Raises ValueError when the outputs carry fewer than two labels: nothing can be learnt.
    The paper fine-tunes RoBERTa instead, which needs a GPU.
    """
    from sklearn.linear_model import LogisticRegression

    features, held_out = _rows("features", features), _rows("held_out", held_out)
    labels, held_out_labels = _labels("labels", labels), _labels("held_out_labels", held_out_labels)
    if len(np.unique(labels)) < 2:
        raise ValueError("labels must hold at least two different ones")
    model = LogisticRegression(max_iter=1000).fit(features, labels)
    return scored(model.predict(held_out), held_out_labels)


def scored(told: np.ndarray, true: np.ndarray) -> Accuracy:
    """How many of the labels `told`, int[n], are the `true` ones."""
    told, true = _labels("told", told), _labels("true", true)
    if len(told) != len(true):
        raise ValueError(f"told and true must be of one length, got {len(told)} and {len(true)}")
    prior = np.unique(true, return_counts=True)[1].max() / len(true)
    return Accuracy(int((told == true).sum()), len(true), float(prior))


def _rows(name: str, rows):
    """Dense rows as an array, sparse ones as they are; TypeError or ValueError for anything but a table of numbers."""
    if not hasattr(rows, "tocsr"):
        rows = np.asarray(rows)
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be an array of real numbers, got {checks.type_of_entries(rows)}")
    if rows.ndim != 2:
        raise ValueError(f"{name} must be a table of one row a text, got shape {rows.shape}")
    return rows


def _labels(name: str, labels) -> np.ndarray:
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or array.min() < 0:
        raise ValueError(f"{name} must be int[n] of at least 0, n >= 1, got {array.dtype} {array.shape}")
    return array.astype(np.int64)
