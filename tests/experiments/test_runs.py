"""Run folders: what is in them, what is kept apart, what a kill leaves, and that two grids never mix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from privlib import plans
from privlib.experiments import runs as module
from privlib.experiments.runs import Decoding, Runs

UNIVERSE = plans.AtomUniverse(tuple(f"theme {word}" for word in ("red", "blue", "green", "black", "white")))
SKETCH = plans.Sketch(np.array([321.0625, 250.125, 180.5, 60.25, 20.75]), "record", 1.0, UNIVERSE.fingerprint)
MECHANISM = plans.GaussianPlan(
    UNIVERSE, epsilon=1.0, delta=1e-6, plan_size=3, unit="record", relation="add_drop", public_denominator=1000.0
)
SETTINGS = {"corpus": "toy", "requested": 1000, "sparsity": 3, "split_seed": 1}
TEMPLATE = Decoding("template", plans.template())


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path / "grid", SETTINGS)


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_run_writes_the_papers_files_and_keeps_the_curators_apart(runs):
    made = runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    assert {path.name for path in made.iterdir()} == {
        "config.yaml",
        "private_plan.json",
        "summary.txt",
        "verifier_attempts.json",
    }
    plan = plans.SemanticPlan.from_json((made / "private_plan.json").read_text())
    assert (made / "summary.txt").read_text() == plans.template()(plan, ())
    attempts = json.loads((made / "verifier_attempts.json").read_text())
    assert [attempt["accepted"] for attempt in attempts["attempts"]] == [True]
    config = yaml.safe_load((made / "config.yaml").read_text())
    assert config["grid"] == SETTINGS
    assert config["mechanism"]["epsilon"] == 1.0
    assert config["decoder"] == {"name": "template", "max_attempts": 3}
    metrics = json.loads((runs.root / "curator" / made.name / "metrics.json").read_text())
    assert "Do not release" in metrics["note"]
    assert metrics["overlap"] == 1.0
    assert metrics["error_linf"] >= max(abs(atom.mass - SKETCH.masses[k]) for k, atom in enumerate(plan.atoms))
    assert metrics["mention_rate"] == 1.0


def test_value_errors_are_of_the_draw_behind_the_plan(runs):
    """All m values of a full sketch: a plan of all atoms shows each of them; the admitted ones of private top-L."""
    place = {label: k for k, label in enumerate(UNIVERSE.labels)}
    top_l = plans.PrivateTopLPlan(
        UNIVERSE, epsilon=1.0, delta=1e-6, plan_size=3, unit="record", relation="add_drop", public_denominator=1000.0
    )
    for mechanism in (replace(MECHANISM, plan_size=5), top_l):
        made = runs.run(SKETCH, mechanism, TEMPLATE, seed=4)
        plan = plans.SemanticPlan.from_json((made / "private_plan.json").read_text())
        errors = [abs(atom.mass - SKETCH.masses[place[atom.label]]) for atom in plan.atoms]
        metrics = json.loads((runs.root / "curator" / made.name / "metrics.json").read_text())
        assert metrics["error_l1"] == pytest.approx(sum(errors))
        assert metrics["error_linf"] == pytest.approx(max(errors))
    made = runs.run(SKETCH, replace(MECHANISM, plan_size=1), TEMPLATE, seed=4)
    plan = plans.SemanticPlan.from_json((made / "private_plan.json").read_text())
    metrics = json.loads((runs.root / "curator" / made.name / "metrics.json").read_text())
    assert metrics["error_l1"] > abs(plan.atoms[0].mass - SKETCH.masses[place[plan.atoms[0].label]])


def test_no_simulated_file_holds_a_true_mass_or_a_utility(runs):
    made = runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    written = "".join(path.read_text() for path in made.iterdir())
    for mass in SKETCH.masses:
        assert repr(float(mass)) not in written
    assert "mass_retained" not in written
    assert "overlap" not in written


def test_two_points_of_one_seed_share_no_noise_and_two_decoders_share_their_plan(runs):
    """With one stream for all points, masses at two scales of the same noise would give the true masses away."""

    def plan(mechanism, decoding):
        made = runs.run(SKETCH, mechanism, decoding, seed=4)
        return plans.SemanticPlan.from_json((made / "private_plan.json").read_text())

    one, same = plan(MECHANISM, TEMPLATE), plan(MECHANISM, Decoding("again", plans.template()))
    assert one == same
    two = plan(replace(MECHANISM, epsilon=2.0), TEMPLATE)
    place = {label: k for k, label in enumerate(UNIVERSE.labels)}
    draws = [{a.label: (a.mass - SKETCH.masses[place[a.label]]) / p.noise.scale for a in p.atoms} for p in (one, two)]
    shared = set(draws[0]) & set(draws[1])
    assert shared
    assert all(abs(draws[0][label] - draws[1][label]) > 1e-6 for label in shared)


def test_a_finished_run_is_left_as_it_is_and_a_new_one_is_the_same_bytes(runs, tmp_path):
    told = []

    def decoder(plan, attempts):
        told.append(plan)
        return plans.template()(plan, attempts)

    decoding = Decoding("counted", decoder, {"model": "none"})
    first = runs.run(SKETCH, MECHANISM, decoding, seed=4)
    before = {path: path.stat().st_mtime_ns for path in runs.root.rglob("*")}
    assert runs.run(SKETCH, MECHANISM, decoding, seed=4) == first
    assert {path: path.stat().st_mtime_ns for path in runs.root.rglob("*")} == before
    assert len(told) == 1
    other = Runs(tmp_path / "other", SETTINGS)
    other.run(SKETCH, MECHANISM, decoding, seed=4)
    assert tree(other.root) == tree(runs.root)


def test_two_grids_do_not_mix(runs):
    Runs(runs.root, dict(SETTINGS))
    with pytest.raises(ValueError, match=r"another grid with other settings \(records, users differ\)"):
        Runs(runs.root, {**SETTINGS, "records": 2000, "users": 3})
    assert yaml.safe_load((runs.root / "grid.yaml").read_text()) == SETTINGS


def test_a_folder_with_other_files_is_not_taken(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="must be empty or hold a grid"):
        Runs(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("mechanism", "decoding", "differs"),
    [
        (replace(MECHANISM, delta=1e-5), TEMPLATE, "mechanism"),
        (replace(MECHANISM, public_denominator=2000.0), TEMPLATE, "mechanism"),
        (MECHANISM, replace(TEMPLATE, settings={"model": "other"}), "decoder"),
        (MECHANISM, replace(TEMPLATE, max_attempts=2), "decoder"),
        (replace(MECHANISM, universe=plans.AtomUniverse((*UNIVERSE.labels[:4], "theme pink"))), TEMPLATE, "universe"),
    ],
)
def test_a_run_of_other_settings_is_not_taken_for_this_one(runs, mechanism, decoding, differs):
    runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    before = tree(runs.root)
    sketch = plans.Sketch(SKETCH.masses, "record", 1.0, mechanism.universe.fingerprint)
    with pytest.raises(ValueError, match=rf"with other settings \({differs} differ\)"):
        runs.run(sketch, mechanism, decoding, seed=4)
    assert tree(runs.root) == before


KILLED = """
import os, sys
from tests_of_runs import SKETCH, MECHANISM, SETTINGS
from privlib import plans
from privlib.experiments import runs as module

count = 0
def deadly(kill_at):
    def replaced(*arguments):
        global count
        count += 1
        if count == kill_at:
            os._exit(9)
        return original(*arguments)
    original = os.replace
    return replaced

os.replace = deadly(int(sys.argv[2]))
grid = module.Runs(sys.argv[1], SETTINGS)
grid.run(SKETCH, MECHANISM, module.Decoding("template", plans.template()), seed=4)
"""


@pytest.mark.parametrize("kill_at", [1, 2, 3])
def test_a_kill_before_any_rename_leaves_a_run_that_is_made_again(tmp_path, kill_at):
    """The process dies without a word just before its 1st, 2nd or 3rd rename: grid, curator's files, simulated."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    (tmp_path / "tests_of_runs.py").write_text(Path(__file__).read_text())
    died = subprocess.run([sys.executable, script, tmp_path / "grid", str(kill_at)], check=False)
    assert died.returncode == 9
    assert any(path.name.endswith(".part") for path in (tmp_path / "grid").rglob("*"))
    runs = Runs(tmp_path / "grid", SETTINGS)
    with pytest.raises(ValueError, match="must hold a finished run"):
        runs.table()
    runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    whole = Runs(tmp_path / "whole", SETTINGS)
    whole.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    assert tree(runs.root) == tree(whole.root)


def test_half_a_folder_is_not_a_run(runs, monkeypatch):
    """A kill while the files are written: the decoder's text is there, the attempts are not."""
    write, left = Path.write_text, [5]

    def dying(self, *arguments, **options):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return write(self, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", dying)
    with pytest.raises(KeyboardInterrupt):
        runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    monkeypatch.undo()
    assert [path.suffix for path in (runs.root / "simulated").iterdir()] == [".part"]
    runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    assert len(runs.table()) == 1


def test_a_decoder_that_raises_leaves_a_public_marker_and_is_tried_again(runs):
    def offline(plan, attempts):
        raise ConnectionError("no language model answers at endpoint 'http://10.0.0.7/v1'")

    failed = runs.run(SKETCH, MECHANISM, replace(TEMPLATE, decoder=offline), seed=4)
    assert (failed / "FAILED").read_text() == "The decoder raised ConnectionError.\n"
    assert not (failed / "summary.txt").exists()
    plan = (failed / "private_plan.json").read_text()
    with pytest.raises(ValueError, match="finished run"):
        runs.table()
    again = runs.run(SKETCH, MECHANISM, TEMPLATE, seed=4)
    assert again == failed
    assert not (again / "FAILED").exists()
    assert (again / "private_plan.json").read_text() == plan


def test_rejected_attempts_are_written_with_verdict_and_feedback(runs):
    def stubborn(plan, attempts):
        return plans.Candidate(f"Theme pink {len(attempts)} \ud800.", answers=(f"answer {len(attempts)}",))

    made = runs.run(SKETCH, MECHANISM, Decoding("stubborn", stubborn), seed=4)
    written = json.loads((made / "verifier_attempts.json").read_text())
    assert written["fallback"]
    assert [attempt["answers"] for attempt in written["attempts"]] == [["answer 0"], ["answer 1"], ["answer 2"]]
    assert all(attempt["feedback"] and attempt["violations"] for attempt in written["attempts"])
    row = runs.table().iloc[0]
    assert row.fallback
    assert row.attempts == 3


def test_the_table_holds_the_keys_of_the_paper_and_one_row_a_run(runs):
    for seed in (1, 2):
        for mechanism in (MECHANISM, replace(MECHANISM, epsilon=0.5)):
            runs.run(SKETCH, mechanism, TEMPLATE, seed=seed)
    laplace = plans.LaplacePlan(
        UNIVERSE, epsilon=1.0, plan_size=3, unit="record", relation="add_drop", public_denominator=1000.0
    )
    runs.run(SKETCH, laplace, TEMPLATE, seed=1)
    table = runs.table()
    assert sorted(zip(table.mechanism, table.epsilon, table.seed, strict=True)) == [
        ("gaussian", 0.5, 1),
        ("gaussian", 0.5, 2),
        ("gaussian", 1.0, 1),
        ("gaussian", 1.0, 2),
        ("laplace", 1.0, 1),
    ]
    assert not table.isna().any().any()
    assert table.error_l2.nunique() == 5  # noise of its own for each run
    assert set(table.requested) == {1000}
    assert set(table.sparsity) == {3}
    keys = [
        "unit",
        "requested",
        "universe_size",
        "sparsity",
        "plan_size",
        "mechanism",
        "epsilon",
        "delta",
        "contribution_bound",
        "decoder",
    ]
    assert table.groupby(keys).size().tolist() == [2, 2, 1]
    assert table.mass_retained.between(0, 1).all()


@pytest.mark.parametrize("name", ["", "a/b", "../up", "a b", "x.part/", ".hidden"])
def test_a_decoder_name_is_part_of_a_folder_name(runs, name):
    with pytest.raises(ValueError, match=r"decoding\.name"):
        runs.run(SKETCH, MECHANISM, Decoding(name, plans.template()), seed=4)


@pytest.mark.parametrize("seed", [-1, True, 1.0, "1"])
def test_the_seed_is_checked(runs, seed):
    with pytest.raises(ValueError, match="seed must be"):
        runs.run(SKETCH, MECHANISM, TEMPLATE, seed=seed)


def test_settings_are_shown_with_every_public_field_of_the_mechanism():
    shown = module.public_settings(MECHANISM)
    assert set(shown) == {n for n in MECHANISM.__dataclass_fields__ if n != "universe"} - {"comparison_margin"}
    assert os.fspath(module.SIMULATED) == "simulated"
