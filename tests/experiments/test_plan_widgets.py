"""The plan sliders show a plan of the library and the truth beside it, follow every control, and load nothing early."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments import plan_widgets as widgets


@pytest.fixture(scope="module")
def source():
    return widgets.packaged_texts(users=120)


SETTING = {"epsilon": 1.0, "plan_size": 6, "sparsity": 3, "size": 20, "contribution_bound": 2.0}


@pytest.mark.parametrize("mechanism", widgets.MECHANISMS)
def test_the_plan_is_the_librarys(source, mechanism):
    shown = widgets.shown_plan(source, **SETTING, mechanism=mechanism, draw=5)
    universe = plans.AtomUniverse(source.universe.labels[:20], source.universe.descriptions[:20])
    vectors = plans.assign(source.texts, source.vectors(3, 20)[0], 3)
    sketch = plans.user_sketch(vectors, source.unit_ids, 2.0)
    settings = {"epsilon": 1.0, "plan_size": 6, "unit": "user", "relation": "add_drop", "contribution_bound": 2.0}
    settings["public_denominator"] = 1.0
    kind = {"gaussian": plans.GaussianPlan, "laplace": plans.LaplacePlan, "private_topL": plans.PrivateTopLPlan}
    more = {} if mechanism == "laplace" else {"delta": widgets.DELTA}
    plan = kind[mechanism](universe, **settings, **more).release(sketch, Simulation(5).child("plan sliders"))
    assert shown.labels == tuple(atom.label for atom in plan.atoms)
    assert shown.noisy.tolist() == [atom.mass for atom in plan.atoms]
    places = [universe.labels.index(label) for label in shown.labels]
    assert shown.true.tolist() == sketch.masses[places].tolist()
    assert shown.in_true_plan == tuple(place in plans.top(sketch.masses, 6) for place in places)
    assert "SIMULATION" in shown.text()
    assert "unit user" in shown.text()


def test_records_have_bound_one_whatever_the_slider_says(source):
    alone = widgets.PublicTexts(source.texts, None, source.universe)
    shown = widgets.shown_plan(alone, **{**SETTING, "contribution_bound": 7.0}, mechanism="laplace")
    assert "unit record" in shown.text()
    same = widgets.shown_plan(alone, **SETTING, mechanism="laplace")
    assert np.array_equal(shown.noisy, same.noisy)


def test_letting_go_of_any_control_redraws(source):
    box = widgets.plan_sliders(source)
    *controls, line, picture = box.children
    names = ["epsilon", "L", "K", "m", "B", "mechanism", "draw"]
    assert [control.description for control in controls] == names
    moved = {"epsilon": 0.1, "L": 4, "K": 1, "m": 15, "B": 5.0, "mechanism": "private_topL", "draw": 3}
    for control in controls:
        before = line.value, picture.value
        control.value = moved[control.description]
        assert (line.value, picture.value) != before, control.description
    values = [control.value for control in controls]
    shown = widgets.shown_plan(source, *values)
    assert line.value == shown.text()
    assert picture.value == widgets.plan_svg(shown)


def test_the_picture_is_plain_svg(source):
    text = widgets.plan_svg(widgets.shown_plan(source, **SETTING, mechanism="gaussian"))
    assert "<svg" in text
    assert "<script" not in text
    assert "<image" not in text


def test_another_mechanism_is_refused(source):
    with pytest.raises(ValueError, match="mechanism must be one of"):
        widgets.shown_plan(source, **SETTING, mechanism="magic")


def test_nothing_heavy_is_loaded_with_the_module():
    heavy = "{'ipywidgets', 'matplotlib', 'sklearn', 'pandas'}"
    code = f"import sys, privlib.experiments.plan_widgets; print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
