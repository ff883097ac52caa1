"""Named corpora in their publishers' own layouts, brought to the columns of the tidied layout.

CFPB complaints.csv, Amazon Reviews 2023 JSON lines, Yelp Open Dataset JSON lines, and the SemEval-2016
Task 6 annotation files, from their documented columns. Attributes carry the tidied names, so one
notebook reads either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from privlib import assets

from . import rows
from .assemble import assemble
from .cleaning import one_line
from .corpus import Corpus, Provenance
from .layouts import TIDIED
from .report import LoadingReport

_CFPB_COLUMNS = {  # tidied name -> official column
    "complaint_id": "Complaint ID",
    "date_received": "Date received",
    "product": "Product",
    "sub_product": "Sub-product",
    "issue": "Issue",
    "sub_issue": "Sub-issue",
    "narrative": "Consumer complaint narrative",
    "company": "Company",
    "state": "State",
    "company_response": "Company response to consumer",
}
_STANCE_COLUMNS = {
    "id": "ID",
    "target": "Target",
    "tweet": "Tweet",
    "stance": "Stance",
    "opinion_towards": "Opinion towards",
    "sentiment": "Sentiment",
}
_STANCE_PARTS = {
    "trial": "trialdata-all-annotations.txt",
    "train": "trainingdata-all-annotations.txt",
    "testA": "testdata-taskA-all-annotations.txt",
    "testB": "testdata-taskB-all-annotations.txt",
}
_YELP_REVIEWS = "yelp_academic_dataset_review.json"
_YELP_BUSINESSES = "yelp_academic_dataset_business.json"


def _public_table(key: str) -> Any:
    return json.loads(resources.files(__package__).joinpath("public_tables.json").read_text("utf-8"))[key]


def _packings(folder: Path, name: str) -> Path | None:
    """The file called `name` in `folder`, plain or compressed by the publisher."""
    return next((path for end in ("", ".gz", ".zip") if (path := folder / (name + end)).is_file()), None)


def _renamed(row: rows.Row, columns: dict[str, str], where: str) -> rows.Row:
    if missing := [official for official in columns.values() if official not in row]:
        raise ValueError(f"{where}: expected the columns {list(columns.values())}, missing {missing}")
    return {tidied: row[official] for tidied, official in columns.items()}


# ---------------------------------------------------------------- one publisher each
def _cfpb(files: list[Path], report: LoadingReport) -> Iterator[rows.Row]:
    table = _public_table("cfpb_product_groups")
    groups = {product: group for group, products in table.items() for product in products}
    with rows.open_binary(files[0]) as stream:
        for row in rows.delimited(stream, files[0].name):
            tidied = _renamed(row, _CFPB_COLUMNS, files[0].name)
            tidied["product_group"] = groups.get(tidied["product"], "other")
            yield tidied | {"source": "cfpb"}


def _amazon(files: list[Path], report: LoadingReport) -> Iterator[rows.Row]:
    columns = {name: name for name in ("user_id", "rating", "title", "text")}
    for path in files:
        with rows.open_binary(path) as stream:
            for row in rows.json_lines(stream, path.name):
                tidied = _renamed(row, columns, path.name)
                tidied["item_id"] = row.get("parent_asin") or row.get("asin", "")
                tidied["category"] = path.name.split(".")[0]
                tidied["date"] = _day(row.get("timestamp", ""))
                tidied["verified"] = row.get("verified_purchase", "")
                yield tidied | {"source": "amazon2023"}


def _day(milliseconds: str) -> str:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC).date().isoformat() if milliseconds else ""


def _yelp_users(files: list[Path], report: LoadingReport) -> Iterator[rows.Row]:
    names = ("review_id", "user_id", "business_id", "date", "stars", "text", "useful", "funny", "cool")
    with rows.open_binary(files[0]) as stream:
        for row in rows.json_lines(stream, files[0].name):
            tidied = _renamed(row, {name: name for name in names}, files[0].name)
            yield tidied | {"date": tidied["date"][:10]}


def _yelp_categories(files: list[Path], report: LoadingReport) -> Iterator[rows.Row]:
    """Each review with the first of its business's categories that is one of ten public ones."""
    ten = set(_public_table("yelp_categories"))
    category: dict[str, str] = {}
    with rows.open_binary(files[1]) as stream:
        for row in rows.json_lines(stream, files[1].name):
            listed = (part.strip() for part in row.get("categories", "").split(","))
            category[row["business_id"]] = next((part for part in listed if part in ten), "")
    for row in _yelp_users(files, report):
        if not (found := category.get(row["business_id"])):
            report.read()
            report.skip("business in none of the ten categories")
            continue
        yield {"business_category": found} | {key: row[key] for key in ("review_id", "user_id", "stars", "text")}


def _stance(files: list[Path], report: LoadingReport) -> Iterator[rows.Row]:
    """Four tab-separated files without quoting, in Windows-1252 where they are not UTF-8.

    Bytes that are neither are kept as replacement characters, which the report counts.
    """
    parts = {file: part for part, file in _STANCE_PARTS.items()}
    for path in files:
        encoding = "utf-8-sig" if _is_utf8(path) else "cp1252"
        with rows.open_binary(path) as stream:
            for row in rows.delimited(stream, path.name, "\t", encoding, errors="replace", quoted=False):
                yield {"split": parts[path.name]} | _renamed(row, _STANCE_COLUMNS, path.name)


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# ---------------------------------------------------------------- which files, which reader
def find(name: str, folder: Path) -> list[Path]:
    """Official files of corpus `name` in `folder`, or an empty list when they are not (all) there."""
    if name == "cfpb":
        found = [_packings(folder, "complaints.csv")]
    elif name == "amazon":
        parts = _public_table("amazon2023_categories")
        found = [path for part in parts if (path := _packings(folder, f"{part}.jsonl"))]
    elif name == "yelp-users":
        found = [_packings(folder, _YELP_REVIEWS)]
    elif name == "yelp-categories":
        found = [_packings(folder, _YELP_REVIEWS), _packings(folder, _YELP_BUSINESSES)]
    elif name == "stance":
        found = [path for file in _STANCE_PARTS.values() if (path := folder / file).is_file()]
    else:
        found = []
    return [] if None in found else found


EXPECTED = {
    "cfpb": "complaints.csv",
    "amazon": "<Category>.jsonl, such as All_Beauty.jsonl",
    "yelp-users": _YELP_REVIEWS,
    "yelp-categories": f"{_YELP_REVIEWS} and {_YELP_BUSINESSES}",
    "stance": ", ".join(_STANCE_PARTS.values()),
}
_READERS: dict[str, Callable[[list[Path], LoadingReport], Iterator[rows.Row]]] = {
    "cfpb": _cfpb,
    "amazon": _amazon,
    "yelp-users": _yelp_users,
    "yelp-categories": _yelp_categories,
    "stance": _stance,
}


def load_raw(
    name: str, files: list[Path], report: LoadingReport | None = None, rate: float | None = None, seed: int = 1
) -> Corpus:
    """The corpus in its official files; roles and attribute names as in the tidied layout.

    Yelp's official reviews name their users, so `yelp-categories` has unit ids here and none in the
    tidied file. A complaint without narrative is skipped and counted.
    """
    layout = TIDIED[name]
    report = LoadingReport() if report is None else report
    return assemble(
        _READERS[name](files, report),
        name=name,
        text=layout.text,
        record="review_id" if name == "yelp-categories" else layout.record,
        unit="user_id" if name == "yelp-categories" else layout.unit,
        clean=one_line,
        repeated_ids="skip",
        rate=rate,
        seed=seed,
        report=report,
        provenance=Provenance(
            source=", ".join(path.name for path in files),
            sha256=checksum(files),
            terms=layout.terms,
            citation=layout.citation,
        ),
    )


def checksum(files: list[Path], base: Path | None = None) -> str:
    """SHA-256 of one file's bytes; of several, SHA-256 over the lines `<sha256>  <name>` in their order."""
    if len(files) == 1:
        return assets.sha256(files[0])
    listing = "".join(
        f"{assets.sha256(path)}  {path.name if base is None else path.relative_to(base).as_posix()}\n" for path in files
    )
    return hashlib.sha256(listing.encode()).hexdigest()
