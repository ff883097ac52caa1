"""Wrong public arguments of dp, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

import numpy as np

from privlib import dp

WHO = dict(unit="record", relation="add_drop")
RULE = dict(rounds=1, epsilon=1.0, coordinate_sensitivity=1.0, monotone=False, **WHO)
CALIBRATED = dict(epsilon=1.0, delta=1e-6, l2_sensitivity=1.0)
HALVES, THIRDS = np.log([0.5, 0.5]), np.log([0.25, 0.75])

PUBLIC_ARGUMENTS = {
    "GaussianMechanism": (dp.GaussianMechanism, dict(shape=2, **CALIBRATED, **WHO)),
    "DiscreteGaussianMechanism": (dp.DiscreteGaussianMechanism, dict(shape=2, **CALIBRATED, **WHO)),
    "LaplaceMechanism": (dp.LaplaceMechanism, dict(epsilon=1.0, l1_sensitivity=1.0, shape=2, **WHO)),
    "RandomizedResponse": (
        dp.RandomizedResponse,
        dict(epsilon=1.0, categories=3, shape=2, unit="record", relation="replace"),
    ),
    "SampleAndThreshold": (dp.SampleAndThreshold, dict(epsilon=1.0, rate=0.1, threshold=20, **WHO)),
    "ExponentialRounds": (dp.ExponentialRounds, RULE, dict(monotone={"True"})),
    "OneShotGumbel": (dp.OneShotGumbel, RULE, dict(monotone={"True"})),
    "PermuteAndFlip": (dp.PermuteAndFlip, RULE, dict(monotone={"True"})),
    "Budget": (dp.Budget, dict(epsilon=1.0, delta=1e-6, accountant="basic", **WHO)),
    "Guarantee": (
        dp.Guarantee,
        dict(epsilon=1.0, delta=1e-6, assumptions=(), composed=(), **WHO),
        dict(epsilon={"inf"}, assumptions={"[]", "['a']"}, composed={"[]", "['a']"}),
    ),
    "ZCDP": (
        dp.ZCDP,
        dict(rho=0.1, assumptions=(), composed=(), **WHO),
        dict(rho={"inf"}, assumptions={"[]", "['a']"}, composed={"[]", "['a']"}),
    ),
    "PrivacyCurve": (
        dp.PrivacyCurve,
        dict(parts=(dp.GaussianLoss(1.0),), assumptions=(), grid=1e-3, **WHO),
        dict(assumptions={"[]", "['a']"}),
    ),
    "GaussianLoss": (dp.GaussianLoss, dict(mu=1.0)),
    "LaplaceLoss": (dp.LaplaceLoss, dict(epsilon=1.0)),
    "GuaranteeLoss": (dp.GuaranteeLoss, dict(epsilon=1.0, failure=0.1)),
    "PairLoss": (dp.PairLoss, dict(log_with=HALVES, log_without=THIRDS)),
    "Partition": (
        dp.Partition,
        dict(name="ward", cells=("a", "b"), unit="record", fixed=True),
        dict(name={"a"}, cells={"['a']"}, fixed={"True"}),
    ),
    "Simulation": (dp.Simulation, dict(seed=1)),
    "Secure": (dp.Secure, dict(granularity_exponent=-40), dict(granularity_exponent={"-1"})),
    "advanced_composition": (dp.advanced_composition, dict(guarantee=dp.Guarantee(1, 0, **WHO), times=3, slack=1e-6)),
    "audit_lower_bound": (
        dp.audit_lower_bound,
        dict(first=np.arange(9.0), second=np.arange(9.0), delta=0.0, failure=0.1),
    ),
    "one_run_lower_bound": (
        dp.one_run_lower_bound,
        dict(included=np.array([True, False]), guesses=np.array([1, -1]), delta=0.0, failure=0.1),
    ),
    "classical_gaussian_noise_std": (dp.classical_gaussian_noise_std, CALIBRATED),
    "gaussian_noise_std": (dp.gaussian_noise_std, CALIBRATED),
    "discrete_gaussian_noise_std": (dp.discrete_gaussian_noise_std, dict(size=2, **CALIBRATED)),
    "gaussian_delta": (dp.gaussian_delta, dict(epsilon=1.0, noise_std=1.0, l2_sensitivity=1.0), dict(epsilon={"inf"})),
    "gaussian_epsilon": (dp.gaussian_epsilon, dict(delta=1e-6, noise_std=1.0, l2_sensitivity=1.0)),
    "discrete_gaussian_delta": (
        dp.discrete_gaussian_delta,
        dict(epsilon=1.0, noise_std=2.0, sensitivity=1),
        dict(epsilon={"inf"}),
    ),
    "discrete_gaussian_log_pmf": (
        dp.discrete_gaussian_log_pmf,
        dict(x=np.arange(3), noise_std=1.0),
        dict(x={"-1", "0-d"}),
    ),
    "discrete_laplace_log_pmf": (dp.discrete_laplace_log_pmf, dict(x=np.arange(3), scale=1.0), dict(x={"-1", "0-d"})),
    "truncated_shifted_discrete_laplace_log_pmf": (
        dp.truncated_shifted_discrete_laplace_log_pmf,
        dict(x=np.arange(3), shift=2, scale=1.0),
        dict(x={"-1", "0-d"}),
    ),
    "gumbel_log_law": (dp.gumbel_log_law, dict(scores=[1.0, 2.0], scale=1.0, rounds=1)),
    "permute_and_flip_log_law": (dp.permute_and_flip_log_law, dict(scores=[1.0, 2.0], scale=1.0, rounds=1)),
    "ordered_lists": (dp.ordered_lists, dict(m=3, rounds=2)),
    "hockey_stick": (dp.hockey_stick, dict(log_p=HALVES, log_q=THIRDS, epsilon=1.0), dict(epsilon={"inf"})),
    "renyi_divergence": (dp.renyi_divergence, dict(log_p=HALVES, log_q=THIRDS, order=2.0), dict(order={"inf"})),
    "threshold_delta": (dp.threshold_delta, dict(epsilon=1.0, rate=0.1, threshold=20), dict(epsilon={"inf"})),
    "largest_rho": (dp.largest_rho, dict(epsilon=1.0, delta=1e-6)),
    # units of a dataset may be anything that can be told apart, pairs of them too
    "user_values": (dp.user_values, dict(records="ab", at_most=1), dict(records={"a", "[]", "['a']", "cube"})),
    "neighbouring_pairs": (
        dp.neighbouring_pairs,
        dict(values="ab", max_units=1, relation="add_drop"),
        dict(values={"a", "[]", "['a']", "cube"}),
    ),
    "largest_change": (dp.largest_change, dict(query=len, pairs=[((1,), (1, 2))]), dict(pairs={"a", "['a']", "cube"})),
}

NEED_NONE = "EpsilonLowerBound ThresholdedCounts BudgetExceeded NoiseSource"
"""Errors, a protocol, and records that the library makes."""
