"""Holds the records of a fresh run against the committed ones, within the bands that the records state.

Grid columns and the set of rows must match; a column with a band may move within it; every other
column must match, floats to a relative 1e-9. Parameters, seed, guarantee and checksums must match too.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privlib.experiments.gather import Published, published
from privlib.experiments.records import NO_CORPUS, Record, read
from privlib.experiments.workspace import DataSource, ExperimentError, Workspace

FLOAT_TOLERANCE = 1e-9
STATED = (
    "notebook",
    "profile",
    "data",
    "changed",
    "corpus",
    "parameters",
    "seed",
    "guarantee",
    "corpora",
    "models",
    "bands",
    "columns",
)
VALUES = ("value", "mean", "sd", "low", "high", "draws")  # names of value columns by the house's habit
SHOWN = 6  # differing cells of one record that are spelled out


@dataclass
class Comparison:
    """Differences make the check fail; notices do not."""

    compared: int = 0
    differences: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def compare(recorded: Record, fresh: Record) -> list[str]:
    """What differs, one readable line each; empty when fresh is within the recorded bands."""
    name = f"record {recorded.id}"
    stated = [
        f"{name}: {what} recorded {getattr(recorded, what)!r}, fresh {getattr(fresh, what)!r}"
        for what in STATED
        if getattr(recorded, what) != getattr(fresh, what)
    ]
    if recorded.columns != fresh.columns:
        return stated
    grid = grid_columns(recorded)
    pairs = _paired(recorded, fresh, grid)
    if isinstance(pairs, str):
        return [*stated, f"{name}: {pairs}"]
    cells = []
    for label, old_row, new_row in pairs:
        for column, old, new in zip(recorded.columns, old_row, new_row, strict=True):
            band = recorded.bands.get(column)
            if not within(old, new, band):
                difference = f"column {column} recorded {old!r}, fresh {new!r}, tolerance {_shown(band, old)}"
                cells.append(f"{name}, row {label}: {difference}")
    more = [f"{name}: and {len(cells) - SHOWN} more cells"] if len(cells) > SHOWN else []
    return stated + cells[:SHOWN] + more


def within(old: Any, new: Any, band: tuple[str, float] | None) -> bool:
    """Whether a fresh cell agrees with the recorded one: exactly, or for numbers within the band."""
    if old == new and type(old) is type(new):
        return True
    numbers = all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in (old, new))
    if not numbers or not (math.isfinite(old) and math.isfinite(new)):
        return False
    if band is None:
        return type(old) is type(new) is float and math.isclose(old, new, rel_tol=FLOAT_TOLERANCE, abs_tol=0.0)
    kind, tolerance = band
    return abs(new - old) <= tolerance * (abs(old) if kind == "rel" else 1.0)


def grid_columns(record: Record) -> tuple[str, ...]:
    """The leading columns, before the first that has a band or the name of a value."""
    grid = []
    for column in record.columns:
        if column in record.bands or column in VALUES:
            break
        grid.append(column)
    return tuple(grid)


def check(
    workspace: Workspace, profile: str | None = None, data: DataSource | None = None, only: Collection[str] = ()
) -> Comparison:
    """Compare book/_generated/records with book/recorded/<profile>.

    profile, data: of the run at hand, or None for whatever it is. only: notebooks whose records are compared; the
    whole run when empty. A record that was never committed is a difference for packaged data and a notice otherwise;
    a committed one that the run did not make is the same. Raises ExperimentError when the run at hand is of another
    profile or data, is not complete, or lacks a notebook that is named.
    """
    result = Comparison()
    state = _at_hand(workspace, profile, data, only)
    fresh = {id: made for id, made in _fresh(workspace, state).items() if not only or made.notebook in only}
    tell = result.differences if state.data == "packaged" else result.notices
    known = {path: made for path, made in _committed(workspace, state).items() if not only or made.notebook in only}
    for id, made in fresh.items():
        path = _place(workspace, made)
        if path not in known:
            tell.append(f"record {id}: nothing recorded at {path.relative_to(workspace.root)}; `accept` keeps it")
        else:
            result.compared += 1
            result.differences += compare(known[path], made)
    made_here = {_place(workspace, made) for made in fresh.values()}
    for path in sorted(set(known) - made_here):
        if state.data == "packaged":
            tell.append(
                f"record {known[path].id}: recorded at {path.relative_to(workspace.root)}, not made by this run"
            )
    return result


def accept(workspace: Workspace, profile: str, data: DataSource) -> list[Path]:
    """Make the records of the run at hand the committed ones (records only); returns the files that changed."""
    state = _at_hand(workspace, profile, data)
    fresh = _fresh(workspace, state)
    changed = []
    if state.data == "packaged":
        for path in sorted(set(_committed(workspace, state)) - {_place(workspace, m) for m in fresh.values()}):
            path.unlink()
            changed.append(path)
    for made in fresh.values():
        path, text = _place(workspace, made), made.to_json()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


def _at_hand(
    workspace: Workspace, profile: str | None, data: DataSource | None, only: Collection[str] = ()
) -> Published:
    state = published(workspace)
    wanted = (profile or state.profile, data.kind if data else state.data)
    if (state.profile, state.data) != wanted:
        raise ExperimentError(
            f"book/_generated holds profile {state.profile} on {state.data} data, "
            f"not {wanted[0]} on {wanted[1]}: run that first"
        )
    if missing := sorted(set(only) - set(state.notebooks)):
        raise ExperimentError(f"book/_generated does not hold {', '.join(missing)}: run that first")
    if not only and not state.complete:
        raise ExperimentError(
            "the run in book/_generated is not complete: run the whole profile first, or name notebooks with --only"
        )
    return state


def _fresh(workspace: Workspace, state: Published) -> dict[str, Record]:
    paths = sorted((workspace.generated / "records").glob("*.json"))
    records = {made.id: made for made in map(read, paths)}
    if state.data == "packaged":
        return records
    # closed forms depend on no text: the packaged run holds them to their recorded values
    return {id: made for id, made in records.items() if made.corpus != NO_CORPUS}


def _committed(workspace: Workspace, state: Published) -> dict[Path, Record]:
    found = {path: read(path) for path in sorted((workspace.recorded / state.profile).glob("*/*.json"))}
    return {path: made for path, made in found.items() if made.data == state.data and not made.changed}


def _place(workspace: Workspace, made: Record) -> Path:
    return workspace.recorded / made.profile / made.corpus / f"{made.id}.json"


def _paired(recorded: Record, fresh: Record, grid: tuple[str, ...]):
    """(label, old row, new row) matched by the grid where it names a row, else by position; or what is wrong."""
    old, new = ([dict(zip(r.columns, row, strict=True)) for row in r.values] for r in (recorded, fresh))
    labels = [[", ".join(f"{c}={_name(row[c])}" for c in grid) for row in rows] for rows in (old, new)]
    unique = grid and all(len(set(some)) == len(some) for some in labels)
    if not unique:
        if len(old) != len(new):
            return f"{len(old)} rows recorded, {len(new)} fresh"
        labels = [[f"{i} ({label})" for i, label in enumerate(labels[0])]] * 2
    if gone := [label for label in labels[0] if label not in set(labels[1])]:
        return f"{len(gone)} recorded rows are missing, first {gone[0]}"
    if extra := [label for label in labels[1] if label not in set(labels[0])]:
        return f"{len(extra)} rows are new, first {extra[0]}"
    place = {label: index for index, label in enumerate(labels[1])}
    return [(label, recorded.values[i], fresh.values[place[label]]) for i, label in enumerate(labels[0])]


def _name(cell: Any) -> str:
    """A grid value as it names its row; floats to nine digits, so that another machine's last bit is no new row."""
    return f"{cell:.9g}" if isinstance(cell, float) else str(cell)


def _shown(band: tuple[str, float] | None, old: Any) -> str:
    if band is None:
        return f"{FLOAT_TOLERANCE} relative" if isinstance(old, float) else "none (exact)"
    return f"{band[1]:g} {'of the recorded value' if band[0] == 'rel' else 'absolute'}"
