"""Grid of the calibration notebook: the analytic rows keep their promise, the textbook breaks it above epsilon 8."""

from __future__ import annotations

import pytest

from privlib.experiments.studies import foundations_calibration as study


def test_only_the_textbook_breaks_its_promise():
    rows = study.calibrations([0.5, 1.0, 5.0, 10.0, 20.0], [1e-5])
    excess = rows.set_index(["calibration", "epsilon"])["excess"]
    assert (excess[["analytic", "integers"]] <= 1).all()
    assert (excess["analytic"] > 1 - 1e-6).all()
    assert (excess["classical"][:5.0] < 0.2).all()
    assert excess["classical", 10.0] == pytest.approx(2.3, rel=0.03)  # smartnoise-sdk#462
    assert excess["classical", 20.0] == pytest.approx(150, rel=0.03)
    assert set(study.BANDS) <= set(rows.columns)


def test_the_crossing_lies_between_promise_kept_and_broken():
    crossing = study.where_the_textbook_fails([1e-5, 1e-9]).set_index("delta")["epsilon"]
    for delta, epsilon in crossing.items():
        around = study.calibrations([epsilon * 0.999, epsilon * 1.001], [delta])
        below, above = around[around["calibration"] == "classical"]["excess"]
        assert below < 1 < above
    assert crossing.to_dict() == pytest.approx({1e-5: 8.4198, 1e-9: 9.6237}, rel=1e-4)


def test_the_grid_reaches_from_a_tenth_to_twenty_through_one():
    grid = study.epsilon_grid(30)
    assert len(grid) == 30
    assert grid == sorted(set(grid))
    assert (grid[0], grid[-1]) == (0.1, 20.0)
    assert 1.0 in grid
