"""The ablations of the grid on made-up vectors: noise by bill, runs and scores, r by quantile, what the tables add."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from privlib import synthesis
from privlib.dp import Simulation
from privlib.evaluation import embedding as measures
from privlib.experiments.figures import synthesis_ablations as figures
from privlib.experiments.studies import synthesis_ablations as study
from privlib.experiments.studies import synthesis_ablations_rows as tables

D = 12
SETTING = study.Setting(dims=3, frequency=50, delta=1e-5, seeds=(1, 2, 3))


def vectors(n: int, seed: int, spots: int = 8, lone: int = 0) -> np.ndarray:
    """Unit rows close around a few directions that every seed shares, and `lone` ones anywhere."""
    centres = Simulation(0).generator.standard_normal((spots, D))
    draw = Simulation(seed).generator
    made = centres[draw.integers(0, spots, n)] + 0.1 * draw.standard_normal((n, D))
    made = np.concatenate([made, draw.standard_normal((lone, D))])
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def case():
    return study.Case("made", vectors(900, 1, lone=600), radius=0.4, max_norm=1.0)


@pytest.fixture(scope="module")
def by_epsilon(case):
    return study.sweep("epsilon", [case], SETTING, [8.0, math.inf], ("joint",))


def stds(case, bill, axis, values, setting=SETTING):
    found = [next(study.points(case, setting, 8.0, [bill], **{axis: value})) for value in values]
    return [point.noise_std for point in found]


def test_the_published_distance_follows_the_edge_and_the_diameter_does_not(case):
    half, one = stds(case, "published distance", "multiplier", [0.5, 1.0])
    assert half == pytest.approx(one / 2)
    _, _, multiplier = synthesis.best_rate(8.0, 1e-5, 50, study.RATES)
    assert one == pytest.approx(multiplier * 2.4 * 0.4)
    assert stds(case, "joint", "multiplier", [0.5, 1.0]) == pytest.approx([2 * multiplier] * 2)
    assert stds(case, "integrated", "multiplier", [1.0]) == pytest.approx([2 * multiplier])  # k = 3: no less
    small = study.Case("made", case.target, radius=0.05, max_norm=1.0)
    half, one = stds(small, "integrated", "multiplier", [0.5, 1.0], study.Setting(12, 50, 1e-5, (1,)))
    assert half == pytest.approx(one / 2, rel=1e-3)
    assert one < 2 * multiplier


def test_the_distance_by_k_keeps_the_chance_of_the_papers_k(case):
    assert study.distance_ratio(20) == pytest.approx(2.4)
    target = synthesis.collision_probability(2.4, 2 / math.sqrt(20), 20)
    for k in (3, 10, 30):
        assert synthesis.collision_probability(study.distance_ratio(k), 2 / math.sqrt(k), k) == pytest.approx(target)
    few, many = stds(case, "published distance by k", "dims", [10, 30])
    assert few / many == pytest.approx(study.distance_ratio(10) / study.distance_ratio(30))
    assert few > many


def test_best_v_is_the_lemmas_and_a_budget_that_no_rate_meets_has_no_point(case):
    found = next(study.points(case, SETTING, 8.0, ["best v"], rate=0.5))
    assert found.noise_std == pytest.approx(2 * synthesis.lemma_noise_multiplier(8.0, 1e-5, 0.5, 25)[0])
    assert (found.rate, found.threshold) == (0.5, 25)
    assert not list(study.points(case, SETTING, 8.0, ["joint", "best v"], frequency=10))
    free = list(study.points(case, SETTING, math.inf, ["joint", "best v"]))
    assert [(p.bill, p.rate, p.threshold, p.noise_std) for p in free] == [("no noise", 1.0, 50, 0.0)]


def test_a_run_is_the_librarys_release_with_a_grid_of_its_own(case):
    point = next(study.points(case, SETTING, 8.0, ["joint"]))
    for seed, run in zip(SETTING.seeds, point.runs(case, SETTING), strict=True):
        buckets = synthesis.JLBuckets(3, 0.4, seed, dimension=D)
        mechanism = synthesis.CentroidRelease(buckets, 8.0, 1e-5, point.rate, point.threshold, sensitivity="worst_case")
        released = mechanism.release(case.target, Simulation(seed))
        np.testing.assert_array_equal(run.cells, released.cells)
        np.testing.assert_allclose(run.centroids, released.centroids, atol=1e-9)
        assert run.noise_std == released.noise_std
        assert run.guarantee.delta == 1.0  # nothing is promised


def test_scores_are_those_of_the_runs_and_all_texts_never_lower_precision(case, by_epsilon):
    assert list(dict.fromkeys(by_epsilon["scored"])) == ["all", "frequent", "infrequent"]
    point = next(study.points(case, SETTING, 8.0, ["joint"]))
    texts = case.target[measures.frequent(case.target, 0.4, 50)]
    found = [measures.utility(run.centroids.astype(np.float32), texts, 0.4) for run in point.runs(case, SETTING)]
    row = by_epsilon.set_index(["epsilon", "scored"]).loc[(8.0, "frequent")]
    assert row["recall"] == pytest.approx(np.mean([one.recall for one in found]))
    assert row["l2_low"] == min(one.l2 for one in found)
    assert row["frequent_texts"] == len(texts)
    assert (by_epsilon["precision_gain"] >= 0).all()
    every = by_epsilon.set_index(["epsilon", "scored"]).loc[(8.0, "all")]
    assert row["precision_gain"] == pytest.approx(every["precision"] - row["precision"])


def test_a_mean_beyond_the_panel_beside_an_infinite_limit_is_drawn_without_an_upper_bar(by_epsilon):
    far = by_epsilon.assign(l2=9.0, l2_low=8.0, l2_high=math.inf)
    figure = figures.draw_axis(SimpleNamespace(rows=far))
    bars = [segment for panel in figure.axes[3:4] for line in panel.collections for segment in line.get_segments()]
    assert bars
    assert all(segment[:, 1].max() == pytest.approx(9.0 / far["radius"].iloc[0]) for segment in bars)


def test_a_run_that_releases_nothing_scores_nothing_and_has_its_row(case):
    rows = study.sweep("dims", [case], SETTING, [math.inf], (), [2, 40])
    at = rows[rows["scored"] == "all"].set_index("dims")
    assert at.loc[2, "released"] > 0
    assert at.loc[2, "f1"] > 0
    assert tuple(at.loc[40, ["released", "empty", "f1", "recall"]]) == (0.0, 1.0, 0.0, 0.0)
    assert at.loc[40, "l2"] == math.inf
    assert "infrequent" not in set(rows["scored"])


def test_a_larger_t_releases_no_more_and_leaves_fewer_texts_frequent(case):
    rows = study.sweep("frequency", [case], SETTING, [math.inf], (), [50, 100, 1500])
    rows = rows[rows["scored"] == "all"].set_index("frequency")
    assert rows["released"].is_monotonic_decreasing
    assert rows.loc[50, "released"] > rows.loc[1500, "released"]
    assert rows.loc[50, "frequent_texts"] > 0 == rows.loc[1500, "frequent_texts"]
    median = int(np.median(case.neighbours[:900]))
    parts = case.scored(median)
    mask = measures.frequent(case.target, 0.4, median)
    assert 0 < mask[:900].sum() < 900
    np.testing.assert_array_equal(parts["frequent"], case.target[mask])
    np.testing.assert_array_equal(parts["infrequent"], case.target[~mask])


def test_the_radius_moves_with_the_scale_of_the_second_encoder(case):
    public = vectors(200, 2, lone=200)
    repeated = np.concatenate([public, public[:50]])  # texts that the encoder cannot tell apart say nothing of it
    views = [("one", case.target, repeated), ("threefold", 3 * case.target, 3 * repeated)]
    near = [np.sort(np.linalg.norm(public - row, axis=1))[1] for row in public.astype(float)]
    radius = float(np.quantile(near, 0.25))
    (one, other), rows = study.matched(views, radius)
    assert rows["quantile"].tolist() == pytest.approx([0.25, 0.25], abs=0.01)
    assert one.radius == radius
    assert other.radius == pytest.approx(3 * radius, rel=0.02)
    assert other.max_norm == pytest.approx(3 * one.max_norm)


def test_latent_semantics_stays_in_the_ball_and_sees_words_not_their_order():
    texts = [f"{a} {b}" for a in ("heart", "lung", "skin") for b in ("doctor", "nurse", "study", "trial")]
    embed = study.latent_semantics(texts, 5)
    rows = embed(["heart doctor", "doctor heart", "skin trial", "unheard of"])
    assert rows.shape == (4, 5)
    assert (np.linalg.norm(rows, axis=1) <= 1 + 1e-6).all()
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-7)
    assert np.linalg.norm(rows[0] - rows[2]) > 0.3
    assert not rows[3].any()


def test_noise_by_edge_is_the_papers_table_at_its_own_edge():
    rows = tables.noise_rows([0.5, 1.0, 2.0]).set_index(["bill", "epsilon", "multiplier"]).sort_index()
    assert rows.loc[("published", 4.0, 1.0), "noise_std"] == pytest.approx(2.136)
    assert rows.loc[("published", 8.0, 0.5), "noise_std"] == pytest.approx(0.57)
    assert rows.loc[("published", 16.0, 2.0), "noise_per_edge"] == pytest.approx(0.516)
    ours = synthesis.release_noise_std(8.0, 1e-6, 0.5, 50, 20, 10**6, 0.5 * 2)
    assert rows.loc[("integrated", 8.0, 2.0), "noise_std"] == pytest.approx(ours)
    assert (rows.loc["integrated", "noise_per_edge"] < rows.loc["published", "noise_per_edge"]).all()


def test_pairs_of_a_bucket_by_brute_force(case):
    few = study.Case("few", case.target[:300], 0.4, 1.0)
    setting = study.Setting(3, 20, 1e-5, (5,))
    rows = tables.edge_rows([few], setting, [2.0, 1.0]).set_index("multiplier")
    tags = few.buckets(3, 1.0, 5).assign(few.target)
    gaps = np.linalg.norm(few.target[:, None].astype(float) - few.target[None], axis=2) / 0.4
    same = (tags[:, None] == tags[None]).all(axis=2) & ~np.eye(300, dtype=bool)
    assert rows.loc[1.0, "pair_distance"] == pytest.approx(math.sqrt(np.mean(gaps[same] ** 2)), rel=1e-5)
    assert rows.loc[1.0, "any_pair"] == pytest.approx(math.sqrt(np.mean(gaps[~np.eye(300, dtype=bool)] ** 2)), rel=1e-5)
    counts = np.unique(tags, axis=0, return_counts=True)[1]
    assert rows.loc[1.0, "occupied"] == len(counts)
    assert rows.loc[1.0, "heavy"] == np.sum(counts >= 20)
    assert rows.loc[2.0, "occupied_more"] == rows.loc[2.0, "occupied"] - rows.loc[1.0, "occupied"]
    assert rows.loc[2.0, "pair_distance_more"] > 0


def test_the_peak_of_an_axis_and_what_noise_costs(case, by_epsilon):
    rows = study.sweep("multiplier", [case], SETTING, [8.0], ("joint",), [0.5, 1.0, 2.0])
    best = tables.best_rows([rows]).set_index("scored").loc["all"]
    line = rows[rows["scored"] == "all"].set_index("multiplier")["f1"]
    assert best["best"] == line.idxmax()
    assert best["rise"] == pytest.approx(line.max() - line[0.5])
    assert best["fall"] == pytest.approx(line.max() - line[2.0])
    assert tables.best_rows([rows.assign(f1=0.0)]).empty
    short = tables.short_rows(by_epsilon).set_index("scored")
    at = by_epsilon.set_index(["scored", "epsilon"])["f1"]
    assert short.loc["all", "f1_short"] == pytest.approx(max(0.0, at["all", math.inf] - at["all", 8.0]))
    assert short.loc["all", "epsilon"] == 8.0


def test_recall_falls_from_frequent_to_all_texts_for_outputs_that_protect_nothing(case, by_epsilon):
    rows = tables.reference_rows([case], SETTING, by_epsilon).set_index(["source", "scored"])
    assert rows.loc[("real texts", "all"), "recall_high"] < rows.loc[("real texts", "frequent"), "recall_low"]
    assert rows.loc[("real texts", "infrequent"), "recall"] > 0  # and reach rare texts: they are some of them
    assert rows.loc[("the origin", "all"), "recall"] == 0.0


def test_where_reach_passes_the_unit_norm_the_origin_alone_scores_everything(case, by_epsilon):
    wide = study.Case(case.encoder, case.target, 0.7, 1.0)
    rows = tables.reference_rows([wide], SETTING, by_epsilon).set_index(["source", "scored"])
    assert rows.loc[("the origin", "all"), "f1"] == 1.0


def test_r_by_quantile_moves_edge_frequent_texts_and_scores_together(case):
    public = vectors(300, 2, lone=200)
    repeated = np.concatenate([public, public[:50]])  # equal rows say nothing of how far texts lie
    near = [np.sort(np.linalg.norm(public - row, axis=1))[1] for row in public.astype(float)]
    rows = tables.quantile_rows([case], [repeated], SETTING, 8.0, ("joint",), [0.1, 0.55, 1.0])
    assert set(rows["scored"]) == {"all", "frequent"}
    at = rows[rows["scored"] == "all"].set_index("quantile")
    assert at["radius"].tolist() == pytest.approx(np.quantile(near, [0.1, 0.55, 1.0]).tolist(), rel=1e-4)
    middle = study.Case("made", case.target, at.loc[0.55, "radius"], 1.0)
    assert at.loc[0.55, "frequent_texts"] == np.sum(middle.neighbours >= 50) > at.loc[0.1, "frequent_texts"]
    point = next(study.points(middle, SETTING, 8.0, ["joint"]))
    found = [measures.utility(run.centroids.astype(np.float32), case.target, middle.radius)
             for run in point.runs(middle, SETTING)]  # fmt: skip
    assert at.loc[0.55, "f1"] == pytest.approx(np.mean([one.f1 for one in found]))
    assert at.loc[0.55, "f1_low"] == min(one.f1 for one in found)
    assert at["origin_f1"].tolist() == [0.0, 0.0, 1.0]  # 1.5 r past the norm of every text


def test_recorded_corpora_stand_side_by_side_and_bills_that_promise_nothing_are_left_out():
    shape = {"axis": "multiplier", "encoder": "one", "scored": "all", "rise": 0.1, "fall": 0.0}
    told = [(4.0, "integrated", 2.0, 0.484), (4.0, "published distance", 1.0, 0.9), (math.inf, "no noise", 1.0, 0.75)]
    best = pd.DataFrame([shape | dict(zip(("epsilon", "bill", "best", "f1"), row, strict=True)) for row in told])
    rare = pd.concat([best.iloc[:1], best.iloc[:1].assign(scored="frequent", best=0.5)])
    made = [SimpleNamespace(corpus="web", rows=best), SimpleNamespace(corpus="chat", rows=rare)]
    peaks = tables.peaks_by_corpus(made)
    assert peaks.columns.tolist() == ["ε = 4", "no noise"]
    assert peaks.loc[("web", "one", "multiplier")].tolist() == ["2: 0.48", "1: 0.75"]
    assert peaks.loc[("chat", "one", "multiplier")].tolist() == ["2: 0.48", ""]
    assert peaks.index.get_level_values("corpus").tolist() == ["chat", "web"]
    lines = tables.f1_by_corpus([SimpleNamespace(corpus="web", rows=best.drop(index=1))])
    assert lines.loc[("web", "one", "all")].tolist() == [0.484, 0.75]


def test_in_many_dimensions_joint_and_best_v_pay_the_papers_distance_and_its_delta():
    small = study.Case("made", vectors(4, 1), radius=0.05, max_norm=1.0)
    setting, u = study.Setting(12, 50, 1e-5, (1,)), study.distance_ratio(12)
    lost = synthesis.collision_probability(u, 2 / math.sqrt(12), 12)
    joint, best = study.points(small, setting, 8.0, ["joint", "best v"], rate=0.5)
    assert u * 0.05 < 2 * small.max_norm
    public = (8.0, 1e-5 - lost, 0.5, 25)
    assert joint.noise_std == pytest.approx(u * 0.05 * synthesis.joint_noise_multiplier(*public), rel=1e-9)
    assert best.noise_std == pytest.approx(u * 0.05 * synthesis.lemma_noise_multiplier(*public)[0], rel=1e-9)
