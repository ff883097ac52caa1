"""What the builder of the book learns from us: numbered statements, their tests, footers, redirects.

`setup` is the Sphinx extension that `_config.yml` names. Everything it refuses is a warning of the builder,
and the strict build turns each of them into a failure.
"""

from __future__ import annotations

from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Register the parts with Sphinx."""
    from privlib.experiments.pages import backing, footing, images, statements

    for part in (statements, backing, footing, images):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
