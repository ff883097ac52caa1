"""Pieces of integer noise that both sources share: arguments, sums that do not wrap round, rejection."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np

from privlib.dp import checks
from privlib.dp.discrete import LARGEST_SCALE


def integer_values(values) -> np.ndarray:
    """int64 copy of private integers of any shape; TypeError or ValueError by type and shape only."""
    return checks.private_integers("values", values, np.shape(values))


def integer_scale(name: str, scale: float) -> float:
    """Scale of integer noise as a float in [0, 2^40]; ValueError otherwise."""
    number = checks.nonnegative(name, scale)
    if number > LARGEST_SCALE:
        raise ValueError(f"{name} must be at most 2^40 for noise on the integers, got {scale!r}")
    return number


def add_saturating(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """int64 sums that stop at the largest and smallest integer instead of wrapping round (as OpenDP's do)."""
    total = np.asarray(values + noise)
    limits = np.iinfo(np.int64)
    total[(noise > 0) & (total < values)] = limits.max
    total[(noise < 0) & (total > values)] = limits.min
    return total


def collect(admitted: Callable[[int], np.ndarray], count: int, share: float) -> np.ndarray:
    """`count` draws by rejection: `admitted(m)` makes m proposals and returns those kept, about `share` of them."""
    kept = [np.zeros(0, dtype=np.int64)]
    missing = count
    while missing > 0:
        kept.append(admitted(min(int(missing / share) + 16, 1 << 22))[:missing])
        missing -= len(kept[-1])
    return np.concatenate(kept)


def truncated(discrete_laplace: Callable[[int], np.ndarray], shift: int, size) -> np.ndarray | int:
    """Draws of discrete Laplace noise given that it is at most `shift` in absolute value, moved up by `shift`."""

    def admitted(count: int) -> np.ndarray:
        drawn = discrete_laplace(count)
        return drawn[np.abs(drawn) <= shift]

    shape = () if size is None else shape_of(size)
    drawn = collect(admitted, math.prod(shape), 0.8).reshape(shape) + shift
    return int(drawn) if size is None else drawn


def shape_of(size) -> tuple[int, ...]:
    """A numpy `size` argument (int or sequence of ints) as a tuple."""
    try:
        return (operator.index(size),)
    except TypeError:
        return tuple(operator.index(length) for length in size)
