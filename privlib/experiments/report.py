"""The execution report: time and memory of every notebook, from the sidecar of the run at hand."""

from __future__ import annotations

import json
import os
import platform

from privlib.experiments.gather import published
from privlib.experiments.workspace import Workspace


def render(workspace: Workspace) -> str:
    """Markdown of one table; raises ExperimentError when there is no run."""
    state = published(workspace)
    times = json.loads((workspace.generated / "times.json").read_text(encoding="utf-8"))["notebooks"]
    total = sum(spent["seconds"] for spent in times.values())
    peak = max((spent["peak_mib"] for spent in times.values()), default=0.0)
    lines = [
        f"Profile `{state.profile}` on {state.data} data, {len(times)} notebooks"
        + ("" if state.complete else " (the profile is not complete)")
        + f": {total:.0f} s of work, at most {peak:.0f} MiB in one notebook. Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}.",
        "",
        "| notebook | seconds | peak memory (MiB) | executed |",
        "|---|---:|---:|---|",
    ]
    for name, spent in sorted(times.items()):
        link = f"[{name}](_generated/{name}.ipynb)"
        lines.append(f"| {link} | {spent['seconds']:.1f} | {spent['peak_mib']:.0f} | {spent['date']} |")
    return "\n".join(lines) + "\n"
