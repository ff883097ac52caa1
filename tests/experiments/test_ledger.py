from __future__ import annotations

import csv
import dataclasses
import json
import re

import pandas as pd
import pytest

from privlib import experiments
from privlib.experiments.ledger import (
    ABSENT,
    CONTRADICTED,
    NOT_RUN,
    PROVED,
    REPRODUCED,
    SETTING,
    SIZE,
    TABLES,
    TREND,
    VERDICTS,
    Claim,
    Judgement,
    judge,
    read_claims,
    render,
    verdict,
)
from privlib.experiments.ledger import test_exists as exists_in_tree
from privlib.experiments.workspace import ExperimentError, Workspace

EMPTY = Claim("X1", "P", "Table 1", "number", "a | claim with `marks`", "1.78", "", "S", "GPU", "", "", "", "", "")
NOTEBOOK = "interactive"  # what a record made here calls its notebook


def claim(**changes) -> Claim:
    return dataclasses.replace(EMPTY, **changes)


def made(mean=(1.0, 2.0, 3.0), **changes):
    rows = pd.DataFrame({"epsilon": [1.0, 2.0, 4.0], "mean": mean})
    return experiments.record(**({"id": "r", "title": "T", "rows": rows, "parameters": {}, "seed": 1} | changes))


@pytest.mark.parametrize(
    ("kind", "rule", "means", "expected"),
    [
        ("number", "number: mean where epsilon=4 is 3.0", [(1.0, 2.0, 3.0)], REPRODUCED),
        ("number", "number: mean where epsilon=4 is 3.0", [(1.0, 2.0, 4.0)], CONTRADICTED),
        ("number", "smaller: number: mean where epsilon=4 is 3.0", [(1.0, 2.0, 4.0)], SIZE),
        (
            "number",
            "number: mean where epsilon=4 is 3.0 else trend: mean rising over epsilon",
            [(1.0, 2.0, 4.0)],
            TREND,
        ),
        ("number", "smaller: number: mean is 9 else trend: mean falling over epsilon", [(1.0, 2.0, 4.0)], SIZE),
        ("figure", "trend: mean rising over epsilon", [(1.0, 2.0, 3.0)], TREND),
        ("trend", "trend: mean rising over epsilon", [(1.0, 2.0, 3.0)], REPRODUCED),
        ("trend", "trend: mean rising over epsilon", [(1.0, 2.0, 3.0), (3.0, 2.0, 1.0)], CONTRADICTED),
        ("ordering", "order: mean of epsilon=4 above epsilon=1", [(1.0, 2.0, 3.0)], REPRODUCED),
        ("ordering", "order: mean of epsilon=4 below epsilon=1", [(1.0, 2.0, 3.0)], CONTRADICTED),
        ("number", "smaller: bound: mean at least 1", [(1.0, 2.0, 3.0)], TREND),
        ("ordering", "smaller: bound: mean at least 1", [(1.0, 2.0, 3.0)], TREND),
        ("number", "smaller: bound: mean at least 2", [(1.0, 2.0, 3.0)], SIZE),
    ],
)
def test_a_verdict_follows_from_rule_and_records(kind, rule, means, expected):
    judgement = verdict(claim(kind=kind, rule=rule), [made(mean) for mean in means])
    assert judgement.verdict == expected
    assert judgement.ours


def test_moving_a_value_moves_the_verdict():
    row = claim(rule="number: mean where epsilon=1 is 1.78", tolerance="rounded up")
    assert verdict(row, [made((1.7734, 0.0, 0.0))]).verdict == REPRODUCED
    assert verdict(row, [made((1.79, 0.0, 0.0))]).verdict == CONTRADICTED


def test_a_small_grid_is_no_verdict_and_a_missing_row_elsewhere_is_an_error():
    row = claim(rule="number: mean where epsilon=16 is 3")
    assert verdict(row, [made()], small_grid=True).verdict == NOT_RUN
    with pytest.raises(ExperimentError, match="no row with epsilon=16"):
        verdict(row, [made()])


def test_a_record_without_the_rows_asked_for_leaves_the_verdict_to_the_others():
    row = claim(rule="number: mean where epsilon=8 is 5.0")
    far = experiments.record(
        id="r", title="T", rows=pd.DataFrame({"epsilon": [8.0], "mean": [5.0]}), parameters={}, seed=1
    )
    off = dataclasses.replace(far, values=((8.0, 6.0),))
    assert verdict(row, [made(), far]).verdict == REPRODUCED
    assert verdict(row, [made(), off]).verdict == verdict(row, [far, off]).verdict == CONTRADICTED


def test_ours_names_the_corpora_that_were_judged():
    row = claim(rule="number: mean where epsilon=1 is 1")
    assert verdict(row, [made()]).ours == "closed-form: mean 1"
    several = made(rows=made().rows.assign(corpus=["mail", "mail", "chat"]))
    assert verdict(row, [several]).ours == "mail: mean 1"
    assert verdict(claim(rule="number: mean at least 0"), [several, made()]).ours == (
        "mail, chat: mean 1 to 3; closed-form: mean 1 to 3"
    )


def put(workspace: Workspace, claims: list[Claim], records=(), profile="book", complete=True) -> None:
    """Write a ledger and a run."""
    workspace.book.mkdir(exist_ok=True)
    with open(workspace.claims, "w", newline="") as stream:
        writer = csv.DictWriter(stream, [f.name for f in dataclasses.fields(Claim)])
        writer.writeheader()
        writer.writerows(map(dataclasses.asdict, claims))
    folder = workspace.generated / "records"
    folder.mkdir(parents=True, exist_ok=True)
    for record in records:
        (folder / f"{record.id}.json").write_text(record.to_json())
    state = {"profile": profile, "data": "packaged", "complete": complete, "notebooks": {NOTEBOOK: "key"}}
    (workspace.generated / "run.json").write_text(json.dumps(state))


def test_words_and_empty_rules(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "def test_proof():\n    pass\nclass TestC:\n    def test_m(self):\n        pass\n"
    )
    proof, method = "tests/test_a.py::test_proof[1-2]", "tests/test_a.py::TestC::test_m"
    workspace = Workspace(tmp_path)
    claims = [
        claim(id="A", rule="absent"),
        claim(id="B", rule="theorem", test=f"{proof}; {method}"),
        claim(id="C", rule="refuted", test=proof),
        claim(id="D"),
        claim(id="E", rule="setting", notebook=NOTEBOOK),
    ]
    put(workspace, claims)
    workspace.notebooks.mkdir()
    (workspace.notebooks / f"{NOTEBOOK}.ipynb").write_text("{}")
    judged = judge(workspace)
    assert [j.verdict for j in judged] == [ABSENT, PROVED, CONTRADICTED, NOT_RUN, SETTING]
    assert "| reproduced | 0 | 0 | 0 |" in render(judged, "book", [])
    setting = render(judged, "book", []).splitlines()[-1]
    assert f"a setting of `notebooks/{NOTEBOOK}.ipynb`" in setting
    assert "--only" not in setting


def test_the_claims_of_some_notebooks_are_judged_alone(tmp_path):
    workspace = Workspace(tmp_path)
    row = claim(id="A", rule="number: mean where epsilon=1 is 1", record="r", notebook=NOTEBOOK)
    put(workspace, [row, claim(id="B"), claim(id="C", rule="theorem", notebook="broken")], [made()])
    assert [j.claim.id for j in judge(workspace, [NOTEBOOK])] == ["A"]
    assert judge(workspace, ["other"]) == []


def test_committed_records_of_other_corpora_count_too(tmp_path):
    workspace = Workspace(tmp_path)
    row = claim(kind="trend", rule="trend: mean rising over epsilon", record="r", notebook=NOTEBOOK)
    put(workspace, [row], [made()])
    assert judge(workspace)[0].verdict == REPRODUCED

    def commit(profile, corpus, record):
        folder = workspace.recorded / profile / corpus
        folder.mkdir(parents=True)
        record = dataclasses.replace(record, profile=profile, corpus=corpus)
        (folder / "r.json").write_text(record.to_json())

    falling = made((3.0, 2.0, 1.0))
    commit("book", "closed-form", falling)  # the same corpus: what this build made counts
    commit("smoke", "other", falling)  # smoke is too small to judge by
    assert judge(workspace)[0].verdict == REPRODUCED
    commit("record", "cfpb", falling)
    assert judge(workspace)[0].verdict == CONTRADICTED


@pytest.mark.parametrize(("profile", "verdict"), [("book", CONTRADICTED), ("record", REPRODUCED)])
def test_a_large_run_of_the_same_corpus_counts_beside_the_build_until_it_is_made_again(tmp_path, profile, verdict):
    workspace = Workspace(tmp_path)
    row = claim(kind="trend", rule="trend: mean rising over epsilon", record="r", notebook=NOTEBOOK)
    put(workspace, [row], [dataclasses.replace(made(), profile=profile)])
    folder = workspace.recorded / "record" / made().corpus
    folder.mkdir(parents=True)
    (folder / "r.json").write_text(dataclasses.replace(made((3.0, 2.0, 1.0)), profile="record").to_json())
    judged = judge(workspace)[0]
    assert judged.verdict == verdict
    assert judged.ours.count("record run") == 1
    own = dataclasses.replace(made((3.0, 2.0, 1.0)), profile="record", changed=("x=2",))
    (folder / "r.json").write_text(own.to_json())
    assert ("record run, parameters of its own" in judge(workspace)[0].ours) == (profile == "book")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": "number: mean is 1", "record": "nowhere"}, "claim X1 names the record 'nowhere'"),
        ({"rule": "number: mean is 1", "record": "r", "notebook": "other"}, "claim X1 names the notebook 'other'"),
        ({"rule": "number: median is 1", "record": "r", "notebook": NOTEBOOK}, "claim X1 no column 'median'"),
        ({"rule": "theorem"}, "claim X1 has the rule 'theorem' and names no test"),
        ({"rule": "setting"}, "claim X1 has the rule 'setting' and names no notebook"),
        ({"rule": "setting", "notebook": "nowhere"}, "claim X1 has the rule 'setting' and names no notebook"),
        (
            {"rule": "theorem", "test": "tests/test_none.py::test_x"},
            "claim X1 names the test tests/test_none.py::test_x",
        ),
        ({"rule": "it works"}, "claim X1 not a rule"),
    ],
)
def test_a_row_that_cannot_be_judged_is_an_error(tmp_path, changes, message):
    workspace = Workspace(tmp_path)
    put(workspace, [claim(**changes)], [made()])
    with pytest.raises(ExperimentError, match=message):
        judge(workspace)


def test_a_partial_run_leaves_claims_open(tmp_path):
    workspace = Workspace(tmp_path)
    put(workspace, [claim(rule="number: mean is 1", record="nowhere")], [made()], complete=False)
    assert judge(workspace)[0].verdict == NOT_RUN


def test_ids_are_unique_and_columns_fixed(tmp_path):
    workspace = Workspace(tmp_path)
    put(workspace, [claim(), claim()])
    with pytest.raises(ExperimentError, match="repeats X1"):
        read_claims(workspace.claims)
    workspace.claims.write_text("id,verdict\nX1,reproduced\n")
    with pytest.raises(ExperimentError, match="must have the columns"):
        read_claims(workspace.claims)


def test_the_page_holds_every_claim_and_the_counts(bench, command, capsys):
    put(
        bench.workspace,
        [claim(rule="number: mean where epsilon=1 is 1", record="r", notebook=NOTEBOOK), claim(id="X2")],
        [made()],
    )
    assert command("ledger") == 0
    page = (bench.workspace.generated / "ledger.md").read_text()
    assert "| reproduced | 1 | 1 |" in page
    assert "| not run here | 1 | 1 |" in page
    assert "## P" in page
    assert "| id | verdict | where |" in page  # a phone shows the first columns: the verdict is one of them
    assert "\n| [X1]{#claim-X1} | **reproduced** | Table 1 | " in page
    assert "[interactive](_generated/interactive.ipynb)" in page
    assert "rule `number: mean where epsilon=1 is 1`" in page
    assert r"a \| claim with \`marks\`" in page
    assert "needs GPU" in page
    assert "`.venv/bin/python -m privlib.experiments run --profile book --only interactive`" in page
    assert page.count(f"\n{TABLES}\n") == 1
    assert page.index("Of the 1 rules that read records, 0 were") < page.index(TABLES) < page.index("## P")
    assert "rule written after values" not in page[page.index(TABLES) :]
    assert "   1 reproduced" in capsys.readouterr().out


def test_rendering_is_a_function_of_the_judgements():
    judgements = [verdict(claim(rule="number: mean where epsilon=1 is 1"), [made()])]
    assert render(judgements, "book", []) == render(judgements, "book", [])
    assert "](_generated" not in render(judgements, "book", [])


def test_a_rule_written_after_values_is_counted_and_says_so():
    before = claim(id="A", rule="number: mean where epsilon=1 is 1")
    after = claim(id="B", rule="seen: number: mean where epsilon=1 is 1", tolerance="1%", test="tests/a.py::test_b")
    word = Judgement(claim(id="C", rule="theorem"), PROVED)
    page = render([verdict(before, [made()]), verdict(after, [made()]), word], "book", [])
    assert page.startswith("Of the 2 rules that read records, 1 were written by hands that had seen values")
    assert "| reproduced | 2 | 2 | 1 |" in page
    rows = {line[3]: line for line in page.splitlines() if line.startswith("| [")}
    told = (
        "`.venv/bin/python -m pytest tests/a.py::test_b`; rule written after values `number: mean where epsilon=1 is 1`"
    )
    assert f"{told}, tolerance `1%`" in rows["B"]
    assert [id for id, line in rows.items() if "written after values" in line] == ["B"]


def test_the_page_includes_what_stands_before_and_after_the_line_of_tables():
    page = (Workspace.default().book / "ledger.md").read_text(encoding="utf-8")
    assert (
        page.index(f':end-before: "{TABLES}"') < page.index("ledger-filters") < page.index(f'start-after: "{TABLES}"')
    )
    assert not re.search(r"\b[PFQ]\d{3}\b", page)


def test_the_ledger_of_the_book_takes_over_every_claim_and_parses():
    claims = read_claims(Workspace.default().claims)
    prefixes = pd.Series([c.id[0] for c in claims]).value_counts()
    assert len(claims) >= 274
    assert (prefixes["P"], prefixes["F"], prefixes["Q"]) >= (79, 146, 49)
    assert {c.paper for c in claims} == {"DP-SPIN", "Fre-E2T", "QuanText"}
    assert not set(dataclasses.asdict(claims[0])) & {"verdict", *VERDICTS}


def test_every_test_that_the_ledger_names_is_in_the_tree():
    workspace = Workspace.default()
    nodes = {node.strip() for c in read_claims(workspace.claims) for node in c.test.split(";") if node.strip()}
    assert nodes
    assert not [node for node in sorted(nodes) if not exists_in_tree(workspace.root, node)]
    assert not exists_in_tree(workspace.root, "tests/experiments/test_ledger.py::test_that_nobody_wrote")
