"""The rules of the house: which part may import which, how large a module may be, what an import costs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "privlib"
SYSTEMS = ("plans", "synthesis", "quantization")
BELOW = {  # what each part may import of privlib
    "assets": set(),
    "dp": {"dp"},
    "corpora": {"corpora", "assets"},
    "models": {"models", "assets", "dp"},
    **{system: {system, "dp"} for system in SYSTEMS},
    "evaluation": {"evaluation", "dp"},
    "baselines": {"baselines", "dp"},
    "experiments": {"experiments", "baselines", "evaluation", "models", "corpora", "assets", "dp", *SYSTEMS},
}
LIGHT = {"numpy", "scipy", "privlib"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST, path: Path) -> list[str]:
    """Absolute names of everything imported below `tree`; relative imports are resolved."""
    package = ["privlib", *path.relative_to(PACKAGE).with_suffix("").parts[:-1]]
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{stem}.{alias.name}" for alias in node.names]
    return names


def outside_functions(source: str) -> ast.Module:
    """The module without the bodies of functions and of `if TYPE_CHECKING`: what an import runs."""

    class Strip(ast.NodeTransformer):
        def visit_FunctionDef(self, node):
            return None

        visit_AsyncFunctionDef = visit_FunctionDef

        def visit_If(self, node):
            return None if "TYPE_CHECKING" in ast.unparse(node.test) else self.generic_visit(node)

    return Strip().visit(ast.parse(source))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_run_down_only(path):
    part = part_of(path)
    if part == "__init__":
        return
    for name in imports(ast.parse(path.read_text()), path):
        pieces = name.split(".")
        if pieces[0] == "privlib" and len(pieces) > 1 and pieces[1] in BELOW:
            assert pieces[1] in BELOW[part], f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_loads_with_numpy_and_scipy_alone(path):
    if part_of(path) not in {"assets", "dp", *SYSTEMS, "__init__"}:
        return
    for name in imports(outside_functions(path.read_text()), path):
        top = name.split(".")[0]
        assert top in LIGHT or top in sys.stdlib_module_names, f"{path.relative_to(ROOT)} imports {name} on loading"
        assert not name.startswith("scipy.stats"), f"{path.relative_to(ROOT)} loads scipy.stats, which costs 0.6 s"


def test_torch_is_imported_in_models_only():
    heavy = {"torch", "transformers", "sentence_transformers", "vec2text"}
    for path in modules():
        found = {name.split(".")[0] for name in imports(ast.parse(path.read_text()), path)} & heavy
        assert not found or part_of(path) == "models", f"{path.relative_to(ROOT)} imports {sorted(found)}"


def test_no_module_is_over_400_lines():
    long = {str(p.relative_to(ROOT)): n for p in modules() if (n := len(p.read_text().splitlines())) > 400}
    assert not long


def test_no_global_generator_in_the_library():
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith(("np.random.", "numpy.random.")):
                assert node.attr in {"Generator", "SeedSequence", "PCG64", "default_rng", "SFC64", "Philox"}, (
                    f"{path.relative_to(ROOT)}:{node.lineno} draws from numpy's global generator"
                )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> dict:
    """Environment in which Python keeps its bytecode, as an installation does; a folder of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


def _seconds(statement: str, environment: dict) -> float:
    """Smallest of four CPU times, each in a new interpreter, of a statement after numpy and scipy are loaded.

    CPU time, as a busy machine stretches the clock; an import that waits (for a network, a lock) fails other tests.
    The first of the four compiles the sources, which a user pays once and not at every import.
    """
    code = (
        "import numpy, scipy.special, scipy.optimize, scipy.sparse.csgraph, time; start = time.process_time(); "
        f"{statement}; print(time.process_time() - start)"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(4)]
    return min(float(run.stdout) for run in runs)


@pytest.mark.parametrize("name", ["privlib", "privlib.dp", *(f"privlib.{system}" for system in SYSTEMS)])
def test_import_is_quick(name, compiled):
    assert _seconds(f"import {name}", compiled) < 0.3


def test_the_core_works_where_only_numpy_and_scipy_are_installed(tmp_path):
    """A finder that refuses everything else stands in for a bare environment."""
    code = """
import sys
class Bare:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        stdlib = top in sys.stdlib_module_names or top.startswith("_")
        if not stdlib and top not in {"numpy", "scipy", "privlib"}:
            raise ModuleNotFoundError("bare environment: " + name)
sys.meta_path.insert(0, Bare())
import privlib
from privlib import dp, plans, synthesis, quantization
print(dp.gaussian_noise_std(1.0, 1e-6, 1.0))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    assert 3.5 < float(run.stdout) < 4.5


def test_the_clock_of_the_import_test_can_fail(compiled):
    assert _seconds("import scipy.stats, pandas", compiled) > 0.3
