"""A curator's own files: what is kept to the letter, what stops, and that no copy is left behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib import assets, corpora

ROWS = [
    {"id": "1", "who": "ann", "text": "None", "when": "2016-09-01", "n": "007"},
    {"id": "2", "who": "bob", "text": "NA", "when": "", "n": "1e3"},
    {"id": "3", "who": "ann", "text": 'a "quoted", comma\nand line', "when": "nan", "n": "null"},
]
ARGUMENTS = {"text": "text", "unit": "who", "record": "id", "attributes": ["when", "n"]}


def write(path, rows=ROWS):
    """`rows` in the format of the path's name."""
    kind = path.suffixes[0]
    if kind == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        return path
    if kind == ".jsonl":
        content = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        mark = "," if kind == ".csv" else "\t"
        lines = [list(rows[0])] + [[f'"{v}"'.replace('"a "quoted"', '"a ""quoted""') for v in r.values()] for r in rows]
        content = "".join(mark.join(line) + "\n" for line in lines)
    packed = gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode()
    path.write_bytes(packed)
    return path


@pytest.mark.parametrize("file", ["a.csv", "a.csv.gz", "a.tsv", "a.tsv.gz", "a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_every_format_keeps_strings_to_the_letter(file, tmp_path):
    path = write(tmp_path / file)
    corpus = corpora.read(path, **ARGUMENTS)
    assert corpus.texts == ("None", "NA", 'a "quoted", comma and line')
    assert corpus.record_ids == ("1", "2", "3")
    assert corpus.unit_ids == ("ann", "bob", "ann")
    assert corpus.attributes["when"] == ("2016-09-01", "", "nan")
    assert corpus.attributes["n"] == ("007", "1e3", "null")
    assert corpus.provenance.sha256 == assets.sha256(path)
    assert corpus.provenance.public is False


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_folder_is_read_in_the_order_of_its_paths(kind, tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / f"a.{kind}", ROWS[2:])
    write(tmp_path / f"b.{kind}", ROWS[1:2])
    write(tmp_path / f"a.{kind}", ROWS[:1])
    (tmp_path / ".hidden").write_text("x")
    corpus = corpora.read(tmp_path, **ARGUMENTS)
    assert corpus.record_ids == ("1", "2", "3")
    assert len(corpus.provenance.sha256) == 64


def test_numbers_dates_and_nulls_of_typed_formats_become_strings(tmp_path):
    import datetime

    rows = [{"text": "x", "n": 1, "f": 2.0, "g": 2.5, "b": True, "d": datetime.date(2020, 1, 2), "l": [1, 2]},
            {"text": None, "n": None, "f": None, "g": None, "b": None, "d": None, "l": None}]  # fmt: skip
    report = corpora.LoadingReport()
    corpus = corpora.read(write(tmp_path / "a.parquet", rows), attributes=["n", "f", "g", "b", "d", "l"], report=report)
    assert [corpus.attributes[key][0] for key in "nfgbdl"] == ["1", "2", "2.5", "True", "2020-01-02", "[1, 2]"]
    assert dict(report.skipped) == {"empty text": 1}


def test_no_attribute_is_kept_unless_named_and_columns_can_be_renamed(tmp_path):
    path = write(tmp_path / "a.csv")
    assert dict(corpora.read(path, record="id").attributes) == {}
    assert corpora.read(path, attributes={"day": "when"}).attributes["day"] == ("2016-09-01", "", "nan")
    with pytest.raises(TypeError, match="attributes must be a list of columns"):
        corpora.read(path, attributes="when")


def test_no_copy_of_private_text_is_left_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVLIB_CACHE", str(tmp_path / "cache"))
    for file in ("a.csv", "a.jsonl", "a.parquet"):
        corpora.read(write(tmp_path / file), **ARGUMENTS)
    assert not (tmp_path / "cache").exists()


def test_plain_text(tmp_path):
    (tmp_path / "lines.txt").write_text("first line\n\nthird line\nfirst line\n")
    corpus = corpora.read(tmp_path / "lines.txt")
    assert corpus.texts == ("first line", "third line", "first line")
    assert len(set(corpus.record_ids)) == 3
    folder = tmp_path / "notes"
    (folder / "ward").mkdir(parents=True)
    (folder / "ward" / "x.txt").write_text("two\nlines")
    (folder / "y.txt").write_text("one")
    corpus = corpora.read(folder)
    assert corpus.texts == ("two lines", "one")
    assert corpus.record_ids == ("ward/x.txt", "y.txt")
    assert corpus.attributes["folder"] == ("ward", ".")


MARKS = "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i"  # where str.splitlines ends a line, CR aside


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ["txt", "csv", "tsv", "jsonl", "txt.gz"])
def test_one_text_stays_one_record_whatever_marks_it_holds(kind, end, tmp_path):
    content = {"jsonl": json.dumps({"text": MARKS}, ensure_ascii=False)}.get(kind, MARKS)
    header = "text" + end if kind in ("csv", "tsv") else ""
    packed = f"{header}{content}{end}".encode()
    (tmp_path / f"a.{kind}").write_bytes(gzip.compress(packed) if kind.endswith("gz") else packed)
    report = corpora.LoadingReport()
    assert corpora.read(tmp_path / f"a.{kind}", report=report).texts == ("a b c d e f g h i",)
    assert not report.skipped


def test_a_lone_carriage_return_cuts_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\rtext\nother")
    assert corpora.read(tmp_path / "a.txt").texts == ("one text", "other")
    (tmp_path / "a.csv").write_bytes(b'text\n"one\rtext"\nother\n')
    assert corpora.read(tmp_path / "a.csv").texts == ("one text", "other")
    (tmp_path / "a.csv").write_bytes(b"text\nsecret\rother\n")
    with pytest.raises(ValueError, match=r"a.csv, line 2: not well-formed") as caught:
        corpora.read(tmp_path / "a.csv")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(("role", "column"), [("unit", "who"), ("record", "id")])
@pytest.mark.parametrize("identifier", ["secret\0", "\0secret", "sec\0ret"])
def test_ids_with_nul_are_refused_with_their_row(kind, role, column, identifier, tmp_path):
    path = write(tmp_path / f"a.{kind}", [*ROWS[:1], ROWS[1] | {column: identifier}])
    with pytest.raises(ValueError, match=f"{role}='{column}': expected ids without NUL characters, row 2") as caught:
        corpora.read(path, **ARGUMENTS)
    assert "sec" not in str(caught.value)


def test_ids_that_look_alike_stay_apart(tmp_path):
    ids = ["a", "a ", " a", "A", "\u00e9", "e\u0301", "1", "1.0", "01"]
    rows = [ROWS[0] | {"id": each, "who": each} for each in ids]
    for kind in ("csv", "jsonl", "parquet"):
        corpus = corpora.read(write(tmp_path / f"a.{kind}", rows), **ARGUMENTS)
        assert list(corpus.unit_ids) == list(corpus.record_ids) == ids


@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl"])
@pytest.mark.parametrize("damage", ["cut", "content", "checksum", "not gzip"])
def test_a_damaged_gzip_file_is_named(kind, damage, tmp_path):
    packed = gzip.compress(b"text\n" + os.urandom(5000).hex().encode() + b"\n")
    content = {
        "cut": packed[:-12],
        "content": packed[:10] + b"\xff" * 50 + packed[60:],
        "checksum": packed[:-8] + b"\0" * 8,
        "not gzip": b"text\nsecret\n",
    }[damage]
    (tmp_path / f"a.{kind}.gz").write_bytes(content)
    if kind == "jsonl" and damage in ("cut", "checksum"):  # its lines are objects, or they would stop it first
        packed = gzip.compress(b'{"text": "secret"}\n')
        (tmp_path / "a.jsonl.gz").write_bytes(packed[:-8] + (b"" if damage == "cut" else b"\0" * 8))
    with pytest.raises(ValueError, match=rf"^a.{kind}.gz: expected a whole compressed file, it is damaged"):
        corpora.read(tmp_path / f"a.{kind}.gz")


def test_private_checksums_are_withheld_and_public_ones_shown(tmp_path):
    path = write(tmp_path / "a.csv")
    assert assets.sha256(path) not in corpora.read(path).provenance.to_json()
    assert assets.sha256(path) in corpora.read(path, public=True).provenance.to_json()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text,n\ncaf\xe9 secret,1\n", r"a.csv: expected text in utf-8-sig, found bytes that are not"),
        (b"text,n\nfine,1\nsecret,2,3\n", r"a.csv, line 3: expected 2 fields as in the header, got 3"),
        (b"text,n\nsecret\n", r"a.csv, line 2: expected 2 fields as in the header, got 1"),
        (b'text,n\n"secret"x,1\n', r"a.csv, line 2: not well-formed"),
        (b'text,n\n"secret,1\n', r"a.csv, line 2: not well-formed"),
        (b"text,text\nsecret,1\n", r"column names must be distinct"),
        (b"", r"expected a header row, the file is empty"),
        (b"body,n\nsecret,1\n", r"text='text': expected one of the columns \['body', 'n'\]"),
    ],
)
def test_a_damaged_csv_stops_without_showing_what_it_says(content, message, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        corpora.read(tmp_path / "a.csv")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "fine"}\n{"text": "secret"\n', "line 2: not valid JSON"),
        (b'{"text": "caf\xe9 secret"}\n', "expected text in utf-8, found bytes that are not"),
        (b'["secret"]\n', "line 1: expected a JSON object, got list"),
        (b'{"text": "fine"}\n{"text": NaN}\n', "a.jsonl, line 2: expected finite numbers, got NaN"),
        (b'{"text": "secret", "n": [-Infinity]}\n', "line 1: expected finite numbers, got -Infinity"),
        (b'{"text": "secret", "n": 1e999}\n', "line 1: expected finite numbers, got one beyond"),
        (b'{"text": "fine", "text": "secret"}\n', "line 1: expected distinct keys"),
        (b'{"text": "fine", "n": {"secret": 1, "secret": 2}}\n', "line 1: expected distinct keys"),
        (b'{"text": "secret", "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "line 1: nested too deep"),
        (b'{"text": "secret", "n": ' + b"1" * 5000 + b"}\n", "line 1: expected numbers of fewer digits"),
    ],
)
def test_damaged_json_lines_stop_too(content, message, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        corpora.read(tmp_path / "a.jsonl")
    assert "secret" not in str(caught.value)


def test_another_encoding_can_be_named(tmp_path):
    (tmp_path / "a.csv").write_bytes("text\ncaf\u00e9\n".encode("latin-1"))
    assert corpora.read(tmp_path / "a.csv", encoding="latin-1").texts == ("caf\u00e9",)
    (tmp_path / "b.txt").write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(ValueError, match=r"b.txt: expected text in utf-8-sig, .* in line 2"):
        corpora.read(tmp_path / "b.txt")


def test_what_is_not_there_or_of_no_known_format(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a file or a folder"):
        corpora.read(tmp_path / "none.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="holds none"):
        corpora.read(tmp_path / "empty")
    write(tmp_path / "a.csv")
    write(tmp_path / "a.jsonl")
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(ValueError, match=r"one format among .* got endings \['.docx'\]"):
        corpora.read(tmp_path / "a.docx")
    with pytest.raises(ValueError, match=r"got endings \['.csv', '.docx', '.jsonl'\]"):
        corpora.read(tmp_path)


def test_repeated_ids_stop_or_are_skipped_and_counted(tmp_path):
    path = write(tmp_path / "a.csv", [*ROWS, ROWS[0]])
    with pytest.raises(ValueError, match="row 4 repeats an earlier one"):
        corpora.read(path, record="id")
    report = corpora.LoadingReport()
    assert len(corpora.read(path, record="id", repeated_ids="skip", report=report)) == 3
    assert dict(report.skipped) == {"repeated record id": 1}
    with pytest.raises(ValueError, match="repeated_ids must be 'error' or 'skip', got 'first'"):
        corpora.read(path, record="id", repeated_ids="first")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12), max_size=8))
def test_any_text_comes_back_from_csv_with_white_space_folded(texts):
    """Written by the csv module, read by ours; the twin is str.split."""
    import csv
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        with open(path, "w", newline="", encoding="utf-8") as stream:
            table = csv.writer(stream)
            table.writerows([["n", "text"], [0, "anchor"], *enumerate(texts, 1)])
        kept = [" ".join(text.split()) for text in ["anchor", *texts]]
        assert list(corpora.read(path)) == [text for text in kept if text]


def test_reading_leaves_the_librarys_switches_as_they_were(tmp_path):
    import datasets

    def switches():
        config = datasets.config
        return config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE, datasets.utils.are_progress_bars_disabled()

    before = switches()
    corpora.read(write(tmp_path / "a.parquet"), **ARGUMENTS)
    assert switches() == before


def test_parquet_is_read_without_torch(tmp_path):
    path = write(tmp_path / "a.parquet")
    code = f"import sys; from privlib import corpora; print(len(corpora.read({str(path)!r})), 'torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["3", "False"]


def test_what_is_read_can_be_split_and_protected(tmp_path):
    rows = [{"id": str(i), "who": f"u{i % 40}", "text": f"text {i}", "when": "", "n": ""} for i in range(200)]
    auxiliary, target = corpora.read(write(tmp_path / "a.csv", rows), **ARGUMENTS).split(seed=3)
    assert not set(auxiliary.unit_ids) & set(target.unit_ids)
    assert np.isclose(len(auxiliary) + len(target), 200)
    assert os.fspath(tmp_path) not in target.provenance.to_json()
