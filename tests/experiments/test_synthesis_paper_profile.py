"""The `paper` profile of the centroid notebooks: the paper's settings, and every mechanism of it can be made."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from privlib import corpora, synthesis
from privlib.dp import Secure, Simulation, gaussian_noise_std
from privlib.experiments.profiles import plan
from privlib.experiments.studies import synthesis as base
from privlib.experiments.studies import synthesis_ablations as ablations
from privlib.experiments.studies import synthesis_paper as paper
from privlib.experiments.studies import synthesis_ssp as ssp
from privlib.experiments.studies import synthesis_ssp_rows as ssp_tables
from privlib.experiments.studies import synthesis_text as texts
from privlib.experiments.studies import synthesis_utility as utility
from privlib.experiments.workspace import DataSource, Workspace

D = 768  # of gtr-t5-base
# Appendix A.1: epsilon, p_s, tau, v, sigma at r = .5
PUBLISHED = [(4.0, 0.3, 30, 4.0, 2.136), (8.0, 0.5, 50, 4.0, 1.14), (16.0, 0.6, 60, 3.0, 0.516)]
CENTROIDS = ("synthesis_centroids", "synthesis_utility", "synthesis_ssp", "synthesis_text")


def settings(name: str) -> dict:
    workspace = Workspace.default()
    (job,) = plan(workspace, "paper", DataSource.parse("hub", workspace), [name])
    return job.parameters


def rows(count: int, spread: float = 1.0, width: int = D) -> np.ndarray:
    """Made-up rows of natural norms; nothing of them enters a mechanism but as public anchors."""
    draw = Simulation(3).generator
    return (draw.standard_normal((4, width))[np.arange(count) % 4] + spread * draw.standard_normal((count, width))) / 20


def of(found: dict, kind: type = base.Setting, **more):
    """The setting that a notebook makes of its parameters, with few cells, so that few rows are enough."""
    public = {"radius": found["encoder_radius"], "max_norm": found["max_norm"], "seeds": (1,), "cells": 4}
    return kind(**public, frequency=found["frequency"], delta=found["delta"], **more)


@pytest.mark.parametrize("name", CENTROIDS)
def test_the_encoder_is_gtr_as_the_paper_takes_it(name):
    found = settings(name)
    assert (found["encoder"], found["pooled"]) == ("sentence-transformers/gtr-t5-base", True)
    assert (found["encoder_radius"], found["max_norm"]) == (0.5, 2.6)
    assert (found["frequency"], found["delta"]) == (100, 1e-6)
    assert 20 in np.atleast_1d(found["dims"])


@pytest.mark.parametrize("name", [*CENTROIDS, "synthesis_ablations"])
def test_every_corpus_is_one_of_the_hubs_and_no_run_is_over_the_bills_cap(name):
    found = settings(name)
    named = [found["corpus"], *(found.get(f"{kind}_corpus", "") for kind in ("auxiliary", "public", "probe"))]
    named += [*found.get("auxiliaries", ()), *(part for pair in found.get("more", ()) for part in pair.split("/"))]
    assert {one for one in named if one} <= set(corpora.names("hub"))
    assert found["records"] + found.get("planted", 0) <= synthesis.CentroidRelease.max_records


@pytest.mark.parametrize(("epsilon", "rate", "threshold", "v", "noise_std"), PUBLISHED)
def test_the_grid_runs_at_the_published_rate_split_and_noise(epsilon, rate, threshold, v, noise_std):
    found = settings("synthesis_utility")
    assert found["epsilons"] == settings("synthesis_ssp")["epsilons"] == [row[0] for row in PUBLISHED]
    setting = of(found, utility.Setting, dims=found["dims"])
    case = utility.Case("made", rows(4), rows(40), setting)
    made = dict(utility.grid_releases(case, epsilon))
    assert list(made) == ["paper", "best v", "exact count", "joint", "integrated"]
    assert (made["paper"].rate, made["paper"].threshold) == (rate, threshold)
    assert made["paper"].noise_std(Simulation(0)) == pytest.approx(noise_std, rel=1e-12)
    assert paper.distance_paid(case.grid) == pytest.approx((2.4 * 0.5, 8.9e-11), rel=5e-3)
    bill = synthesis.calibrate(epsilon, 1e-6, rate, threshold, v, 2.4, 20)
    assert made["paper"].std == pytest.approx(bill.noise_std(0.5))
    lost = synthesis.collision_probability(2.4, 2 / math.sqrt(20), 20)
    joint = synthesis.joint_noise_multiplier(epsilon, 1e-6 - lost, made["joint"].rate, made["joint"].threshold)
    assert made["joint"].std == pytest.approx(joint * 1.2, rel=1e-9)
    assert utility._public("grid", made["joint"])["sensitivity"] == "u r, delta_sensitivity"
    kept = {name: mechanism.noise_std(Simulation(0)) / mechanism.rate for name, mechanism in made.items()}
    assert kept["integrated"] < kept["joint"] < kept["exact count"] < kept["best v"] < kept["paper"]
    for name, mechanism in made.items():  # what is promised rests on the integral, and needs no more than this
        needed = synthesis.CentroidRelease(case.grid, epsilon, 1e-6, mechanism.rate, mechanism.threshold)
        assert mechanism.noise_std(Simulation(0)) >= needed.noise_std(Simulation(0)), name
        assert "data fixed before the public projection" in mechanism.guarantee.assumptions


def test_what_the_regime_runs_holds_the_published_grid():
    found = settings("synthesis_centroids")
    assert found["cells"] == 3000
    table = base.bucket_rows(rows(40), rows(60), of(found), found["support_epsilon"], found["dims"])
    at = table.set_index(["buckets", "dims"])
    assert at.loc[("grid, as published", 20), ["rate", "threshold"]].tolist() == [0.3, 30]
    assert at.loc[("grid, as published", 20), "noise_std"] == pytest.approx(2.136)
    assert at.loc[("grid, as published", 20), "sensitivity"] == "u r, delta_sensitivity"
    assert at.loc[("anchored", 0), "noise_std"] < at.loc[("grid", 10), "noise_std"]


def test_every_mechanism_of_support_protection_can_be_made():
    found = settings("synthesis_ssp")
    assert (found["cells"], found["population"], found["dims"]) == (3000, 3000, 20)
    setting = of(found, ssp.Setting, local_runs=found["local_runs"], dims=found["dims"])
    names = type("Texts", (), {"texts": tuple(map(str, range(40)))})()
    case = ssp.Case(None, names, None, rows(4), rows(40), np.zeros(4, bool))
    sizes = ssp.Evolving(found["population"], found["variations"], found["iterations"])
    for epsilon, rate, threshold, _, noise_std in PUBLISHED:
        evolving = ssp.evolving(case, sizes, epsilon, found["delta"], "near texts", 1)
        methods = ssp.Methods(case, setting, epsilon, evolving)
        assert (methods.grid.rate, methods.grid.threshold) == (rate, threshold)
        assert methods.grid.noise_std(Simulation(0)) == pytest.approx(noise_std)
        assert methods.local.max_norm == 2.6
        for bill in methods.guarantees:
            assert bill.epsilon <= epsilon * (1 + 1e-12)
            assert bill.delta <= 1e-6


@pytest.mark.parametrize(("epsilon", "rate", "threshold", "v", "noise_std"), PUBLISHED)
def test_texts_are_made_of_the_grid_at_the_published_rate_split_and_noise(epsilon, rate, threshold, v, noise_std):
    found = settings("synthesis_text")
    assert {found["epsilon"], *found["compared"]} <= {row[0] for row in PUBLISHED}
    assert (found["inverter"], found["inverted"], found["paraphrases"]) == ("vec2text", 3000, 10)
    setting = of(found, texts.Setting, dims=found["dims"])
    few = np.zeros(4, dtype=int)
    made = texts.Releases(texts.Case(None, None, None, rows(4), rows(4), rows(40), few, few), setting, epsilon)
    grid = made.mechanism.buckets
    assert (grid.dims, grid.radius, grid.max_norm, grid.dimension) == (20, 0.5, 2.6, D)
    assert made.buckets is grid
    assert (made.mechanism.rate, made.mechanism.threshold) == (rate, threshold)
    assert made.mechanism.noise_std(Simulation(0)) == pytest.approx(noise_std, rel=1e-12)
    bill = synthesis.calibrate(epsilon, 1e-6, rate, threshold, v, 2.4, 20)
    assert made.mechanism.std == pytest.approx(2.4 * 0.5 * bill.published_multiplier, rel=1e-12)
    anchored = texts.Releases(made.case, dataclasses.replace(setting, dims=0), epsilon)
    assert isinstance(anchored.buckets, synthesis.AnchoredBuckets)


def ablation() -> tuple[dict, ablations.Case, ablations.Setting]:
    found = settings("synthesis_ablations")
    case = ablations.Case("made", rows(4), found["first_radius"], 2.6)
    return found, case, ablations.Setting(found["dims"], found["frequency"], found["delta"], (1,))


def test_every_point_of_the_ablations_can_be_made():
    found, case, setting = ablation()
    assert (found["first_encoder"], found["pooled"]) == ("sentence-transformers/gtr-t5-base", True)
    assert (setting.dims, setting.frequency, setting.delta, case.radius) == (20, 100, 1e-6, 0.5)
    assert found["published"]
    axes = [("multiplier", found["axis_epsilons"], found["multipliers"]),
            ("dims", found["axis_epsilons"], found["dims_axis"]),
            ("frequency", [found["table_epsilon"]], found["frequencies"]),
            ("rate", [found["table_epsilon"]], found["rates"])]  # fmt: skip
    for axis, epsilons, values in axes:
        bills = ablations.PUBLISHED_BILLS[axis]
        for epsilon in epsilons:
            for value in values:
                made = [point.bill for point in ablations.points(case, setting, epsilon, bills, **{axis: value})]
                assert made == list(bills), (axis, epsilon, value)
    for epsilon in [*found["epsilons"], math.inf]:
        assert len(list(ablations.points(case, setting, epsilon, ablations.PUBLISHED_BILLS["epsilon"]))) == 1


@pytest.mark.parametrize(("epsilon", "rate", "threshold", "v", "noise_std"), PUBLISHED)
def test_the_ablations_pay_what_the_paper_pays(epsilon, rate, threshold, v, noise_std):
    found, case, setting = ablation()
    bills = ablations.PUBLISHED_BILLS
    assert epsilon in found["epsilons"]
    (made,) = ablations.points(case, setting, epsilon, bills["epsilon"])
    assert (made.rate, made.threshold) == (rate, threshold)
    assert made.noise_std == pytest.approx(noise_std, rel=1e-12)
    for scale in found["multipliers"]:  # Table 12
        _, made = ablations.points(case, setting, epsilon, bills["multiplier"], multiplier=scale)
        assert made.noise_std == pytest.approx(scale * noise_std, rel=1e-12)
    for dims in found["dims_axis"]:
        _, made = ablations.points(case, setting, epsilon, bills["dims"], dims=dims)
        u = paper.distance_ratio(dims)
        bill = synthesis.calibrate(epsilon, 1e-6, rate, threshold, v, u, dims)
        assert (made.rate, made.threshold) == (rate, threshold)
        assert made.noise_std == pytest.approx(u * 0.5 * bill.published_multiplier, rel=1e-12), dims
    for frequency in found["frequencies"]:
        (made,) = ablations.points(case, setting, epsilon, bills["frequency"], frequency=frequency)
        bill = synthesis.calibrate(epsilon, 1e-6, rate, made.threshold, v, 2.4, 20)
        assert (made.rate, made.threshold) == (rate, synthesis.threshold_count(rate, frequency))
        assert made.noise_std == pytest.approx(1.2 * bill.published_multiplier, rel=1e-12), frequency


def test_the_rates_of_the_ablations_are_billed_for_the_papers_distance():
    found, case, setting = ablation()
    lost = synthesis.collision_probability(2.4, 2 / math.sqrt(20), 20)
    for rate in found["rates"]:
        public = (8.0, 1e-6 - lost, rate, synthesis.threshold_count(rate, 100))
        joint, best = ablations.points(case, setting, 8.0, ablations.PUBLISHED_BILLS["rate"], rate=rate)
        assert joint.noise_std == pytest.approx(1.2 * synthesis.joint_noise_multiplier(*public), rel=1e-9)
        assert best.noise_std == pytest.approx(1.2 * synthesis.lemma_noise_multiplier(*public)[0], rel=1e-9)
    with pytest.raises(ValueError, match="epsilon must be one that the paper runs"):
        list(ablations.points(case, setting, 2.0, ["as published"]))


def test_a_setting_that_the_papers_bill_does_not_allow_names_what_ate_the_budget():
    grid = of(settings("synthesis_utility")).grid(20, D)
    with pytest.raises(synthesis.InfeasibleBudget, match="delta_threshold") as raised:
        paper.as_published(grid, 4.0, 1e-6, 50)
    assert raised.value.term == "delta_threshold"
    assert paper.published(grid, 4.0, 1e-6, 50) == []
    with pytest.raises(ValueError, match="epsilon must be one that the paper runs"):
        paper.as_published(grid, 2.0, 1e-6, 100)
    assert paper.published(grid, 2.0, 1e-6, 100) == []
    with pytest.raises(synthesis.InfeasibleBudget, match="delta_sensitivity"):
        paper.as_published(grid, 16.0, 5e-11, 1000)


def test_a_small_k_pays_for_the_diameter_and_the_split_of_section_seven_stands_in():
    grid = of(settings("synthesis_utility")).grid(6, D)
    assert paper.distance_paid(grid) == (2 * 2.6, 0.0)
    assert paper.published(grid, 4.0, 1e-5, 50) == []
    (made,) = paper.published(grid, 4.0, 1e-5, 50, utility.SPLITS[4.0])
    spent, lost = synthesis.lemma1(5.0, 0.3, 15)
    assert made.noise_std(Simulation(0)) == gaussian_noise_std(4 - spent, 1e-5 - lost, 1.0) * 5.2
    assert made.guarantee.assumptions.count("data fixed before the public projection") == 0


def test_an_older_bill_with_too_little_noise_is_refused():
    grid = of(settings("synthesis_utility")).grid(20, D)
    needed = synthesis.CentroidRelease(grid, 8.0, 1e-6, 0.5, 50).noise_std(Simulation(0))
    public = (grid, 8.0, 1e-6, 0.5, 50)
    assert paper.OlderBill(*public, sensitivity="integrated", std=needed).noise_std(Simulation(0)) == needed
    with pytest.raises(ValueError, match="std must be at least"):
        paper.OlderBill(*public, sensitivity="integrated", std=0.99 * needed)
    with pytest.raises(ValueError, match="std must be at least"):
        paper.older_bill(*public, multiplier=0.2)
    for std in (math.nan, 0.0, -1.0):
        with pytest.raises(ValueError, match="std must be"):
            paper.OlderBill(*public, sensitivity="integrated", std=std)


@pytest.mark.parametrize(("epsilon", "rate", "threshold"), [row[:3] for row in PUBLISHED])
def test_an_older_bill_adds_as_much_as_each_source_needs(epsilon, rate, threshold):
    """Secure noise pays for its grid, too: the printed noise, made for continuous numbers, is not enough there."""
    grid = of(settings("synthesis_utility")).grid(20, 32)
    made = paper.as_published(grid, epsilon, 1e-6, 100)
    needed = synthesis.CentroidRelease(grid, epsilon, 1e-6, rate, threshold, sensitivity=made.sensitivity)
    assert made.noise_std(Secure()) >= needed.noise_std(Secure()) > made.noise_std(Simulation(0))


def test_the_papers_grid_stands_in_every_table_of_support_protection():
    made = rows(1203, 0.003, 24)  # four tight groups, for a grid of twenty dimensions parts wider ones
    made[1200:] += 1.0
    texts = type("Texts", (), {"texts": tuple(map(str, range(160)))})()
    case = ssp.Case(None, texts, None, made, rows(160, 0.003, 24), np.arange(1203) >= 1200)
    setting = ssp.Setting(0.5, 100, 1e-6, 4, (1, 2, 3), 3, max_norm=2.6, dims=20)
    evolving = ssp.evolving(case, ssp.Evolving(10, 3, 2, near=5), 8.0, 1e-6, "near texts", 1)
    methods = ssp.Methods(case, setting, 8.0, evolving)
    runs, near = methods.runs(), ssp_tables.counts(case, setting)
    assert list(runs) == list(ssp.METHODS)
    assert all(len(found) for found in runs[ssp.GRID])
    raw = methods.released(ssp.GRID, 2)
    np.testing.assert_array_equal(runs[ssp.GRID][1], raw.centroids)
    clean = raw.denoised(synthesis.PublicSpectrum.fit(case.public)).centroids
    np.testing.assert_array_equal(runs[ssp.GRID_DENOISED][1], clean)
    bins = ssp_tables.distances(case, runs, near, 100)
    assert bins[bins["method"] == ssp.GRID]["share"].sum() == pytest.approx(2.0)  # frequent and infrequent
    assert ssp.GRID in set(ssp_tables.neighbours(case, runs, near, [0, 100, 10000])["method"])
    protected = ssp_tables.protection(case, runs, near, setting, [100], 1).set_index(["method", "psi"])
    assert protected.loc[(ssp.GRID, 1.0), "mean"] == 0.0  # the three odd texts share no bucket with a hundred
    assert ssp.GRID in set(ssp_tables.utilities({8.0: methods}, 3, 10)["method"])
    heavy = ssp_tables.heavy({8.0: methods}).set_index(["method", "score"])["value"]
    assert heavy[ssp.GRID, "precision"] > 0.9
    without = ssp.Methods(case, dataclasses.replace(setting, dims=0), 8.0, evolving)
    assert ssp.GRID not in without.runs()
    assert len(methods.guarantees) == len(without.guarantees) + 1
