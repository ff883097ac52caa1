"""The grid behind the figure: tidy, seeded, with spread; and the figure is made of the record alone."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans as study

UNIVERSE = plans.AtomUniverse(tuple(f"theme {k}" for k in range(12)), manifest={"auxiliary_records": 100})
SKETCH = plans.Sketch(np.linspace(40.0, 1.0, 12), "record", 1.0, UNIVERSE.fingerprint)
GRID = {"epsilons": [0.25, 1.0, 8.0], "plan_size": 4, "draws": 12, "seed": 3}


def test_rows_are_tidy_and_reproducible():
    rows = study.utility(SKETCH, UNIVERSE, **GRID)
    assert len(rows) == 9
    assert not rows.isna().any().any()
    assert rows.equals(study.utility(SKETCH, UNIVERSE, **GRID))
    for metric in study.METRICS:
        assert (rows[f"{metric}_low"] <= rows[f"{metric}_high"]).all()
    assert set(study.BANDS) <= set(rows.columns)
    assert set(rows[rows.mechanism == "laplace"].delta) == {0.0}
    assert set(rows[rows.mechanism != "laplace"].delta) == {1e-6}
    assert rows.loc[rows.epsilon == 8.0, "mass_retained"].gt(0.9).all()


def test_value_errors_are_of_the_whole_vector_for_sketches_and_of_the_admitted_for_top_l():
    """Twelve draws; a mean of 12 * 12 absolute Laplace errors of scale b is within 6 of its deviations of b."""
    rows = study.utility(SKETCH, UNIVERSE, **GRID).set_index(["mechanism", "epsilon"])
    assert rows.error_values.groupby("mechanism").unique().map(list).to_dict() == {
        "gaussian": [12],
        "laplace": [12],
        "private_topL": [4],
    }
    assert rows.loc[("laplace", 1.0), "error_l1"] == pytest.approx(12.0, abs=6 * (12 / 12) ** 0.5)
    one = study.measure(study.mechanism("gaussian", UNIVERSE, 1.0, 1e-6, 4), SKETCH, Simulation(1))
    drawn = study.mechanism("gaussian", UNIVERSE, 1.0, 1e-6, 12).draw(SKETCH.masses, Simulation(1))[1]
    errors = drawn - SKETCH.masses
    assert one["error_linf"] == np.abs(errors).max()
    assert one["error_l2"] == pytest.approx(np.linalg.norm(errors))
    assert one["error_l1"] > np.abs(errors[plans.top(drawn, 4)]).sum()


def test_a_point_does_not_depend_on_the_grid_around_it():
    alone = study.utility(SKETCH, UNIVERSE, **{**GRID, "epsilons": [1.0]}, mechanisms=["laplace"])
    full = study.select(study.utility(SKETCH, UNIVERSE, **GRID), mechanism="laplace", epsilon=1.0)
    assert alone.to_dict("records") == full.to_dict("records")


def test_a_spread_needs_draws_and_a_selection_needs_rows():
    with pytest.raises(ValueError, match="draws"):
        study.utility(SKETCH, UNIVERSE, **{**GRID, "draws": 1})
    with pytest.raises(ValueError, match="found none"):
        study.select(study.utility(SKETCH, UNIVERSE, **GRID), epsilon=3.0)
    with pytest.raises(ValueError, match="mechanism must be one of"):
        study.mechanism("magic", UNIVERSE, 1.0, 1e-6, 3)


def test_the_figure_is_drawn_from_a_record():
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans as figures

    rows = study.utility(SKETCH, UNIVERSE, **GRID)
    record = experiments.record(id="plans-test", title="t", rows=rows, parameters={}, seed=3, bands=study.BANDS)
    elsewhere = rows.assign(corpus="other")
    other = experiments.record(id="plans-test", title="t", rows=elsewhere, parameters={}, seed=3, bands=study.BANDS)
    figure = figures.draw_utility(record, [other])
    assert [axis.get_title().strip() for axis in figure.axes] == list(figures.PANELS.values()) * 2
    assert [note.get_text() for axis in figure.axes for note in axis.texts] == [
        "closed-form",
        "other (recorded, interactive)",
    ]
    matplotlib.pyplot.close(figure)


def test_corpora_stand_below_one_another_with_their_settings():
    from privlib.experiments.studies import plans_corpora

    case = plans_corpora.prepare("generated", "packaged", universe_size=20, texts=800)
    small = plans_corpora.prepare("generated", "packaged", universe_size=12, sparsity=2, texts=800)
    grid = {**GRID, "draws": 3}
    rows = study.across([case, small], **grid)
    keys = ["corpus", "unit", "n_units", "universe_size", "sparsity", "contribution_bound", "plan_size", "mechanism"]
    assert list(rows.columns[:10]) == [*keys, "epsilon", "delta"]
    assert not rows.duplicated([*keys, "epsilon", "delta"]).any()
    assert set(rows.n_units) == {len(case.target)}
    assert set(rows.unit) == {"record"}
    assert rows.groupby(["universe_size", "sparsity"]).ngroups == 2
    alone = study.utility(plans.record_sketch(case.vectors, case.universe.fingerprint), case.universe, **grid)
    assert rows.iloc[: len(alone), 6:].reset_index(drop=True).equals(alone)


def test_promises_name_unit_and_relation():
    said = study.promises(["gaussian", "laplace"], 1e-6, [0.5, 2.0], "user", "replace")
    assert "(epsilon, 1e-06)-DP at epsilon in {0.5, 2}, unit user, relation replace" in said[0]
    assert "(epsilon, 0)-DP" in said[1]
