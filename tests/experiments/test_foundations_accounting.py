"""The studies of composition and of selection rules: what their figures say must hold in their rows."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.dp import PrivacyCurve, gaussian_epsilon
from privlib.experiments.studies import foundations_composition as composition
from privlib.experiments.studies import foundations_selection as selection

SETTING = {"scales": {"Gaussian": 32.0, "Laplace": 32.0}, "delta": 1e-6, "grid": 2.0**-10}


def test_no_accountant_states_less_than_the_exact_cost():
    rows = composition.costs([1, 16, 256], **SETTING)
    assert len(rows) == 2 * 3 * 4
    assert (rows["ratio"] >= 1 - 1e-9).all()
    cell = rows.set_index(["law", "releases", "accountant"])["epsilon"]
    assert cell["Gaussian", 256, "exact"] == pytest.approx(gaussian_epsilon(1e-6, 2.0, 1.0), rel=1e-9)
    assert cell["Laplace", 1, "basic"] == 1 / 32
    assert cell["Laplace", 1, "exact"] < cell["Laplace", 1, "zCDP"] / 2
    assert cell["Gaussian", 256, "basic"] > 10 * cell["Gaussian", 256, "zCDP"] > 10 * cell["Gaussian", 256, "exact"]


def test_the_figure_uses_the_exact_curve(monkeypatch):
    """Negative control: a curve of half the epsilon makes other accountants look wasteful and shows in the ratio."""
    honest = composition.costs([16], **SETTING)
    true = PrivacyCurve.epsilon
    monkeypatch.setattr(PrivacyCurve, "epsilon", lambda curve, delta: true(curve, delta) / 2)
    assert (composition.costs([16], **SETTING)["ratio"].max()) > 1.5 * honest["ratio"].max()


def test_admitted_releases_fit_and_one_more_does_not():
    rows = composition.admitted(1.0, **SETTING, most=512)
    for law, accountant, count in rows.itertuples(index=False):
        assert composition.cost(law, accountant, count, **SETTING) <= 1.0
        assert composition.cost(law, accountant, count + 1, **SETTING) > 1.0
    with pytest.raises(ValueError, match="accountant"):
        composition.cost("Gaussian", "renyi", 1, **SETTING)


def test_mass_kept_has_a_spread_and_says_what_was_spent():
    rows = selection.mass_kept([0.1, 3.0], delta=1e-6, atoms=30, top=200.0, rounds=5, draws=40, seed=7)
    assert len(rows) == 2 * 5 * 2
    assert ((rows["low"] <= rows["high"]) & (rows["high"] <= 1 + 1e-12) & (rows["sd"] >= 0)).all()
    assert set(rows.loc[rows["delta"] > 0, "rule"]) <= {name for name in selection.RULES if "zCDP" in name}
    cell = rows.set_index(["shape", "rule", "epsilon"])
    same = cell.loc[("Zipf", "exponential rounds", 0.1)], cell.loc[("Zipf", "one-shot Gumbel", 0.1)]
    assert same[0]["scale"] == same[1]["scale"]
    assert abs(same[0]["mean"] - same[1]["mean"]) < 6 * np.hypot(same[0]["sd"], same[1]["sd"]) / np.sqrt(40)
    assert (cell["mean"].unstack()[3.0] > cell["mean"].unstack()[0.1]).all()
    with pytest.raises(ValueError, match="draws"):
        selection.mass_kept([0.1], delta=1e-6, atoms=30, top=200.0, rounds=5, draws=19, seed=7)


def test_only_the_false_bill_is_exceeded():
    rows = selection.billed_and_exact(1.0, 2, 3)
    false = rows["quantity"] == "zCDP as if bounded range"
    assert (rows.loc[~false, "share"] <= 1).all()
    assert rows.loc[false, "share"].item() > 1.5
