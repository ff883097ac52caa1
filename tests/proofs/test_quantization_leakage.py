"""Theorem IV.3 and Proposition IV.4 of QuanText, by enumeration of every private dataset of a small domain."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privlib import quantization
from privlib.dp import Simulation
from privlib.quantization import channel_sml, exact_sml, secret_ceiling, sml_bound, success_bound
from privlib.quantization.leakage import _compositions
from privlib.quantization.tables import empirical_tables, nearest_candidates

CHAIN = quantization.Tree(0, (-1, 0), (2, 2))  # three tables


def datasets(cells, n):
    """Every dataset of n rows up to order, as labels int[n, a]."""
    for counts in _compositions(n, len(cells)):
        yield np.repeat(cells, counts, axis=0)


def three_tables(n=5, gamma=4, k=2, shared=False):
    """The choice of all tables as a channel, by its definition: the product (or one shared draw) of k nearest."""
    sets = [quantization.candidates(2, gamma, 40, 1.0, Simulation(seed)) for seed in range(3)]
    cells = np.array(list(itertools.product(range(2), repeat=2)))
    rows, labels = [], []
    for data in datasets(cells, n):
        near = [nearest_candidates(s, t, k) for s, t in zip(sets, empirical_tables(data, CHAIN), strict=True)]
        law = np.zeros((gamma,) * 3)
        draws = [(i, i, i) for i in range(k)] if shared else itertools.product(range(k), repeat=3)
        for draw in draws:
            law[tuple(table[i] for table, i in zip(near, draw, strict=True))] += 1 / (k if shared else k**3)
        rows.append(law.ravel())
        labels.append(data)
    return np.array(rows), labels


SECRETS = {"root": ((0, 1),), "child": ((1, 1),), "both": ((0, 1), (1, 0))}


def values(labels, name):
    return np.array([int(quantization.Share(SECRETS[name]).holds(data).sum()) for data in labels])


@pytest.mark.parametrize("name", SECRETS)
def test_theorem_iv3_bounds_the_exact_leakage_of_three_tables(name):
    channel, labels = three_tables()
    exact = channel_sml(channel, values(labels, name))
    assert exact <= sml_bound(3, 4, 2) + 1e-12
    assert exact <= secret_ceiling(5) + 1e-12
    assert exact > 0.5  # the inequality is not met by a release that tells nothing


def test_released_tables_take_gamma_to_the_e_values_each_of_probability_k_to_minus_e():
    channel, _ = three_tables()
    assert channel.shape[1] == 4**3
    assert set(np.unique(channel)) == {0.0, 2**-3}


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(SECRETS)))
@settings(max_examples=25, deadline=None)
def test_proposition_iv4_best_guess_for_any_prior(seed, name):
    """Bayes' best guess of the share, under random sharp priors over datasets, against the bound."""
    channel, labels = three_tables()
    secret = values(labels, name)
    prior = np.random.default_rng(seed).dirichlet(np.full(len(channel), 0.02))
    weights = np.array([prior[secret == g].sum() for g in range(6)])
    after = sum(max((prior[secret == g] @ channel[secret == g, y]) for g in range(6)) for y in range(channel.shape[1]))
    assert after <= success_bound(float(weights.max()), 3, 4, 2) + 1e-9
    assert after <= weights.max() * math.exp(channel_sml(channel, secret)) + 1e-9


def test_proposition_iv4_needs_the_style_ratio():
    """Counter-example without l: choose among all (gamma = k, so no leakage by tables), style tells content.

    Two datasets, style 0 or 1 with probabilities (l, 1)/(l + 1) and swapped: ratio l exactly, and the best
    guess succeeds with l / (l + 1) > 1/2 = prior * (gamma / k)^E. With the factor l the bound holds.
    """
    for ratio in (1.5, 3.0, 20.0):
        style = np.array([[ratio, 1.0], [1.0, ratio]]) / (ratio + 1)
        success = 0.5 * style.max(axis=0).sum()
        assert success > success_bound(0.5, 11, 120, 120)
        assert success <= success_bound(0.5, 11, 120, 120, style=ratio)
        assert channel_sml(style, np.arange(2)) <= sml_bound(11, 120, 120, style=ratio)


@pytest.mark.parametrize(("gamma", "k"), [(12, 1), (12, 3), (12, 4), (12, 6), (12, 12)])
def test_one_table_leaks_exactly_ln_gamma_over_k(gamma, k):
    """Attained with equality once n is large enough to reach every candidate: the bound is tight at E = 1."""
    two = quantization.candidates(2, gamma, 120, 1.0, Simulation(5))
    assert exact_sml(two, k, 0, 150) == pytest.approx(math.log(gamma / k), abs=1e-9)
    if k in (3, 4):
        three = quantization.candidates(3, gamma, 120, 1.0, Simulation(5))
        for secret in (0, [0, 2]):
            assert exact_sml(three, k, secret, 30) == pytest.approx(math.log(gamma / k), abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_a_seed_the_attacker_knows_leaks_ln_gamma_whatever_k(k):
    """Trap: constant public seed for the secret choice."""
    two = quantization.candidates(2, 12, 120, 1.0, Simulation(5))
    assert exact_sml(two, k, 0, 400, seeded=True) == pytest.approx(math.log(12), abs=1e-9)


def test_fewer_rows_than_candidates_leak_less_than_the_bound():
    two = quantization.candidates(2, 12, 120, 1.0, Simulation(5))
    for n in (1, 2, 5):
        exact = exact_sml(two, 1, 0, n)
        assert exact <= secret_ceiling(n) + 1e-12
        assert exact < sml_bound(1, 12, 1)


def test_one_draw_shared_by_all_tables_leaks_more():
    """Trap: one draw for every table. Exact, and above the bound that independent draws meet."""
    fresh, labels = three_tables(gamma=4, k=2)
    shared, _ = three_tables(gamma=4, k=2, shared=True)
    own = np.arange(len(labels))  # the secret is the dataset itself: the worst case of any function of it
    assert channel_sml(fresh, own) <= sml_bound(3, 4, 2) + 1e-12
    assert channel_sml(shared, own) > channel_sml(fresh, own)
    assert channel_sml(shared, own) > sml_bound(3, 4, 2)
    assert channel_sml(shared, own) <= 3 * math.log(4) - math.log(2) + 1e-12


def twin(channel, groups):
    """One input for each secret value, all ways."""
    inside = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    return max(math.log(channel[list(chosen)].max(axis=0).sum()) for chosen in itertools.product(*inside))


@st.composite
def channels(draw, outputs=None):
    seed, sparse = draw(st.integers(0, 2**32 - 1)), draw(st.booleans())
    generator = np.random.default_rng(seed)
    rows, columns = draw(st.integers(2, 6)), outputs or draw(st.integers(1, 5))
    return generator.dirichlet(np.full(columns, 0.1 if sparse else 1.0), size=rows), generator.integers(0, 3, rows)


@given(channels())
@settings(max_examples=60, deadline=None)
def test_integer_program_equals_enumeration(drawn):
    channel, groups = drawn
    assert channel_sml(channel, groups) == pytest.approx(max(0.0, twin(channel, groups)), abs=1e-7)


@given(channels(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_post_processing_never_leaks_more(drawn, seed):
    channel, groups = drawn
    after = np.random.default_rng(seed).dirichlet(np.ones(4), size=channel.shape[1])
    assert channel_sml(channel @ after, groups) <= channel_sml(channel, groups) + 1e-7


@given(channels(outputs=3), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_adaptive_composition_adds(drawn, seed):
    """A second release whose law depends on the first output: leaks add at most."""
    first, groups = drawn
    second = np.random.default_rng(seed).dirichlet(np.full(3, 0.3), size=(3, len(first)))  # [first output, input]
    both = np.concatenate([first[:, [y]] * second[y] for y in range(3)], axis=1)
    own = np.arange(len(first))
    worst = max(channel_sml(second[y], own) for y in range(3))
    assert channel_sml(both, own) <= channel_sml(first, own) + worst + 1e-7
    assert channel_sml(both, groups) <= channel_sml(first, own) + worst + 1e-7


@given(channels(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_any_attack_gains_at_most_e_to_the_leakage_and_some_prior_attains_it(drawn, seed):
    channel, groups = drawn
    prior = np.random.default_rng(seed).dirichlet(np.full(len(channel), 0.3))
    exact = channel_sml(channel, groups)
    distinct = np.unique(groups)

    def gain(p):
        best = max(p[groups == g].sum() for g in distinct)
        joint = np.array([p[groups == g] @ channel[groups == g] for g in distinct])
        return joint.max(axis=0).sum() / best

    assert gain(prior) <= math.exp(exact) + 1e-7
    inside = [np.flatnonzero(groups == g) for g in distinct]
    uniform = [np.isin(np.arange(len(groups)), chosen) / len(distinct) for chosen in itertools.product(*inside)]
    assert max(map(gain, uniform)) == pytest.approx(math.exp(exact), abs=1e-6)


def test_golden_bounds_and_their_ceilings():
    assert [round(sml_bound(11, d, 1), 2) for d in (2, 3, 4)] == [7.62, 12.08, 15.25]
    assert [round(sml_bound(1, d, 1), 3) for d in (2, 3, 4)] == [0.693, 1.099, 1.386]
    assert sml_bound(5, 7, 7) == 0.0
    assert round(secret_ceiling(3000), 1) == 8.0
    assert round(secret_ceiling(600), 1) == 6.4
    assert not quantization.MaximalLeakage(11, 120, 60, rows=3000).vacuous
    assert quantization.MaximalLeakage(11, 120, 40, rows=3000).vacuous


@given(st.integers(1, 30), st.integers(2, 200), st.data())
def test_bound_tightens_with_fewer_candidates_more_neighbours_and_smaller_parents(tables, gamma, data):
    k = data.draw(st.integers(1, gamma - 1))
    bound = sml_bound(tables, gamma, k)
    assert sml_bound(tables, gamma, k + 1) < bound
    if gamma - 1 > k:
        assert sml_bound(tables, gamma - 1, k) < bound
    child = data.draw(st.integers(2, 6))
    small, large = (quantization.Tree(0, (-1, 0), (size, child)).tables for size in (child, child + 1))
    assert sml_bound(small, gamma, k) < sml_bound(large, gamma, k)


@given(st.integers(1, 30), st.integers(1, 200), st.floats(1.0, 1e6), st.data())
def test_style_adds_its_log_and_nothing_more(tables, gamma, style, data):
    k = data.draw(st.integers(1, gamma))
    assume(style > 1)
    added = sml_bound(tables, gamma, k, style) - sml_bound(tables, gamma, k)
    assert added == pytest.approx(math.log(style), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [3000, 600])
def test_shares_come_in_steps_coarser_than_the_stated_precision(n):
    """The paper states secrets to 0.01 %; with n rows there are n + 1 shares, 100/n % apart."""
    shares = {round(count / n, 4) for count in range(n + 1)}
    assert len(shares) == n + 1  # none merged by rounding to 0.01 %
    assert len(shares) < 10_001
    assert 100 / n > 0.01


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: sml_bound(0, 4, 2), "tables"),
        (lambda: sml_bound(1, 4, 5), "k"),
        (lambda: sml_bound(1, 4, 2, style=0.0), "style"),
        (lambda: success_bound(0.0, 1, 4, 2), "prior"),
        (lambda: secret_ceiling(0), "rows"),
        (lambda: exact_sml(np.eye(2), 1, 2, 5), "secret"),
        (lambda: exact_sml(np.eye(2), 1, [0, 1], 5), "secret"),
        (lambda: exact_sml(np.eye(9), 1, 0, 200), "n"),
        (lambda: channel_sml(np.array([[0.5, 0.6]]), np.array([0])), "channel"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        call()
