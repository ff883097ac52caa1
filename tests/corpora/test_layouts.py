"""The tidied layout of a data folder, on small made-up files."""

from __future__ import annotations

import csv
import gzip
import io

import pytest

from privlib import assets, corpora
from privlib.corpora import layouts

COLUMNS = {  # header rows as the data folder documents them
    "cfpb": "complaint_id,date_received,product_group,product,sub_product,issue,sub_issue,narrative,company,state,"
    "company_response,source",
    "amazon": "user_id,item_id,category,rating,title,text,date,verified,item_title,n_items,source",
    "yelp-users": "review_id,user_id,business_id,date,stars,text,useful,funny,cool",
    "yelp-categories": "split,business_category,stars,text",
    "queries-intent": "source,split,domain,intent,text",
    "queries-web": "source,subset,query_id,text",
    "chat-prompts": "source,category,cluster,text",
    "stance": "split,id,target,tweet,stance,opinion_towards,sentiment",
    "medical": "source,record_id,title,patient_text,doctor_text,dialogue,n_turns,tags,patient_gender_cue,"
    "gender_cue_basis",
}


def write(folder, name, rows, packed=True):
    """A tidied file with these rows ({column: value}, the rest empty)."""
    header = COLUMNS[name].split(",")
    path = folder / layouts.TIDIED[name].file
    out = io.StringIO()
    table = csv.DictWriter(out, header, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    content = out.getvalue().encode()
    path.write_bytes(gzip.compress(content)) if packed else path.with_suffix("").write_bytes(content)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", list(COLUMNS))
def test_every_tidied_corpus_loads(name, packed, tmp_path):
    layout = layouts.TIDIED[name]
    header = COLUMNS[name].split(",")
    write(tmp_path, name, [{column: f"{column} {i}" for column in header} for i in range(5)], packed)
    corpus = corpora.load(name, data=tmp_path)
    assert corpus.name == name
    assert corpus.texts == tuple(f"{layout.text} {i}" for i in range(5))
    assert (corpus.unit_ids is None) == (layout.unit is None)
    assert set(corpus.attributes) == set(header) - {layout.text, layout.record, layout.unit}
    assert corpus.provenance.columns["text"] == layout.text
    assert corpus.provenance.terms == layout.terms
    file = tmp_path / (layout.file if packed else layout.file.removesuffix(".gz"))
    assert corpus.provenance.sha256 == assets.sha256(file)


def test_genuine_none_and_na_and_empty_stay_what_they_are(tmp_path):
    rows = [
        {"id": "1", "tweet": "NA", "stance": "NONE", "sentiment": "None"},
        {"id": "2", "tweet": "null", "stance": "", "sentiment": "nan"},
    ]
    write(tmp_path, "stance", rows)
    corpus = corpora.load("stance", data=tmp_path)
    assert corpus.texts == ("NA", "null")
    assert corpus.attributes["stance"] == ("NONE", "")
    assert corpus.attributes["sentiment"] == ("None", "nan")


def test_complaints_without_id_get_one_and_equal_narratives_stay_apart(tmp_path):
    rows = [
        {"complaint_id": "7", "narrative": "template letter"},
        {"complaint_id": "8", "narrative": "template letter"},
        {"product": "Mortgage", "narrative": "template letter"},
        {"product": "Debt collection", "narrative": "template letter"},
        {"product": "Mortgage", "narrative": "template letter"},
        {"product": "Mortgage", "narrative": "  "},
    ]
    report = corpora.LoadingReport()
    write(tmp_path, "cfpb", rows)
    corpus = corpora.load("cfpb", data=tmp_path, report=report)
    assert len(corpus) == len(set(corpus.record_ids)) == 5
    assert corpus.record_ids[:2] == ("7", "8")
    assert corpus.record_ids[4] == f"{corpus.record_ids[2]}-2"
    assert dict(report.skipped) == {"empty text": 1}
    assert dict(report.notes) == {"id made from the row's content": 3}


def test_ids_made_from_content_do_not_depend_on_the_order_of_rows(tmp_path):
    rows = [{"text": f"query {i % 6}", "intent": str(i % 3)} for i in range(12)]
    write(tmp_path, "queries-intent", rows)
    forward = corpora.load("queries-intent", data=tmp_path)
    write(tmp_path, "queries-intent", rows[::-1])
    backward = corpora.load("queries-intent", data=tmp_path)
    assert set(forward.record_ids) == set(backward.record_ids)
    assert len(set(forward.record_ids)) == 12


def test_the_answers_to_one_patient_are_one_unit(tmp_path):
    rows = [{"record_id": f"q{i}", "patient_text": f"my knee {i // 3}", "doctor_text": f"rest {i}"} for i in range(9)]
    write(tmp_path, "medical", rows)
    corpus = corpora.load("medical", data=tmp_path)
    assert len(corpus) == 9
    assert len(set(corpus.unit_ids)) == 3
    assert sorted(corpus.one_per_unit()) == ["my knee 0", "my knee 1", "my knee 2"]
    assert corpus.attributes["record_id"][0] == "q0"


def test_a_user_without_id_is_skipped_and_counted(tmp_path):
    report = corpora.LoadingReport()
    write(tmp_path, "amazon", [{"user_id": "u", "text": "good"}, {"text": "bad"}])
    assert corpora.load("amazon", data=tmp_path, report=report).texts == ("good",)
    assert dict(report.skipped) == {"no unit id": 1}


def test_sampling_while_reading_is_sampling_afterwards(tmp_path):
    report = corpora.LoadingReport()
    write(tmp_path, "amazon", [{"user_id": f"u{i // 4}", "text": f"text {i}"} for i in range(400)])
    part = corpora.load("amazon", data=tmp_path, rate=0.3, seed=5, report=report)
    after = corpora.load("amazon", data=tmp_path).sample(rate=0.3, seed=5)
    assert part.record_ids == after.record_ids
    assert part.provenance == after.provenance
    assert report.skipped["not sampled"] == 400 - len(part)


def test_repeated_ids_stop_and_show_no_id(tmp_path):
    write(tmp_path, "queries-web", [{"query_id": "Zq7", "text": "a"}, {"query_id": "Zq7", "text": "b"}])
    with pytest.raises(ValueError, match=r"record='query_id': expected distinct ids, row 2 repeats") as caught:
        corpora.load("queries-web", data=tmp_path)
    assert "Zq7" not in str(caught.value)


def test_a_missing_column_is_named(tmp_path):
    with gzip.open(tmp_path / "queries_web.csv.gz", "wt") as stream:
        stream.write("source,query\nx,y\n")
    with pytest.raises(ValueError, match=r"text='text': expected one of the columns \['source', 'query'\]"):
        corpora.load("queries-web", data=tmp_path)


def test_a_file_without_rows_is_refused(tmp_path):
    write(tmp_path, "stance", [])
    with pytest.raises(ValueError, match="expected at least one row, found none"):
        corpora.load("stance", data=tmp_path)
