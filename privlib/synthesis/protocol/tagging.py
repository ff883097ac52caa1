"""The tagging server: tags without seeing them, dummies, and one of the two shares of every vector."""

from __future__ import annotations

import os
from pathlib import Path

from privlib.dp import NoiseSource
from privlib.synthesis.protocol import oprf, ristretto
from privlib.synthesis.protocol.dummies import draw_dummies
from privlib.synthesis.protocol.log import owners_alone
from privlib.synthesis.protocol.messages import (
    CLOCK,
    CONTRIBUTIONS,
    NONCE_BYTES,
    REQUESTS,
    SESSION_BYTES,
    SYNTHESIS,
    TAG_BYTES,
    TAGGING,
    Close,
    Contribution,
    Holding,
    Message,
    PartialSum,
    Published,
    Release,
    Report,
    TagReply,
    TagRequest,
    encode,
)
from privlib.synthesis.protocol.sealing import SEAL_BYTES, sealed
from privlib.synthesis.protocol.server import Refused, Server, summed
from privlib.synthesis.protocol.settings import Settings

_KEY, _DUMMIES = b"K", b"D"
_REPORT_BYTES = NONCE_BYTES + TAG_BYTES
_BOX_BYTES = SEAL_BYTES + 1 + SESSION_BYTES + _REPORT_BYTES


class KeyLost(ValueError):
    """The file of a key that is still needed is gone or is another key's; the run cannot go on."""


class TaggingServer(Server):
    """Evaluates the pseudorandom function for at most `max_users` blind requests, then never again.

    It opens each released tag's sum of shares once, for one set of contributors: two sums that differ in one user would
    show that user's vector. It withholds a sum that too few contributed to.
    Its key lies in a file of its own beside the log, with the suffix .key, and is deleted when the requests are closed:
    from then on nobody can compute a tag, of a released bucket or any other, and a request gets no answer. (Not
    defended: what a disk or Python's memory keeps of deleted bytes, or a server that copies its key.)
    What it learns: how many users asked, the released tags and counts, which random nonces contributed where. Vectors
    are hidden from it by the other share. Dummies go through the channel, each sealed to the `synthesis_key` once and
    for all: were it sealed again for a repeated end of the requests, the channel could not tell the two boxes for one,
    and the synthesis server would know the reports that come twice for dummies.
    """

    address = TAGGING
    share_index = 1

    def __init__(self, settings: Settings, path: Path, noise: NoiseSource, synthesis_key: bytes) -> None:
        self._key_path, self._synthesis_key = path.with_suffix(".key"), synthesis_key
        super().__init__(settings, path, noise)
        if self.public_key is None:
            seed = bytes(self._noise.integers(256, ristretto.SCALAR_BYTES).astype("u1"))
            _write(self._key_path, seed)  # first: a public key that is known has its secret on the disk
            self._remember(_KEY + oprf.KeyPair.derived(seed, settings.session).public)
        if REQUESTS in self._closed:
            self._erase()
        else:
            self._key = _read(self._key_path, settings.session, self.public_key)

    def _erase(self) -> None:
        self._key = None
        self._key_path.unlink(missing_ok=True)

    def _begin(self) -> None:
        self.public_key: bytes | None = None
        """What every user must know beforehand: the proofs are held against it."""
        self._key: oprf.KeyPair | None = None
        self._dummies: dict[Report, bytes] | None = None  # each with the box that it is sent in
        self._requests = 0
        self._closed: set[int] = set()
        self._opened: dict[bytes, tuple[bytes, ...]] = {}

    def _recall(self, record: bytes) -> None:
        kind, data = record[:1], record[1:]
        if kind == _KEY:
            self.public_key = data
            return
        size = _REPORT_BYTES + _BOX_BYTES
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        self._dummies = {
            Report(part[:NONCE_BYTES], part[NONCE_BYTES:_REPORT_BYTES]): part[_REPORT_BYTES:] for part in parts
        }

    def _check(self, source: bytes, message: Message) -> None:
        match message:
            case TagRequest(blinded):
                if REQUESTS in self._closed or self._requests >= self.settings.max_users:
                    raise Refused("no more tags are given")
                if len(blinded) != self.settings.bucket_cap:
                    raise Refused(f"{len(blinded)} elements where {self.settings.bucket_cap} belong")
                for data in blinded:
                    ristretto.element("blinded", data)
            case Close(phase) if source == CLOCK and phase in (REQUESTS, CONTRIBUTIONS):
                if phase == CONTRIBUTIONS and self.plan is None:
                    raise Refused("nothing is released yet")
            case Release(_, counts) if source == SYNTHESIS:
                if REQUESTS not in self._closed or self.plan is not None:
                    raise Refused("a release comes once, after the requests")
                if min(counts, default=self.settings.threshold) < self.settings.threshold:
                    raise Refused("a released count is below the threshold")
                users, places = self.settings.max_users, self.settings.bucket_cap
                if max(counts, default=0) > users or sum(counts) > users * places:
                    raise Refused(f"released counts are more than {users} users in {places} buckets each can report")
            case Contribution():
                if CONTRIBUTIONS in self._closed:
                    raise Refused("contribution after the last")
                self._check_contribution(message)
            case Holding(tag, _) if source == SYNTHESIS:
                if CONTRIBUTIONS not in self._closed or tag not in self.shares:
                    raise Refused("a sum is opened after the last contribution, for a released tag")
                if tag in self._opened:
                    raise Refused("the sum of this tag was opened for another set of contributors")
            case Published() if source == SYNTHESIS:
                pass
            case _:
                raise Refused(f"{type(message).__name__} is not for the tagging server")

    def _apply(self, source: bytes, message: Message) -> None:
        match message:
            case TagRequest():
                self._requests += 1
            case Close(phase):
                self._closed.add(phase)
            case Release(tags, counts):
                self._open(dict(zip(tags, counts, strict=True)))
            case Contribution(nonce, tag, share):
                self.shares[tag][nonce] = share
            case Holding(tag, nonces):
                self._opened[tag] = nonces

    def _answer(self, source: bytes, message: Message) -> list[tuple[bytes, Message | bytes]]:
        match message:
            case TagRequest(blinded) if self._key is not None:
                evaluated, proof = oprf.evaluate(self._key, blinded, self._noise)
                return [(source, TagReply(tuple(evaluated), proof))]
            case Close(phase) if phase == REQUESTS:
                if self._dummies is None:
                    self._remember(_DUMMIES + self._drawn())
                self._erase()
                return [(SYNTHESIS, box) for box in self._dummies.values()]
            case Holding(tag, nonces):
                return [(SYNTHESIS, self._partial_sum(tag, nonces))]
        return []

    def _drawn(self) -> bytes:
        """Dummy reports, each with its box: for every multiplicity below the threshold some number of random tags."""
        numbers = draw_dummies(
            self.settings.threshold, self.settings.dummy_shift, self.settings.dummy_scale, self._noise.child("dummies")
        )
        coins = self._noise.child("dummy tags")
        reports = []
        for multiplicity, number in enumerate(numbers.tolist(), start=1):
            for _ in range(number):
                tag = bytes(coins.integers(256, TAG_BYTES).astype("u1"))
                nonces = coins.integers(256, (multiplicity, NONCE_BYTES)).astype("u1")
                reports += [Report(nonce.tobytes(), tag) for nonce in nonces]
        return b"".join(report.nonce + report.tag + self._sealed(report) for report in reports)

    def _sealed(self, report: Report) -> bytes:
        return sealed(encode(report, self.settings.session), self._synthesis_key, self._noise)

    def _partial_sum(self, tag: bytes, nonces: tuple[bytes, ...]) -> PartialSum:
        mine = self.shares[tag]
        both = tuple(nonce for nonce in nonces if nonce in mine)
        needed = dict(zip(self.counts, self.plan.needed, strict=True))[tag]
        opened = summed([mine[nonce] for nonce in both]) if len(both) >= needed else None
        return PartialSum(tag, both, opened)


def _write(path: Path, seed: bytes) -> None:
    with open(path, "wb", opener=owners_alone) as file:
        file.write(seed)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path, session: bytes, public: bytes) -> oprf.KeyPair:
    seed = path.read_bytes() if path.exists() else b""
    if len(seed) != ristretto.SCALAR_BYTES or (key := oprf.KeyPair.derived(seed, session)).public != public:
        raise KeyLost("the tagging server's key file is not the one that its log speaks of")
    return key
