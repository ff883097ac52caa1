"""Brings book/_generated in line with one (profile, data) run: executed notebooks, records, tables, times.

The folder holds one run at a time and only notebooks that are current; run.json says which run, the
key of every notebook, and whether the whole profile is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from privlib.experiments.keys import job_keys
from privlib.experiments.profiles import plan
from privlib.experiments.workspace import DataSource, ExperimentError, Workspace

STAMP = "stamp.json"


@dataclass(frozen=True)
class Published:
    """What run.json says: profile, kind of data, whether all notebooks of the plan are there, their keys."""

    profile: str
    data: str
    complete: bool
    notebooks: dict[str, str]


def run_folder(workspace: Workspace, profile: str, data: DataSource, changed: Sequence[str] = ()) -> Path:
    """Where a run lies; one with parameters of its own, `changed`, lies beside that of the profile."""
    own = f"-{hashlib.sha256(json.dumps(list(changed)).encode()).hexdigest()[:8]}" if changed else ""
    return workspace.runs / f"{profile}-{data.slug}{own}"


def is_current(finished: Path, key: str) -> bool:
    """Whether a finished notebook was made under this key; a folder without a readable stamp was not finished."""
    try:
        return json.loads((finished / STAMP).read_text(encoding="utf-8"))["key"] == key
    except (OSError, ValueError, KeyError):
        return False


def publish(workspace: Workspace, profile: str, data: DataSource, keys: dict[str, str], *, finished: bool) -> None:
    """Make book/_generated and book/_extra/records show exactly the current notebooks of this run.

    keys: of the jobs at hand; other notebooks of the run are shown when they are current too. finished: whether
    nothing is being executed any more; then the run is complete where every notebook of the profile is shown.
    Raises ExperimentError when two notebooks wrote one record id.
    """
    folder = run_folder(workspace, profile, data)
    keys = _other_keys(workspace, profile, data, folder, keys) | keys
    current = {name: key for name, key in sorted(keys.items()) if is_current(folder / name, key)}
    _check_unique(folder, current)
    workspace.runs.mkdir(parents=True, exist_ok=True)
    with open(workspace.runs / "publish.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (workspace.generated / "run.json").unlink(missing_ok=True)
        wanted: dict[Path, Path] = {}
        for name in current:
            wanted[workspace.generated / f"{name}.ipynb"] = folder / name / "notebook.ipynb"
            for path in (folder / name / "records").glob("*.json"):
                wanted[workspace.generated / "records" / path.name] = path
            for path in (folder / name / "records").glob("*.csv"):
                wanted[workspace.tables / path.name] = path
        _sync(workspace, wanted)
        times = {name: json.loads((folder / name / "spent.json").read_text(encoding="utf-8")) for name in current}
        _write(workspace.generated / "times.json", {"profile": profile, "data": data.kind, "notebooks": times})
        complete = finished and _is_whole(workspace, profile, data, current)
        state = {"profile": profile, "data": data.kind, "complete": complete, "notebooks": current}
        _write(workspace.generated / "run.json", state)


def published(workspace: Workspace) -> Published:
    """What book/_generated holds; raises ExperimentError when no run has been published."""
    try:
        return Published(**json.loads((workspace.generated / "run.json").read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        first = "`.venv/bin/python -m privlib.experiments run`"
        raise ExperimentError(f"no run in book/_generated: first {first}") from error


def _other_keys(workspace, profile, data, folder, keys) -> dict[str, str]:
    """Keys of notebooks of this run that are not at hand, where they are still valid sources."""
    found = {}
    for stamp in sorted(folder.glob(f"*/{STAMP}")):
        name = stamp.parent.name
        if name not in keys and (workspace.notebooks / f"{name}.ipynb").is_file():
            try:
                found |= job_keys(workspace, data, plan(workspace, profile, data, [name]))
            except ExperimentError:
                continue  # being edited: not current, so not shown
    return found


def _is_whole(workspace: Workspace, profile: str, data: DataSource, current: dict[str, str]) -> bool:
    try:
        return {job.name for job in plan(workspace, profile, data)} <= set(current)
    except ExperimentError:
        return False  # some other notebook is being edited


def _check_unique(folder: Path, current: dict[str, str]) -> None:
    owner: dict[str, str] = {}
    for name in current:
        for path in sorted((folder / name / "records").glob("*.json")):
            if path.stem in owner:
                raise ExperimentError(f"record id {path.stem!r} is written by {owner[path.stem]} and by {name}")
            owner[path.stem] = name


def _sync(workspace: Workspace, wanted: dict[Path, Path]) -> None:
    """Copy what differs (an unchanged file keeps its time, so the builder need not redo it), remove the rest."""
    held = [
        *workspace.generated.glob("*.ipynb"),
        *(workspace.generated / "records").glob("*"),
        *workspace.tables.glob("*"),
    ]
    for path in held:
        if path not in wanted:
            path.unlink()
    for target, source in wanted.items():
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_suffix(".tmp")
            shutil.copyfile(source, partial)
            partial.replace(target)


def _write(path: Path, value: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
