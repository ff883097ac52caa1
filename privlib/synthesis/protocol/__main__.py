"""A whole run at size, measured: `python -m privlib.synthesis.protocol --users 50000`.

Made-up users, real messages: two servers, the channel and hosts of users are processes that exchange bytes. Printed:
the guarantee, bytes by way, what was opened, the error beside the one that the noise explains, time and memory.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from privlib.synthesis.protocol.made_up import SPREAD, stage
from privlib.synthesis.protocol.messages import OPENED
from privlib.synthesis.protocol.processes import run_in_processes
from privlib.synthesis.protocol.run import Outcome
from privlib.synthesis.protocol.settings import Settings


def summary(settings: Settings, vectors: np.ndarray, outcome: Outcome) -> list[str]:
    """Lines on bytes, buckets and error of a run."""
    published = outcome.published
    plan = settings.plan(published.contributors)
    opened = [row for row, state in enumerate(published.states) if state == OPENED]
    lines = [f"{sum(outcome.traffic.values()):,} bytes in {len(vectors):,} users' run"]
    lines += [f"  {source} -> {to}: {count:,}" for (source, to), count in sorted(outcome.traffic.items())]
    if opened:
        cells = settings.buckets.assign(published.centroids[opened])[:, 0]
        distance = np.linalg.norm(published.centroids[opened] - settings.buckets.anchors[cells], axis=1)
        number = np.array(published.contributors)[opened]
        noise = plan.total_std * plan.step * np.sqrt(settings.buckets.dimension) / number
        spread = SPREAD / np.sqrt(number)
        ratio = np.median(distance / np.hypot(noise, spread))
        lines.append(f"{len(opened)} buckets opened, {number.sum():,} contributions")
        lines.append(
            f"distance of a centroid from its anchor over what noise and sampling explain: {ratio:.3f} (median)"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m privlib.synthesis.protocol", description=__doc__)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--cells", type=int, default=300)
    parser.add_argument("--hosts", type=int, default=2, help="processes that hold the users")
    parser.add_argument("--seed", type=int, default=7, help="of the made-up users, and of all coins without --secure")
    parser.add_argument("--secure", action="store_true", help="every coin from system entropy (OpenDP's samplers)")
    chosen = parser.parse_args()
    settings, vectors = stage(chosen.users, chosen.dimension, chosen.cells, chosen.seed)
    print(settings.guarantee)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        seed = None if chosen.secure else chosen.seed
        outcome = run_in_processes(settings, list(vectors[:, None]), Path(folder), seed, chosen.hosts)
        logs = sum(path.stat().st_size for path in Path(folder).iterdir())
    wall = time.monotonic() - began
    print(*summary(settings, vectors, outcome), sep="\n")
    print(f"logs of both servers {logs / 2**20:.0f} MiB; {wall:.0f} s in all{_spent()}")


def _spent() -> str:
    """CPU time of the parties and the largest one's memory, where the system tells."""
    try:
        import resource
    except ImportError:
        return ""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        f", {used.ru_utime + used.ru_stime:.0f} s of CPU in the parties, the largest {used.ru_maxrss / 2**10:.0f} MiB"
    )


if __name__ == "__main__":
    main()
