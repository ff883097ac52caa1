"""Exact privacy curves: what releases lose, described so that their composition can be computed, not bounded."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from privlib.dp import checks
from privlib.dp.divergence import hockey_stick, log_law
from privlib.dp.gaussian import gaussian_delta, gaussian_epsilon
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import Simulation

SMALLEST_DELTA = 1e-12
"""Below this the Fourier transforms of a numerical composition cannot tell a delta from rounding."""
_NUMERIC = 1e-13  # added to every numerically composed delta


@dataclass(frozen=True)
class GaussianLoss:
    """Gaussian noise on a vector: N(mu, 1) against N(0, 1), mu = l2 sensitivity / deviation > 0."""

    mu: float
    assumptions: ClassVar[tuple[str, ...]] = Simulation.assumptions

    def __post_init__(self) -> None:
        checks.settle(self, mu=checks.positive)

    @classmethod
    def of(cls, noise_std: float, l2_sensitivity: float) -> GaussianLoss:
        """From the deviation and the l2 sensitivity, the quotient rounded up."""
        noise_std = Fraction(checks.positive("noise_std", noise_std))
        return cls(checks.round_up(Fraction(checks.positive("l2_sensitivity", l2_sensitivity)) / noise_std))

    def delta(self, epsilon: float) -> float:
        return gaussian_delta(epsilon, 1.0, self.mu)

    def group(self, size: int) -> GaussianLoss:
        return GaussianLoss(checks.round_up(Fraction(self.mu) * size))

    def numeric(self, grid: float):
        return _pld().from_gaussian_mechanism(1.0, sensitivity=self.mu, value_discretization_interval=grid)


@dataclass(frozen=True)
class LaplaceLoss:
    """Laplace noise on ONE number: Lap(epsilon, 1) against Lap(0, 1), epsilon = sensitivity / scale > 0.

    Only one number: that a vector's worst neighbours move one coordinate is not proved here; bill a vector by
    `GuaranteeLoss`, which dominates every epsilon-DP release.
    """

    epsilon: float
    assumptions: ClassVar[tuple[str, ...]] = Simulation.assumptions

    def __post_init__(self) -> None:
        checks.settle(self, epsilon=checks.positive)

    def delta(self, epsilon: float) -> float:
        return max(0.0, -math.expm1((epsilon - self.epsilon) / 2)) if epsilon < self.epsilon else 0.0

    def group(self, size: int) -> LaplaceLoss:
        return LaplaceLoss(checks.round_up(Fraction(self.epsilon) * size))

    def numeric(self, grid: float):
        return _pld().from_laplace_mechanism(1.0, sensitivity=self.epsilon, value_discretization_interval=grid)


@dataclass(frozen=True)
class GuaranteeLoss:
    """Any (epsilon, delta)-DP release: the pair of laws that dominates them all (Kairouz, Oh, Viswanath 2015, Thm 2.1).

    With probability delta the output tells everything, else it is randomized response at epsilon.
    """

    epsilon: float
    failure: float = 0.0
    assumptions: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        checks.settle(self, epsilon=checks.nonnegative, failure=checks.probability)

    def delta(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return self.failure
        # (e^a - e^b) / (1 + e^a), divided by e^a
        rest = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return min(1.0, self.failure + (1 - self.failure) * rest)

    def group(self, size: int) -> GuaranteeLoss:
        grown = Guarantee(self.epsilon, self.failure, "record", "add_drop").group(size)
        return GuaranteeLoss(grown.epsilon, grown.delta)

    def numeric(self, grid: float):
        from dp_accounting.pld.common import DifferentialPrivacyParameters

        pair = DifferentialPrivacyParameters(self.epsilon, self.failure)
        return _pld().from_privacy_parameters(pair, value_discretization_interval=grid)


@dataclass(frozen=True)
class PairLoss:
    """A discrete release whose worst neighbours are one known pair of laws on the same m outcomes, natural logs.

    `log_with`: with the unit in the data, `log_without`: without it; -inf where impossible. For "add_drop" only: under
    the other relations either law may be either side, part by part, and one oriented pair does not say so.
    """

    log_with: tuple[float, ...]
    log_without: tuple[float, ...]
    assumptions: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in ("log_with", "log_without"):
            object.__setattr__(self, name, tuple(log_law(name, getattr(self, name)).tolist()))
        hockey_stick(self.log_with, self.log_without, 0.0)  # refuses laws of two lengths

    def delta(self, epsilon: float) -> float:
        return max(
            hockey_stick(self.log_with, self.log_without, epsilon),
            hockey_stick(self.log_without, self.log_with, epsilon),
        )

    def group(self, size: int) -> PairLoss:
        raise ValueError("a pair of laws says nothing about groups of more than one unit")

    def numeric(self, grid: float):
        upper = {j: value for j, value in enumerate(self.log_with) if value > -math.inf}
        lower = {j: value for j, value in enumerate(self.log_without) if value > -math.inf}
        return _pld().from_two_probability_mass_functions(
            lower, upper, value_discretization_interval=grid, symmetric=False
        )


@dataclass(frozen=True)
class PrivacyCurve:
    """The exact curve delta(epsilon) of releases made together on the same data, immutable.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta(epsilon) at every epsilon at once. One part, and
    Gaussians among themselves (mu = root of the sum of squares; Dong, Roth and Su 2022, Corollary 3.3), in closed
    form; anything else through dp-accounting's privacy loss distributions, rounded up onto `grid`, imported then.
    The parts and their parameters are fixed beforehand; releases may see the outputs before them.
    Arguments: `parts`, one loss a release; `grid` > 0 the step of numeric composition; the others as in `Guarantee`.
    Raises TypeError or ValueError; ValueError for numeric deltas below 1e-12, which rounding would drown.
    """

    parts: tuple[Any, ...]
    unit: str
    relation: str
    assumptions: tuple[str, ...] = ()
    grid: float = 1e-4

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(checks.sequence("parts", self.parts, "losses")))
        if not self.parts:
            raise ValueError("parts must hold at least one loss")
        for part in self.parts:
            if not isinstance(part, (GaussianLoss, LaplaceLoss, GuaranteeLoss, PairLoss)):
                raise TypeError(f"parts must be losses with a known pair of laws, got {type(part).__name__}")
            if isinstance(part, PairLoss) and self.relation != "add_drop":
                raise ValueError(f"a PairLoss is known under add_drop only, got relation {self.relation!r}")
        checks.settle(self, grid=checks.positive)
        carried = [name for part in self.parts for name in part.assumptions]
        said = Guarantee(0.0, 0.0, self.unit, self.relation, self.assumptions)
        object.__setattr__(self, "assumptions", tuple(dict.fromkeys((*said.assumptions, *carried))))

    @classmethod
    def from_guarantee(cls, guarantee: Guarantee) -> PrivacyCurve:
        """The curve that every release with this guarantee stays under."""
        loss = GuaranteeLoss(guarantee.epsilon, guarantee.delta)
        return cls((loss,), guarantee.unit, guarantee.relation, guarantee.assumptions)

    def compose(self, other: PrivacyCurve) -> PrivacyCurve:
        """Curve of both; the finer grid of the two. Raises ValueError when units or relations differ."""
        if not isinstance(other, PrivacyCurve):
            raise TypeError(f"other must be a PrivacyCurve, got {type(other).__name__}: it has no exact curve")
        for name in ("unit", "relation"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"curves of one {name} compose, got {mine!r} and {theirs!r}")
        assumptions = (*self.assumptions, *other.assumptions)
        return replace(self, parts=self.parts + other.parts, assumptions=assumptions, grid=min(self.grid, other.grid))

    def repeat(self, times: int) -> PrivacyCurve:
        """Curve of `times` >= 1 such releases."""
        return replace(self, parts=self.parts * checks.whole("times", times, at_least=1))

    def group(self, size: int) -> PrivacyCurve:
        """Curve for datasets `size` units apart: every shift grows `size` times. ValueError where a part is a pair."""
        size = checks.whole("size", size, at_least=1)
        return self if size == 1 else replace(self, parts=tuple(part.group(size) for part in self.parts))

    def delta(self, epsilon: float) -> float:
        """delta at `epsilon` in [0, inf], rounded up."""
        epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
        closed = self._closed()
        if closed is not None:
            return closed.delta(epsilon)
        if epsilon == math.inf:
            return min(1.0, math.fsum(part.delta(epsilon) for part in self.parts))
        return min(1.0, float(self._numeric().get_delta_for_epsilon(epsilon)) + _NUMERIC)

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon >= 0 with delta(epsilon) <= `delta`, to the grid, rounded up; inf when there is none."""
        delta = checks.open_probability("delta", delta)
        closed = self._closed()
        if isinstance(closed, GaussianLoss):
            return gaussian_epsilon(delta, 1.0, closed.mu)
        if delta < SMALLEST_DELTA:
            raise ValueError(f"delta must be at least {SMALLEST_DELTA:g} for a numeric curve, got {delta!r}")
        epsilon = float(self._numeric().get_epsilon_for_delta(delta - _NUMERIC))
        return epsilon if epsilon == math.inf else max(0.0, math.nextafter(epsilon, math.inf))

    def guarantee(self, delta: float) -> Guarantee:
        """The (epsilon, delta) statement of this curve at one `delta`."""
        counted = Counter(f"{type(part).__name__}" for part in self.parts)
        names = tuple(f"{count} x {name}" for name, count in counted.items())
        return Guarantee(self.epsilon(delta), delta, self.unit, self.relation, self.assumptions, names)

    def _closed(self):
        if len(self.parts) == 1:
            return self.parts[0]
        if all(isinstance(part, GaussianLoss) for part in self.parts):
            square = sum(Fraction(part.mu) ** 2 for part in self.parts)
            return GaussianLoss(math.nextafter(math.sqrt(checks.round_up(square)), math.inf))
        return None

    def _numeric(self):
        total = None
        for part, count in Counter(self.parts).items():
            one = part.numeric(self.grid)
            several = one.self_compose(count) if count > 1 else one
            total = several if total is None else total.compose(several)
        return total


def _pld():
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution
