"""Where a bound is vacuous: for every attacker, and for one who has seen public rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import quantization
from privlib.quantization import guess_ceiling, secret_ceiling, share_prior, sml_bound, success_bound, useful_dilution


@given(st.integers(1, 60), st.integers(0, 60), st.data())
def test_prior_of_a_share_is_the_beta_binomial_of_a_million_draws_in_closed_form(rows, public, data):
    holding = data.draw(st.integers(0, public))
    law = share_prior(rows, public, holding)
    assert law.shape == (rows + 1,)
    assert law.sum() == pytest.approx(1)
    assert np.arange(rows + 1) @ law == pytest.approx(rows * (holding + 1) / (public + 2))
    rates = (np.arange(20_000) + 0.5) / 20_000  # the mixture of binomials, by the midpoint rule
    weights = rates**holding * (1 - rates) ** (public - holding)
    direct = math.comb(rows, rows // 2) * rates ** (rows // 2) * (1 - rates) ** (rows - rows // 2)
    assert law[rows // 2] == pytest.approx(float(direct @ weights / weights.sum()), rel=1e-4)


def test_who_knows_nothing_has_the_ceiling_of_all_attackers():
    for n in (1, 30, 3000):
        assert guess_ceiling(share_prior(n, 0, 0)) == pytest.approx(secret_ceiling(n))


def test_public_rows_lower_the_ceiling():
    knows = [guess_ceiling(share_prior(3000, m, m // 5)) for m in (0, 100, 1000, 10_000)]
    assert knows == sorted(knows, reverse=True)
    assert knows[-1] < 5 < knows[0]


@given(st.integers(1, 20), st.integers(1, 5000))
def test_useful_dilution_is_where_the_bound_meets_the_ceiling(tables, rows):
    edge = useful_dilution(tables, rows)
    assert tables * math.log(edge) == pytest.approx(secret_ceiling(rows))
    for gamma in (2, 12, 120):  # on either side, by the bound itself
        assert (gamma >= edge) == (sml_bound(tables, gamma, 1) >= secret_ceiling(rows)) or gamma == pytest.approx(edge)


def test_settings_of_the_paper():
    """E = 11 and n = 3,000: informative below dilution 2.07 only; one attribute, n = 600: up to all 601 candidates."""
    assert useful_dilution(11, 3000) == pytest.approx(3001 ** (1 / 11))
    assert 2 < useful_dilution(11, 3000) < 2.1
    assert useful_dilution(1, 600) == pytest.approx(601)
    prior = share_prior(3000, 1870, 370)
    assert useful_dilution(11, 3000, prior) < 2  # an attacker with the paper's auxiliary rows: vacuous from 2 on
    assert success_bound(float(prior.max()), 11, 2, 1) == 1
    assert success_bound(float(prior.max()), 1, 2, 1) == pytest.approx(2 * prior.max())


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: share_prior(5, 3, 4), "public_holding"),
        (lambda: guess_ceiling(np.array([0.5, 0.6])), "prior"),
        (lambda: guess_ceiling(np.zeros((0,))), "prior"),
        (lambda: quantization.useful_dilution(0, 5), "tables"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        call()
