"""The driver on real kernels: currency, resumption, failure, and the same bytes twice."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from privlib.experiments import runner
from privlib.experiments.__main__ import main
from privlib.experiments.keys import job_keys
from privlib.experiments.ledger import Claim
from privlib.experiments.profiles import plan
from privlib.experiments.records import read
from privlib.experiments.workspace import DataSource, Workspace

RECORD = """
import pandas as pd
from privlib import experiments
from privlib.experiments.studies.toy import doubled
record = experiments.record(
    id="{id}", title="T", rows=pd.DataFrame(dict(x=[1.0, 2.0], mean=[doubled(scale), scale])),
    parameters=dict(scale=scale, data=data), seed=seed)
"""
NOISY = """
import sys, time
print("one", flush=True)
time.sleep(.05)
print("two", flush=True)
print(time.time(), file=sys.stderr)
record.provenance()
"""
SURROUNDINGS = """
import os, sys
assert sys.executable == {python!r}, sys.executable
assert os.environ["PYTHONHASHSEED"] == "0" and os.environ["OMP_NUM_THREADS"] == "1"
assert os.environ["HF_HUB_OFFLINE"] == "1"
assert os.getcwd() == {root!r}
"""
DECOY = {"argv": ["/bin/false", "{connection_file}"], "display_name": "decoy", "language": "python"}


def run(bench, profile="smoke", **options):
    jobs = plan(bench.workspace, profile, bench.packaged)
    return runner.run(bench.workspace, profile, bench.packaged, jobs, progress=False, **options)


def test_a_life_of_a_book(bench_with_library, tmp_path, monkeypatch):
    """Fresh run, second fresh run with the same bytes, nothing to do, one notebook edited, the library edited."""
    bench = bench_with_library
    decoy = tmp_path / "share" / "kernels" / "python3"
    decoy.mkdir(parents=True)
    (decoy / "kernel.json").write_text(json.dumps(DECOY))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    toy = bench.workspace.library / "experiments" / "studies" / "toy.py"
    toy.write_text("def doubled(x):\n    return 2 * x\n")
    bench.add("first", RECORD.format(id="first-record"), NOISY, parameters="scale = 1.0\n", yml="{scale: 3.0}")
    bench.add("second", SURROUNDINGS.format(python=sys.executable, root=str(bench.workspace.root)))

    outcome = run(bench)
    assert (sorted(outcome.executed), outcome.current, outcome.failures) == (["first", "second"], [], {})
    outputs = bench.outputs()
    assert set(outputs) == {
        "book/_generated/first.ipynb",
        "book/_generated/second.ipynb",
        "book/_generated/run.json",
        "book/_generated/records/first-record.json",
        "book/_extra/records/first-record.csv",
    }
    executed = outputs["book/_generated/first.ipynb"].decode()
    assert "papermill" not in executed
    assert '"stderr"' not in executed
    assert "one\\n" in executed
    assert json.loads(outputs["book/_generated/records/first-record.json"])["rows"] == [[1.0, 6.0], [2.0, 3.0]]
    times = json.loads((bench.workspace.generated / "times.json").read_text())["notebooks"]
    assert set(times) == {"first", "second"}
    assert times["first"]["seconds"] > 0
    assert 20 < times["first"]["peak_mib"] < 4000

    monkeypatch.setattr(Workspace, "default", classmethod(lambda cls: bench.workspace))
    assert main(["clean"]) == 0
    assert bench.outputs() == {}
    run(bench, workers=1)
    assert bench.outputs() == outputs

    assert run(bench).current == ["first", "second"]
    assert bench.ran() == ["first", "first", "second", "second"]

    bench.add("second", "print('edited')")
    outcome = run(bench)
    assert (outcome.executed, outcome.current) == (["second"], ["first"])

    toy.write_text("def doubled(x):\n    return 4 * x\n")
    assert sorted(run(bench).executed) == ["first", "second"]
    changed = json.loads(bench.outputs()["book/_generated/records/first-record.json"])
    assert changed["rows"] == [[1.0, 12.0], [2.0, 3.0]]


def test_a_failing_notebook_fails_the_run_and_leaves_nothing_that_looks_finished(bench, command, capsys):
    bench.add("broken", "x = 1")
    bench.add("fine", "x = 1")
    assert command("run", "--quiet") == 0
    assert (bench.workspace.generated / "broken.ipynb").exists()

    bench.add("broken", "def f():\n    return 1 / 0\nf()")
    bench.add("allowed", "#raises\nraise ValueError('permitted by a tag')", "x = 1")
    bench.add("leaves", "raise SystemExit(0)")
    bench.add("dies", "import os\nos._exit(3)")
    bench.add(
        "liar",
        "from privlib import experiments\nimport pandas as pd\n"
        "experiments.record(id='lie', title='T', rows=pd.DataFrame({'x': [1]}), parameters={'seed': 2}, seed=2)",
    )
    assert command("run", "--quiet") == 1
    said = capsys.readouterr().err
    assert "FAILED broken: cell 'cell-0' failed with ZeroDivisionError: division by zero" in said
    assert "return 1 / 0" in said
    assert "FAILED allowed: cell 'raises-0' failed with ValueError: permitted by a tag" in said
    assert "FAILED leaves: cell 'cell-0' failed with SystemExit" in said
    assert "FAILED dies: the kernel died" in said
    assert "FAILED liar: record lie states seed = 2, the run was given 1" in said
    assert {path.name for path in bench.workspace.generated.rglob("*.ipynb")} == {"fine.ipynb"}
    assert {path.name for path in bench.workspace.runs.rglob("notebook.ipynb")} == {"notebook.ipynb"}
    assert not list(bench.workspace.runs.rglob("*.part"))
    assert json.loads((bench.workspace.generated / "run.json").read_text())["complete"] is False


def test_a_cell_has_a_time_limit(bench, command, capsys):
    bench.add("slow", "import time\ntime.sleep(600)", count=False)
    assert command("run", "--quiet", "--timeout", "2") == 1
    assert "FAILED slow: a cell ran longer than 2 s" in capsys.readouterr().err


def test_a_killed_run_resumes_with_what_was_unfinished_and_leaves_no_kernel(bench):
    waits = (
        "import os, time\nfrom pathlib import Path\n"
        "Path('kernel.pid').write_text(str(os.getpid()))\n"
        "while not Path('go').exists():\n    time.sleep(.05)\n"
    )
    root = bench.workspace.root
    bench.add("a_done", "x = 1")
    bench.add("b_waits", waits)
    bench.add("c_later", "x = 1")
    command = [sys.executable, "-m", "privlib.experiments", "run", "--workers", "1", "--quiet"]
    environment = os.environ | {"PRIVLIB_ROOT": str(root), "PYTHONPATH": str(bench.workspace.library.parent)}
    driver = subprocess.Popen(command, env=environment, cwd=root)
    kernel = root / "kernel.pid"
    try:
        until(lambda: kernel.exists() and kernel.read_text(), 60)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    pid = int(kernel.read_text())
    until(lambda: not alive(pid), 15)
    assert bench.ran() == ["a_done", "b_waits"]
    assert not (bench.workspace.generated / "b_waits.ipynb").exists()

    (root / "go").touch()
    outcome = run(bench)
    assert (outcome.current, sorted(outcome.executed)) == (["a_done"], ["b_waits", "c_later"])
    assert bench.ran() == ["a_done", "b_waits", "b_waits", "c_later"]
    assert (bench.workspace.generated / "b_waits.ipynb").exists()


def test_runs_of_two_profiles_do_not_mix_and_coming_back_is_free(bench):
    bench.add("one", "print(profile)")
    run(bench)
    smoke = bench.outputs()
    assert b'"smoke\\n"' in smoke["book/_generated/one.ipynb"]
    run(bench, "book")
    book = bench.outputs()
    assert b'"book\\n"' in book["book/_generated/one.ipynb"]
    assert run(bench).current == ["one"]
    assert bench.outputs() == smoke

    stamp = bench.workspace.runs / "book-packaged" / "one" / "stamp.json"
    stamp.write_text('{"key": "')  # half-written
    assert run(bench, "book").executed == ["one"]


def test_one_record_id_has_one_notebook(bench, command, capsys):
    cell = (
        "from privlib import experiments\nimport pandas as pd\n"
        "experiments.record(id='same', title='T', rows=pd.DataFrame({'x': [1]}), parameters={}, seed=1)"
    )
    bench.add("one", cell)
    bench.add("two", cell)
    assert command("run", "--quiet") == 2
    assert "record id 'same' is written by one and by two" in capsys.readouterr().err


def test_every_input_of_a_notebook_is_in_its_key(bench_with_library, tmp_path):
    bench = bench_with_library
    root, library = bench.workspace.root, bench.workspace.library
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.csv").write_text("a")
    bench.workspace.labelled.mkdir(parents=True)
    bench.add("draws", "print('experiments.recorded(')")
    bench.add("plain", "x = 1")
    data = DataSource.parse(str(tmp_path / "texts"), bench.workspace)
    seen = set()

    def changed() -> set[str]:
        """Names of notebooks whose key is new since the last call."""
        keys = job_keys(bench.workspace, data, plan(bench.workspace, "smoke", data))
        new = {name for name, key in keys.items() if (name, key) not in seen}
        seen.update(keys.items())
        return new

    both = {"draws", "plain"}
    assert changed() == both
    assert changed() == set()
    for path, text in (
        (library / "dp" / "noise.py", "# a comment"),
        (library / "new_data.json", "{}"),
        (root / "requirements.txt", "numpy==1"),
        (root / "requirements-models.txt", "weights==1"),
        (tmp_path / "texts" / "a.csv", "b"),
        (tmp_path / "texts" / "b.csv", ""),
        (bench.workspace.labelled / "set.jsonl", "{}"),
    ):
        path.write_text(text)
        assert changed() == both, path
    (library / "__pycache__").mkdir(exist_ok=True)
    (library / "__pycache__" / "x.pyc").write_bytes(b"1")
    assert changed() == set()
    committed = bench.workspace.recorded / "book" / "none" / "r.json"
    committed.parent.mkdir(parents=True)
    committed.write_text("{}")
    assert changed() == {"draws"}
    bench.profile("plain", "{seed: 2}")
    assert changed() == {"plain"}


def test_one_notebook_alone_leaves_the_others_and_tells_its_claims(bench, command, capsys):
    made = (
        "from privlib import experiments\nimport pandas as pd\nexperiments.record("
        "id='{id}', title='T', rows=pd.DataFrame({{'x': [1.0]}}), parameters={{}}, seed=1)"
    )
    bench.add("one", made.format(id="a"))
    bench.add("two", made.format(id="b"))
    empty = dict.fromkeys(Claim.__dataclass_fields__, "")
    rows = [
        empty | {"id": "X1", "notebook": "one", "record": "a", "rule": "number: x is 1", "kind": "number"},
        empty | {"id": "X2", "notebook": "two", "record": "b", "rule": "number: x is 2", "kind": "number"},
    ]
    with open(bench.workspace.claims, "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(empty))
        writer.writeheader()
        writer.writerows(rows)

    assert command("run", "--quiet", "--only", "one") == 0
    said = capsys.readouterr().out
    assert "X1 reproduced: closed-form: x 1\n" in said
    assert "X2" not in said
    assert "book/_generated now holds only one (profile smoke, data packaged)" in said
    assert command("run", "--quiet", "--only", "two") == 0
    said = capsys.readouterr().out
    assert "X2 contradicted: closed-form: x 1\n" in said
    assert "book/_generated now holds the whole profile (profile smoke, data packaged)" in said
    assert {path.stem for path in bench.workspace.generated.glob("*.ipynb")} == {"one", "two"}
    assert command("run", "--quiet") == 0
    assert "X1" not in capsys.readouterr().out
    assert command("check", "--only", "one") == 1
    assert "record a: nothing recorded" in capsys.readouterr().err
    bench.add("two", "x = 1")
    assert command("run", "--quiet", "--only", "one") == 0
    assert "now holds only one (" in capsys.readouterr().out
    assert json.loads((bench.workspace.generated / "run.json").read_text())["complete"] is False


def test_a_run_with_parameters_of_its_own_says_so_and_stays_out_of_the_book(bench, command, capsys):
    bench.add(
        "one",
        RECORD.format(id="a")
        .replace("doubled(scale)", "2 * scale")
        .replace("from privlib.experiments.studies.toy import doubled\n", ""),
        parameters="scale = 1.0\n",
        yml="{scale: 3.0}",
    )
    assert command("run", "--quiet") == 0
    book = bench.outputs()
    given = ["--quiet", "--only", "one", "--set", "scale=5.0", "--set", "corpus=my texts"]
    assert command("run", *given) == 0
    assert bench.outputs() == book
    place = capsys.readouterr().out.splitlines()[-1].removeprefix("notebook and records: ")
    made = read(bench.workspace.root / place / "records" / "a.json")
    assert made.rows["mean"].tolist() == [10.0, 5.0]
    assert made.changed == ("scale=5.0", "corpus=my texts")
    asked = "--profile smoke --data packaged --only one --set scale=5.0 --set 'corpus=my texts'"
    assert made.command == f"make env assets && .venv/bin/python -m privlib.experiments run {asked}"
    assert command("run", *given) == 0
    assert bench.ran() == ["one", "one"]
    assert command("run", "--quiet") == 0
    assert (bench.ran(), bench.outputs()) == (["one", "one"], book)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--set", "scale=2.0"], "--set needs exactly one notebook"),
        (["--only", "one", "--set", "scale"], "--set must be parameter=value"),
        (["--only", "one", "--set", "scale=2.0", "--set", "scale=3.0"], "once each"),
        (["--only", "one", "--set", "profile=book"], "not profile or data"),
        (["--only", "one", "--set", "size=2.0"], "one has no parameter size"),
        (["--only", "one", "--set", "scale=two"], "one.scale must be float, got str 'two'"),
        (["--only", "one", "--set", "scale=[2.0"], "--set scale: while parsing"),
        (["--only", "one", "--set", "scale=2020-13-45"], "--set scale: month must be in 1..12"),
    ],
)
def test_parameters_that_cannot_be_set_are_refused(bench, command, capsys, given, message):
    bench.add("one", "print(scale)", parameters="scale = 1.0\n")
    assert command("run", "--quiet", *given) == 2
    assert message in capsys.readouterr().err
    assert bench.ran() == []


def test_two_drivers_do_not_execute_one_notebook_at_once(bench, command, capsys):
    bench.add("one", "x = 1")
    folder = bench.workspace.runs / "smoke-packaged"
    folder.mkdir(parents=True)
    with runner._Lock(folder / "one.lock", "one"):
        assert command("run", "--quiet") == 2
    assert "another run is executing it" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["run", "--only", "no-such"], ["run", "--workers", "0"], ["check"], ["report"]])
def test_requests_that_make_no_sense_end_with_2_and_one_line(bench, command, capsys, arguments):
    bench.add("one", "x = 1")
    assert command(*arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def until(true, seconds: float) -> None:
    """Wait for a condition, with a limit."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
