"""Private admission: atoms are selected first, values drawn for those only; the paper's rule and variants of ours."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privlib.dp import (
    ZCDP,
    ExponentialRounds,
    GaussianMechanism,
    Guarantee,
    NoiseSource,
    OneShotGumbel,
    PermuteAndFlip,
    checks,
    largest_rho,
)
from privlib.plans.mechanisms import PlanMechanism
from privlib.plans.plan import ACCOUNTINGS, SELECTIONS, Noise, admission_name

_RULES = {"rounds": ExponentialRounds, "one_shot": OneShotGumbel, "permute_and_flip": PermuteAndFlip}
# one round of eps_t costs eps_t^2 over this in zCDP: bounded range for the Gumbel laws, any pure rule else
_RHO_DIVISORS = {"rounds": 8, "one_shot": OneShotGumbel.rho_divisor, "permute_and_flip": PermuteAndFlip.rho_divisor}
_SLACK = 1 - 2.0**-40  # of rho: more than the rounding of its conversion to epsilon


@dataclass(frozen=True, kw_only=True)
class PrivateTopLPlan(PlanMechanism):
    """L atoms admitted by a selection rule, then Gaussian values on those only: (epsilon, delta)-DP.

    As it stands in the paper (the defaults): rounds of the exponential mechanism, Pr[j] ~ exp(eps_t C_j / (2 Delta))
    among the atoms left, Delta one coordinate's sensitivity, eps_t = eps_sel / L; values at (eps_val, delta) and the l2
    sensitivity of the restricted map; eps_sel + eps_val = epsilon by composition. Ranks follow the released values.
    `selection_share` in (0, 1): the part of the budget that selection gets, of epsilon or, by zCDP, of rho.

    Beyond the paper, each with the bill of the sampler that runs, and named in the plan:
    `selection`: "rounds"; "one_shot", one Gumbel draw an atom, the same law as the rounds at the same bill, faster;
    "permute_and_flip" in rounds, pure like the others but not bounded range.
    `monotone`: under add_drop a unit moves all masses one way, so exp(eps_t C_j / Delta) is enough: half the noise.
    ValueError under replace, where that is false. In the add direction a whole list of the first
    two then loses at most eps_t.
    `accounting`: "basic" as above; "zcdp" bills rounds (eps_t^2/8 each; permute-and-flip eps_t^2/2) and values
    (Delta_2^2 / (2 std^2)) together as one rho, the largest that converts to (epsilon, delta).

    Source: DP-SPIN, Section 4.2, Proposition 5.6, Appendix A.4 (even split; the share is ours). Variants:
    `dp.OneShotGumbel`, `dp.PermuteAndFlip`, `dp.ZCDP` and the sources there.
    """

    delta: float
    selection_share: float = 0.5
    selection: str = "rounds"
    monotone: bool = False
    accounting: str = "basic"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.open_probability("selection_share", self.selection_share)
        checks.one_of("selection", self.selection, SELECTIONS)
        checks.one_of("accounting", self.accounting, ACCOUNTINGS)
        self._values, self._rounds  # noqa: B018  refuses a delta outside (0, 1), a false monotone, at construction

    @property
    def name(self) -> str:
        return admission_name(self.selection, self.monotone, self.accounting)

    @property
    def _budget(self) -> tuple[float, float]:
        """Selection's and values' parts of epsilon or of rho; their exact sum is never above the whole."""
        whole = self.epsilon if self.accounting == "basic" else largest_rho(self.epsilon, self.delta) * _SLACK
        selection = whole * self.selection_share
        rest = whole - selection
        if Fraction(selection) + Fraction(rest) > Fraction(whole):  # the subtraction rounded up
            rest = math.nextafter(rest, 0.0)
        return selection, rest

    @property
    def _rounds(self) -> ExponentialRounds | OneShotGumbel | PermuteAndFlip:
        spent, size = self._budget[0], self.plan_size
        if self.accounting == "zcdp":  # L eps_t^2 / divisor = rho, for epsilon = L eps_t
            spent = _root_down(Fraction(spent) * _RHO_DIVISORS[self.selection] * size)
        who = {"unit": self.unit, "relation": self.relation}
        return _RULES[self.selection](size, spent, self.sensitivity.coordinate, monotone=self.monotone, **who)

    @property
    def _values(self) -> GaussianMechanism | GaussianAtRho:
        spent, size, l2 = self._budget[1], self.plan_size, self.sensitivity.l2
        if self.accounting == "zcdp":
            return GaussianAtRho(spent, l2, size, self.unit, self.relation)
        return GaussianMechanism(spent, self.delta, l2, size, unit=self.unit, relation=self.relation)

    @property
    def selection_scale(self) -> float:
        """Masses are divided by this before one Gumbel (permute-and-flip: exponential) draw each."""
        rule = self._rounds
        return rule.gumbel_scale if isinstance(rule, ExponentialRounds) else rule.noise_scale

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        if self.accounting == "basic":
            return self._rounds.guarantee_under(noise).compose(self._values.guarantee_under(noise))
        both = self.zcdp_under(noise)
        return replace(both, composed=tuple(f"{part}, by zCDP" for part in both.composed)).guarantee(self.delta)

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """The rho of selection and values together: the values may depend on which atoms were admitted."""
        return self._rounds.zcdp_under(noise).compose(self._values.zcdp_under(noise))

    def noise_law(self, noise: NoiseSource) -> Noise:
        return Noise("gaussian", self._values.noise_std(noise))

    def draw(self, masses: np.ndarray, noise: NoiseSource) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._rounds.release(masses, noise)
        return chosen, self._values.release(masses[chosen], noise)


@dataclass(frozen=True)
class GaussianAtRho:
    """Gaussian noise on `size` numbers of joint l2 sensitivity `l2_sensitivity` that costs at most `rho` in zCDP."""

    rho: float
    l2_sensitivity: float
    size: int
    unit: str
    relation: str

    def noise_std(self, noise: NoiseSource) -> float:
        """Deviation that a release through `noise` uses: l2_sensitivity / sqrt(2 rho), more where the source asks."""
        std = self.l2_sensitivity / math.sqrt(2 * self.rho)
        while (bill := noise.gaussian_rho(std, self.l2_sensitivity, self.size)) > self.rho:
            std = math.nextafter(std * math.sqrt(bill / self.rho), math.inf)
        return std

    def release(self, private: np.ndarray, noise: NoiseSource) -> np.ndarray:
        """`private` float[size] plus noise; float64[size]."""
        return noise.add_gaussian(private, self.noise_std(noise))

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """What the source bills for that deviation; never above `rho`."""
        rho = noise.gaussian_rho(self.noise_std(noise), self.l2_sensitivity, self.size)
        return ZCDP(rho, self.unit, self.relation, noise.assumptions, ("Gaussian vector",))


def _root_down(square: Fraction) -> float:
    root = math.sqrt(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root
