"""Differential privacy: noise sources, calibration, mechanisms, guarantees.

`Simulation` and `Secure` are where randomness comes from; `gaussian_*` and `threshold_delta` are exact privacy
curves; `LaplaceMechanism`, `GaussianMechanism`, `ExponentialRounds` and `SampleAndThreshold` release;
`Guarantee` says what was promised. All of it works with numpy and scipy alone; OpenDP is imported
when `Secure` first draws noise.
"""

from __future__ import annotations

from privlib.dp.accounting import Partition, advanced_composition
from privlib.dp.audit import EpsilonLowerBound, audit_lower_bound, one_run_lower_bound
from privlib.dp.budget import Budget, BudgetExceeded
from privlib.dp.curves import GaussianLoss, GuaranteeLoss, LaplaceLoss, PairLoss, PrivacyCurve
from privlib.dp.discrete import (
    discrete_gaussian_delta,
    discrete_gaussian_log_pmf,
    discrete_laplace_log_pmf,
    truncated_shifted_discrete_laplace_log_pmf,
)
from privlib.dp.discrete_gaussian import DiscreteGaussianMechanism, discrete_gaussian_noise_std
from privlib.dp.divergence import hockey_stick
from privlib.dp.exact import largest_change, neighbouring_pairs, renyi_divergence, user_values
from privlib.dp.gaussian import (
    classical_gaussian_noise_std,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_std,
)
from privlib.dp.guarantees import Guarantee
from privlib.dp.mechanisms import GaussianMechanism, LaplaceMechanism
from privlib.dp.noise import NoiseSource, Simulation
from privlib.dp.randomized_response import RandomizedResponse
from privlib.dp.secure import Secure
from privlib.dp.selection_laws import gumbel_log_law, ordered_lists, permute_and_flip_log_law
from privlib.dp.selection_rules import ExponentialRounds, OneShotGumbel, PermuteAndFlip
from privlib.dp.threshold import SampleAndThreshold, ThresholdedCounts, threshold_delta
from privlib.dp.zcdp import ZCDP, largest_rho

__all__ = [
    "ZCDP",
    "Budget",
    "BudgetExceeded",
    "DiscreteGaussianMechanism",
    "EpsilonLowerBound",
    "ExponentialRounds",
    "GaussianLoss",
    "GaussianMechanism",
    "Guarantee",
    "GuaranteeLoss",
    "LaplaceLoss",
    "LaplaceMechanism",
    "NoiseSource",
    "OneShotGumbel",
    "PairLoss",
    "Partition",
    "PermuteAndFlip",
    "PrivacyCurve",
    "RandomizedResponse",
    "SampleAndThreshold",
    "Secure",
    "Simulation",
    "ThresholdedCounts",
    "advanced_composition",
    "audit_lower_bound",
    "classical_gaussian_noise_std",
    "discrete_gaussian_delta",
    "discrete_gaussian_log_pmf",
    "discrete_gaussian_noise_std",
    "discrete_laplace_log_pmf",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_std",
    "gumbel_log_law",
    "hockey_stick",
    "largest_change",
    "largest_rho",
    "neighbouring_pairs",
    "one_run_lower_bound",
    "ordered_lists",
    "permute_and_flip_log_law",
    "renyi_divergence",
    "threshold_delta",
    "truncated_shifted_discrete_laplace_log_pmf",
    "user_values",
]
