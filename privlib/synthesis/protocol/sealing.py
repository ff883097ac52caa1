"""Sealed boxes: what passes through the channel can be read by its receiver alone, and not be changed unseen.

The box is libsodium's crypto_box_seal: a fresh X25519 key, XSalsa20 and Poly1305 under the secret that it shares with
the receiver's. `rbcl` wraps the group only, so the functions are called in the libsodium that it bundles; the fresh key
comes from the sender's own noise source, and what is made opens with crypto_box_seal_open. A box does not say who made
it: the channel admits registered senders. Not defended: length, and who opens what later with a stolen key; a server
keeps its key's seed in its log, so the log is as secret as the key.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass

from privlib.dp import NoiseSource

KEY_BYTES = SEED_BYTES = 32
SEAL_BYTES = 48
"""A box is so much longer than what is in it."""
_NONCE_BYTES, _TAG_BYTES = 24, 16


class NotSealed(ValueError):
    """Bytes that are no box to this key, or were changed."""


@dataclass(frozen=True)
class BoxKey:
    """A receiver's key, from a secret seed of 32 bytes: `public` is what senders need; the secret is never printed."""

    public: bytes
    secret: bytes

    def __repr__(self) -> str:
        return f"BoxKey(public={self.public.hex()})"

    @classmethod
    def derived(cls, seed: bytes) -> BoxKey:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"seed must be {SEED_BYTES} bytes, got {len(seed)}")
        public, secret = ctypes.create_string_buffer(KEY_BYTES), ctypes.create_string_buffer(KEY_BYTES)
        _done(_sodium().crypto_box_seed_keypair(public, secret, seed))
        return cls(public.raw, secret.raw)

    def opened(self, box: bytes) -> bytes:
        """What was sealed to this key; NotSealed for anything else."""
        if len(box) < SEAL_BYTES:
            raise NotSealed(f"a box has at least {SEAL_BYTES} bytes")
        found = ctypes.create_string_buffer(max(1, len(box) - SEAL_BYTES))
        length = ctypes.c_ulonglong(len(box))
        if _sodium().crypto_box_seal_open(found, box, length, self.public, self.secret):
            raise NotSealed("bytes that are not sealed to this key, or were changed")
        return found.raw[: len(box) - SEAL_BYTES]


def sealed(message: bytes, public: bytes, noise: NoiseSource) -> bytes:
    """`message` for the holder of the key behind `public`, 48 bytes longer; the fresh key takes 32 bytes of `noise`."""
    if len(public) != KEY_BYTES:
        raise ValueError(f"public must be {KEY_BYTES} bytes, got {len(public)}")
    fresh = BoxKey.derived(bytes(noise.integers(256, SEED_BYTES).astype("u1")))
    nonce = ctypes.create_string_buffer(_NONCE_BYTES)
    both = fresh.public + public
    _done(
        _sodium().crypto_generichash(
            nonce, ctypes.c_size_t(_NONCE_BYTES), both, ctypes.c_ulonglong(len(both)), None, ctypes.c_size_t(0)
        )
    )
    box = ctypes.create_string_buffer(len(message) + _TAG_BYTES)
    length = ctypes.c_ulonglong(len(message))
    _done(_sodium().crypto_box_easy(box, message, length, nonce, public, fresh.secret))
    return fresh.public + box.raw


def _done(status: int) -> None:
    if status != 0:
        raise ValueError("libsodium refused a key")


@functools.lru_cache(maxsize=1)
def _sodium() -> ctypes.CDLL:
    from rbcl._sodium import _sodium as library

    return library
