"""The public corpora of the plans chapter, each split, with its atoms and the assignment of its target half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privlib import corpora, plans

if TYPE_CHECKING:
    from scipy import sparse

    from privlib.corpora import Corpus

BEAUTY = ("All_Beauty", "Luxury_Beauty", "Beauty_and_Personal_Care")
SPLIT_SEED = 1
USERS, MOST_RECORDS, EXPONENT = 5000, 40, 0.5  # the generated corpus: few users write much, most write one review


@dataclass(frozen=True)
class Recipe:
    """How a corpus of the chapter is had: its `source`, the attribute values kept, and how its atoms are made.

    `atoms`: "metadata" or the name of a phrase profile; `category`: attribute that says what a record is about, or, on
    Yelp, how many stars it gives: there "categories" are ratings. "amazon-beauty" is three categories of products, as
    the smallest alone is small; "yelp-users" is no selection: all local businesses that its users wrote of, with the
    dictionary rules of restaurants.
    """

    source: str
    atoms: str
    keep: tuple[str, tuple[str, ...]] | None = None
    category: str | None = None


RECIPES = {
    "health-news": Recipe("health-news", "health", category="outlet"),
    "drug-reviews": Recipe("drug-reviews", "health", category="condition"),
    "generated": Recipe("generated", "generic", category="topic"),
    "cfpb": Recipe("cfpb", "metadata", category="product_group"),
    "amazon-all-beauty": Recipe("amazon", "beauty", ("category", BEAUTY[:1]), "category"),
    "amazon-beauty": Recipe("amazon", "beauty", ("category", BEAUTY), "category"),
    "amazon-hub": Recipe("amazon", "beauty", category="rating"),
    "yelp-restaurants": Recipe("yelp-categories", "restaurants", ("business_category", ("Restaurants",)), "stars"),
    "yelp-users": Recipe("yelp-users", "restaurants", category="stars"),
}


@dataclass(frozen=True, eq=False)
class Case:
    """One corpus ready for a study: public text split in two, atoms of one half, `vectors` (n, m) of the other."""

    name: str
    corpus: Corpus
    auxiliary: Corpus
    target: Corpus
    universe: plans.AtomUniverse
    sparsity: int
    vectors: sparse.csr_array

    @cached_property
    def _places(self) -> dict[str, int]:
        return {record: row for row, record in enumerate(self.target.record_ids)}

    def units(self, unit: str) -> int:
        """Number of "record" or "user" units in the target half (the corpus is public)."""
        return len(self.target) if unit == "record" else len(set(self.target.unit_ids))

    def select(self, n: int, seed: int, unit: str, strict_sample_size: bool = False) -> Selection:
        """The units of one run, by hash of their ids and `seed`; see `selected`."""
        chosen = selected(self.target, n, seed, unit, strict_sample_size)
        return Selection(chosen, self.vectors[[self._places[record] for record in chosen.record_ids]])

    def settings(self) -> dict[str, object]:
        """What a record states of this corpus and its atoms."""
        return {
            "texts": len(self.corpus),
            "auxiliary_texts": len(self.auxiliary),
            "target_texts": len(self.target),
            "universe_size": len(self.universe),
            "universe_fingerprint": self.universe.fingerprint,
            "sparsity": self.sparsity,
        }


@dataclass(frozen=True, eq=False)
class Selection:
    """The records of one run and their rows of the assignment."""

    corpus: Corpus
    vectors: sparse.csr_array

    def sketch(self, universe: plans.AtomUniverse, unit: str, contribution_bound: float = 1.0) -> plans.Sketch:
        if unit == "record":
            return plans.record_sketch(self.vectors, universe.fingerprint)
        return plans.user_sketch(self.vectors, self.corpus.unit_ids, contribution_bound, universe.fingerprint)


def load(name: str, data: str, texts: int = 0, seed: int = 1) -> Corpus:
    """The public corpus called `name` in `RECIPES`, cut by hash to about `texts` records (0: all)."""
    if name not in RECIPES:
        raise ValueError(f"corpus must be among {sorted(RECIPES)}, got {name!r}")
    recipe = RECIPES[name]
    if recipe.source == "generated":
        corpus = corpora.generate(n_users=USERS, seed=seed, most_records=MOST_RECORDS, exponent=EXPONENT).corpus
    else:
        corpus = corpora.load(recipe.source, data=data)
    if recipe.atoms == "metadata":
        corpus = corpus.where([bool(issue) for issue in corpus.attributes["issue"]])
    if recipe.keep is not None:
        corpus = corpus.where(**{recipe.keep[0]: recipe.keep[1]})
    units = len(corpus if corpus.unit_ids is None else set(corpus.unit_ids))
    if texts == 0 or texts >= len(corpus):
        return corpus
    return corpus.sample(units * texts / len(corpus), seed=seed, public_size=units)


def atoms(auxiliary: Corpus, name: str, size: int, support_threshold: int | None = None) -> plans.AtomUniverse:
    """At most `size` atoms for the corpus called `name`, from its auxiliary half."""
    if (profile := RECIPES[name].atoms) == "metadata":
        return plans.metadata_universe(auxiliary, size=size)
    return plans.phrase_universe(auxiliary, profile=profile, size=size, support_threshold=support_threshold)


def first(universe: plans.AtomUniverse, size: int) -> plans.AtomUniverse:
    """The best supported `size` atoms (all if there are fewer), with the same text representation."""
    size = min(size, len(universe))
    manifest = {**universe.manifest, "size": size}
    return plans.AtomUniverse(universe.labels[:size], universe.descriptions[:size], manifest, universe.representation)


def prepare(name: str, data: str, *, universe_size: int, sparsity: int = 3, texts: int = 0, seed: int = 1) -> Case:
    """Load, split (user-disjoint where users are known), make atoms of one half, assign the other."""
    corpus = load(name, data, texts, seed)
    halves = corpus.split(seed=SPLIT_SEED)
    universe = atoms(halves.auxiliary, name, universe_size)
    vectors = plans.assign(halves.target, universe, sparsity)
    return Case(name, corpus, halves.auxiliary, halves.target, universe, sparsity, vectors)


def selected(target: Corpus, n: int, seed: int, unit: str, strict_sample_size: bool = False) -> Corpus:
    """Units of one run: each kept with probability n / (units there), all when there are fewer than n.

    `strict_sample_size`: exactly n units, or corpora.TooFewUnits, which stops the experiment. One more unit
    would push another out, so such a run is billed under "replace" (`relation_of`) and is never a release.
    """
    if strict_sample_size:
        return target.exactly(n, seed, unit=unit)
    there = len(target.record_ids if unit == "record" else set(target.unit_ids))
    return target.sample(min(n, there), seed, public_size=there, unit=unit)


def relation_of(strict_sample_size: bool) -> str:
    """Neighbouring relation under which a run's plan is billed."""
    return "replace" if strict_sample_size else "add_drop"


def spread(name: str, values: Sequence[float], percentiles: tuple[float, float] = (5.0, 95.0)) -> dict[str, float]:
    """Columns of one measured quantity over the seeds: mean (by its name), _sd, _low and _high."""
    column = np.asarray(values, dtype=np.float64)
    low, high = np.percentile(column, percentiles)
    return {
        name: float(column.mean()),
        f"{name}_sd": float(column.std(ddof=1)),
        f"{name}_low": float(low),
        f"{name}_high": float(high),
    }


def extent(name: str, values: Sequence[float]) -> dict[str, float]:
    """A group statistic that is no key: mean, sd, smallest and largest over the seeds."""
    column = np.asarray(values, dtype=np.float64)
    return {
        f"{name}_mean": float(column.mean()),
        f"{name}_sd": float(column.std(ddof=1)),
        f"{name}_min": float(column.min()),
        f"{name}_max": float(column.max()),
    }
