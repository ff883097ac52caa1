"""The publishers' own layouts, on small made-up files with the documented columns."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile

import pytest

from privlib import corpora

CFPB_HEADER = [
    *("Date received", "Product", "Sub-product", "Issue", "Sub-issue", "Consumer complaint narrative"),
    *("Company public response", "Company", "State", "ZIP code", "Tags", "Consumer consent provided?"),
    *("Submitted via", "Date sent to company", "Company response to consumer", "Timely response?"),
    *("Consumer disputed?", "Complaint ID"),
]


def complaints() -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, CFPB_HEADER, restval="", lineterminator="\n")
    table.writeheader()
    base = {"Product": "Payday loan", "Issue": "Fees", "ZIP code": "12345", "Date received": "2020-01-02"}
    table.writerow(base | {"Complaint ID": "1", "Consumer complaint narrative": 'They said "pay", \ntwice. NA'})
    table.writerow(base | {"Complaint ID": "2"})
    table.writerow(base | {"Complaint ID": "3", "Product": "Newly named", "Consumer complaint narrative": "None"})
    return out.getvalue()


def write_lines(path, rows):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("packing", ["", ".gz", ".zip"])
def test_cfpb(packing, tmp_path):
    path = tmp_path / f"complaints.csv{packing}"
    if packing == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("complaints.csv", complaints())
    else:
        path.write_bytes(gzip.compress(complaints().encode()) if packing else complaints().encode())
    report = corpora.LoadingReport()
    corpus = corpora.load("cfpb", data=tmp_path, report=report)
    assert corpus.texts == ('They said "pay", twice. NA', "None")
    assert corpus.record_ids == ("1", "3")
    assert corpus.attributes["product_group"] == ("payday, title or personal loan", "other")
    assert corpus.attributes["issue"] == ("Fees", "Fees")
    assert "12345" not in str(dict(corpus.attributes))
    assert dict(report.skipped) == {"empty text": 1}


def test_a_cfpb_file_without_an_official_column_is_refused(tmp_path):
    (tmp_path / "complaints.csv").write_text("Product,Complaint ID\nMortgage,1\n")
    with pytest.raises(ValueError, match=r"complaints.csv: expected the columns .* missing \['Date received'"):
        corpora.load("cfpb", data=tmp_path)


def review(**changes):
    return {
        "rating": 5.0,
        "title": "Nice",
        "text": "Great <b>soap</b>",
        "images": [],
        "asin": "B1",
        "parent_asin": "P1",
        "user_id": "U1",
        "timestamp": 1588687728923,
        "helpful_vote": 0,
        "verified_purchase": True,
        **changes,
    }


def test_amazon_2023(tmp_path):
    write_lines(tmp_path / "All_Beauty.jsonl", [review(), review(text=""), review(user_id="U2", text="2016-09-01")])
    write_lines(tmp_path / "Gift_Cards.jsonl.gz", [review(parent_asin=None, rating=4.0)])
    write_lines(tmp_path / "meta_All_Beauty.jsonl", [{"parent_asin": "P1"}])
    corpus = corpora.load("amazon", data=tmp_path)
    assert corpus.texts == ("Great <b>soap</b>", "2016-09-01", "Great <b>soap</b>")
    assert corpus.unit_ids == ("U1", "U2", "U1")
    assert corpus.attributes["item_id"] == ("P1", "P1", "B1")
    assert corpus.attributes["category"] == ("All_Beauty", "All_Beauty", "Gift_Cards")
    assert corpus.attributes["rating"] == ("5", "5", "4")
    assert corpus.attributes["date"][0] == "2020-05-05"
    assert corpus.attributes["verified"][0] == "True"
    assert corpus.provenance.source == "All_Beauty.jsonl, Gift_Cards.jsonl.gz"


@pytest.fixture
def yelp(tmp_path):
    def one(number, business):
        return {
            "review_id": f"R{number}",
            "user_id": f"U{number // 2}",
            "business_id": business,
            "stars": 4.0,
            "useful": 1,
            "funny": 0,
            "cool": 0,
            "text": f"text {number}",
            "date": "2018-07-07 22:09:11",
        }

    write_lines(tmp_path / "yelp_academic_dataset_review.json", [one(i, "ABCD"[i]) for i in range(4)])
    businesses = {"A": "Pizza, Restaurants, Bars", "B": "Bars", "C": "Plumbing", "D": None}
    rows = [{"business_id": key, "name": "x", "categories": value} for key, value in businesses.items()]
    write_lines(tmp_path / "yelp_academic_dataset_business.json", rows)
    return tmp_path


def test_yelp_users(yelp):
    corpus = corpora.load("yelp-users", data=yelp)
    assert corpus.record_ids == ("R0", "R1", "R2", "R3")
    assert corpus.unit_ids == ("U0", "U0", "U1", "U1")
    assert corpus.attributes["stars"][0] == "4"
    assert corpus.attributes["date"][0] == "2018-07-07"


def test_yelp_categories_come_from_the_business_file(yelp):
    report = corpora.LoadingReport()
    corpus = corpora.load("yelp-categories", data=yelp, report=report)
    assert corpus.attributes["business_category"] == ("Restaurants", "Bars")
    assert corpus.unit_ids == ("U0", "U0")
    assert dict(report.skipped) == {"business in none of the ten categories": 2}
    assert report.rows == 4


def test_yelp_categories_need_the_business_file(yelp):
    (yelp / "yelp_academic_dataset_business.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"yelp_academic_dataset_business\.json"):
        corpora.load("yelp-categories", data=yelp)


def test_stance_in_windows_1252_with_quotes_and_broken_bytes(tmp_path):
    header = "ID\tTarget\tTweet\tStance\tOpinion towards\tSentiment\n"
    tail = "\tFAVOR\tTARGET\tPOSITIVE\n"
    (tmp_path / "trainingdata-all-annotations.txt").write_bytes(
        (header + f'101\tAtheism\t"caf\u00e9 \u2013 unbalanced quote #SemST{tail}').encode("cp1252")
        + b"102\tAtheism\tbroken \x81 byte"
        + tail.encode()
    )
    (tmp_path / "testdata-taskB-all-annotations.txt").write_text(
        header + f"20001\tDonald Trump\tna\u00efve \u2603{tail}", encoding="utf-8"
    )
    report = corpora.LoadingReport()
    corpus = corpora.load("stance", data=tmp_path, report=report)
    assert corpus.texts == ('"caf\u00e9 \u2013 unbalanced quote #SemST', "broken \ufffd byte", "na\u00efve \u2603")
    assert corpus.record_ids == ("101", "102", "20001")
    assert corpus.attributes["split"] == ("train", "train", "testB")
    assert corpus.attributes["opinion_towards"] == ("TARGET",) * 3
    assert dict(report.notes) == {"replacement character: damaged before it came here": 1}


def test_raw_and_tidied_files_give_the_same_attributes(tmp_path):
    """Notebooks read either; n_items and item_title exist in the tidied Amazon file only."""
    (tmp_path / "complaints.csv").write_text(complaints())
    raw = corpora.load("cfpb", data=tmp_path)
    assert set(raw.attributes) == {
        "date_received", "product_group", "product", "sub_product", "issue", "sub_issue",
        "company", "state", "company_response", "source",
    }  # fmt: skip


def test_copies_of_one_complaint_are_counted_not_kept(tmp_path):
    text = complaints()
    (tmp_path / "complaints.csv").write_text(text + text.split("\n", 1)[1])
    report = corpora.LoadingReport()
    assert len(corpora.load("cfpb", data=tmp_path, report=report)) == 2
    assert report.skipped["repeated record id"] == 2
