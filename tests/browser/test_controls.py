"""Negative controls: each fault, alone on a tiny page, is found by the functions that judge the book."""

from __future__ import annotations

import page_checks
import pytest

pytestmark = pytest.mark.browser
DOT = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/%3E"
SOUND = f'<h1 id="top">Tiny</h1><img src="{DOT}" alt="a dot"><a href="#top">up</a><a href="other.html#there">other</a>'
FAULTS = {
    "no alt": (f'<img src="{DOT}">', "no alt text"),
    "empty alt": (f'<img src="{DOT}" alt=" ">', "no alt text"),
    "drawing without a name": ('<svg role="img" width="9" height="9"></svg>', "no alt text"),
    "missing image": ('<img src="gone.png" alt="gone">', "image does not load"),
    "dead link": ('<a href="nowhere.html">nowhere</a>', "dead link"),
    "dead anchor": ('<a href="#nowhere">nowhere</a>', "no such anchor"),
    "dead anchor elsewhere": ('<a href="other.html#nowhere">nowhere</a>', "no such anchor"),
    "link out of the book": ('<a href="../secret.html">out</a>', "dead link"),
    "outside image": ('<img src="https://example.org/a.png" alt="a">', "asks for https://example.org/a.png"),
    "outside script": ('<script src="https://example.org/a.js"></script>', "asks for https://example.org/a.js"),
    "outside font": (
        "<style>@font-face{font-family:x;src:url(https://example.org/x.woff2)} p{font-family:x}</style><p>x</p>",
        "asks for https://example.org/x.woff2",
    ),
    "late request": (
        "<script>setTimeout(() => fetch('http://example.org/late').catch(() => 0), 100)</script>",
        "asks for http://example.org/late",
    ),
    "console error": ("<script>console.error('sorry')</script>", "console error: sorry"),
    "script error": ("<script>throw new Error('broken')</script>", "script error: broken"),
    "missing script": ('<script src="gone.js"></script>', "gone.js"),
    "raw maths": (r'<span class="math">\(x^2\)</span>', "maths not rendered"),
    "too wide": ('<div style="width:900px">wide</div>', "scrolls sideways"),
    "cut off": (
        '<div style="overflow:hidden"><div style="width:900px">wide</div></div>',
        "sticks out",
    ),
    "scrolling text": ('<div style="overflow-x:auto"><div style="width:900px">wide</div></div>', "scrolls sideways"),
}


def _book(folder, body):
    page = "<!doctype html><meta charset=utf-8><link rel=icon href=data:,><title>Tiny</title><main>{}</main>"
    folder.mkdir()
    (folder / "index.html").write_text(page.format(SOUND + body))
    (folder / "other.html").write_text(page.format('<p id="there">there</p>'))
    (folder.parent / "secret.html").write_text("not part of the book")
    return folder


def test_a_sound_page_has_no_complaint(browser, tmp_path, serve):
    table = '<table style="display:block;overflow-x:auto"><tr><td style="min-width:900px">may scroll</td></tr></table>'
    html = _book(tmp_path / "html", table)
    assert page_checks.check(browser, html, html.as_uri() + "/", page_checks.PHONE) == []
    assert page_checks.check(browser, html, serve(html), page_checks.DESKTOP) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(browser, tmp_path, fault):
    body, complaint = FAULTS[fault]
    html = _book(tmp_path / "html", body)
    found = page_checks.check(browser, html, html.as_uri() + "/", page_checks.PHONE)
    assert any(complaint in said for said in found), found


def test_a_missing_file_is_found_when_served(browser, tmp_path, serve):
    html = _book(tmp_path / "html", '<script src="gone.js"></script>')
    assert any("404" in said for said in page_checks.check(browser, html, serve(html), page_checks.DESKTOP))


def test_the_network_is_cut(browser, tmp_path):
    html = _book(
        tmp_path / "html", '<img src="http://192.0.2.1/a.png" alt="a"><img src="https://pypi.org/a.png" alt="a">'
    )
    found = page_checks.check(browser, html, html.as_uri() + "/", page_checks.DESKTOP)
    assert sum("ERR_NAME_NOT_RESOLVED" in said for said in found) == 2, found
