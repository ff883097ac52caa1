"""Stage II of DP-SPIN: from the private sketch to a plan; what all mechanisms share, and the two full sketches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from privlib.dp import GaussianMechanism, Guarantee, LaplaceMechanism, NoiseSource, Simulation, checks
from privlib.plans.intervals import difference_quantile
from privlib.plans.plan import DEFAULT_BIN_EDGES, Atom, Noise, SemanticPlan, bin_of, checked_edges
from privlib.plans.sensitivity import Sensitivity, sensitivity
from privlib.plans.sketch import Sketch
from privlib.plans.universe import AtomUniverse, default_denominator


@dataclass(frozen=True, kw_only=True)
class PlanMechanism(ABC):
    """Public settings that all mechanisms share; private data comes in only through `release`.

    `universe`: m public atoms. `epsilon` > 0. `plan_size`: L atoms are admitted, 1 <= L <= m.
    `unit` "record" or "user", `relation` "add_drop" or "replace", `contribution_bound`: l1 mass B of one user (1
    for records). `public_denominator` d > 0 of the supports: None takes the universe's auxiliary count (times B),
    never the protected one. `bin_edges`: rising supports, by name. `comparison_margin` >= 0: None takes the 95 %
    quantile of the difference of two noise draws.
    """

    universe: AtomUniverse = field(kw_only=False)
    epsilon: float
    plan_size: int
    unit: str
    relation: str
    contribution_bound: float = 1.0
    public_denominator: float | None = None
    bin_edges: Mapping[str, float] = field(default_factory=lambda: DEFAULT_BIN_EDGES)
    comparison_margin: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.universe, AtomUniverse):
            raise TypeError(f"universe must be an AtomUniverse, got {type(self.universe).__name__}")
        size = self.plan_size
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= len(self.universe):
            raise ValueError(f"plan_size must be an integer in 1..{len(self.universe)} (the universe), got {size!r}")
        checks.positive("epsilon", self.epsilon)
        self.sensitivity  # noqa: B018  refuses an unknown unit, relation or bound at construction
        if self.public_denominator is None:
            default = default_denominator(self.universe, self.unit, self.contribution_bound)
            object.__setattr__(self, "public_denominator", default)
        checks.positive("public_denominator", self.public_denominator)
        if self.comparison_margin is not None:
            checks.nonnegative("comparison_margin", self.comparison_margin)
        object.__setattr__(self, "bin_edges", checked_edges(self.bin_edges))

    @property
    @abstractmethod
    def name(self) -> str:
        """What ran, as `SemanticPlan.mechanism` says it."""

    @property
    def sensitivity(self) -> Sensitivity:
        """Row of the sensitivity table that this mechanism pays for."""
        return sensitivity(self.unit, self.relation, self.contribution_bound)

    def release(self, private: Sketch, noise: NoiseSource) -> SemanticPlan:
        """One plan of the private sketch; the only private step of the pipeline.

        `private`: the `Sketch` of this universe, unit and bound (a smaller bound will do); `noise`: every coin.
        Guarantee: `guarantee_under(noise)`. Raises TypeError or ValueError when the sketch is of another
        universe, unit, size or a larger bound (public facts only), TypeError when noise is no source.
        """
        checks.noise_source("noise", noise)
        indices, values = self.draw(self._masses(private), noise)
        order = np.lexsort((indices, -values))
        scale = self.noise_law(noise)
        margin = difference_quantile(scale) if self.comparison_margin is None else self.comparison_margin
        atoms = tuple(
            self._atom(rank, int(indices[k]), float(values[k])) for rank, k in enumerate(order[: self.plan_size], 1)
        )
        return SemanticPlan(
            mechanism=self.name,
            guarantee=self.guarantee_under(noise),
            public_denominator=float(self.public_denominator),
            universe_size=len(self.universe),
            plan_size=self.plan_size,
            comparison_margin=float(margin),
            atoms=atoms,
            noise=scale,
            bin_edges=self.bin_edges,
        )

    @abstractmethod
    def draw(self, masses: np.ndarray, noise: NoiseSource) -> tuple[np.ndarray, np.ndarray]:
        """Indices int64 and noisy values float64 that the plan is made of (all m for the full sketches).

        `masses` float[m] are the private masses themselves: for studies that draw often; a release goes
        through `release`, which checks what they are.
        """

    @abstractmethod
    def noise_law(self, noise: NoiseSource) -> Noise:
        """Law and scale of the noise in the released masses."""

    @property
    def guarantee(self) -> Guarantee:
        """Bill of exact draws and continuous noise."""
        return self.guarantee_under(Simulation(0))

    @abstractmethod
    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of one release through `noise`, with that source's assumptions; never above what was asked for."""

    def _masses(self, private: Sketch) -> np.ndarray:
        if not isinstance(private, Sketch):
            raise TypeError(f"private must be a Sketch, got {type(private).__name__}")
        if private.universe not in (None, self.universe.fingerprint) or len(private) != len(self.universe):
            raise ValueError(f"private must be a sketch over this universe of {len(self.universe)} atoms, got another")
        if private.unit != self.unit or private.contribution_bound > self.contribution_bound:
            raise ValueError(
                f"private must be a sketch with unit {self.unit!r} and contribution_bound at most "
                f"{self.contribution_bound!r}, got {private.unit!r} and {private.contribution_bound!r}"
            )
        return private.masses

    def _atom(self, rank: int, index: int, mass: float) -> Atom:
        support = max(0.0, mass) / self.public_denominator
        label, description = self.universe.labels[index], self.universe.descriptions[index]
        return Atom(rank, label, description, mass, support, bin_of(support, self.bin_edges))


class _FullSketch(PlanMechanism):
    """Noise on every mass, then the L largest: selection, ranks and supports are post-processing."""

    @property
    @abstractmethod
    def _vector(self) -> LaplaceMechanism | GaussianMechanism: ...

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        return replace(self._vector.guarantee_under(noise), composed=(f"{self.name} sketch",))

    def draw(self, masses: np.ndarray, noise: NoiseSource) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(masses)), self._vector.release(masses, noise)


@dataclass(frozen=True, kw_only=True)
class LaplacePlan(_FullSketch):
    """C~ = C + Lap(Delta_1 / epsilon) on all m atoms, then the L largest: (epsilon, 0)-DP.

    Source: DP-SPIN, Section 5.1 (Laplace).
    """

    name = "laplace"

    @property
    def _vector(self) -> LaplaceMechanism:
        shape = len(self.universe)
        return LaplaceMechanism(self.epsilon, self.sensitivity.l1, shape, unit=self.unit, relation=self.relation)

    def noise_law(self, noise: NoiseSource) -> Noise:
        return Noise("laplace", self._vector.noise_scale(noise))


@dataclass(frozen=True, kw_only=True)
class GaussianPlan(_FullSketch):
    """C~ = C + N(0, std^2 I) on all m atoms, then the L largest: (epsilon, delta)-DP at every epsilon > 0.

    The analytic calibration of Balle and Wang is used throughout; the paper's classical formula, proved up to epsilon
    1 only, is `privlib.dp.classical_gaussian_noise_std`. Source: DP-SPIN, Section 5.1 (Gaussian).
    """

    name = "gaussian"

    delta: float

    @property
    def _vector(self) -> GaussianMechanism:
        shape, l2 = len(self.universe), self.sensitivity.l2
        return GaussianMechanism(self.epsilon, self.delta, l2, shape, unit=self.unit, relation=self.relation)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vector  # noqa: B018  refuses a delta outside (0, 1) at construction

    def noise_law(self, noise: NoiseSource) -> Noise:
        return Noise("gaussian", self._vector.noise_std(noise))
