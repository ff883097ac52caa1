"""Private selection of an ordered short list by rounds of the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from privlib.dp import checks
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource, Simulation
from privlib.dp.zcdp import ZCDP


@dataclass(frozen=True)
class ExponentialRounds:
    """Releases `rounds` distinct indices in order, each by the exponential mechanism on those left: (epsilon, 0)-DP.

    Round t draws index j among the m - t + 1 left with Pr[j] proportional to exp(eps_t C_j / (2 Delta)),
    eps_t = epsilon / rounds, Delta = `coordinate_sensitivity`, a bound on every single score's move between neighbours.
    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S]. Each round: the numerator moves by a factor
    exp(eps_t/2) at most, the normaliser by as much (McSherry and Talwar 2007, Theorem 6); rounds compose adaptively.
    `monotone`: all scores move one way between neighbours (adding a record lowers none), so numerator and
    normaliser move the same way and exp(eps_t C_j / Delta) is enough; refused under "replace", where that is false.
    Accuracy: with probability at least 1 - beta every round t loses at most
    (2 Delta / eps_t) (ln(m - t + 1) + ln(rounds / beta)) against the best index left (half of it when monotone).

    Arguments, all public: `rounds` >= 1, `epsilon` > 0, `coordinate_sensitivity` > 0, `monotone`, `unit`, `relation`.
    Raises TypeError or ValueError on anything else.
    """

    rounds: int
    epsilon: float
    coordinate_sensitivity: float
    monotone: bool = field(default=False, kw_only=True)
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", checks.whole("rounds", self.rounds, at_least=1))
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        sensitivity = checks.positive("coordinate_sensitivity", self.coordinate_sensitivity)
        object.__setattr__(self, "coordinate_sensitivity", sensitivity)
        if not isinstance(self.monotone, bool):
            raise TypeError(f"monotone must be True or False, got {self.monotone!r}")
        self._guarantee(())
        if self.monotone and self.relation == "replace":
            raise ValueError("monotone must be False under relation 'replace': scores move both ways")

    @property
    def gumbel_scale(self) -> float:
        """Scores are divided by this in every round: 2 Delta rounds / epsilon (monotone: without the 2), rounded up."""
        factor = 1 if self.monotone else 2
        exact = Fraction(factor * self.rounds) * Fraction(self.coordinate_sensitivity) / Fraction(self.epsilon)
        return checks.round_up(exact)

    def release(self, private, noise: NoiseSource) -> np.ndarray:
        """`private` scores float[m], m >= rounds public, finite; returns int64[rounds], best first, no index twice.

        Raises TypeError or ValueError on another dtype, shape, NaN or infinity, without naming any value.
        """
        scores = checks.private_floats("private", private, (None,))
        if len(scores) < self.rounds:
            raise ValueError(f"private must hold at least rounds = {self.rounds} scores, got shape {scores.shape}")
        chosen, scale = np.empty(self.rounds, dtype=np.int64), self.gumbel_scale
        for turn in range(self.rounds):
            chosen[turn] = noise.argmax_gumbel(scores, scale)
            scores[chosen[turn]] = -np.inf
        return chosen

    def loss_bound(self, m: int, beta: float) -> float:
        """Loss of score against the best index left that no round exceeds, with probability >= 1 - beta."""
        m, beta = checks.whole("m", m, at_least=self.rounds), checks.open_probability("beta", beta)
        return self.gumbel_scale * (math.log(m) + math.log(self.rounds / beta))

    @property
    def guarantee(self) -> Guarantee:
        """The bill of exact draws, with "idealized numerics" among its assumptions."""
        return self._guarantee(Simulation.assumptions)

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of a release through `noise`, with that source's assumptions; never above `epsilon`."""
        return self._guarantee(noise.assumptions)

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """The rho of a release through `noise`: each round is bounded range, eps_t^2/8 (`ZCDP.from_bounded_range`)."""
        return ZCDP.from_bounded_range(self.guarantee_under(noise), self.rounds)

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        name = f"exponential mechanism, {self.rounds} rounds" + (", monotone" if self.monotone else "")
        return Guarantee(self.epsilon, 0.0, self.unit, self.relation, assumptions, (name,))
