"""What a release promises: (epsilon, delta), for whom, against which change, under which assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privlib.dp import checks


@dataclass(frozen=True)
class Guarantee:
    """One differential privacy statement, immutable.

    Inequality: for all datasets D, D' that differ by `relation` in one `unit` and all sets S of outputs,
    Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta, where the assumptions named hold.

    Arguments: `epsilon` in [0, inf] (inf: only delta is bounded), `delta` in [0, 1], `unit` "record" or
    "user", `relation` "add_drop" (one unit more or less), "replace" (one unit exchanged for another) or
    "replace_with_null" (one unit's data replaced by a public null, the number of units public),
    `assumptions` what must hold beyond mathematics, `composed` the parts that were paid for, in order.
    Raises TypeError or ValueError on values outside these ranges.
    """

    epsilon: float
    delta: float
    unit: str
    relation: str
    assumptions: tuple[str, ...] = ()
    composed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.nonnegative("epsilon", self.epsilon, infinite=True))
        object.__setattr__(self, "delta", checks.probability("delta", self.delta))
        checks.one_of("unit", self.unit, checks.UNITS)
        checks.one_of("relation", self.relation, checks.RELATIONS)
        for name in ("assumptions", "composed"):
            texts = getattr(self, name)
            # a generator would be used up by the check, and what was assumed be lost
            if not isinstance(texts, (tuple, list)) or not all(isinstance(text, str) for text in texts):
                raise TypeError(f"{name} must be a tuple of texts, got {texts!r}")
            object.__setattr__(self, name, tuple(texts))

    def compose(self, other: Guarantee) -> Guarantee:
        """Guarantee of both releases on the same data: basic composition (Dwork et al. 2006, Theorem 1).

        Epsilons and deltas add, rounded up; the second release may depend on the first. Assumptions are
        united, parts listed in order (a guarantee without parts is listed by its own figures). Raises
        ValueError when units or relations differ: such bills do not add.
        """
        if not isinstance(other, Guarantee):
            raise TypeError(f"other must be a Guarantee, got {type(other).__name__}")
        for name in ("unit", "relation"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"guarantees of one {name} compose, got {mine!r} and {theirs!r}")
        return Guarantee(
            epsilon=_sum_up(self.epsilon, other.epsilon),
            delta=min(1.0, _sum_up(self.delta, other.delta)),
            unit=self.unit,
            relation=self.relation,
            assumptions=tuple(dict.fromkeys(self.assumptions + other.assumptions)),
            composed=self._parts() + other._parts(),
        )

    def group(self, size: int) -> Guarantee:
        """Guarantee for datasets that differ in up to g = `size` >= 1 units.

        Inequality: (g epsilon, delta (1 + exp(epsilon) + ... + exp((g-1) epsilon))).
        Unit and relation stay those of one step; the parts say that a group was paid for. Proof: chain the
        inequality over the g steps; delta of step i is multiplied by exp(i epsilon). Rounded up.
        Source: Vadhan 2017, Lemma 2.2 (whose g exp((g-1) epsilon) delta is the sum's largest term g times).
        """
        size = checks.whole("size", size, at_least=1)
        return replace(
            self,
            epsilon=_times_up(self.epsilon, size),
            delta=_group_delta(self.epsilon, self.delta, size),
            composed=(f"groups of {size}: {' + '.join(self._parts())}",) if size > 1 else self.composed,
        )

    def for_users(self, max_records: int) -> Guarantee:
        """Guarantee for users of at most `max_records` records, from one for records: group privacy, named as assumed.

        Raises ValueError for another unit than "record", and under "replace", where a user who comes with another
        number of records is no sequence of replacements.
        """
        if self.unit != "record":
            raise ValueError(f"for_users needs a guarantee of unit record, got unit {self.unit!r}")
        if self.relation == "replace":
            raise ValueError("for_users needs relation add_drop or replace_with_null, got 'replace'")
        grown = self.group(max_records)
        assumed = f"at most {max_records} records a user"
        return replace(grown, unit="user", assumptions=tuple(dict.fromkeys((*self.assumptions, assumed))))

    def as_replace(self) -> Guarantee:
        """Guarantee under "replace" from one under "add_drop": an exchange is one unit dropped and one added."""
        if self.relation != "add_drop":
            raise ValueError(f"as_replace needs relation add_drop, got {self.relation!r}")
        return replace(self.group(2), relation="replace")

    def to_json(self) -> dict[str, Any]:
        """The fields as a dictionary that `json.dumps` takes; an infinite epsilon becomes the text "inf"."""
        return {
            "epsilon": self.epsilon if self.epsilon < float("inf") else "inf",
            "delta": self.delta,
            "unit": self.unit,
            "relation": self.relation,
            "assumptions": list(self.assumptions),
            "composed": list(self.composed),
        }

    def __str__(self) -> str:
        return in_words(f"({self.epsilon:g}, {self.delta:g})-DP", self)

    def _parts(self) -> tuple[str, ...]:
        return self.composed or (f"({self.epsilon:g}, {self.delta:g})-DP",)


def in_words(promise: str, bill) -> str:
    """A promise with the unit, relation, parts and assumptions of the bill that makes it."""
    text = f"{promise}, unit {bill.unit}, relation {bill.relation}"
    if bill.composed:
        text += f"; composed of {' + '.join(bill.composed)}"
    if bill.assumptions:
        text += f"; assuming {', '.join(bill.assumptions)}"
    return text


def _sum_up(a: float, b: float) -> float:
    if float("inf") in (a, b):
        return float("inf")
    return checks.round_up(Fraction(a) + Fraction(b))


def _times_up(value: float, count: int) -> float:
    return value if value == float("inf") else checks.round_up(Fraction(value) * count)


def _group_delta(epsilon: float, delta: float, size: int) -> float:
    if size == 1 or delta in (0.0, 1.0):
        return delta
    if epsilon == 0:
        return min(1.0, checks.round_up(Fraction(delta) * size))
    if epsilon == float("inf"):
        return 1.0
    # log of the geometric sum, so that exp(size * epsilon) is never taken
    log_sum = (size - 1) * epsilon + math.log(-math.expm1(-size * epsilon)) - math.log(-math.expm1(-epsilon))
    log_delta = math.log(delta) + log_sum
    return math.exp(min(0.0, log_delta + 2.0**-49 * (1 + abs(math.log(delta)) + log_sum)))
