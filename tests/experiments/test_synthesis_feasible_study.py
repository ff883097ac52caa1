"""Grids of the page on budgets: each says what the library says, and its orderings hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib import synthesis
from privlib.experiments.studies import synthesis_feasible as study
from privlib.synthesis.joint import deltas_by_size


def test_the_region_is_the_librarys_and_the_exact_one_is_the_largest():
    rates = [0.1, 0.3, 0.5]
    rows = study.region_rows([4.0], rates, 150).set_index(["accounting", "rate"])
    for (accounting, rate), row in rows.iterrows():
        feasible = synthesis.feasible_region(
            study.COUNT_BILLS[accounting], 4.0, 1e-6, [rate], [int(row["frequency"]) - 1, int(row["frequency"])]
        )
        assert feasible.tolist() == [[False, True]]
        assert row["threshold"] == synthesis.threshold_count(rate, int(row["frequency"]))
    least = rows["frequency"].unstack("accounting")
    assert (least["exact"] <= least["lemma, v free"]).all()
    assert (least["lemma, v free"] <= least["lemma, v at most 5"]).all()
    assert least.loc[0.1, "lemma, v at most 5"] > 100 > least.loc[0.1, "lemma, v free"]
    assert study.region_rows([0.2], [0.9], 100).empty


def test_a_tenth_is_infeasible_up_to_five_and_the_reason_is_named():
    rows = study.split_rows(4.0, (0.1, 0.3), (1.0, 5.0, 10.0)).set_index(["rate", "v"])
    assert rows.loc[(0.1, 5.0), "term"] == "delta_threshold"
    assert rows.loc[(0.1, 5.0), "noise_multiplier"] == math.inf
    assert rows.loc[(0.1, 10.0), "term"] == rows.loc[(0.3, 5.0), "term"] == "feasible"
    assert (rows["term"] == "feasible").equals(np.isfinite(rows["noise_multiplier"]))


def test_the_published_chance_is_that_of_2_4_r_at_k_20_alone():
    rows = study.collision_rows((10, 20)).set_index("dims")
    assert f"{rows.loc[20, 'at_2_4r']:.1e}" == "8.9e-11"
    assert rows.loc[20, "ratio"] == pytest.approx(2.4, rel=1e-9)
    assert rows.loc[10, "at_2_4r"] == pytest.approx(9.5e-6, rel=0.01)
    assert rows.loc[20, "at_2r"] > 20 * rows.loc[20, "at_2_4r"]


def test_the_papers_noise_costs_least_by_the_integral_and_the_stated_worst_case_ignores_the_cap(monkeypatch):
    monkeypatch.setattr(study, "PAPER_SETTINGS", study.PAPER_SETTINGS[:1])
    rows = study.cost_rows([10**6]).set_index(["epsilon", "accounting"])
    integrated, union, worst = (rows.loc[(4.0, name)] for name in ("integrated", "union", "worst case"))
    assert integrated["epsilon_spent"] < union["epsilon_spent"] < 4
    assert integrated["share"] < union["share"]
    assert worst["noise_needed"] == pytest.approx(4 * synthesis.joint_noise_multiplier(4.0, 1e-6, 0.3, 30), rel=1e-9)
    assert (rows["share"] * rows["noise_std"]).tolist() == pytest.approx(rows["noise_needed"].tolist())


def test_the_headline_is_the_cost_at_one_cap(monkeypatch):
    monkeypatch.setattr(study, "PAPER_SETTINGS", study.PAPER_SETTINGS[:2])
    rows = study.cost_rows([10**4, 10**6])
    headline = study.headline_rows(rows, 10**6).set_index("epsilon")
    at = rows[rows["max_records"] == 10**6].set_index(["epsilon", "accounting"])
    for epsilon in (4.0, 8.0):
        for accounting in ("integrated", "union", "worst case"):
            for column in ("epsilon_spent", "share"):
                assert headline.loc[epsilon, f"{column}, {accounting}"] == at.loc[(epsilon, accounting), column]
    with pytest.raises(ValueError, match="max_records must be one of"):
        study.headline_rows(rows, 10**5)


def test_every_better_bill_needs_less_noise_at_every_rate():
    rows = study.rate_rows([0.1, 0.3, 0.5])
    wide = rows.pivot_table(index=["epsilon", "rate"], columns="accounting", values="noise_multiplier")
    assert (wide["joint"] < wide["exact count"]).all()
    assert (wide["exact count"] < wide["lemma, best v"]).all()
    both = wide.dropna()
    assert 0 < len(both) < len(wide)  # the paper's v has no point at a tenth
    assert (both["lemma, best v"] <= both["lemma, paper's v"] * (1 + 1e-6)).all()
    best = study.best_rate_rows(rows).set_index(["epsilon", "accounting"])
    assert best.loc[(8.0, "joint"), "rate"] == 0.5


def test_the_envelope_covers_every_size_and_a_coarse_grid_reports_less():
    sizes = study.size_rows(4.0, [0.9, 1.5], 0.3, range(20, 300))
    assert sizes["size"].min() == 30
    envelope = study.envelope_rows(4.0, [0.9, 1.5], 0.3, (30, 200, 400)).set_index("noise_multiplier")
    for multiplier, part in sizes.groupby("noise_multiplier"):
        assert part["delta"].max() <= envelope.loc[multiplier, "envelope"]
        worst = np.array([envelope.loc[multiplier, "worst_size"]])
        assert deltas_by_size(4.0, multiplier, 0.3, 30, worst)[0] == pytest.approx(part["delta"].max(), rel=1e-9)
        later = part.set_index("size")
        assert (later["delta"].iloc[1:].to_numpy() <= later["bound_beyond"].iloc[:-1].to_numpy() * (1 + 1e-9)).all()
    assert envelope.loc[0.9, "coarse_grid"] < 0.99 * envelope.loc[0.9, "envelope"]


def test_users_of_several_records():
    rows = study.several_rows((1, 2), ((8.0, 0.5), (0.5, 0.5))).set_index(["epsilon", "records", "route"]).sort_index()
    one = rows.loc[(8.0, 1)]["noise_multiplier"]
    assert one["direct, joint"] == pytest.approx(one["capped, l buckets"], rel=1e-5)
    two = rows.loc[(8.0, 2)]["noise_multiplier"]
    assert one["direct, joint"] < two["direct, joint"] < two["group privacy"] < two["direct, composed"]
    assert two["direct, composed"] < two["direct, lemma"] < math.inf
    assert rows.loc[(0.5, 2, "group privacy"), "noise_multiplier"] == math.inf
    group = study.group_rows((1, 2), (4.0,)).set_index("records")
    assert group.loc[2, "group_delta"] == pytest.approx(1e-6 * (1 + math.exp(4.0)), rel=1e-9)


def test_times_are_medians_in_milliseconds():
    seen = []
    assert 0 < study.milliseconds(seen.append, [1.0, 2.0, 3.0]) < 1000
    assert seen == [1.0, 2.0, 3.0]
