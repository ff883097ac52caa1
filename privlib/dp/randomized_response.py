"""Randomized response over k categories: every answer is replaced by a random one with a public probability."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import checks
from privlib.dp.billed import Billed
from privlib.dp.divergence import hockey_stick
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource


@dataclass(frozen=True)
class RandomizedResponse(Billed):
    """Every answer is kept with probability p, else released as one of the k - 1 others: (epsilon, 0)-DP.

    p = exp(epsilon) / (exp(epsilon) + k - 1), each other has q = 1 / (exp(epsilon) + k - 1); a lie is never the truth.
    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] for D, D' in which one unit's answer is exchanged for
    another; each unit gives one answer, so the bill does not grow with their number. The largest ratio of two rows of
    `channel` is exp(epsilon), from below by a few units in the last place.
    Arguments, all public: `epsilon` > 0, `categories` k >= 2, `shape` of the answers (an int or a tuple of ints),
    `unit`, `relation` "replace" (under add_drop the number of answers itself would tell). Raises TypeError or
    ValueError on anything else. Source: Warner 1965; Kairouz, Oh and Viswanath 2014, Section 4.1 (k categories).
    """

    epsilon: float
    categories: int
    shape: int | tuple[int, ...]
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        two_or_more = functools.partial(checks.whole, at_least=2)
        checks.settle(self, epsilon=checks.positive, categories=two_or_more, shape=checks.lengths)
        checks.one_of("relation", self.relation, ("replace",))
        checks.one_of("unit", self.unit, checks.UNITS)

    @property
    def step_probabilities(self) -> np.ndarray:
        """float64[k], drawn from: how far an answer moves round the circle of categories; entry 0 keeps it."""
        ratio = math.exp(-self.epsilon)
        for _ in range(4):  # above the exact value by more than the rounding of the two divisions
            ratio = math.nextafter(ratio, math.inf)
        total = 1 + (self.categories - 1) * min(ratio, 1.0)
        steps = np.full(self.categories, min(ratio, 1.0) / total)
        steps[0] = 1 / total
        return steps

    @property
    def channel(self) -> np.ndarray:
        """float64[k, k], row the true category, column the released one, of the probabilities `release` draws from."""
        steps, names = self.step_probabilities, np.arange(self.categories)
        return steps[(names[None, :] - names[:, None]) % self.categories]

    def release(self, private, noise: NoiseSource) -> np.ndarray:
        """`private` int[shape], categories 0..k-1; int64[shape] of the same. Every entry has a draw of its own.

        Raises TypeError or ValueError on another dtype, shape or category, without naming any value.
        """
        checks.noise_source("noise", noise)
        answers = checks.private_integers("private", private, self.shape)
        if answers.min() < 0 or answers.max() >= self.categories:
            raise ValueError(f"private must hold categories 0..{self.categories - 1} (array of shape {answers.shape})")
        return (answers + noise.categorical(self.step_probabilities, answers.shape)) % self.categories

    def loss(self, epsilon: float) -> float:
        """Exact privacy curve: the delta of one exchanged answer at another `epsilon` in [0, inf]."""
        with np.errstate(divide="ignore"):
            rows = np.log(self.channel[:2])
        return hockey_stick(rows[0], rows[1], epsilon)

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        name = f"randomized response, {self.categories} categories"
        return Guarantee(self.epsilon, 0.0, self.unit, self.relation, assumptions, (name,))
