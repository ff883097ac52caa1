"""When is a finished notebook current? When nothing that its outputs depend on has changed.

The key of a job hashes the notebook's source, its parameters, every source and data file of privlib
(comments count too: it is simple and errs on the safe side), the pinned versions, the checksums of
packaged weights and texts, the data folder's content, the labelled texts, Python's version, and the committed
records where the notebook draws them.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from pathlib import Path

from privlib.experiments.profiles import Job
from privlib.experiments.records import plain
from privlib.experiments.workspace import DataSource, Workspace

PINS = ("requirements.txt", "requirements-models.txt")


def job_keys(workspace: Workspace, data: DataSource, jobs: Iterable[Job]) -> dict[str, str]:
    """Key of each job; the parts that all jobs share are hashed once."""
    shared = {
        "library": tree_sum(workspace.library, skip=("__pycache__",)),
        "pins": [_file_sum(workspace.root / name) for name in PINS],
        "labelled": tree_sum(workspace.labelled),
        "python": platform.python_version(),
        "data": data.kind if data.folder is None else tree_sum(data.folder),
    }
    recorded = None
    keys = {}
    for job in jobs:
        source = job.source.path.read_bytes()
        if b"recorded" in source and recorded is None:
            recorded = tree_sum(workspace.recorded)
        own = {
            "notebook": hashlib.sha256(source).hexdigest(),
            "parameters": plain(job.parameters, "parameters") if job.parameters else {},
            "recorded": recorded if b"recorded" in source else None,
        }
        text = json.dumps(shared | own, sort_keys=True)
        keys[job.name] = hashlib.sha256(text.encode()).hexdigest()
    return keys


def tree_sum(folder: Path, skip: tuple[str, ...] = ()) -> str:
    """SHA-256 over relative names and contents of all files under `folder`; of nothing when there is none."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part in skip for part in relative.parts):
            total.update(f"{relative.as_posix()}\0{_file_sum(path)}\n".encode())
    return total.hexdigest()


def _file_sum(path: Path) -> str:
    if not path.is_file():
        return "absent"
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
