"""The two corpora that `make assets` brings."""

from __future__ import annotations

import re
import shutil
import time

import pytest

from privlib import assets, corpora
from privlib.corpora import cleaning, packaged


@pytest.fixture(scope="module")
def news():
    report = corpora.LoadingReport()
    return corpora.load("health-news", report=report), report


@pytest.fixture(scope="module")
def drugs():
    return corpora.load("drug-reviews")


def test_health_news_is_whole(news):
    corpus, report = news
    assert (report.rows, report.kept, dict(report.skipped)) == (63_326, 63_325, {"empty text": 1})
    assert len(corpus) == 63_325
    assert corpus.unit_ids is None
    assert len(set(corpus.attributes["outlet"])) == 16
    assert corpus.attributes["outlet"].count("bbchealth") == 3929


def test_health_news_holds_no_links_and_no_character_references(news):
    for text in news[0]:
        assert not re.search(r"http|www\.|&amp;|&gt;|\s\s|^\s|\s$", text, re.IGNORECASE)


def test_health_news_loads_in_two_seconds():
    seconds = []
    for _ in range(2):
        start = time.process_time()
        corpora.load("health-news")
        seconds.append(time.process_time() - start)
    assert min(seconds) < 2


def test_drug_reviews(drugs):
    assert len(drugs) == 979
    assert len(set(drugs.record_ids)) == 979
    assert list(drugs.attributes) == ["condition", "drug", "rating"]
    assert set(drugs.attributes["rating"]) == {"negative", "neutral", "positive"}
    assert not any(re.search(r'&#\d+;|&quot;|&amp;|^".*"$|\n', text) for text in drugs)


def test_conditions_are_folded_by_a_public_table_into_eight_groups(drugs):
    groups = set(packaged.condition_groups().values()) | {packaged.OTHER_CONDITION}
    assert len(groups) == 8
    assert set(drugs.attributes["condition"]) <= groups
    assert packaged.condition_groups()["fibromyalgia"] == packaged.condition_groups()["ibromyalgia"]


def test_provenance_names_source_checksum_and_terms(news, drugs):
    for corpus, (file, _) in ((news[0], packaged.HEALTH_NEWS), (drugs, packaged.DRUG_REVIEWS)):
        assert corpus.provenance.sha256 == assets.sha256(assets.path(file))
        assert corpus.provenance.terms
        assert corpus.provenance.citation


def test_a_damaged_asset_is_refused(tmp_path, monkeypatch):
    file = packaged.DRUG_REVIEWS[0]
    (tmp_path / file).parent.mkdir(parents=True)
    shutil.copy(assets.path(file), tmp_path / file)
    with open(tmp_path / file, "ab") as stream:
        stream.write(b"x")
    monkeypatch.setenv("PRIVLIB_ASSETS", str(tmp_path))
    with pytest.raises(ValueError, match="SHA-256"):
        corpora.load("drug-reviews")
    with pytest.raises(FileNotFoundError, match="make assets"):
        corpora.load("health-news")


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Tired? http://ow.ly/Ki Read &amp; rest", "Tired? Read & rest"),
        ("#fitfoodhttp://fit.com/ now", "#fitfood now"),
        ("cut off http:/…", "cut off"),
        ("cut off htt…", "cut off"),
        ("cut off http ...", "cut off ..."),
        ("see www.nhs.uk today", "see today"),
        ("a flight… of fancy", "a flight… of fancy"),
        ("wow. fine", "wow. fine"),
        ("http://only.link/x", ""),
    ],
)
def test_links_are_stripped(raw, clean):
    assert cleaning.without_links(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [('"It&#039;s\n fine"', "It's fine"), ('say "yes"', 'say "yes"'), ('"', '"'), ('""', "")],
)
def test_quoting_is_stripped(raw, clean):
    assert cleaning.without_quoting(raw) == clean


def test_packaged_corpora_answer_to_every_data(tmp_path):
    assert len(corpora.load("drug-reviews", data=tmp_path)) == 979
    part = corpora.load("drug-reviews", rate=0.5, seed=3)
    assert part.record_ids == corpora.load("drug-reviews").sample(rate=0.5, seed=3).record_ids


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"one of \['health-news', 'drug-reviews'\] for data='packaged', got 'news'"):
        corpora.load("news")
    with pytest.raises(ValueError, match="'cfpb' is not packaged: pass data=<folder>"):
        corpora.load("cfpb")
    with pytest.raises(FileNotFoundError, match=r"expected cfpb_complaints.csv.gz or complaints.csv"):
        corpora.load("cfpb", data=tmp_path)
    with pytest.raises(FileNotFoundError, match="expected a folder"):
        corpora.load("cfpb", data=tmp_path / "none")
