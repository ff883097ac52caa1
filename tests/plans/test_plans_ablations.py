"""One setting at a time: the right rows, the right truth about the sketch, and colours that stay with their corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privlib import plans
from privlib.experiments.studies import plans_ablations as study
from privlib.experiments.studies import plans_corpora

MAIN = {"universe_size": 20, "sparsity": 3, "plan_size": 5, "kept_share": 0.6, "contribution_bound": 1.0}
GRID = {
    "universe_size": [10, 20, 30, 500, 600],
    "sparsity": [1, 3],
    "plan_size": [3, 5, 10],
    "kept_share": [0.2, 0.6],
    "contribution_bound": [1.0, 4.0],
}
SETTING = {"main": MAIN, "epsilon": 1.0, "delta": 1e-6, "runs": 3, "seed": 5}


@pytest.fixture(scope="module")
def case():
    return plans_corpora.prepare("generated", "packaged", universe_size=40)


@pytest.fixture(scope="module")
def rows(case):
    return study.ablate([case], grid=GRID, **SETTING)


def test_each_setting_moves_alone(rows):
    for knob, part in rows.groupby("knob"):
        column = {"kept_share": "n_units"}.get(knob, knob)
        for other in ("universe_size", "sparsity", "plan_size", "n_units", "contribution_bound"):
            assert (part[other].nunique() > 1) == (other == column), (knob, other)
    assert not rows.isna().any().any()
    assert not rows.duplicated(["corpus", "knob", *rows.columns[2:12]]).any()
    assert set(rows[rows.knob == "contribution_bound"].unit) == {"user"}
    assert set(study.BANDS) <= set(rows.columns)


def test_a_dictionary_with_fewer_atoms_than_asked_counts_once_with_its_size(rows, case):
    sizes = rows[rows.knob == "universe_size"].universe_size.unique().tolist()
    assert sizes == [10, 20, 30, len(case.universe)]


def test_the_truth_about_the_sketch_is_that_of_the_sketch(rows, case):
    point = study.Point(10, 3, 5, 0.6)
    small = study.resized(case, point)
    masses = [
        np.sort(plans.record_sketch(small.select(rows.n_units.iloc[0], run, "record").vectors).masses)[::-1]
        for run in (1, 2, 3)
    ]
    row = rows[(rows.knob == "universe_size") & (rows.universe_size == 10)].iloc[0]
    assert row.border_margin == pytest.approx(np.mean([m[4] - m[5] for m in masses]))
    assert row.reference_mass == pytest.approx(np.mean([m[:5].sum() for m in masses]))
    assert row.sketch_mass == pytest.approx(np.mean([m.sum() for m in masses]))


def test_fewer_units_mean_less_mass_and_the_same_sensitivity(rows):
    part = rows[(rows.knob == "kept_share") & (rows.mechanism == "gaussian")].sort_values("n_units")
    assert part.sketch_mass.is_monotonic_increasing
    assert part.l2_sensitivity.nunique() == part.noise_scale.nunique() == 1
    bounds = rows[(rows.knob == "contribution_bound") & (rows.mechanism == "gaussian")]
    assert bounds.l2_sensitivity.tolist() == [1.0, 4.0]


def test_largest_drop_looks_at_all_pairs_of_sizes():
    table = pd.DataFrame(
        {
            "corpus": ["a"] * 3 + ["b"] * 3,
            "knob": "universe_size",
            "mechanism": "gaussian",
            "universe_size": [10, 20, 40] * 2,
            "border_margin": [5.0, 4.0, 1.0, 1.0, 2.0, 3.0],
        }
    )
    margins = study.margins(table).set_index("corpus")
    assert margins.largest_drop.tolist() == [0.8, -0.5]
    assert margins.loc["a", "first_margin"] == 5.0


def test_results_do_not_depend_on_the_other_settings_tried(rows, case):
    alone = study.ablate([case], grid={"plan_size": [10]}, **SETTING)
    same = rows[(rows.knob == "plan_size") & (rows.plan_size == 10)].reset_index(drop=True)
    assert alone.equals(same)


def test_at_user_level_every_setting_is_of_users_cut_to_the_bound(rows, case):
    grid = {knob: values for knob, values in GRID.items() if knob != "contribution_bound"}
    users = study.ablate([case], grid=grid, unit="user", **SETTING)
    assert set(users.unit) == {"user"}
    assert users.knob.unique().tolist() == list(study.KNOBS[:-1])
    assert set(users.n_units) == {round(share * case.units("user")) for share in (0.2, 0.6)}
    cut = users[users.knob == "plan_size"].iloc[0]
    runs = [case.select(cut.n_units, run, "user") for run in (1, 2, 3)]
    masses = [mass_of_users(study.resized(case, study.Point(20, 3, 3, 0.6)), run.corpus) for run in runs]
    assert cut.sketch_mass == pytest.approx(np.mean([np.minimum(mass, 1.0).sum() for mass in masses]), rel=1e-4)
    assert cut.sketch_mass < np.mean([mass.sum() for mass in masses])


def mass_of_users(case, corpus):
    mass = dict.fromkeys(corpus.unit_ids, 0.0)
    vectors = plans.assign(corpus, case.universe, case.sparsity)
    for user, row in zip(corpus.unit_ids, vectors.sum(axis=1), strict=True):
        mass[user] += row
    return np.array(list(mass.values()))


def test_what_is_of_user_level_is_left_out_without_user_ids(case):
    unknown = replace(case, target=replace(case.target, unit_ids=None))
    rows = study.ablate([unknown], grid={"plan_size": [3], "contribution_bound": [1.0]}, **SETTING)
    assert set(rows.knob) == {"plan_size"}
    with pytest.raises(ValueError, match="cases must hold a corpus with user ids"):
        study.ablate([unknown], grid={"plan_size": [3]}, unit="user", **SETTING)


def test_unknown_settings_are_refused(case):
    with pytest.raises(ValueError, match="unit must be one of"):
        study.ablate([case], grid={"plan_size": [10]}, unit="text", **SETTING)
    with pytest.raises(ValueError, match="grid must name settings"):
        study.ablate([case], grid={"colour": [1]}, **SETTING)


def test_colours_stay_with_their_corpus(rows):
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_ablations as figures

    other = rows[rows.knob != "contribution_bound"].assign(corpus="first")
    both = pd.concat([other, rows], ignore_index=True)
    record = experiments.record(id="plans-test", title="t", rows=both, parameters={}, seed=5, bands=study.BANDS)
    drawn = figures.draw_ablations(record)
    colours = {line.get_label(): line.get_color() for line in drawn.axes[0].lines}
    last = drawn.axes[-1].lines
    assert [line.get_label() for line in last] == ["generated"]
    assert last[0].get_color() == colours["generated"] != colours["first"]
    assert len(figures.draw_shapes(record).axes) == 3
    user = figures.draw_ablations(record, [other_record(rows)])
    assert {line.get_label() for line in user.axes[0].lines} == {"first", "generated", "real (recorded, interactive)"}
    matplotlib.pyplot.close("all")


def other_record(rows):
    from privlib import experiments

    return experiments.record(id="plans-test", title="t", rows=rows.assign(corpus="real"), parameters={}, seed=5)
