"""Additive mechanisms: a query's vector plus Laplace or Gaussian noise on every coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import checks
from privlib.dp.billed import Billed
from privlib.dp.gaussian import gaussian_delta, gaussian_noise_std
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource
from privlib.dp.zcdp import ZCDP


@dataclass(frozen=True)
class LaplaceMechanism(Billed):
    """Releases a query's vector plus i.i.d. Laplace noise: (epsilon, 0)-DP.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] whenever the query moves by at most
    `l1_sensitivity` in the l1 norm between neighbours D, D' under `relation`.
    Arguments, all public: `epsilon` > 0, `l1_sensitivity` > 0, `shape` of the vector (an int or a tuple of
    ints), `unit`, `relation` (as in `Guarantee`). Raises TypeError or ValueError on anything else.
    Source: Dwork, McSherry, Nissim and Smith 2006, Example 1. Under Secure: OpenDP's discrete Laplace on the grid 2^k.
    """

    epsilon: float
    l1_sensitivity: float
    shape: int | tuple[int, ...]
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        checks.settle(self, epsilon=checks.positive, l1_sensitivity=checks.positive, shape=checks.lengths)
        self._guarantee(())

    def release(self, private, noise: NoiseSource) -> np.ndarray:
        """`private` float[shape], finite, plus noise from `noise`; float64[shape]. Raises TypeError or ValueError
        on another dtype, another shape, NaN or infinity, without naming any value."""
        checks.noise_source("noise", noise)
        private = checks.private_floats("private", private, self.shape)
        return noise.add_laplace(private, self.noise_scale(noise))

    def noise_scale(self, noise: NoiseSource) -> float:
        """Laplace parameter b that a release through `noise` uses (standard deviation b sqrt 2)."""
        return noise.laplace_scale(self.epsilon, self.l1_sensitivity, math.prod(self.shape))

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, self.unit, self.relation, assumptions, ("Laplace vector",))


@dataclass(frozen=True)
class GaussianMechanism(Billed):
    """Releases a query's vector plus i.i.d. Gaussian noise: (epsilon, delta)-DP at any epsilon > 0.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta whenever the query moves by at most
    `l2_sensitivity` in the l2 norm between neighbours D, D' under `relation`.
    Arguments, all public: `epsilon` > 0, 0 < `delta` < 1, `l2_sensitivity` > 0, `shape` of the vector (an int or a
    tuple of ints), `unit`, `relation` (as in `Guarantee`). Raises TypeError or ValueError on anything else.
    Source: Balle and Wang 2018, Theorem 8. Under Secure: OpenDP's discrete Gaussian on the grid 2^k, billed by
    OpenDP's own map.
    """

    epsilon: float
    delta: float
    l2_sensitivity: float
    shape: int | tuple[int, ...]
    unit: str = field(kw_only=True)
    relation: str = field(kw_only=True)

    def __post_init__(self) -> None:
        checks.settle(self, epsilon=checks.positive, delta=checks.open_probability)
        checks.settle(self, l2_sensitivity=checks.positive, shape=checks.lengths)
        self._guarantee(())

    def release(self, private, noise: NoiseSource) -> np.ndarray:
        """`private` float[shape], finite, plus noise from `noise`; float64[shape]. Raises TypeError or ValueError
        on another dtype, another shape, NaN or infinity, without naming any value."""
        checks.noise_source("noise", noise)
        private = checks.private_floats("private", private, self.shape)
        return noise.add_gaussian(private, self.noise_std(noise))

    def noise_std(self, noise: NoiseSource) -> float:
        """Standard deviation that a release through `noise` uses."""
        return noise.gaussian_std(self.epsilon, self.delta, self.l2_sensitivity, math.prod(self.shape))

    def loss(self, epsilon: float) -> float:
        """Exact privacy curve of the continuous noise: the delta it has at another `epsilon` in [0, inf]."""
        std = gaussian_noise_std(self.epsilon, self.delta, self.l2_sensitivity)
        return gaussian_delta(epsilon, std, self.l2_sensitivity)

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """The rho of a release through `noise`: what zCDP accounting adds up instead of (epsilon, delta)."""
        rho = noise.gaussian_rho(self.noise_std(noise), self.l2_sensitivity, math.prod(self.shape))
        return ZCDP(rho, self.unit, self.relation, noise.assumptions, ("Gaussian vector",))

    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.unit, self.relation, assumptions, ("Gaussian vector",))
