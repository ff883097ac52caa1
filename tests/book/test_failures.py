"""Four faults that must not reach a reader: each alone, in a small copy of the project, stops what `make test` runs.

The steps are those of the Makefile's target `smoke`, read from it, on which `test` depends.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from privlib.experiments.ledger import Claim

pytestmark = pytest.mark.book
ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RECORD = """import pandas as pd
from privlib import experiments
rows = pd.DataFrame({"epsilon": [1.0, 2.0], "value": [0.25, 0.5]})
made = experiments.record(id="tiny", title="Tiny", rows=rows, parameters={"seed": seed}, seed=seed)"""
FIGURE = """import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(2, 1))
axes.plot(made.rows["epsilon"], made.rows["value"])
figure"""
PICTURE = {"mystnb": {"image": {"alt": "A line that rises."}, "figure": {"caption": "Rising."}}}


def steps() -> list[list[str]]:
    """Commands of `make smoke`, with this Python in place of the environment's."""
    recipe = re.search(r"^smoke:[^\n]*\n((?:\t[^\n]+\n)+)", MAKEFILE, flags=re.M)[1]
    return [line.strip().replace("$(BIN)/python", sys.executable).split() for line in recipe.splitlines()]


def _cell(id: str, source: str, **metadata) -> dict:
    return {
        "id": id, "cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None,
    }  # fmt: skip


def _notebook(path: Path, *more: dict, picture: dict = PICTURE) -> None:
    cells = [
        {"id": "title", "cell_type": "markdown", "source": "# Tiny", "metadata": {}},
        _cell("parameters", 'profile = "smoke"\ndata = "packaged"\ncorpus = "none"\nseed = 1\n', tags=["parameters"]),
        _cell("run", RECORD),
        _cell("figure", FIGURE, **picture),
        *more,
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    path.write_text(json.dumps(notebook))


def follow(commands: list[list[str]], project: Path) -> tuple[int, str]:
    """Run commands in order until one fails: its exit status and what was said."""
    said = ""
    environment = os.environ | {"PRIVLIB_ROOT": str(project), "PYTHONPATH": str(project), "OMP_NUM_THREADS": "1"}
    environment.setdefault("PRIVLIB_ASSETS", str(ROOT / "assets"))
    for command in commands:
        run = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
        said += run.stdout + run.stderr
        if run.returncode:
            return run.returncode, said
    return 0, said


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """The small project, with a library of its own, run, accepted and built without a complaint."""
    project = tmp_path_factory.mktemp("sound") / "project"
    shutil.copytree(ROOT / "privlib", project / "privlib", ignore=shutil.ignore_patterns("__pycache__"))
    (project / "notebooks/profiles").mkdir(parents=True)
    (project / "book/_generated").mkdir(parents=True)
    shutil.copytree(ROOT / "book/_assets", project / "book/_assets")
    shutil.copyfile(ROOT / "_config.yml", project / "_config.yml")
    _notebook(project / "notebooks/tiny.ipynb")
    both = "{packaged: {seed: 1}, folder: {seed: 1}}"
    (project / "notebooks/profiles/tiny.yml").write_text(f"smoke: {both}\nbook: {both}\n")
    (project / "book/_toc.yml").write_text("format: jb-book\nroot: start\nchapters:\n  - file: _generated/tiny\n")
    (project / "book/start.md").write_text("# Start\n\n[On](_generated/tiny.ipynb).\n")
    (project / "book/references.bib").write_text("")
    (project / "book/claims.csv").write_text(",".join(Claim.__dataclass_fields__) + "\n")
    run, check, publish = steps()
    accept = ["accept" if word == "run" else word for word in run]
    status, said = follow([run, accept, check, publish], project)
    assert status == 0, said
    return project


@pytest.fixture
def project(sound, tmp_path) -> Path:
    return shutil.copytree(sound, tmp_path / "project")


def broken_notebook(project: Path) -> None:
    _notebook(project / "notebooks/tiny.ipynb", _cell("broken", "raise ValueError('deliberately broken')"))


def dead_link(project: Path) -> None:
    with open(project / "book/start.md", "a") as page:
        page.write("\n[Nowhere](nowhere.md).\n")


def missing_alt_text(project: Path) -> None:
    _notebook(project / "notebooks/tiny.ipynb", picture={"mystnb": {"figure": {"caption": "Rising."}}})


def moved_record(project: Path) -> None:
    """The committed record says another value than the one that the run gives."""
    (path,) = (project / "book/recorded").rglob("tiny.json")
    text = path.read_text()
    assert "0.25" in text
    path.write_text(text.replace("0.25", "0.26"))


FAULTS = {
    broken_notebook: "deliberately broken",
    dead_link: "nowhere.md",
    missing_alt_text: "no alt text",
    moved_record: "DIFFERS record tiny",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_stops_what_make_test_runs(project, fault):
    fault(project)
    status, said = follow(steps(), project)
    assert status != 0, said
    assert FAULTS[fault] in said


def test_make_test_runs_these_steps():
    assert "smoke" in re.search(r"^test:([^\n]*)", MAKEFILE, flags=re.M)[1].split()
    assert len(steps()) == 3
