"""Hand-written pages: their code runs, the names in the notation table exist, every citation is a real entry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("*.md"))


def _blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)


def test_the_start_page_shows_code_that_runs(capsys):
    blocks = _blocks((ROOT / "book/start.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "book/start.md", "exec"), {})
    said = capsys.readouterr().out
    assert "unit user" in said
    assert "idealized numerics" in said


def test_names_in_the_notation_table_exist_in_the_library():
    table = (ROOT / "book/notation.md").read_text(encoding="utf-8")
    names = {name for row in table.splitlines() if row.startswith("| $") for name in re.findall(r"`(\w+)`", row)}
    assert len(names) > 10
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "privlib").rglob("*.py"))
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\s*[:=,)]", sources)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_citations_are_entries_of_the_bibliography(page):
    entries = set(re.findall(r"^@\w+\{([\w-]+),", (ROOT / "book/references.bib").read_text(encoding="utf-8"), re.M))
    cited = {
        key.strip()
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page.read_text(encoding="utf-8"))
        for key in keys.split(",")
    }
    assert cited <= entries


def test_every_entry_of_the_bibliography_is_cited():
    """The list at the end shows what is cited, so an entry that no page cites is one that nobody checked."""
    entries = re.findall(r"^@\w+\{([\w-]+),", (ROOT / "book/references.bib").read_text(encoding="utf-8"), re.M)
    texts = [page.read_text(encoding="utf-8") for page in (ROOT / "book").rglob("*.md")]
    texts += [page.read_text(encoding="utf-8") for page in (ROOT / "notebooks").glob("*.ipynb")]
    cited = {
        key for text in texts for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text) for key in keys.split(",")
    }
    assert sorted(set(entries)) == sorted(entries), "an entry stands twice"
    assert [entry for entry in entries if entry not in cited] == []


def test_no_folder_turns_its_scripts_into_tags_on_every_page():
    assert not (ROOT / "book/_static").exists()


def test_licences_and_citation_are_there():
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "CC BY 4.0" in (ROOT / "book/LICENSE-text.md").read_text(encoding="utf-8")
    assert "cff-version: 1.2.0" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
