"""Verifiable oblivious pseudorandom function of RFC 9497: suite ristretto255-SHA512, mode VOPRF.

A client learns F(key, input); the server learns neither input nor output, and proves that it used the key behind its
public key. One proof covers a batch. Errors are raised, never returned. Not defended: timing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from privlib.dp import NoiseSource
from privlib.synthesis.protocol import ristretto

OUTPUT_BYTES = 64
PROOF_BYTES = 2 * ristretto.SCALAR_BYTES
LONGEST_INPUT = LARGEST_BATCH = 2**16 - 1
_CONTEXT = b"OPRFV1-\x01-ristretto255-SHA512"  # CreateContextString(modeVOPRF), Section 3.1


class BadProof(ValueError):
    """The server did not show that it evaluated with the key behind its public key; nothing it said may be used."""


@dataclass(frozen=True)
class KeyPair:
    """Server's key: `secret` scalar, 32 bytes, never printed; `public` element, 32 bytes."""

    secret: bytes
    public: bytes

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public.hex()})"

    @classmethod
    def derived(cls, seed: bytes, info: bytes) -> KeyPair:
        """The key of a secret 32-byte `seed` and a public `info` of at most 2^16 - 1 bytes (DeriveKeyPair, 3.2.1)."""
        if len(seed) != ristretto.SCALAR_BYTES:
            raise ValueError(f"seed must be {ristretto.SCALAR_BYTES} bytes, got {len(seed)}")
        for counter in range(256):
            secret = ristretto.hash_to_scalar(seed + _framed(info) + bytes([counter]), b"DeriveKeyPair" + _CONTEXT)
            if any(secret):
                return cls(secret, ristretto.times_generator(secret))
        raise ValueError("seed and info give no key")


def blind(message: bytes, blinding: bytes) -> bytes:
    """Blinded element of a private `message` (at most 2^16 - 1 bytes): uniform in the group when the scalar
    `blinding` (`ristretto.random_scalar`) is, whatever the message. Blind, Section 3.3.1."""
    base = ristretto.element("hashed message", ristretto.hash_to_element(_short(message), b"HashToGroup-" + _CONTEXT))
    return ristretto.times(ristretto.scalar("blinding", blinding), base)


def evaluate(key: KeyPair, blinded: Sequence[bytes], noise: NoiseSource) -> tuple[list[bytes], bytes]:
    """Evaluated elements, in order, and one proof of 64 bytes for them all. BlindEvaluate, Section 3.3.2.

    `blinded` holds 1 to 2^16 - 1 elements; MalformedElement when one is none. `noise` gives the proof's secret scalar:
    one that is known or used twice gives the key away.
    """
    blinded = [ristretto.element("blinded", data) for data in _batch("blinded", blinded)]
    evaluated = [ristretto.times(key.secret, data) for data in blinded]
    return evaluated, prove(key, blinded, evaluated, ristretto.random_scalar(noise))


def finalize(
    messages: Sequence[bytes],
    blindings: Sequence[bytes],
    blinded: Sequence[bytes],
    evaluated: Sequence[bytes],
    public_key: bytes,
    proof: bytes,
) -> list[bytes]:
    """F(key, message) for each message, 64 bytes each. Finalize, Section 3.3.2.

    All lists have one length. Raises BadProof when the proof does not hold for the whole batch, MalformedElement when
    the server's bytes encode nothing, before any output is computed.
    """
    verify(public_key, blinded, evaluated, proof)
    outputs = []
    for message, blinding, data in zip(messages, blindings, evaluated, strict=True):
        unblinded = ristretto.times(ristretto.inverse(ristretto.scalar("blinding", blinding)), data)
        outputs.append(_output(message, unblinded))
    return outputs


def evaluate_known(key: KeyPair, message: bytes) -> bytes:
    """F(key, message), 64 bytes, by whoever holds key and message. Evaluate, Section 3.3.1."""
    base = ristretto.element("hashed message", ristretto.hash_to_element(_short(message), b"HashToGroup-" + _CONTEXT))
    return _output(message, ristretto.times(key.secret, base))


def prove(key: KeyPair, blinded: Sequence[bytes], evaluated: Sequence[bytes], commitment: bytes) -> bytes:
    """Proof that every evaluated element is the secret key times its blinded one. GenerateProof, Section 2.2.1."""
    seen = ristretto.weighted_sum(_weights(key.public, blinded, evaluated), blinded)
    shown = ristretto.times(key.secret, seen)  # at the price of one multiplication (ComputeCompositesFast)
    commitment = ristretto.scalar("commitment", commitment)
    first, second = ristretto.times_generator(commitment), ristretto.times(commitment, seen)
    challenge = _challenge(key.public, seen, shown, first, second)
    return challenge + ristretto.minus_product(commitment, challenge, key.secret)


def verify(public_key: bytes, blinded: Sequence[bytes], evaluated: Sequence[bytes], proof: bytes) -> None:
    """Raises BadProof unless `proof` shows one key behind `public_key` and every pair. VerifyProof, Section 2.2.2."""
    ristretto.element("public_key", public_key)
    if len(blinded) != len(evaluated):
        raise BadProof(f"one evaluated element for each blinded one, got {len(evaluated)} for {len(blinded)}")
    for name, batch in (("blinded", blinded), ("evaluated", evaluated)):
        for data in _batch(name, batch):
            ristretto.element(name, data)
    if len(proof) != PROOF_BYTES:
        raise BadProof(f"proof must be {PROOF_BYTES} bytes, got {len(proof)}")
    challenge, response = proof[: ristretto.SCALAR_BYTES], proof[ristretto.SCALAR_BYTES :]
    ristretto.scalar("challenge", challenge), ristretto.scalar("response", response)
    weights = _weights(public_key, blinded, evaluated)
    seen, shown = ristretto.weighted_sum(weights, blinded), ristretto.weighted_sum(weights, evaluated)
    first = ristretto.plus(ristretto.times_generator(response), ristretto.times(challenge, public_key))
    second = ristretto.weighted_sum([response, challenge], [seen, shown])
    if challenge != _challenge(public_key, seen, shown, first, second):
        raise BadProof("the proof does not hold for these elements and this public key")


def _weights(public_key: bytes, blinded: Sequence[bytes], evaluated: Sequence[bytes]) -> list[bytes]:
    """Weights of one random combination of all pairs: a proof for it is a proof for each (ComputeComposites, 2.2.1)."""
    seed = hashlib.sha512(_framed(public_key) + _framed(b"Seed-" + _CONTEXT)).digest()
    return [
        ristretto.hash_to_scalar(
            _framed(seed) + index.to_bytes(2, "big") + _framed(before) + _framed(after) + b"Composite",
            b"HashToScalar-" + _CONTEXT,
        )
        for index, (before, after) in enumerate(zip(blinded, evaluated, strict=True))
    ]


def _challenge(*elements: bytes) -> bytes:
    return ristretto.hash_to_scalar(b"".join(map(_framed, elements)) + b"Challenge", b"HashToScalar-" + _CONTEXT)


def _output(message: bytes, unblinded: bytes) -> bytes:
    return hashlib.sha512(_framed(message) + _framed(unblinded) + b"Finalize").digest()


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def _short(message: bytes) -> bytes:
    if len(message) > LONGEST_INPUT:
        raise ValueError(f"message must have at most {LONGEST_INPUT} bytes")
    return message


def _batch(name: str, batch: Sequence[bytes]) -> Sequence[bytes]:
    if not 1 <= len(batch) <= LARGEST_BATCH:
        raise ValueError(f"{name} must hold 1 to {LARGEST_BATCH} elements, got {len(batch)}")
    return batch
