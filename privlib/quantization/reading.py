"""Labels as a reader takes them from released texts, and how often they are the assigned ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from privlib.dp import checks

from .schema import Schema, checked_schema


class Labeller(Protocol):
    """A text classifier trained on public rows: one category name a text."""

    def predict(self, texts: Sequence[str]) -> Sequence[str]: ...


def read_labels(texts: Sequence[str], readers: Mapping[str, Labeller], schema: Schema) -> np.ndarray:
    """Category indices int64[n, a] that the readers take from the texts, one reader an attribute.

    Raises ValueError for a missing reader, another number of answers, or an answer that is no public category: it is
    neither searched for a category nor replaced by one.
    """
    checked_schema(schema)
    checks.instance("readers", readers, Mapping)
    if set(readers) != set(schema.names):
        raise ValueError(f"readers: expected one for each of {schema.names}, got {sorted(readers)}")
    listed = checks.texts("texts", texts)
    columns = {name: tuple(str(answer) for answer in readers[name].predict(listed)) for name in schema.names}
    if not listed or any(len(column) != len(listed) for column in columns.values()):
        raise ValueError(
            f"readers: expected one answer for each of {len(listed)} >= 1 texts, got "
            f"{[len(column) for column in columns.values()]}"
        )
    return schema.encode(_Read(columns))


def faithfulness(read: np.ndarray, targets: np.ndarray) -> float:
    """Share of rows, in [0, 1], whose labels as read are the assigned combination: the mean of b(x', a).

    The reader must be independent of the rewriter (other public rows, another family); its own error is in the
    figure, so a value below 1 is an upper bound on failures only for a perfect reader. Source: Assumption IV.2.

    Args:
        read, targets: int[n, a], n >= 1.
    """
    read, targets = np.asarray(read), np.asarray(targets)
    if read.shape != targets.shape or read.ndim != 2 or not len(read):
        raise ValueError(
            f"read: expected int[n, a] of the shape of targets, n >= 1, got {read.shape} beside {targets.shape}"
        )
    return float((read == targets).all(axis=1).mean())


@dataclass(frozen=True)
class _Read:
    attributes: Mapping[str, Sequence[str]]
