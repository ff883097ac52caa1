"""The filters of the claims ledger, worked from disk: what is shown is what the filters ask for."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
SHOWN = "[...document.querySelectorAll('#claims-ledger tr:has([id^=claim-])')].filter((row) => row.checkVisibility())"


@pytest.fixture
def page(browser, book):
    opened = browser.new_page()
    opened.goto(f"{book.as_uri()}/ledger.html")
    yield opened
    opened.close()


def _shown(page) -> list[list[str]]:
    return page.evaluate(f"{SHOWN}.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")


def _claims() -> list[dict[str, str]]:
    with open(ROOT / "book/claims.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_at_first_every_claim_is_shown(page):
    assert [row[0] for row in _shown(page)] == [claim["id"] for claim in _claims()]
    assert page.locator("#ledger-filters output").inner_text() == f"{len(_claims())} of {len(_claims())} claims"


def test_a_paper_leaves_its_claims_and_hides_the_other_sections(page):
    page.get_by_label("Paper", exact=True).select_option("QuanText")
    assert [row[0] for row in _shown(page)] == [c["id"] for c in _claims() if c["paper"] == "QuanText"]
    assert not page.locator("h2", has_text="Fre-E2T").is_visible()


def test_each_verdict_leaves_as_many_as_the_page_counts(page):
    before = Counter(row[1] for row in _shown(page))
    assert len(before) > 2
    for verdict, number in before.items():
        page.get_by_label("Verdict", exact=True).select_option(verdict)
        rows = _shown(page)
        assert len(rows) == number
        assert {row[1] for row in rows} == {verdict}
        assert page.locator("#ledger-filters output").inner_text().startswith(f"{number} of")


def test_rules_written_after_values_can_be_picked_and_are_counted(page):
    seen = [claim["id"] for claim in _claims() if claim["rule"].startswith("seen: ")]
    page.get_by_label("Rule", exact=True).select_option("written after values")
    assert [row[0] for row in _shown(page)] == seen
    assert page.get_by_text(f"rules that read records, {len(seen)} were written by hands").is_visible()
    page.get_by_label("Rule", exact=True).select_option("reads no record")
    words = ("theorem", "refuted", "absent", "setting", "")
    assert [row[0] for row in _shown(page)] == [claim["id"] for claim in _claims() if claim["rule"] in words]


def test_filters_act_together_and_words_are_searched_in_all_columns(page):
    page.get_by_label("Evidence", exact=True).select_option("test")
    page.get_by_label("Words", exact=True).fill("lemma Fre")
    rows = _shown(page)
    assert rows
    for row in rows:
        assert "pytest" in row[6]
        assert "lemma" in " ".join(row).lower()
    page.get_by_label("Words", exact=True).fill("no such words at all")
    assert _shown(page) == []
    assert page.locator("#ledger-filters output").inner_text().startswith("0 of")


def test_filters_are_worked_by_keyboard(page):
    page.get_by_label("Paper", exact=True).focus()
    page.keyboard.press("F")
    assert {row[0][0] for row in _shown(page)} == {"F"}
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('label').textContent").startswith("Verdict")
