"""The studies behind the protocol's page: what they measure is what they say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from privlib.baselines import AugPE
from privlib.experiments.studies import synthesis_protocol as studies
from privlib.experiments.studies import synthesis_protocol_costs as costs
from privlib.synthesis.protocol.made_up import stage

SEED = 7


@pytest.fixture(scope="module")
def made():
    return stage(90, 64, 3, SEED, threshold=8)


@pytest.fixture(scope="module")
def finished(made):
    return studies.run(*made, SEED)


def test_protocol_and_curator_agree_and_a_wrong_centroid_would_not(made, monkeypatch):
    rows = studies.agreement_rows(*made, SEED)
    assert (rows["contributors"] == rows["curator_count"]).all()
    assert (rows["error"] < rows["limit"]).all()
    assert (rows["error"] > 0).all()
    real = studies.run

    def spoilt(*arguments):
        run = real(*arguments)
        run.outcome.published.centroids.setflags(write=True)
        run.outcome.published.centroids[:] += 0.01
        return run

    monkeypatch.setattr(studies, "run", spoilt)
    assert (studies.agreement_rows(*made, SEED)["error"] > rows["limit"]).all()


def test_measured_noise_is_the_claimed_one_by_rule(made):
    """Of 64 entries: outside .55 to 1.6 of the claim below 1e-8; rules differ by sqrt(count / threshold)."""
    rows, shares = studies.noise_rows(*made, [SEED])
    assert set(rows["rule"]) == set(studies.RULES)
    assert ((rows["measured"] / rows["claimed"]).between(0.55, 1.6)).all()
    assert (rows["measured_low"] < rows["measured"]).all()
    assert (rows["measured"] < rows["measured_high"]).all()
    scaled, constant = (rows[rows["rule"] == rule].set_index("contributors")["claimed"] for rule in studies.RULES)
    assert scaled.nunique() == 1 or np.allclose(scaled, scaled.iloc[0])
    for count, claimed in constant.items():
        assert claimed == pytest.approx(math.sqrt(count / 8) * constant.min() / math.sqrt(constant.idxmin() / 8))
    assert shares.groupby("rule")["share"].sum().between(0.95, 1.0).all()


def test_transcripts_hold_every_message_and_say_what_it_shows(finished):
    rows = studies.transcript_rows(finished).set_index(["server", "message"])
    assert rows.loc[("tagging", "TagRequest"), "number"] == 90
    given = sum(finished.outcome.published.contributors)
    assert rows.loc[("tagging", "Contribution"), "number"] == rows.loc[("synthesis", "Contribution"), "number"] == given
    assert rows["number"].sum() == sum(map(len, finished.seen.values()))
    assert ("synthesis", "TagRequest") not in rows.index


def test_messages_add_up_and_users_take_part_in_two_phases(finished):
    rows = studies.message_rows(finished)
    assert rows["bytes"].sum() == sum(finished.outcome.traffic.values())
    of_users = rows[(rows["source"] == "users") | (rows["destination"] == "users") | (rows["message"] == "Release")]
    assert set(of_users["phase"]) == {1, 2}
    assert not ((rows["source"] == "users") & (rows["destination"] == "users")).any()


def test_simulated_error_is_the_formulas_and_rules_part_as_the_root_of_the_count():
    rows = studies.rule_rows(64, 20, [20, 80, 320], 6, SEED).set_index(["rule", "contributors"])
    drawn = rows.loc[list(studies.RULES)]
    assert (drawn["mean"] / drawn["formula"]).between(0.85, 1.15).all()
    for count in (20, 80, 320):
        ratio = rows.loc[("constant", count), "formula"] / rows.loc[("count_scaled", count), "formula"]
        assert ratio == pytest.approx(math.sqrt(count / 20), rel=1e-9)
    curator = rows.loc["curator", "formula"] / rows.loc["count_scaled", "formula"]
    assert curator.between(0.6, 1.0).all()


def test_a_wrong_rule_would_be_seen(monkeypatch):
    """Negative control: users who all draw twice the noise are not near the formula."""
    real = studies._error
    monkeypatch.setattr(
        studies, "_error", lambda settings, step, count, std, noise: real(settings, step, count, 2 * std, noise)
    )
    rows = studies.rule_rows(64, 20, [20, 80], 4, SEED)
    drawn = rows[rows["rule"] != "curator"]
    assert ((drawn["mean"] / drawn["formula"]) > 1.5).all()


def test_whole_runs_are_weighed():
    rows = studies.scale_rows([60, 90], 64, 3, 8, SEED)
    ways = ["from_users", "to_users", "to_everyone", "between_servers"]
    assert (rows[ways].sum(axis=1) == rows["all_bytes"]).all()
    assert rows["to_users"].tolist() == [60 * 123, 90 * 123]


# costs
SMALL = costs.Size(50, 64, 3, 40, 4)
PAPER = costs.Size(1_000_000, 768, 165, 21_000, 20, 0.2, 20, 9)


def test_bytes_by_party_are_those_of_one_user_times_the_users():
    rows = costs.byte_rows([SMALL]).set_index(["protocol", "party", "direction"])["bytes"]
    assert (
        rows[costs.OURS, "user", "sent"]
        == rows[costs.OURS, "user", "sent, tags"] + rows[costs.OURS, "user", "sent, centroids"]
    )
    assert rows[costs.VOTES, "user", "sent"] == 4 * rows[costs.VOTES, "user", "sent, a round"]
    both = rows[costs.VOTES, "tagging", "received"] + rows[costs.VOTES, "synthesis", "received"]
    assert both == 50 * rows[costs.VOTES, "user", "sent"] + rows[costs.VOTES, "tagging", "sent"]


def test_the_papers_size_has_its_dummies_its_candidates_and_its_download():
    """What Appendix B.1 states: 1710 dummies, 21,000 candidates a round (3000 samples, 7 variations), 6.1 kB down."""
    rows = costs.byte_rows([PAPER]).set_index(["protocol", "party", "direction"])["bytes"]
    assert rows[costs.OURS, "tagging", "dummy messages"] == 1710
    assert rows[costs.OURS, "user", "received"] == pytest.approx(6100, rel=0.01)
    assert rows[costs.VOTES, "user", "received"] > 10**5 * rows[costs.OURS, "user", "received"]
    votes = AugPE(
        generate=lambda count, seed: [], vary=lambda texts, seed: [], embed=lambda texts: np.zeros((0, 2)),
        epsilon=4.0, delta=1e-6, population=3000, variations=7, iterations=20, max_norm=1.0, public_seed=0,
    )  # fmt: skip
    assert votes.candidates == PAPER.candidates


def test_times_of_a_user_add_up():
    rows = costs.time_rows([SMALL], 1)
    user = rows[(rows["party"] == "user") & (rows["protocol"] == costs.OURS)].set_index("operation")["microseconds"]
    parts = user.drop(["all online work", "find the bucket and clip"])
    assert user["all online work"] == pytest.approx(parts.sum())
    votes = rows[(rows["party"] == "user") & (rows["protocol"] == costs.VOTES)].set_index("operation")["microseconds"]
    assert votes["all online work"] == pytest.approx(4 * votes.drop("all online work").sum())
    assert (rows["low"] <= rows["high"]).all()


def test_bytes_grow_as_the_paper_says(monkeypatch):
    ladders = {"users": [50, 100, 200, 400], "dimension": [256, 512, 1024, 2048], "released": [50, 100, 200, 400],
               "candidates": [100, 200, 400, 800], "rounds": [5, 10, 20, 40]}  # fmt: skip
    monkeypatch.setattr(costs, "_TIMES", [])
    fitted = costs.fits(costs.growth_rows(SMALL, ladders, 1)[0], "bytes")
    assert (abs(fitted["exponent"] - fitted["claimed"]) < 0.1).all()


def test_a_fit_finds_the_exponent_and_the_line():
    sizes = np.array([1, 2, 4, 8, 16])
    points = pd.DataFrame(
        [("p", name, "users", claimed, int(size), value) for name, claimed, values in (
            ("linear", 1.0, 3.0 * sizes), ("constant", 0.0, 0 * sizes + 5.0), ("square", 2.0, 2.0 * sizes**2),
        ) for size, value in zip(sizes, values, strict=True)],
        columns=["protocol", "quantity", "over", "claimed", "size", "bytes"],
    )  # fmt: skip
    fitted = costs.fits(points, "bytes").set_index("quantity")
    assert fitted["exponent"].tolist() == pytest.approx([1.0, 0.0, 2.0], abs=1e-9)
    assert fitted.loc["linear", ["fixed", "slope"]].tolist() == pytest.approx([0.0, 3.0], abs=1e-9)
