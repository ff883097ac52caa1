"""Attributes of interest with their public category lists, and secrets defined on them.

The category lists are public: they come from a codebook or from auxiliary data, never from the
private rows. So every private dataset has the same tables, a category that no private row shows
included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import checks


@dataclass(frozen=True)
class Schema:
    """Names of the attributes, in order, each with the tuple of its public categories.

    Args:
        attributes: pairs (name, categories); at least one, each with at least two distinct categories.
    """

    attributes: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        pairs = isinstance(self.attributes, tuple | list) and all(
            isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) for pair in self.attributes
        )
        if not pairs:
            raise TypeError(f"attributes: expected (name, categories) pairs, got {self.attributes!r}")
        for name, categories in self.attributes:
            checks.texts(f"attributes[{name!r}]", categories)
        if not self.attributes:
            raise ValueError("attributes: expected at least one (name, categories) pair, got none")
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"attributes: expected distinct names, got {self.names}")
        for name, categories in self.attributes:
            if len(categories) < 2 or len(set(categories)) != len(categories):
                raise ValueError(f"attributes[{name!r}]: expected at least two distinct categories, got {categories}")

    @classmethod
    def of(cls, public, *names: str) -> Schema:
        """Schema of `names` with the categories that a public labelled corpus shows, sorted.

        Args:
            public: auxiliary corpus with `.attributes[name]`, one category a row. Never the private one.
            names: attributes of interest, each a str.
        """
        checks.texts("names", names)
        return cls(tuple((name, tuple(sorted(set(_column(public, name))))) for name in names))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return tuple(len(categories) for _, categories in self.attributes)

    def encode(self, corpus) -> np.ndarray:
        """Category indices int64[n, a] of a labelled corpus.

        Raises:
            ValueError: an attribute is missing, or a row's category is not on the public list. This is
                the data holder's own cleaning step, before any release; the message holds no value.
        """
        columns = []
        for name, categories in self.attributes:
            index = {category: code for code, category in enumerate(categories)}
            column = _column(corpus, name)
            codes = np.array([index.get(category, -1) for category in column], dtype=np.int64)
            if (codes < 0).any():
                raise ValueError(
                    f"corpus.attributes[{name!r}]: expected categories of the public list, got others "
                    f"in a {type(column).__name__} of shape ({len(column)},); fold them beforehand"
                )
            columns.append(codes)
        return np.stack(columns, axis=1)

    def decode(self, labels: np.ndarray) -> dict[str, tuple[str, ...]]:
        """Category names of labels int[n, a], one tuple an attribute."""
        labels = checks.private_integers("labels", labels, (None, len(self.attributes)))
        return {
            name: tuple(categories[code] for code in labels[:, position])
            for position, (name, categories) in enumerate(self.attributes)
        }

    def share(self, **conditions: str) -> Share:
        """The secret 'share of rows with all of these categories', e.g. `share(stance="FAVOR")`."""
        if not conditions:
            raise ValueError("conditions: expected at least one attribute=category, got none")
        pairs = []
        for name, category in conditions.items():
            if name not in self.names:
                raise ValueError(f"conditions: expected attributes among {self.names}, got {name!r}")
            position = self.names.index(name)
            categories = self.attributes[position][1]
            if not isinstance(category, str) or category not in categories:
                raise ValueError(f"conditions[{name!r}]: expected one of {categories}, got {category!r}")
            pairs.append((position, categories.index(category)))
        return Share(tuple(pairs), " & ".join(f"{name} = {value}" for name, value in conditions.items()))


@dataclass(frozen=True)
class Share:
    """A dataset-level secret: share of rows whose labels meet every condition, G(D) in {0, 1/n, ..., 1}.

    It is a function of the labels of the attributes of interest and of nothing else (the paper's core
    assumption, section III).

    Args:
        conditions: pairs (attribute position, category index).
        name: how figures call it.
    """

    conditions: tuple[tuple[int, int], ...]
    name: str = "secret"

    def __post_init__(self) -> None:
        pairs = checks.sequence("conditions", self.conditions, "(attribute, category) pairs")
        if not pairs:
            raise ValueError("conditions: expected at least one (attribute, category), got none")
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(f"conditions: expected (attribute, category) pairs, got {self.conditions!r}")
            for index in pair:
                checks.whole("conditions", index, at_least=0)

    def holds(self, labels: np.ndarray) -> np.ndarray:
        """bool[n]: which of the rows of labels int[n, a] meet every condition."""
        return np.logical_and.reduce([labels[:, position] == code for position, code in self.conditions])

    def __call__(self, labels: np.ndarray) -> float:
        if len(labels) == 0:
            raise ValueError("labels: expected at least one row, got none")
        return float(self.holds(labels).mean())


def checked_share(secret: Share) -> Share:
    """The secret; TypeError for anything but a Share."""
    if not isinstance(secret, Share):
        raise TypeError(f"secret: expected a Share, such as Schema.share makes, got {type(secret).__name__}")
    return secret


def checked_schema(schema: Schema) -> Schema:
    """The schema; TypeError for anything else."""
    if not isinstance(schema, Schema):
        raise TypeError(f"schema: expected a Schema, got {type(schema).__name__}")
    return schema


def _column(corpus, name: str) -> Sequence[str]:
    if not hasattr(corpus, "attributes"):
        raise TypeError(f"corpus: expected a labelled corpus with .attributes, got {type(corpus).__name__}")
    attributes: Mapping[str, Sequence[str]] = corpus.attributes
    if name not in attributes:
        raise ValueError(f"corpus.attributes: expected {name!r} among the attributes, got {sorted(attributes)}")
    return attributes[name]
