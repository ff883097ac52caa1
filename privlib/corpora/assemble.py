"""From rows to a corpus: which column is what, what is skipped and counted, what stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace

from . import arguments, hashing
from .corpus import Corpus, Provenance, sampling_step
from .report import LoadingReport
from .rows import Row


def assemble(
    rows: Iterable[Row],
    *,
    name: str,
    text: str,
    provenance: Provenance,
    record: str | None = None,
    unit: str | None = None,
    attributes: Sequence[str] | Mapping[str, str] | None = None,
    clean: Callable[[str], str] = str.strip,
    repeated_ids: str = "error",
    rate: float | None = None,
    seed: int = 1,
    report: LoadingReport | None = None,
) -> Corpus:
    """The corpus held by `rows`.

    text, record, unit   names of columns; without `record` (or where it is empty) a row's id is a hash
                         of the whole row, numbered for exact repeats
    attributes           columns to keep, or {attribute: column}; None keeps all columns left
    clean                applied to each text; a text that is empty afterwards is skipped and counted
    repeated_ids         "error", or "skip" to keep the first row of an id and count the rest
    rate, seed           keep each unit (user, else record) with this public probability while reading: the
                         same records as `Corpus.sample(rate=rate, seed=seed)`, without holding the others

    Rows without a unit id, where `unit` is named, are skipped and counted: nobody could say whose they
    are. Raises ValueError for no rows at all, for a column that no row has, for repeated ids and
    for ids with a NUL character.
    """
    if repeated_ids not in ("error", "skip"):
        raise ValueError(f"repeated_ids must be 'error' or 'skip', got {repeated_ids!r}")
    arguments.text("text", text)
    if isinstance(attributes, str):
        raise TypeError(f"attributes must be a list of columns or {{attribute: column}}, got the string {attributes!r}")
    if attributes is not None and not hasattr(attributes, "__iter__"):
        raise TypeError(f"attributes must be a list of columns or {{attribute: column}}, got {attributes!r}")
    report = LoadingReport() if report is None else report
    bound = None if rate is None else hashing.threshold(rate)
    content_id = hashing.ContentIds()
    wanted = attributes if isinstance(attributes, Mapping) or attributes is None else {a: a for a in attributes}
    given = {"text": text, "record": record, "unit": unit}
    named = {role: column for role, column in given.items() if column is not None}
    texts: list[str] = []
    records: list[str] = []
    units: list[str] = []
    columns: dict[str, list[str]] = {} if wanted is None else {key: [] for key in wanted}
    seen_ids: set[str] = set()
    seen_columns: dict[str, None] = {}
    last_columns: Set[str] = frozenset()
    for number, row in enumerate(rows, start=1):
        report.read()
        if row.keys() != last_columns:  # the same in every row of a table, not so in JSON lines
            last_columns = row.keys()
            seen_columns.update(dict.fromkeys(row))
            if wanted is None:
                fresh = [key for key in row if key not in columns and key not in named.values()]
                columns.update({key: [""] * len(texts) for key in fresh})
        cleaned = clean(row.get(text, ""))
        if not cleaned:
            report.skip("empty text")
            continue
        if unit is not None and not row.get(unit):
            report.skip("no unit id")
            continue
        identifier = row.get(record, "") if record is not None else ""
        for role, column in (("record", record), ("unit", unit)):
            if column is not None and "\0" in row.get(column, ""):  # C strings and numpy drop it: two ids would merge
                raise ValueError(f"{role}={column!r}: expected ids without NUL characters, row {number} holds one")
        if not identifier:
            identifier = content_id(row)
            if record is not None:
                report.note("id made from the row's content")
        if identifier in seen_ids:
            if repeated_ids == "error":
                raise ValueError(
                    f"record={record!r}: expected distinct ids, row {number} repeats an earlier one "
                    "(repeated_ids='skip' keeps the first)"
                )
            report.skip("repeated record id")
            continue
        seen_ids.add(identifier)
        if bound is not None and hashing.position("sample", seed, row[unit] if unit else identifier) >= bound:
            report.skip("not sampled")
            continue
        if "\ufffd" in cleaned:
            report.note("replacement character: damaged before it came here")
        if wanted is None:
            for key, values in columns.items():
                values.append(row.get(key, ""))
        else:
            for key, values in columns.items():
                values.append(row.get(wanted[key], ""))
        texts.append(cleaned)
        records.append(identifier)
        if unit is not None:
            units.append(row[unit])
        report.keep()
    if not seen_columns:
        raise ValueError(f"{provenance.source}: expected at least one row, found none")
    kept = {key: key for key in columns} if wanted is None else dict(wanted)
    joined = len(seen_columns) == 1 and ";" in next(iter(seen_columns))
    there = f"one of the columns {list(seen_columns)}" + (" (is the separator a semicolon?)" if joined else "")
    for role, column in named.items():
        if column not in seen_columns:
            raise ValueError(f"{role}={column!r}: expected {there}")
    for attribute, column in kept.items():
        if column not in seen_columns:
            raise ValueError(f"attributes: no column {column!r} (for {attribute!r}), expected {there}")
    selection = provenance.selection if rate is None else (*provenance.selection, sampling_step(rate, seed))
    return Corpus(
        name=name,
        texts=tuple(texts),
        record_ids=tuple(records),
        unit_ids=tuple(units) if unit is not None else None,
        attributes={key: tuple(columns[key]) for key in columns},
        provenance=replace(
            provenance,
            selection=selection,
            columns=kept | named,
        ),
    )
