"""Chow-Liu tree: the dependence tree that carries the released joint distribution.

P(x) is approximated by P(x_root) prod P(x_i | x_parent(i)), over the maximum spanning tree of the
pairwise mutual information. Source: QuanText, section IV-A step 1; Chow and Liu 1968.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from privlib.dp import checks

from .schema import Schema, checked_schema

HIGHEST_DEGREE = "highest degree"  # the paper's root on the tweets: Target, parent of both others


@dataclass(frozen=True)
class Tree:
    """Rooted dependence tree over attributes with public category lists.

    Args:
        root: attribute at the root.
        parent: parent of each attribute, -1 for the root.
        sizes: number of categories of each attribute.
        schema: names of attributes and categories, where labelled corpora are used.
    """

    root: int
    parent: tuple[int, ...]
    sizes: tuple[int, ...]
    schema: Schema | None = None

    def __post_init__(self) -> None:
        for name, least in (("parent", -1), ("sizes", 1)):
            numbers = checks.sequence(name, getattr(self, name), "integers")
            object.__setattr__(self, name, tuple(checks.whole(name, number, at_least=least) for number in numbers))
        checks.whole("root", self.root, at_least=0)
        if self.schema is not None:
            checked_schema(self.schema)
        attributes = len(self.parent)
        if len(self.sizes) != attributes:
            raise ValueError(f"sizes: expected one a parent ({attributes}), got {len(self.sizes)}")
        if self.root not in range(attributes) or self.parent[self.root] != -1:
            raise ValueError(f"root: expected an attribute 0..{attributes - 1} of parent -1, got {self.root}")
        _ = self.order  # refuses cycles, second roots and parents that are no attribute

    @property
    def order(self) -> tuple[int, ...]:
        """Attributes, every parent before its children, else by index."""
        placed, waiting = [self.root], [i for i in range(len(self.parent)) if i != self.root]
        while waiting:
            ready = [i for i in waiting if self.parent[i] in placed]
            if not ready:
                raise ValueError(f"parent: expected a tree rooted at {self.root}, got {self.parent}")
            placed += ready
            waiting = [i for i in waiting if i not in ready]
        return tuple(placed)

    @property
    def components(self) -> tuple[tuple[int, int], ...]:
        """(attribute, value of its parent) of every table, in `order`; the root's parent value is -1."""
        return tuple(
            (attribute, value)
            for attribute in self.order
            for value in ([-1] if attribute == self.root else range(self.sizes[self.parent[attribute]]))
        )

    @property
    def tables(self) -> int:
        """E = 1 + sum over the non-root attributes of the number of values of their parent."""
        return 1 + sum(self.sizes[p] for i, p in enumerate(self.parent) if i != self.root)


def chow_liu(labels, sizes: Sequence[int] | Schema, root: int | str | None = None) -> Tree:
    """Maximum spanning tree of the plug-in mutual information (nats) between attributes.

    Reads auxiliary data only; with it the tree is public before any private row is read. Pairs are
    ranked by mutual information and the spanning tree is taken on the ranks 1, 2, ...: ties break by
    attribute index, and a pair with no information is still an edge (a zero weight would not be one
    to scipy.sparse.csgraph).

    Args:
        labels: category indices int[n, a], or a labelled corpus when `sizes` is a Schema. Auxiliary.
        sizes: categories of each attribute, or the Schema that says so.
        root: None for the root with the fewest tables (lowest index among equals): re-rooting leaves
            the model as it is and changes only the bill; an attribute's index; or "highest degree".

    Returns:
        Tree with parent[root] = -1.
    """
    schema = sizes if isinstance(sizes, Schema) else None
    if schema is not None:
        sizes = schema.sizes
        if hasattr(labels, "attributes"):
            labels = schema.encode(labels)
    labels, sizes = checked_labels(labels, sizes, "labels"), tuple(int(size) for size in sizes)
    if len(labels) == 0:
        raise ValueError("labels: expected at least one auxiliary row, got none")
    attributes = len(sizes)
    pairs = [(i, j) for i in range(attributes) for j in range(i + 1, attributes)]
    # Twelve decimals: equal information computed in another order must still count as a tie.
    information = [round(mutual_information(labels[:, i], labels[:, j], sizes[i], sizes[j]), 12) for i, j in pairs]
    ranked = sorted(range(len(pairs)), key=lambda e: (-information[e], pairs[e]))
    weights = np.zeros((attributes, attributes))
    for rank, edge in enumerate(ranked, start=1):
        weights[pairs[edge]] = rank
    spanning = minimum_spanning_tree(csr_array(weights))
    trees = [_rooted(spanning, candidate, sizes, schema) for candidate in range(attributes)]
    if root is None:
        return min(trees, key=lambda tree: (tree.tables, tree.root))
    if isinstance(root, str) and root == HIGHEST_DEGREE:
        degree = [sum(p == i for p in trees[i].parent) for i in range(attributes)]
        return trees[int(np.argmax(degree))]
    if isinstance(root, bool) or not isinstance(root, int | np.integer) or not 0 <= root < attributes:
        raise ValueError(f"root: expected None, {HIGHEST_DEGREE!r} or an attribute 0..{attributes - 1}, got {root!r}")
    return trees[int(root)]


def checked_tree(tree: Tree) -> Tree:
    """The tree; TypeError for anything else."""
    if not isinstance(tree, Tree):
        raise TypeError(f"tree: expected a Tree, such as chow_liu makes, got {type(tree).__name__}")
    return tree


def mutual_information(x: np.ndarray, y: np.ndarray, x_size: int, y_size: int) -> float:
    """Plug-in mutual information, in nats, of two columns of category indices int[n]."""
    joint = np.bincount(x * y_size + y, minlength=x_size * y_size).reshape(x_size, y_size) / len(x)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return max(0.0, float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen]))))


def checked_labels(labels, sizes: Sequence[int], argument: str) -> np.ndarray:
    """labels as int64[n, a] with every column inside its public category list, else ValueError.

    The message names type and shape only, since the labels may be private.
    """
    array = np.asarray(labels)
    sizes = [checks.whole("sizes", size) for size in checks.sequence("sizes", sizes, "integers")]
    legal = array.ndim == 2 and array.shape[1] == len(sizes) and np.issubdtype(array.dtype, np.integer)
    if len(sizes) == 0 or min(sizes) < 2:
        raise ValueError(f"sizes: expected at least one attribute, each of two categories or more, got {sizes}")
    if not legal or (array < 0).any() or (array >= np.asarray(sizes)).any():
        raise ValueError(
            f"{argument}: expected category indices int[n, {len(sizes)}] below {tuple(sizes)}, "
            f"got {checks.type_of_entries(array)}, shape {array.shape}"
        )
    return array.astype(np.int64)


def _rooted(spanning: csr_array, root: int, sizes: tuple[int, ...], schema: Schema | None) -> Tree:
    _, predecessors = breadth_first_order(spanning, root, directed=False)
    parent = tuple(-1 if i == root else int(p) for i, p in enumerate(predecessors))
    return Tree(root, parent, sizes, schema)
