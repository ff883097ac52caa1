"""Speed and memory as ratios, in one run: `make bench`.

Every row holds a task of this library against a yardstick measured in the same process a moment before or after, so
that the machine's mood cancels; each is the median of several pairs, after a warm-up of both. BLAS gets one thread, as
in the notebooks, so that both sides have one core. Rows with a demand fail the run when they miss it.
"""

from __future__ import annotations

import atexit
import os
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # read by the next line
import numpy as np

from privlib import plans, quantization, synthesis
from privlib.baselines import aug_pe
from privlib.dp import Secure, Simulation
from privlib.evaluation import embedding
from privlib.plans.assign import GRID
from privlib.plans.phrases import phrases

Task = Callable[[], object]
QUICK = 0.05  # seconds


def seconds(task: Task) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def settled(task: Task) -> float:
    """Seconds of a run; of a quick task the best of five, since one alone pays for what ran before it."""
    took = seconds(task)
    return took if took > QUICK else min(took, *(seconds(task) for _ in range(4)))


def paired(task: Task, yardstick: Task, pairs: int) -> tuple[float, float]:
    """(median seconds of the task, median ratio to the yardstick) over runs in turn, after one warm-up of each."""
    task(), yardstick()
    runs = [(settled(task), settled(yardstick)) for _ in range(pairs)]
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


def unit_rows(rows: int = 100_000, d: int = 384) -> np.ndarray:
    made = np.random.Generator(np.random.PCG64(4)).standard_normal((rows, d), dtype=np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def centroids() -> tuple[Task, Task]:
    rows = unit_rows()
    buckets = synthesis.AnchoredBuckets.at(rows[:300], radius=1.0)
    mechanism = synthesis.CentroidRelease(buckets, epsilon=4, delta=1e-6, rate=0.5, threshold=25, max_records=1_000_000)
    anchors = np.ascontiguousarray(buckets.anchors.T, dtype=np.float64)
    return lambda: mechanism.release(rows, Simulation(5)), lambda: rows.astype(np.float64) @ anchors


def against_a_vote() -> tuple[Task, Task]:
    """A release, and the votes of the same rows for 3,000 texts, a seventh of what Aug-PE offers in each round."""
    release, _ = centroids()
    rows = unit_rows().astype(np.float64)
    candidates = np.random.Generator(np.random.PCG64(9)).standard_normal((3_000, 384)) / 20
    return release, lambda: aug_pe.nearest_candidates(rows, candidates, 1.0)


def neighbours() -> tuple[Task, Task]:
    draw = np.random.Generator(np.random.PCG64(6))
    rows = draw.standard_normal((20_000, 384), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def products() -> None:
        for start in range(0, len(rows), 500):
            rows[start : start + 500] @ rows.T

    return lambda: embedding.neighbour_counts(rows, 0.9), products


def mapped_rows(rows: int, d: int = 384) -> np.ndarray:
    """A memory-mapped file of unit rows around 300 directions, float32, written a block at a time; gone at exit."""
    draw, folder = np.random.Generator(np.random.PCG64(10)), tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = f"{folder.name}/rows.npy"
    made = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, d))
    spots = draw.standard_normal((300, d), dtype=np.float32) / np.float32(d**0.5)
    for start in range(0, rows, 10_000):
        block = made[start : start + 10_000]
        block[:] = spots[draw.integers(0, 300, len(block))] + 0.003 * draw.standard_normal(block.shape, np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    made.flush()
    return np.load(path, mmap_mode="r")


def mapped_release(rows: int) -> tuple[Task, Task]:
    """The paper's grid at k = 20 and the largest of its rates, .6; one pass X @ Z in double precision, in blocks."""
    file = mapped_rows(rows)
    buckets = synthesis.JLBuckets(20, 0.9, 1, dimension=file.shape[1])
    mechanism = synthesis.CentroidRelease(buckets, 16, 1e-6, 0.6, 60, max_records=1_000_000)
    blocks = range(0, rows, 4096)
    return (
        lambda: mechanism.release(file, Simulation(5)),
        lambda: [file[start : start + 4096].astype(np.float64) @ buckets.projection for start in blocks],
    )


def memory_beside_the_file(rows: int) -> float:
    """Largest MiB that numpy and Python held during one such release, the file not counted."""
    task, _ = mapped_release(rows)
    task()
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def integrated() -> tuple[Task, Task]:
    steps = iter(np.linspace(1.0, 6.0, 401))  # a new epsilon each time: nothing comes from a cache
    return (
        lambda: synthesis.release_delta(float(next(steps)), 1.1, 0.3, 30, 20, 1_000_000),
        lambda: np.sort(np.arange(3_000_000.0)[::-1]),
    )


def slider_move() -> tuple[Task, Task]:
    from privlib.experiments import synthesis_widgets as widgets

    steps = iter(np.linspace(1.0, 6.0, 401))  # a new epsilon each time: nothing comes from a cache

    def move():
        return widgets.release_svg(widgets.shown_release(float(next(steps)), 0.3, 100, 20, 2.4, "integrated"))

    return move, lambda: np.sort(np.arange(300_000.0)[::-1])


def plan_release() -> tuple[Task, Task]:
    draw = np.random.Generator(np.random.PCG64(6))
    universe = plans.AtomUniverse(tuple(f"theme {j}" for j in range(200)))
    masses = plans.Sketch(draw.random(200) * 5000, "record", 1.0, universe.fingerprint)
    mechanism = plans.GaussianPlan(
        universe, epsilon=1.0, delta=1e-6, plan_size=10, unit="record", relation="add_drop", public_denominator=1e6
    )
    return lambda: mechanism.release(masses, Simulation(7)), lambda: np.sort(draw.random(100_000))


def one_shot() -> tuple[Task, Task]:
    from privlib.dp import ExponentialRounds, OneShotGumbel

    masses = np.random.Generator(np.random.PCG64(7)).random(200) * 1000
    public = {"epsilon": 1.0, "coordinate_sensitivity": 1.0, "unit": "record", "relation": "add_drop"}
    shot, rounds = OneShotGumbel(10, **public), ExponentialRounds(10, **public)
    return lambda: shot.release(masses, Simulation(7)), lambda: rounds.release(masses, Simulation(7))


def million_assignments():
    """Synthetic rows of `assign`: 1e6 texts, 3 of 200 atoms each, masses on the grid; and whose each text is."""
    from scipy import sparse

    draw, n, m, kept = np.random.Generator(np.random.PCG64(8)), 1_000_000, 200, 3
    first = draw.integers(0, m - kept, n)
    atoms = (first[:, None] + np.arange(kept)).ravel()
    shares = np.floor(draw.dirichlet(np.ones(kept), n) / GRID) * GRID
    rows = sparse.csr_array((shares.ravel(), atoms, np.arange(0, kept * n + 1, kept)), (n, m))
    return rows, [f"user {k}" for k in draw.integers(0, 300_000, n)]


def aggregate(unit: str) -> tuple[Task, Task]:
    rows, owners = million_assignments()
    universe = plans.AtomUniverse(tuple(f"theme {j}" for j in range(rows.shape[1])))
    mechanism = plans.GaussianPlan(
        universe, epsilon=1.0, delta=1e-6, plan_size=10, unit=unit, relation="add_drop", public_denominator=1e6
    )

    def task():
        known = universe.fingerprint
        made = plans.record_sketch(rows, known) if unit == "record" else plans.user_sketch(rows, owners, 1.0, known)
        return mechanism.release(made, Simulation(9))

    return task, lambda: rows.sum(axis=0)


def assignment() -> tuple[Task, Task]:
    from privlib import corpora

    news = corpora.load("health-news").texts
    texts = (news * 2)[:100_000]
    representation = plans.Tfidf.fit(news[:20_000])
    labels = dict.fromkeys(phrase for text in news[:2000] for phrase in phrases(text))
    universe = plans.AtomUniverse(tuple(labels)[:200], representation=representation)
    return lambda: plans.assign(texts, universe), lambda: representation.transform(texts)


def secure_laplace() -> tuple[Task, Task]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    values, source = np.zeros(5000), Secure()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(values))
    measurement = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1.0, k=-40)
    return lambda: source.add_laplace(values, 1.0), lambda: measurement(values.tolist())


def opendp_integers(law: str, scale: float) -> Task:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    zeros = [0] * 5000
    domain = dp.vector_domain(dp.atom_domain(T="i64"), size=len(zeros))
    if law == "laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)
    return lambda: measurement(zeros)


def throughput() -> list[tuple[str, dict[str, tuple[Task, int]]]]:
    """One row a law, scale 10: draws of this library's two sources, of numpy and of OpenDP called directly.

    numpy has no discrete Laplace or Gaussian: the difference of two geometric draws and a rounded normal (another law)
    stand in for them; a truncated law is `choice` with the probabilities.
    """
    n, few = 1_000_000, 5000
    simulation, secure, numpy = Simulation(1), Secure(), np.random.Generator(np.random.PCG64(1))
    floats, zeros, short, whole = np.zeros(n), np.zeros(n, int), np.zeros(few), np.zeros(few, int)
    tail = -np.expm1(-0.1)
    support = np.exp(-np.abs(np.arange(-50, 51)) / 10)
    support /= support.sum()
    return [
        (
            "Laplace",
            {
                "Simulation": (lambda: simulation.add_laplace(floats, 10.0), n),
                "numpy": (lambda: numpy.laplace(scale=10.0, size=n), n),
                "Secure": (lambda: secure.add_laplace(short, 10.0), few),
            },
        ),
        (
            "Gaussian",
            {
                "Simulation": (lambda: simulation.add_gaussian(floats, 10.0), n),
                "numpy": (lambda: numpy.normal(scale=10.0, size=n), n),
                "Secure": (lambda: secure.add_gaussian(short, 10.0), few),
            },
        ),
        (
            "discrete Laplace",
            {
                "Simulation": (lambda: simulation.add_discrete_laplace(zeros, 10.0), n),
                "numpy": (lambda: numpy.geometric(tail, n) - numpy.geometric(tail, n), n),
                "Secure": (lambda: secure.add_discrete_laplace(whole, 10.0), few),
                "OpenDP": (opendp_integers("laplace", 10.0), few),
            },
        ),
        (
            "discrete Gaussian",
            {
                "Simulation": (lambda: simulation.add_discrete_gaussian(zeros, 10.0), n),
                "numpy": (lambda: np.rint(numpy.normal(scale=10.0, size=n)).astype(np.int64), n),
                "Secure": (lambda: secure.add_discrete_gaussian(whole, 10.0), few),
                "OpenDP": (opendp_integers("gaussian", 10.0), few),
            },
        ),
        (
            "truncated shifted",
            {
                "Simulation": (lambda: simulation.truncated_shifted_discrete_laplace(50, 10.0, n), n),
                "numpy": (lambda: numpy.choice(101, n, p=support), n),
                "Secure": (lambda: secure.truncated_shifted_discrete_laplace(50, 10.0, few), few),
            },
        ),
    ]


def print_throughput() -> None:
    """Million draws a second, each the median of five runs after a warm-up, taken in turn within a row."""
    names = ("Simulation", "numpy", "Secure", "OpenDP")
    print("\n" + f"{'million draws a second':24s}" + "".join(f"{name:>12s}" for name in names))
    for law, tasks in throughput():
        for task, _ in tasks.values():
            task()
        runs = [{name: n / seconds(task) / 1e6 for name, (task, n) in tasks.items()} for _ in range(5)]
        medians = {name: statistics.median(run[name] for run in runs) for name in tasks}
        print(f"{law:24s}" + "".join(f"{medians[name]:12.4g}" if name in medians else f"{'':12s}" for name in names))


ROWS = [  # name, pair, yardstick, largest ratio or None, largest seconds or None, pairs
    ("Simulation: 2e6 Laplace draws", laplace, "numpy's generator", 1 / 0.6, None, 7),
    ("Secure: 5,000 Laplace draws", secure_laplace, "OpenDP called directly", 1.5, None, 5),
    ("match n = 3,000", matching, "n x n Hungarian", 1 / 50, None, 3),
    ("match n = 1,000,000", million_rows, "np.sort of the same rows", None, 10.0, 3),
    ("joint_delta, one evaluation", joint, "np.sort of 30,000", None, 0.005, 200),
    ("centroid release 100,000 x 384", centroids, "one pass rows @ anchors, float64", 3.0, None, 3),
    ("the same, beside votes", against_a_vote, "100,000 votes for 3,000 texts", 1.0, None, 1),
    ("neighbour counts 20,000 x 384", neighbours, "one blocked product X @ X.T", 5.0, None, 1),
    ("release of a file, 1e6 x 384", lambda: mapped_release(1_000_000), "one pass X @ Z, float64", 3.0, None, 3),
    ("release_delta, one evaluation", integrated, "np.sort of 3,000,000", None, 1.0, 9),
    ("one move of the centroid sliders", slider_move, "np.sort of 300,000", None, 0.1, 9),
    ("plan release m = 200", plan_release, "np.sort of 100,000", None, 2.0, 5),
    ("one-shot admission, m = 200, L = 10", one_shot, "the same law in rounds", 1 / 1.5, None, 200),
    ("sketch 1e6 records, plan m = 200", lambda: aggregate("record"), "column sums alone", None, 2.0, 3),
    ("sketch 300,000 users, plan m = 200", lambda: aggregate("user"), "column sums alone", None, 2.0, 3),
    ("assign 100,000 short texts, m = 200", assignment, "TF-IDF of them alone", 3.0, 60.0, 1),
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
    peak = memory_beside_the_file(1_000_000)
    missed += peak > 1024
    print(f"{'memory beside the file, 1e6 x 384':34s} {peak:10.0f} MiB{'':40s}demand <= 1024 MiB")
    print_throughput()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
