"""Synthesis from embeddings (Fre-E2T): bucket, sample, threshold, noisy centroid; accounting in closed form.

`lemma1`, `collision_probability`, `calibrate` are the paper's; `threshold_delta`, `joint_*` and `release_*` the exact,
the joint and the distance-integrated accounting; `CentroidRelease` the mechanism over `AnchoredBuckets` or `JLBuckets`.
"""

from __future__ import annotations

from privlib.dp import threshold_delta
from privlib.synthesis.buckets import AnchoredBuckets, JLBuckets
from privlib.synthesis.calibration import (
    Calibration,
    InfeasibleBudget,
    calibrate,
    collision_probability,
    composed_noise_multiplier,
    lemma1,
    lemma_noise_multiplier,
    threshold_count,
)
from privlib.synthesis.centroids import CentroidRelease, Centroids
from privlib.synthesis.denoise import PublicSpectrum
from privlib.synthesis.integrated import release_delta, release_epsilon, release_noise_std
from privlib.synthesis.joint import best_rate, joint_delta, joint_epsilon, joint_noise_multiplier

__all__ = [
    "AnchoredBuckets",
    "Calibration",
    "CentroidRelease",
    "Centroids",
    "InfeasibleBudget",
    "JLBuckets",
    "PublicSpectrum",
    "best_rate",
    "calibrate",
    "collision_probability",
    "composed_noise_multiplier",
    "joint_delta",
    "joint_epsilon",
    "joint_noise_multiplier",
    "lemma1",
    "lemma_noise_multiplier",
    "release_delta",
    "release_epsilon",
    "release_noise_std",
    "threshold_count",
    "threshold_delta",
]
