"""The rendered book as a reader meets it: served and from disk, on a desk and on a phone, with the network cut."""

from __future__ import annotations

from pathlib import Path

import page_checks
import pytest
import yaml
from bs4 import BeautifulSoup

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]


def test_every_page_is_sound_when_served(browser, book, serve):
    assert page_checks.check(browser, book, serve(book), page_checks.DESKTOP) == []


def test_every_page_is_sound_from_disk_on_a_phone(browser, book):
    assert page_checks.check(browser, book, book.as_uri() + "/", page_checks.PHONE) == []


def test_the_address_leads_to_the_start_page(browser, book):
    page = browser.new_page()
    page.goto(f"{book.as_uri()}/index.html")
    page.wait_for_url("**/start.html")
    page.close()


def test_every_page_of_the_table_of_contents_is_there_and_has_text(book):
    names = [f"{name}.html" for name in _names(yaml.safe_load((ROOT / "book/_toc.yml").read_text()))]
    assert set(names) <= set(page_checks.pages_of(book))
    for name in names:
        article = _article(book / name)
        assert len(article.select("h1")) == 1, name
        assert len(article.get_text(" ", strip=True)) > 300, f"{name} is as good as empty"


def test_notebook_pages_show_a_figure_with_caption_and_its_making(book):
    names = [name for name in page_checks.pages_of(book) if name.startswith("_generated/")]
    assert names
    for name in names:
        article = _article(book / name)
        figures = article.select("figure:has(img)")
        assert figures, f"{name} has no figure"
        assert all(figure.select("figcaption .caption-text") for figure in figures), f"{name} has a bare figure"
        made = article.select(".privlib-provenance")
        assert len(made) >= len(figures), f"{name} does not say what made each of its figures"
        for line in made:  # its numbers: a CSV of this build, or the committed file of another run
            recorded = any(code.get_text().startswith("book/recorded/") for code in line.select("summary code"))
            assert recorded or line.select("a[href$='.csv']"), f"{name} does not say where its numbers are"


def test_search_works_from_disk(browser, book):
    errors = []
    page = browser.new_page()
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{book.as_uri()}/search.html?q=notation")
    page.wait_for_selector("#search-results li")
    assert errors == []
    page.close()


def _article(path: Path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select_one("article")


def _names(node) -> list[str]:
    if isinstance(node, list):
        return [name for item in node for name in _names(item)]
    if isinstance(node, dict):
        own = [node[key] for key in ("root", "file") if key in node]
        return own + [name for value in node.values() for name in _names(value)]
    return []
