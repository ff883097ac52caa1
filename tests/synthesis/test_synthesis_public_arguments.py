"""Wrong public arguments of synthesis, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

import numpy as np

from privlib import synthesis
from privlib.dp import Simulation

NOISY = dict(epsilon=4.0, delta=1e-6)
BUCKETS = synthesis.AnchoredBuckets.at(np.eye(3), radius=0.5)
SAMPLED = dict(rate=0.3, threshold=30)
JOINT = dict(noise_multiplier=3.0, **SAMPLED)
PROJECTED = dict(dims=20, max_records=1000, radius=0.5, **SAMPLED)
POINTS = np.random.default_rng(0).standard_normal((30, 3))
SPECTRUM = synthesis.PublicSpectrum.fit(POINTS)
CENTROIDS = synthesis.CentroidRelease(BUCKETS, **NOISY, **SAMPLED).release(np.zeros((3, 3)), Simulation(1))

PUBLIC_ARGUMENTS = {
    "AnchoredBuckets": (synthesis.AnchoredBuckets, dict(auxiliary=POINTS, cells=3, radius=0.5, public_seed=1)),
    "JLBuckets": (synthesis.JLBuckets, dict(dims=2, radius=0.5, public_seed=1, dimension=3, max_norm=1.0)),
    "CentroidRelease": (
        synthesis.CentroidRelease,
        dict(buckets=BUCKETS, max_records=99, sensitivity=None, **NOISY, **SAMPLED),
        dict(sensitivity={"None"}),
    ),
    "UserRelease": (
        synthesis.UserRelease,
        dict(buckets=BUCKETS, max_records=99, bucket_cap=1, records_cap=1, **NOISY, **SAMPLED),
    ),
    "Centroids.ids": (CENTROIDS.ids, dict(key=b"0" * 16)),
    "Centroids.denoised": (CENTROIDS.denoised, dict(spectrum=SPECTRUM)),
    "PublicSpectrum.fit": (synthesis.PublicSpectrum.fit, dict(vectors=POINTS)),
    "PublicSpectrum.shrink": (SPECTRUM.shrink, dict(offsets=POINTS[:2], variances=np.ones(2))),
    "calibrate": (synthesis.calibrate, dict(epsilon=4.0, delta=1e-4, v=3.0, ratio=8.0, dims=20, **SAMPLED)),
    "collision_probability": (
        synthesis.collision_probability,
        dict(distance=1.0, edge=1.0, dims=3),
        dict(distance={"inf", "[]", "cube", "0-d"}),
    ),
    "composed_noise_multiplier": (synthesis.composed_noise_multiplier, NOISY | SAMPLED),
    "lemma_noise_multiplier": (synthesis.lemma_noise_multiplier, NOISY | SAMPLED),
    "lemma1": (synthesis.lemma1, dict(v=1.0, **SAMPLED)),
    "lemma_delta": (synthesis.lemma_delta, dict(epsilon=4.0, largest_v=5.0, **SAMPLED), dict(largest_v={"inf"})),
    # a rate is read as the decimal that it prints as
    "threshold_count": (synthesis.threshold_count, dict(rate=0.3, frequency=100), dict(rate={"0-d"})),
    "threshold_delta": (synthesis.threshold_delta, dict(epsilon=1.0, rate=0.1, threshold=20), dict(epsilon={"inf"})),
    "feasible_region": (
        synthesis.feasible_region,
        dict(bill=synthesis.threshold_delta, rates=[0.3], frequencies=[100], **NOISY),
        dict(epsilon={"inf"}, rates={"[]", "['a']"}, frequencies={"[]", "['a']"}),  # an entry is named as `rate`
    ),
    "least_frequency": (
        synthesis.least_frequency,
        dict(bill=synthesis.threshold_delta, rates=[0.3], **NOISY),
        dict(epsilon={"inf"}, rates={"['a']"}),
    ),
    "best_rate": (synthesis.best_rate, dict(frequency=60, rates=(0.3, 0.5), **NOISY), dict(rates={"['a']"})),
    "joint_delta": (synthesis.joint_delta, dict(epsilon=4.0, **JOINT), dict(epsilon={"inf"}, noise_multiplier={"inf"})),
    "joint_epsilon": (synthesis.joint_epsilon, dict(delta=1e-6, **JOINT), dict(noise_multiplier={"inf"})),
    "joint_noise_multiplier": (synthesis.joint_noise_multiplier, NOISY | SAMPLED),
    "joint_delta_for_user": (
        synthesis.joint_delta_for_user,
        dict(epsilon=4.0, records=2, **JOINT),
        dict(epsilon={"inf"}, noise_multiplier={"inf"}),
    ),
    "joint_noise_multiplier_for_user": (synthesis.joint_noise_multiplier_for_user, dict(records=2, **NOISY, **SAMPLED)),
    "release_delta": (synthesis.release_delta, dict(epsilon=4.0, noise_std=3.0, **PROJECTED)),
    "release_epsilon": (synthesis.release_epsilon, dict(delta=1e-6, noise_std=3.0, **PROJECTED)),
    "release_noise_std": (synthesis.release_noise_std, NOISY | PROJECTED),
    "union_epsilon": (synthesis.union_epsilon, dict(delta=1e-6, noise_std=3.0, **PROJECTED)),
    "union_noise_std": (synthesis.union_noise_std, NOISY | PROJECTED),
}

NEED_NONE = "Calibration InfeasibleBudget Inversion Inverter Paraphrases SearchInverter paraphrase"
"""An error, a protocol, records that the library makes, and what test_synthesis_wrong_inputs.py refuses."""
