"""The mutation run itself (tests/mutants.py, called by `make test`): its texts are there, and it can fail."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("privlib_mutants", ROOT / "tests/mutants.py")
mutants = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = mutants
SPEC.loader.exec_module(mutants)

REQUIRED = (
    "noise x 0.7",
    "bare",
    "strict for non-strict",
    "other relation",
    "one stream",
    "clipped copy unused",
    "one more drawn",
)


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutants_text_is_there_once(mutant):
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.before) == 1
    assert mutant.before != mutant.after


def test_all_kinds_that_are_asked_for_are_there():
    names = [mutant.name for mutant in mutants.MUTANTS]
    assert len(set(names)) == len(names)
    assert all(any(kind in name for name in names) for kind in REQUIRED)


KNOWN = next(mutant for mutant in mutants.MUTANTS if mutant.name.startswith("plans: clipped"))


def test_a_survivor_is_reported(capsys):
    harmless = dataclasses.replace(KNOWN, name="harmless", after=KNOWN.before + "  # same")
    assert mutants.main([], (harmless,)) == 1
    assert "SURVIVED: harmless" in capsys.readouterr().out


def test_a_mutant_that_cannot_run_is_not_killed():
    assert "could not run" in mutants.verdict(dataclasses.replace(KNOWN, after="this is no Python"))
    assert "found it 0 times" in mutants.verdict(dataclasses.replace(KNOWN, before="no such text"))


def test_a_named_test_that_is_not_there_stops_the_run(capsys):
    assert mutants.main([], (dataclasses.replace(KNOWN, killer="tests/plans/test_sketch.py::test_no_such"),)) == 1
    assert "without any mutation" in capsys.readouterr().err
    assert mutants.main(["no such mutant"]) == 2
