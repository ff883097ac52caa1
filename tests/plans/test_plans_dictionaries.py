"""Dictionaries, their sizes by rule, and what is in a corpus: each number counted again by hand."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import plans
from privlib.experiments.studies import plans_corpora
from privlib.experiments.studies import plans_dictionaries as study

THRESHOLDS = [2, 8, 30, 10**6]  # the first is below the default of small corpora


@pytest.fixture(scope="module")
def parts():
    return study.prepare(["generated", "drug-reviews"], "packaged", 0, THRESHOLDS, seed=1)


def test_the_dictionary_is_the_one_that_studies_use(parts):
    rows = study.dictionaries(parts, 60)
    for name, part in parts.items():
        universe = plans_corpora.atoms(part.split.auxiliary, name, 60)
        mine = rows[rows.corpus == name]
        assert tuple(mine.label) == universe.labels
        assert dict(zip(mine.label, mine.support, strict=True)) == universe.manifest["support"]
        assert mine["rank"].tolist() == list(range(1, len(universe) + 1))
        assert universe.manifest["support_threshold"] == part.threshold


def test_a_higher_threshold_leaves_fewer_atoms_and_each_size_is_true(parts):
    rows = study.sizes(parts, [5, 10**5], THRESHOLDS)
    for name, part in parts.items():
        mine = rows[(rows.corpus == name) & (rows.rule == "threshold")]
        assert mine["size"].is_monotonic_decreasing
        assert mine["size"].iloc[0] > mine["size"].iloc[-1] > 0
        for threshold, size in zip(mine.setting, mine["size"], strict=True):
            universe = plans_corpora.atoms(part.split.auxiliary, name, study.MOST, threshold)
            assert len(universe) == size
        asked = rows[(rows.corpus == name) & (rows.rule == "requested")].set_index("setting")["size"]
        assert asked[5] == 5
        assert asked[10**5] == len(part.dictionary(study.MOST))
    assert 10**6 not in set(rows.setting)  # a threshold that nothing reaches has no dictionary


def test_metadata_combinations_are_all_there_are_when_fewer_than_asked():
    corpus, _ = study.prepare(["generated"], "packaged", 0, [3], seed=1)["generated"].split
    whole = plans.metadata_universe(corpus, fields=("topic", "mood"), size=study.MOST)
    part = study.Part(corpus, corpus.split(), whole)
    rows = study.sizes({"x": part}, [5, 100, 10**4], [3])
    combinations = len(set(zip(corpus.attributes["topic"], corpus.attributes["mood"], strict=True)))
    assert rows["size"].tolist() == [5, combinations, combinations]
    assert set(rows.rule) == {"requested"}


def test_statistics_are_counted_right_and_halves_share_no_user(parts):
    rows = study.statistics(parts)
    corpus = parts["generated"].corpus
    value = rows[(rows.corpus == "generated") & (rows.part == "all")].set_index("statistic").value
    counts = np.array([corpus.unit_ids.count(user) for user in set(corpus.unit_ids)])
    assert value["records"] == len(corpus)
    assert value["users"] == len(counts)
    assert value["users_with_several"] == (counts > 1).sum()
    assert value["records_a_user_most"] == counts.max()
    assert value["records_a_user_mean"] == pytest.approx(len(corpus) / len(counts))
    assert value["characters_median"] == np.median([len(text) for text in corpus])
    assert value["categories"] == len(set(corpus.attributes["topic"]))
    assert value["shared_users"] == 0
    halves = [rows[(rows.corpus == "generated") & (rows.part == part)] for part in ("auxiliary", "target")]
    assert sum(half.set_index("statistic").value["users"] for half in halves) == len(counts)


def test_shared_users_would_be_seen(parts):
    """The negative control: halves cut by record do share users."""
    part = parts["generated"]
    cut = part.corpus.take(range(0, len(part.corpus), 2)), part.corpus.take(range(1, len(part.corpus), 2))
    broken = study.Part(part.corpus, type(part.split)(*cut), part.whole)
    rows = study.statistics({"generated": broken})
    assert rows[rows.statistic == "shared_users"].value.item() > 0


def test_a_corpus_without_users_has_no_user_statistics(parts):
    rows = study.statistics(parts)
    assert not rows[rows.corpus == "drug-reviews"].statistic.str.contains("user").any()
    assert not rows.isna().any().any()


def test_tables_and_figure_come_from_records(parts):
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_dictionaries as figures

    def made(rows):
        return experiments.record(id="plans-test", title="t", rows=rows, parameters={}, seed=1)

    table = figures.top_atoms(made(study.dictionaries(parts, 25)), 3)
    assert table.shape == (3, 2)
    assert (table != "").all().all()
    assert [part.shape for part in figures.top_atoms_apart(made(study.dictionaries(parts, 25)), 3)] == [(3, 2)]
    combined = study.dictionaries(parts, 25).replace({"corpus": {"generated": "combined"}})
    combined.loc[combined.corpus == "combined", "label"] += " / more"
    apart = figures.top_atoms_apart(made(combined), 3)
    assert [list(part) for part in apart] == [["drug-reviews"], ["combined"]]
    overview = figures.overview(made(study.statistics(parts)))
    assert overview.loc["shared_users"].to_dict() == {"generated": "0", "drug-reviews": ""}
    axis = figures.draw_sizes(made(study.sizes(parts, [5], THRESHOLDS))).axes[0]
    assert len(axis.lines) == 2
    matplotlib.pyplot.close("all")
