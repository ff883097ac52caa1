"""The synthesis server: counts reported tags, releases the heavy ones, adds up shares, publishes centroids once."""

from __future__ import annotations

from collections import Counter

import numpy as np

from privlib.synthesis.protocol.messages import (
    CLOCK,
    CONTRIBUTIONS,
    EVERYONE,
    OPENED,
    REPORTS,
    SYNTHESIS,
    TAGGING,
    TOO_FEW,
    WRAPPED,
    Close,
    Contribution,
    Holding,
    Message,
    PartialSum,
    Published,
    Release,
    Report,
)
from privlib.synthesis.protocol.server import Refused, Server, summed
from privlib.synthesis.protocol.shares import combine


class SynthesisServer(Server):
    """Counts reports by tag; releases tags of at least `threshold`; publishes their centroids, all of them or none.

    It has no key and no address that the tagging server gives tags to. What it learns, and what its bill is about: how
    many tags came how often below the threshold (dummies among them), the heavy tags with their counts, which nonces
    contributed where, and the noisy sums. Its own shares are uniform.
    """

    address = SYNTHESIS
    share_index = 0

    def _begin(self) -> None:
        self._reports: dict[bytes, bytes] = {}
        self._closed: set[int] = set()
        self._sums: dict[bytes, PartialSum] = {}

    def _recall(self, record: bytes) -> None:
        raise ValueError("the synthesis server logs nothing of its own")

    def _check(self, source: bytes, message: Message) -> None:
        match message:
            case Report(nonce, _):
                if REPORTS in self._closed:
                    raise Refused("report after the last")
                if nonce in self._reports:
                    raise Refused("report under a nonce that has one")
            case Close(phase) if source == CLOCK and phase in (REPORTS, CONTRIBUTIONS):
                if phase == CONTRIBUTIONS and self.plan is None:
                    raise Refused("nothing is released yet")
            case Contribution(nonce, tag, _):
                if CONTRIBUTIONS in self._closed:
                    raise Refused("contribution after the last")
                self._check_contribution(message)
                if self._reports.get(nonce) != tag:
                    raise Refused("contribution of someone who did not report this tag")
            case PartialSum(tag) if source == TAGGING:
                self._check_sum(tag, message)
            case _:
                raise Refused(f"{type(message).__name__} is not for the synthesis server")

    def _check_sum(self, tag: bytes, message: PartialSum) -> None:
        if CONTRIBUTIONS not in self._closed or tag not in self.shares or tag in self._sums:
            raise Refused("a sum comes once, after the last contribution, for a released tag")
        if not set(message.nonces) <= set(self.shares[tag]):
            raise Refused("a sum over contributors that are not here")
        needed = dict(zip(self.counts, self.plan.needed, strict=True))[tag]
        if (message.share is None) != (len(message.nonces) < needed):
            raise Refused("a sum is withheld exactly when too few contributed")
        share = message.share
        if share is not None and (share.index, share.parties, share.modulus, len(share.values)) != (
            1, 2, self.plan.modulus, self.settings.rotation.size,
        ):  # fmt: skip
            raise Refused("a sum of another index, modulus or length")

    def _apply(self, source: bytes, message: Message) -> None:
        match message:
            case Report(nonce, tag):
                self._reports[nonce] = tag
            case Close(phase):
                self._closed.add(phase)
                if phase == REPORTS:
                    counts = Counter(self._reports.values())
                    heavy = sorted(tag for tag, count in counts.items() if count >= self.settings.threshold)
                    self._open({tag: counts[tag] for tag in heavy})
            case Contribution(nonce, tag, share):
                self.shares[tag][nonce] = share
            case PartialSum(tag):
                self._sums[tag] = message

    def _answer(self, source: bytes, message: Message) -> list[tuple[bytes, Message]]:
        match message:
            case Close(phase) if phase == REPORTS:
                return [(EVERYONE, Release(tuple(self.counts), tuple(self.counts.values())))]
            case Close(phase) if phase == CONTRIBUTIONS and self.counts:
                return [(TAGGING, Holding(tag, tuple(sorted(self.shares[tag])))) for tag in self.counts]
            case Close(phase) if phase == CONTRIBUTIONS:
                return [(EVERYONE, self._published())]
            case PartialSum() if len(self._sums) == len(self.counts):
                return [(EVERYONE, self._published())]
        return []

    def _published(self) -> Published:
        """All centroids; a function of the log, so it is the same however often it is sent."""
        states, centroids = [], np.zeros((len(self.counts), self.settings.buckets.dimension))
        for row, tag in enumerate(self.counts):
            state, centroid = self._centroid(self._sums[tag])
            states.append(state)
            if centroid is not None:
                centroids[row] = centroid
        contributors = tuple(len(self._sums[tag].nonces) for tag in self.counts)
        return Published(tuple(self.counts), tuple(states), contributors, centroids)

    def _centroid(self, other: PartialSum) -> tuple[int, np.ndarray | None]:
        if other.share is None:
            return TOO_FEW, None
        mine = summed([self.shares[other.tag][nonce] for nonce in other.nonces])
        total = combine([mine, other.share])
        # the modulus leaves more than as much room as sums can fill: what lies there has wrapped round
        if (np.abs(total) > self.plan.bound).any():
            return WRAPPED, None
        return OPENED, self.settings.rotation.backward(total * self.plan.step) / len(other.nonces)
