"""Every technical part ends with exercises, and the answer to each is code of the library that holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("foundations", "plans", "synthesis", "quantization")
BLOCK = re.compile(r"^(:::+)\{exercise\} ([^\n]+)\n---\nlabel: (ex-[\w-]+)\n---\n(.*?)^\1$", flags=re.M | re.S)
FOLD = re.compile(r"^:::\{dropdown\} Answer\n(.*?)^:::$", flags=re.M | re.S)
CODE = re.compile(r"^```python\n(.*?)^```$", flags=re.M | re.S)


def exercises(part: str) -> dict[str, str]:
    """Label -> body of the exercises of a part, in order."""
    text = (ROOT / f"book/{part}.md").read_text(encoding="utf-8")
    found = {label: body for _, _, label, body in BLOCK.findall(text)}
    assert len(found) == text.count("{exercise}"), "an exercise has no label, repeats one or is not closed"
    return found


ALL = [(part, label) for part in PARTS for label in exercises(part)]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_ends_with_four_to_six_exercises(part):
    assert 4 <= len(exercises(part)) <= 6
    text = (ROOT / f"book/{part}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, flags=re.M)[-1] == "Exercises"


def test_labels_are_unique_in_the_book():
    assert len({label for _, label in ALL}) == len(ALL)


@pytest.mark.parametrize(("part", "label"), ALL, ids=[label for _, label in ALL])
def test_the_answer_holds(part, label):
    """The answer is folded, its one code block asks the library, and what it asserts is true."""
    answers = FOLD.findall(exercises(part)[label])
    assert len(answers) == 1, "an exercise has one folded answer"
    (code,) = CODE.findall(answers[0])
    assert "from privlib" in code
    assert "assert " in code
    exec(compile(code, f"book/{part}.md, {label}", "exec"), {})
