"""Answers kept on disk: the same as asked afresh, asked once, and never another input's."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from privlib.models import remembered
from privlib.models.prompts import seeds


@dataclass
class Model:
    """Answers with what the interface lets an answer depend on, and notes what it was asked."""

    name: str = "told"
    checksum: str | None = "abc"
    asked: list = field(default_factory=list)

    def generate(self, prompts, max_new_tokens=128, temperature=0.0, seed=0):
        self.asked += prompts
        drawn = seeds(prompts, seed)
        return [f"{p}\n{s} {temperature} {max_new_tokens} é" for p, s in zip(prompts, drawn, strict=True)]

    def complete(self, prompts, max_new_tokens=128, temperature=0.0, seed=0):
        return [f"then {answer}" for answer in self.generate(prompts, max_new_tokens, temperature, seed)]

    def score(self, texts):
        return [float(len(text)) for text in texts]


def test_answers_are_those_of_the_model_and_asked_once(tmp_path):
    prompts = [f"p{i}" for i in range(40)] + ["again", "again", "again"]
    expected, inner = Model().generate(prompts, 8, 0.7, 5), Model()
    for _ in range(2):
        assert remembered(inner, tmp_path).generate(prompts, 8, 0.7, 5) == expected
    assert len(inner.asked) == len(prompts)


def test_a_run_that_broke_off_goes_on_where_it_was(tmp_path):
    inner = Model()
    remembered(inner, tmp_path).generate(["a", "again", "b"], 8, 0.7, 5)
    prompts = ["again", "again", "a", "b", "c"]
    assert remembered(inner, tmp_path).generate(prompts, 8, 0.7, 5) == Model().generate(prompts, 8, 0.7, 5)
    assert inner.asked[3:] == ["again", "again", "c"]  # a repeated prompt's draws are counted from the first


@pytest.mark.parametrize(
    "change", [dict(seed=6), dict(temperature=0.8), dict(max_new_tokens=9), dict(way="complete"), dict(checksum="abd")]
)
def test_another_input_is_another_answer(tmp_path, change):
    remembered(Model(), tmp_path).generate(["p"], 8, 0.7, 5)
    way, checksum = change.pop("way", "generate"), change.pop("checksum", "abc")
    inner = Model(checksum=checksum)
    asked = dict(max_new_tokens=8, temperature=0.7, seed=5) | change
    assert getattr(remembered(inner, tmp_path), way)(["p"], **asked) == getattr(Model(), way)(["p"], **asked)
    assert inner.asked == ["p"]


def test_a_damaged_answer_is_asked_again(tmp_path):
    expected = remembered(Model(), tmp_path).generate(["p"], 8, 0.7, 5)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    for damage in (b"", b"x", file.read_bytes()[:-3], file.read_bytes() + b"!"):
        file.write_bytes(damage)
        inner = Model()
        assert remembered(inner, tmp_path).generate(["p"], 8, 0.7, 5) == expected
        assert inner.asked == ["p"]


def test_the_folder_is_the_owners_and_a_served_model_is_refused(tmp_path):
    place = tmp_path / "answers"
    model = remembered(Model(), place)
    model.generate(["p"])
    assert {path.stat().st_mode & 0o077 for path in [place, *place.rglob("*")]} == {0}
    assert (model.name, model.checksum, model.score(["ab"])) == ("told", "abc", [2.0])
    with pytest.raises(ValueError, match="checksum"):
        remembered(Model(checksum=None), place)
