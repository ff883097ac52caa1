"""What both servers share: every accepted frame is logged before anyone is answered, and answered the same way again.

State is a function of the log, so a server that is stopped anywhere and started from its log goes on where it was. A
frame that was accepted before is answered again and counted once; one that cannot be accepted is refused: its reason
is kept, nothing else changes, nobody is answered. Frames may come in batches, which wait for the disk once.
A log is secret: it holds the seed of the server's box and every frame opened. Only its owner may read the file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from privlib.dp import NoiseSource
from privlib.synthesis.protocol.log import Log, read_log
from privlib.synthesis.protocol.messages import (
    CLOCK,
    EVERYONE,
    SYNTHESIS,
    TAGGING,
    Contribution,
    Malformed,
    Message,
    decode,
    encode,
    frame,
    unframe,
)
from privlib.synthesis.protocol.ristretto import MalformedElement
from privlib.synthesis.protocol.sealing import SEED_BYTES, BoxKey, NotSealed
from privlib.synthesis.protocol.settings import Plan, Settings
from privlib.synthesis.protocol.shares import Share

_FRAME, _OWN, _START, _BOX = b"F", b"O", b"S", b"B"
_OPEN = {CLOCK, SYNTHESIS, TAGGING}  # whoever is not behind the channel speaks to a server directly


class Refused(ValueError):
    """A message that reads well but has no place here: wrong time, wrong sender, wrong size, or told before."""


class Broken(RuntimeError):
    """A server that an error stopped in the middle of a batch: its memory may be ahead of its log, so it must not go on
    but be started again from the log."""


class Server(ABC):
    """One server of a run at `address`, with the log at `path`; `noise` gives every coin it needs.

    Frames through the channel must be sealed to its `box_key`; the log holds them opened. `refused` lists why frames
    were turned away since the start.
    """

    address: bytes
    share_index: int

    def __init__(self, settings: Settings, path: Path, noise: NoiseSource) -> None:
        self.settings = settings
        self.refused: list[str] = []
        self._broken = False
        self._log = Log(path)
        self._seen: set[bytes] = set()
        self.plan: Plan | None = None
        self.counts: dict[bytes, int] = {}
        self.shares: dict[bytes, dict[bytes, Share]] = {}  # tag -> nonce -> share
        self._box: BoxKey | None = None
        starts = 0
        self._begin()
        for record in self._log.records:
            if record[:1] == _FRAME:
                source, _, payload = unframe(record[1:])
                self._accept(record[1:], source, decode(payload, settings.session))
            elif record[:1] == _OWN:
                self._recall(record[1:])
            elif record[:1] == _BOX:
                self._box = BoxKey.derived(record[1:])
            else:
                starts += 1
        # a seeded source would give the coins of an earlier start again: a proof's scalar used twice gives the key away
        self._noise = noise.child(f"start {starts}")
        self._log.append(_START)
        if self._box is None:
            seed = bytes(self._noise.integers(256, SEED_BYTES).astype("u1"))
            self._log.append(_BOX + seed)
            self._box = BoxKey.derived(seed)

    @property
    def box_key(self) -> bytes:
        """What whoever sends it something through the channel must know beforehand."""
        return self._box.public

    def receive(self, data: bytes) -> list[bytes]:
        """Frames that answer the frame `data`; none when it is refused."""
        return self.receive_all([data])

    def receive_all(self, frames: Sequence[bytes]) -> list[bytes]:
        """Frames that answer `frames`, taken in one after another, each answer once; all are logged before the first
        is answered. After any error that comes out of here every later call raises Broken: memory may be ahead of the
        log, on a full disk for one."""
        if self._broken:
            raise Broken(f"the server at {self.address!r} failed in an earlier batch: start it again from its log")
        self._broken = True
        answers = self._taken(frames)
        self._broken = False
        return answers

    def _taken(self, frames: Sequence[bytes]) -> list[bytes]:
        accepted, fresh = [], []
        for data in frames:
            try:
                source, destination, payload = unframe(data)
                if destination not in (self.address, EVERYONE):
                    raise Refused("frame for someone else")
                if source not in _OPEN:
                    payload = self._box.opened(payload)
                    data = frame(source, destination, payload)
                message = decode(payload, self.settings.session)
                if data not in self._seen:
                    self._check(source, message)
                    self._accept(data, source, message)
                    fresh.append(_FRAME + data)
                accepted.append((source, message))
            except (Malformed, MalformedElement, NotSealed, Refused) as error:
                self.refused.append(str(error))
        if fresh:
            self._log.append(*fresh)
        answers = [pair for source, message in accepted for pair in self._answer(source, message)]
        return list(dict.fromkeys(self._frame(where, answer) for where, answer in answers))

    def _accept(self, data: bytes, source: bytes, message: Message) -> None:
        self._seen.add(data)
        self._apply(source, message)

    def _remember(self, record: bytes) -> None:
        """Logs something of one's own (a key, drawn dummies) before it is used."""
        self._log.append(_OWN + record)
        self._recall(record)

    def _frame(self, destination: bytes, message: Message | bytes) -> bytes:
        payload = message if isinstance(message, bytes) else encode(message, self.settings.session)
        return frame(self.address, destination, payload)

    def _open(self, counts: dict[bytes, int]) -> None:
        """The released tags are known: so is the plan for their sums."""
        self.counts = counts
        self.plan = self.settings.plan(tuple(counts.values()))
        self.shares = {tag: {} for tag in counts}

    def _check_contribution(self, message: Contribution) -> None:
        """Refuses a share of an unknown tag, of another size, or under a nonce that already has one."""
        share, plan = message.share, self.plan
        if plan is None or message.tag not in self.shares:
            raise Refused("contribution to a tag that is not released")
        if (share.index, share.parties) != (self.share_index, 2):
            raise Refused(f"share {share.index} of {share.parties} where {self.share_index} of 2 belongs")
        if share.modulus != plan.modulus:
            raise Refused(f"share modulo {share.modulus} where {plan.modulus} belongs")
        if len(share.values) != self.settings.rotation.size:
            raise Refused(f"share of {len(share.values)} entries where {self.settings.rotation.size} belong")
        if message.nonce in self.shares[message.tag]:
            raise Refused("contribution under a nonce that has one")

    @abstractmethod
    def _begin(self) -> None:
        """Sets the state of a server that has seen nothing; called before the log is read."""

    @abstractmethod
    def _recall(self, record: bytes) -> None:
        """Takes back something of one's own from the log, as `_remember` wrote it."""

    @abstractmethod
    def _check(self, source: bytes, message: Message) -> None:
        """Raises Refused for a message that has no place here now; changes nothing."""

    @abstractmethod
    def _apply(self, source: bytes, message: Message) -> None:
        """Changes the state by a checked message; draws no coin, as it runs again at a restart."""

    @abstractmethod
    def _answer(self, source: bytes, message: Message) -> list[tuple[bytes, Message | bytes]]:
        """(address, message) of each answer, the same however often it is asked for; bytes are a sealed message."""


def summed(shares: list[Share]) -> Share:
    """One party's share of the sum, of at least one share."""
    total = shares[0]
    for share in shares[1:]:
        total = total.plus(share)
    return total


def transcript(path: Path, settings: Settings) -> list[tuple[bytes, Message]]:
    """(source, message) of every frame that the server with the log at `path` accepted, in order: all that it saw.

    Reads only, so a server may be at work. Raises as `read_log`.
    """
    frames = [unframe(record[1:]) for record in read_log(path) if record[:1] == _FRAME]
    return [(source, decode(payload, settings.session)) for source, _, payload in frames]
