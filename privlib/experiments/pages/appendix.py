"""What the artifact appendix takes from a build: experiments with their claims, command, tolerance, time and disk."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from privlib.experiments.gather import Published, published
from privlib.experiments.ledger import CONTRADICTED, PROVED, Judgement
from privlib.experiments.workspace import Workspace


def render(workspace: Workspace, judgements: Sequence[Judgement]) -> str:
    """Markdown: the machine, the experiments (one a notebook that a claim names), and the claims by theorem."""
    state = published(workspace)
    spent = json.loads((workspace.generated / "times.json").read_text(encoding="utf-8"))["notebooks"]
    total = sum(one["seconds"] for one in spent.values())
    lines = [
        f"Measured by this build: profile `{state.profile}`, {state.data} data, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores. All {len(spent)} notebooks together: {_minutes(total)} of work, two at a time, "
        f"at most {max((one['peak_mib'] for one in spent.values()), default=0):.0f} MiB in one. Installed software: "
        f"{_size(_bytes(Path(sys.prefix)))}; weights and texts: {_size(_bytes(workspace.root / 'assets'))}; notebooks "
        f"and records of this run: {_size(_bytes(workspace.generated))}.",
        "",
        "| experiment | claims | verdicts of this build | time | memory | disk |",
        "|---|---|---|---:|---:|---:|",
    ]
    by_notebook: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        if judgement.claim.notebook:
            by_notebook.setdefault(judgement.claim.notebook, []).append(judgement)
    for name, judged in sorted(by_notebook.items()):
        lines.append(_experiment(workspace, state, name, judged, spent.get(name)))
    proved = [one for one in judgements if one.verdict == PROVED]
    tests = {node.strip() for one in proved for node in one.claim.test.split(";")}
    lines += [
        "",
        f"By theorem, counter-example or inspection: {len(proved)} claims with {len(tests)} tests. Each claim's row "
        "in the [ledger](ledger.md) gives the command of its tests.",
    ]
    return "\n".join(lines) + "\n"


def contradicted(judgements: Sequence[Judgement]) -> str:
    """Markdown: one row a claim that this build contradicts."""
    lines = ["| claim | paper | what it says | ours |", "|---|---|---|---|"]
    for one in judgements:
        if one.verdict == CONTRADICTED:
            said = "; ".join(f"`{node.strip()}`" for node in one.claim.test.split(";") if node.strip())
            cells = (one.claim.paper, _cell(one.claim.claim), _cell(one.ours) or said)
            lines.append(f"| [{one.claim.id}](#claim-{one.claim.id}) | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else "None.\n"


def _experiment(
    workspace: Workspace, state: Published, name: str, judged: Sequence[Judgement], spent: dict | None
) -> str:
    claims = ", ".join(f"[{one.claim.id}](#claim-{one.claim.id})" for one in judged)
    counts = Counter(one.verdict for one in judged)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    if spent is None or name not in state.notebooks:
        return f"| `{name}` | {claims} | {verdicts} | not in this run | | |"
    files = [workspace.generated / f"{name}.ipynb"]
    for path in (workspace.generated / "records").glob("*.json"):
        if json.loads(path.read_text(encoding="utf-8"))["notebook"] == name:
            files.append(path)
    disk = sum(path.stat().st_size for path in files)
    link = f"[{name}](_generated/{name}.ipynb)"
    cells = (link, claims, verdicts, f"{spent['seconds']:.0f} s", f"{spent['peak_mib']:.0f} MiB", _size(disk))
    return "| " + " | ".join(cells) + " |"


def _bytes(folder: Path) -> int:
    """Size of all files under a folder, links not followed; nothing where there is none."""
    return sum(os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk(folder) for name in names)


def _size(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count / 1e3:.0f} kB"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.0f} s"


def _cell(text: str) -> str:
    for character in "\\`*_{}[]<>|#~$":
        text = text.replace(character, f"\\{character}")
    return text
