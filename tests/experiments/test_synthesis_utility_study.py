"""The utility study on generated vectors: every method is scored or releases nothing, bills differ in noise only."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from privlib import experiments, synthesis
from privlib.dp import Simulation
from privlib.experiments.figures import synthesis_utility as figures
from privlib.experiments.studies import synthesis_utility as study

D = 12


def vectors(n: int, seed: int, spots: int = 8) -> np.ndarray:
    """Unit rows close around a few directions that every seed shares."""
    centres = Simulation(0).generator.standard_normal((spots, D))
    draw = Simulation(seed).generator
    made = centres[draw.integers(0, spots, n)] + 0.1 * draw.standard_normal((n, D))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def case():
    setting = study.Setting(radius=0.6, frequency=50, delta=1e-5, cells=8, seeds=(1, 2, 3), dims=10)
    return study.Case("made, anchors of its other half", vectors(1500, 1), vectors(600, 2), setting)


@pytest.fixture(scope="module")
def tables(case):
    return study.utility_tables([case], [2.0, 8.0])


def test_every_bill_of_the_grid_pays_for_the_same_distance_and_a_better_one_adds_less_noise(tables):
    settings, _ = tables
    noise = settings.set_index(["epsilon", "method"])
    at = noise.loc[8.0]
    per_kept = at["noise_std"] / at["rate"]
    assert per_kept["joint"] < per_kept["exact count"] < per_kept["best v"] < per_kept["paper"]
    assert "paper" not in noise.loc[2.0].index  # nothing is published there
    multiplier = synthesis.joint_noise_multiplier(8.0, 1e-5, at.loc["joint", "rate"], int(at.loc["joint", "threshold"]))
    assert at.loc["joint", "noise_std"] == pytest.approx(2 * multiplier, rel=1e-9)
    assert at.loc["anchored", "noise_std"] == pytest.approx(1.2 * multiplier, rel=1e-9)
    assert at.loc["integrated", "noise_std"] <= at.loc["joint", "noise_std"]
    assert (settings["texts"] == 1500).all()


def test_scores_are_those_of_the_releases(case, tables):
    _, scores = tables
    row = scores.set_index(["scored", "epsilon", "method"]).loc[("all", 8.0, "anchored")]
    rate, threshold, _ = synthesis.best_rate(8.0, 1e-5, 50, study.RATES)
    mechanism = synthesis.CentroidRelease(case.anchored, 8.0, 1e-5, rate, threshold)
    found = [next(case.scores(mechanism.release(case.target, Simulation(seed)).centroids)) for seed in (1, 2, 3)]
    assert row["f1"] == pytest.approx(np.mean([one["f1"] for one in found]))
    assert row["l2_low"] == min(one["l2"] for one in found)
    assert row["seeds"] == 3


def test_centroid_error_is_the_distance_to_the_exact_mean_of_the_bucket(case, tables):
    _, scores = tables
    at = scores[scores["scored"] == "all"].set_index(["method", "epsilon"])["centroid_error"]
    tags = {"anchored": case.anchored.assign(case.target), "grid": case.grid.assign(case.target)}
    for method, mechanism in (
        ("anchored", study.anchored_release(case, 8.0)),
        ("integrated", dict(study.grid_releases(case, 8.0))["integrated"]),
    ):
        kind, found = ("grid" if method == "integrated" else method), []
        for seed in case.setting.seeds:
            released = mechanism.release(case.target, Simulation(seed))
            for cell, centroid in zip(released.cells, released.centroids, strict=True):
                members = case.target[(tags[kind] == cell).all(axis=1)].astype(np.float64)
                found.append((seed, np.linalg.norm(centroid - members.mean(axis=0))))
        by_run = pd.DataFrame(found).groupby(0)[1].mean()
        assert at[method, 8.0] == pytest.approx(by_run.mean(), rel=1e-9)
    assert at["anchored", 8.0] < at["anchored", 2.0]
    assert at["no privacy", 8.0] < 1e-6 < at["public anchors", 8.0] == at["public anchors", 2.0]


def test_every_promise_of_the_table_is_stated_once(case):
    stated = [str(one) for one in study.guarantees(case, [2.0, 8.0])]
    assert len(stated) == len(set(stated))
    made = [m for epsilon in (2.0, 8.0) for _, m in study.grid_releases(case, epsilon)]
    made += [study.anchored_release(case, 8.0), *study.curators(case, 2.0).values()]
    assert {str(m.guarantee) for m in made} <= set(stated)
    assert {one.split(",")[0] for one in stated} == {"(2", "(8"}
    fine = dataclasses.replace(case, setting=dataclasses.replace(case.setting, dims=20, radius=0.3))
    assert any("before the public projection" in str(one) for one in study.guarantees(fine, [8.0]))


def recorded(values: dict[str, list[float]]):
    """A record of one case at epsilon 1, 4, 8; NaN where a method has no row."""
    rows = [
        {"case": "made, anchors of another", "scored": "all", "epsilon": epsilon, "method": method, "f1": value}
        for method, column in values.items()
        for epsilon, value in zip((1.0, 4.0, 8.0), column, strict=True)
        if not math.isnan(value)
    ]
    return experiments.record(id="made", title="Made", rows=pd.DataFrame(rows), parameters={}, seed=1)


def test_the_table_of_cases_says_from_where_on_a_release_is_above_public_text(monkeypatch):
    monkeypatch.delenv("PRIVLIB_OUT", raising=False)
    lines = {"public anchors": [0.3] * 3, "paper": [math.nan, 0.1, 0.2], "released anchors": [0.25] * 3}
    late = recorded(lines | {"anchored, denoised": [0.4, 0.2, 0.5]})
    never = recorded({"public anchors": [0.3] * 3, "anchored, denoised": [0.1, 0.2, 0.3]})
    table = figures.beside_public_text([late, never])
    assert table["above_from"].tolist()[0] == 8.0  # above at 1, but not at 4
    assert math.isnan(table["above_from"].iloc[1])
    first = table.iloc[0]
    assert (first["epsilon"], first["anchored, denoised"], first["public anchors"]) == (1.0, 0.4, 0.3)
    assert (first["largest_epsilon"], first["ours_largest"], first["paper_largest"]) == (8.0, 0.5, 0.2)
    assert math.isnan(table["paper_largest"].iloc[1])
    assert not table["own_half"].any()


def test_a_vote_is_timed_on_the_texts_that_the_release_reads(case, monkeypatch):
    clock, read = iter((1.0, 3.0, 10.0, 15.0)), []
    monkeypatch.setattr(study.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(study, "nearest_candidates", lambda rows, candidates, norm: read.append((rows, candidates)))
    release = synthesis.CentroidRelease.release
    monkeypatch.setattr(
        synthesis.CentroidRelease, "release", lambda self, rows, noise: read.append(rows) or release(self, rows, noise)
    )
    assert study.seconds_beside_a_vote(case, 8.0) == (2.0, 5.0)
    assert read[0] is read[1][0]
    assert (read[0] == case.target).all()
    assert (read[1][1] == case.auxiliary).all()


def test_public_and_unprotected_lines_do_not_move_and_denoising_helps_where_noise_is_large(tables):
    _, scores = tables
    at = scores[scores["scored"] == "all"].set_index(["method", "epsilon"])
    for fixed in study.FIXED:
        assert at.loc[(fixed, 2.0), "f1"] == at.loc[(fixed, 8.0), "f1"]
        assert at.loc[(fixed, 2.0), "seeds"] == 1
    assert at.loc[("anchored, denoised", 2.0), "l2"] < at.loc[("anchored", 2.0), "l2"]
    assert at.loc[("anchored", 8.0), "l2"] < at.loc[("anchored", 2.0), "l2"]


def test_a_method_that_releases_nothing_has_settings_and_no_score(case):
    few = study.Case("few", case.target[:60], case.auxiliary, case.setting)
    settings, scores = study.utility_tables([few], [8.0])
    assert settings.set_index("method").loc["anchored", "released"] == 0
    assert set(scores["method"]) == {"public anchors"}


@pytest.mark.parametrize("max_norm", [1.0, 2.6])
def test_chosen_pairs_share_a_bucket_at_any_distance_and_their_delta_is_not_the_stated_one(case, max_norm):
    setting = dataclasses.replace(case.setting, max_norm=max_norm)
    rows = study.null_space_rows((1.0, 3.0), 50, setting, 384, 4)
    assert (rows["chosen_share"] == 1.0).all()
    assert rows["fixed_chance"].max() < 1e-4
    assert rows["delta_of_pair"].iloc[-1] > 1e4 * 1e-6
    assert (rows["worst_case_delta"] <= 1e-6).all()
    with pytest.raises(ValueError, match="no null space"):
        study.null_space_rows((1.0,), 50, setting, 20, 4)
    with pytest.raises(ValueError, match="at most 2 R"):
        study.null_space_rows((1.0, 10.0), 50, setting, 384, 4)


def test_the_standing_is_in_units_of_the_papers_noise_at_eight():
    rows = study.standing_rows([2.0], [0.7], 10**6).set_index(["accounting", "epsilon"])
    assert rows.loc[("paper", 8.0), "against"] == 1.0
    assert rows.loc[("paper", 8.0), "noise_per_kept"] == pytest.approx(0.95 * 2.4 / 0.5)
    noise = synthesis.release_noise_std(2.0, 1e-6, 0.7, 70, 20, 10**6) / 0.7
    assert rows.loc[("integrated", 2.0), "noise_per_kept"] == pytest.approx(noise)
    assert rows.loc[("integrated", 2.0), "against"] < 1 < rows.loc[("joint", 2.0), "against"]
