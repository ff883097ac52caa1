"""Attacks on dataset-level secrets: count what the released rows say, or do not look at all.

Errors are absolute differences to the private ("gold") share. They are the curator's figures, taken
from the private data, and never part of a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from privlib.dp import checks

from .mechanism import Released
from .reading import Labeller
from .schema import Share, checked_share


@dataclass(frozen=True)
class Attack:
    """An attacker's estimate of the secret share beside the private share, both in [0, 1].

    Raises ValueError for another number, and TypeError for an estimate that is none.
    """

    estimate: float
    gold: float

    def __post_init__(self) -> None:
        checks.settle(self, estimate=checks.probability)
        gold = self.gold  # private: its value stands in no message
        if isinstance(gold, bool) or not isinstance(gold, Real) or not 0 <= gold <= 1:
            raise ValueError(f"gold: expected a share in [0, 1], got a {type(gold).__name__} that is none")

    @property
    def error(self) -> float:
        return abs(self.estimate - self.gold)


def labelling_attack(
    released: Released | Sequence[str], secret: Share, gold: float, attacker: Labeller | None = None
) -> Attack:
    """Label every released row, guess the share of rows that meet the secret's condition.

    Args:
        released: rows that the attacker sees; texts alone where another method made them.
        secret: which share.
        gold: private share, for the error.
        attacker: labeller of texts that answers "yes" (the condition holds) or "no"; None reads the labels
            exactly, which is possible where rewriting is ideal and is this attack's best case.

    Source: QuanText section V-C.
    """
    checked_share(secret)
    texts = released.texts if isinstance(released, Released) else tuple(checks.texts("released", released))
    if attacker is None:
        if not isinstance(released, Released):
            raise ValueError("attacker: expected a labeller for bare texts, got none")
        return Attack(secret(released.labels), gold)
    if texts is None:
        raise ValueError("attacker: a labeller needs released texts, and ideal rewriting makes none")
    answers = np.asarray(attacker.predict(list(texts)))
    if len(texts) == 0 or answers.shape != (len(texts),) or not np.isin(answers, ["yes", "no"]).all():
        raise ValueError(
            f"attacker: expected one 'yes' or 'no' for each of {len(texts)} texts, got answers of shape {answers.shape}"
        )
    return Attack(float(np.mean(answers == "yes")), gold)


def corrected(attack: Attack, hits: float, false_alarms: float) -> Attack:
    """The attack with its labeller's errors undone: (estimate - false_alarms) / (hits - false_alarms), in [0, 1].

    Args:
        hits, false_alarms: how often the labeller says "yes" where the condition holds and where it does
            not, measured on public rows that it was not trained on.

    Raises:
        ValueError: hits <= false_alarms: such a labeller tells nothing, and no correction exists.
    """
    checks.instance("attack", attack, Attack)
    if not checks.probability("false_alarms", false_alarms) < checks.probability("hits", hits):
        raise ValueError(f"hits: expected 0 <= false_alarms < hits <= 1, got {false_alarms} and {hits}")
    estimate = (attack.estimate - false_alarms) / (hits - false_alarms)
    return Attack(min(1.0, max(0.0, estimate)), attack.gold)


def prior_attack(auxiliary: np.ndarray, secret: Share, gold: float) -> Attack:
    """Guess the share of the auxiliary labels int[n, a] without looking at the release."""
    checked_share(secret)
    labels = checks.private_integers("auxiliary", auxiliary, (None, None))
    if not len(labels):
        raise ValueError("auxiliary: expected at least one row, got none")
    return Attack(secret(labels), gold)
