"""Private selection of an ordered short list: exponential rounds, one shot of Gumbel noise, permute-and-flip."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privlib.dp import checks
from privlib.dp.billed import Billed
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource
from privlib.dp.selection_laws import gumbel_log_law, permute_and_flip_log_law
from privlib.dp.zcdp import ZCDP, largest_rho


@dataclass(frozen=True)
class SelectionRule(Billed):
    """What the rules share: `rounds` distinct indices out, best first, each paid `round_epsilon`.

    Arguments, all public: `rounds` L >= 1, `epsilon` > 0, `coordinate_sensitivity` > 0, a bound on every single
    score's move between neighbours; `delta` in [0, 1): 0 splits epsilon evenly over the rounds; above 0 the rounds are
    billed by zCDP where that leaves more for each. `monotone`: all scores move one way between neighbours (adding a
    record lowers none): half the noise; refused under "replace", where that is false. `unit`, `relation` as in
    `Guarantee`. Raises TypeError or ValueError on anything else.
    """

    name: ClassVar[str]
    rho_divisor: ClassVar[int]  # one round of eps_t costs eps_t^2 / rho_divisor zCDP

    rounds: int
    epsilon: float
    coordinate_sensitivity: float
    delta: float = field(default=0.0, kw_only=True)
    monotone: bool = field(default=False, kw_only=True)
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        checks.settle(self, rounds=checks.whole, epsilon=checks.positive, coordinate_sensitivity=checks.positive)
        checks.settle(self, delta=checks.nonnegative, monotone=checks.truth)
        if self.delta:
            checks.open_probability("delta", self.delta)
        Guarantee(self.epsilon, self.delta, self.unit, self.relation)
        if self.monotone and self.relation == "replace":
            raise ValueError("monotone must be False under relation 'replace': scores move both ways")

    @property
    def round_epsilon(self) -> float:
        """eps_t of each round, rounded down: the larger of epsilon/L and, for delta > 0, what zCDP allows."""
        return float(max(self._even_share(), self._zcdp_share()))

    @property
    def noise_scale(self) -> float:
        """Scores are divided by this: 2 Delta / eps_t (monotone: without the 2), rounded up."""
        factor = 1 if self.monotone else 2
        return checks.round_up(factor * Fraction(self.coordinate_sensitivity) / Fraction(self.round_epsilon))

    def release(self, private, noise: NoiseSource) -> np.ndarray:
        """`private` scores float[m], m >= rounds public, finite; returns int64[rounds], best first, no index twice.

        Raises TypeError or ValueError on another dtype, shape, NaN or infinity, without naming any value.
        """
        checks.noise_source("noise", noise)
        scores = checks.private_floats("private", private, (None,))
        if len(scores) < self.rounds:
            raise ValueError(f"private must hold at least rounds = {self.rounds} scores, got shape {scores.shape}")
        return self._draw(scores, noise)

    @abstractmethod
    def _draw(self, scores: np.ndarray, noise: NoiseSource) -> np.ndarray: ...

    @abstractmethod
    def log_law(self, scores) -> np.ndarray:
        """Exact log probability of each of `ordered_lists(m, rounds)` at these scores."""

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """The rho of a release through `noise`: rounds times eps_t^2 over the rule's own divisor, rounded up."""
        rho = checks.round_up(self.rounds * Fraction(self.round_epsilon) ** 2 / self.rho_divisor)
        said = self._guarantee(noise.assumptions)
        return ZCDP(rho, self.unit, self.relation, said.assumptions, said.composed)

    def _even_share(self) -> float:
        return _round_down(Fraction(self.epsilon) / self.rounds)

    def _zcdp_share(self) -> float:
        if self.delta == 0:
            return 0.0
        square = Fraction(largest_rho(self.epsilon, self.delta)) * self.rho_divisor / self.rounds
        share = math.sqrt(square)
        while Fraction(share) ** 2 > square:
            share = math.nextafter(share, 0.0)
        return share

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        by_zcdp = self._zcdp_share() > self._even_share()
        name = f"{self.name}, {self.rounds} rounds" + (", monotone" if self.monotone else "")
        name += ", by zCDP" if by_zcdp else ""
        return Guarantee(self.epsilon, self.delta if by_zcdp else 0.0, self.unit, self.relation, assumptions, (name,))


class ExponentialRounds(SelectionRule):
    """Rounds of the exponential mechanism, each on the indices left.

    Round t draws index j among the m - t + 1 left with Pr[j] proportional to exp(eps_t C_j / (2 Delta)), Delta =
    `coordinate_sensitivity`. Inequality, delta = 0: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S], epsilon = L eps_t.
    Each round: the numerator moves by a factor exp(eps_t/2) at most, the normaliser by as much (McSherry and Talwar
    2007, Theorem 6); when scores are monotone the two move the same way and exp(eps_t C_j / Delta) is enough; rounds
    compose adaptively. For delta > 0: each round's log-likelihood ratio spans at most eps_t over the outcomes (ln
    ratio_j is (C_j - C'_j) eps_t / (2 Delta) plus a constant), so it is eps_t^2/8-zCDP (Dong, Durfee and Rogers 2020;
    Cesar and Rogers 2021, Lemma 3.4), L rounds L eps_t^2/8.
    Accuracy: with probability at least 1 - beta every round t loses at most
    (2 Delta / eps_t) (ln(m - t + 1) + ln(L / beta)) against the best index left (half of it when monotone).
    """

    name = "exponential mechanism"
    rho_divisor = 8

    @property
    def gumbel_scale(self) -> float:
        """`noise_scale`: every round divides the scores by this and adds Gumbel noise."""
        return self.noise_scale

    def loss_bound(self, m: int, beta: float) -> float:
        """Loss of score against the best index left that no round exceeds, with probability >= 1 - beta."""
        m, beta = checks.whole("m", m, at_least=self.rounds), checks.open_probability("beta", beta)
        return self.noise_scale * (math.log(m) + math.log(self.rounds / beta))

    def _draw(self, scores: np.ndarray, noise: NoiseSource) -> np.ndarray:
        return _one_by_one(noise.argmax_gumbel, scores, self.noise_scale, self.rounds)

    def log_law(self, scores) -> np.ndarray:
        return gumbel_log_law(scores, self.noise_scale, self.rounds)


class OneShotGumbel(ExponentialRounds):
    """The L largest scores after one Gumbel draw for each, in order: the law of `ExponentialRounds`, in one pass.

    Noise C_j + (2 Delta / eps_t) G_j. The ordered list has the law of L exponential-mechanism rounds at eps_t (proof:
    `gumbel_log_law`), so their inequalities, bills and accuracy are its own. That the list is released in order is what
    is billed: the noisy scores themselves are not, and must not be, released.
    Source: Durfee and Rogers 2019, Lemma 4.2.
    """

    name = "one-shot Gumbel"

    def _draw(self, scores: np.ndarray, noise: NoiseSource) -> np.ndarray:
        return noise.top_gumbel(scores, self.noise_scale, self.rounds)


class PermuteAndFlip(SelectionRule):
    """Rounds of permute-and-flip, each on the indices left: never worse in expected score than the exponential rounds.

    Each round takes the largest C_j + (2 Delta / eps_t) E_j, E_j i.i.d. exponential, which is permute-and-flip at eps_t
    (Ding and others 2021, Theorem 5). Inequality, delta = 0: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S], epsilon =
    L eps_t (McKenna and Sheldon 2020, Theorem 2). It is not bounded range: its ratios span more than eps_t, and
    eps_t^2/8 would be false; for delta > 0 a round is billed as any pure one, eps_t^2/2.
    One shot of exponential noise for all L has another law, for which no bill is stated here.
    """

    name = "permute-and-flip"
    rho_divisor = 2

    def _draw(self, scores: np.ndarray, noise: NoiseSource) -> np.ndarray:
        return _one_by_one(noise.argmax_exponential, scores, self.noise_scale, self.rounds)

    def log_law(self, scores) -> np.ndarray:
        return permute_and_flip_log_law(scores, self.noise_scale, self.rounds)


def _one_by_one(draw: Callable[[np.ndarray, float], int], scores: np.ndarray, scale: float, rounds: int) -> np.ndarray:
    """Indices of `rounds` draws, each excluded from the later ones by a score of -inf; `scores` is used up."""
    chosen = np.empty(rounds, dtype=np.int64)
    for turn in range(rounds):
        chosen[turn] = draw(scores, scale)
        scores[chosen[turn]] = -np.inf
    return chosen


def _round_down(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) <= value else math.nextafter(number, 0.0)
