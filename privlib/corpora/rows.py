"""Rows of a delimited or JSON-lines file, one dictionary of strings at a time.

Standard library only and streaming: official files of many gigabytes pass through without being
held, nothing is guessed (every value stays the string it is: "None" and "NA" are genuine), and no
copy of private text is left in a cache.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

Row = dict[str, str]


def open_binary(path: Path, member: str | None = None) -> IO[bytes]:
    """Bytes of a file, of a .gz file unpacked, or of one member of a .zip file."""
    if not path.is_file():
        raise FileNotFoundError(f"path: expected a file, nothing is at {path}")
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.open(member or _only_member(archive, path))
    return open(path, "rb")


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    members = [name for name in archive.namelist() if not name.endswith("/")]
    if len(members) != 1:
        raise ValueError(f"path: expected one file inside {path.name}, found {members}")
    return members[0]


def delimited(
    stream: IO[bytes],
    where: str,
    delimiter: str = ",",
    encoding: str = "utf-8-sig",
    errors: str = "strict",
    quoted: bool = True,
) -> Iterator[Row]:
    """Rows under the header of a CSV or TSV stream.

    Raises ValueError naming the file and the line, never the content, when bytes are not valid in
    `encoding`, when a row has another number of fields than the header, or quoting is broken.
    """
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    with io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="") as lines:
        reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=quoted)
        try:
            header = next(reader, None)
            if header is None:
                raise ValueError(f"{where}: expected a header row, the file is empty")
            if len(set(header)) != len(header):
                raise ValueError(f"{where}: column names must be distinct, got {header}")
            for fields in reader:
                if not fields:
                    continue
                if len(fields) != len(header):
                    raise ValueError(
                        f"{where}, line {reader.line_num}: expected {len(header)} fields as in the header, "
                        f"got {len(fields)}"
                    )
                yield dict(zip(header, fields, strict=True))
        except UnicodeDecodeError as error:
            raise damaged(where, encoding, error, after_line=reader.line_num) from None
        except csv.Error as error:
            raise ValueError(f"{where}, line {reader.line_num}: not well-formed ({error})") from None


def json_lines(stream: IO[bytes], where: str) -> Iterator[Row]:
    """Rows of a JSON-lines stream (UTF-8): one object a line; null is "", other values become strings."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise damaged(where, "utf-8", error, after_line=number - 1) from None
        except json.JSONDecodeError as error:
            raise ValueError(f"{where}, line {number}: not valid JSON at column {error.colno}") from None
        if not isinstance(record, dict):
            raise ValueError(f"{where}, line {number}: expected a JSON object, got {type(record).__name__}")
        yield {key: as_text(value) for key, value in record.items()}


def as_text(value: object) -> str:
    """A cell as a string: null is empty, whole floats lose their ".0", nested values become JSON."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return str(value)


def damaged(where: str, encoding: str, error: UnicodeDecodeError, after_line: int) -> ValueError:
    """The error for bytes that are not text in the stated encoding; it shows no byte of the file."""
    return ValueError(
        f"{where}: expected text in {encoding}, found bytes that are not ({error.reason}) after line {after_line}; "
        "say the file's encoding, or repair it"
    )
