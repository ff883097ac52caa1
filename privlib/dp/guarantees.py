"""What a release promises: (epsilon, delta), for whom, against which change, under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass
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
            if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
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
        text = f"({self.epsilon:g}, {self.delta:g})-DP, unit {self.unit}, relation {self.relation}"
        if self.composed:
            text += f"; composed of {' + '.join(self.composed)}"
        if self.assumptions:
            text += f"; assuming {', '.join(self.assumptions)}"
        return text

    def _parts(self) -> tuple[str, ...]:
        return self.composed or (f"({self.epsilon:g}, {self.delta:g})-DP",)


def _sum_up(a: float, b: float) -> float:
    if float("inf") in (a, b):
        return float("inf")
    return checks.round_up(Fraction(a) + Fraction(b))
