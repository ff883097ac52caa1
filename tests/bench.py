"""Speed and memory as ratios, in one run: `make bench`.

Every row holds a task of this library against a yardstick measured in the same process a moment before or after, so
that the machine's mood cancels; each is the median of several pairs. Rows with a demand fail the run when they miss it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from privlib import plans, quantization, synthesis
from privlib.dp import Simulation

Task = Callable[[], object]


def seconds(task: Task) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def paired(task: Task, yardstick: Task, pairs: int) -> tuple[float, float]:
    """(median seconds of the task, median ratio to the yardstick) over runs in turn, after one warm-up of each."""
    task(), yardstick()
    runs = [(seconds(task), seconds(yardstick)) for _ in range(pairs)]
    return statistics.median(t for t, _ in runs), statistics.median(t / y for t, y in runs)


def laplace() -> tuple[Task, Task]:
    values, generator = np.zeros(2_000_000), np.random.Generator(np.random.PCG64(1))
    source = Simulation(1)
    return lambda: source.add_laplace(values, 1.0), lambda: generator.laplace(size=len(values))


def matching() -> tuple[Task, Task]:
    from scipy.optimize import linear_sum_assignment

    draw = np.random.Generator(np.random.PCG64(2))
    private, targets = (draw.integers((6, 3, 3), size=(3000, 3)) for _ in range(2))

    def hungarian():
        return linear_sum_assignment((private[:, None, :] != targets[None, :, :]).sum(axis=2))

    return lambda: quantization.match(private, targets), hungarian


def million_rows() -> tuple[Task, Task]:
    draw = np.random.Generator(np.random.PCG64(3))
    private, targets = (draw.integers((6, 3, 3), size=(1_000_000, 3)) for _ in range(2))
    return lambda: quantization.match(private, targets), lambda: np.sort(private, axis=0)


def joint() -> tuple[Task, Task]:
    steps = iter(np.linspace(1.0, 6.0, 4001))  # a new epsilon each time: nothing comes from a cache
    return lambda: synthesis.joint_delta(float(next(steps)), 1.78, 0.3, 30), lambda: np.sort(np.arange(30_000.0)[::-1])


def centroids() -> tuple[Task, Task]:
    draw = np.random.Generator(np.random.PCG64(4))
    rows = draw.standard_normal((100_000, 384), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    buckets = synthesis.AnchoredBuckets.at(rows[:300], radius=1.0)
    mechanism = synthesis.CentroidRelease(buckets, epsilon=4, delta=1e-6, rate=0.5, threshold=25, max_records=1_000_000)
    anchors = np.ascontiguousarray(buckets.anchors.T, dtype=np.float64)
    return lambda: mechanism.release(rows, Simulation(5)), lambda: rows.astype(np.float64) @ anchors


def plan_release() -> tuple[Task, Task]:
    draw = np.random.Generator(np.random.PCG64(6))
    universe = plans.AtomUniverse(tuple(f"theme {j}" for j in range(200)))
    masses = plans.Sketch(draw.random(200) * 5000, "record", 1.0, universe.fingerprint)
    mechanism = plans.GaussianPlan(
        universe, epsilon=1.0, delta=1e-6, plan_size=10, unit="record", relation="add_drop", public_denominator=1e6
    )
    return lambda: mechanism.release(masses, Simulation(7)), lambda: np.sort(draw.random(100_000))


ROWS = [  # name, pair, yardstick, largest ratio or None, largest seconds or None, pairs
    ("Simulation: 2e6 Laplace draws", laplace, "numpy's generator", 1 / 0.6, None, 7),
    ("match n = 3,000", matching, "n x n Hungarian", 1 / 50, None, 3),
    ("match n = 1,000,000", million_rows, "np.sort of the same rows", None, 10.0, 3),
    ("joint_delta, one evaluation", joint, "np.sort of 30,000", None, 0.005, 200),
    ("centroid release 100,000 x 384", centroids, "one pass rows @ anchors, float64", 3.0, None, 3),
    ("plan release m = 200", plan_release, "np.sort of 100,000", None, 2.0, 5),
]


def main() -> int:
    missed = 0
    print(f"{'task':34s} {'median s':>10s} {'ratio':>9s}  {'yardstick':34s} demand")
    for name, pair, yardstick, most_ratio, most_seconds, pairs in ROWS:
        took, ratio = paired(*pair(), pairs)
        failed = (most_ratio is not None and ratio > most_ratio) or (most_seconds is not None and took > most_seconds)
        missed += failed
        demand = f"ratio <= {most_ratio:.3g}" if most_ratio else f"<= {most_seconds:g} s"
        print(f"{name:34s} {took:10.5f} {ratio:9.4f}  {yardstick:34s} {demand}{'  MISSED' if failed else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
