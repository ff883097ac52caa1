"""A result is a record: rows with their parameters, seed, guarantee, checksums and versions.

Figures, tables, numbers in prose, the claims ledger and the regression check are made from records
only. The JSON form has a schema number, a fixed key order and floats by `repr`; NaN and missing
values are refused, since a value that could not be computed is not a result. Time and memory are not
in it, so that two runs give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import metadata
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privlib.experiments.workspace import PROFILES, Workspace

if TYPE_CHECKING:
    import pandas

    from privlib.experiments.provenance import Provenance

SCHEMA = 1
NO_CORPUS = "closed-form"
VERSIONED = ("privlib", "numpy", "scipy", "pandas")
MODEL_VERSIONED = ("torch", "transformers", "sentence-transformers")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def plain(value: Any, where: str) -> Any:
    """`value` as JSON holds it: numpy scalars unwrapped, infinities as {"$float": ...}; others are refused."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError(f"{where} is NaN: a value that could not be computed is not a result")
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"{where} must have string keys, got {sorted(map(repr, value))}")
        if set(value) == {"$float"}:
            raise ValueError(f"{where} must not be a map of the one key '$float', which stands for infinities")
        return {key: plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if hasattr(value, "tolist") and isinstance(listed := value.tolist(), list):  # a longdouble stays what it is
        return plain(listed, where)
    raise TypeError(f"{where} must be a bool, int, float, string or a list or map of these, got {type(value).__name__}")


def restored(value: Any) -> Any:
    """Inverse of `plain` on its image; raises ValueError for {"$float": ...} of anything but an infinity."""
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            if value["$float"] not in ("inf", "-inf"):
                raise ValueError(f"{{'$float': ...}} must hold 'inf' or '-inf', got {value['$float']!r}")
            return float(value["$float"])
        return {key: restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [restored(item) for item in value]
    return value


@dataclass(frozen=True)
class Record:
    """One figure or table family: its tidy rows and everything needed to get them again.

    id, title: slug and heading. notebook, profile, data, corpus: which run made it (`data` is packaged,
    folder or hub; `corpus` the first corpus, or "closed-form"). parameters: as used. guarantee: strings.
    corpora: maps with name, sha256, source, terms. models: maps with name, checksum. versions: package to
    version. bands: column to ("rel" | "abs", tolerance). columns, values: the table, row by row. changed: parameters
    that were not the profile's, as given to `run --set`.
    """

    id: str
    title: str
    notebook: str
    profile: str
    data: str
    corpus: str
    parameters: dict[str, Any]
    seed: int
    guarantee: tuple[str, ...]
    corpora: tuple[dict[str, str], ...]
    models: tuple[dict[str, str], ...]
    versions: dict[str, str]
    bands: dict[str, tuple[str, float]]
    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    changed: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What makes this record again, from the top of a checkout."""
        data = "<folder of the corpora>" if self.data == "folder" else self.data
        if not self.changed:
            return f"make book PROFILE={self.profile} DATA={data}"
        given = " ".join(f"--set {shlex.quote(one)}" for one in self.changed)
        which = f"--profile {self.profile} --data {data} --only {self.notebook}"
        return f"make env assets && .venv/bin/python -m privlib.experiments run {which} {given}"

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """The table as a DataFrame (do not change it in place: take a copy)."""
        import pandas as pd

        return pd.DataFrame([list(row) for row in self.values], columns=list(self.columns))

    def to_json(self) -> str:
        """Canonical JSON text, one row a line, ending in a newline."""
        head = {"schema": SCHEMA, "command": self.command} | {
            f.name: plain(_listed(getattr(self, f.name)), f.name) for f in fields(self) if f.name != "values"
        }
        if not self.changed:
            del head["changed"]
        for name in ("parameters", "versions", "bands"):
            head[name] = dict(sorted(head[name].items()))
        lines = [json.dumps(plain(list(row), "rows"), ensure_ascii=False, allow_nan=False) for row in self.values]
        text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
        return text[: -len("\n}")] + ',\n "rows": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read what `to_json` wrote.

        Raises ValueError for another schema, unknown or missing keys, NaN or numbers beyond a float, and
        TypeError for rows or lists that are none.
        """
        loaded = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
        expected = {"schema", "command", "rows"} | {f.name for f in fields(cls)} - {"values"}
        if not isinstance(loaded, dict) or loaded.get("schema") != SCHEMA:
            raise ValueError(f"record must have schema {SCHEMA}, got {str(loaded)[:60]!r}")
        loaded = {"changed": []} | loaded
        if set(loaded) != expected:
            raise ValueError(
                f"record must have exactly the keys {sorted(expected)}, differs in {sorted(set(loaded) ^ expected)}"
            )
        loaded = restored(loaded)
        del loaded["schema"], loaded["command"]  # both follow from the rest
        rows = loaded.pop("rows")
        for name, kind in (("guarantee", str), ("corpora", dict), ("models", dict), ("columns", str), ("changed", str)):
            _check_list(loaded[name], kind, name)
            loaded[name] = tuple(loaded[name])
        _check_list(rows, list, "rows")
        for index, row in enumerate(rows):
            _check_list(row, (bool, int, float, str), f"rows[{index}]")
        if any(len(row) != len(loaded["columns"]) for row in rows):
            raise ValueError(f"record {loaded['id']!r} has rows that do not match its {len(loaded['columns'])} columns")
        loaded["bands"] = {column: tuple(band) for column, band in loaded["bands"].items()}
        return cls(**loaded, values=tuple(map(tuple, rows)))

    def to_csv(self) -> str:
        """The rows alone as CSV, floats by `repr`."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([repr(v) if isinstance(v, float) else v for v in row] for row in self.values)
        return out.getvalue()

    def provenance(self, recorded: bool = False) -> Provenance:
        """The line under a figure, for display as the last value of a cell; `recorded`: it is of another run."""
        from privlib.experiments.provenance import Provenance

        return Provenance(self, place_of(self) if recorded else "")


def record(
    *,
    id: str,
    title: str,
    rows: pandas.DataFrame,
    parameters: Mapping[str, Any],
    seed: int,
    guarantee: Sequence[Any] = (),
    corpora: Sequence[Any] = (),
    models: Sequence[Any] = (),
    bands: Mapping[str, tuple[str, float]] | None = None,
) -> Record:
    """Make the record of one result, and write it when the runner asks for it ($PRIVLIB_OUT).

    id: lower-case slug, unique in the book. rows: tidy table, grid columns first, without missing values.
    parameters: as used. seed: integer. guarantee: Guarantees or strings. corpora: objects with `.name` and
    `.provenance` (sha256, source, terms, public). models: objects with `.name` and `.checksum`. bands: column to
    ("rel" | "abs", tolerance) for the regression check; columns that are not named must match.
    Raises ValueError or TypeError naming the argument; FileExistsError when the id was already written.
    """
    if not _SLUG.fullmatch(id):
        raise ValueError(f"id must be a lower-case slug such as 'plans-mass-retained', got {id!r}")
    if isinstance(seed, bool) or not isinstance(plain(seed, "seed"), int):
        raise TypeError(f"seed must be an integer, got {type(seed).__name__}")
    columns, values = _table(rows)
    settings = restored(plain(dict(parameters), "parameters"))
    if settings.get("data") not in (None, "packaged", "hub"):
        settings["data"] = "folder"  # which folder is this machine's affair
    corpora = tuple(_corpus(c) for c in corpora)
    models = tuple({"name": str(m.name), "checksum": str(m.checksum)} for m in models)
    made = Record(
        id=id,
        title=title,
        notebook=os.environ.get("PRIVLIB_NOTEBOOK", "interactive"),
        profile=os.environ.get("PRIVLIB_PROFILE", str(settings.get("profile", "interactive"))),
        data=os.environ.get("PRIVLIB_DATA", str(settings.get("data", "packaged"))),
        corpus=_slug(corpora[0]["name"]) if corpora else NO_CORPUS,
        parameters=settings,
        seed=plain(seed, "seed"),
        guarantee=_promises(guarantee),
        corpora=corpora,
        models=models,
        versions=_versions(VERSIONED + (MODEL_VERSIONED if models else ())),
        bands=_bands(bands or {}, columns),
        columns=columns,
        values=values,
        changed=tuple(json.loads(os.environ.get("PRIVLIB_CHANGED", "[]"))),
    )
    if "PRIVLIB_OUT" in os.environ:
        write(made, Path(os.environ["PRIVLIB_OUT"]) / "records")
    return made


def write(made: Record, folder: Path) -> None:
    """Write <id>.json and <id>.csv into `folder`; raises FileExistsError for an id that is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{made.id}.json"
    if target.exists():
        raise FileExistsError(f"record {made.id!r} was already written in this run: ids are unique in the book")
    target.write_text(made.to_json(), encoding="utf-8")
    target.with_suffix(".csv").write_text(made.to_csv(), encoding="utf-8")


def read(path: Path) -> Record:
    """Read one record file; raises ValueError naming the file."""
    try:
        return Record.from_json(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a record: {error}") from error


def recorded(id: str, workspace: Workspace | None = None) -> list[Record]:
    """Committed records of one id, `book/recorded/<profile>/<corpus>/<id>.json`, in the order of these names."""
    folder = (workspace or Workspace.default()).recorded
    return [read(path) for path in sorted(folder.glob(f"*/*/{id}.json"))]


def place_of(made: Record, workspace: Workspace | None = None) -> str:
    """The committed file of a record, from the top of a checkout: by content, as one corpus may have several folders.

    Where none holds it, the file that its names give.
    """
    root = (workspace or Workspace.default()).recorded
    held = (path for path in sorted(root.glob(f"*/*/{made.id}.json")) if path.read_text("utf-8") == made.to_json())
    path = next(held, root / made.profile / made.corpus / f"{made.id}.json")
    return f"book/recorded/{path.relative_to(root).as_posix()}"


def recorded_elsewhere(
    made: Record, most: int = 2, workspace: Workspace | None = None, profiles: Sequence[str] = PROFILES[::-1]
) -> list[Record]:
    """Committed records of the same id on other corpora, one a corpus, by its name: of the first profile there is."""
    best: dict[str, Record] = {}
    known = [other for other in recorded(made.id, workspace) if other.profile in profiles]
    for other in sorted(known, key=lambda other: profiles.index(other.profile)):
        if other.corpus != made.corpus:
            best.setdefault(other.corpus, other)
    return [best[corpus] for corpus in sorted(best)][:most]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"record holds the constant {name}, which JSON does not have")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"record holds the number {digits}, which is beyond the range of a float")
    return number


def _check_list(value: Any, kind: type | tuple[type, ...], where: str) -> None:
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise TypeError(f"{where} must be a list of {names}")


def _promises(guarantee: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(guarantee, (str, bytes)) or not isinstance(guarantee, Sequence):
        raise TypeError(f"guarantee must be a list of Guarantees or strings, got {type(guarantee).__name__}")
    for index, item in enumerate(guarantee):
        # a Guarantee says what it promises in a __str__ of its own; None, numbers and lists do not
        if not isinstance(item, str) and not isfunction(type(item).__str__):
            raise TypeError(f"guarantee[{index}] must be a Guarantee or a string, got {type(item).__name__}")
    return tuple(map(str, guarantee))


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug:
        raise ValueError(f"corpora[0].name must hold a letter or digit, got {name!r}")
    return slug


def _table(rows: pandas.DataFrame) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    columns = tuple(rows.columns)
    if not columns or not len(rows):
        raise ValueError(f"rows must hold at least one row and one column, got shape {rows.shape}")
    if len(set(columns)) != len(columns) or not all(isinstance(c, str) and c for c in columns):
        raise ValueError(f"rows must have distinct, non-empty string column names, got {list(columns)}")
    taken = []
    for column in columns:
        cells = [plain(value, f"rows[{column!r}][{i}]") for i, value in enumerate(rows[column].tolist())]
        cells = [restored(cell) for cell in cells]
        kinds = {type(cell) for cell in cells}
        if len(kinds) > 1 or kinds & {list, dict}:
            raise TypeError(
                f"rows[{column!r}] must hold one of bool, int, float, string, got {sorted(k.__name__ for k in kinds)}"
            )
        taken.append(cells)
    return columns, tuple(zip(*taken, strict=True))


def _corpus(corpus: Any) -> dict[str, str]:
    source = corpus.provenance
    if not isinstance(public := getattr(source, "public", None), bool):
        raise TypeError(f"corpora: provenance.public of {corpus.name!r} must be a bool, got {type(public).__name__}")
    if not public:
        # checksum, counts and measured utility all depend on the texts: none of it belongs in a public record
        raise ValueError(f"corpora: a record is published, so it takes public corpora only; {corpus.name!r} is private")
    return {
        "name": str(corpus.name),
        "sha256": str(source.sha256),
        "source": str(source.source),
        "terms": str(source.terms),
    }


def _bands(bands: Mapping[str, tuple[str, float]], columns: Sequence[str]) -> dict[str, tuple[str, float]]:
    checked = {}
    for column, band in bands.items():
        if column not in columns:
            raise ValueError(f"bands names the column {column!r}, rows has {list(columns)}")
        kind, tolerance = band
        if kind not in ("rel", "abs") or not (isinstance(tolerance, (int, float)) and 0 <= tolerance < math.inf):
            raise ValueError(f"bands[{column!r}] must be ('rel' | 'abs', tolerance >= 0), got {band!r}")
        checked[column] = (kind, float(tolerance))
    return checked


def _versions(packages: Sequence[str]) -> dict[str, str]:
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in packages}
