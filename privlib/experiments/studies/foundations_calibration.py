"""Gaussian noise for one budget by three calibrations, and the delta each really gives: closed forms, no data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scipy.optimize import brentq

from privlib.dp import (
    classical_gaussian_noise_std,
    discrete_gaussian_delta,
    discrete_gaussian_noise_std,
    gaussian_delta,
    gaussian_noise_std,
)

if TYPE_CHECKING:
    import pandas as pd

BANDS = {"noise_std": ("rel", 1e-8), "true_delta": ("rel", 1e-6), "excess": ("rel", 1e-6), "share": ("rel", 1e-8)}


def textbook(epsilon: float, delta: float) -> float:
    """sqrt(2 ln(1.25/delta)) / epsilon at any epsilon: what `classical_gaussian_noise_std` refuses above 1."""
    return classical_gaussian_noise_std(1.0, delta, 1.0) / epsilon


def epsilon_grid(points: int) -> list[float]:
    """0.1 to 1 in a fifth of the points, evenly on a log scale, then 1 to 20 evenly."""
    low = points // 5
    return [0.1 * 10 ** (k / low) for k in range(low)] + [1 + 19 * k / (points - low - 1) for k in range(points - low)]


def calibrations(epsilons: Sequence[float], deltas: Sequence[float]) -> pd.DataFrame:
    """Three rows an (epsilon, delta): noise_std, true_delta, excess (true over stated delta), share (of textbook).

    Sensitivity 1. "classical": the textbook's line, also where its proof fails; "analytic": the exact curve of the
    continuous law; "integers": the exact curve of the discrete Gaussian, for a query that counts.
    """
    import pandas as pd

    rows = []
    for delta in deltas:
        for epsilon in epsilons:
            classical = textbook(epsilon, delta)
            analytic = gaussian_noise_std(epsilon, delta, 1.0)
            integers = discrete_gaussian_noise_std(epsilon, delta, 1.0, 1)
            for name, std, true in (
                ("classical", classical, gaussian_delta(epsilon, classical, 1.0)),
                ("analytic", analytic, gaussian_delta(epsilon, analytic, 1.0)),
                ("integers", integers, discrete_gaussian_delta(epsilon, integers, 1)),
            ):
                rows.append(
                    {
                        "epsilon": epsilon,
                        "delta": delta,
                        "calibration": name,
                        "noise_std": std,
                        "true_delta": true,
                        "excess": true / delta,
                        "share": std / classical,
                    }
                )
    return pd.DataFrame(rows)


def where_the_textbook_fails(deltas: Sequence[float]) -> pd.DataFrame:
    """delta and the epsilon above which the classical deviation is too small for it."""
    import pandas as pd

    def excess(epsilon: float, delta: float) -> float:
        return math.log(gaussian_delta(epsilon, textbook(epsilon, delta), 1.0) / delta)

    return pd.DataFrame(
        [{"delta": delta, "epsilon": float(brentq(excess, 1.0, 50.0, args=(delta,), xtol=1e-10))} for delta in deltas]
    )
