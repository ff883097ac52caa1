"""The study behind the audit figures: true epsilons beside, few false alarms, broken mechanisms refuted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib import experiments
from privlib.dp import Simulation
from privlib.experiments.figures import foundations_audit as figures
from privlib.experiments.studies import foundations_audit as study


@pytest.fixture(scope="module")
def events():
    return study.event_search(1.0, [500, 2000], 20, 0.05, 3)


@pytest.fixture(scope="module")
def single():
    return study.one_run(1.0, [100, 800], 20, 0.05, 3)


def test_broken_mechanisms_are_refuted_and_the_correct_one_is_not(events):
    largest = events[events.samples == 2000].set_index("mechanism")
    assert list(largest.index) == list(study.MECHANISMS)
    assert (largest.drop("correct")["mean"] > 1.0).all()
    assert 0.5 < largest.loc["correct", "mean"] < 1.0  # 0.3 when lucky rare events are chosen
    assert largest.loc["half the noise", "true_epsilon"] == 2.0
    assert math.isinf(largest.loc["one shared draw", "true_epsilon"])
    assert (events["repeats"] == 20).all()


def test_bounds_stay_below_the_truth(events, single):
    """5 % may exceed: of 80 audits a setting group 20 or more exceed with probability below 1e-8."""
    for rows in (events, single):
        finite = rows[np.isfinite(rows.true_epsilon)]
        assert (finite["exceeded"] * finite["repeats"]).sum() < 20
        assert (rows.loc[np.isinf(rows.true_epsilon), "exceeded"] == 0).all()
        assert (rows["low"] <= rows["high"]).all()


def test_what_is_called_broken_is_broken_in_that_way():
    answers = np.tile(study.NEIGHBOURS[0], (2000, 1))
    spread = {
        kind: study.outputs(kind, answers, 1.0, Simulation(1)).std(axis=0) / math.sqrt(2) for kind in study.MECHANISMS
    }
    assert spread["correct"] == pytest.approx([1, 1, 1], rel=0.15)
    assert spread["half the noise"] == pytest.approx([0.5] * 3, rel=0.15)
    assert spread["one coordinate bare"][0] == 0
    shared = study.outputs("one shared draw", answers, 1.0, Simulation(1)) - answers
    assert np.ptp(shared, axis=1).max() < 1e-12


def test_neighbours_attain_the_stated_sensitivity():
    assert np.abs(np.diff(study.NEIGHBOURS, axis=0)).sum() == study.mechanism(1.0).l1_sensitivity


def test_only_the_audit_without_a_split_raises_false_alarms():
    rows = study.false_alarms(100, 0.05, 3)
    assert rows["share"].iloc[0] > 0.15
    assert (rows["share"].iloc[1:] < 0.15).all()
    assert ((rows["low"] <= rows["share"]) & (rows["share"] <= rows["high"])).all()


def test_the_study_is_deterministic(single):
    assert single.equals(study.one_run(1.0, [100, 800], 20, 0.05, 3))


def test_figures_are_drawn_from_records(events, single):
    import matplotlib

    matplotlib.use("agg")
    experiments.use_style()
    for rows, size in ((events, "samples"), (single, "canaries")):
        record = experiments.record(
            id="audit-test", title="t", rows=rows, parameters={"epsilon": 1.0}, seed=3, bands=study.BANDS
        )
        figure = figures.draw_bounds(record, size, size)
        assert figure.axes[0].get_xlabel() == size
        matplotlib.pyplot.close(figure)
    record = experiments.record(
        id="alarms-test", title="t", rows=study.false_alarms(20, 0.05, 3), parameters={}, seed=3
    )
    assert len(figures.draw_false_alarms(record).axes[0].get_yticklabels()) == 3
    matplotlib.pyplot.close("all")
