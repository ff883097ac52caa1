from __future__ import annotations

import dataclasses
import json

import pandas as pd
import pytest

from privlib import experiments
from privlib.experiments.regression import accept, check, compare, grid_columns, within
from privlib.experiments.workspace import DataSource, ExperimentError


def make(mean=(0.5, 0.25), exact=(0.125, 4.0), laws=("a", "b"), draws=(3, 3), **changes):
    rows = pd.DataFrame({"epsilon": [1.0, 2.0], "law": laws, "exact": exact, "mean": mean, "draws": draws})
    rows = rows[["epsilon", "law", "mean", "draws", "exact"]]
    given = dict(id="tiny", title="T", rows=rows, parameters={"x": 1}, seed=1, bands={"mean": ("rel", 0.1)})
    return experiments.record(**(given | changes))


@pytest.mark.parametrize(
    ("old", "new", "band", "agrees"),
    [
        (1.0, 1.0999, ("rel", 0.1), True),
        (1.0, 1.1001, ("rel", 0.1), False),
        (-1.0, -1.0999, ("rel", 0.1), True),
        (0.0, 1e-12, ("rel", 0.1), False),
        (0.0, 0.0999, ("abs", 0.1), True),
        (0.0, 0.1001, ("abs", 0.1), False),
        (10, 11, ("abs", 1), True),
        (1.0, 1.0 + 1e-10, None, True),
        (1.0, 1.0 + 1e-8, None, False),
        (0.0, 1e-300, None, False),
        (10, 11, None, False),
        (1, 1.0, None, False),
        (True, 1, None, False),
        ("a", "b", ("abs", 9.0), False),
        (float("inf"), float("inf"), ("rel", 0.1), True),
        (float("inf"), 1e300, ("abs", 1e300), False),
    ],
)
def test_bands(old, new, band, agrees):
    assert within(old, new, band) is agrees


def test_in_band_passes_and_out_of_band_fails_readably():
    assert compare(make(), make(mean=(0.54, 0.24))) == []
    (line,) = compare(make(), make(mean=(0.56, 0.25)))
    assert line == (
        "record tiny, row epsilon=1, law=a: column mean recorded 0.5, fresh 0.56, tolerance 0.1 of the recorded value"
    )
    (line,) = compare(make(), make(exact=(0.125, 4.1)))
    assert "row epsilon=2, law=b: column exact recorded 4.0, fresh 4.1, tolerance 1e-09 relative" in line
    assert "tolerance none (exact)" in compare(make(), make(draws=(3, 4)))[0]


def test_rows_and_statements_must_match():
    assert "1 recorded rows are missing, first epsilon=2, law=b" in compare(make(), make(laws=("a", "c")))[0]
    fewer = dataclasses.replace(make(), values=make().values[:1])
    assert "recorded rows are missing" in compare(make(), fewer)[0]
    assert "rows are new" in compare(fewer, make())[0]
    assert "seed recorded 1, fresh 2" in compare(make(), make(seed=2))[0]
    assert "parameters" in compare(make(), make(parameters={"x": 2}))[0]
    assert "guarantee" in compare(make(), make(guarantee=["(1, 0)-DP"]))[0]
    assert "bands" in compare(make(), make(bands={"mean": ("rel", 0.9)}))[0]
    more_columns = make(rows=make().rows.assign(extra=1))
    assert "columns" in compare(make(), more_columns)[0]


def test_rows_without_a_grid_of_their_own_match_by_place():
    same = make(laws=("a", "a"), rows=pd.DataFrame({"law": ["a", "a"], "mean": [1.0, 2.0]}))
    assert grid_columns(same) == ("law",)
    assert compare(same, same) == []
    assert "rows recorded" in compare(same, dataclasses.replace(same, values=same.values[:1]))[0]


def test_a_long_list_of_differences_is_cut():
    rows = pd.DataFrame({"x": range(20), "mean": [1.0] * 20})
    lines = compare(make(rows=rows), make(rows=rows.assign(mean=2.0)))
    assert len(lines) == 7
    assert "14 more cells" in lines[-1]


def fresh(bench, made, *, complete=True, data="packaged", profile="smoke", notebooks=()):
    """Put a record where a run would have left it."""
    folder = bench.workspace.generated / "records"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*"):
        path.unlink()
    if made is not None:
        made = dataclasses.replace(made, data=data, profile=profile)
        (folder / f"{made.id}.json").write_text(made.to_json())
    state = {"profile": profile, "data": data, "complete": complete, "notebooks": dict.fromkeys(notebooks, "key")}
    (bench.workspace.generated / "run.json").write_text(json.dumps(state))


def test_check_and_accept(bench, command, capsys):
    fresh(bench, make())
    assert command("check") == 1
    assert (
        "DIFFERS record tiny: nothing recorded at book/recorded/smoke/closed-form/tiny.json" in capsys.readouterr().err
    )
    assert command("accept") == 0
    assert command("accept") == 0
    assert "0 files changed" in capsys.readouterr().out
    assert command("check") == 0
    assert "1 records compared, 0 differences" in capsys.readouterr().out

    recorded = bench.workspace.recorded / "smoke" / "closed-form" / "tiny.json"
    before = recorded.read_bytes()
    recorded.write_text(recorded.read_text().replace("0.25", "0.35"))
    assert command("check") == 1
    assert "column mean recorded 0.35, fresh 0.25" in capsys.readouterr().err
    recorded.write_bytes(before)

    fresh(bench, make(id="other"))
    assert command("check") == 1
    assert "tiny.json, not made by this run" in capsys.readouterr().err
    assert command("accept") == 0
    assert [path.name for path in bench.workspace.recorded.rglob("*.json")] == ["other.json"]


def test_a_record_with_parameters_of_its_own_is_neither_compared_nor_removed(bench, command):
    fresh(bench, make())
    assert command("accept") == 0
    own = dataclasses.replace(make(id="own"), profile="smoke", changed=("x=2",))
    path = bench.workspace.recorded / "smoke" / "closed-form" / "own.json"
    path.write_text(own.to_json())
    assert check(bench.workspace, "smoke", bench.packaged).differences == []
    assert command("accept") == 0
    assert path.exists()


def test_a_folder_run_is_kept_by_accept_and_leaves_packaged_records_alone(bench, tmp_path):
    folder = DataSource.parse(str(tmp_path), bench.workspace)
    fresh(bench, make())
    accept(bench.workspace, "smoke", bench.packaged)
    fresh(bench, make(mean=(0.9, 0.9)), data="folder")  # a closed form: it belongs to the packaged run
    assert accept(bench.workspace, "smoke", folder) == []
    fresh(bench, dataclasses.replace(make(id="tiny-folder"), corpus="cfpb"), data="folder")
    result = check(bench.workspace, "smoke", folder)
    assert result.differences == []
    assert "nothing recorded" in result.notices[0]
    accept(bench.workspace, "smoke", folder)
    assert len(list(bench.workspace.recorded.rglob("*.json"))) == 2
    assert check(bench.workspace, "smoke", folder).compared == 1


def test_check_takes_the_run_at_hand_by_default(bench, command, capsys):
    fresh(bench, make(), profile="book", data="folder")
    assert command("check") == 0
    assert "0 records compared" in capsys.readouterr().out
    fresh(bench, make(), profile="book")
    assert accept(bench.workspace, "book", bench.packaged)
    assert command("check") == 0
    assert "1 records compared, 0 differences" in capsys.readouterr().out
    assert command("check", "--profile", "smoke") == 2
    assert "holds profile book on packaged data, not smoke on packaged" in capsys.readouterr().err
    assert command("check", "--data", "hub") == 2


def test_one_notebook_of_a_partial_run_is_compared_alone(bench, command, capsys):
    """Its records only: neither a record that another one made nor one that another one did not make is told."""
    other = dataclasses.replace(make(id="other"), notebook="second")
    lost = dataclasses.replace(make(id="lost"), notebook="third")
    for made in (make(), lost):
        fresh(bench, made)
        folder = bench.workspace.recorded / "smoke" / "closed-form"
        folder.mkdir(parents=True, exist_ok=True)
        committed = dataclasses.replace(made, profile="smoke", data="packaged")
        (folder / f"{made.id}.json").write_text(committed.to_json())
    fresh(bench, make(), complete=False, notebooks=["interactive", "second"])
    beside = dataclasses.replace(other, profile="smoke", data="packaged")
    (bench.workspace.generated / "records" / "other.json").write_text(beside.to_json())
    assert command("check", "--only", "interactive") == 0
    assert "1 records compared, 0 differences" in capsys.readouterr().out
    assert command("check", "--only", "interactive", "--only", "second") == 1
    assert "record other: nothing recorded" in capsys.readouterr().err
    assert command("check") == 2
    assert "not complete" in capsys.readouterr().err
    assert command("check", "--only", "third") == 2
    assert "does not hold third" in capsys.readouterr().err


def test_only_a_whole_run_of_the_same_profile_is_compared(bench):
    fresh(bench, make(), complete=False)
    with pytest.raises(ExperimentError, match="not complete"):
        check(bench.workspace, "smoke", bench.packaged)
    with pytest.raises(ExperimentError, match="holds profile smoke on packaged data, not book"):
        check(bench.workspace, "book", bench.packaged)
