"""What the pages with sliders bring along: checked against committed sums, whole, and told where it is missing."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from privlib.experiments import live, vendor
from privlib.experiments.live.twins import TWINS
from privlib.experiments.workspace import ExperimentError, Workspace

ROOT = Path(__file__).resolve().parents[2]
SUMS = vendor.SCRIPTS | vendor.CORE | vendor.PACKED | {vendor.LOCK: vendor.LOCK_SHA256}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A checkout with the real library and records, an empty cache, and a stand-in for Vega, which takes seconds."""
    monkeypatch.setattr(vendor, "vega", lambda: "vega")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "book").mkdir()
    (tmp_path / "book/recorded").symlink_to(ROOT / "book/recorded")
    return Workspace(tmp_path)


def _wheel(workspace, **changed):
    """A wheel that holds a stand-in for each file of Pyodide; returns the sums of its files."""
    files = {name: f"stand-in for {name}".encode() for name in SUMS}
    packages = {name: {"file_name": f"{name}.whl"} for name in (*vendor.PACKAGES, "pandas")}
    files[vendor.LOCK] = json.dumps({"packages": packages}).encode()
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files |= changed
    place = workspace.root / ".cache/live" / vendor.WHEEL
    place.parent.mkdir(parents=True)
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in files.items():
            if content is not None:
                archive.writestr(vendor.INSIDE + name, content)
    return sums


def _expect_sums(monkeypatch, sums):
    for group in ("SCRIPTS", "CORE", "PACKED"):
        monkeypatch.setattr(vendor, group, {name: sums[name] for name in getattr(vendor, group)})
    monkeypatch.setattr(vendor, "LOCK_SHA256", sums[vendor.LOCK])
    monkeypatch.setattr(vendor, "own_wheel", lambda workspace: ("privlib.whl", b"privlib"))


def _data(folder):
    head, body = (folder / "data.js").read_text(encoding="utf-8").split(" = ", 1)
    assert head == "window.privlibLive"
    return json.loads(body.rstrip().rstrip(";"))


def test_the_wheel_is_the_one_that_is_pinned_and_sums_are_sums():
    pins = (ROOT / "requirements-live.txt").read_text(encoding="utf-8")
    name, version = re.search(r"^([\w-]+)==(\S+) --hash=sha256:[0-9a-f]{64}$", pins, re.MULTILINE).groups()
    assert vendor.WHEEL.startswith(f"{name.replace('-', '_')}-{version}-")
    assert all(re.fullmatch(r"[0-9a-f]{64}", expected) for expected in SUMS.values())
    assert len(set(SUMS.values())) == len(SUMS)


def test_every_file_is_brought_and_listed(workspace, tmp_path, monkeypatch):
    _expect_sums(monkeypatch, _wheel(workspace))
    folder = tmp_path / "live"
    assert vendor.bring(workspace, folder) == workspace.root / ".cache/live" / vendor.WHEEL
    bundle = _data(folder)["bundle"]
    listed = [*bundle["scripts"], *(f"{name}.js" for name in (*bundle["core"], *bundle["packages"]))]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*listed, "data.js", "vega.js"])
    assert bundle["bytes"] == sum((folder / name).stat().st_size for name in listed)
    assert bundle["privlib"] == "privlib.whl"
    assert set(bundle["lock"]["packages"]) == set(vendor.PACKAGES)


@pytest.mark.parametrize("name", SUMS)
def test_a_changed_file_is_refused(workspace, tmp_path, monkeypatch, name):
    _expect_sums(monkeypatch, _wheel(workspace, **{name: b"something else"}))
    with pytest.raises(ExperimentError, match=rf"{re.escape(name)} in .* has SHA-256 .*, expected [0-9a-f]{{64}}"):
        vendor.bring(workspace, tmp_path / "live")


def test_a_missing_file_is_refused(workspace, tmp_path, monkeypatch):
    name = next(iter(vendor.PACKED))
    _expect_sums(monkeypatch, _wheel(workspace, **{name: None}))
    with pytest.raises(ExperimentError, match=f"cannot give {re.escape(name)}"):
        vendor.bring(workspace, tmp_path / "live")


def test_without_the_wheel_panels_and_grids_are_still_there(workspace, tmp_path):
    folder = tmp_path / "live"
    assert vendor.bring(workspace, folder) is None
    data = _data(folder)
    assert data["bundle"] == {"missing": True}
    assert set(data["panels"]) == set(live.PANELS)
    assert set(data["twins"]) == {twin.name for twin in TWINS}
    assert all(twin["rows"] and twin["made"] for twin in data["twins"].values())
    assert sorted(path.name for path in folder.iterdir()) == ["data.js", "vega.js"]


def test_what_an_earlier_book_brought_is_gone(workspace, tmp_path):
    (tmp_path / "live").mkdir()
    (tmp_path / "live/pyodide.js").write_text("old")
    vendor.bring(workspace, tmp_path / "live")
    assert not (tmp_path / "live/pyodide.js").exists()


def test_a_grid_without_a_record_fails_the_build(workspace, tmp_path):
    (workspace.book / "recorded").unlink()
    with pytest.raises(ExperimentError, match="no record 'plans-mass-retained' of profile record or book"):
        vendor.bring(workspace, tmp_path / "live")


def test_vega_is_one_classic_script():
    script = vendor.vega()
    assert "window.vegaEmbed" in script
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


@pytest.mark.book
def test_the_wheel_of_privlib_is_the_sources_and_the_same_twice(workspace):
    name, content = vendor.own_wheel(workspace)
    assert vendor.own_wheel(workspace) == (name, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        held = {entry for entry in archive.namelist() if entry.startswith("privlib/")}
        metadata = archive.read(next(n for n in archive.namelist() if n.endswith("METADATA"))).decode()
        for path in sorted((ROOT / "privlib").rglob("*.py")):
            assert archive.read(path.relative_to(ROOT).as_posix()) == path.read_bytes()
    assert "privlib/experiments/live/sketch.json" in held
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert [re.match(r"Requires-Dist: (\w+)", line)[1] for line in needed] == ["numpy", "scipy"]
