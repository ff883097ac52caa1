"""The directives of numbered statements: what they refuse, how they number, and that they lead to their tests."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from privlib.experiments import publish
from privlib.experiments.ledger import test_exists
from privlib.experiments.pages.statements import KINDS, RUNGS, rungs
from privlib.experiments.workspace import ExperimentError

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").rglob("*.md"))
REAL = "tests/dp/test_gaussian.py::test_round_trip_over_ten_decades"
OPENING = re.compile(rf"^:::+\{{({'|'.join(KINDS)})\}} [^\n]+\n---\n(.*?)^---$", flags=re.M | re.S)


def test_rungs_are_read_with_their_notes():
    assert rungs("exact") == [("exact", "")]
    assert rungs("exact (law, to 60 digits), sampled (f(x)), not defended") == [
        ("exact", "law, to 60 digits"),
        ("sampled", "f(x)"),
        ("not defended", ""),
    ]


@pytest.mark.parametrize("bad", ["", "proved", "exact law", "exact, proved", "exactly", "sampled,"])
def test_words_that_are_no_rung_are_refused(bad):
    with pytest.raises(ValueError, match="status must"):
        rungs(bad)


def test_every_test_that_a_statement_names_exists_and_every_technical_part_has_statements():
    named = {}
    for page in PAGES:
        for kind, options in OPENING.findall(page.read_text(encoding="utf-8")):
            for node in re.findall(r"tests/\S+::\S+", options):
                named.setdefault(node, []).append((page.stem, kind))
    assert [node for node in named if not test_exists(ROOT, node)] == []
    claims = {page for uses in named.values() for page, kind in uses if kind == "theorem"}
    assert claims >= {"foundations", "plans", "synthesis", "quantization"}
    proofs = {str(path.relative_to(ROOT)) for path in (ROOT / "tests/proofs").glob("test_*.py")}
    assert proofs <= {node.partition("::")[0] for node in named}, "a file of proofs backs no statement"


@pytest.fixture
def tiny(tmp_path):
    book = tmp_path / "book"
    shutil.copytree(ROOT / "book/_assets", book / "_assets")
    (book / "_toc.yml").write_text("format: jb-book\nroot: start\nchapters:\n  - file: second\n  - file: tests\n")
    ladder = "\n".join(RUNGS)
    (book / "start.md").write_text(f"# Start\n\n(ladder)=\n## Ladder\n\n{ladder}\n")
    (book / "second.md").write_text("# Second\n\nText.\n")
    (book / "tests.md").write_text("# Tests\n\n```{tests-behind-statements}\n```\n")
    (book / "references.bib").write_text("")
    return book


def _say(book, page, text):
    with open(book / f"{page}.md", "a", encoding="utf-8") as stream:
        stream.write(f"\n{text}\n")


def _block(kind="theorem", label="thm-a", status="exact (law)", tests=REAL, severity=""):
    options = {"label": label, "status": status, "severity": severity, "tests": tests}
    lines = "".join(f"{name}: {value}\n" for name, value in options.items() if value)
    return f":::{{{kind}}} a title with $x$\n---\n{lines}---\nWhat holds.\n:::"


def _build(book):
    return publish.build(book, ROOT / "_config.yml", book.parent / "out").parent


@pytest.mark.book
def test_statements_are_numbered_through_the_book_and_lead_to_their_tests_and_back(tiny):
    _say(tiny, "start", _block(label="thm-a"))
    _say(tiny, "second", _block(label="thm-b", status="audited, not defended") + "\n\nSee {numref}`thm-a`.")
    _say(tiny, "second", _block("exercise", label="ex-a", status="", tests=""))
    _say(tiny, "second", _block("correction", label="fix-a", status="", severity="critical"))
    html = _build(tiny)
    second = BeautifulSoup((html / "second.html").read_text(encoding="utf-8"), "html.parser")
    titles = [title.get_text(" ", strip=True) for title in second.select(".statement-title")]
    assert [" ".join(title.split()[:2]) for title in titles] == ["Theorem 2", "Exercise 1", "Correction 1"]
    assert second.find("a", string="Theorem 1")["href"] == "start.html#thm-a"
    block = second.select_one("#thm-b")
    assert [link.get_text() for link in block.select(".statement-status a")] == ["audited", "not defended"]
    assert block.select_one(".statement-status a")["href"] == "start.html#ladder"
    assert "Severity: critical" in second.select_one("#fix-a").get_text()
    place = block.select_one(".statement-tests a")["href"]
    assert place.startswith("tests.html#")
    behind = BeautifulSoup((html / "tests.html").read_text(encoding="utf-8"), "html.parser")
    entry = behind.select_one(f"[id='{place.partition('#')[2]}']")
    assert [link.get_text() for link in entry.select("p a")] == ["Correction 1", "Theorem 1", "Theorem 2"]
    assert f"pytest {REAL}" in entry.get_text()
    assert "def test_round_trip_over_ten_decades" in entry.get_text()


FAULTS = {
    "unknown test": (_block(tests="tests/dp/test_gaussian.py::test_nothing"), "no such test"),
    "no test": (_block(tests=""), "names no test"),
    "no status": (_block(status=""), "status must"),
    "unknown rung": (_block(status="proved"), "status must"),
    "no label": (_block(label=""), "needs a label"),
    "a status on a definition": (_block("definition"), "only a claim has a status"),
    "a correction without severity": (_block("correction", status=""), "has a severity"),
    "an unknown severity": (_block("correction", status="", severity="bad"), "has a severity"),
    "a severity on a theorem": (_block(severity="critical"), "has a severity"),
}


@pytest.mark.book
def test_what_a_statement_lacks_fails_the_build(tiny):
    for block, _ in FAULTS.values():
        _say(tiny, "start", block)
    with pytest.raises(ExperimentError) as failure:
        _build(tiny)
    said = str(failure.value)
    missed = [fault for fault, (_, words) in FAULTS.items() if words not in said]
    assert missed == []
    assert said.count("names no test") == 1
    assert said.count("has a severity") == 3
