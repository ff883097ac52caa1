"""Pages that a reader looks things up on: complete, in step with the records, no number typed that is measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from privlib.corpora import layouts
from privlib.experiments import records
from privlib.experiments.ledger import CONTRADICTED, NOT_RUN, PROVED, REPRODUCED, Claim, Judgement
from privlib.experiments.pages import appendix, cards, footing, images
from privlib.experiments.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"


def page(name: str) -> str:
    return (BOOK / f"{name}.md").read_text(encoding="utf-8")


def test_every_page_is_in_the_contents_once():
    names = re.findall(r"(?:root|file): (\S+)", (BOOK / "_toc.yml").read_text(encoding="utf-8"))
    assert len(set(names)) == len(names)
    written = {str(path.relative_to(BOOK).with_suffix("")) for path in BOOK.rglob("*.md")}
    written -= {str(Path(name)) for name in written if name.split("/")[0] in ("_generated", "labelled", "_build")}
    assert written - set(names) == {"LICENSE-text"}


def test_every_corpus_and_model_of_a_record_has_a_card():
    text = page("cards")
    headings = " ".join(re.findall(r"^### (.+)$", text, flags=re.M))
    made = [records.read(path) for path in sorted((BOOK / "recorded").glob("*/*/*.json"))]
    assert made
    names = {one["name"] for record in made for one in (*record.corpora, *record.models)} | set(layouts.TIDIED)
    assert [name for name in sorted(names) if name not in headings] == []


def test_a_card_says_which_terms_were_read_and_which_are_from_memory():
    cards_of = re.split(r"^### ", page("cards"), flags=re.M)[1:]
    for card in cards_of:
        name = card.partition("\n")[0]
        assert "\nWhat\n: " in card, name
        terms = re.search(r"\nTerms\n: (.+?)\n\n", card, flags=re.S)[1]
        assert name == "generated" or re.search(r"from memory|read (?:there|in)|from the folder's note", terms), name


def test_terms_of_the_glossary_are_explained_once_in_alphabetical_order():
    terms = re.findall(r"^(\S.*)\n  \S", page("glossary").split("```{glossary}\n")[1], flags=re.M)
    assert len(terms) > 25
    assert terms == sorted(set(terms), key=str.lower)


def test_the_appendix_has_the_headings_of_artifact_evaluation():
    headings = re.findall(r"^## (.+)$", page("artifact"), flags=re.M)
    wanted = ["Abstract", "Description and requirements", "Set-up", "Evaluation workflow", "Notes on reusability"]
    assert [heading for heading in headings if heading in wanted] == wanted
    assert re.findall(r"\b\d+(?:\.\d+)? ?(?:s|min|minutes|hours|MB|GB|MiB)\b", page("artifact")) == []


def test_every_correction_tells_claim_fault_proof_and_what_is_done():
    blocks = re.findall(r"^:::\{correction\} [^\n]+\n---\n.*?^---\n(.*?)^:::$", page("corrections"), flags=re.M | re.S)
    assert len(blocks) >= 15
    for block in blocks:
        starts = re.findall(r"^\*\*(The paper|Why it [a-z ]+|Proof|Here)\.\*\*", block, flags=re.M)
        assert [start.split()[0] for start in starts] == ["The", "Why", "Proof", "Here"], block[:80]
    assert {"critical", "theoretical", "negligible"} == set(re.findall(r"^severity: (\w+)$", page("corrections"), re.M))


def test_claims_that_a_page_points_at_are_in_the_ledger():
    known = set(re.findall(r"^([PFQ]\d+),", (BOOK / "claims.csv").read_text(encoding="utf-8"), flags=re.M))
    pointed = {id for path in BOOK.glob("*.md") for id in re.findall(r"\(#claim-(\w+)\)", path.read_text("utf-8"))}
    assert pointed
    assert pointed <= known


def _claim(id, **changes):
    empty = dict.fromkeys(Claim.__dataclass_fields__, "")
    return Claim(**empty | {"id": id, "paper": "P", "claim": "a | claim"} | changes)


@pytest.fixture
def built(tmp_path):
    """What a run leaves for the appendix: one notebook with a record, its times, and a judged ledger."""
    workspace = Workspace(tmp_path)
    (workspace.generated / "records").mkdir(parents=True)
    state = {"profile": "book", "data": "packaged", "complete": True, "notebooks": {"one": "key"}}
    spent = {"notebooks": {"one": {"seconds": 93.4, "peak_mib": 512.0, "date": "today"}}}
    (workspace.generated / "run.json").write_text(json.dumps(state))
    (workspace.generated / "times.json").write_text(json.dumps(spent))
    (workspace.generated / "one.ipynb").write_text("x" * 3000)
    (workspace.generated / "records/a.json").write_text(json.dumps({"notebook": "one", "pad": "y" * 2000}))
    (workspace.generated / "records/b.json").write_text(json.dumps({"notebook": "two", "pad": "y" * 90_000}))
    judged = [
        Judgement(_claim("P1", notebook="one"), REPRODUCED, "1"),
        Judgement(_claim("P2", notebook="one"), CONTRADICTED, "2 < 3"),
        Judgement(_claim("P3", notebook="two"), NOT_RUN),
        Judgement(_claim("P4", test="tests/a.py::test_b; tests/a.py::test_c"), PROVED),
        Judgement(_claim("P5", test="tests/a.py::test_d"), CONTRADICTED),
    ]
    return workspace, judged


def test_the_appendix_measures_each_experiment(built):
    text = appendix.render(*built)
    assert "| [one](_generated/one.ipynb) | [P1](#claim-P1), [P2](#claim-P2) | 1 contradicted, 1 reproduced |" in text
    assert "| 93 s | 512 MiB | 5 kB |" in text
    assert "| `two` | [P3](#claim-P3) | 1 not run here | not in this run | | |" in text
    assert "1 claims with 2 tests" in text
    assert "All 1 notebooks together: 1.6 minutes of work, two at a time, at most 512 MiB" in text


def test_contradicted_claims_are_listed_with_what_says_so(built):
    rows = appendix.contradicted(built[1]).splitlines()
    assert rows[2:] == [
        r"| [P2](#claim-P2) | P | a \| claim | 2 \< 3 |",
        r"| [P5](#claim-P5) | P | a \| claim | `tests/a.py::test_d` |",
    ]
    assert appendix.contradicted(built[1][:1]) == "None.\n"


def test_the_tables_of_cards_are_those_of_the_records():
    made = [records.read(path) for path in sorted((BOOK / "recorded").glob("smoke/*/*.json"))]
    text = cards.render(made)
    for record in made:
        for one in record.corpora:
            assert re.search(rf"^\| {one['name']} \|.*{one['sha256'][:12]}.*`{record.notebook}`", text, flags=re.M)
        for one in record.models:
            assert f"`{one['checksum'][:12]}`" in text


def test_redirects_lead_from_no_page_to_a_page():
    redirects = footing.read_redirects(BOOK / footing.REDIRECTS)
    assert redirects
    for old, new in redirects.items():
        assert (BOOK / f"{new}.md").is_file()
        assert not (BOOK / f"{old}.md").exists()
    text = footing.redirect("threats.html")
    assert 'http-equiv="Refresh" content="0; url=threats.html"' in text
    assert '<a href="threats.html">' in text


@pytest.mark.parametrize("bad", ["- intro\n", "intro: 3\n", "3: start\n"])
def test_a_redirects_file_of_another_shape_is_refused(tmp_path, bad):
    (tmp_path / "redirects.yml").write_text(bad)
    with pytest.raises(ValueError, match=r"redirects\.yml must map"):
        footing.read_redirects(tmp_path / "redirects.yml")
    assert footing.read_redirects(tmp_path / "none.yml") == {}


def test_the_foot_of_a_page_says_version_and_commit(tmp_path):
    assert re.fullmatch(r"privlib \S+, commit (?:[0-9a-f]{12,}(?: with changes)?|not known)", footing.made_from(ROOT))
    assert footing.made_from(tmp_path).endswith(", commit not known")


@pytest.mark.parametrize("tag", ['<img src="a.png">', "<img alt src=a>", '<img alt="">', "<IMG SRC=a ALT=' '>"])
def test_an_image_without_words_is_found(tag):
    assert images.unnamed(f"<p>{tag}</p>") == [tag]
    assert images.unnamed('<img src="a.png" alt="a line that rises">') == []


WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))


def test_the_workflow_builds_from_zero_on_push_and_weekly_and_uploads_book_and_report():
    on = WORKFLOW[True]  # YAML reads the word `on` as a truth value
    assert "push" in on
    assert len(on["schedule"][0]["cron"].split()) == 5
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    assert not [step for step in steps if "cache" in step.get("uses", "") or "cache" in step.get("with", {})]
    assert {step["run"] for step in steps if "run" in step} == {"make test", "make book"}
    uploads = [step["with"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert {upload["name"] for upload in uploads} == {"book", "execution-report"}
    assert {upload["path"] for upload in uploads} == {"book/_build/html", "book/_generated/execution.md"}


HOSTED = {"binder/postBuild": "#!/bin/sh\n", "colab/setup.sh": "#!/bin/sh\n"}


@pytest.mark.parametrize("name", HOSTED)
def test_hosted_notebooks_run_only_what_ci_runs(name):
    """Binder and Colab files hold steps of make that `make test` itself depends on, and say that they are untried."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.startswith(HOSTED[name])
    assert "Untried" in text
    commands = [line for line in text.splitlines() if line and not line.startswith("#")]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    needs = re.search(r"^test:([^\n]*)", makefile, flags=re.M)[1].split()
    targets = {command.split()[1] for command in commands if command.startswith("make ")}
    assert targets
    assert targets <= set(needs)
    assert [command for command in commands if not command.startswith("make ")] == ["set -e"]
