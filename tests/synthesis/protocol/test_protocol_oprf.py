"""RFC 9497's own vectors for VOPRF(ristretto255, SHA-512), Appendix A.1.2, and what must be refused."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.dp import Secure, Simulation
from privlib.synthesis.protocol import oprf, ristretto
from privlib.synthesis.protocol.oprf import BadProof, KeyPair

SEED, INFO = b"\xa3" * 32, b"test key"
SECRET = "e6f73f344b79b379f1a0dd37e07ff62e38d9f71345ce62ae3a9bc60b04ccd909"
PUBLIC = "c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e"
BLIND = "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"
OTHER = "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e"
INPUTS = ["00", "5a" * 17]
OUTPUTS = [
    "b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7d"
    "a4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c",
    "8a9a2f3c7f085b65933594309041fc1898d42d0858e59f90814ae90571a6df60"
    "356f4610bf816f27afdd84f47719e480906d27ecd994985890e5f539e7ea74b6",
]
VECTORS = {  # inputs, blinds, blinded, evaluated, proof, the proof's scalar, outputs
    "A.1.2.1": (
        INPUTS[:1],
        [BLIND],
        ["863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945"],
        ["aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e"],
        "ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd06"
        "6d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d",
        OTHER,
        OUTPUTS[:1],
    ),
    "A.1.2.2": (
        INPUTS[1:],
        [BLIND],
        ["cc0b2a350101881d8a4cba4c80241d74fb7dcbfde4a61fde2f91443c2bf9ef0c"],
        ["60a59a57208d48aca71e9e850d22674b611f752bed48b36f7a91b372bd7ad468"],
        "401a0da6264f8cf45bb2f5264bc31e109155600babb3cd4e5af7d181a2c9dc0a"
        "67154fabf031fd936051dec80b0b6ae29c9503493dde7393b722eafdf5a50b02",
        OTHER,
        OUTPUTS[1:],
    ),
    "A.1.2.3, a batch of two": (
        INPUTS,
        [BLIND, OTHER],
        [
            "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945",
            "90a0145ea9da29254c3a56be4fe185465ebb3bf2a1801f7124bbbadac751e654",
        ],
        [
            "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e",
            "cc5ac221950a49ceaa73c8db41b82c20372a4c8d63e5dded2db920b7eee36a2a",
        ],
        "cc203910175d786927eeb44ea847328047892ddf8590e723c37205cb74600b0a"
        "5ab5337c8eb4ceae0494c2cf89529dcf94572ed267473d567aeed6ab873dee08",
        "419c4f4f5052c53c45f3da494d2b67b220d02118e0857cdbcf037f9ea84bbe0c",
        OUTPUTS,
    ),
}


def raw(texts):
    return [bytes.fromhex(text) for text in texts]


@pytest.fixture(scope="module")
def key():
    return KeyPair.derived(SEED, INFO)


def test_the_key_is_the_one_of_the_rfc(key):
    assert (key.secret.hex(), key.public.hex()) == (SECRET, PUBLIC)


@pytest.mark.parametrize("name", VECTORS)
def test_every_vector_of_the_rfc(name, key):
    inputs, blinds, blinded, evaluated, proof, scalar, outputs = VECTORS[name]
    inputs, blinds, scalar, proof = raw(inputs), raw(blinds), bytes.fromhex(scalar), bytes.fromhex(proof)
    asked = [oprf.blind(message, blinding) for message, blinding in zip(inputs, blinds, strict=True)]
    assert [data.hex() for data in asked] == blinded
    answered, _ = oprf.evaluate(key, asked, Simulation(1))
    assert [data.hex() for data in answered] == evaluated
    assert oprf.prove(key, asked, answered, scalar) == proof
    known = oprf.finalize(inputs, blinds, asked, answered, key.public, proof)
    assert [data.hex() for data in known] == outputs
    assert [oprf.evaluate_known(key, message).hex() for message in inputs] == outputs


def exchange(key, noise, messages=(b"a", b"b", b"c")):
    blindings = [ristretto.random_scalar(noise) for _ in messages]
    blinded = [oprf.blind(message, scalar) for message, scalar in zip(messages, blindings, strict=True)]
    evaluated, proof = oprf.evaluate(key, blinded, noise)
    return list(messages), blindings, blinded, evaluated, key.public, proof


@pytest.mark.parametrize("noise", [Simulation(5), Secure()], ids=["simulation", "secure"])
def test_fresh_exchanges_give_the_function(key, noise):
    exchanged = exchange(key, noise)
    assert oprf.finalize(*exchanged) == [oprf.evaluate_known(key, message) for message in exchanged[0]]
    assert len(set(exchanged[2] + exchange(key, noise)[2])) == 6  # no blinded element comes twice


def test_a_bad_proof_stops_the_client(key):
    """Every byte of the proof, another key, a swapped pair, one wrong element of the batch."""
    messages, blindings, blinded, evaluated, public, proof = exchange(key, Simulation(6))
    for position in range(len(proof)):
        broken = proof[:position] + bytes([proof[position] ^ 1]) + proof[position + 1 :]
        with pytest.raises((BadProof, ristretto.MalformedElement)):
            oprf.finalize(messages, blindings, blinded, evaluated, public, broken)
    other = KeyPair.derived(SEED, b"another")
    wrong, proof_of_wrong = oprf.evaluate(other, blinded, Simulation(7))
    cases = {
        "another key": (wrong, public, proof_of_wrong),
        "another public key": (evaluated, other.public, proof),
        "one element of another key": ([*evaluated[:2], wrong[2]], public, proof),
        "swapped": ([evaluated[1], evaluated[0], evaluated[2]], public, proof),
        "one missing": (evaluated[:2], public, proof),
        "short proof": (evaluated, public, proof[:-1]),
    }
    for data, against, shown in cases.values():
        with pytest.raises(BadProof):
            oprf.finalize(messages, blindings, blinded, data, against, shown)


def test_a_sound_proof_needs_every_weight(key):
    """Errors that cancel in a plain sum (twice one element, none of the other) do not cancel under the weights."""
    messages, blindings, blinded, evaluated, public, _ = exchange(key, Simulation(8), (b"a", b"b"))
    shift = ristretto.times_generator(ristretto.random_scalar(Simulation(9)))
    back = ristretto.times((ristretto.ORDER - 1).to_bytes(32, "little"), shift)
    forged = [ristretto.plus(evaluated[0], shift), ristretto.plus(evaluated[1], back)]
    assert ristretto.plus(*forged) == ristretto.plus(*evaluated)
    proof = oprf.prove(key, blinded, forged, ristretto.random_scalar(Simulation(10)))
    with pytest.raises(BadProof):
        oprf.finalize(messages, blindings, blinded, forged, public, proof)


@pytest.mark.parametrize("data", [bytes(32), b"\xff" * 32, bytes(31), bytes(33), b"\1" + bytes(31), "text"])
def test_what_is_no_element_is_refused(key, data):
    with pytest.raises(ristretto.MalformedElement):
        oprf.evaluate(key, [data], Simulation(1))
    messages, blindings, blinded, _, public, proof = exchange(key, Simulation(11), (b"a",))
    with pytest.raises(ristretto.MalformedElement):
        oprf.finalize(messages, blindings, blinded, [data], public, proof)


def test_bad_arguments_are_refused(key):
    with pytest.raises(ristretto.MalformedElement):
        oprf.blind(b"a", bytes(32))
    with pytest.raises(ristretto.MalformedElement):
        oprf.blind(b"a", ristretto.ORDER.to_bytes(32, "little"))
    with pytest.raises(ValueError, match="at most"):
        oprf.blind(bytes(2**16), bytes.fromhex(BLIND))
    with pytest.raises(ValueError, match="1 to"):
        oprf.evaluate(key, [], Simulation(1))
    with pytest.raises(ValueError, match="32 bytes"):
        KeyPair.derived(b"short", INFO)


def test_the_secret_key_is_not_printed(key):
    assert SECRET not in repr(key)


def test_a_random_scalar_is_spread_over_the_order():
    """Mean of 400 scalars over the order: within 6 deviations of 1/2, false alarm below 1e-8."""
    drawn = [int.from_bytes(ristretto.random_scalar(Simulation(seed)), "little") for seed in range(400)]
    assert abs(np.mean([value / ristretto.ORDER for value in drawn]) - 0.5) < 6 / np.sqrt(12 * 400)
