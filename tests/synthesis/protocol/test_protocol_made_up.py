"""Made-up users, and the measured run's summary."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis.protocol.__main__ import summary
from privlib.synthesis.protocol.made_up import SPREAD, population, stage
from privlib.synthesis.protocol.processes import run_here


def test_users_lie_around_popular_and_rare_anchors():
    """Counts of 20,000 users against 1 / (j + 1): chi-square with 9 degrees, false alarm below 1e-8 at 57."""
    anchors, vectors = population(20_000, 16, 10, Simulation(2))
    distances = np.linalg.norm(vectors[:, None] - anchors[None], axis=2)
    assert distances.min(axis=1) == pytest.approx(SPREAD, abs=1e-6)
    assert np.linalg.norm(anchors, axis=1) == pytest.approx(1.0)
    counts = np.bincount(distances.argmin(axis=1), minlength=10)
    expected = 20_000 / np.arange(1, 11) / (1 / np.arange(1, 11)).sum()
    assert ((counts - expected) ** 2 / expected).sum() < 57
    assert ((counts - 2000) ** 2 / 2000).sum() > 57  # power: equal popularity is seen


def test_no_user_is_clipped_and_the_summary_finds_the_noise_it_should(stage_run):
    settings, vectors, outcome = stage_run
    cells = settings.buckets.assign(vectors)
    offsets = np.linalg.norm(vectors - settings.buckets.origins(cells), axis=1)
    assert offsets.max() < settings.buckets.radius
    lines = summary(settings, vectors, outcome)
    assert lines[0] == f"{sum(outcome.traffic.values()):,} bytes in 300 users' run"
    ratio = float(lines[-1].split()[-2])
    assert 0.8 < ratio < 1.25


@pytest.fixture(scope="module")
def stage_run(tmp_path_factory):
    settings, vectors = stage(300, 64, 3, 7, threshold=12)
    outcome = run_here(settings, list(vectors[:, None]), tmp_path_factory.mktemp("logs"), 7)
    return settings, vectors, outcome
