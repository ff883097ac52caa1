"""Selection rules at equal (epsilon, delta): mass they keep, and what they lose against what they are billed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import ExponentialRounds, OneShotGumbel, PermuteAndFlip, Simulation, renyi_divergence

if TYPE_CHECKING:
    import pandas as pd

WHO = {"unit": "record", "relation": "add_drop"}
RULES = (
    "exponential rounds",
    "one-shot Gumbel",
    "permute-and-flip",
    "one-shot Gumbel, by zCDP",
    "permute-and-flip, by zCDP",
)
SHAPES = ("flat", "Zipf")
ORDERS = np.geomspace(1.001, 2000.0, 25)
SPREAD = (5.0, 95.0)  # percentiles over the draws


def rule(name: str, rounds: int, epsilon: float, delta: float, *, monotone: bool, sensitivity: float = 1.0):
    """The selection rule called `name` in `RULES`; those not billed by zCDP spend no delta."""
    if name == "exponential rounds":
        return ExponentialRounds(rounds, epsilon, sensitivity, monotone=monotone, **WHO)
    if name not in RULES:
        raise ValueError(f"name must be one of {RULES}, got {name!r}")
    kind = OneShotGumbel if name.startswith("one-shot") else PermuteAndFlip
    spent = delta if name.endswith("by zCDP") else 0.0
    return kind(rounds, epsilon, sensitivity, delta=spent, monotone=monotone, **WHO)


def scores(shape: str, atoms: int, top: float) -> np.ndarray:
    """Made-up counts, best first: "flat" falls in a straight line from `top` to half of it, "Zipf" as top / rank."""
    if shape == "flat":
        return top * np.linspace(1.0, 0.5, atoms)
    if shape == "Zipf":
        return top / np.arange(1.0, atoms + 1)
    raise ValueError(f"shape must be one of {SHAPES}, got {shape!r}")


def mass_kept(
    epsilons: Sequence[float], *, delta: float, atoms: int, top: float, rounds: int, draws: int, seed: int
) -> pd.DataFrame:
    """Share of the best `rounds` atoms' mass that each rule's list keeps, over `draws` >= 20 simulated releases.

    Counts under add_drop are monotone, and every rule uses it. Rows shape, rule, epsilon, delta (spent), scale (noise
    parameter on a count), mean, sd, low, high (5 % and 95 % of the draws), draws.
    """
    import pandas as pd

    if draws < 20:
        raise ValueError(f"draws must be at least 20 for a spread, got {draws!r}")
    noise, rows = Simulation(seed), []
    for shape, name, epsilon in itertools.product(SHAPES, RULES, epsilons):
        counts, mechanism = scores(shape, atoms, top), rule(name, rounds, float(epsilon), delta, monotone=True)
        stream = noise.child(f"{shape} {name} {float(epsilon)!r}")
        kept = np.array([plans.mass_retained(counts, mechanism.release(counts, stream)) for _ in range(draws)])
        low, high = np.percentile(kept, SPREAD)
        scale = mechanism.gumbel_scale if name == "exponential rounds" else mechanism.noise_scale
        spent = mechanism.guarantee.delta
        rows.append((shape, name, float(epsilon), spent, scale, kept.mean(), kept.std(ddof=1), low, high, draws))
    columns = ["shape", "rule", "epsilon", "delta", "scale", "mean", "sd", "low", "high", "draws"]
    return pd.DataFrame(rows, columns=columns)


def billed_and_exact(epsilon: float, rounds: int, atoms: int) -> pd.DataFrame:
    """Exact worst loss and worst Renyi divergence over order, against the bills, by enumeration of all lists.

    `atoms` equal scores of sensitivity 1/2 and every move of all of them by a half up or down, both directions, 25
    orders up to 2000: the worst found, hence at least so much. The last row is the bill that permute-and-flip must not
    be given. Rows law, quantity, exact, bill, share (exact / bill).
    """
    import pandas as pd

    rows = []
    for name in ("one-shot Gumbel", "permute-and-flip"):
        mechanism = rule(name, rounds, epsilon, 0.0, monotone=False, sensitivity=0.5)
        here, loss, rho = mechanism.log_law(np.zeros(atoms)), 0.0, 0.0
        for move in itertools.product((-0.5, 0.5), repeat=atoms):
            there = mechanism.log_law(np.array(move))
            loss = max(loss, float(np.abs(here - there).max()))
            for p, q in ((here, there), (there, here)):
                rho = max(rho, *(renyi_divergence(p, q, order) / order for order in ORDERS))
        rows.append((name, "pure epsilon", loss, epsilon))
        rows.append((name, "zCDP", rho, mechanism.zcdp_under(Simulation(0)).rho))
        if name == "permute-and-flip":
            rows.append((name, "zCDP as if bounded range", rho, rounds * (epsilon / rounds) ** 2 / 8))
    table = pd.DataFrame(rows, columns=["law", "quantity", "exact", "bill"])
    return table.assign(share=table["exact"] / table["bill"])
