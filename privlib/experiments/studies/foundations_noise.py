"""What noise looks like on the integers, and what floating-point noise gives away. Answers are made up: no release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import (
    Simulation,
    discrete_gaussian_log_pmf,
    discrete_laplace_log_pmf,
    truncated_shifted_discrete_laplace_log_pmf,
)

if TYPE_CHECKING:
    import pandas as pd

GRID = -40
"""Exponent of the grid on which the second sampler of `leak` draws: that of `Secure()`."""
LAW_BANDS = {"share": ("abs", 0.01)}
LEAK_BANDS = {"share": ("abs", 0.03), "on_2^-53": ("abs", 0.03)}


def laws(scales: list[float], shift: int, reach: int, draws: int, noise: Simulation) -> pd.DataFrame:
    """Exact probabilities and shares of `draws` samples of three laws: law, scale, x, probability, share.

    x runs over -reach..reach, for the truncated shifted law over 0..2 shift; samples beyond are in no row.
    """
    import pandas as pd

    rows = []
    for scale in scales:
        wide, zeros = np.arange(-reach, reach + 1), np.zeros(draws, dtype=np.int64)
        shifted = np.arange(2 * shift + 1)
        for law, x, log_pmf, sample in (
            (
                "discrete Gaussian",
                wide,
                discrete_gaussian_log_pmf(wide, scale),
                noise.add_discrete_gaussian(zeros, scale),
            ),
            ("discrete Laplace", wide, discrete_laplace_log_pmf(wide, scale), noise.add_discrete_laplace(zeros, scale)),
            (
                "truncated shifted",
                shifted,
                truncated_shifted_discrete_laplace_log_pmf(shifted, shift, scale),
                noise.truncated_shifted_discrete_laplace(shift, scale, draws),
            ),
        ):
            share = (sample[:, None] == x[None, :]).mean(axis=0)
            rows.append(
                pd.DataFrame({"law": law, "scale": scale, "x": x, "probability": np.exp(log_pmf), "share": share})
            )
    return pd.concat(rows, ignore_index=True)


def lowest_bit(values: np.ndarray) -> np.ndarray:
    """Exponent of the largest power of two that divides each float, all finite and not 0."""
    mantissa, exponent = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return exponent - 53 + np.log2(whole & -whole).astype(np.int64)


def noisy(sampler: str, answer: float, draws: int, noise: Simulation) -> np.ndarray:
    """`answer` plus Laplace noise of scale 1: "float" (the naive line) or "grid" (integers times 2^-40)."""
    if sampler == "float":
        return noise.add_laplace(np.full(draws, answer), 1.0)
    steps = noise.add_discrete_laplace(np.full(draws, round(answer * 2.0**-GRID)), 2.0**-GRID)
    return steps * 2.0**GRID


def leak(answers: list[float], draws: int, noise: Simulation) -> pd.DataFrame:
    """Shares of the outputs in (0, 1/2) by their lowest bit: sampler, answer, bit, share, and on_2^-53.

    on_2^-53: share of these outputs that are whole multiples of 2^-53. An output that is not one proves that the
    answer was not 1 where it is 1.0 for the answer 1: a breach whatever epsilon says (Mironov 2012).
    """
    import pandas as pd

    rows = []
    for sampler in ("float", "grid"):
        for answer in answers:
            outputs = noisy(sampler, answer, draws, noise.child(f"{sampler} {answer}"))
            bits = np.maximum(lowest_bit(outputs[(outputs > 0) & (outputs < 0.5)]), -64)
            for bit in range(-64, -29):
                rows.append(
                    {
                        "sampler": sampler,
                        "answer": answer,
                        "bit": bit,
                        "share": float((bits == bit).mean()),
                        "on_2^-53": float((bits >= -53).mean()),
                    }
                )
    return pd.DataFrame(rows)
