"""Parties as processes of their own, killed and started again in the middle."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.synthesis.protocol import messages as m
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
            channel.accept_all([b"too short"])
        channel.process.kill()
        channel.process.join()
        with pytest.raises(PartyFailed, match="lost"):
            channel.flush()
    finally:
        channel.stop()


def test_more_hosts_than_users_are_refused(stage, tmp_path):
    run = stage()
    with pytest.raises(ValueError, match="hosts"):
        Processes(run.settings, run.records[:2], tmp_path, seed=1, hosts=3)
