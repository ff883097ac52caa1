"""Complaints name no person (DP-SPIN, Section 6; claim P033): each is its own unit, and no plan of them is by user."""

from __future__ import annotations

import csv

import pytest

from privlib import corpora, plans

# the public file's columns, as in its field reference
OFFICIAL = [
    *("Date received", "Product", "Sub-product", "Issue", "Sub-issue", "Consumer complaint narrative"),
    *("Company public response", "Company", "State", "ZIP code", "Tags", "Consumer consent provided?"),
    *("Submitted via", "Date sent to company", "Company response to consumer", "Timely response?"),
    *("Consumer disputed?", "Complaint ID"),
]
TIDIED = [
    *("complaint_id", "date_received", "product_group", "product", "sub_product", "issue", "sub_issue", "narrative"),
    *("company", "state", "company_response", "source"),
]


@pytest.mark.parametrize(
    ("file", "columns", "text", "record"),
    [
        ("complaints.csv", OFFICIAL, "Consumer complaint narrative", "Complaint ID"),
        ("cfpb_complaints.csv", TIDIED, "narrative", "complaint_id"),
    ],
)
def test_complaints_are_their_own_unit_and_a_plan_by_user_is_refused(file, columns, text, record, tmp_path):
    with open(tmp_path / file, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, columns, restval="x")
        table.writeheader()
        table.writerows({record: str(i), text: "They charged fees."} for i in range(3))
    corpus = corpora.load("cfpb", data=tmp_path)
    assert len(corpus) == len(set(corpus.record_ids)) == 3
    assert corpus.unit_ids is None
    public = ["charged fees twice", "rude calls at night"]
    universe = plans.AtomUniverse(("fees", "calls"), representation=plans.Tfidf.fit(public))
    assert plans.sketch(corpus, universe, 1).unit == "record"
    with pytest.raises(ValueError, match="unit_ids"):
        plans.sketch(corpus, universe, 1, unit="user")
