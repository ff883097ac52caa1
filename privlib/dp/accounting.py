"""Composition beyond addition: many equal releases, and releases on disjoint parts of the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privlib.dp import checks
from privlib.dp.guarantees import Guarantee


def advanced_composition(guarantee: Guarantee, times: int, slack: float) -> Guarantee:
    """Guarantee of `times` releases on the same data, each with `guarantee`, for an extra failure `slack`.

    Inequality: epsilon' = min(k epsilon, k epsilon tanh(epsilon/2) + epsilon sqrt(2 k ln(1/slack))),
    delta' = k delta + slack. The loss of the dominating pair has mean epsilon tanh(epsilon/2) and range 2 epsilon a
    release; Hoeffding's inequality bounds the sum (Kairouz, Oh and Viswanath 2015, Theorem 3.4; Dwork, Rothblum and
    Vadhan 2010). Arguments: `times` >= 1, 0 < `slack` < 1, all public. Rounded up.
    """
    checks.instance("guarantee", guarantee, Guarantee)
    times, slack = checks.whole("times", times, at_least=1), checks.open_probability("slack", slack)
    epsilon = guarantee.epsilon
    basic = epsilon if epsilon == math.inf else checks.round_up(Fraction(epsilon) * times)
    mean, spread = times * epsilon * math.tanh(epsilon / 2), epsilon * math.sqrt(-2 * times * math.log(slack))
    return Guarantee(
        min(basic, (mean + spread) * (1 + 2.0**-49)),
        min(1.0, checks.round_up(Fraction(guarantee.delta) * times + Fraction(slack))),
        guarantee.unit,
        guarantee.relation,
        guarantee.assumptions,
        guarantee._parts() * times,
    )


@dataclass(frozen=True)
class Partition:
    """A declaration that every unit lies in exactly one of the named cells: what parallel composition needs.

    `name` of the rule that assigns units ("outlet"), `cells` their public names, at least one, none twice, `unit` whose
    cells are disjoint. `fixed`: a unit's cell is public and no change of its data moves it (a hash of a public id);
    otherwise it may depend on the data, and an exchange can empty one cell into another.
    The guarantee names the declaration among its assumptions; `split` checks it
    for the labels it is given. Raises TypeError or ValueError on anything else.
    """

    name: str
    cells: tuple[str, ...]
    unit: str
    fixed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name must be a non-empty text, got {self.name!r}")
        if not isinstance(self.cells, (tuple, list)) or not all(isinstance(cell, str) for cell in self.cells):
            raise TypeError(f"cells must be a tuple of texts, got {self.cells!r}")
        object.__setattr__(self, "cells", tuple(self.cells))
        if not self.cells or len(set(self.cells)) != len(self.cells):
            raise ValueError(f"cells must be distinct, at least one; got {self.cells!r}")
        checks.one_of("unit", self.unit, checks.UNITS)
        checks.truth("fixed", self.fixed)

    def compose(self, guarantees: Mapping[str, Guarantee]) -> Guarantee:
        """Guarantee of one release a cell, each from its own cell's units alone: the largest epsilon and delta.

        One unit more or less changes one cell; its release pays, the others have the same law on both sides
        (McSherry 2009, Theorem 4). Under "replace" and "replace_with_null" that needs `fixed`, for a changed unit may
        leave one cell for another: two cells pay, and their sizes change, which no such guarantee covers.
        Arguments: cell name -> its guarantee; cells left out release nothing.
        Raises ValueError for a cell that was not declared, another unit, unlike relations, or a moving cell.
        """
        if not guarantees or not set(guarantees) <= set(self.cells):
            raise ValueError(f"guarantees must be of the declared cells {self.cells!r}, got {sorted(guarantees)!r}")
        bills = list(guarantees.values())
        if any(not isinstance(bill, Guarantee) for bill in bills):
            raise TypeError("guarantees must be Guarantee records")
        if {bill.unit for bill in bills} != {self.unit}:
            raise ValueError(f"guarantees must be of the partition's unit {self.unit!r}")
        relations = {bill.relation for bill in bills}
        if len(relations) > 1:
            raise ValueError(f"guarantees must have one relation, got {sorted(relations)}")
        (relation,) = relations
        if relation != "add_drop" and not self.fixed:
            raise ValueError(f"under {relation} a unit may change its cell: the partition must be fixed, or add_drop")
        assumed = f"units disjoint by {self.name}" + (", cells fixed" if self.fixed else "")
        carried = [name for bill in bills for name in bill.assumptions]
        return Guarantee(
            max(bill.epsilon for bill in bills),
            max(bill.delta for bill in bills),
            self.unit,
            relation,
            tuple(dict.fromkeys((*carried, assumed))),
            tuple(f"{cell}: {' + '.join(bill._parts())}" for cell, bill in guarantees.items()),
        )

    def split(self, unit_labels, cell_labels) -> dict[str, np.ndarray]:
        """Row indices of each declared cell, for rows with the given unit and cell labels (sequences of length n).

        Raises ValueError, without naming any of them, when a row's cell was not declared or a unit has rows in two.
        """
        if len(unit_labels) != len(cell_labels):
            raise ValueError(f"one cell a row, got {len(unit_labels)} units and {len(cell_labels)} cells")
        rows: dict[str, list[int]] = {cell: [] for cell in self.cells}
        homes: dict = {}
        for row, (unit, cell) in enumerate(zip(unit_labels, cell_labels, strict=True)):
            if cell not in rows:
                raise ValueError(f"cell_labels must be among the declared cells {self.cells!r}")
            if homes.setdefault(unit, cell) != cell:
                raise ValueError("a unit must lie in one cell only")
            rows[cell].append(row)
        return {cell: np.array(indices, dtype=np.int64) for cell, indices in rows.items()}
