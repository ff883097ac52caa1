"""A table wider than a phone shows that it goes on: a shadow on each edge beyond which there is more."""

from __future__ import annotations

import io
from pathlib import Path

import page_checks
import pytest
import reading

pytestmark = pytest.mark.browser
ASSETS = Path(__file__).resolve().parents[2] / "book/_assets"
FRAMES = {
    "of the text": '<div class="pst-scrollable-table-container"><table class="table">{rows}</table></div>',
    "of a notebook": '<div class="output text_html"><table class="dataframe">{rows}</table></div>',
}
COLOURS = {"light": ("#fff", "#222832"), "dark": ("#14181e", "#ced6dd")}


def opened(browser, tmp_path, frame: str, columns: int, colours: str, viewport: dict[str, int]):
    """A page with one table, and empty cells wherever the edges are looked at."""
    ground, text = COLOURS[colours]
    rows = "<tr>" + f"<td style='min-width:80px;height:40px;padding:0;border:0'>{'&nbsp;' * 4}</td>" * columns + "</tr>"
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><meta charset=utf-8><title>Tables</title>'
        f"<style>{(ASSETS / 'book.css').read_text()}"
        f":root {{ --pst-color-background: {ground}; --pst-color-text-base: {text}; background: {ground} }}"
        "table { border-collapse: collapse; white-space: nowrap; border: 0 !important }</style>"
        f'<main><h1 style="color:{text}">Table</h1>'
        f'<article class="bd-article">{FRAMES[frame].format(rows=rows)}</article></main>'
        f"<script>{(ASSETS / 'reach.js').read_text()}</script></html>"
    )
    page = reading.settled(browser, path.as_uri())
    page.set_viewport_size(viewport)
    return page


def shaded(page) -> tuple[bool, bool]:
    """Whether the frame's left and right edge look other than its middle."""
    from PIL import Image

    frame = page.locator(".pst-scrollable-table-container, .output")
    picture = Image.open(io.BytesIO(frame.screenshot())).convert("L")
    width, middle = picture.width, picture.height // 2
    inside = picture.getpixel((width // 2, middle))
    return tuple(abs(picture.getpixel((at, middle)) - inside) > 20 for at in (1, width - 2))


@pytest.mark.parametrize("colours", COLOURS)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_shadow_lies_where_a_table_goes_on(browser, tmp_path, frame, colours):
    page = opened(browser, tmp_path, frame, 12, colours, page_checks.PHONE)
    seen = [shaded(page)]
    for far in (200, 10_000):
        page.evaluate("far => document.querySelector('.pst-scrollable-table-container, .output').scrollLeft = far", far)
        seen.append(shaded(page))
    assert seen == [(False, True), (True, True), (True, False)]
    page.keyboard.press("Tab")
    focused = "document.activeElement.matches('.pst-scrollable-table-container, .output')"
    assert page.evaluate(focused), "the keyboard cannot scroll it"
    assert reading.axe(page) == []
    page.close()


@pytest.mark.parametrize("frame", FRAMES)
def test_a_table_that_fits_has_no_shadow(browser, tmp_path, frame):
    page = opened(browser, tmp_path, frame, 2, "light", page_checks.PHONE)
    assert shaded(page) == (False, False)
    page.close()
