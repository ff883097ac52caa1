"""The public list of atoms that a plan may speak of, fixed before any protected record is touched."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privlib.dp import checks
from privlib.plans.represent import Representation, Tfidf


@dataclass(frozen=True, eq=False)
class AtomUniverse(Sequence):
    """m ordered public atoms; as a sequence it is its labels.

    `labels`: m distinct texts a reader may see, each on one line with a letter or digit.
    `descriptions`: m texts that widen a label ("" where there is nothing to add), or empty for none.
    `manifest`: how the list was made (builder, rules, counts, auxiliary support), public and JSON-able.
    `representation`: turns texts into vectors for the assignment; fitted on public text only.
    Raises ValueError when a label is empty, unprintable or repeats another up to case and punctuation, TypeError when
    labels or descriptions are not a sequence of str.
    Source: DP-SPIN, Section 3.2; Appendices C.4, D.3.
    """

    labels: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    representation: Representation | None = None

    def __post_init__(self) -> None:
        labels = tuple(checks.texts("labels", self.labels))
        descriptions = tuple(checks.texts("descriptions", self.descriptions)) or ("",) * len(labels)
        if not labels:
            raise ValueError("labels must hold at least one atom, got none")
        if len(descriptions) != len(labels):
            raise ValueError(f"descriptions must be one a label ({len(labels)}), got {len(descriptions)}")
        check_labels(labels)
        checks.instance("manifest", self.manifest, Mapping)
        if self.representation is not None:
            checks.offers("representation", self.representation, "transform")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "descriptions", descriptions)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index):
        return self.labels[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __repr__(self) -> str:
        return f"AtomUniverse({len(self)} atoms, {self.manifest.get('builder', 'given')}, {self.fingerprint[:12]})"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of labels and descriptions in order: equal for equal public lists."""
        return hashlib.sha256(json.dumps([self.labels, self.descriptions]).encode()).hexdigest()

    @property
    def texts(self) -> list[str]:
        """What each atom is matched by: its label, with the description where there is one."""
        pairs = zip(self.labels, self.descriptions, strict=True)
        return [f"{label}, {description}" if description else label for label, description in pairs]


def check_labels(labels: Sequence[str]) -> None:
    """Raise ValueError unless labels are printable one-line texts, distinct up to case and punctuation."""
    seen: dict[str, str] = {}
    for label in labels:
        if not isinstance(label, str) or any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in label):
            raise ValueError(f"labels must be texts on one line, got {label!r}")
        key = " ".join("".join(c if c.isalnum() else " " for c in label.casefold()).split())
        if not key:
            raise ValueError(f"labels must hold a letter or a digit, got {label!r}")
        if key in seen:
            raise ValueError(f"labels must differ in more than case and punctuation, got {seen[key]!r} and {label!r}")
        seen[key] = label


def metadata_universe(
    auxiliary: Any, fields: Sequence[str] = ("product", "issue", "sub_issue"), size: int = 100
) -> AtomUniverse:
    """Atoms from public structured fields: the `size` most supported combinations of the auxiliary split.

    `auxiliary`: texts with `.attributes` (name -> one value a record), public or disjoint from the protected
    records. `fields`: the attributes joined by " / "; a part that is missing ("") is left out of the label.
    `size` >= 1: fewer atoms when fewer combinations exist (the manifest holds the realized number and the `shortfall`).
    Order: auxiliary support, ties by label. TF-IDF is fitted on the auxiliary texts and the labels.
    Raises ValueError for fields that are not there or are all empty, and for a corpus whose provenance is not public,
    TypeError for texts without attributes.
    Source: DP-SPIN, Appendix D.3.
    """
    _check_size(size)
    refuse_private(auxiliary)
    if not hasattr(auxiliary, "attributes"):
        raise TypeError(f"auxiliary must be texts with attributes, got {type(auxiliary).__name__} without them")
    fields = checks.texts("fields", fields)
    missing = [name for name in fields if name not in auxiliary.attributes]
    if missing or not fields:
        raise ValueError(f"fields must name attributes of the corpus ({sorted(auxiliary.attributes)}), got {fields!r}")
    columns = [auxiliary.attributes[name] for name in fields]
    joined = (" / ".join(part for part in parts if part) for parts in zip(*columns, strict=True))
    support = Counter(label for label in joined if label)
    if not support:
        raise ValueError(f"fields {fields!r} are empty for all auxiliary records")
    ranked = sorted(support, key=lambda label: (-support[label], label))[:size]
    manifest = {
        "builder": "metadata",
        "rules": ["distinct combinations of fields", "missing parts left out", "by support, ties by label"],
        "fields": list(fields),
        "candidates": len(support),
        "requested": size,
        "size": len(ranked),
        "shortfall": size - len(ranked),
        **auxiliary_counts(auxiliary),
        "support": {label: support[label] for label in ranked},
    }
    return AtomUniverse(tuple(ranked), (), manifest, Tfidf.fit([*auxiliary, *ranked]))


def refuse_private(auxiliary: Any) -> None:
    """Raise ValueError for a corpus that says it is private: labels taken from it would be a release of their own."""
    if getattr(getattr(auxiliary, "provenance", None), "public", True) is not True:
        raise ValueError(
            "auxiliary must be public text, got a corpus whose provenance is not public; for texts that are "
            "public say so where they are read (corpora.read(..., public=True))"
        )


def auxiliary_counts(auxiliary: Any) -> dict[str, int]:
    """Public counts of the auxiliary split: records, and users where there are unit ids."""
    units = getattr(auxiliary, "unit_ids", None)
    counts = {"auxiliary_records": len(auxiliary)}
    return counts if units is None else {**counts, "auxiliary_users": len(set(units))}


def default_denominator(universe: AtomUniverse, unit: str, contribution_bound: float) -> float:
    """Public denominator when none is configured: auxiliary records, or auxiliary users times the bound.

    Both come from public text, never from the protected records. Raises ValueError for another unit, and when the
    universe's manifest does not tell them: then the caller states a denominator.
    """
    checks.one_of("unit", unit, checks.UNITS)
    key = "auxiliary_records" if unit == "record" else "auxiliary_users"
    count = universe.manifest.get(key)
    if not count:
        why = f"the universe's manifest has no {key!r}"
        if unit == "user" and "auxiliary_records" in universe.manifest:
            why = "the public texts have no user ids (read them with unit=<column>, or state the number of users)"
        raise ValueError(f"public_denominator must be given for unit {unit!r}: {why}")
    value = float(count) * (1.0 if unit == "record" else contribution_bound)
    if not math.isfinite(value):
        raise ValueError(f"public_denominator must be finite, got {value!r}")
    return value


def _check_size(size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"size must be an integer of at least 1, got {size!r}")
