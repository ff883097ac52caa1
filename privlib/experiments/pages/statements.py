"""Directives for numbered statements: theorem, proposition, corollary, definition, exercise, correction.

    :::{theorem} Laplace
    ---
    label: thm-laplace
    status: exact (law), sampled (every coordinate carries it), audited
    tests: >-
      tests/proofs/test_dp_additive.py::test_laplace_on_a_fine_grid_attains_its_epsilon_and_not_less
    ---
    Independent noise on every coordinate ...
    :::

A claim (theorem, proposition, corollary) must say on which rungs of the promise ladder it stands and name a
test that exists. A correction of a paper says how severe it is, and names a test. A definition may name tests;
an exercise names none, its answer is code that a test runs. Numbers run through the whole book in the order of
its contents; `{numref}` refers to them.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from privlib.experiments.ledger import test_exists
from privlib.experiments.pages.backing import BackedBy, remember
from privlib.experiments.workspace import Workspace

RUNGS = ("stated", "exact", "sampled", "audited", "not defended")
CLAIMS = ("theorem", "proposition", "corollary")
SEVERITIES = ("critical", "theoretical", "negligible")
KINDS = (*CLAIMS, "definition", "exercise", "correction")
LADDER = "ladder"  # label of the section that explains the rungs

logger = logging.getLogger(__name__)


class Statement(nodes.General, nodes.Element):
    """One numbered block; Sphinx numbers by class, so each kind has one of its own."""


class StatementTitle(nodes.General, nodes.TextElement):
    """Kind and number, written by the builder, and the title."""


NODES = {kind: type(kind.capitalize(), (Statement,), {"__module__": __name__}) for kind in KINDS}
globals().update({node.__name__: node for node in NODES.values()})  # Sphinx pickles documents: classes by name


def rungs(text: str) -> list[tuple[str, str]]:
    """Rungs with what stands on each: 'exact (law), audited' gives [('exact', 'law'), ('audited', '')].

    Raises ValueError for a word that is no rung, and for none at all.
    """
    found = []
    for part in re.split(rf",\s+(?=(?:{'|'.join(RUNGS)})\b)", " ".join(text.split())):
        match = re.fullmatch(rf"({'|'.join(RUNGS)})(?: \((.+)\))?", part)
        if match is None:
            raise ValueError(
                f"status must list rungs ({', '.join(RUNGS)}), each with or without (a note), got {part!r}"
            )
        found.append((match[1], match[2] or ""))
    return found


class StatementDirective(SphinxDirective):
    """A block with a number and a title; what it must say of itself depends on its kind (the directive's name)."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = dict.fromkeys(
        ("label", "status", "severity", "tests"), directives.unchanged
    )

    def run(self) -> list[nodes.Node]:
        kind, title = self.name, self.arguments[0]
        tests = self.options.get("tests", "").split()
        for complaint in self._complaints(kind, tests):
            logger.warning("%s %r: %s", kind, title, complaint, location=self.get_location())
        block = NODES[kind]()
        self.set_source_info(block)
        block["title"] = title
        block += StatementTitle(title, "", *self._inline(title))
        self.state.nested_parse(self.content, self.content_offset, block)
        if "status" in self.options:
            block += self._status()
        if "severity" in self.options:
            severity = self.options["severity"]
            block += nodes.paragraph("", "Severity: ", nodes.strong(severity, severity), nodes.Text("."))
        if tests:
            block += BackedBy.paragraph(tests)
        if label := self.options.get("label"):
            block["names"].append(nodes.fully_normalize_name(label))
            self.state.document.note_explicit_target(block, block)
            remember(self.env, tests, kind, block["ids"][0])
        return [block]

    def _complaints(self, kind: str, tests: list[str]) -> list[str]:
        found = [] if self.options.get("label") else ["needs a label"]
        if kind in CLAIMS:
            try:
                rungs(self.options.get("status", ""))
            except ValueError as error:
                found.append(str(error))
        elif "status" in self.options:
            found.append("only a claim has a status")
        if (kind == "correction") != (self.options.get("severity") in SEVERITIES):
            found.append(f"a correction, and nothing else, has a severity: {', '.join(SEVERITIES)}")
        if kind in (*CLAIMS, "correction") and not tests:
            found.append("names no test")
        root = Workspace.default().root
        return found + [f"no such test: {node}" for node in tests if not test_exists(root, node)]

    def _status(self) -> nodes.paragraph:
        line = nodes.paragraph(classes=["statement-status"])
        line += nodes.Text("Status: ")
        try:
            stands = rungs(self.options["status"])
        except ValueError:
            stands = []  # already complained of
        for number, (rung, what) in enumerate(stands):
            target = {"refdomain": "std", "reftype": "ref", "reftarget": LADDER, "refexplicit": True, "refwarn": True}
            link = addnodes.pending_xref("", refdoc=self.env.docname, **target)
            link += nodes.inline(rung, rung, classes=["rung", f"rung-{rung.replace(' ', '-')}"])
            line += [nodes.Text(", ")] * bool(number) + [link]
            if what:
                line += [nodes.Text(" ("), *self._inline(what), nodes.Text(")")]
        line += nodes.Text(".")
        return line

    def _inline(self, text: str) -> list[nodes.Node]:
        parsed, messages = self.state.inline_text(text, self.lineno)
        return [*parsed, *messages]


def _visit(translator: Any, node: Statement) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS=f"statement {type(node).__name__.lower()}"))


def _depart(translator: Any, node: Statement) -> None:
    translator.body.append("</div>\n")


def _visit_title(translator: Any, node: StatementTitle) -> None:
    translator.body.append('<p class="statement-title">')
    translator.add_fignumber(node.parent)


def _depart_title(translator: Any, node: StatementTitle) -> None:
    translator.add_permalink_ref(node.parent, "Link to this statement")
    translator.body.append("</p>\n")


def setup(app: Any) -> None:
    for kind, node in NODES.items():
        app.add_directive(kind, StatementDirective)
        app.add_enumerable_node(node, kind, lambda block: block["title"], html=(_visit, _depart))
    app.add_node(StatementTitle, html=(_visit_title, _depart_title))
    app.connect("config-inited", _name_numbers)


def _name_numbers(app: Any, config: Any) -> None:
    for kind in KINDS:
        config.numfig_format.setdefault(kind, f"{kind.capitalize()} %s")
