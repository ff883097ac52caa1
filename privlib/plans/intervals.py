"""What the noise leaves certain: confidence for the reader of a plan, from the plan alone.

A plan shows the largest of many noisy masses, and those are large partly by luck: intervals that are right for one
atom picked beforehand are wrong for the atoms of a plan. The ones here hold for all noise draws at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import lambertw, log_ndtr, ndtri

from privlib.dp import checks
from privlib.plans.plan import Noise, SemanticPlan

MARGIN_QUANTILE = 0.95
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_NEGLIGIBLE = 1e-20  # chance left out of an integral


@dataclass(frozen=True)
class MassInterval:
    """`low` <= true mass of the atom `label` <= `high`."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class OrderBound:
    """True mass of `above` minus true mass of `below` >= `at_least`; below 0 the order is not established."""

    above: str
    below: str
    at_least: float


@dataclass(frozen=True)
class Intervals:
    """Simultaneous confidence for one plan: `masses` by rank, `orders` for every pair, higher rank first.

    `level`: chance that all of `masses` hold, and chance that all of `orders` hold (each family for itself);
    `noise` its law; `draws` how many noise draws it is simultaneous over. Printed: all masses and, of the orders
    with a bound above 0, the nearest one of each atom.
    """

    level: float
    noise: Noise
    draws: int
    masses: tuple[MassInterval, ...]
    orders: tuple[OrderBound, ...]

    def __str__(self) -> str:
        established = [order for order in self.orders if order.at_least > 0]
        nearest = {order.above: order for order in reversed(established)}  # the first of each atom stays
        lines = [
            f"Confidence {self.level:g} for all lines at once, over {self.draws} draws of {self.noise.law} noise "
            f"of scale {self.noise.scale:.4g}.",
            *(f"“{one.label}”: true mass in [{one.low:.1f}, {one.high:.1f}]" for one in self.masses),
            f"Orders established at confidence {self.level:g}, all at once: {len(established)} of {len(self.orders)}; "
            "of each atom the nearest:",
            *(
                f"“{one.above}” above “{one.below}” by at least {one.at_least:.1f}"
                for one in reversed(nearest.values())
            ),
        ]
        return "\n".join(lines)


def intervals(plan: SemanticPlan, level: float = 0.95) -> Intervals:
    """Intervals for the true masses of the admitted atoms and lower bounds for their released orders.

    Post-processing of a plan and a public `level` in (0, 1): no private data, no bill.
    Inequality: over the release's coins, whatever the true masses, Pr[every interval holds] >= `level` and
    Pr[every order bound holds] >= `level`. Simultaneous over all m draws for the full sketches, whose atoms were
    picked by those draws; over the L values for private_topL, drawn afresh once the atoms stand (but ranked by those
    draws, so not one by one). Mass: c~ -+ `half_width`, no end below 0, since no mass is. Order: c~_i - c~_j -
    `range_quantile`, a bound on how much C_i exceeds C_j, not a probability that it does.
    Continuous laws; a release through `Secure` is on a grid, and off by less than a step of it.
    Raises TypeError for anything but a plan, ValueError when the plan does not say its noise, or for the level.
    """
    if not isinstance(plan, SemanticPlan):
        raise TypeError(f"plan must be a SemanticPlan, got {type(plan).__name__}")
    if plan.noise is None:
        raise ValueError("plan must state its noise (law and scale) for intervals, got a plan without")
    draws = plan.plan_size if plan.mechanism.startswith("private_topL") else plan.universe_size
    reach = half_width(plan.noise, level, draws)
    masses = tuple(
        MassInterval(atom.label, max(0.0, atom.mass - reach), max(0.0, atom.mass + reach)) for atom in plan.atoms
    )
    orders: tuple[OrderBound, ...] = ()
    if len(plan.atoms) > 1:
        spread = range_quantile(plan.noise, level, draws)
        orders = tuple(
            OrderBound(above.label, below.label, above.mass - below.mass - spread)
            for k, above in enumerate(plan.atoms)
            for below in plan.atoms[k + 1 :]
        )
    return Intervals(float(level), plan.noise, draws, masses, orders)


def half_width(noise: Noise, level: float, draws: int) -> float:
    """Smallest r with Pr[|N_j| <= r for all j] >= `level` for `draws` >= 1 independent draws N_j of `noise`.

    Each may fail with probability t = 1 - level^(1/draws) (Sidak 1967, exact for independent draws). Gaussian:
    r = std Phi^-1(1 - t/2). Laplace: r = b ln(1/t).
    """
    tail = -math.expm1(math.log(_checked(level)) / _count(draws, 1))
    return float(noise.scale * (-ndtri(tail / 2) if noise.law == "gaussian" else -math.log(tail)))


def range_quantile(noise: Noise, level: float, draws: int) -> float:
    """Smallest q with Pr[N_i - N_j <= q for all i, j] = Pr[max N - min N <= q] >= `level`, for `draws` >= 2.

    Given the smallest draw x, the others lie above it independently, beyond x + q with probability S(x + q) / S(x)
    each, S = Pr[N > .]: Pr[range > q] = int draws f S^(draws - 1) (1 - (1 - S(x + q) / S(x))^(draws - 1)) dx, by
    Gauss-Legendre on the pieces where the law is smooth; solved to 1e-10 and rounded up.
    Two draws: the law of one difference, so (1 + level) / 2 in `difference_quantile`.
    """
    draws, log_miss = _count(draws, 2), math.log1p(-_checked(level))
    unit = Noise(noise.law, 1.0)

    def excess(spread: float) -> float:
        return math.log(_range_exceeds(unit.law, spread, draws)) - log_miss

    top = 2 * half_width(unit, level, draws)  # all draws within a half width: their range is within two
    return float(noise.scale * brentq(excess, 1e-9, top, xtol=1e-11, rtol=1e-11) * (1 + 1e-10))


def difference_quantile(noise: Noise, probability: float = MARGIN_QUANTILE) -> float:
    """Quantile of the difference of two independent draws of `noise`, `probability` in [1/2, 1).

    Gaussian: sqrt(2) std Phi^-1(p). Laplace: with t = x/b, Pr[difference > x] = (2 + t) exp(-t) / 4, solved
    by the lower branch of Lambert's W. A margin for reading two masses, not for the best of many.
    """
    checks.instance("noise", noise, Noise)
    if not 0.5 <= checks.probability("probability", probability) < 1:
        raise ValueError(f"probability must lie in [1/2, 1), got {probability!r}")
    if noise.law == "gaussian":
        return float(math.sqrt(2) * noise.scale * ndtri(probability))
    argument = -4 * (1 - probability) * math.exp(-2)
    return float(noise.scale * (-2 - lambertw(argument, -1).real))


def _range_exceeds(law: str, spread: float, draws: int) -> float:
    if law == "gaussian":
        ends = [ndtri(_NEGLIGIBLE / draws), -ndtri(_NEGLIGIBLE ** (1 / draws))]
    else:
        low, high = math.log(2 * _NEGLIGIBLE / draws), -math.log(2 * min(0.5, _NEGLIGIBLE ** (1 / draws)))
        ends = sorted({low, *(kink for kink in (-spread, 0.0) if low < kink < high), high})
    total = 0.0
    for start, end in pairwise(ends):
        x = start + (end - start) * (_NODES + 1) / 2
        beyond, density = _log_tail(law, x), _log_density(law, x)
        smallest = np.exp(math.log(draws) + density + (draws - 1) * beyond)
        with np.errstate(divide="ignore"):  # all but surely beyond: a logarithm of 0, and others = 1
            others = -np.expm1((draws - 1) * np.log1p(-np.exp(_log_tail(law, x + spread) - beyond)))
        total += (end - start) / 2 * float(_WEIGHTS @ (smallest * others))
    return total


def _log_tail(law: str, x: np.ndarray) -> np.ndarray:
    if law == "gaussian":
        return log_ndtr(-x)
    return np.where(x > 0, -math.log(2) - x, np.log1p(-np.exp(np.minimum(x, 0)) / 2))


def _log_density(law: str, x: np.ndarray) -> np.ndarray:
    return -x * x / 2 - math.log(2 * math.pi) / 2 if law == "gaussian" else -np.abs(x) - math.log(2)


def _checked(level: float) -> float:
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ValueError(f"level must be a number strictly between 0 and 1, got {level!r}")
    return float(level)


def _count(draws: int, at_least: int) -> int:
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < at_least:
        raise ValueError(f"draws must be an integer of at least {at_least}, got {draws!r}")
    return draws
