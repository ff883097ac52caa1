"""What stands behind the sliders of the book: each headline number is one call of the library, at any setting."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import dp, plans, quantization, synthesis
from privlib.experiments import live
from privlib.experiments.live import sketch as packaged_sketch
from privlib.experiments.live.twins import TWINS, committed
from privlib.experiments.records import read
from privlib.experiments.workspace import ExperimentError, Workspace


def start(name: str, **changed) -> dict:
    return {control.name: control.start for control in live.panel(name).controls} | changed


def shown(name: str, **changed) -> dict:
    told = json.loads(live.answer(name, json.dumps(start(name, **changed))))
    return {number["name"]: number["value"] for number in told["numbers"]} | told["data"]


def settings_of(name: str):
    def one(control):
        if control.kind == "choice":
            return st.sampled_from(control.choices)
        if isinstance(control.step, int) and control.kind == "linear":
            return st.integers(int(control.low), int(control.high))
        return st.floats(control.low, control.high)

    return st.fixed_dictionaries({control.name: one(control) for control in live.panel(name).controls})


@pytest.mark.parametrize("name", live.PANELS)
def test_every_setting_has_an_answer_that_a_page_can_draw(name):
    panel = live.panel(name)
    wanted = {data for chart in panel.charts for data in chart.spec["datasets"]}

    @settings(max_examples=12)
    @given(settings_of(name))
    def every(values):
        told = json.loads(live.answer(name, json.dumps(values)))
        assert told["problem"] or (told["numbers"] and set(told["data"]) == wanted)
        numbers = [value for rows in told["data"].values() for row in rows for value in row.values()]
        assert all(math.isfinite(value) for value in numbers if not isinstance(value, str))

    every()
    json.dumps(panel.plain(), allow_nan=False)
    assert all(chart.alt for chart in panel.charts)


def test_calibration_is_the_librarys():
    told = shown("calibration", epsilon=0.7, delta=1e-5, sensitivity=3.0)
    assert told["noise_std"] == dp.gaussian_noise_std(0.7, 1e-5, 3.0)
    assert told["laplace_scale"] == pytest.approx(3.0 / 0.7)
    assert told["textbook_delta"] < 1e-5
    assert "textbook_std" not in shown("calibration", epsilon=1.5)
    for row in told["curve"][1::20]:
        assert row["delta"] == dp.gaussian_delta(row["epsilon"], told["noise_std"], 3.0)


def test_joint_accounting_is_the_librarys():
    told = shown("joint", multiplier=0.8, frequency=90)
    gap = synthesis.collision_probability(2.4, 2 / math.sqrt(20), 20)
    assert told["threshold"] == synthesis.threshold_count(0.3, 90)
    assert told["joint_noise"] == synthesis.joint_noise_multiplier(4.0, 1e-6 - gap, 0.3, 27) * 2.4
    assert told["paper_noise"] == synthesis.calibrate(4.0, 1e-6, 0.3, 27, 4.0, 2.4, 20).noise_multiplier * 2.4
    assert told["delta_spent"] == gap + synthesis.joint_delta(4.0, 0.8, 0.3, 27)


def test_a_budget_without_noise_says_which_term_took_it():
    told = json.loads(live.answer("joint", json.dumps(start("joint", frequency=20))))
    assert "delta_threshold uses up the budget" in told["problem"]
    assert "joint_noise" not in {number["name"] for number in told["numbers"]}
    told = json.loads(live.answer("joint", json.dumps(start("joint", ratio=1.6, delta=1e-9))))
    assert "delta_sensitivity uses up the budget" in told["problem"]


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "private_topL"])
def test_a_plan_shows_its_own_release_and_intervals(mechanism):
    rows = shown("plan", mechanism=mechanism, plan_size=6, draw=3)["atoms"]
    source = packaged_sketch.packaged()
    kinds = {"gaussian": plans.GaussianPlan, "laplace": plans.LaplacePlan, "private_topL": plans.PrivateTopLPlan}
    budget = {} if mechanism == "laplace" else {"delta": 1e-6}
    made = kinds[mechanism](source.universe, epsilon=1.0, plan_size=6, unit="record", relation="add_drop", **budget)
    plan = made.release(source.sketch(3), dp.Simulation(3).child("live plan"))
    bounds = plans.intervals(plan, 0.95).masses
    assert [row["mass"] for row in rows] == [atom.mass for atom in plan.atoms]
    assert [(row["low"], row["high"]) for row in rows] == [(one.low, one.high) for one in bounds]
    assert [row["label"].removesuffix(" *") for row in rows] == [atom.label for atom in plan.atoms]
    best = {source.labels[index] for index in plans.top(source.sketch(3).masses, 6)}
    assert [row["label"].endswith(" *") for row in rows] == [atom.label not in best for atom in plan.atoms]


def test_bound_and_ceilings_are_the_librarys():
    told = shown("quantization", gamma=60, k=20, tables=3, rows=400, share=0.3)
    prior = quantization.share_prior(400, 100, 30)
    assert told["bound"] == quantization.sml_bound(3, 60, 20) == pytest.approx(3 * math.log(3))
    assert told["ceiling"] == math.log(401)
    assert told["guess_ceiling"] == quantization.guess_ceiling(prior)
    assert told["success"] == quantization.success_bound(float(prior.max()), 3, 60, 20)
    near = [row["share"] for row in told["candidates"] if row["series"] == "k nearest"]
    others = [row["share"] for row in told["candidates"] if row["series"] == "others"]
    assert (len(near), len(others)) == (20, 40)
    assert max(abs(one - 0.3) for one in near) <= min(abs(one - 0.3) for one in others)
    assert told["spread"] == max(abs(one - 0.3) for one in near)
    assert (
        "k: expected 1..gamma"
        in json.loads(live.answer("quantization", json.dumps(start("quantization", gamma=20))))["problem"]
    )


def test_laws_on_the_integers_are_the_librarys():
    told = shown("integers", epsilon=0.5, delta=1e-4, sensitivity=2)
    std = dp.discrete_gaussian_noise_std(0.5, 1e-4, 2, 1)
    assert told["scale"] == std
    assert told["delta"] == dp.discrete_gaussian_delta(0.5, std, 2) <= 1e-4
    told = shown("integers", law="discrete Laplace", epsilon=0.5, sensitivity=2)
    assert told["scale"] == pytest.approx(4.0)
    at = {(row["series"], row["x"]): row["probability"] for row in told["law"]}
    for x in {x for _, x in at}:
        assert at["answer 0", x] <= math.exp(0.5) * at["answer 0 + sensitivity", x] * (1 + 1e-12)


def test_a_page_at_fault_is_told_so():
    with pytest.raises(ValueError, match="name must be one of"):
        live.answer("nonsense", "{}")
    with pytest.raises(ValueError, match="values must be of"):
        live.answer("integers", "{}")
    with pytest.raises(ValueError, match=r"epsilon must lie in \[0.1, 10.0\], got 11"):
        live.answer("integers", json.dumps(start("integers", epsilon=11)))
    with pytest.raises(ValueError, match="law must be one of"):
        live.answer("integers", json.dumps(start("integers", law="normal")))


def test_the_packaged_sketch_is_what_the_packaged_texts_give():
    assert packaged_sketch.FILE.read_text(encoding="utf-8") == packaged_sketch.made().to_json()


def test_a_twin_takes_the_largest_profile_of_each_corpus(tmp_path):
    source = Workspace.default().recorded / "book/closed-form/noise-laws.json"
    for profile in ("smoke", "book", "record"):
        target = tmp_path / "book/recorded" / profile / "closed-form/noise-laws.json"
        target.parent.mkdir(parents=True)
        target.write_text(replace(read(source), profile=profile).to_json(), encoding="utf-8")
    assert [one.profile for one in committed("noise-laws", Workspace(tmp_path))] == ["record"]


def test_a_grid_with_points_on_top_of_each_other_is_refused(tmp_path):
    source = read(Workspace.default().recorded / "book/closed-form/noise-laws.json")
    target = tmp_path / "book/recorded/book/closed-form/noise-laws.json"
    target.parent.mkdir(parents=True)
    target.write_text(replace(source, values=(*source.values, source.values[0])).to_json(), encoding="utf-8")
    (twin,) = [twin for twin in TWINS if twin.record == "noise-laws"]
    with pytest.raises(ExperimentError, match="vary in more than"):
        twin.plain(Workspace(tmp_path))
