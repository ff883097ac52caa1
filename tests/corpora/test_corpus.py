"""The record itself: frozen, consistent, silent about its texts, honest about its origin."""

from __future__ import annotations

import dataclasses
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from privlib.corpora import Corpus, LoadingReport, Provenance

PUBLIC = Provenance("file.csv", "ab" * 32, "CC0", "nobody 2020", {"text": "body"})


def make(**changes) -> Corpus:
    fields = {
        "name": "test",
        "texts": ("secret one", "secret two", "secret one"),
        "record_ids": ("a", "b", "c"),
        "unit_ids": ("u", "v", "u"),
        "attributes": {"colour": ("red", "blue", "red"), "size": ("s", "m", "l")},
        "provenance": PUBLIC,
    }
    return Corpus(**{**fields, **changes})


def test_it_is_frozen():
    corpus = make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus.texts = ()
    with pytest.raises(TypeError):
        corpus.attributes["colour"] = ()
    with pytest.raises(TypeError):
        corpus.provenance.columns["text"] = "x"


def test_it_survives_pickling():
    again = pickle.loads(pickle.dumps(make()))
    assert again.texts == make().texts
    assert dict(again.attributes) == dict(make().attributes)
    assert again.provenance.to_json() == PUBLIC.to_json()


def test_its_repr_shows_no_text_and_no_id():
    shown = repr(make(record_ids=("id-7", "id-8", "id-9")))
    assert "secret" not in shown
    assert "id-7" not in shown
    assert shown == "Corpus('test', 3 records, with unit ids, attributes=['colour', 'size'])"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"record_ids": ("a", "b")}, r"record_ids must have one entry a text \(3\), got 2"),
        ({"unit_ids": ("a", "b")}, r"unit_ids must have one entry a text \(3\), got 2"),
        ({"attributes": {"x": ("1",)}}, r"x must have one entry a text \(3\), got 1"),
        ({"record_ids": ("a", "a", "b")}, "record_ids must be distinct: 3 ids, 2 of them different"),
    ],
)
def test_parts_must_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_take_keeps_everything_together():
    taken = make().take(np.array([2, 0]))
    assert taken.record_ids == ("c", "a")
    assert taken.unit_ids == ("u", "u")
    assert taken.attributes["size"] == ("l", "s")
    assert len(make().take([])) == 0


@pytest.mark.parametrize("indices", [[3], [-1], [0.0], [[0, 1]], [True, False, True]])
def test_take_refuses_what_is_no_row_of_indices(indices):
    with pytest.raises((IndexError, TypeError), match="indices must"):
        make().take(indices)


def test_take_refuses_a_record_twice():
    with pytest.raises(ValueError, match="record_ids must be distinct"):
        make().take([0, 0])


def test_where():
    corpus = make()
    assert corpus.where(colour="red").record_ids == ("a", "c")
    assert corpus.where(colour=["red", "blue"], size="m").record_ids == ("b",)
    assert corpus.where(np.array([True, False, True]), size="l").record_ids == ("c",)
    assert len(corpus.where(colour="green")) == 0
    with pytest.raises(ValueError, match=r"attribute must be one of \['colour', 'size'\], got 'weight'"):
        corpus.where(weight="x")
    with pytest.raises(TypeError, match="mask must be 3 booleans"):
        corpus.where([1, 0, 1])


def test_codes_need_public_levels():
    assert make().codes("colour", ("blue", "red")).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"must lie in levels \['red'\]: 1 records do not"):
        make().codes("colour", ("red",))


def test_provenance_tells_the_public_steps():
    target = make().split(seed=5).target.where(colour="red").sample(rate=1.0, seed=2)
    assert target.provenance.selection == (
        "split(seed=5, auxiliary=0.5).target",
        "where(colour in ['red'])",
        "sample(rate=1.0, seed=2)",
    )
    assert json.loads(target.provenance.to_json())["sha256"] == "ab" * 32


def test_a_private_files_checksum_stays_with_the_curator():
    private = dataclasses.replace(PUBLIC, public=False)
    assert "ab" * 32 not in private.to_json()
    assert json.loads(private.to_json(curator=True))["sha256"] == "ab" * 32


def test_counts_of_a_reading_are_no_part_of_a_corpus():
    names = {field.name for kind in (Corpus, Provenance) for field in dataclasses.fields(kind)}
    assert not names & set(vars(LoadingReport()))


def test_loading_the_package_loads_no_table_library():
    code = (
        "import sys; from privlib import corpora; corpora.generate(n_users=3); "
        "print([m for m in ('pandas', 'datasets', 'pyarrow', 'torch', 'sklearn') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
