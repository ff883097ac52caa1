"""Generated corpora: the truth that comes with them is the truth of their records."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import corpora


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others():
    first, again, other = (corpora.generate(n_users=50, seed=seed).corpus for seed in (3, 3, 4))
    assert first.texts == again.texts
    assert first.record_ids == again.record_ids
    assert first.texts != other.texts
    assert not set(first.unit_ids) & set(other.unit_ids)


def test_the_bytes_are_frozen():
    frozen = corpora.generate(n_users=50, seed=3).corpus.provenance.sha256
    assert frozen == "053daea9738a7b4b9d7238ee90fca5dfe9496ca591bbb6eccb39ac81619140e0"


@given(
    st.integers(1, 60),
    st.integers(0, 10**6),
    st.dictionaries(st.sampled_from("abcde"), st.floats(0.01, 10), min_size=1),
)
@settings(max_examples=30)
def test_shares_are_exact_up_to_rounding(n_users, seed, weights):
    corpus, truth = corpora.generate(n_users, seed=seed, attributes={"kind": weights})
    counts = Counter(corpus.attributes["kind"])
    for value, weight in weights.items():
        assert abs(counts[value] - len(corpus) * weight / sum(weights.values())) < 1
    assert {value: counts[value] / len(corpus) for value in counts} == dict(truth.proportions["kind"])


def test_activity_follows_zipf():
    corpus, truth = corpora.generate(n_users=100, most_records=60, exponent=1.0)
    assert Counter(corpus.unit_ids) == dict(truth.records_of_user)
    assert sorted(truth.records_of_user.values(), reverse=True) == [max(1, 60 // rank) for rank in range(1, 101)]
    flat = corpora.generate(n_users=10, most_records=3, exponent=0).truth
    assert set(flat.records_of_user.values()) == {3}


def test_planted_texts_and_probes_lie_where_the_truth_says():
    rare = ["My twin and I share one kidney.", "The mayor fell asleep in the MRI."]
    corpus, truth = corpora.generate(n_users=80, planted=rare, probes={"The zebra clock chimed.": 9, "Never.": 0})
    for text in rare:
        assert corpus[truth.planted[text]] == text
        assert corpus.texts.count(text) == 1
        assert corpus.unit_ids.count(corpus.unit_ids[truth.planted[text]]) == 1
        assert corpus.attributes["topic"][truth.planted[text]] == ""
    holding = tuple(index for index, text in enumerate(corpus) if "zebra clock" in text)
    assert holding == truth.probes["The zebra clock chimed."]
    assert len(holding) == 9
    assert truth.probes["Never."] == ()


def test_planting_changes_nobody_elses_record():
    plain, planted = (corpora.generate(n_users=40, planted=texts).corpus for texts in ((), ("Rare.",)))
    assert (
        dict(zip(plain.record_ids, plain, strict=True)).items()
        <= dict(zip(planted.record_ids, planted, strict=True)).items()
    )


def test_texts_tell_their_topic_and_mood():
    """A reader can learn them: each phrase belongs to one topic, each marker to one value."""
    corpus, _ = corpora.generate(n_users=60)
    for marker, value in (("gladly go again", "positive"), ("will not go back", "negative")):
        assert {mood for text, mood in zip(corpus, corpus.attributes["mood"], strict=True) if marker in text} == {value}
    assert all("bill" in t or "charged" in t or "invoice" in t for t in corpus.where(topic="billing error"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_users": 0}, "n_users must be an integer of at least 1, got 0"),
        ({"exponent": -1}, "exponent >= 0"),
        ({"attributes": {"kind": {}}}, "kind: weights must be at least 0 and not all 0"),
        ({"attributes": {"kind": {"a": -1.0, "b": 2.0}}}, "kind: weights must be at least 0"),
        ({"attributes": {"kind": {"a": float("nan")}}}, "kind: weights must be at least 0"),
        ({"topics": {"weather": 1.0}}, r"topics must be among .* got \['weather'\]"),
        ({"planted": ["x", "x"]}, "planted must be distinct"),
        ({"planted": [" "]}, "planted must be distinct texts that are not empty"),
        ({"n_users": 2, "most_records": 1, "probes": {"x": 3}}, r"probes: support must lie in 0..2, got 3"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        corpora.generate(**arguments)
