from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import experiments
from privlib.dp import Guarantee
from privlib.experiments.records import Record, place_of, plain, read, restored
from privlib.experiments.workspace import Workspace

CORPUS = SimpleNamespace(
    name="Health News", provenance=SimpleNamespace(sha256="ab" * 32, source="a wheel", terms="CC <BY>", public=True)
)
MODEL = SimpleNamespace(name="mini", checksum="cd" * 32)


def make(**changes) -> Record:
    rows = pd.DataFrame({"epsilon": [1.0, math.inf], "law": ["a", "b"], "n": [1, 2], "mean": [0.1, 1 / 3]})
    given = {
        "id": "tiny-record",
        "title": "Tiny",
        "rows": rows,
        "parameters": {"profile": "smoke", "data": "packaged", "epsilons": [1.0, math.inf]},
        "seed": 7,
        "guarantee": ["(1, 1e-06)-DP"],
        "corpora": [CORPUS],
        "models": [MODEL],
        "bands": {"mean": ("rel", 0.05)},
    }
    return experiments.record(**(given | changes))


def test_json_goes_both_ways_and_is_canonical():
    made = make()
    text = made.to_json()
    assert Record.from_json(text) == made
    assert Record.from_json(text).to_json() == text
    assert make(parameters=dict(reversed(list(made.parameters.items())))).to_json() == text
    assert '[{"$float": "inf"}, "b", 2, 0.3333333333333333]' in text
    assert json.loads(text)["schema"] == 1


@settings(deadline=None)
@given(
    st.recursive(
        st.floats(allow_nan=False) | st.integers() | st.text() | st.booleans(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_plain_values_survive_json(value):
    assert restored(json.loads(json.dumps(plain(value, "v"), allow_nan=False))) == value


def test_rows_come_back_as_a_table():
    rows = make().rows
    assert rows["epsilon"].tolist() == [1.0, math.inf]
    assert rows["n"].dtype.kind == "i"


def test_numpy_values_are_unwrapped():
    made = make(seed=np.int64(7), parameters={"rate": np.float64(0.5), "grid": np.arange(2)})
    assert made.seed == 7
    assert made.parameters == {"rate": 0.5, "grid": [0, 1]}


def test_csv_twin_holds_floats_in_full():
    assert make().to_csv() == "epsilon,law,n,mean\n1.0,a,1,0.1\ninf,b,2,0.3333333333333333\n"


def test_inputs_are_named_with_their_checksums():
    made = make()
    assert made.corpus == "health-news"
    assert made.corpora[0]["sha256"] == "ab" * 32
    assert made.models == ({"name": "mini", "checksum": "cd" * 32},)
    assert {"python", "privlib", "numpy", "torch"} <= set(made.versions)
    assert make(corpora=[], models=[]).corpus == "closed-form"


def test_the_name_of_a_data_folder_stays_out():
    assert make(parameters={"data": "/home/someone/secret"}).parameters["data"] == "folder"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": pd.DataFrame({"x": [math.nan]})}, r"rows\['x'\]\[0\] is NaN"),
        ({"rows": pd.DataFrame({"x": ["a", None]}, dtype=object)}, r"rows\['x'\]\[1\] must be"),
        ({"rows": pd.DataFrame({"x": [1, "a"]}, dtype=object)}, "one of bool, int, float, string"),
        ({"rows": pd.DataFrame({"x": []})}, "at least one row"),
        ({"rows": pd.DataFrame([[1, 2]], columns=["x", "x"])}, "distinct"),
        ({"rows": pd.DataFrame({"x": [[1]]})}, "one of bool, int, float, string"),
        ({"id": "Not a slug"}, "id must be"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"seed": True}, "seed must be an integer"),
        ({"parameters": {"x": math.nan}}, r"parameters\['x'\] is NaN"),
        ({"parameters": {"x": object()}}, r"parameters\['x'\] must be"),
        ({"rows": pd.DataFrame({"x": np.array([1.5], dtype=np.longdouble)})}, r"rows\['x'\]\[0\] must be"),
        ({"rows": pd.DataFrame({"x": [{"$float": "inf"}]})}, r"rows\['x'\]\[0\] must not be a map"),
        ({"parameters": {"x": {"$float": "nan"}}}, r"parameters\['x'\] must not be a map of the one key '\$float'"),
        ({"parameters": {"$float": 1}}, r"parameters must not be a map"),
        ({"parameters": {"x": np.array([1.5], dtype=np.longdouble)}}, r"parameters\['x'\]\[0\] must be"),
        ({"guarantee": "(1, 0)-DP"}, "guarantee must be a list of Guarantees or strings, got str"),
        ({"guarantee": {"(1, 0)-DP": 1}}, "guarantee must be a list of Guarantees or strings, got dict"),
        ({"guarantee": ["(1, 0)-DP", None]}, r"guarantee\[1\] must be a Guarantee or a string, got NoneType"),
        ({"guarantee": [np.float64(1.0)]}, r"guarantee\[0\] must be a Guarantee or a string, got float64"),
        ({"guarantee": [object()]}, r"guarantee\[0\] must be a Guarantee or a string, got object"),
        ({"bands": {"nothing": ("rel", 0.1)}}, "bands names the column 'nothing'"),
        ({"bands": {"mean": ("about", 0.1)}}, "bands"),
        ({"bands": {"mean": ("rel", math.nan)}}, "bands"),
    ],
)
def test_what_is_no_result_is_refused(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(**changes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"schema": 1', '"schema": 2', "schema 1"),
        ('"title": "Tiny",', "", "exactly the keys"),
        ("0.1]", "NaN]", "constant NaN"),
        ('"a", 1, 0.1]', '"a", 1]', "do not match"),
        ('{"$float": "inf"}, "b"', '{"$float": "nan"}, "b"', "must hold 'inf' or '-inf', got 'nan'"),
        ('{"$float": "inf"}, "b"', '{"$float": 1.0}, "b"', "must hold 'inf' or '-inf', got 1.0"),
        ("0.1]", "1e999]", "beyond the range of a float"),
        ("0.1]", "null]", r"rows\[0\] must be a list of bool or int or float or str"),
        ('[1.0, "a", 1, 0.1]', '"abcd"', "rows must be a list of list"),
        ('[\n  "(1, 1e-06)-DP"\n ]', '"(1, 1e-06)-DP"', "guarantee must be a list of str"),
        ('"(1, 1e-06)-DP"', "null", "guarantee must be a list of str"),
    ],
)
def test_other_files_are_not_read_as_records(tmp_path, old, new, message):
    text = make().to_json()
    assert old in text
    path = tmp_path / "r.json"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"r.json is not a record: .*{message}"):
        read(path)


def test_nothing_is_written_unless_the_runner_asks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRIVLIB_OUT", raising=False)
    make()
    assert not list(tmp_path.iterdir())


def test_the_runner_gets_json_and_csv_once(tmp_path, monkeypatch):
    for name, value in {"OUT": str(tmp_path), "NOTEBOOK": "nb", "PROFILE": "book", "DATA": "folder"}.items():
        monkeypatch.setenv(f"PRIVLIB_{name}", value)
    made = make()
    assert (made.notebook, made.profile, made.data) == ("nb", "book", "folder")
    assert read(tmp_path / "records" / "tiny-record.json") == made
    assert (tmp_path / "records" / "tiny-record.csv").read_text() == made.to_csv()
    with pytest.raises(FileExistsError, match="tiny-record"):
        make()


def test_recorded_reads_every_committed_corpus(tmp_path):
    workspace = Workspace(tmp_path)
    for profile, corpus in (("record", "cfpb"), ("book", "health-news")):
        folder = workspace.recorded / profile / corpus
        folder.mkdir(parents=True)
        (folder / "tiny-record.json").write_text(make(title=corpus).to_json())
    assert [r.title for r in experiments.recorded("tiny-record", workspace)] == ["health-news", "cfpb"]
    assert experiments.recorded("other", workspace) == []


def test_provenance_says_what_made_a_figure_and_nothing_of_time():
    html = make().provenance()._repr_html_()
    for part in (
        "interactive",
        "seed 7",
        "smoke",
        "ab" * 6,
        "cd" * 6,
        "(1, 1e-06)-DP",
        "numpy",
        "../records/tiny-record.csv",
    ):
        assert part in html
    assert "time" not in html
    assert "second" not in html
    assert html == make().provenance()._repr_html_()
    assert repr(make().provenance()) == repr(make().provenance())


def test_provenance_escapes_markup():
    html = make(title="<b>", guarantee=["<script>"], parameters={"x": "<i>"}).provenance()._repr_html_()
    assert "<script>" not in html
    assert "<i>" not in html


def test_a_private_corpus_is_refused_before_anything_is_written():
    """Checksum, counts and measured utility of private texts would all be published with a record."""
    private = SimpleNamespace(
        name="patients", provenance=SimpleNamespace(sha256="ef" * 32, source="a file", terms="", public=False)
    )
    with pytest.raises(ValueError, match="public corpora only; 'patients' is private") as caught:
        make(corpora=[CORPUS, private])
    assert "ef" * 4 not in str(caught.value)


@pytest.mark.parametrize("public", [{}, {"public": None}, {"public": "no"}])
def test_a_corpus_that_does_not_say_whether_it_is_public_is_refused(public):
    unsaid = SimpleNamespace(
        name="patients", provenance=SimpleNamespace(sha256="ef" * 32, source="a file", terms="", **public)
    )
    with pytest.raises(TypeError, match=r"provenance\.public of 'patients' must be a bool"):
        make(corpora=[CORPUS, unsaid])


def test_guarantees_are_recorded_in_their_own_words():
    promise = Guarantee(1.0, 0.0, unit="record", relation="add_drop")
    assert make(guarantee=(promise, "in words")).guarantee == (str(promise), "in words")


def test_recorded_elsewhere_takes_the_largest_profile_of_each_other_corpus(tmp_path):
    workspace = Workspace(tmp_path)
    for profile, corpus in (("smoke", "cfpb"), ("book", "cfpb"), ("book", "health-news"), ("smoke", "amazon")):
        made = replace(make(), profile=profile, corpus=corpus)
        path = workspace.recorded / profile / corpus / f"{made.id}.json"
        path.parent.mkdir(parents=True)
        path.write_text(made.to_json())
    found = experiments.recorded_elsewhere(make(), workspace=workspace)
    assert [(other.corpus, other.profile) for other in found] == [("amazon", "smoke"), ("cfpb", "book")]
    assert len(experiments.recorded_elsewhere(make(), most=1, workspace=workspace)) == 1
    small = experiments.recorded_elsewhere(make(), workspace=workspace, profiles=["smoke"])
    assert [(other.corpus, other.profile) for other in small] == [("amazon", "smoke"), ("cfpb", "smoke")]


def test_a_record_in_a_folder_of_another_name_is_found_by_what_it_holds(tmp_path):
    workspace = Workspace(tmp_path)
    one, changed = make(), replace(make(), changed=("dims=4",))
    for folder, made in (("tiny", one), ("tiny-grid", changed)):
        path = workspace.recorded / "record" / folder / f"{made.id}.json"
        path.parent.mkdir(parents=True)
        path.write_text(made.to_json())
    assert place_of(changed, workspace) == f"book/recorded/record/tiny-grid/{one.id}.json"
    assert place_of(one, workspace) == f"book/recorded/record/tiny/{one.id}.json"
    gone = replace(one, seed=99)
    assert place_of(gone, workspace) == f"book/recorded/{gone.profile}/{gone.corpus}/{gone.id}.json"


def test_a_recorded_line_names_its_file_and_command_and_links_no_csv_of_this_run():
    made = replace(make(), profile="book", data="folder", corpus="cfpb")
    line = made.provenance(recorded=True)._repr_html_()
    assert "book/recorded/book/cfpb/tiny-record.json" in line
    assert "make book PROFILE=book DATA=&lt;folder of the corpora&gt;" in line
    assert "csv" not in line
    assert "tiny-record.csv" in made.provenance()._repr_html_()
