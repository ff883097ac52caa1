"""What many equal releases cost together, by four accountants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privlib.dp import (
    ZCDP,
    GaussianLoss,
    Guarantee,
    LaplaceLoss,
    PrivacyCurve,
    advanced_composition,
    gaussian_epsilon,
)

if TYPE_CHECKING:
    import pandas as pd

WHO = {"unit": "record", "relation": "add_drop"}
CONTINUOUS = ("idealized numerics",)
LAWS = ("Gaussian", "Laplace")
ACCOUNTANTS = ("basic", "advanced", "zCDP", "exact")


def cost(law: str, accountant: str, k: int, *, scales: dict[str, float], delta: float, grid: float) -> float:
    """Epsilon at `delta` of k releases of one number of sensitivity 1, as one accountant bills it.

    `scales`: the Gaussian's deviation and the Laplace parameter, by law. Basic and advanced composition split the
    Gaussian's delta evenly over the releases, advanced keeps half of it as slack; zCDP bills a Laplace release as any
    pure one; exact is closed for the Gaussian, by privacy loss distributions on `grid` for Laplace.
    """
    if law not in LAWS or accountant not in ACCOUNTANTS:
        raise ValueError(f"law must be one of {LAWS}, accountant one of {ACCOUNTANTS}; got {law!r}, {accountant!r}")
    scale, gaussian = scales[law], law == "Gaussian"
    if accountant == "basic":
        return k * (gaussian_epsilon(delta / k, scale, 1.0) if gaussian else 1 / scale)
    if accountant == "advanced":
        slack = delta / 2 if gaussian else delta
        one = Guarantee(gaussian_epsilon(slack / k, scale, 1.0), slack / k, **WHO, assumptions=CONTINUOUS)
        return advanced_composition(one if gaussian else _pure(scale), k, slack).epsilon
    if accountant == "zCDP":
        one = ZCDP.gaussian(scale, 1.0, **WHO) if gaussian else ZCDP.from_pure(_pure(scale))
        return ZCDP(k * one.rho, **WHO).epsilon(delta)
    loss = GaussianLoss.of(scale, 1.0) if gaussian else LaplaceLoss(1 / scale)
    return PrivacyCurve((loss,), **WHO, grid=grid).repeat(k).epsilon(delta)


def costs(releases: Sequence[int], *, scales: dict[str, float], delta: float, grid: float) -> pd.DataFrame:
    """`cost` over laws, accountants and numbers of releases: law, releases, accountant, epsilon, ratio to the exact."""
    import pandas as pd

    rows = []
    for law in LAWS:
        for k in releases:
            found = {name: cost(law, name, k, scales=scales, delta=delta, grid=grid) for name in ACCOUNTANTS}
            rows += [(law, k, name, epsilon, epsilon / found["exact"]) for name, epsilon in found.items()]
    return pd.DataFrame(rows, columns=["law", "releases", "accountant", "epsilon", "ratio"])


def admitted(budget: float, *, scales: dict[str, float], delta: float, grid: float, most: int) -> pd.DataFrame:
    """Largest number of releases, at most `most`, that each accountant lets into (`budget`, `delta`).

    Rows law, accountant, releases; by bisection, for every accountant's epsilon rises with k.
    """
    import pandas as pd

    rows = []
    for law in LAWS:
        for name in ACCOUNTANTS:
            low, high = 0, most + 1
            while high - low > 1:
                middle = (low + high) // 2
                fits = cost(law, name, middle, scales=scales, delta=delta, grid=grid) <= budget
                low, high = (middle, high) if fits else (low, middle)
            rows.append((law, name, low))
    return pd.DataFrame(rows, columns=["law", "accountant", "releases"])


def _pure(scale: float) -> Guarantee:
    return Guarantee(1 / scale, 0.0, **WHO, assumptions=CONTINUOUS)
