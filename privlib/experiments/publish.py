"""Builds the book: checks what it is made of, brings its scripts along, renders it strictly.

(Hand H's module, the target of `make book`. What copies finished notebooks into book/_generated is in gather.py.)

The builder alone is too kind: it renders a notebook that stopped with an error, keeps what it rendered
from an older notebook, and points at scripts on other people's servers. Here each of these fails the
build, and the pages work from disk with the network cut.

    python -m privlib.experiments.publish --out book/_build
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from privlib import assets
from privlib.experiments.workspace import ExperimentError

# MathJax 3.2.2, one file without fonts; the sum is that of es5/tex-svg.js in the npm package mathjax 3.2.2.
MATHJAX = "sphinx-mathjax-offline/static/mathjax/tex-svg.js"
MATHJAX_SHA256 = "d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882"
VENDOR = "_generated/vendor"  # named in _config.yml's html_static_path and mathjax_path


def pages(toc: Path) -> list[str]:
    """Page names of a table of contents, in order, without suffix."""
    import yaml

    def below(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (value for key, value in node.items() if key in ("root", "file"))
            for value in node.values():
                yield from below(value)
        elif isinstance(node, list):
            for item in node:
                yield from below(item)

    return list(below(yaml.safe_load(toc.read_text(encoding="utf-8"))))


def check_executed(path: Path) -> None:
    """Raise ExperimentError unless every code cell of the notebook at `path` ran, and none to an error."""
    if not path.is_file():
        raise ExperimentError(
            f"{path.name} has not been executed: {path} is missing. Run `python -m privlib.experiments run` first"
        )
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                raise ExperimentError(
                    f"{path.name} stopped with {output['ename']}: {output['evalue']} (code cell {number})"
                )
        if cell["execution_count"] is None and "".join(cell["source"]).strip():
            raise ExperimentError(f"{path.name} has not been run to its end: code cell {number} was never executed")


def bring_scripts(book: Path) -> None:
    """Put MathJax where _config.yml expects it, checked by SHA-256."""
    target = book / VENDOR / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(assets.path(MATHJAX, MATHJAX_SHA256), target / Path(MATHJAX).name)


class _Loads(HTMLParser):
    """Collects what a page makes the browser fetch, as (tag, address); links that are clicked are not among it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "link" and not set(given.get("rel", "").split()) & {"canonical", "next", "prev", "index", "search"}:
            self.found.append((tag, given.get("href", "")))
        elif tag in {"script", "img", "iframe", "audio", "video", "source", "embed"}:
            self.found.append((tag, given.get("src", "")))
        elif tag == "object":
            self.found.append((tag, given.get("data", "")))


def outside_loads(html: Path) -> list[str]:
    """Everything below `html` that would make a browser ask another server, as 'page: tag address'."""
    found = []
    for page in sorted(html.rglob("*.html")):
        parser = _Loads()
        parser.feed(page.read_text(encoding="utf-8"))
        found += [
            f"{page.relative_to(html)}: {tag} {address}"
            for tag, address in parser.found
            if re.match(r"(https?:)?//", address)
        ]
    for sheet in sorted(html.rglob("*.css")):
        text = sheet.read_text(encoding="utf-8", errors="replace")
        found += [
            f"{sheet.relative_to(html)}: {address}"
            for address in re.findall(r"(?:@import\s+|url\()\s*['\"]?((?:https?:)?//[^'\")\s]+)", text)
        ]
    return found


def build(book: Path, config: Path, out: Path) -> Path:
    """Render the sources in `book` strictly into `out`/html and return its start page.

    Raises ExperimentError when a notebook in the table of contents is missing, unfinished or ended in
    an error, when the builder warns (dead references included), or when a page loads from another server.
    A failed build leaves no pages behind.
    """
    book, config, out = book.resolve(), config.resolve(), out.resolve()
    html, work = out / "html", out / "work"
    for old in (html, work):
        shutil.rmtree(old, ignore_errors=True)
    toc = book / "_toc.yml"
    names = pages(toc)
    for name in names:
        if name.startswith("_generated/"):
            check_executed(book / f"{name}.ipynb")
    bring_scripts(book)
    (book / "_extra").mkdir(exist_ok=True)
    work.mkdir(parents=True)

    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(book)]
    command += ["--config", str(config), "--toc", str(toc), "--path-output", str(work)]
    command += ["-W", "-n", "--keep-going", "--all", "-q"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    rendered = work / "_build" / "html"
    missing = [name for name in names if not (rendered / f"{name}.html").is_file()]
    if run.returncode or missing:
        complaints = [line for line in run.stderr.splitlines() if re.search(r"WARNING|ERROR|CRITICAL|Error", line)]
        said = "\n".join(complaints or [run.stdout[-3000:], run.stderr[-3000:]])
        raise ExperimentError(f"the strict build of {book} failed:\n{said}")
    if loads := outside_loads(rendered):
        raise ExperimentError("pages would load from outside:\n" + "\n".join(loads))
    rendered.rename(html)
    shutil.rmtree(work)
    return html / f"{names[0]}.html"
