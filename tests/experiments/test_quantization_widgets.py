"""The sliders of a hidden share: the library's own numbers, quick, following every control, loading nothing early."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import numpy as np
import pytest

from privlib import quantization
from privlib.dp import Simulation
from privlib.experiments import quantization_widgets as widgets


@pytest.mark.parametrize(("gamma", "k", "tables"), [(24, 6, 1), (120, 60, 11), (7, 7, 3), (12, 1, 13)])
def test_numbers_are_the_librarys(gamma, k, tables):
    shown = widgets.shown_choice(gamma, k, tables, 0.3)
    table = quantization.candidates(2, gamma, 1200, 1.0, Simulation(widgets.PUBLIC_SEED))
    assert shown.bound == quantization.sml_bound(tables, gamma, k)
    assert shown.exact == quantization.exact_sml(table, k, 1, widgets.ROWS)
    assert shown.ceiling == math.log(widgets.ROWS + 1)
    assert shown.exact <= min(shown.bound, shown.ceiling) + 1e-9
    assert shown.vacuous == (shown.bound >= shown.ceiling)
    far = np.abs(table[:, 1] - 0.3)
    assert shown.near.sum() == k
    assert far[shown.near].max() <= np.append(far[~shown.near], 1).min()
    assert shown.error == pytest.approx(np.sort(far)[:k].mean())


def test_the_line_says_when_the_bound_says_nothing():
    assert "vacuous" in widgets.shown_choice(120, 30, 11, 0.3).text()
    one = widgets.shown_choice(120, 30, 1, 0.3).text()
    assert "vacuous" not in one
    assert "factor of at most 4" in one
    assert "all 3 leak between" in widgets.shown_choice(120, 30, 3, 0.3).text()


def test_an_answer_takes_less_than_100_ms_of_one_core():
    """Uncached settings, slowest of ten; CPU time, since the machine may be busy."""
    widgets._exact.cache_clear()
    slowest = 0.0
    for k in range(1, 121, 12):
        before = time.process_time()
        shown = widgets.shown_choice(120, k, 5, 0.37)
        shown.text(), widgets.choice_svg(shown)
        slowest = max(slowest, time.process_time() - before)
    assert slowest < 0.1


def test_moving_any_control_redraws():
    box = widgets.choice_sliders()
    *controls, line, picture = box.children
    assert [control.description for control in controls] == ["γ", "k", "tables E", "share"]
    for control, moved in zip(controls, (48, 12, 9, 0.8), strict=True):
        before = line.value, picture.value
        control.value = moved
        assert line.value != before[0]
        assert picture.value != before[1]
    shown = widgets.shown_choice(48, 12, 9, 0.8)
    assert (line.value, picture.value) == (shown.text(), widgets.choice_svg(shown))


def test_k_follows_gamma_down_and_may_rise_again_with_it():
    box = widgets.choice_sliders()
    gamma, k, *_, line, _picture = box.children
    k.value = 20
    gamma.value = 8
    assert (k.value, k.max) == (8, 8)
    assert line.value == widgets.shown_choice(8, 8, 1, 0.3).text()
    gamma.value = 100
    k.value = 90
    assert line.value == widgets.shown_choice(100, 90, 1, 0.3).text()


def test_the_picture_is_plain_svg_with_a_mark_a_candidate():
    import xml.etree.ElementTree as Xml

    shown = widgets.shown_choice(30, 10, 11, 0.5)
    text = widgets.choice_svg(shown)
    root = Xml.fromstring(text)
    circles = [node for node in root.iter() if node.tag.endswith("circle")]
    assert len(circles) == 30
    assert sum(node.get("fill") != "white" for node in circles) == 10
    assert "<script" not in text
    assert "<image" not in text


@pytest.mark.parametrize(
    ("setting", "named"), [((10, 11, 1, 0.5), "k"), ((10, 2, 0, 0.5), "tables"), ((10, 2, 1, 1.5), "share")]
)
def test_refusals(setting, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        widgets.shown_choice(*setting)


def test_nothing_heavy_is_loaded_with_the_module():
    heavy = "{'ipywidgets', 'matplotlib', 'sklearn', 'pandas'}"
    code = f"import sys, privlib.experiments.quantization_widgets; print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
