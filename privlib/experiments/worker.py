"""Executes one notebook in a process of its own: `python -m privlib.experiments.worker JOB.json PARENT_PID`.

Papermill injects the parameters and runs the cells over TCP; here any error output fails (whatever a
tag allows), parameters and records are compared with the plan, and everything that depends on time is
taken out. The worker dies with the driver, and the kernel with the worker.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privlib.experiments.notebooks import INJECTED, parameters_of, quick_nbformat
from privlib.experiments.records import plain, read, restored
from privlib.experiments.workspace import ExperimentError

TRACEBACK_LINES = 12
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Task:
    """What the driver asks for: source notebook, parameters, folder to fill, working folder, seconds a cell."""

    notebook: str
    parameters: dict[str, Any]
    stage: str
    cwd: str
    timeout: int

    def to_json(self) -> str:
        return json.dumps(self.__dict__ | {"parameters": plain(self.parameters, "parameters")})

    @classmethod
    def from_json(cls, text: str) -> Task:
        loaded = json.loads(text)
        return cls(**loaded | {"parameters": restored(loaded["parameters"])})


def execute(task: Task) -> None:
    """Run the notebook and write <stage>/notebook.ipynb; raises ExperimentError with cell and traceback tail."""
    nbformat = quick_nbformat()
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    name = Path(task.notebook).stem
    source = nbformat.read(task.notebook, as_version=4)
    try:
        executed = papermill.execute_notebook(
            source,
            None,
            parameters=task.parameters,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            request_save_on_cell_execute=False,
            cwd=task.cwd,
            execution_timeout=task.timeout,
            kernel_manager_class=_own_kernel_manager(),
        )
    except PapermillExecutionError as error:
        cell = [*source.cells, None][_source_index(source, error.cell_index)]
        raise ExperimentError(_failure(name, cell, error.ename, error.evalue, error.traceback)) from error
    except CellTimeoutError as error:
        raise ExperimentError(f"{name}: a cell ran longer than {task.timeout} s\n{_tail(str(error))}") from error
    except DeadKernelError as error:
        raise ExperimentError(f"{name}: the kernel died (killed, or out of memory)") from error
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                raise ExperimentError(_failure(name, cell, output.ename, output.evalue, output.traceback))
    check_as_used(name, executed, task.parameters, Path(task.stage) / "records")
    log = clean(executed)
    nbformat.validate(executed)
    stage = Path(task.stage)
    (stage / "stderr.log").write_text(log, encoding="utf-8")
    (stage / "notebook.ipynb").write_text(nbformat.writes(executed) + "\n", encoding="utf-8")


def check_as_used(name: str, executed: Any, planned: dict[str, Any], records: Path) -> None:
    """Compare the plan with the injected cell, read again, and with the parameters that records state."""
    cells = [cell for cell in executed.cells if INJECTED in cell.metadata.get("tags", [])]
    used = parameters_of(cells[0].source, name)[0] if len(cells) == 1 else {}
    if repr(sorted(used.items())) != repr(sorted(planned.items())):
        raise ExperimentError(f"{name}: parameters as used {used} are not those planned {planned}")
    for path in sorted(records.glob("*.json")):
        stated = read(path).parameters
        for parameter in sorted(stated.keys() & planned.keys() - {"data"}):
            if stated[parameter] != planned[parameter]:
                raise ExperimentError(
                    f"{name}: record {path.stem} states {parameter} = {stated[parameter]!r}, "
                    f"the run was given {planned[parameter]!r}"
                )


def clean(notebook: Any) -> str:
    """Take out of an executed notebook, in place, what differs between two equal runs; returns its stderr text.

    That is: papermill's and the client's metadata, the injected cell's random id, widget views and state,
    progress bars and warnings on stderr, and where a stream happened to be cut into messages.
    """
    log = []
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        if INJECTED in cell.metadata.get("tags", []):
            cell["id"] = INJECTED
        if cell.cell_type != "code":
            continue
        kept: list[Any] = []
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                log.append(f"[{cell.id}] {output.text}")
            elif "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                continue
            elif output.output_type == "stream" and kept and kept[-1].output_type == "stream":
                kept[-1].text += output.text
            else:
                kept.append(output)
        cell.outputs = kept
    return "\n".join(log)


def _own_kernel_manager():
    """A kernel manager that always starts this very Python, whatever kernelspec `python3` lies on the machine."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class OwnKernelManager(AsyncKernelManager):
        @property
        def kernel_spec(self):
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3", language="python", metadata={})

    return OwnKernelManager


def _source_index(source: Any, executed_index: int) -> int:
    """Index in the source of a cell of the executed notebook, which holds the injected cell besides."""
    tagged = [i for i, cell in enumerate(source.cells) if "parameters" in cell.metadata.get("tags", [])]
    return executed_index - 1 if tagged and executed_index > tagged[0] + 1 else executed_index


def _failure(name: str, cell: Any, ename: str, evalue: str, traceback: list[str]) -> str:
    where = "a cell" if cell is None else f"cell {cell.id!r}"
    return f"{name}: {where} failed with {ename}: {evalue}\n{_tail(chr(10).join(traceback))}"


def _tail(text: str) -> str:
    lines = [line for line in _ANSI.sub("", text).splitlines() if line.strip()]
    return "\n".join("    " + line for line in lines[-TRACEBACK_LINES:])


def _die_with(parent: int) -> None:
    """Ask Linux to kill this process when the driver goes, however it goes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the driver is gone")


def main(argv: list[str]) -> int:
    _die_with(int(argv[1]))
    task = Task.from_json(Path(argv[0]).read_text(encoding="utf-8"))
    stage = Path(task.stage)
    began = time.monotonic()
    try:
        execute(task)
    except ExperimentError as error:
        (stage / "failure.txt").write_text(str(error), encoding="utf-8")
        return 1
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    spent = {"seconds": round(time.monotonic() - began, 2), "peak_mib": round(peak_kib / 1024, 1)}
    (stage / "spent.json").write_text(json.dumps(spent), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
