"""Local baselines: unary encoding by enumeration, sensitivity of the sums, and what local noise leaves to be found."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from privlib.baselines.grouping import residual_sums
from privlib.baselines.local import LocalBuckets, LocalEmbeddings, UnaryEncoding
from privlib.dp import Secure, Simulation, gaussian_noise_std
from privlib.evaluation.embedding import heavy_buckets
from privlib.synthesis import AnchoredBuckets

D = 8
BUCKETS = AnchoredBuckets.at(np.eye(D)[:5], radius=0.5)
TAGS = np.arange(5)[:, None]


def rows(*sizes: int, seed: int = 0) -> np.ndarray:
    spots = np.repeat(np.arange(len(sizes)), sizes)
    return np.eye(D)[spots] + 0.05 * Simulation(seed).generator.standard_normal((len(spots), D))


def message_law(lie: Fraction, value: int, values: int) -> dict[tuple[int, ...], Fraction]:
    """Exact law of one user's bits."""
    law = {}
    for bits in itertools.product((0, 1), repeat=values):
        chance = Fraction(1)
        for place, bit in enumerate(bits):
            one = Fraction(1, 2) if place == value else lie
            chance *= one if bit else 1 - one
        law[bits] = chance
    return law


def largest_odds(lie: Fraction, values: int = 3) -> Fraction:
    laws = [message_law(lie, value, values) for value in (-1, *range(values))]
    return max(p[bits] / q[bits] for p in laws for q in laws for bits in p)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 16.0])
def test_every_pair_of_values_and_none_by_enumeration(epsilon):
    lie = Fraction(UnaryEncoding(epsilon, 3).lie)
    odds = largest_odds(lie)
    assert math.exp(epsilon) * (1 - 1e-12) < odds  # the budget is spent
    assert math.log(float(odds)) <= epsilon * (1 + 1e-14)
    assert math.log(float(largest_odds(lie * Fraction(9, 10)))) > epsilon  # lies 10 % rarer would be seen


def test_estimates_are_unbiased_with_the_stated_deviation():
    """200 runs of 300 users; mean within 5.5 standard errors, deviation within 5.5 of its own (below 1e-6 in all).

    A deviation off by a third, or an estimator that forgets the lies, would be seen.
    """
    encoding, runs = UnaryEncoding(1.5, 4), 200
    own = np.repeat([0, 1, 2, -1], [150, 60, 30, 60])
    found = np.array([encoding.release(own, Simulation(seed)) for seed in range(runs)])
    expected = encoding.deviation(300)
    error = 5.5 * expected / math.sqrt(runs)
    for place, truth in enumerate([150, 60, 30, 0]):
        assert abs(found[:, place].mean() - truth) < error * 1.2
    assert found[:, 3].std() == pytest.approx(expected, rel=5.5 / math.sqrt(2 * runs))
    assert 5.5 / math.sqrt(2 * runs) < 1 / 3
    assert encoding.lie * 300 > error  # the share of lies that an estimator might forget


def test_blocks_of_users_change_no_coin_law():
    """More bits than a block holds: 3,000 users, 3,000 values."""
    found = UnaryEncoding(8.0, 3000).release(np.full(3000, 7), Simulation(1))
    assert int(np.argmax(found)) == 7
    assert abs(found[7] - 3000) < 6 * math.sqrt(3000) * 0.5 / 0.4996  # six deviations
    with pytest.raises(ValueError, match="private"):
        UnaryEncoding(1.0, 3).release(np.array([3]), Simulation(1))


def test_an_exchanged_record_moves_the_sums_by_at_most_twice_the_clip_norm():
    """All pairs of 40 records, near and far, in one bucket or two or outside the list; clip_norm alone is exceeded."""
    pool = np.vstack([rows(4, 4, 4), 30 * Simulation(3).generator.standard_normal((28, D))])
    tags = TAGS[:4]
    place = np.array([0, 1, 2, 3, -1])
    largest = 0.0
    for first, second in itertools.combinations(range(len(pool)), 2):
        both = [
            residual_sums(pool[[k]], place[BUCKETS.assign(pool[[k]])[:, 0]], tags, BUCKETS) for k in (first, second)
        ]
        largest = max(largest, np.linalg.norm(both[0] - both[1]))
    assert BUCKETS.clip_norm < largest <= 2 * BUCKETS.clip_norm


def local(**changes) -> LocalBuckets:
    return LocalBuckets(**{"buckets": BUCKETS, "public_tags": TAGS, "epsilon": 4.0, "delta": 1e-6} | changes)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.7, 4.0, 16.0])
@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.9])
def test_the_stages_add_up_to_at_most_the_budget(epsilon, share):
    release = local(epsilon=epsilon, count_share=share)
    assert Fraction(release.counts.epsilon) + Fraction(release.sums(3).epsilon) <= Fraction(epsilon)
    for noise in (Simulation(0), Secure()):
        bill = release.guarantee_under(noise)
        assert epsilon * (1 - 1e-12) < bill.epsilon <= epsilon
        assert (bill.delta, bill.unit, bill.relation) == (1e-6, "record", "replace")
        assert bill.composed == ("local unary encoding", "Gaussian vector")
    assert release.sums(3).noise_std(Simulation(0)) == pytest.approx(
        gaussian_noise_std(epsilon * (1 - share), 1e-6, 2 * 0.5), rel=1e-6
    )


def test_heavy_buckets_are_found_among_many_users_and_lost_among_few():
    """Noise of about sqrt(n): 20,000 users show buckets of thousands, 600 do not show buckets of 150 at epsilon 0.5."""
    many = rows(9000, 6000, 4000, 900, 100)
    out = local(epsilon=8.0, threshold=500.0).release(many, Simulation(1))
    found = heavy_buckets(out.cells, BUCKETS.assign(many), 500)
    assert (found.recall, found.precision) == (1.0, 1.0)
    assert np.all(np.linalg.norm(out.centroids - np.eye(D)[out.cells[:, 0]], axis=1) < 0.2)
    assert np.all(np.diff(out.cells[:, 0]) > 0)
    few = rows(150, 150, 150, 150, 0)
    wrong = 0
    for seed in range(20):
        out = local(epsilon=0.5, threshold=100.0).release(few, Simulation(seed))
        found = heavy_buckets(out.cells, BUCKETS.assign(few), 100)
        wrong += (found.heavy - found.correct) + (found.found - found.correct)
    assert wrong > 20  # of 100 decisions


def test_the_public_list_is_kept_in_order_and_distinct():
    out = local(public_tags=TAGS[::-1], epsilon=8.0, threshold=500.0).release(rows(2000, 2000), Simulation(1))
    assert out.cells[:, 0].tolist() == [0, 1]
    listed = local(public_tags=TAGS[1:], epsilon=8.0, threshold=500.0).release(rows(2000, 2000), Simulation(1))
    assert listed.cells[:, 0].tolist() == [1]
    with pytest.raises(ValueError, match="public_tags"):
        local(public_tags=np.zeros((2, 1), dtype=int))


def test_noise_on_every_embedding_hides_every_bucket():
    """1,500 users in three buckets: at epsilon 4 the messages hardly tell; at an epsilon without meaning they do."""
    data = rows(500, 500, 500)
    release = LocalEmbeddings(BUCKETS, epsilon=4.0, delta=1e-6, threshold=100, max_norm=1.5)
    assert release.message.l2_sensitivity == 3.0
    assert release.message.relation == "replace"
    spread = np.linalg.norm(release.release(data, Simulation(1)).centroids, axis=1)
    assert spread.min() > 1.4  # means of messages, most of them noise: far from any record
    clear = LocalEmbeddings(BUCKETS, epsilon=1e5, delta=1e-6, threshold=100, max_norm=1.5).release(data, Simulation(1))
    assert clear.cells[:, 0].tolist() == [0, 1, 2]
    assert np.all(np.linalg.norm(clear.centroids - np.eye(D)[:3], axis=1) < 0.05)
    bill = release.guarantee_under(Secure())
    assert (bill.epsilon, bill.delta, bill.relation) == (4.0, 1e-6, "replace")
    assert bill.composed == ("local Gaussian embedding",)


def test_one_message_moves_by_at_most_twice_the_norm_and_no_two_share_a_draw():
    class Silent(Simulation):
        def child(self, name):
            return self

        def add_gaussian(self, values, std):
            return np.asarray(values, dtype=float)

    release = LocalEmbeddings(BUCKETS, epsilon=4.0, delta=1e-6, threshold=1, max_norm=1.0)
    ends = [release.release(sign * np.full((1, D), 1e200), Silent(1)).centroids for sign in (1, -1)]
    assert np.linalg.norm(ends[0] - ends[1]) <= 2.0
    one = np.full((1, D), 1.0)
    ends = [release.release(sign * one, Silent(1)).centroids for sign in (1, -1)]
    assert 1.99 < np.linalg.norm(ends[0] - ends[1]) <= 2.0
    sent = release.release(np.zeros((5, D)), Simulation(1))
    assert sent.counts.sum() == 5


@pytest.mark.parametrize("bad", [np.full((3, D), np.nan), np.zeros((3, D + 1))])
def test_malformed_data_is_refused_without_a_value(bad):
    for release in (local(), LocalEmbeddings(BUCKETS, 4.0, 1e-6)):
        with pytest.raises(ValueError, match="private") as caught:
            release.release(bad, Simulation(1))
        assert "nan" not in str(caught.value)


def test_a_secure_release_runs():
    out = local(epsilon=8.0, threshold=50.0).release(rows(200, 100), Secure())
    assert out.kind == "secure"
    assert out.cells[:, 0].tolist() == [0, 1]


def test_local_noise_grows_like_the_root_of_the_dimension_and_of_the_number_of_users():
    """Per coordinate the noise does not depend on d, so its length grows like sqrt(d); a count's like sqrt(n)."""
    encoding = UnaryEncoding(1.0, 10)
    assert encoding.deviation(40_000) == pytest.approx(20 * encoding.deviation(100))
    stds = []
    for d in (4, 64):
        rule = AnchoredBuckets.at(np.eye(d)[:2], radius=0.5)
        stds.append(LocalEmbeddings(rule, 4.0, 1e-6).message.noise_std(Simulation(0)))
    assert stds[0] == stds[1]
    # at the paper's d = 768 and epsilon 16 the noise is still longer than the space is wide
    assert math.sqrt(768) * gaussian_noise_std(16.0, 1e-6, 2.0) > 2 * 2.0
