"""The scores of the verifier: counted as their words say, on a set that is as it was frozen."""

from __future__ import annotations

import hashlib
import json

import pytest

from privlib import plans
from privlib.dp.audit import clopper_pearson
from privlib.experiments.studies import plans_verifier as study
from privlib.experiments.workspace import Workspace

WAIT = {"rank": 1, "label": "long wait", "description": "", "mass": 48.0, "support": 0.48, "bin": "high"}
STAFF = {"rank": 2, "label": "rude staff", "description": "", "mass": 6.0, "support": 0.06, "bin": "moderate"}
PLAN = {
    "schema": 1,
    "mechanism": "gaussian",
    "guarantee": {"epsilon": 1.0, "delta": 1e-6, "unit": "record", "relation": "add_drop"},
    "public_denominator": 100.0,
    "universe_size": 3,
    "plan_size": 2,
    "comparison_margin": 2.0,
    "bin_edges": {"low": 0.02, "moderate": 0.05, "high": 0.1},
    "atoms": [WAIT, STAFF],
}


def item(text, corruption="none", kind="none", spans=(), origin="template"):
    found = [[text.index(span), text.index(span) + len(span), span] for span in spans]
    return {
        "id": text,
        "plan": "p",
        "origin": origin,
        "kind": kind,
        "corruption": corruption,
        "text": text,
        "spans": found,
    }


DEVELOPMENT = [
    item("Long wait has a mass of 48."),
    item("Long wait has a mass of 48. The mass was 7.3."),  # consistent by its label, rejected by the rules
    item("Long wait has a mass of 12.", "wrong_number_digits", "number", ["12"]),
    item("Rude staff is first. Long wait has 48.", "wrong_rank", "rank", ["Rude staff is first"]),
    item("Long wait has 12. Rude staff is a joy.", "hedge", "bin", ["a joy"]),  # rejected, at the wrong place
    item("Waiters were lovely.", "unsupported_prose", "atom", ["Waiters"], "prose"),
]


@pytest.fixture
def folder(tmp_path):
    files = {
        "plans.json": json.dumps({"p": {"plan": PLAN, "universe": ["long wait", "rude staff", "dirty room"]}}),
        "development.jsonl": "".join(json.dumps(row) + "\n" for row in DEVELOPMENT),
        **{f"{name}.jsonl": json.dumps(DEVELOPMENT[0]) + "\n" for name in study.FILES if name != "development"},
    }
    sums = ""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        sums += f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
    (tmp_path / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return tmp_path


def at(rows, subject, measure):
    (row,) = [row for row in rows if (row["subject"], row["measure"]) == (subject, measure)]
    return row["share"], row["items"]


def test_shares_are_counted_as_they_are_named(folder):
    labelled = study.load(folder)
    rows = study.score(study.judge(labelled, labelled.items["development"], with_universe=True))
    assert at(rows, "all", "recall") == (1.0, 3)  # unsupported prose is apart
    assert at(rows, "all", "localised") == (2 / 3, 3)
    assert at(rows, "all", "specificity") == (0.5, 2)
    assert at(rows, "all", "precision") == (0.75, 4)
    assert at(rows, "all", "violation precision") == (0.5, 4)
    assert at(rows, "hedge", "recall") == (1.0, 1)
    assert at(rows, "hedge", "localised") == (0.0, 1)
    assert at(rows, "unsupported_prose", "recall") == (0.0, 1)
    assert at(rows, "number", "precision") == (1 / 3, 3)
    assert at(rows, "number", "recall") == at(rows, "number", "localised") == (1.0, 1)
    assert at(rows, "bin", "recall") == (1.0, 1)
    assert at(rows, "bin", "localised") == (0.0, 1)
    assert not any((row["subject"], row["measure"]) == ("atom", "recall") for row in rows)  # unsupported prose is apart
    assert at(rows, "rank", "precision") == (1.0, 1)
    assert not any(
        (row["subject"], row["measure"]) == ("bin", "precision") for row in rows
    )  # the share of nothing is no row


def test_limits_are_those_of_clopper_and_pearson(folder):
    labelled = study.load(folder)
    for row in study.score(study.judge(labelled, labelled.items["development"], with_universe=True)):
        right = round(row["share"] * row["items"])
        assert (row["low"], row["high"]) == clopper_pearson(right, row["items"], 0.025)


def test_rows_come_for_each_file_with_and_without_the_labels(folder):
    rows = study.quality(study.load(folder))
    assert set(zip(rows.file, rows.universe, strict=True)) == {
        (file, known) for file in study.FILES for known in ("known", "unknown")
    }
    blind = rows[(rows.universe == "unknown") & (rows.subject == "unsupported_prose") & (rows.measure == "recall")]
    assert list(blind[blind.origin == "prose"].share) == [1.0]  # "lovely" is in no list


@pytest.mark.parametrize("name", ["plans.json", "development.jsonl", "development-c.jsonl"])
def test_a_set_that_changed_is_refused(folder, name):
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"{name} differs from SHA256SUMS"):
        study.load(folder)


def test_the_labelled_set_of_the_checkout_is_frozen_and_its_plans_verify():
    labelled = study.load()
    sums = (Workspace.default().book / "labelled" / "SHA256SUMS").read_bytes()
    assert labelled.sha256 == hashlib.sha256(sums).hexdigest()
    for plan, universe in labelled.plans.values():
        assert plans.verify(plans.template()(plan, ()), plan, universe).accepted
