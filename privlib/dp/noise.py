"""Noise as a thing that is passed in: the interface of a source, and the fast simulated one.

Every coin of a mechanism is a method call on a source, so one line decides whether a figure is simulated
(`Simulation`) or a release drawn for real (`privlib.dp.Secure`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from privlib.dp import checks
from privlib.dp.discrete import truncated_arguments
from privlib.dp.gaussian import gaussian_noise_std
from privlib.dp.integers import add_saturating, collect, integer_scale, integer_values, truncated


class NoiseSource(Protocol):
    """What a mechanism may ask of a source of noise; `Simulation` and `Secure` have all of it."""

    kind: ClassVar[str]
    assumptions: tuple[str, ...]

    def child(self, name: str) -> NoiseSource: ...
    def add_laplace(self, values, scale: float) -> np.ndarray: ...
    def add_gaussian(self, values, std: float) -> np.ndarray: ...
    def add_discrete_laplace(self, values, scale: float) -> np.ndarray: ...
    def add_discrete_gaussian(self, values, std: float) -> np.ndarray: ...
    def truncated_shifted_discrete_laplace(self, shift: int, scale: float, size=None): ...
    def argmax_gumbel(self, scores, scale: float) -> int: ...
    def top_gumbel(self, scores, scale: float, count: int) -> np.ndarray: ...
    def argmax_exponential(self, scores, scale: float) -> int: ...
    def bernoulli(self, probability: float, size) -> np.ndarray: ...
    def integers(self, high: int, size=None): ...
    def categorical(self, probabilities, size=None): ...
    def permutation(self, n: int) -> np.ndarray: ...
    def laplace_scale(self, epsilon: float, l1_sensitivity: float, size: int) -> float: ...
    def gaussian_std(self, epsilon: float, delta: float, l2_sensitivity: float, size: int) -> float: ...
    def gaussian_rho(self, std: float, l2_sensitivity: float, size: int) -> float: ...


class Simulation:
    """Seeded, vectorised noise for figures: whoever knows the seed can subtract it, so never for a release.

    `seed`: an integer of at least 0, or a non-empty sequence of such integers. Children are keyed by a
    SHA-256 chain over (parent, name, how many children of that name came before), so streams are independent of
    one another and of the order in which other names are asked for, and no stream is handed out twice.
    """

    kind: ClassVar[str] = "simulation"
    assumptions: tuple[str, ...] = ("idealized numerics", "secret seed (simulation)")

    def __init__(self, seed: int | Sequence[int]) -> None:
        words = tuple(seed) if isinstance(seed, Sequence) or getattr(seed, "ndim", 0) else (seed,)
        if not words or isinstance(seed, (str, bytes)):
            raise TypeError(f"seed must be an integer or a sequence of integers, got {seed!r}")
        words = tuple(checks.whole("seed", word, at_least=0) for word in words)
        self._begin(hashlib.sha256(repr(words).encode()).digest(), f"seed={words if len(words) > 1 else words[0]}")

    def _begin(self, key: bytes, label: str) -> None:
        self._key = key
        self._label = label
        self._children: Counter[str] = Counter()
        self._generator: np.random.Generator | None = None

    def __repr__(self) -> str:
        return f"Simulation({self._label})"

    @property
    def generator(self) -> np.random.Generator:
        """The numpy generator of this stream, for public randomness (projections, candidates, made-up data)."""
        if self._generator is None:
            self._generator = np.random.Generator(np.random.PCG64(int.from_bytes(self._key, "big")))
        return self._generator

    def child(self, name: str) -> Simulation:
        """A new independent stream; asking again for the same name gives the next one, not a replay."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a text, got {name!r}")
        count = self._children[name]
        self._children[name] += 1
        child = Simulation.__new__(Simulation)
        suffix = f"/{name}" + (f"#{count}" if count else "")
        # the key has a fixed length and the count ends the message: no two (name, count) read the same
        child._begin(hashlib.sha256(self._key + f"{name}#{count}".encode()).digest(), self._label + suffix)
        return child

    def add_laplace(self, values, scale: float) -> np.ndarray:
        """float64 `values` of any shape plus i.i.d. Laplace noise of parameter `scale` >= 0 (0: noise switched off)."""
        values, scale = real_values(values), checks.nonnegative("scale", scale)
        return values + scale * self.generator.laplace(size=values.shape)

    def add_gaussian(self, values, std: float) -> np.ndarray:
        """float64 `values` of any shape plus i.i.d. normal noise of deviation `std` >= 0 (0: noise switched off)."""
        values, std = real_values(values), checks.nonnegative("std", std)
        return values + std * self.generator.standard_normal(size=values.shape)

    def add_discrete_laplace(self, values, scale: float) -> np.ndarray:
        """int64 `values` of any shape plus i.i.d. discrete Laplace noise, `scale` in [0, 2^40] (0: switched off).

        The difference of two geometric variables, each the whole part of an exponential one; sums saturate at 64 bits.
        """
        values, scale = integer_values(values), integer_scale("scale", scale)
        return add_saturating(values, self._discrete_laplace(values.shape, scale))

    def add_discrete_gaussian(self, values, std: float) -> np.ndarray:
        """int64 `values` of any shape plus i.i.d. discrete Gaussian noise, `std` in [0, 2^40] (0: switched off).

        By rejection of discrete Laplace noise (Canonne, Kamath and Steinke 2020, Algorithm 3); sums saturate.
        """
        values, std = integer_values(values), integer_scale("std", std)
        if std == 0:
            return values
        proposal = float(int(std) + 1)

        def admitted(count: int) -> np.ndarray:
            drawn = self._discrete_laplace((count,), proposal)
            cost = (np.abs(drawn) / std - std / proposal) ** 2 / 2
            return drawn[cost < self.generator.standard_exponential(count)]

        return add_saturating(values, collect(admitted, values.size, 0.7).reshape(values.shape))

    def truncated_shifted_discrete_laplace(self, shift: int, scale: float, size=None):
        """Integers on 0..2 `shift`, Pr[x] proportional to exp(-|x - shift| / scale): an int for `size` None.

        By rejection of discrete Laplace noise beyond the shift, so the truncated law itself, not a clipped one.
        """
        shift, scale = truncated_arguments(shift, scale)
        return truncated(lambda count: self._discrete_laplace((count,), scale), shift, size)

    def _discrete_laplace(self, shape: tuple[int, ...], scale: float) -> np.ndarray:
        drawn = self.generator.standard_exponential(shape)
        drawn *= scale
        np.floor(drawn, out=drawn)
        other = self.generator.standard_exponential(shape)
        other *= scale
        drawn -= np.floor(other, out=other)
        return drawn.astype(np.int64)

    def argmax_gumbel(self, scores, scale: float) -> int:
        """Index j with probability proportional to exp(scores[j] / scale): the exponential mechanism's draw.

        `scores` float[m], finite or -inf (excluded), at least one finite; `scale` > 0. Adding i.i.d. Gumbel noise
        and taking the maximum has exactly that law, and no exponential is taken, so no spread underflows.
        """
        scores, scale = gumbel_arguments(scores, scale)
        with np.errstate(over="ignore"):  # a gap beyond the largest float is as good as -inf
            gaps = (scores - scores.max()) / scale
        return int(np.argmax(gaps + self.generator.gumbel(size=scores.shape)))

    def top_gumbel(self, scores, scale: float, count: int) -> np.ndarray:
        """int64[count]: indices of the `count` largest scores after one Gumbel draw for each, largest first.

        The ordered list has the law of `count` calls of `argmax_gumbel`, each on the indices left. Arguments as there,
        at least `count` >= 1 scores finite; ties of the float arithmetic go to the larger score.
        """
        scores, scale = gumbel_arguments(scores, scale)
        count = top_count(scores, count)
        with np.errstate(over="ignore"):
            noisy = (scores - scores.max()) / scale + self.generator.gumbel(size=scores.shape)
        return np.lexsort((-scores, -noisy))[:count].astype(np.int64)

    def argmax_exponential(self, scores, scale: float) -> int:
        """Index of the largest score after one exponential draw of mean `scale` for each: permute-and-flip's law.

        Arguments as in `argmax_gumbel`. Source: Ding, Kifer, Steinke and others 2021, Theorem 5.
        """
        scores, scale = gumbel_arguments(scores, scale)
        with np.errstate(over="ignore"):
            gaps = (scores - scores.max()) / scale
        return int(np.argmax(gaps + self.generator.exponential(size=scores.shape)))

    def bernoulli(self, probability: float, size) -> np.ndarray:
        """bool array of shape `size`, each entry True with the stated probability in [0, 1]."""
        return self.generator.random(size) < checks.probability("probability", probability)

    def integers(self, high: int, size=None):
        """Uniform int64 on 0..high-1: one int for `size` None, else an array of that shape."""
        drawn = self.generator.integers(checks.whole("high", high, at_least=1), size=size)
        return int(drawn) if size is None else drawn

    def categorical(self, probabilities, size=None):
        """Index j with probability `probabilities[j]` (float[m], sum 1): one int for `size` None, else int64[size]."""
        cumulative = np.cumsum(categorical_arguments(probabilities))
        cumulative /= cumulative[-1]
        drawn = np.searchsorted(cumulative, self.generator.random(size), side="right")
        return int(drawn) if size is None else drawn.astype(np.int64)

    def permutation(self, n: int) -> np.ndarray:
        """Uniform random order of 0..n-1 as int64[n]."""
        return self.generator.permutation(checks.whole("n", n, at_least=0)).astype(np.int64)

    def laplace_scale(self, epsilon: float, l1_sensitivity: float, size: int) -> float:
        """Laplace parameter l1_sensitivity / epsilon, rounded up: (epsilon, 0) for continuous noise of any size."""
        epsilon, l1_sensitivity = checks.positive("epsilon", epsilon), checks.positive("l1_sensitivity", l1_sensitivity)
        checks.whole("size", size, at_least=1)
        return checks.round_up(Fraction(l1_sensitivity) / Fraction(epsilon))

    def gaussian_std(self, epsilon: float, delta: float, l2_sensitivity: float, size: int) -> float:
        """Smallest deviation of continuous normal noise that is (epsilon, delta), rounded up (`gaussian_noise_std`)."""
        checks.whole("size", size, at_least=1)
        return gaussian_noise_std(epsilon, delta, l2_sensitivity)

    def gaussian_rho(self, std: float, l2_sensitivity: float, size: int) -> float:
        """zCDP bill l2_sensitivity^2 / (2 std^2) of continuous normal noise, rounded up."""
        std, l2_sensitivity = checks.positive("std", std), checks.positive("l2_sensitivity", l2_sensitivity)
        checks.whole("size", size, at_least=1)
        return checks.round_up(Fraction(l2_sensitivity) ** 2 / (2 * Fraction(std) ** 2))


def real_values(values) -> np.ndarray:
    """float64 array of private numbers of any shape; TypeError that shows none for what is no number."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"values must be real numbers, got {checks.type_of_entries(array)} (shape {array.shape})")
    return array.astype(np.float64, copy=False)


def top_count(scores: np.ndarray, count: int) -> int:
    """Checked `count` of a draw from checked scores: at least that many admitted (finite)."""
    count = checks.whole("count", count, at_least=1)
    if np.isfinite(scores).sum() < count:
        raise ValueError(f"scores must hold at least count = {count} finite ones (array of shape {scores.shape})")
    return count


def gumbel_arguments(scores, scale: float) -> tuple[np.ndarray, float]:
    """Checked (scores, scale) of an exponential-mechanism draw; scores are private: no value in a message."""
    scores, scale = np.asarray(scores), checks.positive("scale", scale)
    if scores.ndim != 1 or scores.size == 0 or scores.dtype.kind not in "fiu":
        raise ValueError(f"scores must be float[m], m >= 1; got {checks.type_of_entries(scores)}, shape {scores.shape}")
    scores = scores.astype(np.float64)
    if np.isnan(scores).any() or (scores == np.inf).any() or not np.isfinite(scores).any():
        raise ValueError(f"scores must be finite or -inf, at least one finite (array of shape {scores.shape})")
    return scores, scale


def categorical_arguments(probabilities) -> np.ndarray:
    """Checked probabilities: float64[m], m >= 1, none negative, sum within 1e-9 of 1."""
    weights = np.asarray(probabilities, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError(f"probabilities must be float[m], m >= 1; got shape {weights.shape}")
    if not (weights >= 0).all() or not abs(weights.sum() - 1) <= 1e-9:
        raise ValueError(f"probabilities must be at least 0 and sum to 1 (array of shape {weights.shape})")
    return weights
