r"""Private evolution by distributed votes, of the same parts: what its messages and its arithmetic cost a user.

Each of T rounds: everybody gets M candidate embeddings; every user votes for the nearest one, adds its part of the
noise to all M counts, and sends two additive shares of them; the servers add up and open the histogram. Nothing is
sampled, and nobody may leave between rounds. This is the least such a protocol can send: no names, no proofs.
What is left out costs more (generating and embedding the candidates, registering voters), none of it the user's.

Bill: a record moves one count by one, in each round; T rounds compose by zCDP. Its voter adds noise with or without it:
who stayed away would take its part of the noise along, so the number of voters is public. A vote counts `height` grid
steps, so that a user's own part of the noise stays where the bound of a sum of discrete Gaussians is tight.
Source: Xie and others 2024 (Aug-PE, central); the distributed form after Fre-E2T, Appendix B.1, and `noise`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privlib.dp import ZCDP, Guarantee, NoiseSource, checks, largest_rho
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.noise import SMALLEST_USER_STD, summed_epsilon
from privlib.synthesis.protocol.shares import Share, combine, split

_WRAP_BITS = 60  # as in `settings`


@dataclass(frozen=True)
class VotingRounds:
    """Public settings: `candidates` M, `dimension` d of an embedding, `rounds` T, `voters` N >= 2, all of whom stay;
    (`epsilon`, `delta`) of all rounds together, unit record, one record a voter, relation replace_with_null: a voter
    without a record votes for nobody and adds its noise."""

    candidates: int
    dimension: int
    rounds: int
    voters: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        for name, least in (("candidates", 1), ("dimension", 1), ("rounds", 1), ("voters", 2)):
            checks.whole(name, getattr(self, name), at_least=least)
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)

    @cached_property
    def height(self) -> int:
        """Grid steps that a vote counts."""
        return max(1, math.ceil(SMALLEST_USER_STD * math.sqrt(self.voters) * self._enough))

    @cached_property
    def user_std(self) -> float:
        """Parameter of a voter's noise on every count, in steps."""
        std = max(0.5, self.height / (self._enough * math.sqrt(self.voters)))
        while summed_epsilon(self.voters, std, float(self.height), self.candidates) > self._enough:
            std *= 1 + 1e-6
        return std

    @property
    def _enough(self) -> float:
        """The bound's epsilon that one round may have."""
        return math.sqrt(2 * largest_rho(self.epsilon, self.delta) / self.rounds)

    @property
    def modulus(self) -> int:
        """Of the shares: four times what a count reaches but with probability 2^-60, all counts and rounds."""
        tail = math.log(2 * self.candidates * self.rounds) + _WRAP_BITS * math.log(2)
        reach = math.sqrt(self.voters) * self.user_std * math.sqrt(2 * tail)
        return 1 << (4 * math.ceil(self.voters * self.height + reach) - 1).bit_length()

    @property
    def guarantee(self) -> Guarantee:
        """Of all that is opened, by the bound of `noise` and zCDP composition; at most (epsilon, delta).

        Relation replace_with_null, N public: (epsilon, delta) does not cover a voter who is left out with its noise.
        """
        one = summed_epsilon(self.voters, self.user_std, float(self.height), self.candidates) ** 2 / 2
        total = ZCDP(one * self.rounds * (1 + 1e-12), "record", "replace_with_null")
        assumed = ("servers do not collude", "every voter stays for every round", "one record a voter")
        part = (f"votes with users' noise, {self.rounds} rounds",)
        return Guarantee(total.epsilon(self.delta), self.delta, "record", "replace_with_null", assumed, part)

    def broadcast(self, candidates: np.ndarray) -> bytes:
        """The frame that every voter gets in every round: float32[M, d] after a header like any message's."""
        header = m.frame(m.SYNTHESIS, m.EVERYONE, bytes(1 + m.SESSION_BYTES))
        return header + np.ascontiguousarray(candidates, dtype=">f4").tobytes()

    def nearest(self, received: bytes, vector: np.ndarray) -> int:
        """A voter's work: the candidate nearest to `vector` float32[d], of a received broadcast."""
        start = 2 * m.ADDRESS_BYTES + 1 + m.SESSION_BYTES
        table = np.frombuffer(received, dtype=">f4", offset=start).reshape(self.candidates, self.dimension)
        table = table.astype(np.float32)
        return int(np.argmax(2 * (table @ vector) - np.einsum("ij,ij->i", table, table)))

    def noisy_vote(self, choice: int | None, noise: NoiseSource) -> np.ndarray:
        """int64[M] in steps: `height` at `choice` (None: nowhere, no record), plus the voter's noise everywhere."""
        votes = np.zeros(self.candidates, dtype=np.int64)
        if choice is not None:
            votes[choice] = self.height
        return noise.child("noise").add_discrete_gaussian(votes, self.user_std)

    def ballots(self, votes: np.ndarray, noise: NoiseSource) -> list[bytes]:
        """Two frames, one for each server, with a share of noisy `votes` each: what a voter sends in a round."""
        shares = split(votes, self.modulus, 2, noise.child("shares"))
        nonce, round_name = bytes(m.NONCE_BYTES), bytes(m.TAG_BYTES)
        payloads = [m.encode(m.Contribution(nonce, round_name, share), bytes(m.SESSION_BYTES)) for share in shares]
        return [m.frame(b"voter   ", to, data) for to, data in zip((m.SYNTHESIS, m.TAGGING), payloads, strict=True)]

    def tally(self, sums: Sequence[Share]) -> np.ndarray:
        """Noisy number of votes by candidate, float64[M], from both servers' sums of shares."""
        return combine(sums) / self.height


def read_ballot(data: bytes) -> Share:
    """The share in a ballot; Malformed when it is none."""
    message = m.decode(m.unframe(data)[2], bytes(m.SESSION_BYTES))
    if not isinstance(message, m.Contribution):
        raise m.Malformed("no ballot")
    return message.share
