"""Settings that cannot be run or billed are refused when they are made, before anybody has said a thing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import AnchoredBuckets, InfeasibleBudget, JLBuckets
from privlib.synthesis.protocol import Settings
from privlib.synthesis.protocol import settings as module
from privlib.synthesis.protocol.made_up import stage as made_up
from privlib.synthesis.protocol.shares import LARGEST_MODULUS

SETTINGS, _ = made_up(50, 4, 2, 1)


def far(distance, dimension=64):
    """Two buckets of diameter 1, so many diameters from the origin."""
    anchors = np.full((2, dimension), distance / math.sqrt(dimension))
    anchors[1] *= -1
    return AnchoredBuckets.at(anchors, 0.5)


def test_a_rate_that_costs_more_than_the_reports_may_is_infeasible():
    assert replace(SETTINGS, rate=0.5, report_epsilon=math.log(2) * 1.001).guarantee.delta < 1
    with pytest.raises(InfeasibleBudget, match=r"rate .* report_epsilon 1\.0") as caught:
        replace(SETTINGS, rate=0.9, report_epsilon=1.0)
    assert caught.value.term == "rate"


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("centroid_epsilon", {"centroid_epsilon": 1e30}),
        ("max_users", {"max_users": 1 << 16, "centroid_epsilon": 1e22}),
        ("bucket_cap must be at most", {"bucket_cap": 1 << 16}),
        ("max_users must be at most", {"max_users": 1 << 32}),
        ("buckets must have at most", {"buckets": JLBuckets(1, 0.5, 0, dimension=70_000)}),
        ("scale", {"dummy_scale": 1e9}),
        ("threshold", {"threshold": 10**7}),
    ],
)
def test_what_has_no_bill_or_no_modulus_is_refused_by_name(named, changes):
    with pytest.raises(ValueError, match=named):
        replace(SETTINGS, **changes)


def test_settings_that_are_accepted_have_a_plan_whatever_is_released():
    """At the largest modulus accepted, thousands of buckets as large as can be stay below what shares can hold."""
    last = None
    for exponent in np.arange(8, 30, 0.25):
        try:
            last = replace(SETTINGS, centroid_epsilon=10.0**exponent)
        except ValueError:
            break
    bits = LARGEST_MODULUS.bit_length() - 1
    assert last.plan((last.max_users,)).modulus == 1 << (bits - 1)
    assert last.plan((last.max_users,) * 5000).modulus <= LARGEST_MODULUS
    assert last.plan((30, 40)).modulus <= LARGEST_MODULUS


def apart(settings, trials=100):
    """Largest distance of two members at opposite ends of a bucket, over what `grid_sensitivity` takes for it: as sent,
    then turned and divided by the step."""
    plan, worst = settings.plan((settings.threshold,)), 0.0
    anchor, size = settings.buckets.anchors[0], settings.buckets.dimension
    for trial in range(trials):
        way = Simulation(trial).add_gaussian(np.zeros(size), 1.0)
        way *= 2 / np.linalg.norm(way)
        cells, vectors = settings.places(np.stack([anchor + way, anchor - way]))
        assert cells[0] == cells[1]
        a, b = (settings.rotation.forward(vector) / plan.step for vector in vectors)
        worst = max(worst, float(np.linalg.norm(vectors[0] - vectors[1])), float(np.linalg.norm(a - b)) * plan.step)
    return worst / settings.buckets.diameter


def test_members_of_the_farthest_buckets_are_no_farther_apart_than_billed():
    assert 1 - 1e-6 < apart(replace(SETTINGS, buckets=far(65_000.0))) <= 1 + 1e-9


def test_anchors_too_far_from_the_origin_are_refused(monkeypatch):
    """Where floating point would carry members apart; the control lets it, and sees more than is billed."""
    for distance in (66_000.0, 1e13):
        with pytest.raises(ValueError, match="buckets must lie within"):
            replace(SETTINGS, buckets=far(distance))
    monkeypatch.setattr(module, "_FARTHEST", math.inf)
    assert apart(replace(SETTINGS, buckets=far(1e13)), trials=20) > 1 + 1e-6


def test_a_session_tells_settings_apart_and_not_runs():
    other = replace(SETTINGS, public_seed=1)
    assert replace(SETTINGS).session == SETTINGS.session != other.session
    assert "another run of these is not" in Settings.session.__doc__
