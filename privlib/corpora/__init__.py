"""Where texts come from: packaged, from a data folder, from files, from the hub, or generated.

>>> from privlib import corpora
>>> corpus, truth = corpora.generate(n_users=20, planted=["Dr Q lost my twin's x-ray."])
>>> corpus[truth.planted["Dr Q lost my twin's x-ray."]]
"Dr Q lost my twin's x-ray."
>>> auxiliary, target = corpus.split(seed=1)
>>> set(auxiliary.unit_ids) & set(target.unit_ids)
set()

`load` names the corpora of the book, `read` takes files of one's own, `hub` a data set of the hub,
`generate` makes one whose truth is known. What was read and skipped is counted in a `LoadingReport`
passed as `report=`; it is for the curator and never part of a corpus or of a released record.
"""

from __future__ import annotations

from .corpus import Corpus, Provenance, Split, TooFewUnits
from .files import read
from .generated import Generated, Truth, generate
from .hub_datasets import hub
from .named import load, names
from .report import LoadingReport

__all__ = [
    "Corpus",
    "Generated",
    "LoadingReport",
    "Provenance",
    "Split",
    "TooFewUnits",
    "Truth",
    "generate",
    "hub",
    "load",
    "names",
    "read",
]
