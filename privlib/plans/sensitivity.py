"""How far one protected unit can move the sketch: the four rows of DP-SPIN's Section 5."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlib.dp import checks

RELATIONS = ("add_drop", "replace")


@dataclass(frozen=True)
class Sensitivity:
    """Largest change of the sketch between neighbours, in three norms (rounded up where irrational)."""

    l1: float
    l2: float
    coordinate: float


def sensitivity(unit: str, relation: str, contribution_bound: float = 1.0) -> Sensitivity:
    """Sensitivity of C when one `unit` contributes a nonnegative vector of l1 mass at most B.

    add_drop: the change is that vector, so l1, l2 and one coordinate are at most B. replace: it is a difference
    of two such vectors, so l1 <= 2B, l2 <= sqrt(2) B (the inner product is not negative), one coordinate <= B.
    All bounds are attained when m >= 2. For unit "record" B = 1.
    Raises ValueError for another unit or relation, ValueError or TypeError for a bound that is not positive and finite.
    Source: DP-SPIN, Section 5, and Proposition 5.6 for the coordinate.
    """
    checks.one_of("unit", unit, checks.UNITS)
    checks.one_of("relation", relation, RELATIONS)
    bound = checks.positive("contribution_bound", contribution_bound)
    if unit == "record" and bound != 1.0:
        raise ValueError(f"contribution_bound must be 1 for unit 'record', got {contribution_bound!r}")
    if relation == "add_drop":
        return Sensitivity(bound, bound, bound)
    return Sensitivity(2 * bound, math.nextafter(math.sqrt(2.0) * bound, math.inf), bound)
