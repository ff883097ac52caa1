"""Finds a Chromium to drive. As a command: prints its path, or says how to get one and exits with 1."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the network is cut for every page
)
HOW = "no Chromium found: install one (Debian: apt-get install chromium; else: .venv/bin/playwright install chromium)"


def find() -> str:
    """Path of the system's Chromium, else of playwright's own; raises FileNotFoundError saying how to get one."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if own and Path(own).exists():
        return own
    raise FileNotFoundError(HOW)


if __name__ == "__main__":
    try:
        print(find())
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
