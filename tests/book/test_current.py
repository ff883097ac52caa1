"""The book of a run is built only from that run, whole, and made by the code as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from privlib.experiments import publish
from privlib.experiments.keys import job_keys
from privlib.experiments.profiles import plan
from privlib.experiments.workspace import DataSource, ExperimentError, Workspace

PARAMETERS = 'profile = "smoke"\ndata = "packaged"\ncorpus = "none"\nseed = 1\n'


def _cell(kind, source, tags=()):
    cell = {"id": kind, "cell_type": "code", "source": source, "metadata": {"tags": list(tags)} if tags else {}}
    return cell | {"outputs": [], "execution_count": None}


@pytest.fixture
def workspace(tmp_path):
    """A checkout with one notebook and a run of it at hand."""
    root = tmp_path / "checkout"
    library = root / "privlib"
    for folder in ("notebooks/profiles", "book/_generated", "privlib"):
        (root / folder).mkdir(parents=True)
    (library / "code.py").write_text("answer = 1\n")
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [_cell("parameters", PARAMETERS, ["parameters"]), _cell("run", "print(corpus, seed)")],
    }
    (root / "notebooks/tiny.ipynb").write_text(json.dumps(notebook))
    sections = "".join(
        f"{name}:\n  packaged: {{seed: 1}}\n  folder: {{seed: 1}}\n" for name in ("smoke", "book", "record")
    )
    (root / "notebooks/profiles/tiny.yml").write_text(sections + "paper:\n  hub: {seed: 1}\n")
    made = Workspace(root, library)
    state = {"profile": "smoke", "data": "packaged", "complete": True, "notebooks": _keys(made)}
    (made.generated / "run.json").write_text(json.dumps(state))
    return made


def _keys(workspace):
    data = DataSource.parse("packaged", workspace)
    return job_keys(workspace, data, plan(workspace, "smoke", data))


def _check(workspace, profile="smoke", data="packaged"):
    publish.check_current(workspace, profile, DataSource.parse(data, workspace))


def test_a_current_run_is_accepted(workspace):
    _check(workspace)


def test_another_profile_or_source_is_refused(workspace, tmp_path):
    with pytest.raises(ExperimentError, match="holds profile smoke on packaged data, not book"):
        _check(workspace, profile="book")
    with pytest.raises(ExperimentError, match="not smoke on folder"):
        _check(workspace, data=str(tmp_path))


EDITS = {
    "library": ("privlib/code.py", "answer = 1", "answer = 2"),
    "notebook": ("notebooks/tiny.ipynb", "print(corpus, seed)", "print(seed, corpus)"),
    "parameters": ("notebooks/profiles/tiny.yml", "{seed: 1}", "{seed: 3}"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_run_older_than_an_edit_is_refused(workspace, edit):
    name, old, new = EDITS[edit]
    path = workspace.root / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ExperimentError, match="not executed since something they depend on changed: tiny"):
        _check(workspace)


def test_no_run_at_all_is_refused(workspace):
    (workspace.generated / "run.json").unlink()
    with pytest.raises(ExperimentError, match="no run in book/_generated"):
        _check(workspace)


def test_a_refused_run_leaves_no_older_pages(workspace, tmp_path):
    old = tmp_path / "out/html"
    old.mkdir(parents=True)
    (workspace.generated / "run.json").unlink()
    with pytest.raises(ExperimentError):
        publish.publish(workspace, "smoke", DataSource.parse("packaged", workspace), tmp_path / "out")
    assert not old.exists()


def test_the_command_says_what_is_missing(workspace, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PRIVLIB_ROOT", str(workspace.root))
    (workspace.generated / "run.json").unlink()
    assert publish.main(["--profile", "smoke", "--out", str(tmp_path / "out")]) == 1
    assert "python -m privlib.experiments run" in capsys.readouterr().err
    assert Path(tmp_path / "out").exists() is False
