"""Every picture says in words what it shows: one without alt text is a warning, which fails the strict build."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)
IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
ALT = re.compile(r"\balt\s*=\s*(\"[^\"]*\S[^\"]*\"|'[^']*\S[^']*')", re.IGNORECASE)


def unnamed(html: str) -> list[str]:
    """The <img> tags of a piece of HTML that have no alt text."""
    return [tag for tag in IMAGE.findall(html) if not ALT.search(tag)]


def _complain(app: Any, doctree: nodes.document, docname: str) -> None:
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("no alt text: %s", image.get("uri"), location=image)
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", "").split():
            for tag in unnamed(raw.astext()):
                logger.warning("no alt text: %s", tag[:80], location=raw)


def setup(app: Any) -> None:
    app.connect("doctree-resolved", _complain)
