"""Synthesis from embeddings (Fre-E2T): bucket, sample, threshold, noisy centroid; accounting in closed form.

`lemma1`, `collision_probability`, `calibrate` are the paper's; `threshold_delta`, `joint_*` and `release_*` the exact,
the joint and the distance-integrated accounting; `CentroidRelease` the mechanism over `AnchoredBuckets` or `JLBuckets`,
`UserRelease` the same for users of several records.
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
from privlib.synthesis.feasible import feasible_region, least_frequency, lemma_delta
from privlib.synthesis.integrated import (
    release_delta,
    release_epsilon,
    release_noise_std,
    union_epsilon,
    union_noise_std,
)
from privlib.synthesis.inversion import Inversion, Inverter, SearchInverter
from privlib.synthesis.joint import best_rate, joint_delta, joint_epsilon, joint_noise_multiplier
from privlib.synthesis.joint_users import joint_delta_for_user, joint_noise_multiplier_for_user
from privlib.synthesis.paraphrase import Paraphrases, paraphrase
from privlib.synthesis.users import UserRelease

__all__ = [
    "AnchoredBuckets",
    "Calibration",
    "CentroidRelease",
    "Centroids",
    "InfeasibleBudget",
    "Inversion",
    "Inverter",
    "JLBuckets",
    "Paraphrases",
    "PublicSpectrum",
    "SearchInverter",
    "UserRelease",
    "best_rate",
    "calibrate",
    "collision_probability",
    "composed_noise_multiplier",
    "feasible_region",
    "joint_delta",
    "joint_delta_for_user",
    "joint_epsilon",
    "joint_noise_multiplier",
    "joint_noise_multiplier_for_user",
    "least_frequency",
    "lemma1",
    "lemma_delta",
    "lemma_noise_multiplier",
    "paraphrase",
    "release_delta",
    "release_epsilon",
    "release_noise_std",
    "threshold_count",
    "threshold_delta",
    "union_epsilon",
    "union_noise_std",
]
