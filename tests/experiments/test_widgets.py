"""The sliders show the library's own numbers, follow each slider, and cost nothing until they are asked for."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from privlib.dp import gaussian_delta, gaussian_noise_std
from privlib.experiments import widgets


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), [(1.0, 1e-6, 1.0), (0.1, 1e-9, 2.5), (20.0, 1e-5, 0.3)])
def test_numbers_are_the_librarys(epsilon, delta, sensitivity):
    shown = widgets.calibration(epsilon, delta, sensitivity)
    assert shown.noise_std == gaussian_noise_std(epsilon, delta, sensitivity)
    assert shown.laplace_scale == pytest.approx(sensitivity / epsilon, rel=1e-15)
    assert shown.laplace_scale >= sensitivity / epsilon
    assert shown.epsilons[0] == 0
    assert shown.epsilons[-1] == 2 * epsilon
    assert np.interp(epsilon, shown.epsilons, shown.deltas) == pytest.approx(delta, rel=1e-6)
    for index in (0, 17, 80):
        assert shown.deltas[index] == gaussian_delta(shown.epsilons[index], shown.noise_std, sensitivity)


def test_letting_go_of_a_slider_redraws():
    box = widgets.calibration_sliders()
    epsilon, delta, sensitivity, line, picture = box.children
    assert [slider.description for slider in (epsilon, delta, sensitivity)] == ["epsilon", "delta", "sensitivity"]
    assert not any(slider.continuous_update for slider in (epsilon, delta, sensitivity))
    seen = set()
    for slider, value in ((epsilon, 2.0), (delta, 1e-3), (sensitivity, 10.0)):
        before = line.value, picture.value
        slider.value = value
        shown = widgets.calibration(epsilon.value, delta.value, sensitivity.value)
        assert line.value == shown.text()
        assert f"{gaussian_noise_std(epsilon.value, delta.value, sensitivity.value):.4g}" in line.value
        assert picture.value == widgets.curve_svg(shown)
        assert (line.value, picture.value) != before
        seen.add(line.value)
    assert len(seen) == 3


def test_the_picture_is_plain_svg():
    text = widgets.curve_svg(widgets.calibration(1.0, 1e-6, 1.0))
    assert "<svg" in text
    assert "<script" not in text
    assert "<image" not in text


@pytest.mark.parametrize("start", [{"epsilon": 1000.0}, {"delta": 0.5}, {"sensitivity": 0.0}])
def test_starts_outside_the_sliders_are_refused(start):
    with pytest.raises(ValueError, match=next(iter(start))):
        widgets.calibration_sliders(**start)


def test_nothing_heavy_is_loaded_with_the_module():
    code = "import sys, privlib.experiments.widgets; print({'ipywidgets', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
