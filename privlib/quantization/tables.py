"""Tables of a tree: empirical ones, public candidates, the choice among the nearest, and targets.

Sources: QuanText, Algorithm 1 (steps 2 to 4) and Algorithm 2 (candidates).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privlib.dp import Simulation, checks

from .tree import Tree


def total_variation(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """TV distance, in [0, 1], of every row of float[g, s] to the table float[s]."""
    return 0.5 * np.abs(rows - table).sum(axis=1)


def candidates(support_size: int, gamma: int, pool_size: int, alpha: float, noise) -> np.ndarray:
    """Public candidate distributions, far apart: greedy farthest-point choice in total variation.

    `pool_size` vectors are drawn from the symmetric Dirichlet(alpha); starting from the first, each
    step takes the one whose smallest distance to those taken so far is largest (lowest index among
    equals). The smallest distances are kept and updated, so the cost is gamma * pool_size distances
    where Algorithm 2 recomputes gamma^2 * pool_size.

    Args:
        support_size: categories, >= 2.
        gamma: candidates wanted, 1 <= gamma <= pool_size.
        pool_size: vectors drawn.
        alpha: concentration, > 0; 1 is uniform on the simplex.
        noise: `Simulation` of a public seed: candidates are public and must be drawn again alike.

    Returns:
        float[gamma, support_size], rows summing to one.
    """
    checks.whole("support_size", support_size, at_least=2)
    if checks.whole("gamma", gamma) > checks.whole("pool_size", pool_size):
        raise ValueError(f"gamma: expected 1..pool_size ({pool_size}), got {gamma}")
    checks.positive("alpha", alpha)
    checked_public(noise)
    pool = noise.generator.dirichlet(np.full(support_size, float(alpha)), size=pool_size)
    return pool[farthest(pool, gamma)]


def checked_public(noise: Simulation) -> None:
    """TypeError unless `noise` is a `Simulation`: what is public must be drawn again alike."""
    if not isinstance(noise, Simulation):
        raise TypeError(f"noise: expected a Simulation of a public seed, got {type(noise).__name__}")


def farthest(pool: np.ndarray, count: int) -> list[int]:
    """Indices of `count` rows of the pool float[p, s]: the first, then each the farthest in TV from those before."""
    taken = [0]
    nearest = total_variation(pool, pool[0])
    for _ in range(count - 1):
        nearest[taken[-1]] = -1.0  # never again, even where the pool repeats a vector
        taken.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, total_variation(pool, pool[taken[-1]]))
    return taken


def empirical_tables(labels: np.ndarray, tree: Tree) -> tuple[np.ndarray, ...]:
    """Empirical table of every component of the tree, in `tree.components` order.

    A parent value that no row shows has no empirical table: the uniform one stands in, so that the
    number and the shapes of the tables are the same for every private dataset.

    Args:
        labels: int[n, a].
    """
    tables = []
    for attribute, value in tree.components:
        column = labels[:, attribute]
        if value >= 0:
            column = column[labels[:, tree.parent[attribute]] == value]
        counts = np.bincount(column, minlength=tree.sizes[attribute])
        tables.append(counts / counts.sum() if counts.sum() else np.full(len(counts), 1 / len(counts)))
    return tuple(tables)


def checked_centre(centre: Sequence[Sequence[float]] | None, tree: Tree) -> None:
    """ValueError unless `centre` is None or one law with positive entries a table of the tree."""
    if centre is None:
        return
    laws = [checks.floats("centre", law) for law in checks.sequence("centre", centre, "laws")]
    shapes, got = [(tree.sizes[attribute],) for attribute, _ in tree.components], [law.shape for law in laws]
    if got != shapes or not all((law > 0).all() and abs(math.fsum(law) - 1) <= 1e-9 for law in laws):
        raise ValueError(f"centre: expected positive laws of shapes {shapes}, got shapes {got}")


def joint_law(tables: Sequence[np.ndarray], tree: Tree) -> np.ndarray:
    """Law over combinations of the tree with these tables, cells in the order of np.ravel_multi_index.

    Args:
        tables: float[..., s] each, in `tree.components` order; leading axes number several laws.

    Returns:
        float[..., cells].
    """
    placed = dict(zip(tree.components, tables, strict=True))
    cells = np.stack([axis.ravel() for axis in np.indices(tree.sizes)], axis=1)
    law = np.ones(len(cells))
    for attribute, parent in enumerate(tree.parent):
        if parent < 0:
            law = law * placed[attribute, -1][..., cells[:, attribute]]
        else:
            given = np.stack([placed[attribute, value] for value in range(tree.sizes[parent])], axis=-2)
            law = law * given[..., cells[:, parent], cells[:, attribute]]
    return law


def nearest_candidates(candidate_set: np.ndarray, table: np.ndarray, k: int) -> np.ndarray:
    """Indices int[k] of the candidates nearest to the table in TV, nearest first, ties by index."""
    return np.argsort(total_variation(candidate_set, table), kind="stable")[:k]


def choose_tables(
    tables: Sequence[np.ndarray], candidate_sets: Sequence[np.ndarray], k: int, noise
) -> tuple[np.ndarray, ...]:
    """For each table, one of its k nearest candidates, uniformly, by an independent draw of its own.

    Guarantee: for every private dataset each candidate of a table is released with probability 0 or
    1/k, independently between tables (QuanText, Appendix B); this needs the draws to be secret.

    Args:
        tables: empirical tables, one a component.
        candidate_sets: public candidates, one float[gamma, s] a component.
        k: size of the neighbourhood.
        noise: source of the secret draws (`integers`).
    """
    return tuple(
        candidate_set[nearest_candidates(candidate_set, table, k)[int(noise.integers(k))]]
        for table, candidate_set in zip(tables, candidate_sets, strict=True)
    )


def draw_targets(n: int, tables: Sequence[np.ndarray], tree: Tree, noise) -> np.ndarray:
    """n independent combinations int64[n, a] of the tree with these tables, ancestors first.

    Args:
        n: rows, >= 0.
        tables: chosen tables in `tree.components` order.
        noise: source of the draws (`categorical`).
    """
    targets = np.zeros((n, len(tree.sizes)), dtype=np.int64)
    for (attribute, value), table in zip(tree.components, tables, strict=True):
        rows = np.arange(n) if value < 0 else np.flatnonzero(targets[:, tree.parent[attribute]] == value)
        targets[rows, attribute] = noise.categorical(table, size=len(rows))
    return targets
