"""Exact checks on small domains: Renyi divergences, all neighbours of all small datasets, a query's largest change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import logsumexp

from privlib.dp import checks
from privlib.dp.divergence import log_law

_ABSENT = object()


def renyi_divergence(log_p, log_q, order: float) -> float:
    """Renyi divergence D_order(P || Q) of two discrete laws, in nats.

    (1 / (order - 1)) ln sum p^order q^(1 - order); its limits are the Kullback-Leibler divergence sum p ln(p/q) at
    order 1 and the largest ln(p/q) over outcomes possible under P at order infinity (the smallest epsilon of pure
    differential privacy in this direction). Never falls in the order. A mechanism is rho-zCDP when it is at most
    order * rho at every order > 1 for all neighbours, in both directions.
    Arguments: `log_p`, `log_q` float[m], natural logarithms of laws on the same m outcomes, -inf for impossible ones,
    each summing to 1 within 1e-9; `order` in (0, inf]. Returns a float in [0, inf]: inf when P allows what Q excludes
    and order >= 1, or when the two have no outcome in common.
    Raises ValueError for other shapes, NaN, unnormalised laws, or an order outside the range.
    Source: van Erven and Harremoes 2014, Definitions 2 and 3, Theorems 3 to 6; Bun and Steinke 2016, Definition 1.1.
    """
    order = checks.nonnegative("order", order, infinite=True)
    if order == 0:
        raise ValueError(f"order must be above 0, got {order!r}")
    log_p, log_q = log_law("log_p", log_p), log_law("log_q", log_q)
    if log_p.shape != log_q.shape:
        raise ValueError(f"log_p and log_q must have one shape, got {log_p.shape} and {log_q.shape}")
    possible = log_p > -np.inf
    both = possible & (log_q > -np.inf)
    if not both.any() or (order >= 1 and (possible & ~both).any()):
        return math.inf
    mass, loss = log_p[both], log_p[both] - log_q[both]
    if order == math.inf:
        return max(0.0, float(loss.max()))
    if order == 1:
        return max(0.0, math.fsum(np.exp(mass) * loss))
    exponent = (order - 1) * loss
    if np.abs(exponent).max() < 0.5 and both.sum() == possible.sum():
        # near order 1 or near P = Q the sum is 1 + little: the little is summed alone, or it would be lost
        return max(0.0, math.log1p(math.fsum(np.exp(mass) * np.expm1(exponent))) / (order - 1))
    return max(0.0, float(logsumexp(mass + exponent)) / (order - 1))


def user_values(records: Sequence[Hashable], at_most: int) -> tuple[tuple[Hashable, ...], ...]:
    """Everything one user can hold: all sequences of 0..`at_most` of the `records`; the units of a user's dataset."""
    at_most = checks.whole("at_most", at_most, at_least=0)
    checks.iterable("records", records, "records")
    return tuple(held for count in range(at_most + 1) for held in itertools.product(records, repeat=count))


def neighbouring_pairs(
    values: Sequence[Hashable], max_units: int, relation: str, *, null: Hashable = _ABSENT
) -> Iterator[tuple[tuple[Hashable, ...], tuple[Hashable, ...]]]:
    """All pairs (D, D') of ordered datasets of small size that differ in one unit; each unordered pair at least once.

    A dataset is a tuple of units, each out of `values`: records, or for the unit "user" whole users (`user_values`),
    so that one step exchanges all that a user holds. Order matters, so a query that forgets its first or last unit is
    found out.
    add_drop: D' has one unit more, at every place; D from 0 to max_units - 1 units.
    replace: one place holds another value; 1 to max_units units.
    replace_with_null: one place holds `null`, which stands for "not there" and need not be among `values` (required
    for this relation, refused for others); the other places hold values or nulls. 1 to max_units units.
    The number of pairs grows like max_units * len(values)^(max_units + 1): for small domains.
    Raises ValueError for an unknown relation, a missing or superfluous null, or max_units below 1.
    """
    checks.one_of("relation", relation, checks.RELATIONS)
    max_units = checks.whole("max_units", max_units, at_least=1)
    checks.iterable("values", values, "units")
    if (null is _ABSENT) == (relation == "replace_with_null"):
        raise ValueError(f"null must be given for relation 'replace_with_null' and for no other, got {relation!r}")
    held = tuple(dict.fromkeys(values))
    if relation == "add_drop":
        return _one_more(held, max_units)
    if relation == "replace":
        return _exchanged(held, held, max_units)
    return _exchanged(tuple(dict.fromkeys((*held, null))), (null,), max_units)


def _one_more(held, max_units):
    for count in range(max_units):
        for smaller in itertools.product(held, repeat=count):
            for place, value in itertools.product(range(count + 1), held):
                yield smaller, (*smaller[:place], value, *smaller[place:])


def _exchanged(held, others, max_units):
    for count in range(1, max_units + 1):
        for first in itertools.product(held, repeat=count):
            for place, value in itertools.product(range(count), others):
                if first[place] != value:
                    yield first, (*first[:place], value, *first[place + 1 :])


@dataclass(frozen=True)
class LargestChange:
    """Largest move of a query over the pairs tried, exact for the floats it returned: a lower bound of its sensitivity.

    `l1`, `coordinate` and `l2_squared` are fractions; `witnesses` holds the pair that attained each, in this order.
    """

    l1: Fraction
    l2_squared: Fraction
    coordinate: Fraction
    witnesses: tuple

    @property
    def l2(self) -> float:
        """Square root of `l2_squared`, as a float."""
        return math.sqrt(self.l2_squared)

    def within(self, *, l1: float | None = None, l2: float | None = None, coordinate: float | None = None) -> bool:
        """Whether no pair moved the query by more than the declared sensitivities (those given), without any rounding.

        Raises ValueError when none is given, or one is negative or infinite.
        """
        declared = {"l1": l1, "l2": l2, "coordinate": coordinate}
        given = {name: bound for name, bound in declared.items() if bound is not None}
        bounds = {name: Fraction(checks.nonnegative(name, bound)) for name, bound in given.items()}
        if not bounds:
            raise ValueError("within needs at least one of l1, l2, coordinate")
        moved = {"l1": self.l1, "l2": self.l2_squared, "coordinate": self.coordinate}
        return all(moved[name] <= (bound**2 if name == "l2" else bound) for name, bound in bounds.items())


def largest_change(query: Callable[[tuple], object], pairs: Iterable[tuple[tuple, tuple]]) -> LargestChange:
    """Largest change of `query` (dataset -> number or array of one fixed shape) over neighbouring `pairs`.

    Differences are taken in exact fractions, so rounding inside the query counts and ours does not.
    Raises ValueError without pairs, for outputs of two shapes (the shape alone would tell neighbours apart), and for
    outputs that are not finite.
    """
    checks.function("query", query)
    checks.iterable("pairs", pairs, "pairs of datasets")
    largest, witnesses, answers = [Fraction(-1)] * 3, [None] * 3, {}

    def answer(dataset):
        if dataset not in answers:
            array = np.asarray(query(dataset), dtype=np.float64)
            if not np.isfinite(array).all():
                raise ValueError(f"query must return finite numbers, got {array!r} for {dataset!r}")
            answers[dataset] = array.shape, [Fraction(value) for value in array.ravel().tolist()]
        return answers[dataset]

    for pair in pairs:
        (shape, first), (other, second) = map(answer, pair)
        if shape != other:
            raise ValueError(f"query must return one shape, got {shape} and {other} for the neighbours {pair!r}")
        moves = [abs(a - b) for a, b in zip(first, second, strict=True)]
        squares = [move * move for move in moves]
        sizes = sum(moves, Fraction(0)), sum(squares, Fraction(0)), max(moves, default=Fraction(0))
        for index, size in enumerate(sizes):
            if size > largest[index]:
                largest[index], witnesses[index] = size, pair
    if witnesses[0] is None:
        raise ValueError("pairs must hold at least one pair of neighbours, got none")
    return LargestChange(*largest, tuple(witnesses))
