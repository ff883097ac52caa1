"""The two-server protocol on made-up users: what it computes, what its noise is, what each party sees. Simulation."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import Simulation, gaussian_noise_std
from privlib.synthesis import CentroidRelease
from privlib.synthesis.protocol import Outcome, Settings, costs, messages, processes
from privlib.synthesis.protocol.made_up import population, stage
from privlib.synthesis.protocol.server import transcript
from privlib.synthesis.protocol.vectors import rounded

if TYPE_CHECKING:
    import pandas as pd

RULES = ("count_scaled", "constant")
PHASES = {
    ("TagRequest", "users"): 1, ("TagReply", "tagging"): 1, ("Report", "users"): 1, ("Release", "synthesis"): 2,
    ("Contribution", "users"): 2,
}  # fmt: skip
SHOWS = {
    ("tagging", "TagRequest"): "that somebody asked: a uniform element",
    ("tagging", "Release"): "heavy tags and their counts (its key is deleted)",
    ("tagging", "Contribution"): "a uniform vector, under a random name",
    ("tagging", "Holding"): "which random names stayed",
    ("tagging", "Published"): "what everybody sees",
    ("tagging", "Close"): "the end of a phase",
    ("synthesis", "Report"): "how many tags came how often, dummies among them",
    ("synthesis", "Contribution"): "a uniform vector, under the name of a report",
    ("synthesis", "PartialSum"): "with its own shares, a noisy sum",
    ("synthesis", "Close"): "the end of a phase",
}


class _Silent(Simulation):
    """Keeps every record and adds nothing: the curator's release with noise and sampling off."""

    def child(self, name: str) -> _Silent:
        return _Silent(0)

    def bernoulli(self, probability: float, size) -> np.ndarray:
        return np.ones(size, dtype=bool)

    def add_gaussian(self, values, std: float) -> np.ndarray:
        return values


@dataclass(frozen=True, eq=False)
class Run:
    """One run: its settings, outcome, and what each server's log says it saw, {server: [messages]}."""

    settings: Settings
    outcome: Outcome
    seen: dict[str, list]


def run(settings: Settings, vectors: np.ndarray, seed: int, in_processes: bool = False) -> Run:
    """All parties, as processes or as objects of this one; users hold one row of `vectors` each."""
    with tempfile.TemporaryDirectory() as name:
        folder, records = Path(name), list(vectors[:, None])
        if in_processes:
            outcome = processes.run_in_processes(settings, records, folder, seed, hosts=1)
        else:
            outcome = processes.run_here(settings, records, folder, seed)
        seen = {
            server: [message for _, message in transcript(folder / f"{server}.log", settings)]
            for server in ("tagging", "synthesis")
        }
    return Run(settings, outcome, seen)


def agreement_rows(settings: Settings, vectors: np.ndarray, seed: int) -> pd.DataFrame:
    """Protocol against curator with noise off and everybody reporting, bucket by bucket.

    error: l2 distance of the two centroids; limit: 2 steps times sqrt(size / count), four deviations of fair rounding.
    """
    import pandas as pd

    plain = replace(settings, rate=1.0, noise_rule="off")
    # any feasible budget will do: no noise is added and no record left out
    curator = CentroidRelease(settings.buckets, 8.0, 0.5, 0.5, settings.threshold, len(vectors), "worst_case")
    central = curator.release(vectors, _Silent(0))
    published = run(plain, vectors, seed).outcome.published
    places = settings.buckets.assign(published.centroids)[:, 0].tolist()
    ours = dict(zip(places, zip(published.contributors, published.centroids, strict=True), strict=True))
    plan = plain.plan(published.contributors)
    rows = []
    for cell, count, centroid in zip(central.cells[:, 0].tolist(), central.counts, central.centroids, strict=True):
        number, found = ours.pop(cell)
        rows.append(
            {
                "bucket": cell, "contributors": number, "curator_count": int(count),
                "error": float(np.linalg.norm(found - centroid)),
                "limit": 2 * plan.step * math.sqrt(settings.rotation.size / number),
            }
        )  # fmt: skip
    if ours:
        raise ValueError(f"the protocol opened buckets that the curator did not: {sorted(ours)}")
    return pd.DataFrame(rows).sort_values("bucket", ignore_index=True)


def noise_of(settings: Settings, vectors: np.ndarray, seed: int, rule: str) -> list[tuple[int, float, np.ndarray]]:
    """(contributors, claimed deviation, noise float64[d]) of each bucket's sum, in steps: noise on less noise off.

    Both runs have the same coins otherwise: who reports, and how vectors are rounded.
    """
    with_noise = run(replace(settings, noise_rule=rule), vectors, seed)
    without = run(replace(settings, noise_rule="off"), vectors, seed).outcome.published
    published = with_noise.outcome.published
    plan = with_noise.settings.plan(published.contributors)
    found = []
    for number, std, centroid in zip(published.contributors, plan.user_stds, published.centroids, strict=True):
        same = [other for other, count in zip(without.centroids, without.contributors, strict=True) if count == number]
        true = min(same, key=lambda other: np.linalg.norm(other - centroid))
        found.append((number, std * math.sqrt(number), (centroid - true) * number / plan.step))
    return found


def noise_rows(settings: Settings, vectors: np.ndarray, seeds: list[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(by rule and bucket: claimed and measured deviation with a 99 % interval; by rule and bin: shares).

    over_scaled: measured over the deviation that a curator of the same sums would have added (count_scaled).
    """
    import pandas as pd
    from scipy.special import chdtri, ndtr

    rows, edges, shares = [], np.arange(-3.5, 3.6, 0.5), []
    for place, rule in enumerate(RULES):
        ratios = []
        for seed in (len(RULES) * seed + place for seed in seeds):  # no coin in common
            for number, claimed, noise in noise_of(settings, vectors, seed, rule):
                ratios.append(noise / claimed)
                square, freedom = float(noise @ noise), len(noise)
                rows.append(
                    {
                        "rule": rule, "seed": seed, "contributors": number, "claimed": claimed,
                        "measured": math.sqrt(square / freedom),
                        "measured_low": math.sqrt(square / chdtri(freedom, 0.005)),
                        "measured_high": math.sqrt(square / chdtri(freedom, 0.995)),
                    }
                )  # fmt: skip
        pooled = np.concatenate(ratios)
        seen = np.histogram(pooled, edges)[0] / len(pooled)
        middles = (edges[:-1] + edges[1:]) / 2
        shares.append(pd.DataFrame({"rule": rule, "middle": middles, "share": seen, "claimed": np.diff(ndtr(edges))}))
    return pd.DataFrame(rows), pd.concat(shares, ignore_index=True)


def transcript_rows(finished: Run) -> pd.DataFrame:
    """What each server accepted, by kind of message: server, message, number, frame bytes in all, what it tells."""
    import pandas as pd

    rows = []
    for server, seen in finished.seen.items():
        number, size = Counter(), Counter()
        for message in seen:
            kind = type(message).__name__
            number[kind] += 1
            size[kind] += 2 * messages.ADDRESS_BYTES + len(messages.encode(message, finished.settings.session))
        rows += [
            {"server": server, "message": kind, "shows": SHOWS[server, kind], "number": count, "bytes": size[kind]}
            for kind, count in sorted(number.items())
        ]
    return pd.DataFrame(rows)


def message_rows(finished: Run) -> pd.DataFrame:
    """Every kind of message of a run: message, source, destination, phase, number, and frame bytes in all.

    phase: in which of the two a user sends or gets it; 0: none of a user's.
    """
    import pandas as pd

    seen = {server: Counter(type(message).__name__ for message in found) for server, found in finished.seen.items()}
    counts, users = finished.outcome.published.contributors, seen["tagging"]["TagRequest"]
    dummies = _dummies(finished)
    weighed = costs.weights(finished.settings, users, dummies, seen["synthesis"]["Report"] - dummies, counts)
    rows: dict[tuple, list[int]] = {}
    for weight in weighed:
        kind = (weight.message, weight.source, weight.destination)
        total = rows.setdefault((*kind, PHASES.get(kind[:2], 0)), [0, 0])
        total[0] += weight.number
        total[1] += weight.number * weight.frame_bytes
    if costs.traffic(weighed) != finished.outcome.traffic:
        raise ValueError("the run weighed something else than its messages add up to")
    named = [(*kind, *total) for kind, total in rows.items()]
    return pd.DataFrame(named, columns=["message", "source", "destination", "phase", "number", "bytes"])


def _dummies(finished: Run) -> int:
    """How many dummy reports there were: from what the tagging server sent beside its partial sums."""
    counts = finished.outcome.published.contributors
    sums = costs.traffic(costs.weights(finished.settings, 0, 0, 0, counts))["tagging", "synthesis"]
    one = costs.traffic(costs.weights(finished.settings, 0, 1, 0, counts))["tagging", "synthesis"] - sums
    return (finished.outcome.traffic["tagging", "synthesis"] - sums) // one


def rule_rows(dimension: int, threshold: int, counts: list[int], draws: int, seed: int) -> pd.DataFrame:
    """l2 error of a centroid by size of its bucket, for both rules of noise and for a curator.

    Columns: rule, contributors, formula, mean, low, high: formula sqrt(d) step S_rule / c; mean and 5 % and 95 % of
    `draws` simulated buckets with every user's rotation, rounding and noise. The curator adds a continuous Gaussian to
    the sum at the same (epsilon, delta) and sensitivity; for it mean, low and high repeat the formula.
    """
    import pandas as pd

    settings, _ = stage(1, dimension, 1, seed, threshold)
    noise, rows = Simulation(seed).child("rules"), []
    for rule in RULES:
        ruled = replace(settings, noise_rule=rule)
        plan = ruled.plan(tuple(counts))
        for count, std in zip(counts, plan.user_stds, strict=True):
            errors = [_error(ruled, plan.step, count, std, noise.child(f"{rule} {count}")) for _ in range(draws)]
            low, high = np.quantile(errors, [0.05, 0.95])
            formula = math.sqrt(dimension / count) * std * plan.step
            rows.append((rule, count, formula, float(np.mean(errors)), float(low), float(high)))
    curator = gaussian_noise_std(settings.centroid_epsilon, settings.centroid_delta, settings.buckets.diameter)
    for count in counts:
        rows.append(("curator", count, *[curator * math.sqrt(dimension) / count] * 4))
    return pd.DataFrame(rows, columns=["rule", "contributors", "formula", "mean", "low", "high"])


def _error(settings: Settings, step: float, count: int, std: float, noise: Simulation) -> float:
    """Error of one simulated bucket's centroid."""
    _, vectors = population(count, settings.buckets.dimension, 1, noise.child("users"))
    total = np.zeros(settings.rotation.size, dtype=np.int64)
    for vector in vectors.astype(np.float64):
        steps = rounded(settings.rotation.forward(vector), step, noise)
        total += noise.add_discrete_gaussian(steps, std)
    mean = vectors.astype(np.float64).mean(axis=0)
    return float(np.linalg.norm(settings.rotation.backward(total * step) / count - mean))


def scale_rows(users: list[int], dimension: int, cells: int, threshold: int, seed: int) -> pd.DataFrame:
    """Whole runs of growing size, weighed: users, buckets opened, contributions, bytes by way and in all."""
    import pandas as pd

    rows = []
    for number in users:
        finished = run(*stage(number, dimension, cells, seed, threshold), seed)
        published, traffic = finished.outcome.published, finished.outcome.traffic
        rows.append(
            {
                "users": number, "buckets_opened": len(published.contributors),
                "contributions": sum(published.contributors),
                "from_users": traffic["users", "tagging"] + traffic["users", "synthesis"],
                "to_users": traffic["tagging", "users"], "to_everyone": traffic["synthesis", "everyone"],
                "between_servers": traffic["tagging", "synthesis"] + traffic["synthesis", "tagging"],
                "all_bytes": sum(traffic.values()),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
