"""The anonymous channel: holds what came in, forgets from whom, passes it on in a random order.

It is trusted to hide who sent what from the servers and to admit only registered senders, each once a phase and
receiver. It reads nothing that matters: payloads to a server are sealed to it (`sealing`), replies hold a blind element
and a proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from privlib.dp import NoiseSource
from privlib.synthesis.protocol.messages import ADDRESS_BYTES, SYNTHESIS, TAGGING, Malformed, frame, unframe

NOBODY = bytes(ADDRESS_BYTES)


class Channel:
    """A shuffling relay for `senders`, each with how many frames it may send to each receiver in each phase.

    None: as many as it likes, in one phase alone. This is the tagging server's allowance: were the requests ended again
    in a later phase, the same boxes would pass twice, and the synthesis server would know the dummies by that.
    `accept` takes a frame in; `flush` passes all of them on, in random order, under fresh handles in place of the
    senders; `back` finds who is behind a handle, for the reply, until the next flush. Of a frame it keeps sender,
    receiver and length only once it has been passed on. `refused` lists why frames were turned away. Not defended: what
    the time of arrival tells, and traffic inside one phase.
    """

    def __init__(self, senders: dict[bytes, int | None], noise: NoiseSource) -> None:
        self._allowance = senders
        self._noise = noise
        self._waiting: dict[bytes, None] = {}  # in order of arrival; a frame that comes twice is one frame
        self._sent: Counter[tuple[bytes, bytes]] = Counter()
        self._senders: dict[bytes, bytes] = {}
        self._done: set[bytes] = set()  # senders without a limit whose one phase is over
        self.refused: list[str] = []
        self.transcript: list[tuple[bytes, bytes, int]] = []

    def accept(self, data: bytes) -> None:
        """Takes a frame in. Raises Malformed for a stranger, one frame too many, or one of a phase too late; the same
        bytes again are ignored."""
        if data in self._waiting:
            return
        source, destination, payload = unframe(data)
        if source not in self._allowance:
            raise Malformed("frame from a sender that is not registered")
        allowed = self._allowance[source]
        if allowed is not None and self._sent[source, destination] >= allowed:
            raise Malformed(f"more than {allowed} frames of one sender to one receiver in one phase")
        if source in self._done:
            raise Malformed("frame of a second phase from a sender of one phase")
        self._sent[source, destination] += 1
        self._waiting[data] = None
        self.transcript.append((source, destination, len(payload)))

    def flush(self) -> list[bytes]:
        """Everything taken in since the last flush, shuffled, senders replaced by handles; older handles are forgotten:
        they stand in the servers' logs."""
        frames = list(self._waiting)
        self._done.update(source for source, _ in self._sent if self._allowance[source] is None)
        self._waiting, self._sent, self._senders = {}, Counter(), {}
        passed = []
        handles = self._noise.integers(256, (len(frames), ADDRESS_BYTES)).astype("u1")
        for place, drawn in zip(self._noise.permutation(len(frames)).tolist(), handles, strict=True):
            source, destination, payload = unframe(frames[place])
            handle = drawn.tobytes()
            self._senders[handle] = source
            passed.append(frame(handle, destination, payload))
        return passed

    def accept_all(self, frames: Sequence[bytes]) -> list[bytes]:
        """Takes in frames to the two servers; those that it refuses, which change nothing for the others."""
        turned_away = []
        for data in frames:
            try:
                if unframe(data)[1] not in (TAGGING, SYNTHESIS):
                    raise Malformed("frame to someone who is no server")
                self.accept(data)
            except Malformed as error:
                self.refused.append(str(error))
                turned_away.append(data)
        return turned_away

    def back_all(self, frames: Sequence[bytes]) -> list[bytes]:
        return [self.back(data) for data in frames]

    def back(self, data: bytes) -> bytes:
        """A reply to a handle, addressed to the sender behind it. Malformed when there is none."""
        source, handle, payload = unframe(data)
        if handle not in self._senders:
            raise Malformed("reply to an unknown handle")
        return frame(source, self._senders[handle], payload)
