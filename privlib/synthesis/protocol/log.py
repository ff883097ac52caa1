"""An append-only file of byte records: what a server did is what its log says, so it can be stopped at any point.

Logs and keys are made readable by their owner alone.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_HEADER = 16  # length, its digest, the record's digest
_OWNER_ONLY = 0o600


class DamagedLog(ValueError):
    """A whole record is not what was written: nothing from there on can be trusted."""


class Log:
    """The writer's side: records in the file at `path`, in the order they were appended; a new file when there is none.

    Records are on the disk when `append` returns, at the price of one wait for the disk however many there are. A last
    record that a crash cut short is dropped on opening: its writer had not been told that it is there. Raises
    DamagedLog when a record is not what was written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        data = path.read_bytes() if path.exists() else b""
        self.records, end = _read(data)
        if end < len(data):
            os.truncate(path, end)

    def append(self, *records: bytes) -> None:
        with open(self._path, "ab", opener=owners_alone) as file:
            file.writelines(_header(record) + record for record in records)
            file.flush()
            os.fsync(file.fileno())
        self.records.extend(records)


def read_log(path: Path) -> list[bytes]:
    """Whole records of the log at `path`, which stays as it is: its writer may be in the middle of the next one.

    Raises DamagedLog, and FileNotFoundError where there is no log.
    """
    return _read(path.read_bytes())[0]


def owners_alone(path: str, flags: int) -> int:
    """`opener` for `open`: a file that is made is its owner's alone, whatever the umask allows."""
    return os.open(path, flags, _OWNER_ONLY)


def _header(record: bytes) -> bytes:
    length = len(record).to_bytes(4, "big")
    return length + _digest(length)[:4] + _digest(record)[:8]


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _read(data: bytes) -> tuple[list[bytes], int]:
    """Whole records and where they end."""
    records, at = [], 0
    while at + _HEADER <= len(data):
        length = data[at : at + 4]
        if data[at + 4 : at + 8] != _digest(length)[:4]:
            raise DamagedLog(f"length of record {len(records)} of the log is damaged")
        start = at + _HEADER
        record = data[start : start + int.from_bytes(length, "big")]
        if len(record) < int.from_bytes(length, "big"):
            break
        if data[at + 8 : start] != _digest(record)[:8]:
            raise DamagedLog(f"record {len(records)} of the log is damaged")
        records.append(record)
        at = start + len(record)
    return records, at
