"""Embeddings on disk, by content checksum of each text: a text is embedded once, ever.

A cache is a folder of shards. A shard is a `.npy` file of rows (key, vector) whose name is the
SHA-256 of its content, so damage shows on reading: a damaged shard is deleted and its texts are
embedded again. Shards are written beside and moved into place; looking, merging and committing
happen under one file lock, so processes may share a folder, and the first committed vector of a
text is the one all of them return.

The folder is readable by its owner only. It holds vectors and SHA-256 of texts, from which a known
text can be recognised: treat it as private when the texts are.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

_log = logging.getLogger(__name__)
# Shards below this many rows are small; that many of them are merged into one.
_SMALL_ROWS, _SMALL_SHARDS = 256, 64


def key(text: str) -> bytes:
    """SHA-256 of a text's UTF-8 bytes. Raises ValueError for text that is not valid Unicode."""
    try:
        return hashlib.sha256(text.encode("utf-8")).digest()
    except UnicodeEncodeError:
        raise ValueError("text must be valid Unicode, got a str with a lone surrogate") from None


class EmbeddingCache:
    """Vectors of one encoder by text key, in one folder, shared safely between processes.

    Args:
        folder: made when missing; one encoder each.
        dimension: length of a vector.
    """

    def __init__(self, folder: Path, dimension: int):
        from filelock import FileLock

        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._lock = FileLock(folder / "lock", mode=0o600)
        self._row = np.dtype([("key", "V32"), ("vector", "<f4", (dimension,))])
        self._shards: dict[str, np.ndarray] = {}
        self._places: dict[bytes, tuple[str, int]] = {}
        with self._lock:
            self._refresh()

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """Positions of the keys without a vector, the first position of each distinct key only."""
        if any(k not in self._places for k in keys):
            with self._lock:
                self._refresh()
        first = {}
        for position, k in enumerate(keys):
            if k not in self._places:
                first.setdefault(k, position)
        return list(first.values())

    def vectors(self, keys: Sequence[bytes]) -> np.ndarray:
        """Vectors float32[n, d] of keys that are all present. Raises KeyError otherwise."""
        out = np.empty((len(keys), self._row["vector"].shape[0]), np.float32)
        for position, k in enumerate(keys):
            name, row = self._places[k]
            out[position] = self._shards[name][row]["vector"]
        return out

    def add(self, keys: Sequence[bytes], vectors: np.ndarray) -> None:
        """Commit vectors float32[n, d] of distinct keys; keys that others committed first keep theirs."""
        with self._lock:
            self._refresh()
            fresh = [i for i, k in enumerate(keys) if k not in self._places]
            if fresh:
                rows = np.empty(len(fresh), self._row)
                rows["key"] = np.frombuffer(b"".join(keys[i] for i in fresh), "V32")
                rows["vector"] = vectors[fresh]
                self._index(self._write(rows))
            self._merge_small()

    def _refresh(self) -> None:
        for file in sorted(self._folder.glob("*.npy")):
            if file.stem not in self._shards:
                self._index(file)

    def _index(self, file: Path) -> None:
        rows = self._read(file)
        if rows is None:
            _log.warning("embedding cache: shard %s is damaged; its texts are embedded again", file.name)
            file.unlink()
            return
        self._shards[file.stem] = rows
        for row, k in enumerate(rows["key"]):
            self._places.setdefault(k.tobytes(), (file.stem, row))

    def _read(self, file: Path) -> np.ndarray | None:
        with open(file, "rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.stem:
                return None
        rows = np.load(file, mmap_mode="r", allow_pickle=False)
        return rows if rows.dtype == self._row and rows.ndim == 1 else None

    def _write(self, rows: np.ndarray) -> Path:
        buffer = io.BytesIO()
        np.save(buffer, rows, allow_pickle=False)
        content = buffer.getvalue()
        target = self._folder / f"{hashlib.sha256(content).hexdigest()}.npy"
        handle, temporary = tempfile.mkstemp(dir=self._folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return target

    def _merge_small(self) -> None:
        # Searches embed a few texts a call; without this a folder would fill with tiny files.
        small = [name for name, rows in self._shards.items() if len(rows) < _SMALL_ROWS]
        if len(small) < _SMALL_SHARDS:
            return
        merged = self._write(np.concatenate([self._shards[name] for name in small]))
        for name in small:
            del self._shards[name]
            (self._folder / f"{name}.npy").unlink(missing_ok=True)
        self._places = {k: place for k, place in self._places.items() if place[0] in self._shards}
        self._index(merged)
