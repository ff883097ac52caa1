"""Noise for a release of a user's data: OpenDP's samplers on an integer grid, every coin from the system's entropy."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import os
import secrets
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privlib.dp import checks
from privlib.dp.discrete import truncated_arguments
from privlib.dp.integers import integer_scale, integer_values, shape_of, truncated
from privlib.dp.noise import categorical_arguments, gumbel_arguments, real_values, top_count

_WORD = 1 << 64


class Secure:
    """System entropy and OpenDP's exact samplers; nothing is seeded, nothing can be replayed.

    `granularity_exponent` k in [-1000, 100], public: values are rounded to multiples of 2^k before discrete noise on
    that grid is added, so the outputs lie on one grid whatever the input, and low-order bits of a float tell nothing
    (the leak of Mironov 2012). The rounding widens the sensitivity by size * 2^k (l1) or sqrt(size) * 2^k (l2);
    OpenDP's map charges it, so it is in every scale that `laplace_scale` and `gaussian_std` return.
    Not defended: the time and memory a draw takes; sensitivities that upstream float sums exceed by rounding.
    Raises ModuleNotFoundError when `opendp` is not installed (first use of noise), TypeError or ValueError on bad k.
    """

    kind: ClassVar[str] = "secure"

    def __init__(self, granularity_exponent: int = -40) -> None:
        exponent = checks.whole("granularity_exponent", granularity_exponent, at_least=-1000)
        if exponent > 100:
            raise ValueError(f"granularity_exponent must be at most 100, got {granularity_exponent!r}")
        self.granularity_exponent = exponent
        self.assumptions: tuple[str, ...] = (
            f"OpenDP's samplers and privacy maps on the grid 2^{exponent}",
            "system entropy",
        )

    def __repr__(self) -> str:
        return f"Secure(granularity_exponent={self.granularity_exponent})"

    def child(self, name: str) -> Secure:
        """A source for a named part; all share the system's entropy, so every draw is independent anyway."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a text, got {name!r}")
        return Secure(self.granularity_exponent)

    def add_laplace(self, values, scale: float) -> np.ndarray:
        """float64 `values` of any shape, finite, plus discrete Laplace noise of parameter `scale` > 0 on the grid."""
        return self._add("laplace", values, checks.positive("scale", scale))

    def add_gaussian(self, values, std: float) -> np.ndarray:
        """float64 `values` of any shape, finite, plus discrete Gaussian noise of deviation `std` > 0 on the grid."""
        return self._add("gaussian", values, checks.positive("std", std))

    def _add(self, law: str, values, scale: float) -> np.ndarray:
        values = real_values(values)
        if not np.isfinite(values).all():  # OpenDP's domain excludes NaN; infinity would overflow its rationals
            raise ValueError(f"values must be finite (array of shape {values.shape})")
        if values.size == 0:
            return values.copy()
        measurement = _measurement(law, values.size, scale, self.granularity_exponent)
        return np.array(measurement(values.ravel().tolist()), dtype=np.float64).reshape(values.shape)

    def add_discrete_laplace(self, values, scale: float) -> np.ndarray:
        """int64 `values` of any shape plus OpenDP's discrete Laplace noise, `scale` in (0, 2^40]; saturating."""
        return self._add_integers("laplace", values, integer_scale("scale", checks.positive("scale", scale)))

    def add_discrete_gaussian(self, values, std: float) -> np.ndarray:
        """int64 `values` of any shape plus OpenDP's discrete Gaussian noise, `std` in (0, 2^40]; saturating."""
        return self._add_integers("gaussian", values, integer_scale("std", checks.positive("std", std)))

    def _add_integers(self, law: str, values, scale: float) -> np.ndarray:
        values = integer_values(values)
        if values.size == 0:
            return values
        noisy = _integer_measurement(law, values.size, scale)(values.ravel().tolist())
        return np.array(noisy, dtype=np.int64).reshape(values.shape)

    def truncated_shifted_discrete_laplace(self, shift: int, scale: float, size=None):
        """Integers on 0..2 `shift`, Pr[x] proportional to exp(-|x - shift| / scale), by rejection: exact.

        How many draws are thrown away shows in the time taken; it tells nothing of the draws that are kept.
        """
        shift, scale = truncated_arguments(shift, scale)
        return truncated(lambda count: self.add_discrete_laplace(np.zeros(count, np.int64), scale), shift, size)

    def argmax_gumbel(self, scores, scale: float) -> int:
        """Index j with probability proportional to exp(scores[j] / scale): OpenDP's noisy maximum, Gumbel noise.

        `scores` float[m], finite or -inf (excluded), at least one finite; `scale` > 0. OpenDP converts scores and
        scale to exact rationals and compares noise values that it samples to as many bits as the comparison needs,
        so the draw has the exponential mechanism's law exactly, on any spread, and the pure-DP bill of that law
        (McSherry and Talwar 2007) holds. The output measure is set to zCDP because under pure DP OpenDP would draw
        exponential noise instead (permute-and-flip, another law). Excluded indices are left out before the call.
        """
        scores, scale = gumbel_arguments(scores, scale)
        admitted = np.flatnonzero(np.isfinite(scores))
        return int(admitted[_noisy_max(scale)(scores[admitted].tolist())])

    def top_gumbel(self, scores, scale: float, count: int) -> np.ndarray:
        """int64[count]: the `count` largest of the scores with Gumbel noise, largest first: OpenDP's noisy top k.

        Arguments and exactness as in `argmax_gumbel`, at least `count` >= 1 scores finite.
        """
        scores, scale = gumbel_arguments(scores, scale)
        count, admitted = top_count(scores, count), np.flatnonzero(np.isfinite(scores))
        return admitted[_noisy_top(scale, count, "gumbel")(scores[admitted].tolist())].astype(np.int64)

    def argmax_exponential(self, scores, scale: float) -> int:
        """Index of the largest score with exponential noise of mean `scale`: OpenDP's noisy maximum under pure DP.

        Arguments and exactness as in `argmax_gumbel`; the law is permute-and-flip's.
        """
        scores, scale = gumbel_arguments(scores, scale)
        admitted = np.flatnonzero(np.isfinite(scores))
        return int(admitted[_noisy_top(scale, 1, "exponential")(scores[admitted].tolist())[0]])

    def bernoulli(self, probability: float, size) -> np.ndarray:
        """bool array of shape `size`; each entry True with exactly the stated float probability in [0, 1].

        A uniform number is drawn 64 bits at a time and compared with the probability's binary digits; only entries
        that tie so far (one in 2^64) draw more.
        """
        probability, shape = checks.probability("probability", probability), shape_of(size)
        count = math.prod(shape)
        result = np.zeros(count, dtype=bool)
        if probability == 1:
            result[:] = True
        open_entries, rest = np.arange(count), Fraction(probability)
        while len(open_entries) and 0 < rest < 1:
            digit, rest = divmod(rest * _WORD, 1)
            words = _words(len(open_entries))
            result[open_entries[words < np.uint64(digit)]] = True
            open_entries = open_entries[words == np.uint64(digit)]
        return result.reshape(shape)

    def integers(self, high: int, size=None):
        """Uniform int64 on 0..high-1, 1 <= high <= 2^63, by exact rejection: one int for `size` None, else an array."""
        high = checks.whole("high", high, at_least=1)
        if high > 1 << 63:
            raise ValueError(f"high must be at most 2^63, got {high!r}")
        if size is None:
            return secrets.randbelow(high)
        shape = shape_of(size)
        return _below(np.full(math.prod(shape), high, dtype=np.uint64)).reshape(shape)

    def categorical(self, probabilities, size=None):
        """Index j with probability `probabilities[j]` over their exact sum, exactly; results as in `integers`.

        The floats are brought to one denominator, and a uniform integer below the sum of the numerators is drawn.
        """
        weights = [Fraction(weight) for weight in categorical_arguments(probabilities).tolist()]
        denominator = max(weight.denominator for weight in weights)  # powers of two: the largest is common
        ends = list(itertools.accumulate(int(weight * denominator) for weight in weights))
        if size is None:
            return bisect.bisect_right(ends, secrets.randbelow(ends[-1]))
        shape = shape_of(size)
        drawn = [bisect.bisect_right(ends, secrets.randbelow(ends[-1])) for _ in range(math.prod(shape))]
        return np.array(drawn, dtype=np.int64).reshape(shape)

    def permutation(self, n: int) -> np.ndarray:
        """Uniform random order of 0..n-1 as int64[n]: Fisher-Yates on exactly uniform positions."""
        n = checks.whole("n", n, at_least=0)
        order = list(range(n))
        positions = _below(np.arange(1, n + 1, dtype=np.uint64)).tolist()
        for last in range(n - 1, 0, -1):
            other = positions[last]
            order[last], order[other] = order[other], order[last]
        return np.array(order, dtype=np.int64)

    def laplace_scale(self, epsilon: float, l1_sensitivity: float, size: int) -> float:
        """Smallest Laplace parameter (to 1e-9) that OpenDP's map bills at most `epsilon` for `size` coordinates."""
        epsilon, size = checks.positive("epsilon", epsilon), checks.whole("size", size, at_least=1)
        l1_sensitivity = checks.positive("l1_sensitivity", l1_sensitivity)
        return _laplace_scale(epsilon, l1_sensitivity, size, self.granularity_exponent)

    def gaussian_std(self, epsilon: float, delta: float, l2_sensitivity: float, size: int) -> float:
        """Smallest Gaussian deviation (to 1e-9) for which OpenDP's map (zCDP, then approximate DP at `delta`) bills at
        most `epsilon` for `size` coordinates."""
        epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)
        l2_sensitivity = checks.positive("l2_sensitivity", l2_sensitivity)
        size = checks.whole("size", size, at_least=1)
        return _gaussian_std(epsilon, delta, l2_sensitivity, size, self.granularity_exponent)

    def gaussian_rho(self, std: float, l2_sensitivity: float, size: int) -> float:
        """rho that OpenDP's map states for Gaussian noise of deviation `std` on `size` coordinates, grid included."""
        std, l2_sensitivity = checks.positive("std", std), checks.positive("l2_sensitivity", l2_sensitivity)
        size = checks.whole("size", size, at_least=1)
        return _measurement("gaussian", size, std, self.granularity_exponent).map(l2_sensitivity)

    def bill_laplace(self, scale: float, l1_sensitivity: float, size: int) -> float:
        """Epsilon that OpenDP's map states for Laplace noise of parameter `scale` on `size` coordinates."""
        return _measurement("laplace", size, scale, self.granularity_exponent).map(l1_sensitivity)

    def bill_gaussian(self, delta: float, std: float, l2_sensitivity: float, size: int) -> float:
        """Epsilon that OpenDP's map states at `delta` for Gaussian noise of deviation `std` on `size` coordinates."""
        measurement = _measurement("gaussian", size, std, self.granularity_exponent)
        return _opendp().c.make_zCDP_to_approxDP(measurement).map(l2_sensitivity).epsilon(delta)


@functools.lru_cache(maxsize=256)
def _laplace_scale(epsilon: float, l1_sensitivity: float, size: int, exponent: int) -> float:
    bill = functools.partial(Secure(exponent).bill_laplace, l1_sensitivity=l1_sensitivity, size=size)
    return _smallest(lambda scale: bill(scale) <= epsilon, l1_sensitivity / epsilon)


@functools.lru_cache(maxsize=256)
def _gaussian_std(epsilon: float, delta: float, l2_sensitivity: float, size: int, exponent: int) -> float:
    source = Secure(exponent)
    guess = l2_sensitivity * (math.sqrt(-2 * math.log(delta)) + 1) / epsilon
    return _smallest(lambda std: source.bill_gaussian(delta, std, l2_sensitivity, size) <= epsilon, guess)


def _smallest(enough: Callable[[float], bool], guess: float) -> float:
    """Smallest scale that is enough, to a relative 1e-9 from above, for a test that is monotone in the scale."""
    low, high = guess, guess
    while not enough(high):
        low, high = high, 2 * high
    while enough(low):
        low, high = low / 2, low
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@functools.lru_cache(maxsize=1)
def _opendp():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


@functools.lru_cache(maxsize=64)
def _noisy_max(scale: float):
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)


@functools.lru_cache(maxsize=64)
def _noisy_top(scale: float, count: int, law: str):
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    measure = {"gumbel": dp.zero_concentrated_divergence, "exponential": dp.max_divergence}[law]()
    return dp.m.make_noisy_top_k(*space, measure, k=count, scale=scale)


@functools.lru_cache(maxsize=64)
def _measurement(law: str, size: int, scale: float, exponent: int):
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size)
    if law == "laplace":
        return dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=scale, k=exponent)
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale, k=exponent)


@functools.lru_cache(maxsize=64)
def _integer_measurement(law: str, size: int, scale: float):
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"), size=size)
    if law == "laplace":
        return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)


def _words(count: int) -> np.ndarray:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def _below(bounds: np.ndarray) -> np.ndarray:
    """Uniform int64 below each bound (uint64, 1..2^63), exact: words past the last multiple of a bound are redrawn."""
    largest = np.uint64(_WORD - 1)
    # last accepted word: floor(2^64 / bound) * bound - 1, written without leaving 64 bits
    last = largest - (largest % bounds + np.uint64(1)) % bounds
    words = _words(len(bounds)).copy()
    while (rejected := words > last).any():
        words[rejected] = _words(int(rejected.sum()))
    return (words % bounds).astype(np.int64)
