"""What a run weighs and takes: predicted bytes are those of the run, and the clock can tell."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from privlib.synthesis import AnchoredBuckets
from privlib.synthesis.protocol import costs
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.dummies import expected_dummies
from privlib.synthesis.protocol.server import transcript


@pytest.mark.parametrize("changes", [{}, {"bucket_cap": 3}, {"members": (3, 2)}, {"rate": 0.6, "dummy_shift": 3}])
def test_weights_add_up_to_what_the_run_weighed(stage, changes):
    run = stage(buckets=AnchoredBuckets.at(np.eye(100)[:3], 0.5), **{"members": (12, 8, 3), **changes})
    outcome = run.run()
    reports = [msg for _, msg in transcript(run.directory / "synthesis.log", run.settings) if isinstance(msg, m.Report)]
    dummies = len(run.tagging._dummies)
    weighed = costs.weights(
        run.settings, len(run.records), dummies, len(reports) - dummies, outcome.published.contributors
    )
    assert costs.traffic(weighed) == outcome.traffic
    more = costs.weights(run.settings, len(run.records), dummies + 1, len(reports), outcome.published.contributors)
    assert costs.traffic(more) != outcome.traffic


def test_one_user_sends_and_gets_its_part(stage):
    """16 users, all of whom report and 13 of whom contribute: the parts of one of them are in the run's sums."""
    run = stage()
    weighed = costs.weights(run.settings, 16, 0, 16, (8, 5))
    one, ways = costs.user_bytes(weighed), costs.traffic(weighed)
    sent = ways["users", "tagging"] + ways["users", "synthesis"]
    assert 16 * one["sent_first"] + 13 * one["sent_second"] == sent
    release = next(weight.frame_bytes for weight in weighed if weight.message == "Release")
    assert 16 * (one["received"] - release) == ways["tagging", "users"]


def test_the_papers_number_of_dummies_is_that_of_threshold_20_and_shift_9():
    assert expected_dummies(20, 9) == 1710


def test_every_operation_has_a_time_in_order(stage):
    timed = costs.times(stage().settings, (8, 5), repeats=3)
    assert all(0 < t.low <= t.median <= t.high for t in timed)
    assert Counter(t.party for t in timed) == {"user": 9, "tagging": 3, "synthesis": 3}
    names = {(t.party, t.operation) for t in timed}
    assert len(names) == len(timed)


def test_the_clock_sees_twice_the_work_as_more():
    """Ten times the work takes more than three times as long, by the least of the repeats; per divides."""
    little, much = (lambda: sum(range(2000))), (lambda: sum(range(20000)))
    (_, low, _), (_, high, _) = costs.clocked(little, 5), costs.clocked(much, 5)
    assert high > 3 * low
    assert costs.clocked(much, 5, per=10)[1] < high / 3
