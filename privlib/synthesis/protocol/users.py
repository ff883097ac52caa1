"""A user: asks for tags blindly, reports by a coin, and sends two shares of a noisy vector for each released tag."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from privlib.dp import NoiseSource
from privlib.synthesis.buckets import private_embeddings
from privlib.synthesis.protocol import oprf, ristretto
from privlib.synthesis.protocol.messages import (
    NONCE_BYTES,
    SYNTHESIS,
    TAG_BYTES,
    TAGGING,
    Contribution,
    Malformed,
    Message,
    Release,
    Report,
    TagReply,
    TagRequest,
    decode,
    encode,
    frame,
    unframe,
)
from privlib.synthesis.protocol.sealing import sealed
from privlib.synthesis.protocol.settings import Settings
from privlib.synthesis.protocol.shares import split
from privlib.synthesis.protocol.vectors import rounded

_UNUSED = b"no bucket"  # with 32 coins after it: 41 bytes, where a bucket's are a multiple of 8


@dataclass(frozen=True)
class ServerKeys:
    """What every user knows before a run: the key that proofs are held against, and each server's key for sealing."""

    function: bytes
    tagging: bytes
    synthesis: bytes


class User:
    """One user at `address` with private `records` float[n, d], n >= 0, and the servers' `keys`.

    Of its records it takes part with one in each of at most `bucket_cap` buckets, chosen at random, and asks for
    exactly `bucket_cap` tags. After a bad proof it sends nothing more: `stopped` says why.
    """

    def __init__(
        self, address: bytes, settings: Settings, keys: ServerKeys, records: np.ndarray, noise: NoiseSource
    ) -> None:
        self.address = address
        self.stopped: str | None = None
        self._settings, self._keys, self._noise = settings, keys, noise
        self._seals = noise.child("seals")
        self._places = self._chosen(private_embeddings(records, settings.buckets.dimension))
        self._asked: tuple[list[bytes], list[bytes], list[bytes]] | None = None
        self._reported: dict[bytes, tuple[bytes, np.ndarray]] | None = None
        self._contributed = False

    def _chosen(self, records: np.ndarray) -> list[tuple[bytes, np.ndarray]]:
        """(bucket, vector) pairs: one record in each of at most `bucket_cap` buckets, both by fair coins."""
        members: defaultdict[bytes, list[np.ndarray]] = defaultdict(list)
        for bucket, vector in zip(*self._settings.places(records), strict=True):
            members[bucket].append(vector)
        coins = self._noise.child("choice")
        buckets = sorted(members)
        order = coins.permutation(len(buckets))[: self._settings.bucket_cap]
        return [(buckets[j], members[buckets[j]][coins.integers(len(members[buckets[j]]))]) for j in order.tolist()]

    def begin(self) -> list[bytes]:
        """The request for tags, the same number of elements for every user."""
        coins = self._noise.child("blinding")
        unused = self._settings.bucket_cap - len(self._places)
        inputs = [bucket for bucket, _ in self._places]
        inputs += [_UNUSED + bytes(coins.integers(256, 32).astype("u1")) for _ in range(unused)]
        blindings = [ristretto.random_scalar(coins) for _ in inputs]
        blinded = [oprf.blind(message, scalar) for message, scalar in zip(inputs, blindings, strict=True)]
        self._asked = inputs, blindings, blinded
        return [self._frame(TAGGING, TagRequest(tuple(blinded)))]

    def receive(self, data: bytes) -> list[bytes]:
        """Answers a frame. What is malformed or out of place is passed over; a bad proof stops the user for good."""
        try:
            source, _, payload = unframe(data)
            message = decode(payload, self._settings.session)
        except Malformed:
            return []
        match message:
            case TagReply() if source == TAGGING and self._asked and self._reported is None and not self.stopped:
                return self._report(message)
            case Release() if source == SYNTHESIS and self._reported and not self._contributed and self._fits(message):
                self._contributed = True
                return self._contribute(message)
        return []

    def _report(self, message: TagReply) -> list[bytes]:
        inputs, blindings, blinded = self._asked
        try:
            outputs = oprf.finalize(inputs, blindings, blinded, message.evaluated, self._keys.function, message.proof)
        except (oprf.BadProof, ristretto.MalformedElement) as error:
            self.stopped = str(error)
            return []
        coins = self._noise.child("reports")
        kept = coins.bernoulli(self._settings.rate, len(self._places))
        self._reported, frames = {}, []
        for (_, vector), output, keep in zip(self._places, outputs, kept.tolist(), strict=False):
            if keep:
                nonce = bytes(coins.integers(256, NONCE_BYTES).astype("u1"))
                self._reported[output[:TAG_BYTES]] = nonce, vector
                frames.append(self._frame(SYNTHESIS, Report(nonce, output[:TAG_BYTES])))
        return frames

    def _fits(self, message: Release) -> bool:
        """Whether it names a tag that this user reported, and counts that there can be.

        Another run's release names no such tag, and must not use up the only contribution. Other counts have no plan.
        """
        possible = range(self._settings.threshold, self._settings.max_users + 1)
        return not self._reported.keys().isdisjoint(message.tags) and all(count in possible for count in message.counts)

    def _contribute(self, message: Release) -> list[bytes]:
        plan = self._settings.plan(message.counts)
        frames = []
        for tag, std in zip(message.tags, plan.user_stds, strict=True):
            if tag in self._reported:
                nonce, vector = self._reported[tag]
                turned = self._settings.rotation.forward(vector)
                steps = rounded(turned, plan.step, self._noise.child("rounding"))
                noisy = self._noise.child("noise").add_discrete_gaussian(steps, std) if std > 0 else steps
                shares = split(noisy, plan.modulus, 2, self._noise.child("shares"))
                for server, share in zip((SYNTHESIS, TAGGING), shares, strict=True):
                    frames.append(self._frame(server, Contribution(nonce, tag, share)))
        return frames

    def _frame(self, destination: bytes, message: Message) -> bytes:
        key = self._keys.tagging if destination == TAGGING else self._keys.synthesis
        payload = sealed(encode(message, self._settings.session), key, self._seals)
        return frame(self.address, destination, payload)
