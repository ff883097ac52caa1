"""Corpora of the Hugging Face hub, or of a folder laid out like one, through `datasets.load_dataset`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from typing import Any

from privlib import assets

from . import rows
from .assemble import assemble
from .cleaning import one_line
from .corpus import Corpus, Provenance
from .report import LoadingReport


@contextmanager
def quiet_datasets(offline: bool) -> Iterator[Any]:
    """The `datasets` module without progress bars, without torch, and without the network when `offline`.

    The library asks the hub even for local files (to count downloads), and its streaming loads torch
    (3 s) only to let torch's loaders take the table. Its switches are global and are put back.
    """
    import datasets

    bars_were_off = datasets.utils.are_progress_bars_disabled()
    config = datasets.config
    was_offline, had_torch = config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE
    datasets.utils.disable_progress_bars()
    config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE = offline or was_offline, False
    try:
        yield datasets
    finally:
        config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE = was_offline, had_torch
        if not bars_were_off:
            datasets.utils.enable_progress_bars()


def hub(
    id: str,
    *,
    text: str = "text",
    split: str = "train",
    config: str | None = None,
    revision: str | None = None,
    data_files: str | Sequence[str] | None = None,
    unit: str | None = None,
    record: str | None = None,
    attributes: Sequence[str] | Mapping[str, str] = (),
    name: str | None = None,
    terms: str | None = None,
    citation: str | None = None,
    offline: bool = False,
    streaming: bool = False,
    repeated_ids: str = "error",
    rate: float | None = None,
    seed: int = 1,
    report: LoadingReport | None = None,
    derive: Callable[[rows.Row], rows.Row] | None = None,
) -> Corpus:
    """One split of the hub's data set `id` (or of a local folder) as a public corpus.

    split, config, revision, data_files   as in datasets.load_dataset; pin `revision` for a stable corpus
    text, unit, record, attributes, repeated_ids, rate, seed, report   as in `corpora.read`
    terms, citation   override what the data set's card says
    offline           do not touch the network
    streaming         keep no copy in the cache ($PRIVLIB_CACHE/datasets); else downloads are kept there

    Classes become their names. Provenance holds a SHA-256 over the rows as read (one JSON line each),
    since the hub's files may be stored in many shards. Raises what load_dataset raises, and what
    `corpora.read` raises for columns and ids.
    """
    digest = hashlib.sha256()
    with quiet_datasets(offline) as datasets:
        table = datasets.load_dataset(
            id,
            name=config,
            split=split,
            revision=revision,
            data_files=data_files,
            streaming=streaming,
            cache_dir=str(assets.cache_dir() / "datasets"),
        )
        classes = {
            key: feature.names
            for key, feature in (table.features or {}).items()
            if isinstance(feature, datasets.ClassLabel)
        }

        def strings() -> Iterator[rows.Row]:
            for values in table:
                row = {key: rows.as_text(_named(classes.get(key), value)) for key, value in values.items()}
                digest.update(json.dumps(row, sort_keys=True).encode() + b"\n")
                yield row if derive is None else derive(row)

        corpus = assemble(
            strings(),
            name=name or id.rstrip("/").rpartition("/")[2],
            text=text,
            unit=unit,
            record=record,
            attributes=attributes,
            clean=one_line,
            repeated_ids=repeated_ids,
            rate=rate,
            seed=seed,
            report=report,
            provenance=Provenance(
                source=f"hub: {id}, config {config}, split {split}, revision {revision}",
                sha256="",
                terms=terms or table.info.license or "not stated by the data set's card",
                citation=citation or table.info.citation or None,
            ),
        )
    return replace(corpus, provenance=replace(corpus.provenance, sha256=digest.hexdigest()))


def _named(names: list[str] | None, value: Any) -> Any:
    """The name of a class; an unlabelled row (None, or -1 by the library's custom) has the empty name."""
    if names is None:
        return value
    return names[value] if value is not None and value >= 0 else ""


def _first_turn(row: rows.Row) -> rows.Row:
    """A chat's first user turn; the conversation is a JSON list of {role, content}."""
    turns = json.loads(row["conversation"])
    return row | {"first_turn": next((turn["content"] for turn in turns if turn["role"] == "user"), "")}


_DERIVE = {"first_turn": _first_turn}


def known() -> dict[str, dict[str, Any]]:
    """Settings of the hub data sets that stand for the book's named corpora: a table in hub.json."""
    return json.loads(resources.files(__package__).joinpath("hub.json").read_text("utf-8"))["corpora"]


def load_known(name: str, report: LoadingReport | None = None, rate: float | None = None, seed: int = 1) -> Corpus:
    """The named corpus from the hub, by the settings of hub.json."""
    settings = dict(known()[name])
    derive = _DERIVE[settings.pop("derive")] if "derive" in settings else None
    return hub(settings.pop("id"), name=name, derive=derive, report=report, rate=rate, seed=seed, **settings)
