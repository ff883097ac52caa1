"""Wrong arguments of the corpora: each is refused by its own name, none is read as something else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from privlib import corpora

CORPUS, _ = corpora.generate(n_users=5)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("who,msg,age\nann,hello there,old\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        # read as something else, without a word
        (lambda: corpora.generate(planted="abc"), TypeError, "^planted must be a sequence of str, got str"),
        (lambda: corpora.names(3), TypeError, "^data must be a path, got 3"),
        (lambda: corpora.load("health-news", 3), TypeError, "^data must be a path, got 3"),
        (lambda: replace(CORPUS, texts="a" * len(CORPUS)), TypeError, "^texts must be a sequence of str, got str"),
        (
            lambda: replace(CORPUS, unit_ids="a" * len(CORPUS)),
            TypeError,
            "^unit_ids must be a sequence of str, got str",
        ),
        (lambda: CORPUS.codes("mood", "ab"), TypeError, "^levels must be a sequence of str, got str"),
        # texts where numbers are meant
        (lambda: CORPUS.split(auxiliary="half"), TypeError, "^auxiliary must be a number, got 'half'"),
        (lambda: CORPUS.split(auxiliary=None), TypeError, "^auxiliary must be a number, got None"),
        (lambda: CORPUS.sample("10", public_size=20), TypeError, "^n must be a number, got '10'"),
        (lambda: CORPUS.sample(10, public_size="20"), TypeError, "^public_size must be a number, got '20'"),
        (lambda: CORPUS.sample(rate="half"), TypeError, "^rate must be a number, got 'half'"),
        (lambda: corpora.generate(n_users="20"), TypeError, "^n_users must be an integer, got '20'"),
        (lambda: corpora.generate(n_users=2.5), TypeError, "^n_users must be an integer, got 2.5"),
        (lambda: corpora.generate(exponent="1"), TypeError, "^exponent must be a number, got '1'"),
        (lambda: corpora.generate(probes={"x": "3"}), TypeError, "^probes: support of 'x' must be an integer, got '3'"),
        (lambda: corpora.generate(attributes={"kind": {"a": "1"}}), TypeError, "^kind: a weight must be a number"),
        # other objects
        (lambda: corpora.generate(topics=["billing error"]), TypeError, "^topics must be a mapping, got "),
        (lambda: corpora.generate(planted=[1]), TypeError, "^planted: an entry must be a str, got 1"),
        (lambda: corpora.generate(probes={"x": 1.5}), TypeError, "^probes: support of 'x' must be an integer, got 1.5"),
        (lambda: CORPUS.where(mood=3), TypeError, "^mood must be a str or several, got 3"),
        (lambda: corpora.load(["x"]), TypeError, r"^name must be a str, got \['x'\]"),
        (lambda: corpora.read(5), TypeError, "^path must be a path, got 5"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(text=None), TypeError, "^text must be a str, got None"),  # kept nothing, without a word
        (dict(text="msg", rate="half"), TypeError, "^rate must be a number, got 'half'"),
        (dict(text="msg", attributes=5), TypeError, "^attributes must be a list of columns or .* got 5"),
        (dict(text="msg", attributes=["aeg"]), ValueError, r"^attributes: no column 'aeg' .* \['who', 'msg', 'age'\]$"),
    ],
)
def test_a_file_is_not_read_with_wrong_arguments(arguments, error, message, mine):
    with pytest.raises(error, match=message):
        corpora.read(mine, **arguments)


def test_a_semicolon_is_guessed_from_one_column(tmp_path):
    (tmp_path / "a.csv").write_text("who;msg\nann;hello\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"one of the columns \['who;msg'\] \(is the separator a semicolon\?\)$"):
        corpora.read(tmp_path / "a.csv", text="msg")


@pytest.mark.parametrize("before", [0, 1, 3, 2000])
@pytest.mark.parametrize("ending", [".csv", ".txt", ".jsonl"])
def test_bytes_of_another_encoding_are_placed_in_their_line(before, ending, tmp_path):
    """2,000 lines are more than a text layer decodes at a time."""
    line, bad = {
        ".csv": (b"good line\n", b"caf\xe9 secret\n"),
        ".txt": (b"good line\n", b"caf\xe9 secret\n"),
        ".jsonl": (b'{"text": "good"}\n', b'{"text": "caf\xe9 secret"}\n'),
    }[ending]
    header = b"text\n" if ending == ".csv" else b""
    (tmp_path / f"a{ending}").write_bytes(header + line * before + bad + line * 3)
    with pytest.raises(ValueError, match=rf" in line {before + bool(header) + 1}; ") as caught:
        corpora.read(tmp_path / f"a{ending}")
    assert "secret" not in str(caught.value)
