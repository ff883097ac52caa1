"""Data sets of the hub, tried on a tiny one laid out on disk as the hub does; no network."""

from __future__ import annotations

import json

import pytest

from privlib import corpora
from privlib.corpora import hub_datasets


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A data set folder with a card and two splits in Parquet, one column a class label."""
    import datasets

    folder = tmp_path_factory.mktemp("hub") / "tiny-queries"
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "intent": datasets.ClassLabel(names=["greet", "leave"]),
            "user": datasets.Value("int64"),
        }
    )
    with hub_datasets.quiet_datasets(offline=True):
        for split, start in (("train", 0), ("test", 100)):
            table = {
                "text": [f"hello {start + i}" if i % 4 else "None" for i in range(8)],
                "intent": [i % 2 for i in range(7)] + [-1],
                "user": [start + i // 2 for i in range(8)],
            }
            (folder / "data").mkdir(parents=True, exist_ok=True)
            datasets.Dataset.from_dict(table, features=features).to_parquet(
                folder / "data" / f"{split}-00000-of-00001.parquet"
            )
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\nA tiny data set.\n")
    return folder


@pytest.mark.parametrize("streaming", [False, True])
def test_a_data_set_loads_by_its_id(tiny, streaming, tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVLIB_CACHE", str(tmp_path / "cache"))
    corpus = corpora.hub(str(tiny), unit="user", attributes=["intent"], offline=True, streaming=streaming)
    assert corpus.name == "tiny-queries"
    assert corpus.texts[:3] == ("None", "hello 1", "hello 2")
    assert corpus.attributes["intent"] == ("greet", "leave") * 3 + ("greet", "")
    assert corpus.unit_ids[:3] == ("0", "0", "1")
    assert bool(list((tmp_path / "cache").rglob("*.arrow"))) != streaming
    assert corpus.provenance.public
    assert len(corpus.provenance.sha256) == 64


def test_the_checksum_is_of_the_rows(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVLIB_CACHE", str(tmp_path / "cache"))
    stream = corpora.hub(str(tiny), offline=True, streaming=True)
    stored = corpora.hub(str(tiny), offline=True)
    other = corpora.hub(str(tiny), split="test", offline=True, streaming=True)
    assert stream.provenance.sha256 == stored.provenance.sha256 != other.provenance.sha256
    assert "split test" in other.provenance.source


def test_terms_can_be_stated(tiny):
    corpus = corpora.hub(str(tiny), offline=True, streaming=True, terms="CC BY 4.0", citation="Nobody 2020")
    assert json.loads(corpus.provenance.to_json())["terms"] == "CC BY 4.0"
    assert corpus.provenance.citation == "Nobody 2020"
    assert corpora.hub(str(tiny), offline=True, streaming=True).provenance.terms


def test_sampling_while_reading(tiny):
    whole = corpora.hub(str(tiny), offline=True, streaming=True)
    part = corpora.hub(str(tiny), offline=True, streaming=True, rate=0.5, seed=2)
    assert part.record_ids == whole.sample(rate=0.5, seed=2).record_ids


def test_a_missing_column_is_named(tiny):
    with pytest.raises(ValueError, match=r"text='body': expected one of the columns \['text', 'intent', 'user'\]"):
        corpora.hub(str(tiny), text="body", offline=True, streaming=True)


def test_every_named_hub_corpus_is_loadable_by_its_settings(tiny, monkeypatch):
    """The table's keys are arguments of `hub`, and its ways of deriving text exist; the network is not asked."""
    asked = []
    monkeypatch.setattr(hub_datasets, "hub", lambda id, **settings: asked.append((id, settings)))
    for name in corpora.names("hub"):
        corpora.load(name, data="hub")
    import inspect

    accepted = set(inspect.signature(corpora.hub).parameters)
    assert len(asked) == len(hub_datasets.known())
    for _, settings in asked:
        assert set(settings) <= accepted
        assert settings["terms"]
    with pytest.raises(ValueError, match="name must be one of"):
        corpora.load("stance", data="hub")


def test_a_chat_gives_its_first_user_turn(tmp_path):
    user, assistant = ({"role": role, "content": f"{role} speaks"} for role in ("user", "assistant"))
    again = {"role": "user", "content": "second thought"}
    rows = [
        {"conversation_id": "c1", "conversation": [user, assistant, again]},
        {"conversation_id": "c2", "conversation": [assistant, user]},
        {"conversation_id": "c3", "conversation": [assistant]},
    ]
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = hub_datasets.known()["chat-prompts"]
    corpus = corpora.hub(
        str(tmp_path / "chats"),
        text=settings["text"],
        record=settings["record"],
        derive=hub_datasets._DERIVE[settings["derive"]],
        offline=True,
        streaming=True,
    )
    assert corpus.texts == ("user speaks", "user speaks")
    assert corpus.record_ids == ("c1", "c2")
