"""The Gaussian mechanism on the integers: the noise drawn is the noise billed, to the last probability."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import checks
from privlib.dp.billed import Billed
from privlib.dp.discrete import EXACT_STD, LARGEST_SCALE, discrete_gaussian_delta
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource
from privlib.dp.zcdp import ZCDP, largest_rho

NAME = "discrete Gaussian vector"


def discrete_gaussian_noise_std(epsilon: float, delta: float, l2_sensitivity: float, size: int) -> float:
    """Deviation of discrete Gaussian noise on `size` integers that is (epsilon, delta)-DP, rounded up.

    For one integer by the exact curve (l2 sensitivity rounded down to an integer, all an integer can move), up to
    2^14; for more, and above, by zCDP with rho = l2_sensitivity^2 / (2 s^2), converted: a shift of several entries
    has no curve that depends on its length alone. Less by 1e-9 would be over budget. The scalar curve need not fall
    everywhere in s: at epsilon 12 and delta 1e-5 deviations 0.36 to 0.42 fit, 0.43 to 0.45 do not, more do again. The
    search comes down from the deviation that zCDP proves safe with all above it, so more noise is not less private.
    Arguments, public: `epsilon` in (0, inf), `delta` strictly between 0 and 1, `l2_sensitivity` in [1, 2^40] (integers
    that move at all move by 1), `size` an integer >= 1. Raises TypeError or ValueError outside.
    """
    epsilon, delta = checks.positive("epsilon", epsilon), checks.open_probability("delta", delta)
    l2_sensitivity = _integer_sensitivity("l2_sensitivity", l2_sensitivity)
    size = checks.whole("size", size)
    return _noise_std(epsilon, delta, math.floor(l2_sensitivity) if size == 1 else l2_sensitivity, size == 1)


@functools.lru_cache(maxsize=4096)  # mechanisms ask again at every release
def _noise_std(epsilon: float, delta: float, l2_sensitivity: float, scalar: bool) -> float:
    guess = l2_sensitivity / math.sqrt(2 * largest_rho(epsilon, delta))
    safe = _smallest(lambda std: _zcdp(std, l2_sensitivity).epsilon(delta) <= epsilon, guess, 1.05)
    if scalar and safe <= EXACT_STD:
        return _smallest(lambda std: discrete_gaussian_delta(epsilon, std, l2_sensitivity) <= delta, safe, 1.01)
    return safe


def _zcdp(noise_std: float, l2_sensitivity: float, unit="record", relation="add_drop", assumptions=()) -> ZCDP:
    """rho = l2_sensitivity^2 / (2 noise_std^2): exact, not only a bound.

    A shift by integers m has Renyi divergence at most a |m|^2 / (2 s^2) at every order a, attained where a m is integer
    (Canonne, Kamath and Steinke 2020, Theorems 4 and 14), so it is the continuous law's bill.
    """
    bill = ZCDP.gaussian(noise_std, l2_sensitivity, unit, relation, assumptions)
    return dataclasses.replace(bill, composed=(NAME,))


def _integer_sensitivity(name: str, value: float) -> float:
    number = checks.positive(name, value)
    if not 1 <= number <= LARGEST_SCALE:
        raise ValueError(f"{name} of integers must lie in [1, 2^40], got {value!r}")
    return number


def _smallest(enough: Callable[[float], bool], guess: float, step: float) -> float:
    """Walks up from `guess` until it is enough, then down while it is, then halves: enough, and 1e-9 less is not."""
    low, high = guess, guess
    while not enough(high):
        low, high = high, high * step
    while enough(low):
        low, high = low / step, low
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class DiscreteGaussianMechanism(Billed):
    """Releases a vector of integers plus i.i.d. discrete Gaussian noise: (epsilon, delta)-DP and rho-zCDP.

    Inequalities, whenever the query moves by at most `l2_sensitivity` in the l2 norm between neighbours D, D' under
    `relation`: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta, and the Renyi divergence of every order a > 1 is
    at most a rho, rho = l2_sensitivity^2 / (2 noise_std^2). One integer is billed by the exact curve of the discrete
    law, several by the conversion of rho (`discrete_gaussian_noise_std`); the law is the same under every source.
    Arguments, all public: `epsilon` > 0, 0 < `delta` < 1, `l2_sensitivity` in [1, 2^40], `shape` of the vector (an int
    or a tuple of ints), `unit`, `relation` (as in `Guarantee`). Raises TypeError or ValueError on anything else.
    Source: Canonne, Kamath and Steinke 2020, Theorems 4, 7 and 14, Corollary 13.
    """

    epsilon: float
    delta: float
    l2_sensitivity: float
    shape: int | tuple[int, ...]
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        checks.settle(self, epsilon=checks.positive, delta=checks.open_probability)
        checks.settle(self, l2_sensitivity=_integer_sensitivity, shape=checks.lengths)
        self._guarantee(())

    def release(self, private, noise: NoiseSource) -> np.ndarray:
        """`private` int[shape] plus noise from `noise`; int64[shape], saturating. Raises TypeError or ValueError on
        another dtype or shape, without naming any value."""
        checks.noise_source("noise", noise)
        return noise.add_discrete_gaussian(checks.private_integers("private", private, self.shape), self.noise_std)

    @property
    def noise_std(self) -> float:
        """Parameter s of the law Pr[x] ~ exp(-x^2 / (2 s^2)) that a release uses, whatever the source."""
        size = math.prod(self.shape)
        return discrete_gaussian_noise_std(self.epsilon, self.delta, self.l2_sensitivity, size)

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """The exact rho of a release through `noise`, rounded up; the same for every source but for its assumptions."""
        return _zcdp(self.noise_std, self.l2_sensitivity, self.unit, self.relation, noise.assumptions)

    def loss(self, epsilon: float) -> float:
        """Delta at another `epsilon` in [0, inf]: the exact curve for one integer, what rho implies for several."""
        if math.prod(self.shape) == 1 and self.noise_std <= EXACT_STD:
            return discrete_gaussian_delta(epsilon, self.noise_std, int(self.l2_sensitivity))
        return _zcdp(self.noise_std, self.l2_sensitivity).delta(epsilon)

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.unit, self.relation, assumptions, (NAME,))
