"""One run from users to published centroids: who is told what, in which order, and what it weighed.

`drive` carries bytes between parties and decides nothing but when a phase is over. Parties may be objects of this
process (fast, for tests) or processes of their own (`processes`); it cannot tell which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from privlib.synthesis.protocol.messages import (
    CLOCK,
    CONTRIBUTIONS,
    EVERYONE,
    REPORTS,
    REQUESTS,
    SYNTHESIS,
    TAGGING,
    Close,
    Published,
    decode,
    encode,
    frame,
    unframe,
)
from privlib.synthesis.protocol.settings import Settings

Progress = Callable[[str, int, int], None]


class Party(Protocol):
    """Anything that answers frames with frames: a server, or a host of some users."""

    def receive(self, data: bytes) -> list[bytes]: ...


class Host(Party, Protocol):
    """Users that live together and share nothing; `begin` gives their first frames."""

    def begin(self) -> list[bytes]: ...


class Relay(Protocol):
    """The anonymous channel."""

    def accept(self, data: bytes) -> None: ...
    def flush(self) -> list[bytes]: ...
    def back(self, data: bytes) -> bytes: ...


@dataclass(frozen=True)
class Outcome:
    """`published` by the synthesis server; `traffic`, bytes sent by (from, to): "users", "tagging", "synthesis",
    "everyone"; a frame through the channel is counted once, from its true sender."""

    published: Published
    traffic: Counter[tuple[str, str]]


class Incomplete(RuntimeError):
    """The synthesis server published nothing, or more than once something else: nothing of the run may be used."""


def drive(
    settings: Settings,
    tagging: Party,
    synthesis: Party,
    channel: Relay,
    hosts: Sequence[tuple[set[bytes], Host]],
    progress: Progress | None = None,
) -> Outcome:
    """Runs all phases. `hosts` are pairs of the addresses of some users and the party that acts for them.

    `progress(phase, done, total)` is called as frames are delivered. Raises Incomplete when nothing is published.
    """
    tell = progress or (lambda phase, done, total: None)
    traffic: Counter[tuple[str, str]] = Counter()
    servers = {TAGGING: tagging, SYNTHESIS: synthesis}
    host_of = {address: host for addresses, host in hosts for address in addresses}

    def weigh(frames: Sequence[bytes]) -> None:
        for data in frames:
            source, destination, _ = unframe(data)
            traffic[_kind(source), _kind(destination)] += len(data)

    def deliver(phase: str, frames: Sequence[bytes]) -> list[bytes]:
        """Hands each frame to the party it is for; everything that they answer."""
        answers = []
        for done, data in enumerate(frames, start=1):
            destination = unframe(data)[1]
            if destination == EVERYONE:
                receivers = [tagging, *(host for _, host in hosts)]
            else:
                receivers = [servers.get(destination) or host_of[destination]]
            for receiver in receivers:
                answers += receiver.receive(data)
            tell(phase, done, len(frames))
        return answers

    def hidden(frames: Sequence[bytes]) -> list[bytes]:
        """Takes frames through the channel."""
        weigh(frames)
        for data in frames:
            channel.accept(data)
        return channel.flush()

    def close(phase: int, *receivers: bytes) -> list[bytes]:
        closing = encode(Close(phase), settings.session)
        return deliver("close", [frame(CLOCK, receiver, closing) for receiver in receivers])

    asked = hidden([data for _, host in hosts for data in host.begin()])
    replies = [channel.back(data) for data in deliver("tags", asked)]
    weigh(replies)
    reports = deliver("replies", replies)
    dummies = close(REQUESTS, TAGGING)
    deliver("reports", hidden([*reports, *dummies]))
    release = close(REPORTS, SYNTHESIS)
    weigh(release)
    deliver("contributions", hidden(deliver("release", release)))
    outgoing = close(CONTRIBUTIONS, TAGGING, SYNTHESIS)
    published: set[bytes] = set()
    while outgoing:
        weigh(outgoing)
        published |= {data for data in outgoing if unframe(data)[1] == EVERYONE}
        outgoing = deliver("sums", outgoing)
    if len(published) != 1:
        raise Incomplete(f"{len(published)} publications where one belongs")
    message = decode(unframe(published.pop())[2], settings.session)
    if not isinstance(message, Published):
        raise Incomplete("the synthesis server ended with another message than its publication")
    return Outcome(message, traffic)


def _kind(address: bytes) -> str:
    return {TAGGING: "tagging", SYNTHESIS: "synthesis", EVERYONE: "everyone"}.get(address, "users")
