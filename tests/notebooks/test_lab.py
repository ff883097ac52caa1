"""The pages of `make lab`: committed clean, run without an error, show sliders, and stay out of the book."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from privlib.experiments import profiles
from privlib.experiments.notebooks import quick_nbformat
from privlib.experiments.workspace import DataSource, ExperimentError, Workspace

PAGES = sorted((Path(__file__).resolve().parents[2] / "notebooks/lab").glob("*.ipynb"))
by_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def complaints(page: dict) -> list[str]:
    """What is wrong with the form of a committed page."""
    found, cells = [], page["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    if (page["nbformat"], page["nbformat_minor"]) != (4, 5) or len({cell["id"] for cell in cells}) != len(cells):
        found.append("is not nbformat 4.5 with an id of its own for every cell")
    if set(page["metadata"]) - {"kernelspec", "language_info"} or page["metadata"]["kernelspec"]["name"] != "python3":
        found.append("carries metadata of a run, or names another kernel than python3")
    if cells[0]["cell_type"] != "markdown" or not "".join(cells[0]["source"]).startswith("# "):
        found.append("does not begin with a title")
    if any(cell["outputs"] or cell["execution_count"] is not None or cell["metadata"] for cell in code):
        found.append("holds outputs or metadata of a run")
    return found


def executed(page: dict):
    """The page after a run in a kernel of its own, with the states of its widgets; raises on the first error."""
    nbformat = quick_nbformat()
    from nbclient import NotebookClient

    notebook = nbformat.reads(json.dumps(page), as_version=4)
    return NotebookClient(notebook, kernel_name="python3", timeout=300, store_widget_state=True).execute()


def sliders(notebook) -> dict[str, list[str]]:
    """Names of the sliders in each cell that shows a widget."""
    states = notebook["metadata"].get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})

    def named(model: str) -> list[str]:
        widget = states["state"][model]
        own = [widget["state"]["description"]] if "Slider" in widget["model_name"] else []
        children = [child.removeprefix("IPY_MODEL_") for child in widget["state"].get("children", [])]
        return own + [name for child in children for name in named(child)]

    shown = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if view := output.get("data", {}).get("application/vnd.jupyter.widget-view+json"):
                shown[cell["id"]] = named(view["model_id"])
    return shown


def test_there_are_pages():
    assert PAGES


@by_page
def test_committed_page_is_in_form(path):
    assert complaints(read(path)) == []


@by_page
def test_page_runs_and_shows_sliders(path):
    shown = sliders(executed(read(path)))
    assert shown
    assert all(shown.values())


@by_page
def test_page_is_no_notebook_of_the_book(path):
    workspace = Workspace.default()
    with pytest.raises(ExperimentError, match=f"no notebook {path.stem}"):
        profiles.plan(workspace, "smoke", DataSource.parse("packaged", workspace), only=[path.stem])


# ------------------------------------------------------------------------------------------ negative controls
def test_a_page_that_raises_fails():
    from nbclient.exceptions import CellExecutionError

    page = copy.deepcopy(read(PAGES[0]))
    page["cells"] = [page["cells"][0], page["cells"][1] | {"source": "no_such_name"}]
    with pytest.raises(CellExecutionError, match="no_such_name"):
        executed(page)


def test_a_page_without_a_run_shows_no_slider():
    assert sliders(read(PAGES[0])) == {}


FAULTS = {
    "shared id": (lambda page: page["cells"][1].update(id=page["cells"][0]["id"]), "id of its own"),
    "widget state": (lambda page: page["metadata"].update(widgets={}), "metadata of a run"),
    "kernel": (lambda page: page["metadata"]["kernelspec"].update(name="julia"), "another kernel"),
    "no title": (lambda page: page["cells"][0].update(source="Sliders"), "title"),
    "output": (lambda page: page["cells"][1]["outputs"].append({"output_type": "stream"}), "outputs"),
    "count": (lambda page: page["cells"][1].update(execution_count=1), "outputs"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault):
    spoil, complaint = FAULTS[fault]
    page = copy.deepcopy(read(PAGES[0]))
    spoil(page)
    assert [said for said in complaints(page) if complaint in said]
