"""Named corpora in a data folder: the tidied layout, one gzip-compressed CSV a corpus, and their terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from privlib import assets

from . import hashing, rows
from .assemble import assemble
from .cleaning import one_line
from .corpus import Corpus, Provenance
from .report import LoadingReport


def _same(row: rows.Row) -> rows.Row:
    return row


def _with_patient(row: rows.Row) -> rows.Row:
    """One patient asks one question and several doctors answer: rows with one question share a unit."""
    return row | {"patient": hashing.text_id("patient", row["patient_text"])}


@dataclass(frozen=True)
class Layout:
    """How one corpus lies in a folder: its file, the columns' roles, and its terms."""

    file: str
    text: str
    terms: str
    citation: str
    record: str | None = None
    unit: str | None = None
    derive: Callable[[rows.Row], rows.Row] = _same


_CFPB = Layout(
    "cfpb_complaints.csv.gz",
    text="narrative",
    record="complaint_id",  # empty for the rows of one source: those get an id from their content
    terms="publication of the US government; narratives redacted by the CFPB; research use only, identify nobody",
    citation="Consumer Financial Protection Bureau, Consumer Complaint Database",
)
_YELP_TERMS = "Yelp dataset terms: academic use only, no redistribution; identify nobody"

TIDIED: dict[str, Layout] = {
    "cfpb": _CFPB,
    "amazon": Layout(
        "amazon_reviews.csv.gz",
        text="text",
        unit="user_id",
        terms="published by the McAuley lab (UCSD) for research; no licence stated; identify nobody",
        citation="Hou et al. 2024, Bridging Language and Items for Retrieval and Recommendation; Ni et al. 2019",
    ),
    "yelp-users": Layout(
        "yelp_user_reviews.csv.gz",
        text="text",
        record="review_id",
        unit="user_id",
        terms=_YELP_TERMS,
        citation="Yelp, RecSys Challenge 2013 sample; all kinds of businesses, the file names no category",
    ),
    "yelp-categories": Layout(
        "yelp_category_reviews.csv.gz",
        text="text",
        terms=_YELP_TERMS,
        citation="Yelp Open Dataset as processed by Yue et al. 2023, Synthetic Text Generation with DP",
    ),
    "queries-intent": Layout(
        "queries_intent.csv.gz",
        text="text",
        terms="CLINC150 CC BY 3.0; BANKING77 CC BY 4.0; ATIS (LDC) and SNIPS: no licence stated, research use",
        citation="Larson et al. 2019 (CLINC150); Casanueva et al. 2020 (BANKING77); Hemphill et al. 1990 (ATIS); "
        "Coucke et al. 2018 (SNIPS)",
    ),
    "queries-web": Layout(
        "queries_web.csv.gz",
        text="text",
        record="query_id",
        terms="MS MARCO: non-commercial research only (Microsoft); Natural Questions: CC BY-SA 3.0 (Google)",
        citation="Bajaj et al. 2016 (MS MARCO); Kwiatkowski et al. 2019 (Natural Questions)",
    ),
    "chat-prompts": Layout(
        "chat_prompts.csv.gz",
        text="text",
        terms="Arena-Hard and AlpacaEval repositories: Apache-2.0; identify nobody",
        citation="Li et al. 2024 (Arena-Hard); Li et al. 2023 (AlpacaEval)",
    ),
    "stance": Layout(
        "semeval2016_stance.csv.gz",
        text="tweet",
        record="id",
        terms="annotations made available for future research by the task's organisers; identify nobody",
        citation="Mohammad, Kiritchenko, Sobhani, Zhu, Cherry 2016, SemEval-2016 Task 6",
    ),
    "medical": Layout(
        "medical_dialogues.csv.gz",
        text="patient_text",
        record=None,  # the file's record_id names two different rows once; it stays as an attribute
        unit="patient",
        derive=_with_patient,
        terms="copyrights belong to the websites the questions were asked on; research use only, identify nobody",
        citation="Regin 2017, medical question answer data; Ju et al. 2020, COVID-Dialogue",
    ),
}


def find(name: str, folder: Path) -> Path | None:
    """The tidied file of corpus `name` in `folder`, compressed or not; None if it is not there."""
    packed = folder / TIDIED[name].file
    return next((path for path in (packed, packed.with_suffix("")) if path.is_file()), None)


def load_tidied(
    name: str, path: Path, report: LoadingReport | None = None, rate: float | None = None, seed: int = 1
) -> Corpus:
    """The corpus in one tidied file; every column that is not text, id or unit becomes an attribute."""
    layout = TIDIED[name]

    def derived() -> Iterator[rows.Row]:
        with rows.open_binary(path) as stream:
            for row in rows.delimited(stream, path.name):
                yield layout.derive(row)

    return assemble(
        derived(),
        name=name,
        text=layout.text,
        record=layout.record,
        unit=layout.unit,
        clean=one_line,
        rate=rate,
        seed=seed,
        report=report,
        provenance=Provenance(
            source=path.name, sha256=assets.sha256(path), terms=layout.terms, citation=layout.citation
        ),
    )
