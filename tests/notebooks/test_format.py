"""How a committed notebook looks: clean, with one parameters cell, a claim, figures that say what they show."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROFILES = {
    "smoke": {"packaged", "folder"},
    "book": {"packaged", "folder"},
    "record": {"packaged", "folder"},
    "paper": {"hub"},
}
SCREEN = 40  # lines of a cell that fit a screen


def complaints(notebook: dict) -> list[str]:
    """What is wrong with the form of a committed notebook."""
    found = []
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        found.append("is not nbformat 4.5")
    cells = notebook["cells"]
    ids = [cell.get("id") for cell in cells]
    if None in ids or len(set(ids)) != len(ids):
        found.append("has cells without an id of their own")
    if set(notebook["metadata"]) - {"kernelspec", "language_info"}:
        found.append("carries metadata of a run or an editor")
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        found.append("names another kernel than python3")
    first = cells[0]
    if first["cell_type"] != "markdown" or not re.match(r"# \S", text(first)):
        found.append("does not begin with a title")
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    if any(cell["outputs"] or cell["execution_count"] is not None for cell in code):
        found.append("holds outputs")
    if sum("parameters" in cell["metadata"].get("tags", []) for cell in cells) != 1:
        found.append("has not exactly one parameters cell")
    elif "parameters" not in code[0]["metadata"].get("tags", []):
        found.append("runs code before its parameters")
    if any("execution" in cell["metadata"] or "papermill" in cell["metadata"] for cell in cells):
        found.append("carries metadata of a run")
    found += [f"cell {cell['id']} is longer than a screen" for cell in cells if len(text(cell).splitlines()) > SCREEN]
    return found + figure_complaints(code)


def figure_complaints(code: list[dict]) -> list[str]:
    """Figure cells draw by `draw_...`; each needs a caption, a name of its own and alt text that describes."""
    found, names = [], []
    figures = [cell for cell in code if "mystnb" in cell["metadata"] or re.search(r"^[\w.]*draw_", text(cell), re.M)]
    if not figures:
        found.append("has no figure")
    for cell in figures:
        shown = cell["metadata"].get("mystnb", {})
        alt = shown.get("image", {}).get("alt", "")
        figure = shown.get("figure", {})
        names.append(figure.get("name"))
        if len(alt) < 30:
            found.append(f"cell {cell['id']} has no alt text that describes its figure")
        if len(figure.get("caption", "")) < 20:
            found.append(f"cell {cell['id']} has no caption")
        if alt and alt == figure.get("caption"):
            found.append(f"cell {cell['id']} repeats its caption as alt text")
        if not str(figure.get("name", "")).startswith("fig-"):
            found.append(f"cell {cell['id']} has no figure name fig-...")
    if len(set(names)) != len(names):
        found.append("uses a figure name twice")
    if sum(".provenance(" in text(cell) for cell in code) < len(figures):
        found.append("has a figure without the line that says what made it")
    return found


def text(cell: dict) -> str:
    return "".join(cell["source"])


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebook_is_in_form(path):
    assert complaints(json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_profile_file_names_every_profile_and_source(path):
    profiles = yaml.safe_load((ROOT / f"notebooks/profiles/{path.stem}.yml").read_text(encoding="utf-8"))
    assert {name: set(sources) for name, sources in profiles.items()} == PROFILES


def test_figure_names_are_unique_in_the_book():
    names = [
        cell["metadata"]["mystnb"]["figure"]["name"]
        for path in NOTEBOOKS
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if "figure" in cell["metadata"].get("mystnb", {})
    ]
    assert len(set(names)) == len(names)


def test_every_notebook_is_a_page_and_every_notebook_page_a_notebook():
    listed = set(re.findall(r"_generated/(\w+)", (ROOT / "book/_toc.yml").read_text(encoding="utf-8")))
    assert listed == {path.stem for path in NOTEBOOKS}


# ------------------------------------------------------------------------------------------ negative controls
def _code(cell_id, source, **metadata):
    return {
        "id": cell_id,
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
    }


FIGURE = {
    "image": {"alt": "A line that rises from the lower left to the upper right."},
    "figure": {"caption": "Accuracy against the budget.", "name": "fig-tiny"},
}
SOUND = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "cells": [
        {"id": "title", "cell_type": "markdown", "source": "# Tiny\n", "metadata": {}},
        _code("parameters", 'profile = "smoke"', tags=["parameters"]),
        _code("figure", "figures.draw_tiny(record);", mystnb=FIGURE),
        _code("provenance", "record.provenance()"),
    ],
}
FAULTS = {
    "old format": (lambda n: n.update(nbformat_minor=4), "nbformat"),
    "shared id": (lambda n: n["cells"][1].update(id="title"), "id of their own"),
    "no title": (lambda n: n["cells"][0].update(source="Tiny"), "title"),
    "output": (lambda n: n["cells"][2]["outputs"].append({"output_type": "stream"}), "outputs"),
    "count": (lambda n: n["cells"][2].update(execution_count=3), "outputs"),
    "no parameters": (lambda n: n["cells"][1].update(metadata={}), "parameters cell"),
    "two parameters": (lambda n: n["cells"][3]["metadata"].update(tags=["parameters"]), "parameters cell"),
    "code before": (lambda n: n["cells"].insert(1, _code("early", "import os")), "before its parameters"),
    "run metadata": (lambda n: n["cells"][3]["metadata"].update(execution={}), "metadata of a run"),
    "papermill": (lambda n: n["metadata"].update(papermill={}), "metadata of a run"),
    "long cell": (lambda n: n["cells"][3].update(source="record.provenance()\n" * 41), "longer than a screen"),
    "no figure": (lambda n: n["cells"].pop(2), "no figure"),
    "bare figure": (lambda n: n["cells"][2].update(metadata={}), "no alt text"),
    "short alt": (lambda n: n["cells"][2]["metadata"]["mystnb"]["image"].update(alt="plot"), "no alt text"),
    "no caption": (lambda n: n["cells"][2]["metadata"]["mystnb"]["figure"].update(caption=""), "no caption"),
    "no name": (lambda n: n["cells"][2]["metadata"]["mystnb"]["figure"].pop("name"), "no figure name"),
    "unexplained": (lambda n: n["cells"].pop(3), "what made it"),
}


def test_a_sound_notebook_has_no_complaint():
    assert complaints(SOUND) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault):
    spoil, complaint = FAULTS[fault]
    notebook = copy.deepcopy(SOUND)
    spoil(notebook)
    assert any(complaint in said for said in complaints(notebook))
