"""The centroid sliders show the library's numbers, follow every control, answer quickly and load nothing early."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest

from privlib import synthesis
from privlib.experiments import synthesis_widgets as widgets
from privlib.synthesis import joint

SETTING = {"epsilon": 4.0, "rate": 0.3, "frequency": 100, "dims": 20, "ratio": 2.4}


def test_the_papers_distance_gets_joint_noise_for_what_one_fixed_pair_leaves():
    shown = widgets.shown_release(**SETTING, sensitivity="paper")
    pair = synthesis.collision_probability(2.4, 2 / math.sqrt(20), 20)
    assert shown.failure == pair
    assert shown.multiplier == synthesis.joint_noise_multiplier(4.0, 1e-6 - pair, 0.3, 30)
    assert shown.lemma_multiplier == synthesis.lemma_noise_multiplier(4.0, 1e-6 - pair, 0.3, 30)[0]
    assert shown.noise_std == shown.multiplier * 2.4
    assert shown.noise_per_kept == shown.noise_std / 0.3
    assert 0.999e-6 < shown.delta <= 1e-6
    assert "kept" in shown.text()


def test_a_million_records_count_in_the_all_or_nothing_mode():
    shown = widgets.shown_release(**SETTING | {"ratio": 3.3}, sensitivity="union")
    assert shown.failure == 1e6 * synthesis.collision_probability(3.3, 2 / math.sqrt(20), 20)
    assert widgets.shown_release(**SETTING | {"ratio": 2.4}, sensitivity="union").term == "delta_sensitivity"
    least, _ = synthesis.union_noise_std(4.0, 1e-6, 0.3, 30, 20, 10**6)
    assert shown.noise_std >= least


def test_the_integrated_mode_keeps_the_budget_exactly_where_its_noise_is_enough():
    enough = synthesis.release_noise_std(4.0, 1e-6, 0.3, 30, 20, 10**6)
    for ratio in (0.8, 1.0, 1.1, 1.2, 1.5):
        shown = widgets.shown_release(**SETTING | {"ratio": ratio}, sensitivity="integrated")
        assert (shown.delta <= 1e-6) == (shown.noise_std >= enough)
        assert ("NOT kept" in shown.text()) == (shown.noise_std < enough)


def test_the_worst_case_pays_for_the_diameter_whatever_u_and_k():
    shown = [widgets.shown_release(4.0, 0.3, 100, k, u, "worst_case") for k, u in ((10, 0.5), (30, 4.0))]
    assert shown[0].noise_std == shown[1].noise_std == 4 * synthesis.joint_noise_multiplier(4.0, 1e-6, 0.3, 30)


def test_what_no_noise_can_mend_is_named():
    shown = widgets.shown_release(**SETTING | {"frequency": 20}, sensitivity="worst_case")
    assert (shown.term, shown.multiplier, shown.delta) == ("delta_threshold", math.inf, 1.0)
    assert "infeasible" in shown.text()
    assert "delta_threshold" in shown.text()
    with pytest.raises(ValueError, match="sensitivity must be one of"):
        widgets.shown_release(**SETTING, sensitivity="hope")


def test_letting_go_of_any_control_redraws():
    box = widgets.release_sliders()
    *controls, line, picture = box.children
    assert [control.description for control in controls] == ["epsilon", "p", "t", "k", "u", "sensitivity"]
    moved = {"epsilon": 2.0, "p": 0.4, "t": 120, "k": 25, "u": 2.0, "sensitivity": "integrated"}
    for control in controls:
        before = line.value, picture.value
        control.value = moved[control.description]
        assert (line.value, picture.value) != before, control.description
    values = [round(control.value, 2) if control.description == "p" else control.value for control in controls]
    shown = widgets.shown_release(*values)
    assert line.value == shown.text()
    assert picture.value == widgets.release_svg(shown)


def test_the_picture_is_plain_svg():
    text = widgets.release_svg(widgets.shown_release(**SETTING, sensitivity="union"))
    assert "<svg" in text
    assert "<script" not in text
    assert "<image" not in text


@pytest.mark.parametrize("sensitivity", widgets.SENSITIVITIES)
def test_a_move_costs_few_closed_forms(sensitivity, monkeypatch):
    """At most one integrated bill, few joint ones; a tenth of a second alone (`make bench`), here room for load."""
    called = {"joint": 0, "release": 0}

    def counted(name, function):
        def count(*arguments, **options):
            called[name] += 1
            return function(*arguments, **options)

        return count

    monkeypatch.setattr(joint, "_joint_delta", counted("joint", joint._joint_delta))
    monkeypatch.setattr(synthesis, "release_delta", counted("release", synthesis.release_delta))
    times = []
    for step in range(4):
        called.update(joint=0, release=0)
        start = time.process_time()
        widgets.release_svg(widgets.shown_release(3.9 + step / 97, 0.3, 100, 20, 2.4, sensitivity))
        times.append(time.process_time() - start)
        assert called["release"] == (sensitivity == "integrated")
        assert called["joint"] <= (80 if called["release"] else 30)
    assert min(times) < 0.5


def test_nothing_heavy_is_loaded_with_the_module():
    heavy = "{'ipywidgets', 'matplotlib', 'sklearn', 'pandas'}"
    code = f"import sys, privlib.experiments.synthesis_widgets; print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
