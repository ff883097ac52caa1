"""Rewriters: what turns a private text and its target combination into a released text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Rewriter(Protocol):
    """Rewrites matched rows. Row j of every argument belongs to row j of the release.

    A rewriter may say in `not_covered` (str) what of it the bound for ideal rewriting does not cover; the release
    then names that among its assumptions.
    """

    def rewrite(
        self, texts: tuple[str, ...] | None, labels: np.ndarray, targets: np.ndarray, noise
    ) -> tuple[str, ...] | None:
        """Released texts, or None where none are made.

        Args:
            texts: private texts; None where only labels were given.
            labels: int[n, a], private combination of each row.
            targets: int[n, a], combination to express.
            noise: source of secret draws.
        """
        ...


@dataclass(frozen=True)
class Ideal:
    """Perfect rewriting, on labels: every row shows its target combination and nothing else.

    Assumption IV.2 holds by construction, so a result with it is about the choice of tables alone. No
    text is made: a figure with it is at label level and says so.
    """

    def rewrite(self, texts, labels, targets, noise) -> None:
        return None


ideal = Ideal()
