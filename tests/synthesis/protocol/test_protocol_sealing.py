"""Sealed boxes: opened by their receiver alone, changed by nobody unseen, and those of libsodium."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib.dp import Secure, Simulation
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol import sealing
from privlib.synthesis.protocol.sealing import SEAL_BYTES, BoxKey, NotSealed, sealed

KEY, OTHER = BoxKey.derived(bytes(range(32))), BoxKey.derived(bytes(32))


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 1000))
def test_a_box_opens_to_what_was_sealed(message, seed):
    box = sealed(message, KEY.public, Simulation(seed))
    assert len(box) == len(message) + SEAL_BYTES
    assert KEY.opened(box) == message


def test_every_changed_bit_is_seen():
    box = sealed(b"a share", KEY.public, Simulation(1))
    for place in range(len(box)):
        for bit in range(8):
            if place == 31 and bit == 7:
                continue  # the top bit of an X25519 key has no meaning (RFC 7748): the box is the same box
            changed = box[:place] + bytes([box[place] ^ (1 << bit)]) + box[place + 1 :]
            with pytest.raises(NotSealed):
                KEY.opened(changed)
    for short in (b"", box[:47], box[:-1], box + b"\0"):
        with pytest.raises(NotSealed):
            KEY.opened(short)


def test_nobody_else_opens_it():
    with pytest.raises(NotSealed):
        OTHER.opened(sealed(b"a share", KEY.public, Simulation(1)))


def test_boxes_are_libsodiums_both_ways():
    """What crypto_box_seal makes we open; what we make is the box of the fresh key that our coins gave."""
    box = ctypes.create_string_buffer(5 + SEAL_BYTES)
    assert sealing._sodium().crypto_box_seal(box, b"hello", ctypes.c_ulonglong(5), KEY.public) == 0
    assert KEY.opened(box.raw) == b"hello"
    fresh = BoxKey.derived(bytes(Simulation(4).integers(256, 32).astype("u1")))
    assert sealed(b"hello", KEY.public, Simulation(4))[:32] == fresh.public


def test_equal_messages_make_different_boxes():
    for noise in (Simulation(1), Secure()):
        assert sealed(b"same", KEY.public, noise) != sealed(b"same", KEY.public, noise)


def test_secrets_are_not_printed():
    assert KEY.secret.hex() not in repr(KEY)
    assert repr(KEY.secret) not in repr(KEY)


def test_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="seed must be 32 bytes"):
        BoxKey.derived(b"short")
    with pytest.raises(ValueError, match="public must be 32 bytes"):
        sealed(b"", b"short", Simulation(1))


# in a run


def test_the_channel_carries_no_tag_and_no_share_that_it_can_read(stage):
    """Every frame to a server is sealed: neither a tag, nor a blinded element, nor a kind of message shows."""
    run, carried = stage(), []
    accept = run.channel.accept
    run.channel.accept = lambda data: (carried.append(data), accept(data))[1]
    tags = run.run().published.tags
    requests = [
        m.decode(run.boxes[m.TAGGING].opened(m.unframe(data)[2]), run.settings.session) for data in carried[:16]
    ]
    elements = [element for request in requests for element in request.blinded]
    assert len(carried) > 50
    assert len(elements) == 16
    everything = b"".join(carried)
    assert not any(secret in everything for secret in (*tags, *elements, run.settings.session))


def test_what_is_not_sealed_or_sealed_to_the_other_server_is_refused(stage):
    run = stage()
    payload = m.encode(m.Report(bytes(16), bytes(32)), run.settings.session)
    for box in (payload, sealed(payload, run.boxes[m.TAGGING].public, Simulation(1))):
        assert run.synthesis.receive(m.frame(b"handle00", m.SYNTHESIS, box)) == []
    assert ["sealed" in reason or "at least" in reason for reason in run.synthesis.refused] == [True, True]
    right = sealed(payload, run.boxes[m.SYNTHESIS].public, Simulation(1))
    run.synthesis.receive(m.frame(b"handle00", m.SYNTHESIS, right))
    assert len(run.synthesis.refused) == 2


def test_a_server_has_the_same_box_after_a_restart(stage):
    run = stage()
    assert run.new_synthesis().box_key == run.synthesis.box_key
    assert run.new_tagging().box_key == run.tagging.box_key
    assert run.tagging.box_key != run.synthesis.box_key
