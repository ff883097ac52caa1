"""One run from users to published centroids: who is told what, in which order, and what it weighed.

`drive` carries bytes between parties and decides nothing but when a phase is over. Parties may be objects of this
process (fast, for tests) or processes of their own (`processes`); it cannot tell which. All receivers of a phase work
at the same time; each is given its frames in batches.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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

    def receive_all(self, frames: Sequence[bytes]) -> list[bytes]: ...


class Host(Party, Protocol):
    """Users that live together and share nothing; `begin` gives the first frames of those at `addresses`."""

    def begin(self, addresses: Sequence[bytes]) -> list[bytes]: ...


class Relay(Protocol):
    """The anonymous channel; `accept_all` gives back the frames that it refuses."""

    def accept_all(self, frames: Sequence[bytes]) -> list[bytes]: ...
    def flush(self) -> list[bytes]: ...
    def back_all(self, frames: Sequence[bytes]) -> list[bytes]: ...


@dataclass(frozen=True)
class Outcome:
    """`published` by the synthesis server; `traffic`, bytes sent by (from, to): "users", "tagging", "synthesis",
    "everyone"; a frame through the channel is counted once, from its true sender, and not when it is refused there."""

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
    batch: int = 256,
) -> Outcome:
    """Runs all phases. `hosts` are pairs of the addresses of some users and the party that acts for them.

    Parties get at most `batch` >= 1 frames at once; `progress(phase, done, total)` is called after each batch.
    Raises Incomplete when nothing is published, or the channel refuses dummies.
    """
    tell, lock = progress or (lambda phase, done, total: None), threading.Lock()
    traffic: Counter[tuple[str, str]] = Counter()
    servers = {TAGGING: tagging, SYNTHESIS: synthesis}
    host_of = {address: host for addresses, host in hosts for address in addresses}

    def batches(items: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        return (items[start : start + batch] for start in range(0, len(items), batch))

    def weigh(frames: Sequence[bytes]) -> None:
        for data in frames:
            source, destination, _ = unframe(data)
            traffic[_kind(source), _kind(destination)] += len(data)

    def together(phase: str, work: Sequence[tuple[Callable, Sequence[bytes]]]) -> list[bytes]:
        """Everything that all who act answer, in the order of `work`: pairs (act, what it is given in batches)."""
        total, done = sum(len(items) for _, items in work), 0

        def act_on(act: Callable, items: Sequence[bytes]) -> list[bytes]:
            nonlocal done
            answers = []
            for some in batches(items):
                answers += act(some)
                with lock:
                    done += len(some)
                    tell(phase, done, total)
            return answers

        with ThreadPoolExecutor(max(1, len(work))) as pool:
            return [answer for answers in pool.map(act_on, *zip(*work, strict=True)) for answer in answers]

    def deliver(phase: str, frames: Sequence[bytes]) -> list[bytes]:
        """Hands each frame to the parties it is for; everything that they answer."""
        queues: dict[int, tuple[Callable, list[bytes]]] = {}
        for data in frames:
            destination = unframe(data)[1]
            if destination == EVERYONE:
                receivers = [tagging, *(host for _, host in hosts)]
            else:
                receivers = [servers.get(destination) or host_of[destination]]
            for receiver in receivers:
                queues.setdefault(id(receiver), (receiver.receive_all, []))[1].append(data)
        return together(phase, list(queues.values())) if queues else []

    def hidden(frames: Sequence[bytes], needed: Sequence[bytes] = ()) -> list[bytes]:
        """Takes frames through the channel; the run goes on without those that it refuses, but for the needed ones."""
        for some in batches(frames):
            refused = set(channel.accept_all(some))
            if not refused.isdisjoint(needed):
                raise Incomplete("the channel refused dummies, without which bare counts would be seen")
            weigh([data for data in some if data not in refused])
        return channel.flush()

    def close(phase: int, *receivers: bytes) -> list[bytes]:
        closing = encode(Close(phase), settings.session)
        return deliver("close", [frame(CLOCK, receiver, closing) for receiver in receivers])

    asked = hidden(together("requests", [(host.begin, sorted(addresses)) for addresses, host in hosts]))
    replies = [back for some in batches(deliver("tags", asked)) for back in channel.back_all(some)]
    weigh(replies)
    reports = deliver("replies", replies)
    dummies = close(REQUESTS, TAGGING)
    deliver("reports", hidden([*reports, *dummies], dummies))
    release = close(REPORTS, SYNTHESIS)
    weigh(release)
    deliver("contributions", hidden(deliver("release", release)))
    channel.flush()  # nobody is answered through it any more: it forgets the last handles too
    outgoing = close(CONTRIBUTIONS, TAGGING, SYNTHESIS)
    published: set[bytes] = set()
    while outgoing:
        weigh(outgoing)
        public = [data for data in outgoing if unframe(data)[1] == EVERYONE]
        published |= set(public)  # users have no part in it: whoever wants it fetches it
        tagging.receive_all(public)
        outgoing = deliver("sums", [data for data in outgoing if unframe(data)[1] != EVERYONE])
    if len(published) != 1:
        raise Incomplete(f"{len(published)} publications where one belongs")
    message = decode(unframe(published.pop())[2], settings.session)
    if not isinstance(message, Published):
        raise Incomplete("the synthesis server ended with another message than its publication")
    return Outcome(message, traffic)


def _kind(address: bytes) -> str:
    return {TAGGING: "tagging", SYNTHESIS: "synthesis", EVERYONE: "everyone"}.get(address, "users")
