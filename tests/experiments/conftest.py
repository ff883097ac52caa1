"""Workspaces of tiny notebooks, so that the driver is tested on the real thing in seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from privlib.experiments.__main__ import main
from privlib.experiments.workspace import PACKAGE, DataSource, Workspace

PARAMETERS = 'profile = "smoke"\ndata = "packaged"\ncorpus = "none"\nseed = 1\n'
COUNT = "from pathlib import Path\nwith Path('ran.txt').open('a') as log:\n    print('{name}', file=log)\n"


def write_notebook(
    path: Path, cells: list[tuple[str, str]], *, tags: tuple[str, ...] = ("parameters",), **changes
) -> None:
    """A notebook of code cells (id, source); the cell `parameters` gets `tags`; changes go to its metadata."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}} | changes
    notebook.cells = [nbformat.v4.new_markdown_cell("# Title", id="title")]
    for id, source in cells:
        cell = nbformat.v4.new_code_cell(source, id=id)
        if id == "parameters":
            cell.metadata["tags"] = list(tags)
        if id.startswith("raises"):
            cell.metadata["tags"] = ["raises-exception"]
        notebook.cells.append(cell)
    nbformat.write(notebook, path)


class Bench:
    """A workspace under a temporary folder, with `add` to put notebooks in."""

    PARAMETERS = PARAMETERS
    write = staticmethod(write_notebook)

    def __init__(self, root: Path, library: Path | None = None) -> None:
        self.workspace = Workspace(root) if library is None else Workspace(root, library)
        self.workspace.profiles.mkdir(parents=True)
        self.workspace.book.mkdir()

    def add(self, name: str, *sources: str, parameters: str = "", yml: str = "{}", count: bool = True) -> None:
        cells = [("parameters", PARAMETERS + parameters)]
        cells += [("count", COUNT.format(name=name))] if count else []
        cells += [(f"raises-{i}" if s.startswith("#raises") else f"cell-{i}", s) for i, s in enumerate(sources)]
        write_notebook(self.workspace.notebooks / f"{name}.ipynb", cells)
        self.profile(name, yml)

    def profile(self, name: str, yml: str) -> None:
        text = f"smoke: {{packaged: {yml}, folder: {yml}}}\nbook: {{packaged: {yml}, folder: {yml}}}\n"
        (self.workspace.profiles / f"{name}.yml").write_text(text)

    @property
    def packaged(self) -> DataSource:
        return DataSource.parse("packaged", self.workspace)

    def ran(self) -> list[str]:
        """Names of notebooks by execution so far."""
        log = self.workspace.root / "ran.txt"
        return sorted(log.read_text().split()) if log.exists() else []

    def outputs(self) -> dict[str, bytes]:
        """Everything a run left for the book, but for the sidecar of times."""
        found = [*self.workspace.generated.rglob("*"), *self.workspace.tables.rglob("*")]
        return {
            str(path.relative_to(self.workspace.root)): path.read_bytes()
            for path in found
            if path.is_file() and path.name != "times.json"
        }


def copy_library(folder: Path) -> Path:
    return shutil.copytree(PACKAGE, folder / "privlib", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture(scope="session")
def frozen_library(tmp_path_factory) -> Path:
    """One copy of privlib for all tests, so that editing the real one meanwhile makes nothing stale."""
    return copy_library(tmp_path_factory.mktemp("frozen"))


@pytest.fixture
def bench(tmp_path, frozen_library) -> Bench:
    return Bench(tmp_path / "checkout", frozen_library)


@pytest.fixture
def bench_with_library(tmp_path) -> Bench:
    """A workspace with a copy of privlib of its own, which the test may edit."""
    return Bench(tmp_path / "checkout", copy_library(tmp_path / "library"))


@pytest.fixture
def command(bench, monkeypatch):
    """The command line on the workspace of `bench`: takes arguments, returns the exit status."""
    monkeypatch.setattr(Workspace, "default", classmethod(lambda cls: bench.workspace))
    return lambda *arguments: main(list(arguments))
