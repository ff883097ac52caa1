"""Zero-concentrated differential privacy: one number rho that adds, and its tight conversion to (epsilon, delta)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from scipy.optimize import brentq

from privlib.dp import checks
from privlib.dp.guarantees import Guarantee, in_words


@dataclass(frozen=True)
class ZCDP:
    """One rho-zCDP statement, immutable.

    Inequality: for all datasets D, D' that differ by `relation` in one `unit` and every order alpha > 1 the Renyi
    divergence satisfies D_alpha(M(D) || M(D')) <= rho alpha, where the assumptions named hold.
    Arguments: `rho` in [0, inf], the others as in `Guarantee`. Raises TypeError or ValueError on anything else.
    Source: Bun and Steinke 2016, Definition 1.
    """

    rho: float
    unit: str
    relation: str
    assumptions: tuple[str, ...] = ()
    composed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", checks.nonnegative("rho", self.rho, infinite=True))
        said = Guarantee(0.0, 0.0, self.unit, self.relation, self.assumptions, self.composed)  # the same checks
        object.__setattr__(self, "assumptions", said.assumptions)
        object.__setattr__(self, "composed", said.composed)

    @classmethod
    def from_pure(cls, guarantee: Guarantee) -> ZCDP:
        """epsilon^2 / 2 of a pure guarantee (Bun and Steinke 2016, Proposition 4); ValueError when delta > 0."""
        if guarantee.delta > 0:
            raise ValueError(f"a pure guarantee is zCDP, one of delta {guarantee.delta:g} is not")
        epsilon = guarantee.epsilon
        rho = epsilon if epsilon == math.inf else checks.round_up(Fraction(epsilon) ** 2 / 2)
        return cls(rho, guarantee.unit, guarantee.relation, guarantee.assumptions, guarantee.composed)

    @classmethod
    def gaussian(cls, noise_std: float, l2_sensitivity: float, unit: str, relation: str, assumptions=()) -> ZCDP:
        """l2_sensitivity^2 / (2 noise_std^2) of Gaussian noise (Bun and Steinke 2016, Proposition 6)."""
        noise_std = Fraction(checks.positive("noise_std", noise_std))
        ratio = Fraction(checks.positive("l2_sensitivity", l2_sensitivity)) / noise_std
        return cls(checks.round_up(ratio**2 / 2), unit, relation, assumptions, ("Gaussian vector",))

    def compose(self, other: ZCDP) -> ZCDP:
        """Guarantee of both releases on the same data: rhos add, rounded up (Bun and Steinke 2016, Lemma 7).

        The second release, its own rho included, may depend on the first (Feldman and Zrnic 2021, Theorem 3.1).
        Assumptions are united, parts listed in order. Raises ValueError when units or relations differ.
        """
        if not isinstance(other, ZCDP):
            raise TypeError(f"other must be a ZCDP, got {type(other).__name__}")
        mine = Guarantee(self.rho, 0.0, self.unit, self.relation, self.assumptions, self._parts())
        both = mine.compose(Guarantee(other.rho, 0.0, other.unit, other.relation, other.assumptions, other._parts()))
        return ZCDP(both.epsilon, both.unit, both.relation, both.assumptions, both.composed)

    def group(self, size: int) -> ZCDP:
        """Guarantee for datasets that differ in up to `size` >= 1 units: size^2 rho (Bun, Steinke 2016, Prop. 27)."""
        size = checks.whole("size", size, at_least=1)
        if size == 1:
            return self
        rho = self.rho if self.rho == math.inf else checks.round_up(Fraction(self.rho) * size**2)
        return replace(self, rho=rho, composed=(f"groups of {size}: {' + '.join(self._parts())}",))

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon >= 0 at which this rho is known to give (epsilon, delta)-DP; 0 < delta < 1; rounded up.

        Canonne, Kamath and Steinke 2020, Corollary 13: every order alpha = 1 + s gives
        epsilon(s) = (1 + s) rho + (ln(1/delta) - ln(1 + s)) / s - ln(1 + 1/s). Its derivative vanishes where
        rho s^2 + ln(1 + s) = ln(1/delta), which rises in s: one root, found by bisection and safe wherever it stops.
        """
        log_inverse = -math.log(checks.open_probability("delta", delta))
        if self.rho in (0.0, math.inf):
            return self.rho
        s = _root(lambda s: self.rho * s * s + math.log1p(s) - log_inverse)
        terms = ((1 + s) * self.rho, log_inverse / s, -math.log1p(s) / s, -math.log1p(1 / s))
        return max(0.0, math.fsum(terms) + 2.0**-49 * sum(map(abs, terms)))

    def delta(self, epsilon: float) -> float:
        """Smallest delta at which this rho is known to give (epsilon, delta)-DP; epsilon in [0, inf]; rounded up.

        Corollary 13 again: ln delta(s) = s ((1 + s) rho - epsilon - ln(1 + 1/s)) - ln(1 + s), convex in s, smallest
        where rho (1 + 2 s) - ln(1 + 1/s) = epsilon.
        """
        epsilon = checks.nonnegative("epsilon", epsilon, infinite=True)
        if self.rho == math.inf:
            return 1.0
        if self.rho == 0 or epsilon == math.inf:
            return 0.0
        if self.rho - epsilon > 500:  # the optimal s is below exp(-500), where the bound is 1 to the last bit
            return 1.0
        s = _root(lambda s: self.rho * (1 + 2 * s) - math.log1p(1 / s) - epsilon)
        terms = (s * (1 + s) * self.rho, -s * epsilon, -s * math.log1p(1 / s), -math.log1p(s))
        return math.exp(min(0.0, math.fsum(terms) + 2.0**-49 * sum(map(abs, terms))))

    def guarantee(self, delta: float) -> Guarantee:
        """The (epsilon, delta) statement that this one implies."""
        return Guarantee(self.epsilon(delta), delta, self.unit, self.relation, self.assumptions, self._parts())

    def __str__(self) -> str:
        return in_words(f"{self.rho:g}-zCDP", self)

    def _parts(self) -> tuple[str, ...]:
        return self.composed or (f"{self.rho:g}-zCDP",)


def largest_rho(epsilon: float, delta: float) -> float:
    """Largest rho (to 1e-12, from below) that converts to at most `epsilon` at `delta`; epsilon > 0, 0 < delta < 1."""
    return _largest_rho(checks.positive("epsilon", epsilon), checks.open_probability("delta", delta))


@functools.lru_cache(maxsize=4096)  # rules ask again at every release
def _largest_rho(epsilon: float, delta: float) -> float:
    def bill(rho: float) -> float:
        return ZCDP(rho, "record", "add_drop").epsilon(delta)

    low, high = 0.0, epsilon  # rho = epsilon already costs more than epsilon unless delta is near 1
    while bill(high) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if bill(middle) <= epsilon else (low, middle)
    return low


def _root(rising: Callable[[float], float]) -> float:
    """Root over s > 0 of a function that rises from below 0, bracketed and solved in ln s."""
    low, high, step = 0.0, 0.0, 1.0
    while rising(math.exp(low)) > 0 and low > -600:
        low, step = low - step, 2 * step
    step = 1.0
    while rising(math.exp(high)) < 0 and high < 300:
        high, step = high + step, 2 * step
    if not low < high:
        return 1.0
    return math.exp(brentq(lambda t: rising(math.exp(t)), low, high, xtol=1e-13, rtol=1e-13))
