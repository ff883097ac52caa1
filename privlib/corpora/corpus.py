"""A corpus: texts with their ids, who wrote them, what is known of them, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from . import arguments, hashing


class TooFewUnits(ValueError):
    """An exact number of units was asked for and is not there. Stops an experiment, never a release."""


@dataclass(frozen=True)
class Provenance:
    """Where texts come from, under which terms, and by which public steps they were selected.

    `sha256` is the checksum of the source file(s). When `public` is false, `to_json` withholds it:
    the checksum of a private file confirms a guess of its whole content, which no guarantee covers.
    `columns` maps roles (text, record, unit, attribute names) to columns of the source.
    """

    source: str
    sha256: str
    terms: str
    citation: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    public: bool = True
    selection: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _Frozen(self.columns))

    def to_json(self, curator: bool = False) -> str:
        """JSON with sorted keys; `curator=True` shows a private file's checksum too."""
        shown = {
            "source": self.source,
            "terms": self.terms,
            "citation": self.citation,
            "columns": dict(self.columns),
            "public": self.public,
            "selection": list(self.selection),
        }
        if self.public or curator:
            shown["sha256"] = self.sha256
        return json.dumps(shown, sort_keys=True, ensure_ascii=False)


def sampling_step(rate: float, seed: int) -> str:
    """The words by which provenance records that units were kept with probability `rate`."""
    return f"sample(rate={rate}, seed={seed})"


class Split(NamedTuple):
    """Two disjoint parts of one corpus: `auxiliary` stands for public text, `target` is protected."""

    auxiliary: Corpus
    target: Corpus


@dataclass(frozen=True, repr=False, eq=False)
class Corpus(Sequence):
    """Frozen texts; iterating, indexing and `len` see the texts, so functions on strings take a corpus.

    name         short public name
    texts        n strings
    record_ids   n distinct strings; they, not the texts, say which record is which
    unit_ids     n strings naming the user of each record, or None (each record its own unit)
    attributes   name -> n strings; an unknown value is ""
    provenance   source, checksum, terms, public selection steps

    Raises ValueError when lengths differ or record ids repeat, TypeError for one text where a sequence is meant.
    `repr` shows no text.
    """

    name: str
    texts: tuple[str, ...]
    record_ids: tuple[str, ...]
    unit_ids: tuple[str, ...] | None
    attributes: Mapping[str, tuple[str, ...]]
    provenance: Provenance

    def __post_init__(self) -> None:
        for part in ("texts", "record_ids", "unit_ids"):
            if part != "unit_ids" or self.unit_ids is not None:
                arguments.several(part, getattr(self, part))
        set_ = object.__setattr__
        set_(self, "texts", tuple(self.texts))
        set_(self, "record_ids", tuple(self.record_ids))
        set_(self, "unit_ids", None if self.unit_ids is None else tuple(self.unit_ids))
        set_(self, "attributes", _Frozen({key: tuple(values) for key, values in self.attributes.items()}))
        n = len(self.texts)
        parts = {"record_ids": self.record_ids, "unit_ids": self.unit_ids, **self.attributes}
        for part, values in parts.items():
            if values is not None and len(values) != n:
                raise ValueError(f"{part} must have one entry a text ({n}), got {len(values)}")
        if (distinct := len(set(self.record_ids))) != n:
            raise ValueError(f"record_ids must be distinct: {n} ids, {distinct} of them different")

    # ---------------------------------------------------------------- as a sequence of texts
    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index):
        return self.texts[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __repr__(self) -> str:
        units = "" if self.unit_ids is None else ", with unit ids"
        return f"Corpus({self.name!r}, {len(self)} records{units}, attributes={list(self.attributes)})"

    # ---------------------------------------------------------------- selection
    def take(self, indices, step: str = "take") -> Corpus:
        """The records at `indices` (integers in 0 .. n-1, each at most once), in that order."""
        picked = np.asarray(indices)
        if picked.size == 0:
            picked = picked.astype(np.int64)
        if picked.ndim != 1 or not np.issubdtype(picked.dtype, np.integer):
            raise TypeError(f"indices must be one row of integers, got shape {picked.shape}, type {picked.dtype}")
        if picked.size and (picked.min() < 0 or picked.max() >= len(self)):
            raise IndexError(
                f"indices must lie in 0..{len(self) - 1}, got values from {picked.min()} to {picked.max()}"
            )
        order = picked.tolist()
        return replace(
            self,
            texts=tuple(self.texts[i] for i in order),
            record_ids=tuple(self.record_ids[i] for i in order),
            unit_ids=None if self.unit_ids is None else tuple(self.unit_ids[i] for i in order),
            attributes={key: tuple(values[i] for i in order) for key, values in self.attributes.items()},
            provenance=replace(self.provenance, selection=(*self.provenance.selection, step)),
        )

    def where(self, mask=None, **values: str | Collection[str]) -> Corpus:
        """Records for which `mask` (n booleans) holds and every named attribute equals the value given,
        or is one of the values given. A value nobody has gives an empty corpus, not an error."""
        keep = np.ones(len(self), dtype=bool)
        steps = []
        if mask is not None:
            given = np.asarray(mask)
            if given.shape != (len(self),) or given.dtype != bool:
                raise TypeError(f"mask must be {len(self)} booleans, got shape {given.shape}, type {given.dtype}")
            keep &= given
            steps.append("mask")
        for attribute, wanted in values.items():
            if not hasattr(wanted, "__iter__"):
                raise TypeError(f"{attribute} must be a str or several, got {wanted!r}")
            allowed = {wanted} if isinstance(wanted, str) else set(wanted)
            keep &= np.fromiter((value in allowed for value in self._attribute(attribute)), bool, len(self))
            steps.append(f"{attribute} in {sorted(allowed)}")
        return self.take(np.flatnonzero(keep), f"where({', '.join(steps)})")

    def codes(self, attribute: str, levels: Sequence[str]) -> np.ndarray:
        """int64[n]: place of each record's value in the public `levels`; ValueError if one is not there."""
        arguments.several("levels", levels)
        place = {level: code for code, level in enumerate(levels)}
        column = self._attribute(attribute)
        if outside := sum(value not in place for value in column):
            raise ValueError(f"attribute {attribute!r} must lie in levels {list(levels)}: {outside} records do not")
        return np.fromiter((place[value] for value in column), np.int64, len(self))

    def split(self, seed: int = 1, auxiliary: float = 0.5) -> Split:
        """Two parts by hash of the unit id where there is one, else of the record id, and the seed.

        Each unit falls into `auxiliary` with probability `auxiliary` in (0, 1), independently of all
        others: the parts are disjoint, cover the corpus, share no user, do not depend on the order of
        rows, and one more record moves nobody else. The sizes are therefore random, not exact.
        """
        if not 0.0 < arguments.number("auxiliary", auxiliary) < 1.0:
            raise ValueError(f"auxiliary must lie strictly between 0 and 1, got {auxiliary!r}")
        first = np.array(hashing.keeps("split", seed, auxiliary, self._units(None)), dtype=bool)
        step = f"split(seed={seed}, auxiliary={auxiliary})"
        return Split(
            self.take(np.flatnonzero(first), f"{step}.auxiliary"),
            self.take(np.flatnonzero(~first), f"{step}.target"),
        )

    def sample(
        self,
        n: float | None = None,
        seed: int = 1,
        *,
        public_size: float | None = None,
        rate: float | None = None,
        unit: str | None = None,
    ) -> Corpus:
        """Keep each unit independently with a public probability: `rate`, or `n / public_size`.

        `public_size` is a public figure for the number of units, never counted from private data: a
        threshold that follows the private count would move other units when one comes or goes. The
        number kept is random with mean rate times the units there are; it never fails for want of
        units. `unit` is "record" or "user"; by default "user" where unit ids exist.
        Neighbouring relation kept: add/drop of one unit changes the sample by that unit at most.
        """
        if (rate is None) == (n is None) or (n is None) != (public_size is None):
            raise TypeError(
                "sample needs either rate=, or n with public_size= (a public count of units; "
                f"len(corpus) only if the corpus is public), got n={n!r}, public_size={public_size!r}, rate={rate!r}"
            )
        if rate is None:
            arguments.number("n", n)
            arguments.number("public_size", public_size)
            if not 0 <= n <= public_size or public_size <= 0:
                raise ValueError(f"n must lie in 0..public_size, got n={n!r}, public_size={public_size!r}")
            rate = n / public_size
        kept = hashing.keeps("sample", seed, rate, self._units(unit))
        return self.take(np.flatnonzero(np.array(kept, dtype=bool)), sampling_step(rate, seed))

    def exactly(self, n: int, seed: int = 1, *, unit: str | None = None) -> Corpus:
        """Exactly the n units with the smallest hashes, in the corpus's order. An experiment's option.

        One added unit pushes another out, so a release on the result is billed under the replace
        relation, not add/drop. Raises TooFewUnits, with the number there, when fewer than n units
        exist: that stops an experiment (strict_sample_size), and must never be part of a release.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"n must be a whole number of units, got {n!r}")
        units = self._units(unit)
        distinct = set(units)
        if len(distinct) < n:
            raise TooFewUnits(f"too few units: n={n} asked for, {len(distinct)} there in corpus {self.name!r}")
        chosen = set(sorted(distinct, key=lambda each: (hashing.position("exactly", seed, each), each))[:n])
        kept = [index for index, each in enumerate(units) if each in chosen]
        return self.take(kept, f"exactly(n={n}, seed={seed})")

    def one_per_unit(self, seed: int = 1) -> Corpus:
        """One record of each unit, the one whose record id hashes smallest; order of rows is irrelevant."""
        best: dict[str, tuple[int, str, int]] = {}
        for index, (each, record) in enumerate(zip(self._units(None), self.record_ids, strict=True)):
            candidate = (hashing.position("one-per-unit", seed, record), record, index)
            best[each] = min(best.get(each, candidate), candidate)
        return self.take(sorted(index for _, _, index in best.values()), f"one_per_unit(seed={seed})")

    # ---------------------------------------------------------------- inside
    def _attribute(self, attribute: str) -> tuple[str, ...]:
        if attribute not in self.attributes:
            raise ValueError(f"attribute must be one of {list(self.attributes)}, got {attribute!r}")
        return self.attributes[attribute]

    def _units(self, unit: str | None) -> tuple[str, ...]:
        if unit not in (None, "record", "user"):
            raise ValueError(f"unit must be 'record' or 'user', got {unit!r}")
        if unit == "user" and self.unit_ids is None:
            raise ValueError(f"unit='user' needs unit ids, and corpus {self.name!r} has none")
        return self.record_ids if unit == "record" or self.unit_ids is None else self.unit_ids


class _Frozen(Mapping):
    """A read-only copy of a mapping that can be pickled, which MappingProxyType cannot."""

    def __init__(self, items: Mapping) -> None:
        self._items = MappingProxyType(dict(items))

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(dict(self._items))

    def __reduce__(self):
        return _Frozen, (dict(self._items),)
