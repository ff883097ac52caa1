"""DP-SPIN, Proposition 5.6: exact law of admission on a small universe, never above its bill (claims P056, P058)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privlib.dp import Simulation, hockey_stick
from privlib.plans import AtomUniverse, PrivateTopLPlan

M, L = 5, 3
CRITICAL = 131.0  # chi-square with 59 degrees of freedom exceeds it with probability below 1e-6
UNIVERSE = AtomUniverse(tuple(f"theme {k}" for k in range(M)))
BASE = np.array([3.0, 1.0, 0.0, 2.5, 1.0])
NEIGHBOURS = {
    "add_drop": [BASE + v for v in ([1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0.5, 0.5, 0, 0, 0], [0, 0.3, 0.3, 0.4, 0])],
    "replace": [BASE + v for v in ([-1, 1, 0, 0, 0], [1, 0, 0, -1, 0], [0.5, -1, 0.5, 0, 0])],
}


def mechanism(relation: str, epsilon: float) -> PrivateTopLPlan:
    return PrivateTopLPlan(
        UNIVERSE, epsilon=epsilon, delta=1e-6, plan_size=L, unit="record", relation=relation, public_denominator=10.0
    )


def log_law(masses: np.ndarray, scale: float) -> dict[tuple[int, ...], float]:
    """Slow, obvious twin: log-probability of every ordered outcome of L rounds."""
    law = {}
    for outcome in itertools.permutations(range(M), L):
        left, total = list(range(M)), 0.0
        for index in outcome:
            weights = masses[left] / scale
            total += masses[index] / scale - (weights.max() + math.log(np.exp(weights - weights.max()).sum()))
            left.remove(index)
        law[outcome] = total
    return law


def pairs(relation: str):
    return [(BASE, other) for other in NEIGHBOURS[relation]] + [(other, BASE) for other in NEIGHBOURS[relation]]


@pytest.mark.parametrize("relation", ["add_drop", "replace"])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 8.0])
def test_the_selection_never_exceeds_its_bill(relation, epsilon):
    rounds = mechanism(relation, epsilon)._rounds
    for first, second in pairs(relation):
        p, q = (log_law(masses, rounds.gumbel_scale) for masses in (first, second))
        assert sum(map(math.exp, p.values())) == pytest.approx(1.0)
        assert max(p[o] - q[o] for o in p) <= rounds.guarantee.epsilon * (1 + 1e-12)
        assert hockey_stick(list(p.values()), list(q.values()), rounds.guarantee.epsilon) <= 1e-12


def test_half_the_bill_would_be_exceeded():
    """Negative control: the enumeration sees a real loss."""
    rounds = mechanism("replace", 8.0)._rounds
    worst = max(
        max(log_law(a, rounds.gumbel_scale)[o] - log_law(b, rounds.gumbel_scale)[o] for o in log_law(a, 1.0))
        for a, b in pairs("replace")
    )
    assert worst > rounds.guarantee.epsilon / 4


@pytest.mark.parametrize("history", [(), (0,), (3, 1)])
def test_each_round_is_private_for_every_history(history):
    rounds = mechanism("replace", 1.0)._rounds
    left = [j for j in range(M) if j not in history]
    for first, second in pairs("replace"):
        laws = [masses[left] / rounds.gumbel_scale for masses in (first, second)]
        logs = [law - np.log(np.exp(law).sum()) for law in laws]
        assert np.abs(logs[0] - logs[1]).max() <= rounds.epsilon / L * (1 + 1e-12)


def test_the_sampler_has_the_enumerated_law():
    """Chi-square over all ordered outcomes; false alarm below 1e-6 (59 degrees of freedom)."""
    plan, noise, draws = mechanism("add_drop", 2.0), Simulation(5), 6_000
    law = log_law(BASE, plan._rounds.gumbel_scale)
    seen = dict.fromkeys(law, 0)
    for _ in range(draws):
        seen[tuple(int(j) for j in plan._rounds.release(BASE, noise))] += 1
    statistic = sum((seen[o] - draws * math.exp(law[o])) ** 2 / (draws * math.exp(law[o])) for o in law)
    assert statistic < CRITICAL
    flat = sum((seen[o] - draws / len(law)) ** 2 / (draws / len(law)) for o in law)
    assert flat > CRITICAL  # power: a uniform choice would be found out


@pytest.mark.parametrize("relation", ["add_drop", "replace"])
@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.7, 1.0, 3.3, 8.0])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_the_two_stages_never_cost_more_than_stated(relation, epsilon, share):
    plan = PrivateTopLPlan(
        UNIVERSE,
        epsilon=epsilon,
        delta=1e-6,
        plan_size=L,
        unit="record",
        relation=relation,
        public_denominator=10.0,
        selection_share=share,
    )
    assert plan.guarantee.epsilon <= epsilon
    assert plan.guarantee.epsilon == pytest.approx(epsilon)
    assert plan.guarantee.delta == 1e-6
    assert len(plan.guarantee.composed) == 2
