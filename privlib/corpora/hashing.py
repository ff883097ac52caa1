"""Where a record or a user falls, decided by a hash of its own id and a public seed.

Nothing here looks at any other record, at the order of rows, at Python's own hash or at the
machine: adding or dropping one record moves nobody else. Every use names its purpose, so that a
sample drawn with the seed of a split is independent of that split.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping

from . import arguments

_RESOLUTION = 64  # bits of SHA-256 that place an id on the unit interval
_canonical = json.JSONEncoder(sort_keys=True).encode


def position(purpose: str, seed: int, identifier: str) -> int:
    """Place of one id on the integers 0 .. 2^64 - 1: the first 64 bits of SHA-256(purpose, seed, id).

    Uniform over ids when SHA-256 is modelled as random; independent between purposes and seeds.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed must be an int, got {type(seed).__name__}")
    message = f"privlib.corpora/{purpose}/{seed}/".encode() + identifier.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(message).digest()[: _RESOLUTION // 8], "big")


def threshold(rate: float) -> int:
    """Bound below which a share `rate` of all positions lies; `rate` in [0, 1], exact for a float."""
    if not 0.0 <= arguments.number("rate", rate) <= 1.0:
        raise ValueError(f"rate must lie in [0, 1], got {rate!r}")
    return int(rate * 2**_RESOLUTION)  # scaling by a power of two loses no digit


def keeps(purpose: str, seed: int, rate: float, identifiers: Iterable[str]) -> list[bool]:
    """One independent coin of probability `rate` an id, the same coin for the same id."""
    bound = threshold(rate)
    known: dict[str, bool] = {}
    for identifier in (identifiers := tuple(identifiers)):
        if identifier not in known:
            known[identifier] = position(purpose, seed, identifier) < bound
    return [known[identifier] for identifier in identifiers]


class ContentIds:
    """Ids for rows that carry none: a hash of the whole row, with a count for exact repeats.

    Rows that differ in any column get different ids though their texts are equal; the copies of
    one and the same row are numbered, so that one more copy renames no other row.
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def __call__(self, row: Mapping[str, str]) -> str:
        content = _canonical(dict(row))
        digest = hashlib.sha256(content.encode()).hexdigest()[:20]
        self._seen[digest] += 1
        copy = self._seen[digest]
        return f"row-{digest}" if copy == 1 else f"row-{digest}-{copy}"


def text_id(prefix: str, text: str) -> str:
    """Id shared by all rows with this very text, as `prefix-<hash>`."""
    return f"{prefix}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"
