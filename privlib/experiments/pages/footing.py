"""Version and commit at the foot of every page, and pages that lead on from addresses that have moved."""

from __future__ import annotations

import os
import subprocess
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from privlib.experiments.workspace import Workspace

REDIRECTS = "redirects.yml"  # in the book's folder: old page -> page, both without suffix


def made_from(root: Path) -> str:
    """'privlib 0.1.0, commit 1a2b3c' of a checkout, with a word where files differ from it or no commit is known."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty=+changes", "--abbrev=12", "--exclude=*"]
    reading_only = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=reading_only)
    except (OSError, subprocess.CalledProcessError):
        return f"privlib {version('privlib')}, commit not known"
    commit, _, changed = run.stdout.strip().partition("+")
    return f"privlib {version('privlib')}, commit {commit}" + (" with changes" if changed else "")


def redirect(target: str) -> str:
    """A page that leads on to `target`; readers without a refresh find a link."""
    where = escape(target)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Moved</title>'
        f'<meta http-equiv="Refresh" content="0; url={where}"></head>'
        f'<body><p>This page has moved: <a href="{where}">{where}</a>.</p></body></html>\n'
    )


def read_redirects(path: Path) -> dict[str, str]:
    """Old page -> page of the redirects file; nothing where there is no file. Raises ValueError for another shape."""
    import yaml

    found = (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.is_file() else {}
    if not isinstance(found, dict) or not all(isinstance(n, str) for pair in found.items() for n in pair):
        raise ValueError(f"{path.name} must map an old page to a page, both without suffix")
    return found


def _say(app: Any, config: Any) -> None:
    config.html_theme_options["extra_footer"] = f"<p>Built from {escape(made_from(Workspace.default().root))}.</p>"


def _write_redirects(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    from sphinx.errors import ExtensionError

    for old, new in read_redirects(Path(app.srcdir) / REDIRECTS).items():
        page = Path(app.outdir) / f"{old}.html"
        if new not in app.env.found_docs or old in app.env.found_docs:
            raise ExtensionError(f"{REDIRECTS}: {old!r} must be no page and {new!r} one")
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * old.count("/")
        page.write_text(redirect(f"{up}{new}.html"), encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("config-inited", _say)
    app.connect("build-finished", _write_redirects)
