"""What goes wrong, and what comes of it: nothing counted twice, nothing lost, nothing released in part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol import oprf, ristretto
from privlib.synthesis.protocol.hosts import user_address
from privlib.synthesis.protocol.log import Log
from privlib.synthesis.protocol.run import Incomplete, drive
from privlib.synthesis.protocol.sealing import sealed
from privlib.synthesis.protocol.server import transcript
from privlib.synthesis.protocol.settings import Settings
from privlib.synthesis.protocol.shares import Share, combine, split


def encoded(stage, source, destination, message):
    """A frame; from behind the channel it is sealed to its server."""
    payload = m.encode(message, stage.settings.session)
    if destination in stage.boxes and source not in (m.CLOCK, m.TAGGING, m.SYNTHESIS):
        payload = sealed(payload, stage.boxes[destination].public, Simulation(99))
    return m.frame(source, destination, payload)


def opened(stage, data):
    """(source, destination, payload) of a frame, read as its receiver does."""
    source, destination, payload = m.unframe(data)
    if destination in stage.boxes and source not in (m.CLOCK, m.TAGGING, m.SYNTHESIS):
        payload = stage.boxes[destination].opened(payload)
    return source, destination, payload


def accepted(run, kind, name="tagging"):
    """Messages of one kind that a server has accepted."""
    seen = transcript(run.directory / f"{name}.log", run.settings)
    return [message for _, message in seen if isinstance(message, kind)]


def plain(published):
    return published.tags, published.states, published.contributors, published.centroids.tolist()


class OneByOne:
    """A party that is given its frames one after another; those below say what becomes of each."""

    def receive_all(self, frames):
        return [answer for data in frames for answer in self.receive(data)]


class Altered(OneByOne):
    """A party whose incoming frames a test may change, drop or double: `alter(message) -> messages` by kind."""

    def __init__(self, stage, party, alter):
        self._stage, self._party, self._alter = stage, party, alter

    def receive(self, data):
        source, destination, payload = opened(self._stage, data)
        answers = []
        for message in self._alter(m.decode(payload, self._stage.settings.session)):
            answers += self._party.receive(encoded(self._stage, source, destination, message))
        return answers


@pytest.fixture
def whole(stage):
    """What a run without faults publishes: buckets of 8 and 5 (3 is below the threshold)."""
    run = stage(name="whole")
    published = run.run().published
    assert published.contributors in {(8, 5), (5, 8)}
    return plain(published)


# a bad proof


def test_a_user_that_gets_a_bad_proof_stops_and_the_others_go_on(stage):
    """One user is served with another key: it reports nothing, and its bucket is released without it."""
    run = stage()
    victim, other = run.addresses[0], oprf.KeyPair.derived(b"\1" * 32, b"another")

    host = run.host

    class Host(OneByOne):
        def begin(self, addresses):
            return host.begin(addresses)

        def receive(self, data):
            if m.unframe(data)[1] == victim:
                evaluated, proof = oprf.evaluate(other, run.users[victim]._asked[2], Simulation(3))
                data = encoded(run, m.TAGGING, victim, m.TagReply(tuple(evaluated), proof))
            return host.receive(data)

    run.host = Host()
    published = run.run().published
    assert host.stopped == {victim: "the proof does not hold for these elements and this public key"}
    assert sorted(published.contributors) == [5, 7]
    assert run.users[victim].receive(encoded(run, m.SYNTHESIS, m.EVERYONE, m.Release((), ()))) == []


def test_a_stopped_user_stays_stopped(stage):
    """A good reply after a bad one changes nothing."""
    run = stage()
    user = run.users[run.addresses[0]]
    user.begin()
    _, _, blinded = user._asked
    evaluated, proof = oprf.evaluate(run.key, blinded, Simulation(3))
    good = encoded(run, m.TAGGING, user.address, m.TagReply(tuple(evaluated), proof))
    bad = encoded(run, m.TAGGING, user.address, m.TagReply(tuple(evaluated), proof[:-1] + b"\0"))
    assert user.receive(bad) == []
    assert user.stopped
    assert user.receive(good) == []


# users who go


def without(stage_, gone, phases):
    """Drops the frames of users `gone` in the given kinds of message."""
    host = stage_.host

    class Host(OneByOne):
        def begin(self, addresses):
            return host.begin(addresses)

        def receive(self, data):
            kept = []
            for frame in host.receive(data):
                source, _, payload = opened(stage_, frame)
                if not (source in gone and type(m.decode(payload, stage_.settings.session)) in phases):
                    kept.append(frame)
            return kept

    stage_.host = Host()
    return stage_


def test_a_user_gone_before_its_report_is_not_counted(stage):
    run = without(stage(), {user_address(0)}, {m.Report, m.Contribution})
    assert sorted(run.run().published.contributors) == [5, 7]


def test_a_user_gone_after_the_first_phase_closes_its_bucket_when_nobody_may_go(stage):
    """drop_out 0: the bucket of 8 has less noise than promised, so its sum is withheld; the other is whole."""
    run = without(stage(), {user_address(0)}, {m.Contribution})
    published = run.run().published
    state = dict(zip(published.contributors, published.states, strict=True))
    assert state == {7: m.TOO_FEW, 5: m.OPENED}
    row = published.contributors.index(7)
    assert not published.centroids[row].any()
    sums = accepted(run, m.PartialSum, "synthesis")
    assert [message.share is None for message in sums if len(message.nonces) == 7] == [True]


def test_a_tolerated_drop_out_leaves_the_bucket_open_with_its_noise(stage):
    """drop_out .25: 6 of 8 are enough, 5 are not; the 6 add up to the promised total."""
    for gone, state in ((2, m.OPENED), (3, m.TOO_FEW)):
        run = without(stage(name=str(gone), drop_out=0.25), {user_address(n) for n in range(gone)}, {m.Contribution})
        published = run.run().published
        assert published.states[published.contributors.index(8 - gone)] == state
        plan = run.settings.plan((8,))
        assert plan.user_stds[0] * 6**0.5 == pytest.approx(plan.total_std)


def test_a_centroid_is_the_mean_of_those_who_stayed(stage):
    run = without(stage(drop_out=0.25, noise_rule="off"), {user_address(0)}, {m.Contribution})
    published = run.run().published
    row = published.contributors.index(7)
    _, vectors = run.settings.places(np.concatenate(run.records[1:8]))
    step = run.settings.plan((8, 5)).step
    assert np.linalg.norm(published.centroids[row] - vectors.mean(axis=0)) < 2 * step


def test_a_user_whose_one_share_is_lost_counts_as_gone(stage):
    """Only the other server has it: it is in no sum, with either server."""
    for name in ("tagging", "synthesis"):
        run = stage(name=name, drop_out=0.25, noise_rule="off")
        lost = []

        def alter(message, lost=lost):
            if isinstance(message, m.Contribution) and not lost:
                lost.append(message.tag)
                return []
            return [message]

        setattr(run, name, Altered(run, getattr(run, name), alter))
        published = run.run().published
        row = published.tags.index(lost[0])
        assert published.contributors[row] in {7, 4}
        assert published.states[row] == m.OPENED


def test_a_tag_in_only_one_servers_shares_stays_closed_and_the_others_open(stage):
    for name in ("tagging", "synthesis"):
        run = stage(name=name)
        seen: list[bytes] = []

        def alter(message, seen=seen):
            if isinstance(message, m.Contribution):
                seen.append(message.tag)
                return [] if message.tag == seen[0] else [message]
            return [message]

        setattr(run, name, Altered(run, getattr(run, name), alter))
        published = run.run().published
        for tag, state, number in zip(published.tags, published.states, published.contributors, strict=True):
            assert (state, number > 0) == ((m.TOO_FEW, False) if tag == seen[0] else (m.OPENED, True))


# users who send what they may not


@pytest.mark.parametrize(
    ("destination", "payload", "reason"),
    [
        (None, b"abc", "too early"),
        (b"nowhere!", b"x", "no server"),
        (m.EVERYONE, b"x", "no server"),
        (m.TAGGING, b"x" * 60, "more than 1 frames"),
    ],
)
def test_a_frame_that_the_channel_refuses_changes_nothing_for_anybody(stage, whole, destination, payload, reason):
    """User 0 sends it after its request: all are counted as without it, user 0 too, and it weighs nothing."""
    clean = stage(name="clean").run()
    run = stage()
    bad = payload if destination is None else m.frame(user_address(0), destination, payload)
    host = run.host

    class Host:
        def begin(self, addresses):
            return [*host.begin(addresses), bad]

        def receive_all(self, frames):
            return host.receive_all(frames)

    run.host = Host()
    outcome = run.run()
    assert plain(outcome.published) == whole
    assert outcome.traffic == clean.traffic
    assert [reason in refused for refused in run.channel.refused] == [True]
    assert run.refused() == []


def test_a_user_who_sends_nothing_that_can_be_taken_leaves_the_others_their_run(stage):
    run = stage()
    host = run.host

    class Host:
        def begin(self, addresses):
            return [data if m.unframe(data)[0] != user_address(0) else b"abc" for data in host.begin(addresses)]

        def receive_all(self, frames):
            return host.receive_all(frames)

    run.host = Host()
    assert sorted(run.run().published.contributors) == [5, 7]
    assert len(run.channel.refused) == 1


# users who get what is not for them


@pytest.mark.parametrize("length", [0, 5, 15, 16])
def test_users_pass_over_a_frame_that_is_too_short(stage, whole, length):
    run = stage()
    host = run.host

    class Host:
        def begin(self, addresses):
            assert host.receive(b"x" * length) == []
            assert run.users[addresses[0]].receive(b"x" * length) == []
            return host.begin(addresses)

        def receive_all(self, frames):
            return host.receive_all([b"x" * length, *frames])

    run.host = Host()
    assert plain(run.run().published) == whole


def test_a_host_passes_over_a_frame_for_someone_it_does_not_know(stage):
    assert stage().host.receive(m.frame(m.TAGGING, b"nobody!!", b"reply")) == []


def test_a_release_of_another_run_does_not_use_up_the_contribution(stage, whole):
    """It is shown to every user before the true one; equal settings, so its session fits. It names none of their tags,
    they send nothing; a second true one is not answered either."""
    other = stage(name="other", seed=2)
    other.run()
    assert other.settings.session == stage(name="same").settings.session
    old = encoded(other, m.SYNTHESIS, m.EVERYONE, m.Release(*zip(*other.synthesis.counts.items(), strict=True)))
    run = stage()
    host, answers = run.host, []

    class Host(OneByOne):
        def begin(self, addresses):
            return host.begin(addresses)

        def receive(self, data):
            if m.unframe(data)[1] != m.EVERYONE:
                return host.receive(data)
            answers.extend([host.receive(old), host.receive(data), host.receive(data)])
            return answers[1]

    run.host = Host()
    assert plain(run.run().published) == whole
    assert [len(frames) for frames in answers] == [0, 2 * 13, 0]


@pytest.mark.parametrize("count", [0, 3, 1001, 2**32 - 1])
def test_a_release_of_impossible_counts_is_passed_over(stage, monkeypatch, count):
    """Below the threshold of 4 or above 1,000 users: no plan is made of it, and the true release is answered."""
    run = stage()
    user = run.users[run.addresses[0]]
    (request,) = user.begin()
    (reply,) = run.tagging.receive(request)
    user.receive(reply)
    (tag,) = user._reported
    planned = []
    monkeypatch.setattr(Settings, "plan", lambda settings, counts: planned.append(counts))
    assert user.receive(encoded(run, m.SYNTHESIS, m.EVERYONE, m.Release((tag,), (count,)))) == []
    assert planned == []
    monkeypatch.undo()
    for possible in (4, 1000):
        user._contributed = False
        assert len(user.receive(encoded(run, m.SYNTHESIS, m.EVERYONE, m.Release((tag,), (possible,))))) == 2


# messages that come twice, late, or broken


def test_frames_that_come_twice_count_once(stage, whole):
    """Every frame to either server delivered twice, and once more from another handle."""

    class Twice(OneByOne):
        def __init__(self, party):
            self.party, self.refused = party, party.refused

        def receive(self, data):
            first = self.party.receive(data)
            assert len(self.party.receive(data)) == len(first)
            source, destination, payload = opened(run, data)
            if source not in (m.TAGGING, m.SYNTHESIS, m.CLOCK) and payload[0] != 1:  # a request is answered anew
                again = encoded(run, b"another!", destination, m.decode(payload, run.settings.session))
                assert self.party.receive(again) == []
            return first

    run = stage()
    run.tagging, run.synthesis = Twice(run.tagging), Twice(run.synthesis)
    assert plain(run.run().published) == whole
    assert {"report under a nonce that has one", "contribution under a nonce that has one"} <= set(run.refused())


def test_answers_to_a_repeated_frame_are_the_same(stage):
    """Dummies are neither drawn nor sealed again: the channel, which drops equal bytes, passes each on once. A sum is
    the same sum."""
    run = stage()
    run.run()
    closing = encoded(run, m.CLOCK, m.TAGGING, m.Close(m.REQUESTS))
    holding = encoded(run, m.SYNTHESIS, m.TAGGING, accepted(run, m.Holding)[0])
    assert run.tagging.receive(holding) == run.tagging.receive(holding) != []
    assert run.tagging.receive(closing) == run.tagging.receive(closing) != []


def test_broken_messages_are_refused_and_change_nothing(stage, whole):
    """After every frame: its every kind of wreck. Nobody is answered; what is published stays the same."""

    class Noisy(OneByOne):
        def __init__(self, party):
            self.party, self.refused = party, party.refused

        def receive(self, data):
            for wreck in (
                b"",
                data[:10],
                data[:-1],
                data + b"\0",
                data[:16] + b"\xff" + data[17:],
                data[:17] + bytes(8),
            ):
                assert self.party.receive(wreck) == []
            return self.party.receive(data)

    run = stage()
    run.tagging, run.synthesis = Noisy(run.tagging), Noisy(run.synthesis)
    assert plain(run.run().published) == whole


@pytest.mark.parametrize("wrong", ["length", "modulus", "index", "parties"])
def test_a_share_of_the_wrong_shape_is_refused_and_its_user_counts_as_gone(stage, wrong):
    run = stage(drop_out=0.25)
    spoilt = []

    def alter(message):
        if isinstance(message, m.Contribution) and not spoilt:
            share = message.share
            other = {
                "length": lambda: Share(share.index, 2, share.modulus, share.values[:-1]),
                "modulus": lambda: Share(share.index, 2, 2 * share.modulus, share.values),
                "index": lambda: Share(1 - share.index, 2, share.modulus, share.values),
                "parties": lambda: Share(share.index, 3, share.modulus, share.values),
            }[wrong]()
            spoilt.append(message.tag)
            return [replace(message, share=other)]
        return [message]

    run.tagging = Altered(run, run.tagging, alter)
    refused = run.tagging._party.refused
    published = run.run().published
    assert published.contributors[published.tags.index(spoilt[0])] in {7, 4}
    assert len(refused) == 1
    assert "belong" in refused[0]


def test_what_comes_at_the_wrong_time_or_from_the_wrong_sender_is_refused(stage):
    run = stage()
    run.run()
    tag, nonce = bytes(32), bytes(16)
    before = len(run.tagging.refused), len(run.synthesis.refused)
    holdings = [msg for _, msg in transcript(run.directory / "tagging.log", run.settings) if isinstance(msg, m.Holding)]
    share = Share(1, 2, run.tagging.plan.modulus, np.zeros(4, dtype=np.int64))
    late = next(iter(run.users[run.addresses[0]].begin()))
    to_tagging = [
        late,
        encoded(run, b"handle00", m.TAGGING, m.Release((), ())),
        encoded(run, m.SYNTHESIS, m.TAGGING, m.Release((), ())),
        encoded(run, b"handle00", m.TAGGING, m.Contribution(nonce, holdings[0].tag, share)),
        encoded(run, b"handle00", m.TAGGING, holdings[0]),
        encoded(run, m.SYNTHESIS, m.TAGGING, m.Holding(tag, ())),
        encoded(run, m.SYNTHESIS, m.TAGGING, m.Close(m.REQUESTS)),
        encoded(run, b"handle00", m.TAGGING, m.Report(nonce, tag)),
        encoded(run, m.CLOCK, m.SYNTHESIS, m.Close(m.CONTRIBUTIONS)),
    ]
    to_synthesis = [
        encoded(run, b"handle00", m.SYNTHESIS, m.Report(nonce, tag)),
        encoded(run, b"handle00", m.SYNTHESIS, m.Contribution(nonce, holdings[0].tag, share)),
        encoded(run, b"handle00", m.SYNTHESIS, m.Close(m.REPORTS)),
        encoded(run, b"handle00", m.SYNTHESIS, m.PartialSum(holdings[0].tag, (), None)),
        encoded(run, m.TAGGING, m.SYNTHESIS, m.PartialSum(holdings[0].tag, (), None)),
        encoded(run, m.TAGGING, m.SYNTHESIS, m.TagRequest((bytes(32),))),
    ]
    for party, frames in ((run.tagging, to_tagging), (run.synthesis, to_synthesis)):
        for data in frames:
            assert party.receive(data) == []
    assert (len(run.tagging.refused), len(run.synthesis.refused)) == (before[0] + 9, before[1] + 6)


def test_no_more_tags_are_given_than_there_are_users(stage):
    """Beyond the public number of users, or after the phase, the function is not evaluated: nobody can search it."""
    run = stage(max_users=16)
    frames = run.host.begin(run.addresses)
    answers = [run.tagging.receive(data) for data in frames]
    assert all(answers)
    again = m.frame(b"another!", m.TAGGING, m.unframe(frames[0])[2])
    assert run.tagging.receive(again) == []
    assert run.tagging.refused == ["no more tags are given"]


def test_a_second_set_of_contributors_is_never_opened(stage):
    """The difference of two sums would be one user's vector."""
    run = stage(drop_out=0.25)
    run.run()
    holding = accepted(run, m.Holding)[0]
    fewer = m.Holding(holding.tag, holding.nonces[1:])
    assert run.tagging.receive(encoded(run, m.SYNTHESIS, m.TAGGING, fewer)) == []
    assert "opened for another set" in run.tagging.refused[-1]
    again = run.new_tagging()  # nor after a restart
    assert again.receive(encoded(run, m.SYNTHESIS, m.TAGGING, fewer)) == []
    assert "opened for another set" in again.refused[-1]


# wrap-around


def test_a_sum_beyond_its_bound_is_seen_and_withheld(stage, monkeypatch):
    """A bound made too small for the larger bucket: its sum lies where none may, and stays closed; the other opens."""
    planned = Settings.plan
    monkeypatch.setattr(
        Settings, "plan", lambda self, counts: replace(planned(self, counts), bound=100, modulus=1 << 10)
    )
    run = stage(noise_rule="off")
    published = run.run().published
    places, vectors = run.settings.places(np.concatenate(run.records))
    largest = {}
    for count in (8, 5):
        members = [places.count(place) == count for place in places]
        turned = run.settings.rotation.forward(vectors[members].sum(axis=0))
        largest[count] = np.abs(turned).max() / run.settings.plan((8, 5)).step
    assert largest[5] < 95 < 105 < largest[8]
    state = dict(zip(published.contributors, published.states, strict=True))
    assert state == {8: m.WRAPPED, 5: m.OPENED}
    assert not published.centroids[published.contributors.index(8)].any()


def test_wrapping_all_the_way_round_would_not_be_seen(stage):
    """Why the bound is proved and not only watched: 2^b more is the same residue."""
    assert combine(split(np.array([5 + (1 << 10)]), 1 << 10, 2, Simulation(1))).tolist() == [5]


# a server that is stopped and started from its log


class Mortal(OneByOne):
    """A server that dies at every frame, in one of three ways, and is started from its log."""

    def __init__(self, build, path, way):
        self._build, self._path, self._way = build, path, way
        self._party = build()
        self.restarts = 0

    @property
    def refused(self):
        return self._party.refused

    def receive(self, data):
        if self._way != "before it reads":
            self._party.receive(data)  # the answer is lost
        if self._way == "while it writes":
            written = self._path.read_bytes()
            last = Log(self._path).records[-1]
            self._path.write_bytes(written[: len(written) - 1 - len(last) // 2])
        self._party = self._build()
        self.restarts += 1
        return self._party.receive(data)


@pytest.mark.parametrize("way", ["before it reads", "after it wrote", "while it writes"])
@pytest.mark.parametrize("name", ["tagging", "synthesis"])
def test_a_server_restarted_at_every_frame_publishes_the_same(stage, whole, name, way):
    run = stage()
    mortal = Mortal(getattr(run, f"new_{name}"), run.directory / f"{name}.log", way)
    setattr(run, name, mortal)
    published = run.run().published
    assert plain(published) == whole
    assert mortal.restarts > 15
    assert mortal.refused == []


def test_a_restart_never_gives_the_same_coins_again(stage):
    """Two proofs with one commitment give the key away: response + challenge x key is it, so it must differ."""
    run = stage()
    secret, commitments = int.from_bytes(run.key.secret, "little"), set()
    for data in run.host.begin(run.addresses):
        (answer,) = run.new_tagging().receive(data)
        proof = m.decode(m.unframe(answer)[2], run.settings.session).proof
        challenge, response = (int.from_bytes(half, "little") for half in (proof[:32], proof[32:]))
        commitments.add((response + challenge * secret) % ristretto.ORDER)
    assert len(commitments) == len(run.users)


REPORT, HOLDING = 3, 6  # kinds, the first byte after two addresses


def test_a_server_that_forgot_its_log_is_noticed(stage):
    """Negative control: a server that starts anew in the middle of the reports loses some, and the test sees it."""
    run = stage()

    class Forgetful(OneByOne):
        reports = 0

        def receive(self, data):
            report = opened(run, data)[2][0] == REPORT
            self.reports += report
            if report and self.reports == 9:
                (run.directory / "synthesis.log").unlink()
                run.synthesis = run.new_synthesis()
            return run.synthesis.receive(data)

    published = drive(run.settings, run.tagging, Forgetful(), run.channel, [(set(run.addresses), run.host)]).published
    assert sum(published.contributors) < 13


def test_a_server_lost_for_good_leaves_nothing_published(stage):
    """The tagging server is gone after its first sum: the synthesis server has sent no centroid, of any bucket."""
    run = stage()
    sent, asked = [], []

    class Gone(OneByOne):
        def receive(self, data):
            if data[16] == HOLDING:
                asked.append(data)
            return run.tagging.receive(data) if len(asked) < 2 else []

    class Watched(OneByOne):
        def receive(self, data):
            answers = run.synthesis.receive(data)
            sent.extend(answers)
            return answers

    with pytest.raises(Incomplete):
        drive(run.settings, Gone(), Watched(), run.channel, [(set(run.addresses), run.host)])
    kinds = {type(m.decode(m.unframe(data)[2], run.settings.session)) for data in sent}
    assert len(asked) == 2
    assert kinds == {m.Release, m.Holding}
