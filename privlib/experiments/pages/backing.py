"""Links from a statement to the tests behind it, and the page that shows these tests.

`{tests-behind-statements}` stands on one page of the book; it lists every test that a statement names, with
what it says of itself, its source, the command that runs it, and the statements that it backs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from privlib.experiments.workspace import Workspace


class BackedBy(nodes.Inline, nodes.TextElement):
    """Place of the link to one test; becomes a link once all pages are read."""

    @classmethod
    def paragraph(cls, tests: Iterable[str]) -> nodes.paragraph:
        line = nodes.paragraph(classes=["statement-tests"])
        line += nodes.Text("Tests: ")
        for number, node in enumerate(tests):
            line += [nodes.Text(", ")] * bool(number) + [cls(test=node)]
        return line


class TestsBehind(nodes.General, nodes.Element):
    """Place of the list; filled once all pages are read."""


class TestsBehindDirective(SphinxDirective):
    """Marks the page that holds the list."""

    def run(self) -> list[nodes.Node]:
        self.env.privlib_tests_page = self.env.docname
        return [TestsBehind()]


def remember(env: Any, tests: Iterable[str], kind: str, id: str) -> None:
    """Note that the statement `id` on the page being read names these tests."""
    if not hasattr(env, "privlib_backing"):
        env.privlib_backing = {}
    for node in tests:
        env.privlib_backing.setdefault(node, []).append((env.docname, kind, id))


def anchor(node: str) -> str:
    """Anchor of a test on the list: file and function without parameters."""
    file, _, function = node.partition("[")[0].partition("::")
    return nodes.make_id(f"{Path(file).stem}-{function}")


@cache
def _functions(path: Path) -> dict[str, tuple[str, str]]:
    """Name -> (what it says of itself, source) of the test functions and methods of a file."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {}

    def take(body: Iterable[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                take(node.body, f"{node.name}::")
            elif isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
                source = "\n".join(lines[first - 1 : node.end_lineno])
                found[prefix + node.name] = (ast.get_docstring(node) or "", source)

    take(ast.parse(text).body, "")
    return found


def _link_tests(app: Any, doctree: nodes.document, docname: str) -> None:
    page = getattr(app.env, "privlib_tests_page", None)
    for place in list(doctree.findall(BackedBy)):
        name = place["test"].partition("::")[2] or place["test"]
        shown = nodes.literal(name, name)
        if page is None:
            place.replace_self(shown)
            continue
        where = f"{app.builder.get_relative_uri(docname, page)}#{anchor(place['test'])}"
        place.replace_self(nodes.reference("", "", shown, internal=True, refuri=where))
    for place in list(doctree.findall(TestsBehind)):
        place.replace_self(_list(app, docname))


def _list(app: Any, docname: str) -> list[nodes.Node]:
    backing = getattr(app.env, "privlib_backing", {})
    return [_entry(app, docname, node, backing[node]) for node in sorted(backing)]


def _entry(app: Any, docname: str, node: str, backed: list[tuple[str, str, str]]) -> nodes.container:
    file, _, function = node.partition("[")[0].partition("::")
    says, source = _functions(Workspace.default().root / file).get(function, ("", ""))  # the missing were warned of
    backs = nodes.paragraph("", "Backs ")
    numbered = [
        (kind, app.env.toc_fignumbers.get(page, {}).get(kind, {}).get(id, ()), page, id) for page, kind, id in backed
    ]
    for number, (kind, digits, page, id) in enumerate(sorted(numbered)):
        label = app.config.numfig_format[kind] % ".".join(map(str, digits))
        where = f"{app.builder.get_relative_uri(docname, page)}#{id}"
        backs += [nodes.Text(", ")] * bool(number) + [nodes.reference("", label, internal=True, refuri=where)]
    title = function.replace("_", " ").removeprefix("test ")
    entry = nodes.container(ids=[anchor(node)], classes=["test-behind"])
    entry += nodes.paragraph("", "", nodes.strong(title, title))
    entry += [nodes.paragraph(says, " ".join(says.split()))] * bool(says)
    entry += [backs, nodes.paragraph("", "", nodes.literal("", f"pytest {file}::{function}"))]
    entry += nodes.raw("", "<details><summary>Source</summary>", format="html")
    entry += nodes.literal_block(source, source, language="python")
    entry += nodes.raw("", "</details>", format="html")
    return entry


def setup(app: Any) -> None:
    app.add_node(BackedBy)
    app.add_node(TestsBehind)
    app.add_directive("tests-behind-statements", TestsBehindDirective)
    app.connect("doctree-resolved", _link_tests)
