"""The tagging server: its key, gone when the requests are closed; dummies sealed once; no release beyond the users."""

from __future__ import annotations

import pytest

from privlib.dp import Simulation
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.log import Log
from privlib.synthesis.protocol.sealing import sealed
from privlib.synthesis.protocol.tagging import KeyLost


def end_of_requests(run):
    return m.frame(m.CLOCK, m.TAGGING, m.encode(m.Close(m.REQUESTS), run.settings.session))


def closed(run):
    """The run's tagging server after the requests of all users and their end; the requests."""
    requests = run.host.begin(run.addresses)
    assert all(run.tagging.receive(data) for data in requests)
    run.tagging.receive(end_of_requests(run))
    return requests


def test_the_key_is_gone_after_the_first_phase_and_stays_gone(stage):
    run = stage(max_users=100)
    file, seed = run.directory / "tagging.key", (run.directory / "tagging.key").read_bytes()
    assert len(seed) == 32
    requests = closed(run)
    for server in (run.tagging, run.new_tagging()):
        assert not file.exists()
        assert server._key is None
        assert server.public_key == run.key.public
        assert server.receive(requests[0]) == []  # asked before, now without an answer
        fresh = sealed(m.encode(m.TagRequest((run.key.public,)), run.settings.session), server.box_key, Simulation(1))
        assert server.receive(m.frame(b"another!", m.TAGGING, fresh)) == []
        assert server.refused == ["no more tags are given"]
    assert seed not in b"".join(Log(run.directory / "tagging.log").records)


def test_before_that_it_survives_a_restart(stage):
    run = stage()
    again = run.new_tagging()
    assert again._key == run.key
    assert again.receive(run.host.begin(run.addresses[:1])[0])


def test_a_crash_between_the_end_and_the_deletion_leaves_no_key(stage):
    """The log says that the requests are closed, the file is still there: it is deleted at the start."""
    run = stage()
    file = run.directory / "tagging.key"
    seed = file.read_bytes()
    closed(run)
    file.write_bytes(seed)
    assert run.new_tagging()._key is None
    assert not file.exists()


@pytest.mark.parametrize("wrong", [None, b"", bytes(32)])
def test_a_key_that_is_lost_too_early_ends_the_run(stage, wrong):
    run = stage()
    file = run.directory / "tagging.key"
    if wrong is None:
        file.unlink()
    else:
        file.write_bytes(wrong)
    with pytest.raises(KeyLost):
        run.new_tagging()


def test_a_whole_run_leaves_no_key_behind(stage):
    run = stage()
    run.run()
    assert sorted(path.name for path in run.directory.iterdir()) == ["synthesis.log", "tagging.log"]


# dummies


def test_a_repeated_end_of_the_requests_names_no_dummy(stage):
    """The same boxes each time, also after a restart: the channel takes them for one frame each, so no report reaches
    the synthesis server twice and none is known for a dummy."""
    run = stage(dummy_shift=6, dummy_scale=2.0)
    closed(run)
    once, again = (run.tagging.receive(end_of_requests(run)) for _ in range(2))
    restarted = run.new_tagging().receive(end_of_requests(run))
    assert len(once) == len(run.tagging._dummies) > 10
    assert once == again == restarted
    run.channel.accept_all([*once, *again, *restarted])
    reports = [run.boxes[m.SYNTHESIS].opened(m.unframe(data)[2]) for data in run.channel.flush()]
    assert len(reports) == len(set(reports)) == len(once)
    assert run.channel.accept_all(restarted) == restarted  # a clock that ends the requests in a later phase
    assert run.channel.flush() == []


# a release that no run can have


@pytest.mark.parametrize("counts", [(17,), (4, 17), (100_000,), (16, 16, 4)])
def test_counts_beyond_the_users_are_refused(stage, counts):
    """16 users, 2 buckets each: 16 reports of one tag and 32 in all. Plans take memory by the largest count."""
    run = stage(max_users=16, bucket_cap=2)
    closed(run)
    tags = tuple(bytes([number]) * 32 for number in range(len(counts)))

    def released(counts):
        release = m.Release(tags[: len(counts)], counts)
        run.tagging.receive(m.frame(m.SYNTHESIS, m.TAGGING, m.encode(release, run.settings.session)))

    released(counts)
    assert run.tagging.refused == ["released counts are more than 16 users in 2 buckets each can report"]
    assert run.tagging.plan is None
    released(tuple(min(count, 16) for count in counts[:2]))  # 32 at most: has a place
    assert run.tagging.plan is not None
