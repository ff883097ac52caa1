"""`make lab` as a student meets it: JupyterLab opens, Run All, the last figure is there, and a slider moves it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import page_checks
import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.name for path in (ROOT / "notebooks/lab").glob("*.ipynb"))
PATIENCE_MS = 180_000
FIGURE = ".jp-OutputArea-output .widget-vbox svg, .jp-OutputArea-output .widget-vbox img"
# the line of numbers and the figure of a box of sliders; one slider may move only the numbers
TOLD = "(box) => [...box.querySelectorAll('.widget-html-content')].map((part) => part.innerHTML).join()"
# every code cell has run and the kernel rests
DONE = """(cells) => {
  const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")].map((e) => e.textContent.trim());
  const idle = document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status === "idle";
  return idle && prompts.length === cells && prompts.every((prompt) => /^\\[\\d+\\]:$/.test(prompt));
}"""


def _command(notebooks: Path, port: int) -> list[str]:
    """The command of `make lab`, on copies of the notebooks, without a window and without a token."""
    said = subprocess.run(["make", "-n", "lab"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in said.splitlines() if "jupyter lab" in line]
    words = shlex.split(line)
    assert "--notebook-dir=notebooks" in words
    words = [f"--notebook-dir={notebooks}" if word == "--notebook-dir=notebooks" else word for word in words]
    return [
        *words,
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
    ]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of a running JupyterLab; ended with all its kernels."""
    place = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks/lab", place / "notebooks/lab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(place / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"IPYTHONDIR": str(place / "ipython"), "OMP_NUM_THREADS": "1"}
    with open(place / "log", "w") as log:
        server = subprocess.Popen(
            _command(place / "notebooks", port),
            cwd=ROOT,
            env=os.environ | own,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    address, patience = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE_MS / 1000
    while True:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5).close()
            break
        except OSError:
            if server.poll() is not None or time.monotonic() > patience:
                pytest.fail(f"JupyterLab does not answer:\n{(place / 'log').read_text()[-3000:]}", pytrace=False)
            time.sleep(0.2)
    yield address
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(30)


def _wait_for_the_kernel(page, lab: str, name: str, code: int) -> None:
    """Until the server says that the notebook's kernel rests and a page listens to it, and the page says so as well.

    The page alone is no witness: its indicator reads "idle" before there is a kernel, and Run All is lost then.
    """
    patience = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < patience:
        with urllib.request.urlopen(f"{lab}/api/sessions", timeout=30) as answer:
            kernels = [session["kernel"] for session in json.load(answer) if session["path"] == f"lab/{name}"]
        if any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels):
            break
        page.wait_for_timeout(200)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    page.wait_for_function(
        "(cells) => document.querySelectorAll('.jp-CodeCell .jp-InputPrompt').length === cells", arg=code
    )


def test_make_lab_opens_a_page_that_is_there():
    command = " ".join(_command(Path("notebooks"), 1))
    assert any(f"/lab/tree/lab/{name}" in command for name in PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_run_all_draws_every_figure_and_a_slider_moves_it(browser, lab, name):
    cells = json.loads((ROOT / "notebooks/lab" / name).read_text(encoding="utf-8"))["cells"]
    code = sum(cell["cell_type"] == "code" for cell in cells)
    context = browser.new_context(viewport=page_checks.DESKTOP)
    page, outside = context.new_page(), []
    page.set_default_timeout(PATIENCE_MS)
    page.on("request", lambda asked: None if page_checks.is_local(asked.url) else outside.append(asked.url))
    page.goto(f"{lab}/lab/tree/lab/{name}?reset")  # without the tabs of the page before
    _wait_for_the_kernel(page, lab, name, code)
    page.locator(".lm-MenuBar-item", has_text="Run").click()
    page.locator(".lm-Menu-item[data-command='runmenu:run-all']").click()
    page.wait_for_function(DONE, arg=code)
    assert page.locator("[data-mime-type='application/vnd.jupyter.error'], .jp-mod-error").count() == 0
    page.locator(FIGURE).last.wait_for()
    box = page.locator(".jp-OutputArea-output .widget-vbox").first
    slider = box.locator(".noUi-handle").first
    readout = box.locator(".widget-readout").first
    before, shown = box.evaluate(TOLD), readout.inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"([box, before]) => ({TOLD})(box) !== before", arg=[box.element_handle(), before])
    assert readout.inner_text() != shown
    assert box.locator("svg, img").count() >= 1
    assert outside == []
    context.close()
