"""Splits and samples: by the hash of an id alone, whatever the order of rows, the machine, or the others."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib.corpora import Corpus, Provenance, TooFewUnits, hashing

PROVENANCE = Provenance(source="made in a test", sha256="0" * 64, terms="none")


def make(record_ids, unit_ids=None, texts=None) -> Corpus:
    ids = tuple(record_ids)
    return Corpus("test", texts or ("same text",) * len(ids), ids, unit_ids, {}, PROVENANCE)


ids = st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=40)
seeds = st.integers(-5, 2**40)
users = st.sampled_from(["ann", "bob", "cy", "dee", "eve", "flo", "gus"])


@st.composite
def with_users(draw):
    records = draw(ids)
    return make(records, tuple(draw(users) for _ in records))


@given(ids, seeds, st.floats(0.05, 0.95))
def test_parts_are_disjoint_and_cover(record_ids, seed, share):
    corpus = make(record_ids)
    auxiliary, target = corpus.split(seed, share)
    assert not set(auxiliary.record_ids) & set(target.record_ids)
    assert set(auxiliary.record_ids) | set(target.record_ids) == set(record_ids)
    assert len(auxiliary) + len(target) == len(corpus)


@given(with_users(), seeds)
def test_parts_share_no_user(corpus, seed):
    auxiliary, target = corpus.split(seed)
    assert not set(auxiliary.unit_ids) & set(target.unit_ids)


@given(with_users(), seeds, st.randoms())
def test_order_of_rows_is_irrelevant(corpus, seed, random):
    order = list(range(len(corpus)))
    random.shuffle(order)
    shuffled = corpus.take(order)
    for pick in (
        lambda c: c.split(seed).target,
        lambda c: c.sample(rate=0.3, seed=seed),
        lambda c: c.exactly(len(set(c.unit_ids)) // 2, seed),
        lambda c: c.one_per_unit(seed),
    ):
        assert set(pick(corpus).record_ids) == set(pick(shuffled).record_ids)


@given(ids.filter(len), seeds, st.data())
def test_one_record_more_moves_nobody_else(record_ids, seed, data):
    added = data.draw(st.sampled_from(record_ids))
    without = make(record_ids).where(np.array([each != added for each in record_ids], dtype=bool))
    for pick in (
        lambda c: c.split(seed).auxiliary,
        lambda c: c.split(seed).target,
        lambda c: c.sample(rate=0.4, seed=seed),
        lambda c: c.sample(10, seed, public_size=40),
    ):
        assert set(pick(make(record_ids)).record_ids) - {added} == set(pick(without).record_ids)


def test_exactly_does_push_out_another():
    """Negative control: the option billed as replace really lacks the property above."""
    names = [f"r{i}" for i in range(50)]
    moved = 0
    for added in names:
        rest = [name for name in names if name != added]
        before, after = (set(make(each).exactly(20, 1).record_ids) for each in (rest, names))
        assert len(before - after) == len(after - before) <= 1  # one in, one out: a replacement
        moved += before != after
    assert moved == 20


def test_duplicate_texts_are_told_apart_by_their_ids():
    auxiliary, target = make([f"r{i}" for i in range(200)]).split()
    assert len(auxiliary) > 60
    assert len(target) > 60


def test_a_corpus_reads_as_its_texts():
    corpus = make("abc", texts=("x", "y", "z"))
    assert list(corpus) == ["x", "y", "z"]
    assert corpus[1] == "y"
    assert corpus[-2:] == ("y", "z")


def test_shares_are_what_was_asked():
    """Binomial bands around 20,000 coins, 5 standard deviations wide (a wrong rate of one point misses)."""
    corpus = make([f"r{i}" for i in range(20_000)])
    for rate in (0.1, 0.5, 0.9):
        band = 5 * np.sqrt(20_000 * rate * (1 - rate))
        assert abs(len(corpus.split(3, rate).auxiliary) - 20_000 * rate) < band
        assert abs(len(corpus.sample(rate=rate, seed=3)) - 20_000 * rate) < band
    assert len(corpus.sample(rate=0.0)) == 0
    assert len(corpus.sample(rate=1.0)) == 20_000


def test_a_sample_is_independent_of_the_split_with_its_seed():
    """One hash for both uses would keep all or nothing of a part."""
    target = make([f"r{i}" for i in range(4_000)]).split(seed=9).target
    kept = len(target.sample(rate=0.5, seed=9))
    assert abs(kept - len(target) / 2) < 5 * np.sqrt(len(target) / 4)


def test_positions_are_frozen_for_ever():
    """Published results name a seed: these values may never change."""
    assert hashing.position("split", 1, "record-1") == 5036599283581080472
    assert hashing.position("sample", 7, "été\ud800") == 768912799427474257
    assert "".join("at"[c] for c in hashing.keeps("split", 1, 0.5, map(str, range(24)))) == "taaaattttataataaatattttt"


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_pythons_own_hash_has_no_say(hash_seed):
    code = (
        "from privlib import corpora; c = corpora.generate(n_users=30).corpus; "
        "print(c.provenance.sha256, *c.split(4).target.sample(rate=.5, seed=4).record_ids, *c.exactly(5).record_ids)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
    )
    from privlib import corpora

    corpus = corpora.generate(n_users=30).corpus
    here = [
        corpus.provenance.sha256,
        *corpus.split(4).target.sample(rate=0.5, seed=4).record_ids,
        *corpus.exactly(5).record_ids,
    ]
    assert run.stdout.split() == here


def test_exactly_counts_units_and_stops_when_they_are_too_few():
    corpus = make([f"r{i}" for i in range(9)], tuple("aaabbbccc"))
    assert len(set(corpus.exactly(2).unit_ids)) == 2
    assert len(corpus.exactly(2)) == 6
    assert len(corpus.exactly(5, unit="record")) == 5
    with pytest.raises(TooFewUnits, match="too few units: n=4 asked for, 3 there"):
        corpus.exactly(4)


def test_sampling_never_fails_for_want_of_units():
    assert len(make(["a"]).sample(500, public_size=1000)) in (0, 1)
    assert len(make([]).sample(500, public_size=1000)) == 0


def test_users_are_sampled_whole():
    corpus = make([f"r{i}" for i in range(400)], tuple(f"u{i // 4}" for i in range(400)))
    kept = corpus.sample(rate=0.5)
    assert all(kept.unit_ids.count(user) == 4 for user in set(kept.unit_ids))
    by_record = corpus.sample(rate=0.5, unit="record")
    assert any(by_record.unit_ids.count(user) in (1, 2, 3) for user in set(by_record.unit_ids))


def test_one_record_of_each_unit():
    corpus = make([f"r{i}" for i in range(9)], tuple("aaabbbccc"))
    assert sorted(corpus.one_per_unit().unit_ids) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.split(auxiliary=1.0), "auxiliary must lie strictly between 0 and 1, got 1.0"),
        (lambda c: c.split(auxiliary=float("nan")), "auxiliary must lie strictly between 0 and 1, got nan"),
        (lambda c: c.split(seed="1"), "seed must be an int, got str"),
        (lambda c: c.sample(5), "n with public_size="),
        (lambda c: c.sample(), "sample needs either rate="),
        (lambda c: c.sample(5, rate=0.1), "sample needs either rate="),
        (lambda c: c.sample(5, public_size=4), r"n must lie in 0..public_size, got n=5, public_size=4"),
        (lambda c: c.sample(rate=1.5), r"^rate must lie in \[0, 1\], got 1.5"),
        (lambda c: c.sample(rate=0.5, unit="user"), "needs unit ids"),
        (lambda c: c.sample(rate=0.5, unit="patient"), "unit must be 'record' or 'user', got 'patient'"),
        (lambda c: c.exactly(-1), "n must be a whole number of units, got -1"),
        (lambda c: c.exactly(2.0), "n must be a whole number of units, got 2.0"),
    ],
)
def test_refusals_name_argument_expectation_and_value(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(make("abc"))
