"""The fixed dictionaries with their auxiliary supports, how their size follows the rules, and what is in a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.studies.plans_corpora import RECIPES, SPLIT_SEED, atoms, load
from privlib.plans.phrases import scaled_threshold

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus, Split
    from privlib.plans import AtomUniverse

MOST = 10**6  # more atoms than any dictionary has: the threshold alone decides


@dataclass(frozen=True, eq=False)
class Part:
    """A public corpus, its halves, and every atom of the auxiliary half that the smallest threshold lets through."""

    corpus: Corpus
    split: Split
    whole: AtomUniverse

    @property
    def phrases(self) -> bool:
        return self.whole.manifest["builder"] == "phrases"

    @property
    def supports(self) -> np.ndarray:
        return np.array(list(self.whole.manifest["support"].values()))

    @property
    def threshold(self) -> int:
        """Auxiliary texts that the default rules ask of an atom."""
        return scaled_threshold(len(self.split.auxiliary)) if self.phrases else 1

    def dictionary(self, size: int) -> list[tuple[str, int]]:
        """(label, support) of the dictionary of at most `size` atoms that the default rules give."""
        return [(label, n) for label, n in self.whole.manifest["support"].items() if n >= self.threshold][:size]


def prepare(names: Sequence[str], data: str, texts: int, thresholds: Sequence[int], seed: int) -> dict[str, Part]:
    """Each corpus of the chapter with its halves and all its atoms."""
    found = {}
    for name in names:
        corpus = load(name, data, texts, seed)
        split = corpus.split(seed=SPLIT_SEED)
        least = min(*thresholds, scaled_threshold(len(split.auxiliary)))
        found[name] = Part(corpus, split, atoms(split.auxiliary, name, MOST, least))
    return found


def dictionaries(parts: Mapping[str, Part], size: int) -> pd.DataFrame:
    """Tables 4 and 5 for our corpora: rank, label and auxiliary support of each atom of the main dictionary."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"corpus": name, "rank": rank, "label": label, "support": support}
            for name, part in parts.items()
            for rank, (label, support) in enumerate(part.dictionary(size), 1)
        ]
    )


def sizes(parts: Mapping[str, Part], requested: Sequence[int], thresholds: Sequence[int]) -> pd.DataFrame:
    """How large a dictionary gets: m asked for, or the support threshold alone (phrases; no limit of size).

    Columns: corpus, builder, rule ("requested" or "threshold") and its setting; candidates, after_merge (phrases that
    the profile's rules leave; combinations for metadata), size.
    """
    import pandas as pd

    rows = []
    for name, part in parts.items():
        manifest = part.whole.manifest
        found = [("requested", m, len(part.dictionary(m))) for m in requested]
        if part.phrases:
            tried = [threshold for threshold in sorted(thresholds) if threshold <= part.supports.max()]
            found += [("threshold", threshold, int((part.supports >= threshold).sum())) for threshold in tried]
        rows += [
            {
                "corpus": name,
                "builder": manifest["builder"],
                "rule": rule,
                "setting": int(setting),
                "candidates": manifest["candidates"],
                "after_merge": manifest.get("after_merge", manifest["candidates"]),
                "size": size,
            }
            for rule, setting, size in found
        ]
    return pd.DataFrame(rows)


def statistics(parts: Mapping[str, Part]) -> pd.DataFrame:
    """What a corpus and its halves hold, one number a row: corpus, part, statistic, value.

    records, characters of a text (mean, quantiles), categories and the share of the largest; where user ids are known
    also users, users_with_several, records a user (mean, median, 95 %, most) and shared_users of the two halves.
    """
    import pandas as pd

    rows = []
    for name, part in parts.items():
        split = part.split
        for which, some in (("all", part.corpus), ("auxiliary", split.auxiliary), ("target", split.target)):
            found = _texts(some) | _categories(some, RECIPES[name].category)
            if some.unit_ids is not None:
                found |= _users(some)
                if which == "all":
                    found["shared_users"] = len(set(split.auxiliary.unit_ids) & set(split.target.unit_ids))
            rows += [{"corpus": name, "part": which, "statistic": key, "value": float(v)} for key, v in found.items()]
    return pd.DataFrame(rows)


def _texts(corpus: Corpus) -> dict[str, float]:
    lengths = np.array([len(text) for text in corpus])
    low, middle, high = np.percentile(lengths, (5, 50, 95))
    return {
        "records": len(corpus),
        "characters_mean": lengths.mean(),
        "characters_5": low,
        "characters_median": middle,
        "characters_95": high,
    }


def _categories(corpus: Corpus, attribute: str | None) -> dict[str, float]:
    counts = Counter(value for value in corpus.attributes[attribute] if value)
    return {"categories": len(counts), "largest_category_share": max(counts.values()) / len(corpus)}


def _users(corpus: Corpus) -> dict[str, float]:
    counts = np.array(list(Counter(corpus.unit_ids).values()))
    return {
        "users": len(counts),
        "users_with_several": int((counts > 1).sum()),
        "records_a_user_mean": counts.mean(),
        "records_a_user_median": np.median(counts),
        "records_a_user_95": np.percentile(counts, 95),
        "records_a_user_most": counts.max(),
    }
