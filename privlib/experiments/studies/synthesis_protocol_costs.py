"""What the two-server protocol costs beside distributed private evolution: bytes, CPU time, and how both grow.

Bytes are those of real frames and exact. Times are CPU times on the machine at hand, so they carry wide
bands. Not measured: embedding a text, generating candidates, the network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import Simulation
from privlib.synthesis import JLBuckets
from privlib.synthesis.protocol import Settings, costs, oprf, ristretto
from privlib.synthesis.protocol.dummies import expected_dummies
from privlib.synthesis.protocol.made_up import stage
from privlib.synthesis.protocol.server import summed
from privlib.synthesis.protocol.shares import combine, split
from privlib.synthesis.protocol.voting import VotingRounds, read_ballot

if TYPE_CHECKING:
    import pandas as pd

OURS, VOTES = "Fre-E2T", "distributed Aug-PE"
COUNT = 100
"""Reported users of every released bucket."""
SERVERS = ("tagging", "synthesis")
_GRID = ("dimension", "size", "protocol", "party")
TIME_BANDS = {name: ("rel", 30.0) for name in ("microseconds", "low", "high")}


@dataclass(frozen=True)
class Size:
    """One size of both protocols: N `users`, `dimension` d, |H| `released`, M `candidates`, T `rounds`; `rate`,
    `threshold` and `dummy_shift` of `Settings`."""

    users: int
    dimension: int
    released: int
    candidates: int
    rounds: int
    rate: float = 0.3
    threshold: int = 30
    dummy_shift: int = 10

    @property
    def label(self) -> str:
        return f"N={self.users} d={self.dimension} H={self.released} M={self.candidates} T={self.rounds}"

    def settings(self) -> Settings:
        made_up, _ = stage(1, self.dimension, 1, 0, self.threshold)
        return replace(made_up, rate=self.rate, dummy_shift=self.dummy_shift)

    def counts(self) -> tuple[int, ...]:
        return (COUNT,) * self.released

    def voting(self) -> VotingRounds:
        """At the same (epsilon, delta) as the other protocol's."""
        bill = self.settings().guarantee
        return VotingRounds(self.candidates, self.dimension, self.rounds, self.users, bill.epsilon, bill.delta)


def byte_rows(sizes: Sequence[Size]) -> pd.DataFrame:
    """dimension, size, protocol, party, direction, bytes: of one user, and of each server in the whole run.

    A user of ours reports and its bucket is released; the expected number of reports and dummies is sent.
    """
    import pandas as pd

    rows = []
    for size in sizes:
        settings, voting = size.settings(), size.voting()
        dummies = expected_dummies(settings.threshold, settings.dummy_shift)
        weighed = costs.weights(settings, size.users, dummies, round(settings.rate * size.users), size.counts())
        user, ways = costs.user_bytes(weighed), costs.traffic(weighed)
        dummy = next(w for w in weighed if (w.message, w.source) == ("Report", "tagging"))
        down = len(voting.broadcast(np.zeros((size.candidates, size.dimension), dtype=np.float32)))
        up = [len(data) for data in voting.ballots(np.zeros(size.candidates, dtype=np.int64), Simulation(0))]
        tally = up[1]  # the sum of shares is as long as a share
        rows += [
            (size.dimension, size.label, OURS, "user", "sent, tags", user["sent_first"]),
            (size.dimension, size.label, OURS, "user", "sent, centroids", user["sent_second"]),
            (size.dimension, size.label, OURS, "user", "sent", user["sent_first"] + user["sent_second"]),
            (size.dimension, size.label, OURS, "user", "received", user["received"]),
            (size.dimension, size.label, OURS, "tagging", "received", _into("tagging", ways)),
            (size.dimension, size.label, OURS, "tagging", "sent", _out_of("tagging", ways)),
            (size.dimension, size.label, OURS, "tagging", "dummies", dummy.frame_bytes * dummy.number),
            (size.dimension, size.label, OURS, "tagging", "dummy messages", dummy.number),
            (size.dimension, size.label, OURS, "synthesis", "received", _into("synthesis", ways)),
            (size.dimension, size.label, OURS, "synthesis", "sent", _out_of("synthesis", ways)),
            (size.dimension, size.label, VOTES, "user", "sent, a round", sum(up)),
            (size.dimension, size.label, VOTES, "user", "received, a round", down),
            (size.dimension, size.label, VOTES, "user", "sent", sum(up) * size.rounds),
            (size.dimension, size.label, VOTES, "user", "received", down * size.rounds),
            (size.dimension, size.label, VOTES, "tagging", "received", up[1] * size.users * size.rounds),
            (size.dimension, size.label, VOTES, "tagging", "sent", tally * size.rounds),
            (size.dimension, size.label, VOTES, "synthesis", "received", (up[0] * size.users + tally) * size.rounds),
            (size.dimension, size.label, VOTES, "synthesis", "sent", down * size.rounds),
        ]
    return pd.DataFrame(rows, columns=[*_GRID, "direction", "bytes"])


def time_rows(sizes: Sequence[Size], repeats: int) -> pd.DataFrame:
    """dimension, size, protocol, party, operation, microseconds, low, high: median and span of `repeats`, CPU time.

    A user's sum leaves the bucket out, which is found offline; it sends two messages for each phase. For the votes all
    T rounds are summed. A server's sum is its work in a whole run, on one core.
    """
    import pandas as pd

    rows = []
    for size in sizes:
        timed = costs.times(size.settings(), size.counts(), repeats)
        rows += [(size.dimension, size.label, OURS, t.party, t.operation, t.median, t.low, t.high) for t in timed]
        online = [t for t in timed if t.party == "user" and t.operation != "find the bucket and clip"]
        rows.append((size.dimension, size.label, OURS, "user", "all online work", *_sums(online, 1)))
        rows += [
            (size.dimension, size.label, OURS, party, "all its work", *_server_work(size, party, timed))
            for party in SERVERS
        ]
        timed = _voting_times(size.voting(), repeats)
        rows += [(size.dimension, size.label, VOTES, t.party, t.operation, t.median, t.low, t.high) for t in timed]
        voter = [t for t in timed if t.party == "user"]
        rows.append((size.dimension, size.label, VOTES, "user", "all online work", *_sums(voter, size.rounds)))
        for party in SERVERS:
            added = [t for t in timed if (t.party, t.operation) == (party, "add a ballot")]
            rows.append(
                (size.dimension, size.label, VOTES, party, "all its work", *_sums(added, size.rounds * size.users))
            )
    return pd.DataFrame(rows, columns=[*_GRID, "operation", "microseconds", "low", "high"])


def growth_rows(base: Size, ladders: dict[str, list[int]], repeats: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(bytes, times) along `ladders`, {field of `Size`: values}, all other fields as in `base`.

    Columns: protocol, quantity, over, claimed, size, and bytes or microseconds (with low, high). claimed: the exponent
    that the paper's orders say (0 constant, 1 linear; d log d counts as 1).
    """
    import pandas as pd

    weighed = [
        (protocol, quantity, over, claimed, value, find(replace(base, **{over: value})))
        for protocol, quantity, over, claimed, find in _BYTES
        for value in ladders[over]
    ]
    timed = [
        (protocol, quantity, over, claimed, value, *costs.clocked(act(replace(base, **{over: value})), repeats))
        for protocol, quantity, over, claimed, act in _TIMES
        for value in ladders[over]
    ]
    grid = ["protocol", "quantity", "over", "claimed", "size"]
    return pd.DataFrame(weighed, columns=[*grid, "bytes"]), pd.DataFrame(
        timed, columns=[*grid, "microseconds", "low", "high"]
    )


def fits(points: pd.DataFrame, value: str) -> pd.DataFrame:
    """Least squares by quantity: protocol, quantity, over, claimed, exponent, fixed, slope. For times take "low".

    exponent: of value against size on log axes, over the larger half of the sizes, where fixed costs matter least.
    fixed + slope x size: the straight line through all of them, weighted so that relative errors count alike.
    """
    import pandas as pd

    rows = []
    for key, part in points.groupby(["protocol", "quantity", "over", "claimed"], sort=False):
        x, y = part["size"].to_numpy(float), part[value].to_numpy(float)
        half = len(x) // 2
        exponent = float(np.polyfit(np.log(x[half - 1 :]), np.log(y[half - 1 :]), 1)[0])
        slope, fixed = np.polyfit(x, y, 1, w=1 / y)
        rows.append((*key, exponent + 0.0, float(fixed), float(slope)))
    return pd.DataFrame(rows, columns=["protocol", "quantity", "over", "claimed", "exponent", "fixed", "slope"])


def _into(party: str, ways) -> int:
    """What everybody gets the tagging server gets too; the synthesis server is who sends it."""
    mine = {"tagging", "everyone"} if party == "tagging" else {party}
    return sum(count for (_, to), count in ways.items() if to in mine)


def _out_of(party: str, ways) -> int:
    return sum(count for (source, _), count in ways.items() if source == party)


def _sums(timed: Sequence[costs.Time], rounds: int) -> tuple[float, float, float]:
    return tuple(rounds * sum(getattr(t, name) for t in timed) for name in ("median", "low", "high"))


def _server_work(size: Size, party: str, timed: Sequence[costs.Time]) -> tuple[float, float, float]:
    """Every message opened; requests evaluated, or tags counted; shares added; buckets reconstructed."""
    sampled, given = round(size.rate * size.users), sum(size.counts())
    first = size.users if party == "tagging" else sampled
    opened = next(t for t in timed if t.operation == "open a sealed message")
    often = {
        "evaluate with proof, a request": size.users, "count a tag": sampled, "add a share": given,
        "reconstruct a bucket": size.released,
    }  # fmt: skip
    mine = [(t, often[t.operation]) for t in timed if t.party == party and t.operation in often]
    mine.append((opened, first + given))
    return tuple(sum(number * getattr(t, name) for t, number in mine) for name in ("median", "low", "high"))


def _weighed(size: Size) -> list[costs.Weight]:
    settings = size.settings()
    return costs.weights(settings, size.users, 0, round(settings.rate * size.users), size.counts())


def _of_user(size: Size) -> int:
    return sum(costs.user_bytes(_weighed(size)).values())


def _tags_from_users(size: Size) -> int:
    """Requests and reports: with no bucket released, they are all that users send."""
    ways = costs.traffic(_weighed(replace(size, released=0)))
    return sum(count for (source, _), count in ways.items() if source == "users")


def _ballots(size: Size) -> int:
    return sum(map(len, size.voting().ballots(np.zeros(size.candidates, dtype=np.int64), Simulation(0))))


def _broadcast(size: Size) -> int:
    return len(size.voting().broadcast(np.zeros((size.candidates, size.dimension), dtype=np.float32)))


_BYTES: list[tuple[str, str, str, float, Callable[[Size], int]]] = [
    (OURS, "user sends for tags", "dimension", 0.0, lambda size: costs.user_bytes(_weighed(size))["sent_first"]),
    (OURS, "user sends for centroids", "dimension", 1.0, lambda size: costs.user_bytes(_weighed(size))["sent_second"]),
    (OURS, "user receives", "released", 1.0, lambda size: costs.user_bytes(_weighed(size))["received"]),
    (OURS, "all users send for tags", "users", 1.0, _tags_from_users),
    (OURS, "user, both ways", "users", 0.0, _of_user),
    (OURS, "user, both ways", "candidates", 0.0, _of_user),
    (OURS, "user, both ways", "rounds", 0.0, _of_user),
    (VOTES, "user sends", "candidates", 1.0, lambda size: size.rounds * _ballots(size)),
    (VOTES, "user receives", "candidates", 1.0, lambda size: size.rounds * _broadcast(size)),
    (VOTES, "user receives", "dimension", 1.0, lambda size: size.rounds * _broadcast(size)),
    (VOTES, "user receives", "rounds", 1.0, lambda size: size.rounds * _broadcast(size)),
]


def _voting_times(voting: VotingRounds, repeats: int) -> list[costs.Time]:
    noise = Simulation(0)
    candidates = noise.add_gaussian(np.zeros((voting.candidates, voting.dimension)), 1.0).astype(np.float32)
    received, vector = voting.broadcast(candidates), candidates[0]
    votes = voting.noisy_vote(0, noise)
    shares = [read_ballot(data) for data in voting.ballots(votes, noise)]
    operations = [
        ("user", "find the nearest candidate, a round", lambda: voting.nearest(received, vector)),
        ("user", "add noise, a round", lambda: voting.noisy_vote(0, noise)),
        ("user", "split and pack, a round", lambda: voting.ballots(votes, noise)),
        ("tagging", "add a ballot", lambda: shares[1].plus(shares[1])),
        ("synthesis", "add a ballot", lambda: shares[0].plus(shares[0])),
        ("synthesis", "open a histogram", lambda: voting.tally(shares)),
    ]
    return [costs.Time(party, name, *costs.clocked(act, repeats)) for party, name, act in operations]


def _projection(size: Size) -> Callable[[], object]:
    """The paper's grid at k = 20."""
    buckets, vector = JLBuckets(20, 0.5, 0, dimension=size.dimension), np.full((1, size.dimension), 0.01)
    return lambda: buckets.assign(vector)


def _asking(size: Size) -> Callable[[], object]:
    noise, key = Simulation(0), oprf.KeyPair.derived(bytes(ristretto.SCALAR_BYTES), b"growth")
    scalar = ristretto.random_scalar(noise)
    blinded = [oprf.blind(b"a bucket", scalar)]
    evaluated, proof = oprf.evaluate(key, blinded, noise)

    def ask() -> object:
        again = [oprf.blind(b"a bucket", scalar)]
        return oprf.finalize([b"a bucket"], [scalar], again, evaluated, key.public, proof)

    return ask


def _rotation(size: Size) -> Callable[[], object]:
    rotation, vector = size.settings().rotation, np.ones(size.dimension)
    return lambda: rotation.forward(vector)


def _masking(size: Size) -> Callable[[], object]:
    settings, noise = size.settings(), Simulation(0)
    plan, steps = settings.plan(size.counts()), np.zeros(settings.rotation.size, dtype=np.int64)
    return lambda: split(noise.add_discrete_gaussian(steps, plan.user_stds[0]), plan.modulus, 2, noise)


def _shares(size: Size) -> Callable[[], object]:
    settings, noise = size.settings(), Simulation(0)
    shares = split(np.zeros(settings.rotation.size, dtype=np.int64), settings.plan(size.counts()).modulus, 2, noise)
    return lambda: summed([shares[0]] * size.users)


def _reconstruction(size: Size) -> Callable[[], object]:
    settings = size.settings()
    plan = settings.plan(size.counts())
    shares = split(np.zeros(settings.rotation.size, dtype=np.int64), plan.modulus, 2, Simulation(0))
    return lambda: [settings.rotation.backward(combine(shares) * plan.step) for _ in range(size.released)]


def _evaluations(size: Size) -> Callable[[], object]:
    noise, key = Simulation(0), oprf.KeyPair.derived(bytes(ristretto.SCALAR_BYTES), b"growth")
    blinded = [oprf.blind(b"a bucket", ristretto.random_scalar(noise))]
    return lambda: [oprf.evaluate(key, blinded, noise) for _ in range(size.users)]


def _counting(size: Size) -> Callable[[], object]:
    drawn = Simulation(0).integers(256, (size.users, 32)).astype("u1")
    tags = [tag.tobytes() for tag in drawn]
    return lambda: _heavy(tags)


def _heavy(tags: list[bytes]) -> list[bytes]:
    from collections import Counter

    return sorted(tag for tag, count in Counter(tags).items() if count >= COUNT)


def _nearest(size: Size) -> Callable[[], object]:
    voting = size.voting()
    received = voting.broadcast(np.ones((size.candidates, size.dimension), dtype=np.float32))
    vector = np.ones(size.dimension, dtype=np.float32)
    return lambda: voting.nearest(received, vector)


def _voting(size: Size) -> Callable[[], object]:
    voting, noise = size.voting(), Simulation(0)
    return lambda: voting.ballots(voting.noisy_vote(0, noise), noise)


_TIMES: list[tuple[str, str, str, float, Callable[[Size], Callable[[], object]]]] = [
    (OURS, "user projects", "dimension", 1.0, _projection),
    (OURS, "user asks for a tag", "users", 0.0, _asking),
    (OURS, "user asks for a tag", "dimension", 0.0, _asking),
    (OURS, "user rotates", "dimension", 1.0, _rotation),
    (OURS, "user masks", "dimension", 1.0, _masking),
    (OURS, "tagging evaluates all", "users", 1.0, _evaluations),
    (OURS, "synthesis counts all tags", "users", 1.0, _counting),
    (OURS, "server adds all shares", "users", 1.0, _shares),
    (OURS, "server adds all shares", "dimension", 1.0, _shares),
    (OURS, "synthesis reconstructs all", "released", 1.0, _reconstruction),
    (OURS, "synthesis reconstructs all", "dimension", 1.0, _reconstruction),
    (VOTES, "user finds the nearest", "candidates", 1.0, _nearest),
    (VOTES, "user finds the nearest", "dimension", 1.0, _nearest),
    (VOTES, "user votes", "candidates", 1.0, _voting),
]
