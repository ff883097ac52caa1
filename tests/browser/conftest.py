"""A browser, the built book, and a server for it."""

from __future__ import annotations

import functools
import os
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))  # chromium and page_checks; tests are no package

import chromium  # noqa: E402


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once. Fails (never skips) where there is none, with the command that brings one."""
    try:
        executable = chromium.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=list(chromium.FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def book() -> Path:
    """Folder of the rendered book: $PRIVLIB_BOOK, else what `make test` built, else what `make book` built."""
    named = os.environ.get("PRIVLIB_BOOK")
    places = [Path(named)] if named else [ROOT / ".cache/smoke-book/html", ROOT / "book/_build/html"]
    for place in places:
        if (place / "index.html").is_file():
            return place.resolve()
    pytest.fail(f"no rendered book in {' or '.join(map(str, places))}: run `make smoke`", pytrace=False)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def serve():
    """Function that serves a folder on 127.0.0.1 and returns its address."""
    servers = []

    def start(folder: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
