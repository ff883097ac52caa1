"""A curator's own files: CSV, TSV, JSON lines, Parquet, plain text, and folders of one of these.

Parquet goes through the `datasets` library. CSV and JSON lines do not, for it cannot be held to what
this house promises of private text: its CSV reader takes a row with one field too many by shifting
every value one column to the left, without a word; its JSON reader makes dates out of strings that
look like dates; both log the path of a damaged file. The reader of `rows` is strict and keeps every
string as it is ("None", "NA" and "2016-09-01" included), and like the streaming mode used for Parquet
leaves no copy of the records in a cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from . import arguments, rows
from .assemble import assemble
from .cleaning import one_line
from .corpus import Corpus, Provenance
from .hub_datasets import quiet_datasets
from .raw import checksum
from .report import LoadingReport

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".txt": "txt",
}


def read(
    path: str | os.PathLike,
    *,
    text: str = "text",
    unit: str | None = None,
    record: str | None = None,
    attributes: Sequence[str] | Mapping[str, str] = (),
    name: str = "private corpus",
    public: bool = False,
    terms: str = "supplied by the curator",
    encoding: str = "utf-8-sig",
    repeated_ids: str = "error",
    rate: float | None = None,
    seed: int = 1,
    report: LoadingReport | None = None,
) -> Corpus:
    """The corpus in a file, or in all files of a folder (and its subfolders) that have one format.

    text, unit, record   names of columns; without `record` a row's id is a hash of the whole row
    attributes           columns to keep, or {attribute: column}; none unless named
    public               whether the texts are public; if not, provenance withholds the checksum
    encoding             of CSV, TSV and plain text; damaged bytes raise ValueError
    repeated_ids         "error", or "skip" to keep the first row of an id and count the rest
    rate, seed           keep each unit with this public probability while reading
    report               an empty LoadingReport to fill (curator only)

    Formats by name: .csv .tsv .jsonl .ndjson .txt, each also with .gz, and .parquet. A single .txt
    holds one record a line (ended by LF or CRLF); in a folder each .txt is one record, its relative
    path the record id and the folder it lies in the attribute `folder`.

    Raises FileNotFoundError, ValueError for an unknown or mixed format, a missing column, a row that
    does not fit the header, damaged encoding or repeated ids. Messages name places, never content.
    """
    path = Path(arguments.place("path", path))
    if not path.exists():
        raise FileNotFoundError(f"path: expected a file or a folder, nothing is at {path}")
    files = _files(path) if path.is_dir() else [path]
    kind = _format(files, path)
    base = path if path.is_dir() else None
    if kind == "txt":
        text, record = "text", "file" if base else None
        attributes = {"folder": "folder"} if base else ()
    return assemble(
        _rows(files, kind, base, encoding),
        name=name,
        text=text,
        unit=unit,
        record=record,
        attributes=attributes,
        clean=one_line,
        repeated_ids=repeated_ids,
        rate=rate,
        seed=seed,
        report=report,
        provenance=Provenance(source=path.name, sha256=checksum(files, base), terms=terms, public=public),
    )


def _files(folder: Path) -> list[Path]:
    """Files below `folder`, hidden ones aside, in the order of their relative paths."""
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise FileNotFoundError(f"path: expected files, the folder {folder} holds none")
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _format(files: list[Path], path: Path) -> str:
    endings = {"".join(file.suffixes[-2:] if file.suffix == ".gz" else file.suffixes[-1:]).lower() for file in files}
    kinds = {_FORMATS.get(ending.removesuffix(".gz")) for ending in endings}
    if len(kinds) != 1 or None in kinds or ".parquet.gz" in endings:
        raise ValueError(
            f"path: expected files of one format among {', '.join(_FORMATS)} (also .gz, but for .parquet), "
            f"got endings {sorted(endings)} at {path}"
        )
    return kinds.pop()


def _rows(files: list[Path], kind: str, base: Path | None, encoding: str) -> Iterator[rows.Row]:
    if kind == "parquet":
        yield from _parquet(files)
        return
    for file in files:
        where = file.name if base is None else file.relative_to(base).as_posix()
        with rows.open_binary(file) as stream:
            if kind == "jsonl":
                yield from rows.json_lines(stream, where)
            elif kind != "txt":
                yield from rows.delimited(stream, where, "," if kind == "csv" else "\t", encoding)
            elif base is None:
                yield from ({"text": line} for line in _lines(_decoded(stream.read(), where, encoding)))
            else:
                folder = file.parent.relative_to(base).as_posix()
                yield {"text": _decoded(stream.read(), where, encoding), "file": where, "folder": folder}


def _decoded(content: bytes, where: str, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise rows.damaged(where, encoding, error, line=content[: error.start].count(b"\n") + 1) from None


def _lines(content: str) -> list[str]:
    """Lines ended by LF or CRLF; str.splitlines would end them at form feeds, U+0085, U+2028 and others too."""
    lines = content.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _parquet(files: list[Path]) -> Iterator[rows.Row]:
    with quiet_datasets(offline=True) as datasets:
        table = datasets.load_dataset(
            "parquet", data_files=[str(file) for file in files], split="train", streaming=True
        )
        for row in table:
            yield {key: rows.as_text(value) for key, value in row.items()}
