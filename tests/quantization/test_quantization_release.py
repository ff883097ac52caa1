"""The mechanism as a whole: what is released, in which order, with which randomness."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from privlib import dp, quantization
from privlib.dp import Simulation
from privlib.quantization.tables import nearest_candidates

SIZES = (3, 2)
AUXILIARY = np.stack([np.arange(90) % 3, (np.arange(90) // 2) % 2], axis=1)
TREE = quantization.chow_liu(AUXILIARY, SIZES)


def mechanism(**changes):
    chosen = dict(candidates=12, nearest=4, public_seed=5, pool_size=60) | changes
    return quantization.RandomizedQuantization(TREE, **chosen)


def private(n=200, seed=0):
    generator = np.random.default_rng(seed)
    return np.stack([generator.choice(3, n, p=[0.6, 0.3, 0.1]), generator.integers(0, 2, n)], axis=1)


class Recording:
    """A rewriter that returns the private texts it was handed, marked."""

    def rewrite(self, texts, labels, targets, noise):
        self.labels, self.targets = labels, targets
        return tuple(f"{text}!" for text in texts)


class Corpus:
    def __init__(self, labels, texts):
        names = SCHEMA.decode(labels)
        self.attributes, self.texts = names, tuple(texts)


SCHEMA = quantization.Schema((("topic", ("a", "b", "c")), ("mood", ("bad", "good"))))


def test_released_rows_are_targets_from_chosen_nearest_candidates():
    released = mechanism().release(private(), Simulation(1))
    assert released.texts is None
    assert released.labels is released.targets
    assert released.targets.shape == (200, 2)  # n rows for n: no method is scored on more rows than another
    for table, candidate_set, (attribute, value) in zip(
        released.tables, mechanism().candidate_sets, TREE.components, strict=True
    ):
        rows = private()
        column = rows[:, attribute] if value < 0 else rows[rows[:, TREE.parent[attribute]] == value, attribute]
        empirical = np.bincount(column, minlength=SIZES[attribute]) / len(column)
        near = candidate_set[nearest_candidates(candidate_set, empirical, 4)]
        assert (near == table).all(axis=1).any()


def test_guarantee_is_stated_with_its_assumptions():
    stated = mechanism().guarantee
    assert stated.bound == pytest.approx(TREE.tables * math.log(3))
    assert stated.ceiling == math.inf
    assert not stated.vacuous
    assert stated.assumptions == ("secret choice", "ideal rewriting", "independent style")
    given = mechanism().release(private(), Simulation(1)).guarantee
    assert (given.rows, given.ceiling) == (200, pytest.approx(math.log(201)))
    assert given.assumptions[-1].startswith("simulation")
    assert "SML <= " in str(given)
    assert "vacuous" in str(quantization.MaximalLeakage(11, 120, 10, rows=3000))
    assert "style ratio" in mechanism(style=2.0).guarantee.assumptions
    assert mechanism(style=2.0).guarantee.bound == pytest.approx(stated.bound + math.log(2))


def test_secure_release_draws_from_the_system():
    released = [mechanism().release(private(), dp.Secure()) for _ in range(3)]
    assert released[0].guarantee.assumptions == mechanism().guarantee.assumptions
    # Two equal runs of 200 i.i.d. draws from spread-out tables: below 1e-20.
    assert any((released[0].targets != other.targets).any() for other in released[1:])


def test_public_seed_fixes_candidates_and_no_choice():
    """Trap: a constant public seed for the secret choice. 12 releases, 4 equally likely root tables."""
    assert mechanism() == mechanism()
    for one, other in zip(mechanism().candidate_sets, mechanism().candidate_sets, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(
        (one != other).any()
        for one, other in zip(mechanism().candidate_sets, mechanism(public_seed=6).candidate_sets, strict=True)
    )
    roots = {mechanism().release(private(), Simulation(seed)).tables[0].tobytes() for seed in range(60)}
    assert len(roots) == 4  # missing one of four in 60 draws: below 2e-7
    assert inspect.signature(quantization.RandomizedQuantization.release).parameters["noise"].default is inspect._empty


def test_one_noise_source_never_gives_the_same_release_twice():
    """Traps: the same noise again after a resume; one draw for all releases."""
    noise = Simulation(3)
    first, second = (mechanism().release(private(), noise).targets for _ in range(2))
    assert (first != second).any()
    np.testing.assert_array_equal(first, mechanism().release(private(), Simulation(3)).targets)


def test_global_generator_is_neither_used_nor_touched():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = mechanism().release(private(), Simulation(3)).targets
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(first, mechanism().release(private(), Simulation(3)).targets)


def test_output_follows_the_input_of_each_call():
    """Trap: output reused though the input changed. All rows (0, 0), then all rows (2, 1)."""
    same = mechanism(nearest=1)
    low = same.release(np.tile([0, 0], (300, 1)), Simulation(1)).targets
    high = same.release(np.tile([2, 1], (300, 1)), Simulation(1)).targets
    assert (low[:, 0] == 0).mean() > 0.5
    assert (high[:, 0] == 2).mean() > 0.5


def change_point(labels):
    """Share of leading rows before the split that best separates ones from zeros: the sorted-file attack."""
    return (np.argmax(np.cumsum(2 * labels - 1)) + 1) / len(labels)


def test_a_sorted_file_is_not_read_off_by_its_change_point():
    """Rows sorted by a hidden flag: within a combination the private order shows its share; ours does not.

    The flag is no attribute of the tree, so the theorem does not speak of it: only the order of rows can
    tell. Control: the private order kept within combinations. Ours: the flag is uniform over the
    positions, 200 rows of each value; the mean position differs from n/2 by 5.5 sd at false alarm 1e-7.
    """
    n, share = 400, 0.5
    labels = private(n)
    flags = np.arange(n) < share * n
    rewriter = Recording()
    tree = quantization.chow_liu(AUXILIARY, SCHEMA)
    corpus = Corpus(labels, ["first" if flag else "second" for flag in flags])
    ours = quantization.RandomizedQuantization(tree, 12, 4, public_seed=5, pool_size=60)
    released = ours.release(corpus, Simulation(2), rewriter=rewriter)
    shown = np.array([text == "first!" for text in released.texts])
    assert shown.sum() == flags.sum()
    sd = math.sqrt((n + 1) / 12 * (n - flags.sum()) / flags.sum())
    assert abs(np.flatnonzero(shown).mean() - (n - 1) / 2) < 5.5 * sd
    source = np.empty(n, dtype=int)
    source[quantization.match(labels, released.targets)] = np.arange(n)
    control = flags[source]
    assert abs(np.flatnonzero(control).mean() - (n - 1) / 2) > 5.5 * sd


def test_sorted_labels_leave_no_trace_in_the_order_of_targets():
    """A file sorted by the secret: the change point of the private file is its share; of the release, noise."""
    labels = np.sort((np.arange(1000) < 300).astype(int))[::-1, None]
    assert change_point(labels[:, 0]) == pytest.approx(0.3)
    tree = quantization.chow_liu(labels, [2])
    ours = quantization.RandomizedQuantization(tree, 12, 4, public_seed=5, pool_size=60)
    for seed in range(5):
        ones = np.flatnonzero(ours.release(labels, Simulation(seed)).targets[:, 0])
        sd = math.sqrt(1001 / 12 * (1000 - len(ones)) / len(ones))
        assert abs(ones.mean() - 499.5) < 6 * sd


def test_texts_follow_their_rows_and_assigned_labels_are_not_read_as_released():
    tree = quantization.chow_liu(AUXILIARY, SCHEMA)
    labels = private(80)
    corpus = Corpus(labels, [f"row {i}: {a}{b}" for i, (a, b) in enumerate(labels)])
    rewriter = Recording()
    ours = quantization.RandomizedQuantization(tree, 12, 4, public_seed=5, pool_size=60)
    released = ours.release(corpus, Simulation(2), rewriter=rewriter)
    assert sorted(released.texts) == sorted(f"{text}!" for text in corpus.texts)
    for text, label in zip(released.texts, rewriter.labels, strict=True):
        assert text.endswith(f": {label[0]}{label[1]}!")
    with pytest.raises(ValueError, match="labeller"):
        _ = released.labels


def test_attacks():
    secret = quantization.Share(((0, 0),))
    gold = secret(private())
    released = mechanism().release(private(), Simulation(1))
    exact = quantization.labelling_attack(released, secret, gold)
    assert exact.estimate == pytest.approx((released.targets[:, 0] == 0).mean())
    assert exact.error == pytest.approx(abs(exact.estimate - gold))
    assert quantization.prior_attack(AUXILIARY, secret, gold).error == pytest.approx(abs(1 / 3 - gold))

    class Says:
        def __init__(self, answers):
            self.answers = answers

        def predict(self, texts):
            return self.answers

    with pytest.raises(ValueError, match="attacker"):
        quantization.labelling_attack(released, secret, gold, Says(["yes"] * 200))
    tree = quantization.chow_liu(AUXILIARY, SCHEMA)
    texted = quantization.RandomizedQuantization(tree, 12, 4, public_seed=5, pool_size=60).release(
        Corpus(private(4), "wxyz"), Simulation(1), rewriter=Recording()
    )
    assert quantization.labelling_attack(texted, secret, 0.5, Says(["yes", "no", "no", "no"])).estimate == 0.25
    for malformed in (["yes"] * 3, ["yes", "no", "no", "maybe"]):  # never a majority or random fallback
        with pytest.raises(ValueError, match="attacker"):
            quantization.labelling_attack(texted, secret, 0.5, Says(malformed))


@pytest.mark.parametrize("change", [dict(nearest=0), dict(nearest=13), dict(candidates=61, nearest=1), dict(style=0.5)])
def test_impossible_parameters_are_refused_before_any_row_is_seen(change):
    with pytest.raises(ValueError, match=r"^nearest|candidates|style"):
        mechanism(**change)


def test_private_labels_are_refused_by_shape_alone():
    for labels in (np.array([[0, 9]]), np.zeros((0, 2), int), np.zeros((2, 3), int)):
        with pytest.raises(ValueError, match="private") as caught:
            mechanism().release(labels, Simulation(1))
        assert "9" not in str(caught.value)


def test_correction_undoes_known_errors_and_refuses_a_labeller_that_tells_nothing():
    seen = quantization.Attack(0.3 * 0.8 + 0.7 * 0.1, 0.3)
    assert quantization.corrected(seen, 0.8, 0.1).error == pytest.approx(0, abs=1e-12)
    assert quantization.corrected(quantization.Attack(0.05, 0.3), 0.8, 0.1).estimate == 0
    for hits, false_alarms in ((0.5, 0.5), (0.1, 0.8)):
        with pytest.raises(ValueError, match="hits"):
            quantization.corrected(seen, hits, false_alarms)
    with pytest.raises(ValueError, match="attacker"):
        quantization.labelling_attack(["bare text"], quantization.Share(((0, 0),)), 0.5)
