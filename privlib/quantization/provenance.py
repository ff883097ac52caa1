"""Provenance attack: tell kept rows from rows written afresh, count the flips, undo the mechanism. Ours.

A matching of least cost keeps as many rows with every combination as it can: of m_b rows released with combination b
and n p_b private ones, min(m_b, n p_b) keep their labels. Where any row of b is fresh, all n p_b private rows were
kept; so m_b less the fresh ones *is* the private count, whatever tables were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import checks

from .attacks import Attack
from .schema import Share, checked_share
from .snippets import clauses, words

NOTHING_FRESH = 2.0  # standard deviations of false alarms below which a combination counts as without fresh rows


@dataclass(frozen=True)
class PublicOverlap:
    """Score of freshness: share of a text's words that stand in clauses found whole in public texts.

    The attacker has the auxiliary texts, and a splicing rewriter fills from them. 0 is nothing copied.
    """

    pieces: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, public_texts: Sequence[str]) -> PublicOverlap:
        texts = checks.texts("public_texts", public_texts)
        return cls(frozenset(_key(clause) for text in texts for clause in clauses(text)))

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """float[n] in [0, 1]."""
        shares = []
        for text in checks.texts("texts", texts):
            lengths = [(len(words(clause)), _key(clause) in self.pieces) for clause in clauses(text)]
            total = sum(length for length, _ in lengths)
            shares.append(sum(length for length, known in lengths if known) / total if total else 1.0)
        return np.array(shares)


@dataclass(frozen=True)
class Detector:
    """Calls a row fresh where its score is at least `threshold`.

    hits, false_alarms: how often it does so on fresh and on kept rows of runs whose truth the attacker knows.
    """

    threshold: float
    hits: float
    false_alarms: float

    def __post_init__(self) -> None:
        checks.settle(self, threshold=checks.finite, hits=checks.probability, false_alarms=checks.probability)

    @classmethod
    def fit(cls, scores: np.ndarray, fresh: np.ndarray) -> Detector:
        """The threshold with the largest hits - false_alarms, on rows of shadow runs: the mechanism on public rows.

        Args:
            scores: finite float[n], larger for fresher; fresh: bool[n], with rows of both kinds.

        Raises:
            TypeError: scores that are no numbers, or rows marked by anything but bool.
            ValueError: no threshold is better than chance: then the scores tell nothing. Or other shapes or numbers.
        """
        scores, fresh = checks.private_floats("scores", scores, (None,)), _marks(fresh)
        if scores.shape != fresh.shape or fresh.all() or not fresh.any():
            raise ValueError(
                f"fresh: expected bool[n] of both kinds beside scores float[n], got {fresh.shape} "
                f"with {int(fresh.sum())} fresh beside {scores.shape}"
            )
        cuts = np.unique(scores)
        hits = np.array([(scores[fresh] >= cut).mean() for cut in cuts])
        alarms = np.array([(scores[~fresh] >= cut).mean() for cut in cuts])
        best = int(np.argmax(hits - alarms))
        if hits[best] <= alarms[best]:
            raise ValueError("scores: no threshold separates fresh from kept rows better than chance")
        return cls(float(cuts[best]), float(hits[best]), float(alarms[best]))

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """bool[n]: rows called fresh, from finite scores float[n]."""
        return checks.private_floats("scores", scores, (None,)) >= self.threshold


def provenance_attack(
    labels: np.ndarray,
    fresh: np.ndarray,
    secret: Share,
    gold: float,
    auxiliary: np.ndarray,
    hits: float = 1.0,
    false_alarms: float = 0.0,
) -> Attack:
    """Estimate a private share from released labels and from which rows look fresh.

    For every combination the number of fresh rows, corrected for the detector's errors, is taken off. As many rows
    were moved away from the other combinations; where the release cannot tell from which, they are shared out as
    the public rows exceed the released ones.

    Args:
        labels: int[n, a], released labels as the attacker reads them.
        fresh: bool[n], as the attacker's detector says.
        secret, gold: which share, and its private value for the error.
        auxiliary: int[m, a], public labels.
        hits, false_alarms: of the detector, 0 <= false_alarms < hits <= 1.
    """
    checked_share(secret)
    labels, fresh = checks.private_integers("labels", labels, (None, None)), _marks(fresh)
    auxiliary = checks.private_integers("auxiliary", auxiliary, (None, labels.shape[1]))
    if not len(auxiliary):
        raise ValueError("auxiliary: expected at least one row, got none")
    if fresh.shape != labels.shape[:1] or not len(labels):
        raise ValueError(
            f"fresh: expected bool[n] beside labels int[n, a], n >= 1, got {fresh.shape} beside {labels.shape}"
        )
    if not checks.probability("false_alarms", false_alarms) < checks.probability("hits", hits):
        raise ValueError(f"hits: expected 0 <= false_alarms < hits <= 1, got {false_alarms} and {hits}")
    n = len(labels)
    combinations, codes = np.unique(np.concatenate([labels, auxiliary]), axis=0, return_inverse=True)
    codes = codes.ravel()
    size = len(combinations)
    released = np.bincount(codes[:n], minlength=size).astype(float)
    public = np.bincount(codes[n:], minlength=size) * (n / len(auxiliary))
    called = np.bincount(codes[:n], weights=fresh, minlength=size)
    written = np.clip((called - false_alarms * released) / (hits - false_alarms), 0.0, released)
    doubt = NOTHING_FRESH * np.sqrt(released * false_alarms * (1 - false_alarms)) / (hits - false_alarms)
    written[written <= doubt] = 0.0
    givers = written == 0
    weight = np.where(givers, np.maximum(public - released, 0.0), 0.0)
    if weight.sum() == 0:
        weight = np.where(givers, released + 1.0, 0.0) if givers.any() else np.ones(size)
    private = released - written + written.sum() * weight / weight.sum()
    estimate = float(private[secret.holds(combinations)].sum() / n)
    return Attack(min(1.0, max(0.0, estimate)), gold)


@dataclass(eq=False)
class Shadow:
    """Rewriter that notes which rows were changed: for an attacker's runs on public rows, whose truth is known."""

    rewriter: object
    fresh: np.ndarray | None = None

    def rewrite(self, texts, labels, targets, noise):
        self.fresh = (labels != targets).any(axis=1)
        return self.rewriter.rewrite(texts, labels, targets, noise)


def _marks(fresh: np.ndarray) -> np.ndarray:
    """`fresh` as an array of bool; scores in its place would all count as fresh."""
    marks = np.asarray(fresh)
    if marks.dtype != bool:
        raise TypeError(f"fresh must be an array of bool, got {checks.type_of_entries(marks)}")
    return marks


def _key(clause: str) -> str:
    return " ".join(words(clause))
