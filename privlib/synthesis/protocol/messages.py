"""Messages as bytes: every field of a stated length, every message read to its last byte or refused.

A frame is source (8 bytes), destination (8 bytes), then a message: kind (1 byte), session (8 bytes: the digest of the
public settings), body. Numbers are big-endian. What does not read exactly so raises `Malformed`, which shows no value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from privlib.synthesis.protocol.oprf import PROOF_BYTES
from privlib.synthesis.protocol.ristretto import ELEMENT_BYTES
from privlib.synthesis.protocol.shares import Share

ADDRESS_BYTES = SESSION_BYTES = 8
TAG_BYTES = 32  # of the function's 64: two buckets get one tag with a chance below 2^-128 x buckets^2
NONCE_BYTES = 16
LARGEST_VECTOR = 1 << 16


class Malformed(ValueError):
    """Bytes that are no message of this protocol, session or size."""


@dataclass(frozen=True)
class TagRequest:
    """User to tagging server: one blinded element for each place a user has, used or not."""

    blinded: tuple[bytes, ...]


@dataclass(frozen=True)
class TagReply:
    """Tagging server to user: evaluated elements in the same order, one proof for all."""

    evaluated: tuple[bytes, ...]
    proof: bytes


@dataclass(frozen=True)
class Report:
    """User, or a dummy, to synthesis server: a tag, and a fresh nonce by which a second copy is known."""

    nonce: bytes
    tag: bytes


@dataclass(frozen=True)
class Release:
    """Synthesis server to everyone: heavy tags in order, and their reported counts."""

    tags: tuple[bytes, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Contribution:
    """User to one server: its share of a noisy vector, under the nonce of its report."""

    nonce: bytes
    tag: bytes
    share: Share


@dataclass(frozen=True)
class Holding:
    """Synthesis server to tagging server: whose shares for a tag it holds."""

    tag: bytes
    nonces: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class PartialSum:
    """Tagging server to synthesis server: the sum of its shares over the nonces that both hold, or None: withheld."""

    tag: bytes
    nonces: tuple[bytes, ...]
    share: Share | None


@dataclass(frozen=True)
class Close:
    """The clock to a party: nothing more comes in `phase`."""

    phase: int


@dataclass(frozen=True, eq=False)
class Published:
    """Synthesis server to everyone, once: each released tag's state, how many contributed, centroid (zeros if none)."""

    tags: tuple[bytes, ...]
    states: tuple[int, ...]
    contributors: tuple[int, ...]
    centroids: np.ndarray


Message = TagRequest | TagReply | Report | Release | Contribution | Holding | PartialSum | Close | Published
REQUESTS, REPORTS, CONTRIBUTIONS = 1, 2, 3
OPENED, TOO_FEW, WRAPPED = 0, 1, 2
TAGGING, SYNTHESIS, CLOCK, EVERYONE = b"tagging ", b"synthes ", b"clock   ", b"everyone"
_KINDS = (TagRequest, TagReply, Report, Release, Contribution, Holding, PartialSum, Close, Published)


def encode(message: Message, session: bytes) -> bytes:
    """The message's bytes in a session."""
    kind = _KINDS.index(type(message)) + 1
    return bytes([kind]) + session + b"".join(_body(message))


def _body(message: Message):
    match message:
        case TagRequest(blinded):
            yield from (struct.pack(">H", len(blinded)), *blinded)
        case TagReply(evaluated, proof):
            yield from (struct.pack(">H", len(evaluated)), *evaluated, proof)
        case Report(nonce, tag):
            yield from (nonce, tag)
        case Release(tags, counts):
            yield struct.pack(">I", len(tags))
            for tag, count in zip(tags, counts, strict=True):
                yield tag + struct.pack(">I", count)
        case Contribution(nonce, tag, share):
            yield from (nonce, tag, _share_bytes(share))
        case Holding(tag, nonces):
            yield from (tag, struct.pack(">I", len(nonces)), *nonces)
        case PartialSum(tag, nonces, share):
            yield from (tag, struct.pack(">I", len(nonces)), *nonces, bytes([share is not None]))
            if share is not None:
                yield _share_bytes(share)
        case Close(phase):
            yield bytes([phase])
        case Published(tags, states, contributors, centroids):
            yield struct.pack(">II", *centroids.shape)
            for tag, state, number, centroid in zip(tags, states, contributors, centroids, strict=True):
                yield tag + struct.pack(">BI", state, number) + centroid.astype(">f8").tobytes()


def decode(data: bytes, session: bytes) -> Message:
    """The message that `data` is. Raises Malformed for another session, an unknown kind, or bytes missing or left."""
    reader = _Reader(data)
    kind = reader.number(1)
    if reader.take(SESSION_BYTES) != session:
        raise Malformed("message of another session")
    if not 1 <= kind <= len(_KINDS):
        raise Malformed(f"message of unknown kind {kind}")
    message = _READERS[_KINDS[kind - 1]](reader)
    reader.end()
    return message


def frame(source: bytes, destination: bytes, payload: bytes) -> bytes:
    """A payload under two addresses of 8 bytes."""
    return source + destination + payload


def unframe(data: bytes) -> tuple[bytes, bytes, bytes]:
    """(source, destination, payload); Malformed when it is too short for two addresses and a message."""
    reader = _Reader(data)
    return reader.take(ADDRESS_BYTES), reader.take(ADDRESS_BYTES), reader.rest()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise Malformed(f"message ends {count - len(taken)} bytes too early")
        self._at += count
        return taken

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def several(self, count: int, length: int) -> tuple[bytes, ...]:
        data = self.take(count * length)
        return tuple(data[at : at + length] for at in range(0, len(data), length))

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def end(self) -> None:
        if self._at != len(self._data):
            raise Malformed(f"message is {len(self._data) - self._at} bytes too long")


def _share_bytes(share: Share) -> bytes:
    """index, parties, bits of the modulus (a power of two), length, then each residue in as few whole bytes as fit."""
    bits = share.modulus.bit_length() - 1
    if share.modulus != 1 << bits:
        raise ValueError(f"only shares modulo a power of two are sent, got modulus {share.modulus}")
    residues = share.values.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - _width(bits) :]
    return struct.pack(">BBBI", share.index, share.parties, bits, len(share.values)) + residues.tobytes()


def _read_share(reader: _Reader) -> Share:
    index, parties, bits, length = struct.unpack(">BBBI", reader.take(7))
    if not 1 <= bits <= 62 or not 1 <= length <= LARGEST_VECTOR:
        raise Malformed(f"share of {length} residues of {bits} bits")
    width = _width(bits)
    padded = np.zeros((length, 8), dtype=np.uint8)
    padded[:, 8 - width :] = np.frombuffer(reader.take(length * width), dtype=np.uint8).reshape(length, width)
    try:
        return Share(index, parties, 1 << bits, padded.view(">u8").ravel().astype(np.int64))
    except ValueError as error:
        raise Malformed(str(error)) from None


def _width(bits: int) -> int:
    return (bits + 7) // 8


def _read_flagged_share(reader: _Reader) -> Share | None:
    flag = reader.number(1)
    if flag > 1:
        raise Malformed(f"flag {flag} where 0 or 1 belongs")
    return _read_share(reader) if flag else None


def _read_release(reader: _Reader) -> Release:
    count = reader.number(4)
    entries = reader.several(count, TAG_BYTES + 4)
    tags = tuple(entry[:TAG_BYTES] for entry in entries)
    if list(tags) != sorted(set(tags)):
        raise Malformed("released tags are not distinct and in order")
    return Release(tags, tuple(int.from_bytes(entry[TAG_BYTES:], "big") for entry in entries))


def _read_nonces(reader: _Reader) -> tuple[bytes, ...]:
    nonces = reader.several(reader.number(4), NONCE_BYTES)
    if list(nonces) != sorted(set(nonces)):
        raise Malformed("nonces are not distinct and in order")
    return nonces


def _read_published(reader: _Reader) -> Published:
    count, dimension = struct.unpack(">II", reader.take(8))
    entries = reader.several(count, TAG_BYTES + 5 + 8 * dimension)
    heads = [struct.unpack(">BI", entry[TAG_BYTES : TAG_BYTES + 5]) for entry in entries]
    data = b"".join(entry[TAG_BYTES + 5 :] for entry in entries)
    centroids = np.frombuffer(data, dtype=">f8").astype(np.float64).reshape(count, dimension)
    tags = tuple(entry[:TAG_BYTES] for entry in entries)
    return Published(tags, tuple(state for state, _ in heads), tuple(number for _, number in heads), centroids)


_READERS = {
    TagRequest: lambda reader: TagRequest(reader.several(reader.number(2), ELEMENT_BYTES)),
    TagReply: lambda reader: TagReply(reader.several(reader.number(2), ELEMENT_BYTES), reader.take(PROOF_BYTES)),
    Report: lambda reader: Report(reader.take(NONCE_BYTES), reader.take(TAG_BYTES)),
    Release: _read_release,
    Contribution: lambda reader: Contribution(reader.take(NONCE_BYTES), reader.take(TAG_BYTES), _read_share(reader)),
    Holding: lambda reader: Holding(reader.take(TAG_BYTES), _read_nonces(reader)),
    PartialSum: lambda reader: PartialSum(reader.take(TAG_BYTES), _read_nonces(reader), _read_flagged_share(reader)),
    Close: lambda reader: Close(reader.number(1)),
    Published: _read_published,
}
