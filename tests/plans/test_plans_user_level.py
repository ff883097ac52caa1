"""User-level utility: grouped by setting, counts as statistics, clipping that removes what it should."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans_corpora
from privlib.experiments.studies import plans_user_level as study

GRID = {
    "bounds": [1.0, 2.0],
    "ablation_bounds": [5.0],
    "epsilons": [0.25, 2.0, 8.0],
    "plan_size": 5,
    "delta": 1e-6,
    "runs": 4,
    "kept_share": 0.7,
    "seed": 3,
}


@pytest.fixture(scope="module")
def case():
    return plans_corpora.prepare("generated", "packaged", universe_size=30)


@pytest.fixture(scope="module")
def rows(case):
    return study.utility([case], **GRID)


def test_rows_are_one_a_setting_and_reproducible(case, rows):
    key = ["corpus", "unit", "n_units", "universe_size", "sparsity", "plan_size", "contribution_bound", "mechanism"]
    assert len(rows) == 3 * 3 * 3
    assert not rows.duplicated([*key, "epsilon", "delta"]).any()
    assert not rows.isna().any().any()
    assert set(rows[rows.mechanism == "laplace"].delta) == {0.0}
    assert set(rows[rows.contribution_bound == 5.0].role) == {"ablation"}
    assert rows.equals(study.utility([case], **GRID))
    assert set(study.BANDS) <= set(rows.columns)


def test_effective_counts_vary_within_a_group_and_are_no_keys(case, rows):
    one = rows.iloc[0]
    runs = [case.select(one.n_units, run, "user").corpus for run in range(1, 5)]
    counts = [len(run) for run in runs]
    assert (one.effective_records_min, one.effective_records_max) == (min(counts), max(counts))
    assert one.effective_records_mean == np.mean(counts)
    assert one.effective_records_sd > 0
    assert one.effective_users_mean == np.mean([len(set(run.unit_ids)) for run in runs])
    assert "effective_records" not in rows.columns


def test_a_larger_bound_clips_less_and_costs_noise_in_proportion(case, rows):
    table = study.clipping(rows)
    assert table.noise_ratio.tolist() == pytest.approx([2.0, 2.5])
    assert (table.kept_gain > 0).all()
    share = rows[(rows.mechanism == "laplace") & (rows.epsilon == 2.0)].set_index("contribution_bound").clipped_share
    runs = [case.select(rows.n_units.iloc[0], run, "user") for run in range(1, 5)]
    by_hand = np.mean([1 - _clipped(run, 2.0) / run.vectors.sum() for run in runs])
    assert share[2.0] == pytest.approx(by_hand, rel=1e-4)


def _clipped(run, bound):
    mass = dict.fromkeys(run.corpus.unit_ids, 0.0)
    for user, row in zip(run.corpus.unit_ids, run.vectors.sum(axis=1), strict=True):
        mass[user] += row
    return sum(min(total, bound) for total in mass.values())


def test_noise_scale_is_that_of_the_user_level_mechanism(case, rows):
    row = rows[(rows.mechanism == "laplace") & (rows.contribution_bound == 5.0) & (rows.epsilon == 2.0)].iloc[0]
    assert row.noise_scale == pytest.approx(2.5)


def test_without_clipping_both_references_agree(case):
    wide = study.utility([case], **{**GRID, "bounds": [1000.0], "ablation_bounds": []})
    assert wide.clipped_share.tolist() == [0.0] * len(wide)
    assert np.array_equal(wide.kept_unclipped, wide.mass_retained)


def test_strict_runs_are_of_equal_users_and_pay_for_replacement(case, rows):
    strict = study.utility([case], **GRID, strict_sample_size=True)
    assert (strict.effective_users_sd == 0).all()
    assert (strict.effective_users_mean == strict.n_units).all()
    assert (strict.noise_scale > rows.noise_scale).all()


def test_the_unclipped_reference_is_no_user_sketch(case):
    whole = study.unclipped(case.select(100, 1, "user"), case)
    with pytest.raises(ValueError, match="unit"):
        plans.LaplacePlan(
            case.universe, epsilon=1.0, plan_size=3, unit="user", relation="add_drop", public_denominator=1.0
        ).release(whole, Simulation(1))


def test_figures_are_drawn_from_the_record(rows):
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_user_level as figures

    record = experiments.record(id="plans-test", title="t", rows=rows, parameters={}, seed=3, bands=study.BANDS)
    assert [axis.get_title().strip() for axis in figures.draw_user_level(record).axes] == ["MassRetained", "Overlap@L"]
    real = experiments.record(
        id="plans-test", title="t", rows=rows.assign(corpus="real"), parameters={}, seed=3, bands=study.BANDS
    )
    for draw in (figures.draw_user_level, figures.draw_clipping):
        drawn = draw(record, [real])
        titles = [note.get_text() for axis in drawn.axes for note in axis.texts]
        assert titles == ["generated", "real (recorded, interactive)"]
    clipped, kept = figures.draw_clipping(record).axes
    assert len(kept.lines) == 3
    heights = clipped.lines[0].get_ydata()
    assert list(heights) == sorted(heights, reverse=True)
    matplotlib.pyplot.close("all")
