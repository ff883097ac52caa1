"""The group ristretto255 (RFC 9496) through libsodium, with every length and encoding checked before it is called.

Elements and scalars are their 32-byte encodings. Hashing to either is RFC 9380's expand_message_xmd with SHA-512.
Not defended: timing. Python's integers, slices and exceptions take as long as they take.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from types import ModuleType

from privlib.dp import NoiseSource

ELEMENT_BYTES = SCALAR_BYTES = 32
ORDER = 2**252 + 27742317777372353535851937790883648493
_IDENTITY = bytes(ELEMENT_BYTES)


class MalformedElement(ValueError):
    """Bytes that are no element other than the identity, or no scalar in [1, order)."""


def element(name: str, data: bytes) -> bytes:
    """`data` when it is the canonical encoding of a group element other than the identity; MalformedElement else."""
    if not isinstance(data, bytes) or len(data) != ELEMENT_BYTES:
        raise MalformedElement(f"{name} must be {ELEMENT_BYTES} bytes")
    if data == _IDENTITY or not _sodium().crypto_core_ristretto255_is_valid_point(data):
        raise MalformedElement(f"{name} must encode an element of the group other than its identity")
    return data


def scalar(name: str, data: bytes, *, zero: bool = False) -> bytes:
    """`data` when it encodes an integer in [1, order), from 0 where `zero`; MalformedElement else."""
    if not isinstance(data, bytes) or len(data) != SCALAR_BYTES:
        raise MalformedElement(f"{name} must be {SCALAR_BYTES} bytes")
    if not (0 if zero else 1) <= int.from_bytes(data, "little") < ORDER:
        raise MalformedElement(f"{name} must encode an integer in [{0 if zero else 1}, order)")
    return data


def random_scalar(noise: NoiseSource) -> bytes:
    """A uniform scalar in [1, order), from 64 uniform bytes of `noise`: its distance from uniform is below 2^-250."""
    while True:
        drawn = reduced(bytes(noise.integers(256, 2 * SCALAR_BYTES).astype("u1")))
        if any(drawn):
            return drawn


def reduced(data: bytes) -> bytes:
    """64 bytes, little-endian, modulo the order."""
    return _sodium().crypto_core_ristretto255_scalar_reduce(data)


def times(factor: bytes, point: bytes) -> bytes:
    """factor x point, both checked by the caller; the order is prime, so the result is never the identity."""
    return _sodium().crypto_scalarmult_ristretto255(factor, point)


def times_generator(factor: bytes) -> bytes:
    return _sodium().crypto_scalarmult_ristretto255_base(factor)


def weighted_sum(factors: Sequence[bytes], points: Sequence[bytes]) -> bytes:
    """Sum of factor x point over lists of one length >= 1."""
    total = _IDENTITY
    for factor, point in zip(factors, points, strict=True):
        total = _sodium().crypto_core_ristretto255_add(total, times(factor, point))
    return total


def inverse(factor: bytes) -> bytes:
    return _sodium().crypto_core_ristretto255_scalar_invert(factor)


def minus_product(base: bytes, a: bytes, b: bytes) -> bytes:
    """base - a b modulo the order."""
    sodium = _sodium()
    product = sodium.crypto_core_ristretto255_scalar_mul(a, b)
    return sodium.crypto_core_ristretto255_scalar_sub(base, product)


def plus(a: bytes, b: bytes) -> bytes:
    return _sodium().crypto_core_ristretto255_add(a, b)


def hash_to_element(message: bytes, tag: bytes) -> bytes:
    """Element that nobody knows the logarithm of (hash_to_ristretto255, RFC 9380, Appendix B)."""
    return _sodium().crypto_core_ristretto255_from_hash(_expanded(message, tag))


def hash_to_scalar(message: bytes, tag: bytes) -> bytes:
    return reduced(_expanded(message, tag))


def _expanded(message: bytes, tag: bytes) -> bytes:
    """64 uniform bytes: expand_message_xmd with SHA-512, one block (RFC 9380, Section 5.3.1); tags below 256 bytes."""
    ending = tag + bytes([len(tag)])
    block_length, output_length = 128, 64
    first = hashlib.sha512(bytes(block_length) + message + output_length.to_bytes(2, "big") + b"\0" + ending).digest()
    return hashlib.sha512(first + b"\1" + ending).digest()


@functools.lru_cache(maxsize=1)
def _sodium() -> ModuleType:
    import rbcl

    return rbcl
