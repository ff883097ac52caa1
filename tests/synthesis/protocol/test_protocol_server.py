"""Frames in batches: one wait for the disk, the same state, the same answers, each once."""

from __future__ import annotations

import os

import pytest

from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.log import Log
from privlib.synthesis.protocol.server import transcript


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
