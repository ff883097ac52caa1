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
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

Row = dict[str, str]


@contextmanager
def open_binary(path: Path, member: str | None = None) -> Iterator[IO[bytes]]:
    """Bytes of a file, of a .gz file unpacked, or of one member of a .zip file, while the context lasts.

    Raises ValueError naming the file when its compressed content turns out damaged or cut short.
    """
    try:
        with _opened(path, member) as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path.name}: expected a whole compressed file, it is damaged ({type(error).__name__})"
        ) from None


def _opened(path: Path, member: str | None) -> IO[bytes]:
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
    Rows end at LF or CRLF; a lone CR outside quotes is refused, for it would cut a text in two.
    """
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    with io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="\n") as lines:
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
            # lines given out so far, and those before the bad byte in the piece that could not be decoded
            line = reader.line_num + error.object[: error.start].count(b"\n") + 1
            raise damaged(where, encoding, error, line) from None
        except csv.Error as error:
            raise ValueError(f"{where}, line {reader.line_num}: not well-formed ({error})") from None


def json_lines(stream: IO[bytes], where: str) -> Iterator[Row]:
    """Rows of a JSON-lines stream (UTF-8): one object a line; null is "", other values become strings.

    Raises ValueError naming the file and the line, never the content, for what is not JSON, a number
    that is not finite or too long, a key that comes twice in one object, and nesting too deep to read.
    """
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            record = _DECODER.decode(line.decode("utf-8"))
            row = {key: as_text(value) for key, value in record.items()} if isinstance(record, dict) else None
        except UnicodeDecodeError as error:
            raise damaged(where, "utf-8", error, line=number) from None
        except json.JSONDecodeError as error:
            raise ValueError(f"{where}, line {number}: not valid JSON at column {error.colno}") from None
        except _Unfaithful as error:
            raise ValueError(f"{where}, line {number}: {error}") from None
        except ValueError:  # Python's limit on the digits of an integer
            raise ValueError(f"{where}, line {number}: expected numbers of fewer digits") from None
        except RecursionError:
            raise ValueError(f"{where}, line {number}: nested too deep to read") from None
        if row is None:
            raise ValueError(f"{where}, line {number}: expected a JSON object, got {type(record).__name__}")
        yield row


class _Unfaithful(ValueError):
    """JSON that Python would read, but as something other than what is written."""


def _no_constant(name: str) -> float:
    raise _Unfaithful(f"expected finite numbers, got {name}, which JSON does not have")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise _Unfaithful("expected finite numbers, got one beyond the range of a float")
    return number


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(made := dict(pairs)) != len(pairs):
        raise _Unfaithful("expected distinct keys in an object, one comes twice")
    return made


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_distinct)


def as_text(value: object) -> str:
    """A cell as a string: null is empty, whole floats lose their ".0", nested values become JSON."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return str(value)


def damaged(where: str, encoding: str, error: UnicodeDecodeError, line: int) -> ValueError:
    """The error for bytes that are not text in the stated encoding; it shows no byte of the file."""
    return ValueError(
        f"{where}: expected text in {encoding}, found bytes that are not ({error.reason}) in line {line}; "
        "say the file's encoding, or repair it"
    )
