"""Pages that name tests name real ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("*.md"))
NODE = r"\b(tests/[\w/]+\.py|test_\w+\.py)((?:::[\w\[\]. -]+)?)"


def unknown_nodes(text: str) -> list[str]:
    """Files and test functions named in `text` that do not exist; a bare file name is looked up under tests/."""
    found = []
    for name, function in re.findall(NODE, text):
        paths = [ROOT / name] if "/" in name else sorted((ROOT / "tests").rglob(name))
        if not paths or not paths[0].is_file():
            found.append(name)
        elif function and function[2:].split("[")[0] not in functions(paths[0]):
            found.append(name + function)
    return found


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_named_on_a_page_exists(page):
    text = page.read_text(encoding="utf-8")
    assert unknown_nodes(text) == []
    # names of tests without their file, in code marks
    everywhere = set().union(*(functions(path) for path in (ROOT / "tests").rglob("test_*.py")))
    assert set(re.findall(r"`(test_\w+)`", text)) <= everywhere


def test_a_name_that_is_not_there_is_found():
    assert unknown_nodes("`tests/dp/test_audit.py::test_no_such`") == ["tests/dp/test_audit.py::test_no_such"]
    assert unknown_nodes("`tests/dp/test_nothing.py`, `test_nowhere.py`") == [
        "tests/dp/test_nothing.py",
        "test_nowhere.py",
    ]
    assert unknown_nodes("`tests/dp/test_audit.py::test_guess_extremes[a-1]`") == []
