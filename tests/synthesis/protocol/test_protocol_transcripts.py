"""What each party's transcript tells, and what it does not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import AnchoredBuckets
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol import oprf
from privlib.synthesis.protocol.log import Log
from privlib.synthesis.protocol.server import transcript
from privlib.synthesis.protocol.shares import combine

WIDE = {"buckets": AnchoredBuckets.at(np.eye(128)[:3], 0.5), "members": (12, 8, 3)}


@pytest.fixture
def finished(stage):
    run = stage(dummy_shift=2, **WIDE)
    run.outcome = run.run()
    return run


def seen(run, name, kind):
    entries = transcript(run.directory / f"{name}.log", run.settings)
    return [message for _, message in entries if isinstance(message, kind)]


def bucket_tag(run, number):
    """Tag of the anchored bucket `number`, as whoever holds the key can compute it."""
    cell = np.array([number], dtype=">i8").tobytes()
    return oprf.evaluate_known(run.key, cell)[: m.TAG_BYTES]


def test_the_tagging_server_sees_these_messages_and_no_others(finished):
    kinds = Counter(
        type(message).__name__ for _, message in transcript(finished.directory / "tagging.log", finished.settings)
    )
    assert kinds == {
        "TagRequest": 23, "Close": 2, "Release": 1, "Contribution": 20, "Holding": 2, "Published": 1,
    }  # fmt: skip


def test_the_synthesis_server_sees_these_messages_and_no_others(finished):
    kinds = Counter(
        type(message).__name__ for _, message in transcript(finished.directory / "synthesis.log", finished.settings)
    )
    dummies = kinds.pop("Report") - 23
    assert kinds == {"Close": 2, "Contribution": 20, "PartialSum": 2}
    assert dummies > 0


def test_blinded_elements_differ_where_buckets_agree(finished):
    """12 users ask for one tag: no two of their elements are alike, so equality tells nothing."""
    blinded = [data for request in seen(finished, "tagging", m.TagRequest) for data in request.blinded]
    assert len(set(blinded)) == 23


def test_what_was_not_released_never_reaches_the_tagging_server(finished):
    """It holds the key, so it knows which buckets the released tags are; the third bucket's tag it is not told."""
    (release,) = seen(finished, "tagging", m.Release)
    assert set(release.tags) == {bucket_tag(finished, 0), bucket_tag(finished, 1)}
    told = b"".join(Log(finished.directory / "tagging.log").records)
    assert bucket_tag(finished, 2) not in told
    assert bucket_tag(finished, 0) in told


def test_the_synthesis_server_sees_the_histogram_with_the_dummies_in_it(finished):
    """Below the threshold: true multiplicities plus those that the tagging server drew and logged."""
    multiplicity = Counter(Counter(report.tag for report in seen(finished, "synthesis", m.Report)).values())
    dummies = Counter(Counter(report.tag for report in finished.tagging._dummies).values())
    true = Counter({12: 1, 8: 1, 3: 1})
    assert multiplicity == true + dummies
    assert max(dummies) < finished.settings.threshold


def test_dummies_look_like_reports(finished):
    lengths = {len(m.encode(report, finished.settings.session)) for report in seen(finished, "synthesis", m.Report)}
    assert len(lengths) == 1
    tags = {report.tag for report in finished.tagging._dummies}
    assert not tags & {bucket_tag(finished, number) for number in range(3)}


def test_the_synthesis_server_cannot_ask_for_tags(finished):
    """The channel knows no such sender, and the tagging server answers no one after the requests are closed."""
    request = m.TagRequest((oprf.blind(bytes(8), b"\1" + bytes(31)),))
    data = m.frame(m.SYNTHESIS, m.TAGGING, m.encode(request, finished.settings.session))
    with pytest.raises(m.Malformed, match="not registered"):
        finished.channel.accept(data)
    assert finished.tagging.receive(data) == []
    assert finished.tagging.refused == ["no more tags are given"]


def test_tags_say_nothing_without_the_key(stage, finished):
    """Another run, another key: the same buckets have other tags."""
    other = stage(name="other", seed=2, dummy_shift=2, **WIDE)
    other.run()
    assert not {bucket_tag(other, n) for n in range(3)} & {bucket_tag(finished, n) for n in range(3)}


def misfit(residues, modulus):
    """Chi-square of residues over 16 equal ranges: 15 degrees, 1e-8 at 68."""
    counted = np.bincount(residues * 16 // modulus, minlength=16)
    expected = len(residues) / 16
    return float(((counted - expected) ** 2 / expected).sum())


def test_each_servers_shares_are_uniform_and_their_sum_is_not(finished):
    """2,560 residues each; vectors are small beside the modulus, so any leak of them would show at once."""
    modulus = finished.tagging.plan.modulus
    shares = {
        name: {message.nonce: message.share for message in seen(finished, name, m.Contribution)}
        for name in ("tagging", "synthesis")
    }
    for held in shares.values():
        assert misfit(np.concatenate([share.values for share in held.values()]), modulus) < 68
    both = [combine([shares["synthesis"][nonce], shares["tagging"][nonce]]) % modulus for nonce in shares["tagging"]]
    assert misfit(np.concatenate(both), modulus) > 68


def test_what_the_assumption_that_servers_do_not_collude_buys(finished):
    """Both transcripts together give every user's own noisy vector: far more than the sums."""
    plan = finished.tagging.plan
    mine = {message.nonce: message for message in seen(finished, "synthesis", m.Contribution)}
    _, vectors = finished.settings.places(np.concatenate(finished.records))
    for other in seen(finished, "tagging", m.Contribution):
        message = mine[other.nonce]
        steps = combine([message.share, other.share])
        opened = finished.settings.rotation.backward(steps * plan.step)
        std = dict(zip(finished.tagging.counts, plan.user_stds, strict=True))[message.tag] * plan.step
        distances = np.linalg.norm(vectors - opened, axis=1)
        assert distances.min() < 1.5 * std * np.sqrt(128)


def test_the_channel_learns_who_takes_part_and_nothing_else(finished):
    """Sender, receiver, length. All users' messages of one kind weigh the same; that one was sent at all tells that its
    sender reported, and later that its bucket was released: the channel is trusted with that."""
    weights = {}
    for source, destination, length in finished.channel.transcript:
        weights.setdefault((source == m.TAGGING, destination), set()).add(length)
    assert len(weights[False, m.TAGGING]) == 2  # a request, a share
    assert len(weights[False, m.SYNTHESIS]) == 2  # a report, a share
    per_user = Counter(source for source, _, _ in finished.channel.transcript if source != m.TAGGING)
    assert sorted(per_user.values()) == [2] * 3 + [4] * 20


def test_handles_hide_the_senders_from_the_servers(finished):
    for name in ("tagging", "synthesis"):
        sources = {source for source, _ in transcript(finished.directory / f"{name}.log", finished.settings)}
        assert not sources & set(finished.addresses)


def test_the_channel_forgets_whose_handles_stand_in_the_logs(finished):
    """Of requests, reports and contributions alike: a nonce joins a user's last two, so one of them known is enough."""
    known = set()
    for name in ("tagging", "synthesis"):
        for source, message in transcript(finished.directory / f"{name}.log", finished.settings):
            if source not in (m.TAGGING, m.SYNTHESIS, m.CLOCK):
                try:
                    finished.channel.back(m.frame(m.TAGGING, source, b""))
                    known.add(type(message))
                except m.Malformed:
                    pass
    assert known == set()


def test_the_channel_finds_the_way_back_until_the_next_flush(stage):
    """In the middle of a run: replies to requests go out, and once the reports are passed on nobody asked any more."""
    run = stage()
    run.channel.accept_all(run.host.begin(run.addresses))
    replies = run.tagging.receive_all(run.channel.flush())
    assert sorted(m.unframe(data)[1] for data in run.channel.back_all(replies)) == run.addresses
    run.channel.accept_all(run.host.receive_all(run.channel.back_all(replies)))
    run.channel.flush()
    for data in replies:
        with pytest.raises(m.Malformed, match="unknown handle"):
            run.channel.back(data)


def test_a_null_user_is_seen_asking_and_no_more(stage):
    """Replace one record by none: the tagging server sees as many requests, the synthesis server one report less."""
    full = stage(name="full")
    records = [*full.records[:-1], np.zeros((0, 4))]
    null = stage(name="null", records=records)
    full.run(), null.run()
    assert len(seen(full, "tagging", m.TagRequest)) == len(seen(null, "tagging", m.TagRequest))
    assert len(seen(full, "synthesis", m.Report)) == len(seen(null, "synthesis", m.Report)) + 1


def test_the_uniformity_test_sees_shares_that_leak():
    """Negative control: a mask of half the modulus."""
    modulus = 1 << 14
    mask = Simulation(1).integers(modulus // 2, 2560)
    assert misfit((100 - mask) % modulus, modulus) > 68
