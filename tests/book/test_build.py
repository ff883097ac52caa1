"""What the builder forgives and the book does not: broken or missing notebooks, dead references, outside scripts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from privlib.experiments import publish
from privlib.experiments.workspace import ExperimentError

pytestmark = pytest.mark.book
ROOT = Path(__file__).resolve().parents[2]


def _notebook(*outputs, count=1):
    cell = {"id": "a", "cell_type": "code", "source": "1 + 1", "metadata": {}, "execution_count": count}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [
            {"id": "t", "cell_type": "markdown", "source": "# Tiny notebook", "metadata": {}},
            cell | {"outputs": list(outputs)},
        ],
    }


RESULT = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "2"}}
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no such corpus", "traceback": ["ValueError"]}


@pytest.fixture
def tiny(tmp_path):
    """A book of one page and one executed notebook, with the real configuration."""
    book = tmp_path / "book"
    shutil.copytree(ROOT / "book/_assets", book / "_assets")
    (book / "_generated").mkdir()
    (book / "_toc.yml").write_text("format: jb-book\nroot: start\nchapters:\n  - file: _generated/tiny\n")
    (book / "start.md").write_text("# Tiny\n\nInline $x^2$ and [a link](_generated/tiny.ipynb).\n")
    (book / "references.bib").write_text("")
    (book / "_generated/tiny.ipynb").write_text(json.dumps(_notebook(RESULT)))
    return book


def _build(book):
    return publish.build(book, ROOT / "_config.yml", book.parent / "out")


def _expect_failure(book, words):
    with pytest.raises(ExperimentError, match=words):
        _build(book)
    assert not (book.parent / "out/html").exists(), "a failed build left pages behind"


def test_a_sound_book_builds_and_carries_its_scripts(tiny):
    (tiny / "_extra/records").mkdir(parents=True)
    (tiny / "_extra/records/tiny.csv").write_text("epsilon,mean\n1.0,0.5\n")
    start = _build(tiny)
    html = start.parent
    page = start.read_text(encoding="utf-8")
    assert 'src="_static/mathjax/tex-svg.js' in page
    assert (html / "_static/mathjax/tex-svg.js").stat().st_size > 1_000_000
    assert (html / "records/tiny.csv").is_file()
    assert (html / "index.html").is_file()
    assert "thebe" not in page.lower(), "the theme's broken script is back"
    assert publish.outside_loads(html) == []


def test_an_error_output_fails_the_build(tiny):
    (tiny / "_generated/tiny.ipynb").write_text(json.dumps(_notebook(ERROR)))
    _expect_failure(tiny, r"tiny.ipynb stopped with ValueError: no such corpus \(code cell 1\)")


def test_a_notebook_that_was_not_executed_fails_the_build(tiny):
    (tiny / "_generated/tiny.ipynb").write_text(json.dumps(_notebook(count=None)))
    _expect_failure(tiny, "tiny.ipynb has not been run to its end")


def test_a_missing_notebook_fails_the_build(tiny):
    (tiny / "_generated/tiny.ipynb").unlink()
    _expect_failure(tiny, "tiny.ipynb has not been executed")


def test_every_warning_of_the_builder_is_reported_and_fails_the_build(tiny):
    lines = {
        "[dead](nowhere.md)": "nowhere.md",
        "{ref}`no-such-label`": "no-such-label",
        "{cite:p}`nobody-1900`": "nobody-1900",
        "![dot](no-such-image.png)": "no-such-image.png",
        "```{nonsense}\n```": "nonsense",
        "{numref}`fig-none`": "fig-none",
    }
    with open(tiny / "start.md", "a", encoding="utf-8") as page:
        page.write("".join(f"\n{line}\n" for line in lines))
    notebook = _notebook({"output_type": "stream", "name": "stderr", "text": "UserWarning: careful"})
    glued = "It is {glue:text}`no-such-number:.2f`."
    notebook["cells"].append({"id": "g", "cell_type": "markdown", "source": glued, "metadata": {}})
    (tiny / "_generated/tiny.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(ExperimentError) as failure:
        _build(tiny)
    missed = [word for word in [*lines.values(), "no-such-number", "stderr"] if word not in str(failure.value)]
    assert missed == []
    assert not (tiny.parent / "out/html").exists()


@pytest.mark.parametrize("line", ["[dead](nowhere.md)", "{ref}`no-such-label`"])
def test_one_dead_reference_is_enough(tiny, line):
    with open(tiny / "start.md", "a", encoding="utf-8") as page:
        page.write(f"\n{line}\n")
    _expect_failure(tiny, "nowhere.md|no-such-label")


def test_a_page_of_the_contents_that_is_missing_fails_the_build(tiny):
    with open(tiny / "_toc.yml", "a", encoding="utf-8") as toc:
        toc.write("  - file: later\n")
    _expect_failure(tiny, "later")


OUTSIDE = {
    "script": '<script src="https://example.org/a.js"></script>',
    "style": '<link rel="stylesheet" href="https://example.org/a.css">',
    "font": '<link rel="preconnect" href="//example.org">',
    "image": '<img src="http://example.org/a.png" alt="a">',
    "frame": '<iframe src="https://example.org/"></iframe>',
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_what_a_page_loads_from_outside_is_found(tmp_path, kind):
    (tmp_path / "a.html").write_text(f"<p>{OUTSIDE[kind]}</p>")
    assert len(publish.outside_loads(tmp_path)) == 1


def test_what_a_style_sheet_loads_from_outside_is_found(tmp_path):
    (tmp_path / "a.css").write_text("@import 'https://example.org/b.css'; p { background: url(//example.org/c.png) }")
    assert len(publish.outside_loads(tmp_path)) == 2


def test_links_and_own_files_are_not_outside(tmp_path):
    text = (
        '<a href="https://example.org">go</a><script src="a.js"></script><img src="data:image/png;base64,AA" alt="a">'
    )
    (tmp_path / "a.html").write_text(f'<link rel="canonical" href="https://example.org/a.html">{text}')
    assert publish.outside_loads(tmp_path) == []


def test_a_script_from_outside_fails_the_build(tiny):
    with open(tiny / "start.md", "a", encoding="utf-8") as page:
        page.write('\n<script src="https://example.org/a.js"></script>\n')
    _expect_failure(tiny, "start.html: script https://example.org/a.js")


def test_a_script_that_was_changed_is_refused(tiny, tmp_path, monkeypatch):
    damaged = tmp_path / "assets" / publish.MATHJAX
    damaged.parent.mkdir(parents=True)
    damaged.write_text("alert(1)")
    monkeypatch.setenv("PRIVLIB_ASSETS", str(tmp_path / "assets"))
    with pytest.raises(ValueError, match="SHA-256"):
        _build(tiny)
