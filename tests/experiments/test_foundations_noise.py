"""Grids of the noise notebook: shares near the exact law, the lowest bit of a float, what floating point gives away."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.experiments.studies import foundations_noise as study


def test_shares_are_near_the_exact_law_and_seeded():
    rows = study.laws([1.0, 4.0], 8, 12, 20_000, Simulation(3))
    assert rows.equals(study.laws([1.0, 4.0], 8, 12, 20_000, Simulation(3)))
    assert (rows["share"] - rows["probability"]).abs().max() < 6.5 * 0.5 / np.sqrt(20_000)
    sums = rows.groupby(["law", "scale"])[["probability", "share"]].sum()
    assert (sums > 0.9).all().all()
    truncated = sums.loc["truncated shifted"].to_numpy()
    assert truncated == pytest.approx(np.ones_like(truncated), abs=1e-12)
    assert set(study.LAW_BANDS) <= set(rows.columns)


def test_the_lowest_bit_of_a_float():
    values = np.array([1.0, 3.0, 0.75, -0.1, 2.0**-60, 2.0**60 + 2.0**8])
    assert study.lowest_bit(values).tolist() == [0, 0, -2, -55, -60, 8]


def test_floating_point_tells_0_from_1_and_the_grid_does_not():
    rows = study.leak([0.0, 1.0], 60_000, Simulation(4))
    share = rows.groupby(["sampler", "answer"])["on_2^-53"].first()
    assert share["float", 1.0] == share["grid", 0.0] == share["grid", 1.0] == 1.0
    assert 0.28 < share["float", 0.0] < 0.34  # 31 % by the report
    assert rows.groupby(["sampler", "answer"])["share"].sum().min() > 0.999
    grid = rows[rows["sampler"] == "grid"].pivot(index="bit", columns="answer", values="share")
    assert (grid[0.0] - grid[1.0]).abs().max() < 0.03
    assert grid.loc[:-41].to_numpy().max() == 0
    assert set(study.LEAK_BANDS) <= set(rows.columns)
