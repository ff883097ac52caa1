"""Selection rules: exact laws of the released lists, the laws really drawn, and what each bill covers.

One-shot Gumbel against the rounds it replaces, permute-and-flip against its own definition, hockey-stick and Renyi
divergence against the (epsilon, delta) and zCDP bills, and controls that must exceed them.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.special import chdtrc, logsumexp

from privlib.dp import (
    ExponentialRounds,
    OneShotGumbel,
    PermuteAndFlip,
    Secure,
    Simulation,
    gumbel_log_law,
    hockey_stick,
    ordered_lists,
    permute_and_flip_log_law,
    renyi_divergence,
)

DELTA = 0.5  # coordinate sensitivity
WHO = {"unit": "record", "relation": "add_drop"}
RULES = [ExponentialRounds, OneShotGumbel, PermuteAndFlip]
BASES = [np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 6.0, 0.0, 6.0])]
INSIDE = np.random.default_rng(5).uniform(-1, 1, (12, 4))
BOTH_WAYS = [DELTA * np.array(move) for move in (*itertools.product([-1, 1], repeat=4), *INSIDE)]
ONE_WAY = [DELTA * np.abs(np.array(move)) for move in (*itertools.product([0, 1], repeat=4), *INSIDE)]
ORDERS = np.geomspace(1.001, 2000, 25)


# ------------------------------------------------------------------------------------------ laws
class Scripted(Simulation):
    """A source that makes the scripted choices and adds up what the exponential mechanism gives each, in logs."""

    def __init__(self, script):
        super().__init__(0)
        self.script, self.log_probability = list(script), 0.0

    def argmax_gumbel(self, scores, scale):
        choice = self.script.pop(0)
        self.log_probability += scores[choice] / scale - logsumexp(scores / scale)
        return choice


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_one_shot_gumbel_has_the_law_of_sequential_exponential_rounds(rounds):
    """By enumeration: the sequential mechanism's own code is run once for every list, at the same budget."""
    sequential = ExponentialRounds(rounds, 2.0, DELTA, **WHO)
    one_shot = OneShotGumbel(rounds, 2.0, DELTA, **WHO)
    for scores in BASES:
        logs = []
        for wanted in ordered_lists(4, rounds).tolist():
            source = Scripted(wanted)
            assert sequential.release(scores, source).tolist() == wanted
            logs.append(source.log_probability)
        assert one_shot.log_law(scores) == pytest.approx(np.array(logs), abs=1e-12)
        assert abs(logsumexp(logs)) < 1e-12


def test_the_order_of_gumbel_scores_integrated():
    """Slow twin from the noise itself: Pr[G_1 + a_1 > G_2 + a_2 > all others] by quadrature over both values."""
    scores, nodes = np.array([0.0, 0.7, -0.4, 1.1]), 4000
    # exp(-(a + G)) is exponential of rate exp(a); substitute u = exp(-rate t) so that the range is (0, 1)
    rates, middle = np.exp(scores), (np.arange(nodes) + 0.5) / nodes
    found = []
    for first, second in ordered_lists(4, 2).tolist():
        rest = rates.sum() - rates[first]
        arrival = -np.log(middle) / rates[first]
        # given the first arrival t, the second comes before the others and all come after t
        found.append(np.mean(rates[second] / rest * np.exp(-rest * arrival)))
    assert np.array(found) == pytest.approx(np.exp(gumbel_log_law(scores, 1.0, 2)), abs=1e-6)


def permute_and_flip_twin(scores, scale):
    """All visiting orders of the definition, one by one."""
    accepted, law = np.exp((scores - scores.max()) / scale), np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        reached = 1.0 / math.factorial(len(scores))
        for index in order:
            law[index] += reached * accepted[index]
            reached *= 1 - accepted[index]
    return law


@pytest.mark.parametrize("scale", [0.2, 1.0, 30.0])
def test_permute_and_flip_has_the_law_of_its_definition(scale):
    for scores in (*BASES, np.array([0.0, 0.5, -1.0, 2.0, 2.0, 1.0])):
        law = permute_and_flip_log_law(scores, scale, 1)
        assert np.exp(law) == pytest.approx(permute_and_flip_twin(scores, scale), rel=1e-11)
        for rounds in (2, 3):
            assert abs(logsumexp(permute_and_flip_log_law(scores, scale, rounds))) < 1e-12
    pair = permute_and_flip_log_law(BASES[1], scale, 2).reshape(4, 3)[1]  # first 1, then 0, 2 or 3
    left = permute_and_flip_twin(BASES[1][[0, 2, 3]], scale)
    assert np.exp(pair) == pytest.approx(permute_and_flip_twin(BASES[1], scale)[1] * left, rel=1e-11)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["simulation", "secure"])
def test_released_lists_have_the_exact_law_when_drawn(rule, kind):
    """12 ordered pairs of 4, 6,000 releases, Pearson at 1e-7; power: the other rule's law and a noise times 0.7."""
    source, runs = Simulation(3) if kind == "simulation" else Secure(), 6000
    mechanism, scores = rule(2, 4.0, DELTA, **WHO), np.array([0.0, 0.4, 0.8, 1.2])
    lists = [tuple(chosen) for chosen in ordered_lists(4, 2).tolist()]
    drawn = [tuple(mechanism.release(scores, source).tolist()) for _ in range(runs)]
    observed = np.array([drawn.count(pair) for pair in lists])
    assert observed.sum() == runs

    def fits(log_law):
        expected = runs * np.exp(log_law)
        return chdtrc(11, ((observed - expected) ** 2 / expected).sum()) > 1e-7

    assert runs * np.exp(mechanism.log_law(scores).min()) > 5
    assert fits(mechanism.log_law(scores))
    other = OneShotGumbel if rule is PermuteAndFlip else PermuteAndFlip
    assert not fits(other(2, 4.0, DELTA, **WHO).log_law(scores))
    assert not fits(rule(2, 4.0 / 0.7, DELTA, **WHO).log_law(scores))


# ------------------------------------------------------------------------------------------ bills
def pairs(mechanism, moves):
    """Both directions of every base and move."""
    for base in BASES:
        here = mechanism.log_law(base)
        for move in moves:
            there = mechanism.log_law(base + move)
            yield here, there
            yield there, here


def worst_loss(mechanism, moves):
    return max(float((p - q).max()) for p, q in pairs(mechanism, moves))


def worst_rho(mechanism, moves):
    """Largest Renyi divergence over order, over the orders tried."""
    return max(renyi_divergence(p, q, order) / order for p, q in pairs(mechanism, moves) for order in ORDERS)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("monotone", [False, True])
def test_no_list_is_more_telling_than_the_pure_bill(rule, rounds, monotone):
    mechanism = rule(rounds, 1.2, DELTA, monotone=monotone, **WHO)
    loss = worst_loss(mechanism, ONE_WAY if monotone else BOTH_WAYS)
    assert loss <= mechanism.guarantee.epsilon * (1 + 1e-12)
    assert mechanism.guarantee.delta == 0
    if rounds == 1:
        assert loss > 0.75 * 1.2


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("monotone", [False, True])
def test_renyi_divergence_keeps_to_the_zcdp_bill(rule, rounds, monotone):
    mechanism = rule(rounds, 1.2, DELTA, monotone=monotone, **WHO)
    rho = mechanism.zcdp_under(Simulation(1)).rho
    assert rho == pytest.approx(rounds * (1.2 / rounds) ** 2 / rule.rho_divisor, rel=1e-12)
    worst = worst_rho(mechanism, (ONE_WAY if monotone else BOTH_WAYS)[: 16 : 1 if rounds == 1 else 3])
    assert worst <= rho
    if rounds == 1 and rule is not PermuteAndFlip:
        assert worst > 0.9 * rho


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_hockey_stick_keeps_to_the_approximate_bill(rule, delta):
    mechanism = rule(3, 0.6, DELTA, delta=delta, **WHO)
    for p, q in pairs(mechanism, BOTH_WAYS[:16]):
        assert hockey_stick(p, q, mechanism.guarantee.epsilon) <= mechanism.guarantee.delta
        assert hockey_stick(p, q, 0.0) <= math.tanh(mechanism.rounds * mechanism.round_epsilon / 2) + 1e-12


def span(mechanism, moves):
    return max(float((p - q).max() - (p - q).min()) for p, q in pairs(mechanism, moves))


def test_one_gumbel_round_is_bounded_range_and_permute_and_flip_is_not():
    for monotone, moves in ((False, BOTH_WAYS), (True, ONE_WAY)):
        assert span(OneShotGumbel(1, 1.0, DELTA, monotone=monotone, **WHO), moves) <= 1.0 + 1e-12
        assert span(PermuteAndFlip(1, 1.0, DELTA, monotone=monotone, **WHO), moves) > 1.2


def test_negative_control_permute_and_flip_at_the_bounded_range_bill():
    """eps^2/8 for a round of permute-and-flip is exceeded more than twice over; its own eps^2/2 is not."""
    worst = worst_rho(PermuteAndFlip(1, 0.3, DELTA, **WHO), BOTH_WAYS[:16])
    assert 2 * 0.3**2 / 8 < worst <= 0.3**2 / 2


@pytest.mark.parametrize("rule", RULES)
def test_negative_controls_must_exceed_the_bill(rule):
    """The one-way rule on scores that move both ways; half the sensitivity; one round billed where two are drawn."""
    assert worst_loss(rule(1, 1.0, DELTA, monotone=True, **WHO), BOTH_WAYS) > 1.4
    assert worst_loss(rule(1, 1.0, DELTA / 2, **WHO), BOTH_WAYS) > 1.4
    assert worst_loss(rule(2, 2.0, DELTA, **WHO), BOTH_WAYS) > 1.2
    assert worst_rho(rule(1, 1.0, DELTA / 2, **WHO), BOTH_WAYS[:16]) > 1.0 / rule.rho_divisor


def test_permute_and_flip_is_never_worse_in_expected_score():
    """McKenna and Sheldon 2020, Theorem 3, one round at equal epsilon."""
    for scores in BASES:
        for epsilon in (0.1, 1.0, 5.0):
            rules = (kind(1, epsilon, DELTA, **WHO) for kind in (OneShotGumbel, PermuteAndFlip))
            gumbel, flip = (np.exp(rule.log_law(scores)) @ scores for rule in rules)
            assert flip >= gumbel - 1e-12


@pytest.mark.parametrize("rule", RULES)
def test_the_split_is_the_better_of_two(rule):
    few, many = rule(1, 1.0, DELTA, delta=1e-6, **WHO), rule(100, 1.0, DELTA, delta=1e-6, **WHO)
    assert (few.round_epsilon, few.guarantee.delta) == (1.0, 0.0)
    assert many.round_epsilon > 2 * dataclasses.replace(many, delta=0.0).round_epsilon
    assert (many.guarantee.epsilon, many.guarantee.delta) == (1.0, 1e-6)
    assert "by zCDP" in many.guarantee.composed[0]
    assert 1 - 1e-6 < many.zcdp_under(Simulation(1)).epsilon(1e-6) <= 1.0
