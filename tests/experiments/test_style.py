from __future__ import annotations

import json
import subprocess
import sys

import matplotlib as mpl
import pytest

from privlib.experiments import report, style, use_style
from privlib.experiments.workspace import Workspace


@pytest.fixture(autouse=True)
def _plain_matplotlib():
    with mpl.rc_context():
        mpl.use("agg")
        yield


def draw():
    from matplotlib.figure import Figure

    use_style()
    figure = Figure()
    axes = figure.subplots()
    for j, marker in enumerate(style.MARKERS):
        axes.plot([0, 1], [0, j], marker=marker, label=str(j))
    axes.legend()
    return figure


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_figure_is_the_same_bytes_twice(tmp_path, suffix):
    for name in ("a", "b"):
        style.save(draw(), tmp_path / f"{name}.{suffix}")
    first = (tmp_path / f"a.{suffix}").read_bytes()
    assert first == (tmp_path / f"b.{suffix}").read_bytes()
    assert b"dc:date" not in first
    assert b"matplotlib.org" not in first


def test_text_is_readable_on_a_phone():
    use_style()
    sizes = [mpl.rcParams[name] for name in ("font.size", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")]
    assert min(sizes) >= 10
    assert mpl.rcParams["figure.figsize"][0] <= 6.5


def test_a_reader_s_own_settings_change_nothing():
    mpl.rcParams["lines.linewidth"] = 9
    mpl.rcParams["axes.facecolor"] = "black"
    use_style()
    assert mpl.rcParams["lines.linewidth"] == style.SETTINGS["lines.linewidth"]
    assert mpl.rcParams["axes.facecolor"] == "white"


def test_every_colour_has_a_second_encoding():
    encodings = (style.PALETTE, style.MARKERS, style.LINESTYLES, style.HATCHES)
    assert all(len(set(e)) == len(style.PALETTE) for e in encodings)


def luminance(colour: str) -> float:
    red, green, blue = mpl.colors.to_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_first_colours_stay_apart_without_colour():
    shades = sorted(luminance(colour) for colour in style.PALETTE[:2])
    assert shades[1] - shades[0] > 0.2


def test_importing_experiments_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys; from privlib import experiments; "
        "print([m for m in ('papermill', 'nbformat', 'matplotlib', 'torch', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_execution_report_shows_time_and_memory(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.generated.mkdir(parents=True)
    state = {"profile": "smoke", "data": "packaged", "complete": True, "notebooks": {"one": "k"}}
    (workspace.generated / "run.json").write_text(json.dumps(state))
    spent = {"one": {"seconds": 12.34, "peak_mib": 456.7, "date": "2026-01-01 00:00 UTC"}}
    (workspace.generated / "times.json").write_text(json.dumps({"notebooks": spent}))
    text = report.render(workspace)
    assert "| [one](_generated/one.ipynb) | 12.3 | 457 | 2026-01-01 00:00 UTC |" in text
    assert "Profile `smoke` on packaged data, 1 notebooks: 12 s" in text
