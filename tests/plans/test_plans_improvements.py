"""The comparison of admissions and the coverage table: tidy, reproducible, and able to say that something failed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans_improvements as study

UNIVERSE = plans.AtomUniverse(tuple(f"theme {k}" for k in range(12)), manifest={"auxiliary_records": 100})
SKETCH = plans.Sketch(np.linspace(40.0, 1.0, 12), "record", 1.0, UNIVERSE.fingerprint)
GRID = {"epsilons": [0.5, 8.0], "plan_size": 4, "delta": 1e-6, "draws": 12, "seed": 3}
COVERAGE = {"level": 0.9, "epsilon": 1.0, "delta": 1e-6, "atoms": 120, "plan_size": 6, "top": 300.0, "draws": 400}


def test_rows_are_tidy_and_reproducible():
    rows = study.variants(SKETCH, UNIVERSE, **GRID)
    assert len(rows) == 2 * len(study.MECHANISMS)
    assert not rows.isna().any().any()
    assert set(study.BANDS) <= set(rows.columns)
    assert rows.equals(study.variants(SKETCH, UNIVERSE, **GRID))
    alone = study.variants(SKETCH, UNIVERSE, **{**GRID, "epsilons": [8.0]})
    assert alone.equals(rows[rows["epsilon"] == 8.0].reset_index(drop=True))
    assert rows.loc[rows["epsilon"] == 8.0, "mass_retained"].gt(0.9).all()
    with pytest.raises(ValueError, match="draws must be at least 10"):
        study.variants(SKETCH, UNIVERSE, **{**GRID, "draws": 9})


def test_scales_tell_what_each_variant_changes():
    rows = study.variants(SKETCH, UNIVERSE, **GRID).query("epsilon == 0.5").set_index("mechanism")
    paper, scale = rows.loc["private_topL"], rows["selection_scale"]
    assert scale["private_topL_one_shot"] == paper["selection_scale"] == 2 * scale["private_topL_monotone"]
    assert scale["private_topL_zcdp"] == pytest.approx(2 * scale["private_topL_monotone_zcdp"])
    assert scale["private_topL_zcdp"] < paper["selection_scale"]
    assert rows.loc["private_topL_zcdp", "value_scale"] < paper["value_scale"]
    assert scale["private_topL_permute_and_flip"] == 2 * scale["private_topL_permute_and_flip_monotone"]
    assert scale["laplace"] == rows.loc["laplace", "value_scale"] == 2.0


def test_value_errors_are_of_all_values_that_were_drawn():
    rows = study.variants(SKETCH, UNIVERSE, **GRID)
    sketches = rows["mechanism"].isin(["gaussian", "laplace"])
    assert (rows["error_linf"] >= rows["linf"]).all()
    assert (rows.loc[sketches, "error_linf"] > rows.loc[sketches, "linf"]).all()
    assert rows.loc[~sketches, "error_linf"].equals(rows.loc[~sketches, "linf"])


def _rows(**means: float) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"mechanism": name, "epsilon": 1.0, "draws": 25, "linf": mean, "linf_sd": 1.0, "mass_retained": mean}
            | {"mass_retained_sd": 1.0}
            for name, mean in means.items()
        ]
    )


def test_leaders_are_the_best_and_those_within_two_standard_errors():
    rows = _rows(gaussian=5.0, laplace=5.5, private_topL=6.0)  # two standard errors of a difference: 0.57
    assert study.leaders(rows, "mass_retained") == {1.0: ("private_topL", "laplace")}
    assert study.leaders(rows, "linf") == {1.0: ("gaussian", "laplace")}
    assert study.leaders(rows, "linf", ["private_topL"]) == {1.0: ("private_topL",)}
    assert study.chosen(rows, "mass_retained") == "private_topL"
    assert study.chosen(rows, "linf") == "gaussian"
    two = pd.concat([rows, _rows(gaussian=1.0, laplace=9.0).assign(epsilon=2.0)])
    assert study.chosen(two, "mass_retained") == "laplace"  # leads at both, the other at one
    assert study.winners(two).shape == (2, 5)


def test_coverage_keeps_what_holds_and_refuses_what_does_not():
    """Shares of 400 plans; a right interval is refused with probability below 1e-6."""
    rows = study.coverage(**COVERAGE, seed=5)
    assert len(rows) == len(study.SHAPES) * len(study.COVERED) * 2
    assert not rows.isna().any().any()
    assert rows.loc[rows["intervals"] == "simultaneous", "kept"].all()
    assert not rows.loc[rows["intervals"] == "one atom alone", "kept"].any()
    flat = rows.query("shape == 'flat' and mechanism == 'gaussian' and intervals == 'one atom alone'")
    assert float(flat["each"].iloc[0]) < 0.6


def test_errors_drawn_at_once_have_the_law_of_released_plans():
    """Mean largest error by rank, 400 plans each way; 6 standard errors; power: another law of noise."""
    truth, seed = study.masses("Zipf", 12, 30.0), Simulation
    setting = study.mechanism("laplace", UNIVERSE, 1.0, 1e-6, 4)
    fast = np.abs(study._ranked_errors(setting, truth, 400, seed(1))).max(axis=1)
    noise, slow = seed(2), []
    for _ in range(400):
        plan = setting.release(plans.Sketch(truth, "record", 1.0, UNIVERSE.fingerprint), noise)
        slow.append(max(abs(atom.mass - truth[UNIVERSE.labels.index(atom.label)]) for atom in plan.atoms))
    error = np.hypot(fast.std(), np.std(slow)) / 20
    assert abs(fast.mean() - np.mean(slow)) < 6 * error
    other = np.abs(study._ranked_errors(study.mechanism("gaussian", UNIVERSE, 1.0, 1e-6, 4), truth, 400, seed(3)))
    assert abs(other.max(axis=1).mean() - np.mean(slow)) > 6 * error


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        study.mechanism("magic", UNIVERSE, 1.0, 1e-6, 3)
    with pytest.raises(ValueError, match="shape must be one of"):
        study.masses("round", 3, 1.0)


def test_the_figure_is_drawn_from_a_record():
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_improvements as figures

    rows = study.variants(SKETCH, UNIVERSE, **GRID)
    record = experiments.record(id="improvements-test", title="t", rows=rows, parameters={}, seed=3, bands=study.BANDS)
    figure = figures.draw_variants(record)
    assert [axis.get_title() for axis in figure.axes] == ["MassRetained", "largest error of an admitted mass"]
    fewer = rows[rows["mechanism"] != "private_topL_permute_and_flip"]
    old = experiments.record(id="improvements-test", title="t", rows=fewer, parameters={}, seed=3, bands=study.BANDS)
    looks = [
        {bars.get_label(): bars.lines[0].get_color() for bars in drawn.axes[0].containers}
        for drawn in (figure, figures.draw_variants(old))
    ]
    assert looks[1].items() < looks[0].items()
    assert len(set(looks[0].values())) == len(study.MECHANISMS)
    assert len(figure.legends[0].get_texts()) == len(study.MECHANISMS)
    matplotlib.pyplot.close("all")
