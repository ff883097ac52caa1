"""The dialogues study: labels by cue and tag, one row a person, attackers and utility over gamma/k; made-up texts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privlib import corpora, models, quantization
from privlib.corpora.corpus import Provenance
from privlib.experiments.studies import quantization_dialogues as studies
from privlib.experiments.studies import quantization_text as text

WORDS = {"female": ("woman", "lady", "girl"), "male": ("man", "boy", "guy")}


def medical(n=240, seed=0, answers=1):
    """Made-up questions, each with `answers` doctors' answers; the cue is in the words, every seventh unknown."""
    generator = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        gender = ("female", "male")[int(generator.random() < 0.4)]
        tags = ("panic; mri", "acid reflux", "missed period", "knee pain")[person % 4]
        content = ". ".join(
            f"a {WORDS[gender][generator.integers(3)]} on day {generator.integers(10**9)}" for _ in "ab"
        )
        cue = "" if person % 7 == 0 else gender
        rows += [(content, tags, cue, "stated" if cue else "")] * answers
    names = ("tags", "patient_gender_cue", "gender_cue_basis")
    columns = list(zip(*rows, strict=True))
    return corpora.Corpus(
        name="medical", texts=columns[0], record_ids=tuple(map(str, range(len(rows)))), unit_ids=columns[0],
        attributes=dict(zip(names, columns[1:], strict=True)), provenance=Provenance("made up", "0" * 64, "none"),
    )  # fmt: skip


LOADED = medical(answers=2)
CUE, TOPICS = studies.tasks("medical", LOADED)


def setting(task=CUE, seed=7):
    pool, public, shadow = studies.parts(task, 0.6, 80, 1)
    vectors = text.WordVectors.fit(shadow.texts, 4)
    families = {kind: models.labeller(kind) for kind in ("linear", "bayes")}
    families["neighbours"] = models.labeller("neighbours", vectors)
    return pool, studies.Setting(task, public, shadow, families, vectors.embed, 24, 5, seed)


@pytest.fixture(scope="module")
def found():
    pool, made = setting()
    private = text.skewed(pool, CUE.schema, CUE.secrets[0], 0.3, 7)
    return private, made, *studies.over_dilutions("share 0.3", private, made, [2, 12], 6, 40)


@pytest.mark.parametrize(
    ("tags", "topic"),
    [
        ("Anxiety; stress", "mental"),
        ("gerd", "digestive"),
        ("missed period; ultrasound", "childbirth"),
        ("knee pain", "other"),
        ("covid-19; pneumonia", ""),
        ("", ""),
        ("  ", ""),
        ("depression; pregnancy", ""),
    ],
)
def test_topics_come_from_tags_and_are_not_guessed(tags, topic):
    assert studies.topic_of(tags) == topic


@pytest.mark.parametrize(
    ("content", "cue"),
    [
        ("I am a 30 year old male with a cough", "male"),
        ("my last period was late", "female"),
        ("I'm pregnant", "female"),
        ("the man told my uterus", ""),
        ("a cough", ""),
        ("females and emails", ""),
    ],
)
def test_second_set_of_cues(content, cue):
    assert studies.cue_of(content) == cue


def test_a_person_counts_once_and_nobody_is_private_and_public():
    assert len(studies.distinct(LOADED)) == 240
    assert len(CUE.corpus) == 240 - math.ceil(240 / 7)
    assert set(CUE.corpus.attributes["gender"]) == {"female", "male"}
    assert len(TOPICS.corpus) == 240
    for task in (CUE, TOPICS):
        parts = studies.parts(task, 0.6, 80, 1)
        units = [set(part.unit_ids) for part in parts]
        assert all(len(part) <= 80 for part in parts)
        assert sum(map(len, units)) == len(set.union(*units))


def test_category_lists_are_public_and_the_same_for_every_file():
    half = LOADED.where(np.array([gender == "female" for gender in LOADED.attributes["patient_gender_cue"]]))
    one, other = studies.tasks("medical", half)
    assert one.schema == CUE.schema
    assert other.schema == TOPICS.schema
    assert CUE.schema.attributes == (("gender", ("female", "male")),)
    with pytest.raises(ValueError, match="name"):
        studies.tasks("letters", LOADED)


def test_limits_of_the_labels_are_counted():
    rows = studies.label_limits("medical", LOADED).set_index("quantity")["value"]
    assert rows["rows"] == 480
    assert rows["distinct texts"] == 240
    assert rows["gender: female"] + rows["gender: male"] == len(CUE.corpus) == rows["gender cue stated"]
    assert rows["labelled by both sets of patterns"] == rows["labelled alike by both"] == len(CUE.corpus)
    assert rows["topic: mental"] == rows["topic: other"] == 60


def test_all_families_enter_on_easy_text_and_none_on_noise():
    _, easy = setting()
    rows = studies.accuracies("cue", easy)
    assert len(rows) == 3
    assert rows["kept"].all()
    assert (rows["accuracy"] > rows["constant"]).all()
    labels = np.random.default_rng(3).permutation(CUE.corpus.attributes["gender"])  # labels of other people
    shuffled = replace(CUE, corpus=replace(CUE.corpus, attributes={"gender": tuple(labels.tolist())}))
    noise = studies.accuracies("cue", setting(shuffled)[1])
    assert (noise["accuracy"] < 0.75).all()
    assert not (noise["kept"] & (noise["accuracy"] <= noise["constant"])).any()
    assert not noise["kept"].all()


def test_errors_of_every_method_and_attack(found):
    private, made, errors, _ = found
    secret = CUE.secrets[0]
    assert errors["gold"].unique() == pytest.approx(secret(CUE.schema.encode(private)))
    table = errors.set_index(["method", "attack"])["error"]
    assert table[text.RAW, text.COUNT] == 0
    assert table[text.HALF, text.COUNT] < 0.1
    assert set(errors["strength"]) == {0.0, 2.0, 12.0}
    assert (errors[errors["strength"] > 0]["method"].astype(float) == errors[errors["strength"] > 0]["strength"]).all()
    assert table["2", text.COUNT] > 0.05
    blind = abs(secret(CUE.schema.encode(made.public)) - 0.3)
    assert table[studies.NOT_LOOKING, text.PRIOR] == pytest.approx(blind, abs=0.02)
    for family in ("linear", "bayes", "neighbours"):
        assert table["2", family] > table[text.RAW, family]


def test_quality_has_spread_and_is_read_from_the_texts(found):
    *_, quality = found
    table = quality.set_index(["method", "quantity"])
    assert table["value"].between(0, 1).all()
    assert table.loc[("2", "aggregate"), "sd"] > 0
    assert table.loc[("2", "faithfulness"), "value"] > 0.9
    assert 0 < table.loc[("2", "own words"), "value"] < 1
    assert table.loc[(studies.PUBLIC, "aggregate"), "sd"] == 0
    parts = ("precision", "recall", "frechet", "attributes")
    mean = np.mean([table.loc[("12", part), "value"] for part in parts])
    assert table.loc[("12", "aggregate"), "value"] == pytest.approx(mean)


def test_ranks_leave_out_who_does_not_look(found):
    *_, errors, _ = found
    rows = studies.ranks(errors, ["linear", "bayes", "neighbours", "absent"])
    assert len(rows) == 3
    assert rows["correlation"].between(-1, 1).all()


def test_figures_are_drawn_from_records(found):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from privlib import experiments
    from privlib.experiments.figures import quantization_budgets as budget_figures
    from privlib.experiments.figures import quantization_dialogues as figures
    from privlib.experiments.studies import quantization_budgets as budgets

    experiments.use_style()

    def recorded(rows):
        made = experiments.record(id="drawn", title="drawn", rows=rows, parameters={}, seed=1)
        return type(made).from_json(made.to_json())

    *_, errors, quality = found
    public = np.random.default_rng(0).integers(0, 2, (60, 2))
    allocator = budgets.Allocator(quantization.chow_liu(public, (2, 2)), public, 4.0, (4.0,), 5)
    secret = quantization.Share(((0, 1),))
    drawn = [
        figures.draw_errors(recorded(pd.concat([errors, errors.assign(file="other")], ignore_index=True))),
        figures.draw_quality(recorded(quality)),
        budget_figures.draw_trade(recorded(budgets.trade({"one": public}, allocator, [secret], [0.7, 1.4], 2, 7))),
        budget_figures.draw_spent(recorded(budgets.spent(allocator, [0.7, 1.4])), ("a", "b")),
        budget_figures.draw_exact(recorded(budgets.exact_trade(2, 3, [0.7], 5)), math.log(4)),
    ]
    for figure in drawn:
        figure.canvas.draw()
        plt.close(figure)
