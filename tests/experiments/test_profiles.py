from __future__ import annotations

import nbformat
import pytest

from privlib.experiments.notebooks import parameters_of, read_source
from privlib.experiments.profiles import plan
from privlib.experiments.workspace import DataSource, ExperimentError

READ = "print(scale, epsilons, delta)"
MORE = "scale = 2.0\nepsilons = [1.0, 2.0]\ndelta = 1e-6\n"


def refused(bench, message, profile="smoke", **options):
    with pytest.raises(ExperimentError, match=message):
        plan(bench.workspace, profile, bench.packaged, **options)


def test_a_plan_holds_defaults_and_what_the_profile_sets(bench):
    bench.add("one", READ, parameters=MORE, yml="{delta: 1.0e-5, epsilons: [4.0]}")
    (job,) = plan(bench.workspace, "book", bench.packaged)
    assert job.parameters == {
        "profile": "book",
        "data": "packaged",
        "corpus": "none",
        "seed": 1,
        "scale": 2.0,
        "epsilons": [4.0],
        "delta": 1e-5,
    }


def test_a_folder_is_given_relative_to_the_checkout(bench, tmp_path):
    (tmp_path / "texts").mkdir()
    bench.add("one")
    data = DataSource.parse(str(tmp_path / "texts"), bench.workspace)
    (job,) = plan(bench.workspace, "smoke", data)
    assert job.parameters["data"] == "../texts"
    with pytest.raises(ExperimentError, match="DATA must be"):
        DataSource.parse("no-such-folder", bench.workspace)


@pytest.mark.parametrize(
    ("yml", "message"),
    [
        ("{scael: 1.0}", "one has no parameter scael; it has profile, data"),
        ("{delta: 1e-6}", r"one.delta must be float, got str '1e-6' \(YAML reads 1e-6 as a string: write 1.0e-6\)"),
        ("{scale: 2}", "one.scale must be float, got int 2"),
        ("{seed: 1.0}", "one.seed must be int, got float"),
        ("{seed: true}", "one.seed must be int, got bool"),
        ("{corpus: 3}", "one.corpus must be str, got int"),
        ("{epsilons: 1.0}", "one.epsilons must be list"),
        ("{epsilons: [1.0, 2]}", "one.epsilons must hold float, got int 2"),
        ("{scale: 1.0, scale: 2.0}", "repeated key scale"),
        ("{profile: book}", "profile must be 'smoke' or left out"),
        ("{data: hub}", "data must be 'packaged' or left out"),
        ("[1]", "must map parameters to values"),
    ],
)
def test_parameters_that_papermill_would_let_through_are_refused(bench, yml, message):
    bench.add("one", READ, parameters=MORE, yml=yml)
    refused(bench, message)


def test_profile_files_are_read_strictly(bench):
    bench.add("one")
    file = bench.workspace.profiles / "one.yml"
    file.write_text("smoke: {packaged: {}}\nquick: {packaged: {}}\n")
    refused(bench, "must map some of smoke, book, record, paper")
    file.write_text("smoke: {pakaged: {}}\n")
    refused(bench, "must map some of packaged, folder, hub")
    file.write_text("smoke: {folder: {}}\n")
    refused(bench, "has no section smoke: packaged:")
    file.write_text("smoke: {packaged: {}\n")
    refused(bench, "one.yml")
    file.unlink()
    refused(bench, "one has no profile file")


def test_long_profiles_may_leave_a_notebook_out_but_not_all(bench):
    bench.add("one")
    refused(bench, "no notebook .* has a section record: packaged:", profile="record")
    refused(bench, "PROFILE must be one of", profile="quick")


def test_a_profile_without_a_notebook_is_noticed(bench):
    bench.add("one")
    bench.profile("gone", "{}")
    refused(bench, "profiles without a notebook: gone")
    assert [job.name for job in plan(bench.workspace, "smoke", bench.packaged, ["one"])] == ["one"]
    refused(bench, "no notebook two", only=["two"])


def test_sources_that_may_not_run(bench, tmp_path):
    path = tmp_path / "n.ipynb"

    def source(message, cells=(("parameters", bench.PARAMETERS),), **options):
        bench.write(path, list(cells), **options)
        with pytest.raises(ExperimentError, match=message):
            read_source(path)

    source("exactly one code cell tagged 'parameters', found 0", tags=())
    source("injected-parameters.*executed copy", tags=("parameters", "injected-parameters"))
    source("kernelspec.name must be 'python3'", kernelspec={"name": "ir", "display_name": "R"})
    source("lacks corpus, seed", [("parameters", 'profile = "smoke"\ndata = "packaged"')])
    source("no cell reads the parameter unused", [("parameters", bench.PARAMETERS + "unused = 1")])
    source(
        "assigns the parameter seed again",
        [("parameters", bench.PARAMETERS), ("later", "for seed in range(3):\n    pass")],
    )
    source("cell 'later' does not parse", [("parameters", bench.PARAMETERS), ("later", "x = (")])
    source("may only assign literals", [("parameters", bench.PARAMETERS + "import os")])
    source("must be literals", [("parameters", bench.PARAMETERS + "x = seed + 1")])
    source("assign each plain name once", [("parameters", bench.PARAMETERS + "seed = 2")])
    source("is None and has no type", [("parameters", bench.PARAMETERS + "limit = None")])
    source("must be a list", [("parameters", bench.PARAMETERS + "limit = (1, 2)")])


def test_a_source_with_outputs_is_refused(bench):
    bench.add("one", "1 + 1")
    path = bench.workspace.notebooks / "one.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].execution_count = 3
    nbformat.write(notebook, path)
    refused(bench, "committed with outputs or execution counts")
    path.write_text("{}")
    refused(bench, "not a valid notebook")


def test_an_annotation_widens_what_a_parameter_accepts():
    values, types = parameters_of("limit: int | None = None\nx = -float('inf')\nd = {'a': [1.0]}", "n")
    assert values == {"limit": None, "x": float("-inf"), "d": {"a": [1.0]}}
    assert types["limit"] == (int, type(None))
    with pytest.raises(ExperimentError, match="may be annotated with"):
        parameters_of("limit: Path = None", "n")


def test_a_name_used_inside_functions_and_comprehensions_is_its_own(bench, tmp_path):
    path = tmp_path / "n.ipynb"
    cell = "rows = [seed for seed in range(3)]\ndef draw():\n    corpus = 1\n    return corpus"
    bench.write(path, [("parameters", bench.PARAMETERS), ("later", cell)])
    assert read_source(path).defaults["seed"] == 1
