"""Every page for readers with a keyboard, a screen reader, a dark room or a printer; each fault is found alone."""

from __future__ import annotations

import page_checks
import pytest
import reading

pytestmark = pytest.mark.browser
VIEWS = {
    "on a desk in light": {"viewport": page_checks.DESKTOP, "color_scheme": "light"},
    "on a phone in the dark": {"viewport": page_checks.PHONE, "color_scheme": "dark"},
}
CHAPTERS = (
    "start",
    "foundations",
    "plans",
    "synthesis",
    "quantization",
    "corrections",
    "_generated/plans_mass_retained",
)


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious_and_every_control_is_reached(browser, book, view):
    """In the first view by all rules; in the second by those whose outcome colours and width decide."""
    context = browser.new_context(**VIEWS[view])
    rules = () if "light" in view else reading.SEEN
    found = []
    for name in page_checks.pages_of(book):
        page = reading.settled(context, f"{book.as_uri()}/{name}")
        found += [f"{name}: {said}" for said in reading.axe(page, rules) + reading.out_of_reach(page)]
        page.close()
    context.close()
    assert found == []


@pytest.mark.parametrize("view", VIEWS)
def test_the_chosen_colours_follow_the_reader(browser, book, view):
    """Text and ground really change places: the book is dark in the dark, not only said to be."""
    context = browser.new_context(**VIEWS[view])
    page = reading.settled(context, f"{book.as_uri()}/start.html")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)")
    context.close()
    assert (sum(ground) > 3 * 128) == ("light" in view)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_prints_whole_and_legible(browser, book, name):
    page = reading.settled(browser, f"{book.as_uri()}/{name}.html")
    heading = page.locator("article h1").first.inner_text().strip("# \n")
    last = page.locator("article section p").last.inner_text()
    paper = reading.printed(page)
    page.close()
    assert paper.complaints == []
    assert paper.sheets >= 1
    flat = "".join(paper.text.split())
    assert "".join(heading.split())[:20] in flat
    assert "".join(last.split())[:20] in flat, "the end of the chapter is not on paper"
    assert "Search" not in paper.text, "navigation is printed"


def test_folded_answers_are_open_on_paper(browser, book):
    page = reading.settled(browser, f"{book.as_uri()}/foundations.html")
    assert "assert everything < 5" in reading.printed(page).text
    page.close()


FAULTS = {
    "grey on white": ("<p style='color:#aaa;background:#fff'>hard to read</p>", "color-contrast"),
    "nameless button": ("<button></button>", "button-name"),
    "nameless link": ("<a href='#top'></a>", "link-name"),
    "nested control": ("<details><summary>more <a href='#top'>up</a></summary>text</details>", "nested-interactive"),
    "field without a label": ("<input type='range'>", "label"),
}


def _open(browser, tmp_path, body):
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><meta charset=utf-8><title>Tiny</title>'
        f'<main id="top"><h1>Tiny</h1>{body}</main></html>'
    )
    return reading.settled(browser, path.as_uri())


def test_a_sound_page_has_no_finding(browser, tmp_path):
    page = _open(browser, tmp_path, "<p>Text.</p><button>Go</button><a href='#top'>up</a>")
    assert reading.axe(page) + reading.out_of_reach(page) + reading.printed(page).complaints == []
    page.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_axe_sees_a_fault(browser, tmp_path, fault):
    body, rule = FAULTS[fault]
    page = _open(browser, tmp_path, body)
    assert any(rule in said for said in reading.axe(page))
    page.close()


def test_a_control_without_a_stop_of_the_keyboard_is_seen(browser, tmp_path):
    page = _open(browser, tmp_path, "<button tabindex='-1'>Go</button><span onclick='1'>here</span>")
    assert len(reading.out_of_reach(page)) == 2
    page.close()


@pytest.mark.parametrize(
    "body",
    [
        "<div style='width:900px'>wide</div>",
        "<div style='overflow:auto'><div style='width:900px'>wide</div></div>",
    ],
)
def test_what_paper_would_cut_off_is_seen(browser, tmp_path, body):
    page = _open(browser, tmp_path, body)
    assert reading.printed(page).complaints
    page.close()
