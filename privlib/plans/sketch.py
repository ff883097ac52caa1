"""The aggregate C of all assignments: one number an atom, the only thing a release looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from privlib.dp import checks
from privlib.plans.assign import GRID, assign
from privlib.plans.universe import AtomUniverse


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """Private: the masses C (float64[m]) with the public facts that a mechanism must check before it adds noise.

    `unit` whose data moves the masses, `contribution_bound` the l1 mass one unit can add, `universe`
    fingerprint of the atom list (or None for masses made by hand). `repr` shows no mass.
    """

    masses: np.ndarray
    unit: str
    contribution_bound: float
    universe: str | None = None

    def __post_init__(self) -> None:
        masses = checks.private_floats("masses", self.masses, (None,))
        if not masses.size or (masses < 0).any():
            raise ValueError(f"masses must be float[m], m >= 1, at least 0; got shape {masses.shape}")
        checks.one_of("unit", self.unit, checks.UNITS)
        checks.positive("contribution_bound", self.contribution_bound)
        masses.setflags(write=False)
        object.__setattr__(self, "masses", masses)

    def __len__(self) -> int:
        return len(self.masses)

    def __repr__(self) -> str:
        return f"Sketch({len(self)} atoms, unit={self.unit!r}, contribution_bound={self.contribution_bound!r}, private)"


def sketch(
    target: Any, universe: AtomUniverse, sparsity: int = 3, unit: str = "record", contribution_bound: float = 1.0
) -> Sketch:
    """Assign every protected text and add up.

    Record: C = sum_i v_i. User (`target.unit_ids` says whose a record is): U_u = sum of u's v,
    V_u = U_u min(1, B / ||U_u||_1) with B = `contribution_bound`, C = sum_u V_u.
    `target`: n texts, private. Raises ValueError for another unit and for a target without ids, by type only.
    Source: DP-SPIN, Sections 3.3, 4.1 and 5.
    """
    checks.one_of("unit", unit, checks.UNITS)
    bound = checks.positive("contribution_bound", contribution_bound)
    if unit == "record" and bound != 1.0:
        raise ValueError(f"contribution_bound must be 1 for unit 'record', got {contribution_bound!r}")
    vectors = assign(target, universe, sparsity)
    if unit == "record":
        return record_sketch(vectors, universe.fingerprint)
    units = getattr(target, "unit_ids", None)
    if units is None:
        raise ValueError(f"target must have unit_ids for unit {unit!r}, got {type(target).__name__} without them")
    return user_sketch(vectors, units, contribution_bound, universe.fingerprint)


def record_sketch(vectors: sparse.csr_array, universe: str | None = None) -> Sketch:
    """Sum of assignment rows (float CSR (n, m), as `assign` makes them)."""
    return Sketch(_totals(_checked(vectors)), "record", 1.0, universe)


def user_sketch(
    vectors: sparse.csr_array, unit_ids: Sequence[str], contribution_bound: float, universe: str | None = None
) -> Sketch:
    """Sum over users of their summed rows, each clipped to l1 mass `contribution_bound` (B > 0, public).

    Clipping is done in whole multiples of the grid, rounded down, so no user's share exceeds B by a bit.
    Ids are told apart exactly as they are; raises TypeError unless each is a str (types only in the message).
    """
    if checks.positive("contribution_bound", contribution_bound) < GRID:
        raise ValueError(f"contribution_bound must be at least {GRID}, got {contribution_bound!r}")
    vectors, unit_ids = _checked(vectors), checks.texts("unit_ids", unit_ids)
    if len(unit_ids) != vectors.shape[0]:
        raise ValueError(f"unit_ids must be one a row, got {len(unit_ids)} for {vectors.shape[0]} rows")
    # ids as they are: an array of texts would drop trailing NULs and merge two users into one
    known = {name: place for place, name in enumerate(dict.fromkeys(unit_ids))}
    owner = np.fromiter(map(known.__getitem__, unit_ids), np.int64, len(unit_ids))
    users = len(known)
    membership = sparse.csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), (users, len(owner)))
    sums = sparse.csr_array(membership @ vectors)
    sums.data = clip_rows(sums, contribution_bound)
    return Sketch(_totals(sums), "user", float(contribution_bound), universe)


def clip_rows(sums: sparse.csr_array, contribution_bound: float) -> np.ndarray:
    """Entries of the rows scaled to l1 mass at most `contribution_bound`, on the grid, rounded down."""
    lengths = np.diff(sums.indptr)
    steps = np.rint(sums.data / GRID).astype(np.int64)
    totals = np.zeros(len(lengths), dtype=np.int64)
    np.add.at(totals, np.repeat(np.arange(len(lengths)), lengths), steps)
    bound = int(np.floor(contribution_bound / GRID))
    total = np.repeat(totals, lengths)
    over = total > bound
    # products of two counts of 2^-20 may pass 2^63: whole numbers of any size then
    kind = np.int64 if int(steps.max(initial=0)) * bound < 2**63 else object
    steps[over] = (steps[over].astype(kind) * bound // total[over].astype(kind)).astype(np.int64)
    return steps * GRID


def _totals(rows: sparse.csr_array) -> np.ndarray:
    return np.bincount(rows.indices, weights=rows.data, minlength=rows.shape[1]).astype(np.float64)


def _checked(vectors: sparse.csr_array) -> sparse.csr_array:
    """The rows, if they are what `assign` promises: on the grid, not negative, mass at most one."""
    rows = sparse.csr_array(vectors, dtype=np.float64)
    rows.sum_duplicates()
    steps = rows.data / GRID
    masses = rows.sum(axis=1)
    if (steps < 0).any() or (steps != np.floor(steps)).any() or (masses > 1).any():
        raise ValueError(
            f"vectors must be rows of mass at most 1 on the grid of 2^-20, got array of shape {rows.shape}"
        )
    return rows
