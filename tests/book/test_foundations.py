"""Pages that name tests name real ones; theorem blocks say how sure they are; answers to exercises hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("*.md"))
CHAPTER = (ROOT / "book/foundations.md").read_text(encoding="utf-8")
RUNGS = {"stated", "exact", "sampled", "audited", "not defended"}
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


def blocks(kind: str) -> dict[str, str]:
    """Title -> body of the admonitions whose title begins with `kind`."""
    return dict(re.findall(rf"^:::\{{admonition\}} ({kind} [^\n]*)\n(.*?)^:::", CHAPTER, flags=re.M | re.S))


def test_every_statement_has_a_number_a_label_a_rung_and_a_test():
    theorems, propositions = blocks("Theorem"), blocks("Proposition")
    assert [title.split()[1] for title in theorems] == [str(number + 1) for number in range(len(theorems))]
    labels = []
    for title, body in {**theorems, **propositions}.items():
        labels += re.findall(r"^:name: ((?:thm|prop)-[\w-]+)$", body, flags=re.M)
        assert "**Status: " in body, f"{title} says nothing of how sure it is"
        status = re.findall(r"\*\*(?:Status: )?([a-z ]+?)\.?\*\*", body[body.index("**Status: ") :])
        assert set(status) <= RUNGS, title
        assert "::test_" in body, f"{title} names no test"
    assert len(set(labels)) == len(theorems) + len(propositions)


def test_the_answers_to_the_exercises_hold():
    parts = re.split(r"^\*\*Exercise (\d+)\.\*\*", CHAPTER, flags=re.M)[1:]
    exercises = dict(zip(parts[::2], parts[1::2], strict=True))
    assert list(exercises) == ["1", "2", "3", "4", "5"]
    for number, text in exercises.items():
        answers = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
        assert len(answers) == 1, f"exercise {number}"
        assert "assert " in answers[0]
        exec(compile(answers[0], f"book/foundations.md, exercise {number}", "exec"), {})
