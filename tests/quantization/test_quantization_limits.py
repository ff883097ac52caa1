"""The grids behind the limits notebook, and that its figures need records only."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib import quantization
from privlib.experiments.studies import quantization as base
from privlib.experiments.studies import quantization_limits as limits

BOOK = base.codebook("drug-reviews")


def labels(n, seed):
    generator = np.random.default_rng(seed)
    condition = generator.choice(8, n, p=[0.3, 0.2, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05])
    rating = np.where(generator.random(n) < 0.6, 2, condition % 3)
    return np.stack([condition, rating], axis=1)


PRIVATE, PUBLIC = labels(160, 1), labels(150, 0)
TREE = quantization.chow_liu(PUBLIC, BOOK.schema)


def test_map_has_an_edge_for_each_size_table_count_and_attacker():
    rows = limits.useful_dilutions([600, 3000], range(1, 6), (100, 20))
    assert len(rows) == 2 * 5 * 2
    wide = rows.pivot(index=["rows", "tables"], columns="attacker", values="dilution")
    assert (wide[limits.NEIGHBOUR] < wide[limits.EVERYONE]).all()
    assert wide[limits.EVERYONE].loc[600].is_monotonic_decreasing


def test_verdicts_over_gamma_k_and_tables():
    settings = {"paper's tweets": (11, 3000), "one attribute": (1, 600)}
    rows = limits.verdicts(settings, (1870, 370), [120, 240], [2, 3, 12])
    assert len(rows) == 12
    tweets = rows[(rows["setting"] == "paper's tweets") & (rows["gamma"] == 120)]
    assert tweets["verdict"].tolist() == ["vacuous for who knows public rows", "vacuous", "vacuous"]
    assert set(rows[rows["setting"] == "one attribute"]["verdict"]) == {"informative"}
    by_ratio = rows.assign(dilution=rows["gamma"] / rows["k"]).groupby(["setting", "dilution"])["bound"]
    assert (by_ratio.max() - by_ratio.min()).max() < 1e-12  # gamma and k enter by their ratio only


def test_seeded_choice_leaks_ln_gamma_and_a_secret_one_ln_gamma_over_k():
    rows = limits.seeded_choice([8, 12], 4, 200, 5)
    np.testing.assert_allclose(rows["secret"], math.log(4), atol=1e-9)
    np.testing.assert_allclose(rows["seeded"], np.log(rows["gamma"]), atol=1e-9)


def test_private_order_gives_the_share_away_and_no_other_order_does():
    rows = limits.release_order(0.3, 200, 24, [2, 4], 12, 5, 7).set_index(["order", "dilution"])
    for dilution in (2, 4):
        assert rows.loc[("private", dilution), "order_error"] < 0.01
        assert rows.loc[("target", dilution), "order_error"] > 0.1
        assert rows.loc[("shuffled", dilution), "order_error"] > 0.1
    assert (rows["label_error"] > 0.02).all()


def test_more_releases_a_point_agree_more():
    rows = limits.few_draws(
        PRIVATE, TREE, BOOK.secrets, gamma=24, pairs=[(2, 12)], runs=[1, 30], draws=40, public_seed=5, seed=7
    )
    assert rows["agreeing"].is_monotonic_increasing
    assert rows["agreeing"].between(0, 1).all()
    assert rows["relative_spread"].between(0.2, 2).all()


def test_one_table_bills_one_table():
    rows = limits.one_table(
        PRIVATE, PUBLIC, TREE, gamma=24, dilutions=[2, 24], alphas=[8.0], draws=5, public_seed=5, seed=7
    )
    bounds = rows.set_index(["method", "dilution"])["bound"]
    assert bounds["one table", 2] == pytest.approx(math.log(2))
    assert bounds["one table, centred, alpha = 8", 24] == pytest.approx(math.log(24))
    assert bounds["E tables", 2] == pytest.approx(TREE.tables * math.log(2))
    assert rows["joint"].between(0, 1).all()


def test_candidate_counts_are_fresh_for_every_gamma():
    rows = limits.candidate_counts(
        PRIVATE, TREE, BOOK.secrets, gammas=[8, 16], dilution=4, draws=6, public_seed=5, seed=7
    )
    assert len(rows) == 2 * len(BOOK.secrets)
    assert (rows[["sd", "joint_sd"]] > 0).all(axis=None)


def test_figures_are_drawn_from_records():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from privlib import experiments
    from privlib.experiments.figures import quantization_limits as figures

    experiments.use_style()

    def recorded(rows):
        made = experiments.record(id="drawn", title="drawn", rows=rows, parameters={}, seed=1)
        return type(made).from_json(made.to_json())

    small = dict(draws=3, public_seed=5, seed=7)
    drawn = [
        figures.draw_map(
            recorded(limits.useful_dilutions([600], range(1, 6), (100, 20))),
            recorded(limits.verdicts({"one": (1, 600), "many": (11, 600)}, (100, 20), [24], [2, 12])),
        ),
        figures.draw_seeded(recorded(limits.seeded_choice([8], 4, 60, 5))),
        figures.draw_order(recorded(limits.release_order(0.3, 60, 12, [2, 4], 3, 5, 7))),
        figures.draw_few(
            recorded(limits.few_draws(PRIVATE, TREE, BOOK.secrets, gamma=24, pairs=[(2, 12)], runs=[1, 3], **small))
        ),
        figures.draw_one_table(
            recorded(limits.one_table(PRIVATE, PUBLIC, TREE, gamma=24, dilutions=[2, 24], alphas=[8.0], **small))
        ),
        figures.draw_counts(
            recorded(limits.candidate_counts(PRIVATE, TREE, BOOK.secrets, gammas=[8, 16], dilution=4, **small))
        ),
    ]
    for figure in drawn:
        figure.canvas.draw()
        plt.close(figure)
