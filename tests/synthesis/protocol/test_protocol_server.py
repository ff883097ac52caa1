"""Frames in batches: one wait for the disk, the same state, the same answers, each once; and the files of a server."""

from __future__ import annotations

import os
import stat

import pytest

from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.log import Log
from privlib.synthesis.protocol.server import Broken, transcript


def test_a_batch_waits_for_the_disk_once_and_does_what_single_frames_do(stage, monkeypatch):
    one, many = stage(name="one"), stage(name="many")
    requests = one.host.begin(one.addresses)
    waits = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (waits.append(file), real(file))[1])
    singly = [answer for data in requests for answer in one.tagging.receive(data)]
    assert len(waits) == len(requests)
    together = many.tagging.receive_all(requests)
    assert len(waits) == len(requests) + 1
    assert [data[:16] for data in together] == [data[:16] for data in singly]
    seen = [transcript(run.directory / "tagging.log", run.settings) for run in (one, many)]
    assert seen[0] == seen[1]


def test_a_frame_twice_in_a_batch_counts_once_and_a_bad_one_stops_nobody(stage):
    run = stage()
    first, second, *_ = run.host.begin(run.addresses)
    answers = run.tagging.receive_all([first, b"bad", first, second])
    assert {m.unframe(data)[1] for data in answers} == set(run.addresses[:2])
    assert run.tagging._requests == 2
    assert len(run.tagging.refused) == 1


def test_nobody_is_answered_before_the_log_is_written(stage, monkeypatch):
    run = stage()
    requests = run.host.begin(run.addresses)

    def full(*records):
        raise OSError("no space left")

    monkeypatch.setattr(run.tagging._log, "append", full)
    with pytest.raises(OSError, match="no space"):
        run.tagging.receive_all(requests)
    again = run.new_tagging()  # started from its log it has seen nothing, and answers all
    assert again._requests == 0
    assert len(again.receive_all(requests)) == len(requests)


@pytest.mark.parametrize("kept", [0, 1, 7, 16])
def test_a_batch_that_was_cut_short_is_taken_up_again(stage, kept):
    """Any number of its records may have reached the disk: the rest is accepted when the batch comes again."""
    run = stage()
    requests = run.host.begin(run.addresses)
    before = len(Log(run.directory / "tagging.log").records)
    run.tagging.receive_all(requests)
    path = run.directory / "tagging.log"
    records = Log(path).records
    path.unlink()
    Log(path).append(*records[: before + kept])
    again = run.new_tagging()
    assert again._requests == kept
    assert len(again.receive_all(requests)) == len(requests)
    assert again._requests == len(requests)


def test_equal_answers_of_a_batch_are_sent_once(stage):
    """Partial sums in one batch: the publication follows once, not once for each."""
    run = stage()
    sums, real = [], run.synthesis.receive_all

    def receive_all(frames):
        answers = real(frames)
        if any(isinstance(m.decode(m.unframe(data)[2], run.settings.session), m.Published) for data in answers):
            sums.append((len(frames), len(answers)))
        return answers

    run.synthesis.receive_all = receive_all
    run.run()
    assert sums == [(2, 1)]


@pytest.mark.parametrize("error", [MemoryError, OSError, KeyboardInterrupt])
def test_a_server_that_failed_midway_must_be_started_again(stage, monkeypatch, error):
    """The first request of the batch is in memory and not in the log: it is not answered before a restart."""
    run = stage()
    first, second, third, *_ = run.host.begin(run.addresses)
    accept, calls = run.tagging._accept, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise error
        accept(*arguments)

    monkeypatch.setattr(run.tagging, "_accept", failing)
    with pytest.raises(error):
        run.tagging.receive_all([first, second])
    for data in (first, second, third):
        with pytest.raises(Broken, match="start it again"):
            run.tagging.receive(data)
    again = run.new_tagging()
    assert again._requests == 0
    assert len(again.receive_all([first, second, third])) == 3


def test_a_refused_frame_breaks_nothing(stage):
    run = stage()
    assert run.tagging.receive_all([b"bad"]) == []
    assert run.tagging.receive(run.host.begin(run.addresses)[0])


def test_a_transcript_is_read_without_writing(stage):
    """A server is in the middle of a record: whoever looks sees what is whole, and the record can be finished."""
    run = stage()
    run.tagging.receive_all(run.host.begin(run.addresses))
    path, records = run.directory / "tagging.log", [*run.tagging._log.records, bytes(300)]
    before = path.stat().st_size
    run.tagging._log.append(records[-1])
    whole = path.read_bytes()
    path.write_bytes(whole[: before + 100])
    path.chmod(0o400)
    assert len(transcript(path, run.settings)) == len(run.addresses)
    assert path.read_bytes() == whole[: before + 100]
    path.chmod(0o600)
    with path.open("ab") as file:
        file.write(whole[before + 100 :])
    assert Log(path).records == records


def test_there_is_no_transcript_without_a_log(stage):
    run = stage()
    with pytest.raises(FileNotFoundError):
        transcript(run.directory / "other.log", run.settings)
    assert not (run.directory / "other.log").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_keys_and_logs_are_their_owners_alone(stage):
    """They hold secrets: both boxes' seeds and the function's key. Under a umask that forbids nothing."""
    old = os.umask(0)
    try:
        run = stage()
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in run.directory.iterdir()}
    assert modes == {"tagging.key": 0o600, "tagging.log": 0o600, "synthesis.log": 0o600}
