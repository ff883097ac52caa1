"""Differential privacy: noise sources, calibration, mechanisms, guarantees.

`Simulation` and `Secure` are where randomness comes from; `gaussian_*` and `threshold_delta` are exact privacy
curves; `LaplaceMechanism`, `GaussianMechanism`, `ExponentialRounds` and `SampleAndThreshold` release;
`Guarantee` says what was promised. All of it works with numpy and scipy alone; OpenDP is imported
when `Secure` first draws noise.
"""

from __future__ import annotations

from privlib.dp.divergence import hockey_stick
from privlib.dp.gaussian import gaussian_delta, gaussian_epsilon, gaussian_noise_std
from privlib.dp.guarantees import Guarantee
from privlib.dp.mechanisms import GaussianMechanism, LaplaceMechanism
from privlib.dp.noise import NoiseSource, Simulation
from privlib.dp.secure import Secure
from privlib.dp.selection import ExponentialRounds
from privlib.dp.threshold import SampleAndThreshold, ThresholdedCounts, threshold_delta

__all__ = [
    "ExponentialRounds",
    "GaussianMechanism",
    "Guarantee",
    "LaplaceMechanism",
    "NoiseSource",
    "SampleAndThreshold",
    "Secure",
    "Simulation",
    "ThresholdedCounts",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_std",
    "hockey_stick",
    "threshold_delta",
]
