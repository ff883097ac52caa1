"""Runs the notebooks of a plan: what is not current, in up to two worker processes, resumable.

A finished notebook is a folder .cache/runs/<profile>-<source>/<notebook>/ with the executed copy, its
records and, written last, a stamp that holds its key. Work in progress lies in <notebook>.part, which
is renamed when complete, so a kill at any moment leaves either a finished notebook or one to be redone.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from privlib.experiments.gather import STAMP, is_current, publish, run_folder
from privlib.experiments.keys import job_keys
from privlib.experiments.profiles import Job
from privlib.experiments.worker import Task
from privlib.experiments.workspace import DataSource, ExperimentError, Workspace

CELL_TIMEOUT = {"smoke": 180, "book": 900, "record": 7200, "paper": 86400}  # seconds
POLL = 0.05


@dataclass
class Outcome:
    """What one run did: names that were executed, that were current already, and messages of failures by name."""

    executed: list[str] = field(default_factory=list)
    current: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)


def run(
    workspace: Workspace,
    profile: str,
    data: DataSource,
    jobs: list[Job],
    *,
    workers: int = 2,
    timeout: int | None = None,
    progress: bool = True,
    changed: Sequence[str] = (),
) -> Outcome:
    """Execute those of `jobs` that are not current, then bring book/_generated in line with the result.

    changed: parameters that are not the profile's, as `plan` took them: such a run stays out of book/_generated and
    lies in a folder of its own. timeout: seconds a cell, by default the profile's. Outputs of an earlier success of a
    notebook that is redone are removed before it starts. A failing notebook does not stop the others.
    """
    if workers < 1:
        raise ExperimentError(f"workers must be at least 1, got {workers}")
    folder = run_folder(workspace, profile, data, changed)
    folder.mkdir(parents=True, exist_ok=True)
    keys = job_keys(workspace, data, jobs)
    outcome = Outcome()
    with ExitStack() as stack:
        todo = []
        for job in jobs:
            if is_current(folder / job.name, keys[job.name]):
                outcome.current.append(job.name)
            else:
                stack.enter_context(_Lock(folder / f"{job.name}.lock", job.name))
                shutil.rmtree(folder / job.name, ignore_errors=True)
                todo.append(job)
        if not changed:
            publish(workspace, profile, data, keys, finished=False)
        bar = stack.enter_context(_progress(len(jobs), len(outcome.current), progress))
        environment = kernel_environment(workspace, profile, data, changed)
        _work(workspace, folder, environment, todo, keys, workers, timeout or CELL_TIMEOUT[profile], outcome, bar)
    if not changed:
        publish(workspace, profile, data, keys, finished=True)
    return outcome


def _work(workspace, folder, environment, todo, keys, workers, timeout, outcome, bar) -> None:
    waiting = list(todo)
    running: dict[str, subprocess.Popen] = {}
    with tempfile.TemporaryDirectory(prefix="privlib-run-") as scratch:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    job = waiting.pop(0)
                    running[job.name] = _start(workspace, job, folder, environment, Path(scratch), timeout)
                    bar.set_postfix_str(", ".join(running))
                for name in [name for name, process in running.items() if process.poll() is not None]:
                    message = _finish(folder, name, keys[name], running.pop(name).returncode)
                    if message is None:
                        outcome.executed.append(name)
                    else:
                        outcome.failures[name] = message
                    bar.update(1)
                time.sleep(POLL)
        finally:
            for process in running.values():
                process.kill()
                process.wait()


def _start(workspace, job, folder, environment, scratch, timeout) -> subprocess.Popen:
    stage = folder / f"{job.name}.part"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir()
    task = Task(str(job.source.path), job.parameters, str(stage), str(workspace.root), timeout)
    (stage / "task.json").write_text(task.to_json(), encoding="utf-8")
    own = {"PRIVLIB_OUT": str(stage), "PRIVLIB_NOTEBOOK": job.name, "IPYTHONDIR": str(scratch / job.name / "ipython")}
    with open(stage / "worker.log", "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "privlib.experiments.worker", str(stage / "task.json"), str(os.getpid())],
            env=environment | own,
            cwd=workspace.root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def kernel_environment(workspace, profile, data, changed) -> dict[str, str]:
    """The environment of worker and kernel: one thread each, fixed hashing, no network but for DATA=hub."""
    fixed = {
        "PRIVLIB_ROOT": str(workspace.root),
        "PRIVLIB_PROFILE": profile,
        "PRIVLIB_DATA": data.kind,
        "PRIVLIB_CHANGED": json.dumps(list(changed)),
        "PYTHONPATH": str(workspace.library.parent),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "JUPYTER_PLATFORM_DIRS": "1",
        "TZ": "UTC",
    }
    if data.kind != "hub":
        fixed |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return os.environ | fixed


def _finish(folder: Path, name: str, key: str, returncode: int) -> str | None:
    """Turn a complete stage into a finished notebook; otherwise throw it away and return what went wrong."""
    stage, final = folder / f"{name}.part", folder / name
    if returncode == 0:
        spent = json.loads((stage / "spent.json").read_text(encoding="utf-8"))
        spent["date"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        (stage / "spent.json").write_text(json.dumps(spent), encoding="utf-8")
        _write_atomically(stage / STAMP, json.dumps({"key": key}))
        shutil.rmtree(final, ignore_errors=True)
        stage.rename(final)
        return None
    failure = stage / "failure.txt"
    if failure.is_file():
        message = failure.read_text(encoding="utf-8")
    else:
        log = (stage / "worker.log").read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        message = "\n    ".join([f"{name}: the worker ended with status {returncode}", *log])
    shutil.rmtree(stage)
    return message


def _write_atomically(path: Path, text: str) -> None:
    partial = path.with_suffix(".tmp")
    with open(partial, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(path)


class _Lock:
    """One driver at a time executes a notebook; the system releases the lock of a killed one."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name

    def __enter__(self) -> None:
        self.stream = open(self.path, "w")
        try:
            fcntl.flock(self.stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.stream.close()
            raise ExperimentError(f"{self.name}: another run is executing it, wait for that one") from error

    def __exit__(self, *_) -> None:
        self.stream.close()


def _progress(total: int, done: int, shown: bool):
    from tqdm import tqdm

    return tqdm(total=total, initial=done, desc="notebooks", unit="nb", disable=not shown, dynamic_ncols=True)
