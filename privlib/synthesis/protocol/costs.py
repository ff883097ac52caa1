"""What a run weighs and takes: every message as its real bytes, every operation timed on real inputs.

Bytes are exact: `weights` gives them for public settings and the numbers of a run, and they add up to what the run
itself weighed. Times are of this machine: CPU time of this process, the median of several repeats and the span of all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import Simulation, checks
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol import oprf, ristretto
from privlib.synthesis.protocol.sealing import SEAL_BYTES, SEED_BYTES, BoxKey, sealed
from privlib.synthesis.protocol.server import summed
from privlib.synthesis.protocol.settings import Settings
from privlib.synthesis.protocol.shares import Share, combine, split
from privlib.synthesis.protocol.vectors import rounded


@dataclass(frozen=True)
class Weight:
    """One kind of message: from whom to whom (as in `Outcome.traffic`), its bytes as a frame, how many a run has."""

    message: str
    source: str
    destination: str
    frame_bytes: int
    number: int


@dataclass(frozen=True)
class Time:
    """CPU time of one operation of `party`, microseconds: median, least and largest over the repeats."""

    party: str
    operation: str
    median: float
    low: float
    high: float


def weights(settings: Settings, users: int, dummies: int, reports: int, counts: Sequence[int]) -> list[Weight]:
    """All messages of a run of `users` that sent `reports` beside `dummies`, with these released `counts`, no drop-out.

    Holdings and partial sums grow with their count: one entry for each released bucket.
    """
    places, size = settings.bucket_cap, settings.rotation.size
    plan = settings.plan(tuple(counts))
    tags = tuple(number.to_bytes(m.TAG_BYTES, "big") for number in range(len(counts)))
    share = Share(0, 2, plan.modulus, np.zeros(size, dtype=np.int64))
    elements = (bytes(ristretto.ELEMENT_BYTES),) * places
    nonces = [tuple(number.to_bytes(m.NONCE_BYTES, "big") for number in range(count)) for count in counts]
    report = m.Report(bytes(m.NONCE_BYTES), bytes(m.TAG_BYTES))
    given = m.Contribution(report.nonce, report.tag, share)
    published = m.Published(tags, (0,) * len(tags), (0,) * len(tags), np.zeros((len(tags), settings.buckets.dimension)))
    kinds: list[tuple[str, str, m.Message, int]] = [
        ("users", "tagging", m.TagRequest(elements), users),
        ("tagging", "users", m.TagReply(elements, bytes(oprf.PROOF_BYTES)), users),
        ("users", "synthesis", report, reports),
        ("tagging", "synthesis", report, dummies),
        ("synthesis", "everyone", m.Release(tags, tuple(counts)), 1),
        ("users", "synthesis", given, sum(counts)),
        ("users", "tagging", given, sum(counts)),
        *(("synthesis", "tagging", m.Holding(report.tag, some), 1) for some in nonces),
        *(("tagging", "synthesis", m.PartialSum(report.tag, some, share), 1) for some in nonces),
        ("synthesis", "everyone", published, 1),
    ]
    return [
        Weight(type(message).__name__, source, to, _weight(message, settings, source, to), number)
        for source, to, message, number in kinds
    ]


def traffic(weighed: Sequence[Weight]) -> Counter[tuple[str, str]]:
    """Bytes by (from, to), as a run's `Outcome.traffic` has them."""
    total: Counter[tuple[str, str]] = Counter()
    for weight in weighed:
        total[weight.source, weight.destination] += weight.frame_bytes * weight.number
    return +total


def user_bytes(weighed: Sequence[Weight]) -> dict[str, int]:
    """Bytes of one user that reports and whose bucket is released: sent in each phase, and received."""
    one: Counter[tuple[str, str, str]] = Counter()
    for weight in weighed:
        one[weight.message, weight.source, weight.destination] = weight.frame_bytes
    contribution = [one["Contribution", "users", server] for server in ("tagging", "synthesis")]
    return {
        "sent_first": one["TagRequest", "users", "tagging"] + one["Report", "users", "synthesis"],
        "sent_second": sum(contribution),
        "received": one["TagReply", "tagging", "users"] + one["Release", "synthesis", "everyone"],
    }


def times(settings: Settings, counts: Sequence[int], repeats: int = 5, seed: int = 0) -> list[Time]:
    """Every operation on random inputs of the real size, with these released counts: per user, element, tag, share or
    bucket, as its name says. Pure arithmetic of the party: no pipe, no disk."""
    noise, plan = Simulation(seed), settings.plan(tuple(counts))
    places = settings.bucket_cap
    record = settings.buckets.origins(np.zeros((1, _tag_length(settings)), dtype=np.int64)).astype(np.float64)
    key = oprf.KeyPair.derived(bytes(ristretto.SCALAR_BYTES), b"costs")
    inputs = [number.to_bytes(8, "big") for number in range(places)]
    blindings = [ristretto.random_scalar(noise) for _ in inputs]
    blinded = [oprf.blind(message, scalar) for message, scalar in zip(inputs, blindings, strict=True)]
    evaluated, proof = oprf.evaluate(key, blinded, noise)
    turned = settings.rotation.forward(record[0])
    steps = rounded(turned, plan.step, noise)
    std = max(plan.user_stds, default=1.0)
    shares = [split(steps, plan.modulus, 2, noise) for _ in range(8)]
    tags = noise.integers(256, (64, m.TAG_BYTES)).astype("u1")
    reported = [tags[number].tobytes() for number in noise.integers(64, 2000)]
    released = tuple(sorted(number.to_bytes(m.TAG_BYTES, "big") for number in range(len(counts))))
    release = m.encode(m.Release(released, tuple(counts)), settings.session)
    request = m.encode(m.TagRequest(tuple(blinded)), settings.session)
    box = BoxKey.derived(bytes(SEED_BYTES))
    in_box = sealed(request, box.public, noise)

    def reconstruct() -> np.ndarray:
        return settings.rotation.backward(combine(shares[0]) * plan.step) / 2

    operations: list[tuple[str, str, Callable[[], object], int]] = [
        ("user", "find the bucket and clip", lambda: settings.places(record), 1),
        ("user", "blind", lambda: [oprf.blind(a, b) for a, b in zip(inputs, blindings, strict=True)], 1),
        ("user", "check the proof and unblind",
         lambda: oprf.finalize(inputs, blindings, blinded, evaluated, key.public, proof), 1),
        ("user", "seal its four messages", lambda: [sealed(request, box.public, noise) for _ in range(4)], 1),
        ("user", "read the release", lambda: m.decode(release, settings.session), 1),
        ("user", "rotate", lambda: settings.rotation.forward(record[0]), 1),
        ("user", "round", lambda: rounded(turned, plan.step, noise), 1),
        ("user", "add noise", lambda: noise.add_discrete_gaussian(steps, std), 1),
        ("user", "split and pack", lambda: _packed(split(steps, plan.modulus, 2, noise), settings), 1),
        ("tagging", "evaluate with proof, a request", lambda: oprf.evaluate(key, blinded, noise), 1),
        ("tagging", "open a sealed message", lambda: box.opened(in_box), 1),
        ("tagging", "add a share", lambda: summed([pair[1] for pair in shares]), len(shares)),
        ("synthesis", "count a tag", lambda: Counter(reported), len(reported)),
        ("synthesis", "add a share", lambda: summed([pair[0] for pair in shares]), len(shares)),
        ("synthesis", "reconstruct a bucket", reconstruct, 1),
    ]  # fmt: skip
    return [Time(party, name, *clocked(act, repeats, per)) for party, name, act, per in operations]


def clocked(act: Callable[[], object], repeats: int, per: int = 1) -> tuple[float, float, float]:
    """CPU microseconds of this process for `act()` / `per`: median, least and largest of `repeats` >= 1, each long
    enough (2 ms) for the clock."""
    checks.whole("repeats", repeats, at_least=1)
    act()
    began = time.process_time_ns()
    act()
    loops = max(1, round(2e6 / max(1, time.process_time_ns() - began)))
    taken = []
    for _ in range(repeats):
        began = time.process_time_ns()
        for _ in range(loops):
            act()
        taken.append((time.process_time_ns() - began) / (1000 * loops * per))
    return float(np.median(taken)), min(taken), max(taken)


def _weight(message: m.Message, settings: Settings, source: str, to: str) -> int:
    through_channel = (source, type(message)) == ("tagging", m.Report) or source == "users"
    size = len(m.frame(m.TAGGING, m.SYNTHESIS, m.encode(message, settings.session)))
    return size + SEAL_BYTES * through_channel


def _packed(shares: Sequence[Share], settings: Settings) -> list[bytes]:
    nonce, tag = bytes(m.NONCE_BYTES), bytes(m.TAG_BYTES)
    return [m.encode(m.Contribution(nonce, tag, share), settings.session) for share in shares]


def _tag_length(settings: Settings) -> int:
    return settings.buckets.assign(np.zeros((1, settings.buckets.dimension))).shape[1]
