"""Attacks that the bound does not speak of: which rows look fresh, and in which order rows stand."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import quantization
from privlib.dp import Simulation
from privlib.quantization import Detector, PublicOverlap, Shadow, order_attack, provenance_attack
from privlib.quantization.tables import choose_tables, draw_targets, empirical_tables

SCHEMA = quantization.Schema((("topic", ("cats", "dogs")), ("mood", ("bad", "good"))))
PHRASES = {
    "cats": ("my cat number {} purrs", "the cats of house {} sleep"),
    "dogs": ("my dog number {} barks", "the dogs of house {} run"),
    "bad": ("this is awful since day {}", "i hate every bit of part {}"),
    "good": ("this is lovely since day {}", "i love every bit of part {}"),
}


class Corpus:
    """Rows that say topic and mood, each clause with a number of its own, so that no two rows share a clause."""

    def __init__(self, labels, seed):
        generator = np.random.default_rng(seed)
        self.labels, self.attributes = np.asarray(labels), SCHEMA.decode(np.asarray(labels))
        self.texts = tuple(
            " ".join(PHRASES[kind][generator.integers(2)].format(generator.integers(10**9)) + "." for kind in row)
            for row in zip(*self.attributes.values(), strict=True)
        )


def combinations(n, seed, topic=0.5, mood=0.5):
    generator = np.random.default_rng(seed)
    return np.stack([generator.random(n) < topic, generator.random(n) < mood], axis=1).astype(int)


PUBLIC = Corpus(combinations(300, 1), 1)
PRIVATE = Corpus(combinations(300, 2, topic=0.8, mood=0.3), 2)
TREE = quantization.chow_liu(PUBLIC, SCHEMA)
SECRETS = [SCHEMA.share(topic="dogs"), SCHEMA.share(mood="good"), SCHEMA.share(topic="dogs", mood="bad")]
DRAWS = range(12)
NONE = np.zeros(300, bool)


def mechanism(nearest=6):
    return quantization.RandomizedQuantization(TREE, 12, nearest, public_seed=5, pool_size=120)


def shadow_run(private, rewriter, seed):
    shadow = Shadow(rewriter)
    return mechanism().release(private, Simulation(seed), rewriter=shadow), shadow.fresh


@pytest.fixture(scope="module")
def plain():
    """Errors of both attacks on twelve spliced releases, the detector learnt on the attacker's own shadow runs."""
    return errors(quantization.splice(PUBLIC, SCHEMA))


def errors(rewriter):
    overlap = PublicOverlap.of(PUBLIC.texts)
    # The attacker runs the mechanism on rows of his own, told from the filling texts.
    scores, truth = [], []
    for seed in range(3):
        released, fresh = shadow_run(Corpus(combinations(300, 50 + seed, topic=0.7), 50 + seed), rewriter, 90 + seed)
        scores.append(overlap(released.texts))
        truth.append(fresh)
    try:
        detector = Detector.fit(np.concatenate(scores), np.concatenate(truth))
    except ValueError:
        return None
    found = []
    for seed in DRAWS:
        released = mechanism().release(PRIVATE, Simulation(seed), rewriter=rewriter)
        fresh = detector(overlap(released.texts))
        for secret in SECRETS:
            gold = secret(PRIVATE.labels)
            told = provenance_attack(
                released.targets, fresh, secret, gold, PUBLIC.labels, detector.hits, detector.false_alarms
            )
            found.append((told.error, abs(secret(released.targets) - gold)))
    return np.mean(found, axis=0)


def test_counting_fresh_rows_undoes_the_mechanism_on_spliced_texts(plain):
    """MAE of the provenance attack beside the labelling attack's, which reads every released label exactly."""
    provenance, labelling = plain
    assert labelling > 0.08
    assert provenance < 0.6 * labelling


def test_with_every_row_fresh_no_detector_beats_chance_by_much_and_the_attack_falls_back():
    """The defence: fresh texts of kept and of changed rows follow one law, so hits = false alarms up to sampling.

    900 rows of shadow runs; the best of all thresholds gains less than .15 (Kolmogorov-Smirnov, 5 sd at the smaller
    side's 150 rows or more: false alarm below 1e-6 for one comparison).
    """
    rewriter = quantization.splice(PUBLIC, SCHEMA, fresh_share=1.0)
    overlap = PublicOverlap.of(PUBLIC.texts)
    scores, truth = [], []
    for seed in range(3):
        released, fresh = shadow_run(PRIVATE, rewriter, seed)
        scores.append(overlap(released.texts) + 1e-6 * np.random.default_rng(seed).random(300))
        truth.append(fresh)
    detector = Detector.fit(np.concatenate(scores), np.concatenate(truth))
    assert detector.hits - detector.false_alarms < 0.15


def test_a_quota_costs_the_attack_more_the_larger_it_is():
    kept, gained = [], []
    for share in (0.0, 0.5, 1.0):
        rewriter = quantization.splice(PUBLIC, SCHEMA, fresh_share=share)
        own = []
        for seed in DRAWS:
            released = mechanism().release(PRIVATE, Simulation(seed), rewriter=rewriter)
            seen = PublicOverlap.of(PUBLIC.texts)(released.texts) > 0.9
            own.append((~seen).mean())
            gold = SECRETS[0](PRIVATE.labels)
            attack = provenance_attack(released.targets, seen, SECRETS[0], gold, PUBLIC.labels)
            gained.append((share, attack.error))
        kept.append(np.mean(own))
    assert kept[0] > kept[1] > kept[2]  # the price: private content
    assert kept[2] == 0
    by_share = {share: np.mean([error for s, error in gained if s == share]) for share in (0.0, 0.5, 1.0)}
    assert by_share[0.0] < by_share[0.5] < by_share[1.0]


def test_with_a_perfect_detector_a_binary_share_is_read_off_exactly():
    """One attribute of two values: whichever label holds a fresh row was kept whole, whatever tables were chosen."""
    tree = quantization.Tree(0, (-1,), (2,))
    secret = quantization.Share(((0, 1),))
    for seed in range(30):
        private = (np.random.default_rng(seed).random((200, 1)) < 0.3).astype(int)
        ones = (0.6, 0.05)[seed % 2]  # above and below the private share: fresh ones, fresh zeros
        targets = draw_targets(200, (np.array([1 - ones, ones]),), tree, Simulation(seed))
        source = np.empty(200, dtype=int)
        source[quantization.match(private, targets)] = np.arange(200)
        fresh = (private[source] != targets).any(axis=1)
        attack = provenance_attack(targets, fresh, secret, secret(private), np.array([[0], [1]]))
        assert attack.error == pytest.approx(0, abs=1e-12)
        assert abs(secret(targets) - secret(private)) > 0.1  # what it undoes


def test_random_matching_is_no_defence():
    """With a random matching the kept share among rows released with label b is p_b itself (5 sd: 2,000 rows)."""
    generator = np.random.default_rng(3)
    private, targets = (generator.random((2000, 1)) < p for p in (0.3, 0.6))
    source = generator.permutation(2000)
    kept = (private[source] == targets)[:, 0]
    ones = targets[:, 0]
    assert abs(kept[ones].mean() - private.mean()) < 5 * np.sqrt(0.3 * 0.7 / ones.sum())
    assert abs(kept[~ones].mean() - (1 - private.mean())) < 5 * np.sqrt(0.3 * 0.7 / (~ones).sum())


def test_known_errors_of_the_detector_are_taken_off():
    """10,000 rows, hits .8 and false alarms .2: corrected within .02 where the raw count is off by more than .1."""
    generator = np.random.default_rng(8)
    labels = (np.arange(10_000) < 6000).astype(int)[:, None]
    truth = np.zeros(10_000, bool)
    truth[:2500] = True  # 2,500 of the 6,000 ones are fresh: 3,500 private ones
    seen = np.where(truth, generator.random(10_000) < 0.8, generator.random(10_000) < 0.2)
    secret, public = quantization.Share(((0, 1),)), np.array([[0], [1]])
    assert provenance_attack(labels, seen, secret, 0.35, public, 0.8, 0.2).error < 0.02
    assert provenance_attack(labels, seen, secret, 0.35, public).error > 0.04


def test_overlap_is_the_share_of_public_words():
    overlap = PublicOverlap.of(["One two three. Four five six"])
    found = overlap(["ONE two three!", "one two three. seven eight nine", "seven eight nine", "..."])
    np.testing.assert_allclose(found, [1, 0.5, 0, 1])


def test_detector_takes_the_best_threshold():
    detector = Detector.fit(np.array([0.0, 0.2, 0.6, 0.9]), np.array([False, False, True, True]))
    assert detector == Detector(0.6, 1.0, 0.0)
    assert detector(np.array([0.59, 0.61])).tolist() == [False, True]


# ------------------------------------------------------------------------------------------ order of rows
def order_errors(order):
    """Mean error of the order attack over draws, ideal rewriting, on a private file sorted by the secret."""
    tree, secret = quantization.Tree(0, (-1,), (2,)), quantization.Share(((0, 1),))
    ours = quantization.RandomizedQuantization(tree, 120, 60, public_seed=3)
    found = []
    for seed in range(40):
        private = (np.arange(400) < 120).astype(int)[:, None]
        noise = Simulation(seed)
        tables = choose_tables(empirical_tables(private, tree), ours.candidate_sets, 60, noise.child("choice"))
        targets = draw_targets(400, tables, tree, noise.child("targets"))
        if order == "private":
            targets = targets[quantization.match(private, targets)]
        elif order == "shuffled":
            targets = targets[noise.child("shuffle").permutation(400)]
        found.append((order_attack(secret.holds(targets), 0.3).error, abs(secret(targets) - 0.3)))
    return np.mean(found, axis=0)


def test_private_order_gives_the_share_away_and_target_or_shuffled_order_does_not():
    private, labelling = order_errors("private")
    assert labelling > 0.1
    assert private < 0.3 * labelling
    for order in ("target", "shuffled"):
        assert order_errors(order)[0] > labelling  # worse than counting: there is no change point to find


def test_order_attack_by_hand():
    bits = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0], bool)
    assert order_attack(bits, 0.3).estimate == 0.3
    assert order_attack(bits[::-1], 0.3).estimate == 0.3
    assert order_attack(np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0], bool), 0.5).estimate in (0.4, 0.6)
    assert order_attack(np.zeros(5, bool), 0.0).estimate == 0
    assert order_attack(np.ones(5, bool), 1.0).estimate == 1


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: order_attack(np.zeros(0, bool), 0.1), "holds"),
        (lambda: Detector.fit(np.zeros(3), np.ones(3, bool)), "fresh"),
        (lambda: Detector.fit(np.array([1.0, 0.0]), np.array([False, True])), "scores"),
        (lambda: Detector.fit(np.array([np.nan, 1.0]), np.array([False, True])), "scores"),
        (lambda: Detector(0.5, 1.0, 0.0)(np.array([np.nan, 1.0])), "scores"),
        (lambda: provenance_attack(PUBLIC.labels, np.zeros(3, bool), SECRETS[0], 0.1, PUBLIC.labels), "fresh"),
        (lambda: provenance_attack(PUBLIC.labels, NONE, SECRETS[0], 0.1, PUBLIC.labels, 0.2, 0.3), "hits"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        call()


def test_scores_are_not_taken_for_marks():
    """Every score above 0 counted as fresh."""
    scores = np.full(len(PUBLIC.labels), 0.1)
    with pytest.raises(TypeError, match=r"^fresh must be an array of bool, got dtype float64$"):
        provenance_attack(PUBLIC.labels, scores, SECRETS[0], 0.1, PUBLIC.labels)
    with pytest.raises(TypeError, match=r"^fresh must be an array of bool, got dtype float64$"):
        Detector.fit(scores, scores)
