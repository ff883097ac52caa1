"""Distributed votes: the histogram that is opened, its noise and bill, and what a ballot weighs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib.baselines.aug_pe import nearest_candidates
from privlib.dp import Simulation, hockey_stick, largest_rho
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.noise import summed_epsilon, summed_log_pmf
from privlib.synthesis.protocol.server import summed
from privlib.synthesis.protocol.shares import Share, combine
from privlib.synthesis.protocol.voting import VotingRounds, read_ballot

ROUNDS = VotingRounds(candidates=40, dimension=8, rounds=5, voters=60, epsilon=2.0, delta=1e-6)
DRAW = Simulation(3).generator
CANDIDATES = DRAW.standard_normal((40, 8)).astype(np.float32)
VECTORS = DRAW.standard_normal((60, 8)).astype(np.float32)


def tally(rounds, votes, noise):
    """Every ballot as bytes to its server, each server's sum, the opened histogram."""
    held = {m.SYNTHESIS: [], m.TAGGING: []}
    for vote in votes:
        for data in rounds.ballots(vote, noise):
            held[m.unframe(data)[1]].append(read_ballot(data))
    return rounds.tally([summed(held[server]) for server in (m.SYNTHESIS, m.TAGGING)])


def test_without_noise_it_is_the_histogram_of_nearest_candidates():
    """Aug-PE's own votes, as the baseline counts them."""
    received = ROUNDS.broadcast(CANDIDATES)
    votes = np.zeros((60, 40), dtype=np.int64)
    votes[np.arange(60), [ROUNDS.nearest(received, vector) for vector in VECTORS]] = ROUNDS.height
    counted = np.bincount(nearest_candidates(VECTORS.astype(float), CANDIDATES.astype(float), 10.0), minlength=40)
    assert tally(ROUNDS, votes, Simulation(1)).tolist() == counted.tolist()


def test_the_noise_has_the_billed_deviation():
    """40 counts x 25 tallies of noise alone: chi-square by the normal approximation, false alarm below 1e-8 (5.7
    deviations of the variance); power: a tenth more noise is seen."""
    noise = Simulation(5)
    drawn = []
    for _ in range(25):
        votes = [ROUNDS.noisy_vote(0, noise) for _ in range(60)]
        opened = tally(ROUNDS, votes, noise)
        opened[0] -= 60
        drawn.append(opened)
    drawn = np.concatenate(drawn)
    std = math.sqrt(60) * ROUNDS.user_std / ROUNDS.height
    spread = math.sqrt(2 / len(drawn))
    assert abs(np.mean(drawn**2) / std**2 - 1) < 5.7 * spread
    assert abs(np.mean(drawn**2) / (1.3 * std) ** 2 - 1) > 5.7 * spread


@pytest.mark.parametrize("voters", [2, 60, 10_000])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_the_bill_is_met_and_hardly_missed(voters, epsilon):
    rounds = VotingRounds(1000, 8, 20, voters, epsilon, 1e-6)
    assert rounds.guarantee.epsilon <= epsilon
    assert rounds.user_std >= 0.5
    one = summed_epsilon(voters, rounds.user_std, float(rounds.height), 1000) ** 2 / 2
    assert 20 * one <= largest_rho(epsilon, 1e-6)
    less = summed_epsilon(voters, max(0.5, rounds.user_std / 1.01), float(rounds.height), 1000) ** 2 / 2
    assert rounds.user_std == 0.5 or 20 * less > largest_rho(epsilon, 1e-6)


def opened_law(rounds, votes, noises):
    """ln law of one opened count, in steps, with so many votes in it and the noise of so many voters."""
    points, law = summed_log_pmf(noises, rounds.user_std)
    padded = np.full(2 * 200 + 1, -np.inf)
    padded[points + votes * rounds.height + 200] = law
    return padded


def worst_delta(rounds, neighbour):
    """Delta at the stated epsilon of a vote for the one candidate, against `neighbour`, in both directions."""
    voted = opened_law(rounds, 1, rounds.voters)
    epsilon = rounds.guarantee.epsilon
    return max(hockey_stick(voted, neighbour, epsilon), hockey_stick(neighbour, voted, epsilon))


@pytest.mark.parametrize("voters", [2, 5, 20])
def test_the_bill_holds_for_the_relation_that_it_states(voters):
    """Every outcome of one count, one round. Without a record the noise of all voters stays; the control takes a voter
    out together with its noise, which is what add_drop would mean, and breaks the bill."""
    rounds = VotingRounds(candidates=1, dimension=2, rounds=1, voters=voters, epsilon=1.0, delta=1e-3)
    neighbours = {
        "replace_with_null": opened_law(rounds, 0, voters), "add_drop": opened_law(rounds, 0, voters - 1)
    }  # fmt: skip
    found = worst_delta(rounds, neighbours[rounds.guarantee.relation])
    assert 0.1 * rounds.delta < found <= rounds.guarantee.delta
    assert worst_delta(rounds, neighbours["add_drop"]) > 1.5 * rounds.delta


def test_a_voter_without_a_record_adds_the_same_noise():
    null, voted = (ROUNDS.noisy_vote(choice, Simulation(2)) for choice in (None, 7))
    assert (voted - null).tolist() == [ROUNDS.height if place == 7 else 0 for place in range(40)]
    assert np.count_nonzero(null) > 10


def test_sums_stay_far_inside_the_modulus():
    assert ROUNDS.modulus >= 4 * (60 * ROUNDS.height + 8 * math.sqrt(60) * ROUNDS.user_std)
    worst = np.zeros(40, dtype=np.int64)
    worst[3] = 60 * ROUNDS.height
    left = ROUNDS.modulus // 3
    shares = [
        Share(0, 2, ROUNDS.modulus, np.full(40, left)), Share(1, 2, ROUNDS.modulus, (worst - left) % ROUNDS.modulus)
    ]  # fmt: skip
    assert combine(shares).tolist() == worst.tolist()
    assert ROUNDS.tally(shares)[3] == 60


def test_bytes_are_what_the_formula_says():
    width = (ROUNDS.modulus.bit_length() - 1 + 7) // 8
    assert len(ROUNDS.broadcast(CANDIDATES)) == 16 + 9 + 4 * 40 * 8
    header = 16 + 9 + m.NONCE_BYTES + m.TAG_BYTES + 7
    assert [len(data) for data in ROUNDS.ballots(np.zeros(40, dtype=np.int64), Simulation(1))] == 2 * [
        header + 40 * width
    ]


def test_what_is_no_ballot_is_refused():
    other = m.frame(b"voter   ", m.TAGGING, m.encode(m.Close(1), bytes(m.SESSION_BYTES)))
    with pytest.raises(m.Malformed):
        read_ballot(other)


@pytest.mark.parametrize("bad", [{"voters": 1}, {"candidates": 0}, {"epsilon": 0.0}, {"delta": 1.0}, {"rounds": 0}])
def test_wrong_settings_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        VotingRounds(**_fields(ROUNDS) | bad)


def _fields(rounds):
    names = ("candidates", "dimension", "rounds", "voters", "epsilon", "delta")
    return {name: getattr(rounds, name) for name in names}
