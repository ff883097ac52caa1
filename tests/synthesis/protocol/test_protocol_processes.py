"""Parties as processes of their own, killed and started again in the middle."""

from __future__ import annotations

import re

import numpy as np
import pytest

from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.hosts import user_address
from privlib.synthesis.protocol.log import Log
from privlib.synthesis.protocol.processes import PartyFailed, Processes, ProcessParty
from privlib.synthesis.protocol.server import transcript


def test_processes_publish_what_objects_do_even_when_both_servers_are_killed(stage, tmp_path):
    """Three users, each in a process; the servers are killed once each, at a request and at a report."""
    here = stage(members=(3,), threshold=3)
    expected = here.run()
    killed = []
    with Processes(here.settings, here.records, tmp_path, seed=1, hosts=3) as parties:
        identities = {party.process.pid for party in (parties.tagging, parties.synthesis, parties.channel)}
        identities |= {host.process.pid for _, host in parties.hosts}
        assert len(identities) == 6

        def progress(phase, done, total):
            if (phase, done) in {("tags", 2), ("reports", 3)}:
                party = parties.tagging if phase == "tags" else parties.synthesis
                party.process.kill()
                party.process.join()
                killed.append(phase)

        outcome = parties.drive(progress, batch=1)
        processes = [party.process for party in (parties.tagging, parties.synthesis, parties.channel)]
    assert killed == ["tags", "reports"]
    assert outcome.published.tags == expected.published.tags
    assert outcome.published.contributors == (3,)
    assert np.array_equal(outcome.published.centroids, expected.published.centroids)
    requests = [msg for _, msg in transcript(tmp_path / "tagging.log", here.settings) if isinstance(msg, m.TagRequest)]
    assert len(requests) == 3
    assert not any(process.is_alive() for process in processes)


def test_an_error_in_a_party_is_told_and_a_lost_channel_ends_the_run():
    channel = ProcessParty("channel", (1, 1, 1), restartable=False)
    try:
        with pytest.raises(PartyFailed, match="Malformed"):
            channel.back_all([b"too short"])
        good = m.frame(user_address(0), m.TAGGING, b"request")
        assert channel.accept_all([b"too short", good]) == [b"too short"]  # a user's frame ends nothing
        assert len(channel.flush()) == 1
        channel.process.kill()
        channel.process.join()
        with pytest.raises(PartyFailed, match="lost"):
            channel.flush()
    finally:
        channel.stop()


def test_a_party_that_cannot_be_built_says_why_and_is_not_started_again(tmp_path, stage):
    """A damaged log stays damaged: three more starts would end in "was lost", and the reason in the child's stderr."""
    path = tmp_path / "synthesis.log"
    Log(path).append(b"F" + bytes(40))
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    party = ProcessParty("synthesis", (stage().settings, path, 1), restartable=True)
    started = party.process.pid
    try:
        with pytest.raises(PartyFailed, match="synthesis: DamagedLog: record 0"):
            party.receive_all([])
        assert party.process.pid == started
    finally:
        party.stop()


def test_a_party_that_is_lost_before_it_greets_is_an_error_with_a_name():
    channel = ProcessParty("channel", (1, 1, 1), restartable=False)
    try:
        channel.process.kill()
        channel.process.join()
        with pytest.raises(PartyFailed, match="the channel process was lost"):
            channel.greeting()
    finally:
        channel.stop()


def test_the_directory_of_an_earlier_run_is_refused_before_anything_starts(stage, tmp_path, monkeypatch):
    run = stage()
    monkeypatch.setattr(ProcessParty, "_start", lambda party: pytest.fail("a process was started"))
    with pytest.raises(ValueError, match=f"directory .*{re.escape(str(run.directory))} with tagging.log"):
        Processes(run.settings, run.records, run.directory, seed=1)


def test_more_hosts_than_users_are_refused(stage, tmp_path):
    run = stage()
    with pytest.raises(ValueError, match="hosts"):
        Processes(run.settings, run.records[:2], tmp_path, seed=1, hosts=3)
