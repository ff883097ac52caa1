"""Encodings: what is written is read back, and every other string of bytes is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib.dp import Simulation
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.channel import Channel
from privlib.synthesis.protocol.log import DamagedLog, Log, read_log
from privlib.synthesis.protocol.shares import Share

SESSION = b"session!"


def tag(number, length=m.TAG_BYTES):
    return number.to_bytes(length, "big")


def nonce(number):
    return tag(number, m.NONCE_BYTES)


SHARE = Share(1, 2, 2**21, np.array([0, 1, 2**21 - 1]))
ALL = [
    m.TagRequest((tag(1), tag(2))),
    m.TagReply((tag(1), tag(2)), bytes(range(64))),
    m.Report(nonce(3), tag(4)),
    m.Release((tag(1), tag(9)), (25, 2**31)),
    m.Release((), ()),
    m.Contribution(nonce(3), tag(4), SHARE),
    m.Holding(tag(4), (nonce(1), nonce(2))),
    m.PartialSum(tag(4), (nonce(1),), SHARE),
    m.PartialSum(tag(4), (), None),
    m.Close(m.REPORTS),
    m.Published((tag(1), tag(2)), (m.OPENED, m.TOO_FEW), (30, 4), np.array([[0.5, -1e300], [0.0, 0.0]])),
]
NAMES = [f"{type(message).__name__}{place}" for place, message in enumerate(ALL)]


def same(a, b):
    return m.encode(a, SESSION) == m.encode(b, SESSION) and type(a) is type(b)


@pytest.mark.parametrize("message", ALL, ids=NAMES)
def test_what_is_written_is_read_back(message):
    back = m.decode(m.encode(message, SESSION), SESSION)
    assert same(back, message)
    if isinstance(message, m.Contribution):
        assert (back.share.index, back.share.modulus) == (1, 2**21)
        assert back.share.values.tolist() == SHARE.values.tolist()


@pytest.mark.parametrize("message", ALL, ids=NAMES)
def test_a_byte_more_or_less_or_another_session_is_refused(message):
    data = m.encode(message, SESSION)
    for length in range(len(data)):
        with pytest.raises(m.Malformed):
            m.decode(data[:length], SESSION)
    with pytest.raises(m.Malformed, match="too long"):
        m.decode(data + b"\0", SESSION)
    with pytest.raises(m.Malformed, match="session"):
        m.decode(data, b"another!")


@given(st.binary(max_size=120))
def test_no_bytes_do_anything_but_read_or_raise(data):
    for payload in (data, data[:1] + SESSION + data[1:]):
        try:
            message = m.decode(payload, SESSION)
        except m.Malformed:
            continue
        assert m.encode(message, SESSION) == payload  # one encoding a message, so a copy is known by its bytes


@pytest.mark.parametrize("bits", [1, 8, 9, 31, 32, 62])
def test_residues_take_the_whole_bytes_they_need(bits):
    share = Share(0, 2, 1 << bits, np.array([0, (1 << bits) - 1]))
    message = m.Contribution(nonce(1), tag(1), share)
    data = m.encode(message, SESSION)
    assert len(data) == 1 + 8 + m.NONCE_BYTES + m.TAG_BYTES + 7 + 2 * ((bits + 7) // 8)
    assert m.decode(data, SESSION).share.values.tolist() == share.values.tolist()


def altered(message, at, byte):
    data = m.encode(message, SESSION)
    return data[:at] + bytes([byte]) + data[at + 1 :]


def test_fields_out_of_their_range_are_refused():
    start = 1 + 8 + m.NONCE_BYTES + m.TAG_BYTES  # of the share in a contribution
    share = m.Contribution(nonce(3), tag(4), SHARE)
    for at, byte in ((start, 2), (start + 1, 1), (start + 2, 0), (start + 2, 63), (start + 7, 0xFF)):
        with pytest.raises(m.Malformed):
            m.decode(altered(share, at, byte), SESSION)
    with pytest.raises(m.Malformed, match="kind"):
        m.decode(altered(m.Close(1), 0, 99), SESSION)
    with pytest.raises(m.Malformed, match="flag"):
        m.decode(altered(m.PartialSum(tag(4), (), None), -1 + len(m.encode(ALL[8], SESSION)), 2), SESSION)


def test_lists_must_be_in_order_without_doubles():
    for tags in ((tag(9), tag(1)), (tag(1), tag(1))):
        with pytest.raises(m.Malformed, match="order"):
            m.decode(m.encode(m.Release(tags, (1, 2)), SESSION), SESSION)
    for nonces in ((nonce(2), nonce(1)), (nonce(1), nonce(1))):
        with pytest.raises(m.Malformed, match="order"):
            m.decode(m.encode(m.Holding(tag(1), nonces), SESSION), SESSION)


def test_only_powers_of_two_are_sent():
    with pytest.raises(ValueError, match="power of two"):
        m.encode(m.Contribution(nonce(1), tag(1), Share(0, 2, 7, np.array([1]))), SESSION)


# the channel

USERS = [b"user%04d" % number for number in range(6)]
SERVER = b"server__"


def filled(seed):
    channel = Channel(dict.fromkeys(USERS, 1), Simulation(seed))
    for number, user in enumerate(USERS):
        channel.accept(m.frame(user, SERVER, b"from %d" % number))
    return channel


def test_the_channel_passes_everything_on_without_the_senders_and_finds_the_way_back():
    channel = filled(1)
    passed = [m.unframe(data) for data in channel.flush()]
    assert sorted(payload for _, _, payload in passed) == [b"from %d" % number for number in range(6)]
    assert not {source for source, _, _ in passed} & set(USERS)
    for handle, _, payload in passed:
        _, back, reply = m.unframe(channel.back(m.frame(SERVER, handle, b"to " + payload)))
        assert (back, reply) == (USERS[int(payload[-1:])], b"to " + payload)
    assert channel.flush() == []
    with pytest.raises(m.Malformed, match="unknown handle"):
        channel.back(m.frame(SERVER, bytes(8), b""))


def test_the_order_is_uniform():
    """First place of each of 6 senders in 3,000 flushes: chi-square, 5 degrees, false alarm below 1e-8 at 47."""
    first = np.zeros(6)
    for seed in range(3000):
        _, _, payload = m.unframe(filled(seed).flush()[0])
        first[int(payload[-1:])] += 1
    assert ((first - 500) ** 2 / 500).sum() < 47


def test_the_channel_admits_each_sender_once_a_phase():
    channel = filled(2)
    channel.accept(m.frame(USERS[0], SERVER, b"from 0"))  # the same bytes again: one frame
    with pytest.raises(m.Malformed, match="more than 1"):
        channel.accept(m.frame(USERS[0], SERVER, b"another"))
    with pytest.raises(m.Malformed, match="not registered"):
        channel.accept(m.frame(b"stranger", SERVER, b"hello"))
    assert len(channel.flush()) == 6
    channel.accept(m.frame(USERS[0], SERVER, b"next phase"))


def test_a_sender_without_a_limit_has_one_phase():
    """The tagging server: in a later phase the same boxes would pass twice, which names the dummies."""
    server = b"tagging_"
    channel = Channel({USERS[0]: 1, server: None}, Simulation(4))
    channel.accept(m.frame(USERS[0], SERVER, b"requests"))
    channel.flush()
    boxes = [m.frame(server, m.SYNTHESIS, b"dummy %d" % number) for number in range(3)]
    assert channel.accept_all([*boxes, *boxes]) == []
    assert len(channel.flush()) == 3
    assert channel.accept_all([*boxes, m.frame(USERS[0], m.SYNTHESIS, b"sums")]) == boxes
    assert channel.refused[-3:] == ["frame of a second phase from a sender of one phase"] * 3
    assert len(channel.flush()) == 1


def test_the_channel_keeps_no_payload():
    channel = filled(3)
    channel.flush()
    assert channel.transcript == [(user, SERVER, 6) for user in USERS]
    assert b"from" not in repr(vars(channel)).encode()


# the log


def logged(path, records):
    log = Log(path)
    for record in records:
        log.append(record)
    return path.read_bytes()


def test_a_log_is_read_back_and_a_torn_end_is_dropped(tmp_path):
    path, records = tmp_path / "log", [b"first", b"", b"third" * 10]
    whole = logged(path, records)
    assert Log(path).records == records
    for cut in range(len(whole) - len(records[2]) - 16, len(whole)):
        path.write_bytes(whole[:cut])
        torn = Log(path)
        assert torn.records == records[:2]
        torn.append(b"again")
        assert Log(path).records == [*records[:2], b"again"]


def test_a_reader_leaves_a_torn_end_to_the_writer(tmp_path):
    path, records = tmp_path / "log", [b"first", b"second", b"third" * 10]
    whole = logged(path, records)
    assert read_log(path) == records
    for cut in range(len(whole) - len(records[2]) - 16, len(whole)):
        path.write_bytes(whole[:cut])
        assert read_log(path) == records[:2]
        assert path.read_bytes() == whole[:cut]


def test_a_damaged_log_is_not_read(tmp_path):
    """Every byte of the file: none can change without being seen, and none is taken for a torn end."""
    path = tmp_path / "log"
    whole = logged(path, [b"first", b"second"])
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        for read in (Log, read_log):
            with pytest.raises(DamagedLog):
                read(path)
