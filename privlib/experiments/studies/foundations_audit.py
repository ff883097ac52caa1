"""Audits of one correct and three broken Laplace mechanisms: lower bounds on epsilon, repeated, beside the truth.

The datasets are two made-up neighbours, so nothing here is a release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import LaplaceMechanism, Simulation, audit_lower_bound, one_run_lower_bound
from privlib.dp.audit import clopper_pearson, guess_extremes

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURS = np.array([[4.0, 2.0, 3.0], [3.5, 2.5, 3.0]])  # l1 distance 1, spread over two of three coordinates
# what is wrong, and the epsilon that is really spent when 1 is stated (a factor; infinite: one event tells all)
MECHANISMS = {"correct": 1.0, "half the noise": 2.0, "one coordinate bare": math.inf, "one shared draw": math.inf}
BANDS = {
    "mean": ("abs", 0.1),
    "low": ("abs", 0.15),
    "high": ("abs", 0.15),
    "refuted": ("abs", 0.3),
    "exceeded": ("abs", 0.15),
}


def mechanism(epsilon: float, size: int = 3) -> LaplaceMechanism:
    """What is stated: epsilon-DP for a vector that moves by at most 1 in the l1 norm."""
    return LaplaceMechanism(epsilon, 1.0, size, unit="record", relation="add_drop")


def outputs(kind: str, answers: np.ndarray, epsilon: float, noise: Simulation) -> np.ndarray:
    """Many runs at once: `answers` float[n, f] plus the noise of one of `MECHANISMS`, each row a run of its own."""
    scale = mechanism(epsilon, answers.shape[1]).noise_scale(noise)
    if kind == "one shared draw":
        return answers + noise.add_laplace(np.zeros((len(answers), 1)), scale)
    noisy = noise.add_laplace(answers, scale / 2 if kind == "half the noise" else scale)
    if kind == "one coordinate bare":
        noisy[:, 0] = answers[:, 0]
    return noisy


def scores(released: np.ndarray) -> np.ndarray:
    """What the event search may threshold: each coordinate, the difference of each two, and the log likelihood ratio
    (up to a factor) of the mechanism as it is stated, which is the best score while it does what it states."""
    first, second = np.triu_indices(released.shape[1], 1)
    here, there = (np.abs(released - answer).sum(axis=1, keepdims=True) for answer in NEIGHBOURS)
    return np.hstack([released, released[:, first] - released[:, second], there - here])


def event_search(epsilon: float, samples: Sequence[int], repeats: int, failure: float, seed: int) -> pd.DataFrame:
    """Repeated event-search audits; one row a mechanism and number of outputs a dataset.

    Returns:
        mechanism, samples, true_epsilon, mean, low, high (5 and 95 % of the repeats), refuted (share of the bounds
        above the stated epsilon), exceeded (share above the true one: false alarms, `failure` at most), repeats.
    """
    rows = []
    for kind, factor in MECHANISMS.items():
        for n in samples:
            source = Simulation((seed, n)).child(kind)
            bounds = []
            for _ in range(repeats):
                pair = [scores(outputs(kind, np.tile(base, (n, 1)), epsilon, source)) for base in NEIGHBOURS]
                bounds.append(audit_lower_bound(*pair, failure=failure).epsilon)
            rows.append(dict(mechanism=kind, samples=n) | _summary(bounds, epsilon, factor * epsilon))
    return _table(rows)


def one_run(epsilon: float, canaries: Sequence[int], repeats: int, failure: float, seed: int) -> pd.DataFrame:
    """Repeated one-run audits of a vector of counts, each moved by a canary of its own; columns as `event_search`.

    A quarter of the canaries is guessed in, a quarter out. The attacker compares each count with the median, and trusts
    whole numbers (noise that is there leaves none) before anything else. One bare count in ten is the middle mistake.
    """
    rows = []
    for kind, factor in MECHANISMS.items():
        for m in canaries:
            source = Simulation((seed, m)).child(kind)
            bounds = []
            for _ in range(repeats):
                coins = source.bernoulli(0.5, m)
                noisy = _counts(kind, coins, epsilon, source)
                guesses = guess_extremes(_evidence(noisy), m // 4, m // 4)
                bounds.append(one_run_lower_bound(coins, guesses, failure=failure).epsilon)
            rows.append(dict(mechanism=kind, canaries=m) | _summary(bounds, epsilon, factor * epsilon))
    return _table(rows)


def false_alarms(audits: int, failure: float, seed: int) -> pd.DataFrame:
    """How often three audits report an epsilon where there is none: equal laws of five scores, 100 outputs each.

    Returns:
        audit, share of `audits` above 0, low, high (95 % Clopper-Pearson), stated (`failure`).
    """
    source = Simulation(seed).child("null")
    found = dict.fromkeys(("event counted where it was chosen", "event counted on fresh samples", "one run"), 0)
    for _ in range(audits):
        first, second = source.add_gaussian(np.zeros((2, 100, 5)), 1.0)
        fresh = audit_lower_bound(first, second, failure=failure).epsilon
        coins, guesses = source.bernoulli(0.5, 100), guess_extremes(first[:, 0], 25, 25)
        single = one_run_lower_bound(coins, guesses, failure=failure).epsilon
        for name, bound in zip(found, (_without_split(first, second, failure), fresh, single), strict=True):
            found[name] += bound > 0
    rows = []
    for name, count in found.items():
        low, high = clopper_pearson(count, audits, 0.025)
        rows.append(dict(audit=name, share=count / audits, low=low, high=high, stated=failure))
    return _table(rows)


def _without_split(first: np.ndarray, second: np.ndarray, failure: float) -> float:
    """Not an audit: the largest bound of all events, each at the confidence of one, on the samples that chose it."""
    best, n = 0.0, len(first)
    bounds = np.array([clopper_pearson(count, n, failure / 2) for count in range(n + 1)])
    for column in range(first.shape[1]):
        cuts = np.concatenate([first[:, column], second[:, column]])
        p, q = ((part[:, column, None] <= cuts).sum(axis=0) for part in (first, second))
        for more, less in ((p, q), (q, p), (n - p, n - q), (n - q, n - p)):
            possible = bounds[more, 0] > 0
            best = max(best, np.log(bounds[more, 0][possible] / bounds[less, 1][possible]).max(initial=0.0))
    return float(best)


def _counts(kind: str, coins: np.ndarray, epsilon: float, noise: Simulation) -> np.ndarray:
    if kind != "one coordinate bare":
        return outputs(kind, coins[None, :].astype(float), epsilon, noise)[0]
    noisy = outputs("correct", coins[None, :].astype(float), epsilon, noise)[0]
    noisy[::10] = coins[::10]
    return noisy


def _evidence(noisy: np.ndarray) -> np.ndarray:
    above = noisy - np.median(noisy)
    return np.where(noisy == np.round(noisy), np.copysign(np.inf, noisy - 0.5), above)


def _summary(bounds: list[float], stated: float, truth: float) -> dict[str, float]:
    low, high = np.quantile(bounds, [0.05, 0.95])
    return dict(
        true_epsilon=truth,
        mean=float(np.mean(bounds)),
        low=float(low),
        high=float(high),
        refuted=float(np.mean(np.array(bounds) > stated)),
        exceeded=float(np.mean(np.array(bounds) > truth)),
        repeats=len(bounds),
    )


def _table(rows: list[dict]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
