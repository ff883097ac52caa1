"""Texts from released centroids: how near they come, how they read, what they score and what can be learnt from them.

Means, members and scores are measured on the protected texts themselves: curator-side figures on public corpora.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privlib import assets, synthesis
from privlib.dp import Simulation
from privlib.experiments.studies import synthesis as base
from privlib.experiments.studies.synthesis_paper import as_published
from privlib.synthesis import Inversion, SearchInverter

if TYPE_CHECKING:
    from privlib.corpora import Corpus
    from privlib.models import Encoder, LanguageModel, Vec2TextInverter
    from privlib.synthesis.paraphrase import Generate

NEAREST, SEARCH, AGAIN, MEMBER = "nearest public text", "search", "search, paraphrased", "a private member"
EXACT, RELEASED = "exact", "released"


@dataclass(frozen=True)
class Case:
    """Protected texts with public labels' codes, held-out ones, and public texts; float[n, d] embeddings of each."""

    target: Corpus
    held_out: Corpus
    public: Corpus
    private: np.ndarray
    tested: np.ndarray
    pool: np.ndarray
    codes: np.ndarray
    tested_codes: np.ndarray


@dataclass(frozen=True)
class Setting(base.Setting):
    """The same; a text within alpha r counts as near; k of the paper's grid, 0 for none."""

    alpha: float = 1.5
    dims: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Centroid:
    """One centroid to be inverted: `released` by the run of `seed`, `exact` the mean of all its records."""

    seed: int
    label: int
    cell: tuple[int, ...]
    released: np.ndarray
    exact: np.ndarray


def prepare(
    corpus: str,
    public_corpus: str,
    data: str,
    attribute: str,
    labels: Sequence[str],
    records: int,
    public: int,
    seed: int,
    encoder: Encoder,
) -> Case:
    """About `records` texts that carry one of the `labels`, an eighth of them held out; `public` of another corpus."""
    from privlib import corpora

    chosen = corpora.load(corpus, data=data).where(**{attribute: tuple(labels)})
    held_out, target = chosen.sample(min(records, len(chosen)), seed, public_size=len(chosen)).split(seed, 0.125)
    texts = corpora.load(public_corpus, data=data)
    texts = texts.sample(min(public, len(texts)), seed, public_size=len(texts))
    vectors = [encoder.embed(part).astype(np.float64) for part in (target, held_out, texts)]
    return Case(target, held_out, texts, *vectors, target.codes(attribute, labels), held_out.codes(attribute, labels))


def language(name: str, public: Sequence[str]) -> LanguageModel:
    """The language model that writes, rewords and judges: "packaged", or "pairs" of words of the `public` texts."""
    from privlib import models

    if name not in ("packaged", "pairs"):
        raise ValueError(f"name must be 'packaged' or 'pairs', got {name!r}")
    return models.language_model() if name == "packaged" else models.BigramModel(public)


class Releases:
    """One simulated release a seed and label at `epsilon`, of anchored cells around public texts, denoised.

    With `setting.dims` of the paper's grid instead, at its p_s, v and noise of this epsilon, as released; raises as
    `as_published` where it cannot be. A record has one label, so adding or dropping it moves one label's release only:
    all of them together cost what one does. Anchors or grid, and spectrum, are public and shared.
    """

    def __init__(self, case: Case, setting: Setting, epsilon: float):
        self.case, self.setting, self.epsilon = case, setting, epsilon
        self.labels = range(int(case.codes.max()) + 1)
        budget = (epsilon, setting.delta)
        if setting.dims:
            self.buckets, self._spectrum = setting.grid(setting.dims, case.private.shape[1]), None
            self.mechanism = as_published(self.buckets, *budget, setting.frequency)
            return
        self.buckets = setting.anchored(case.pool)
        self._spectrum = synthesis.PublicSpectrum.fit(case.pool - self.buckets.origins(self.buckets.assign(case.pool)))
        rate, threshold, _ = synthesis.best_rate(*budget, setting.frequency)
        self.mechanism = synthesis.CentroidRelease(self.buckets, *budget, rate, threshold)

    def run(self, seed: int) -> list[synthesis.Centroids]:
        """What is released of each label."""
        made = [
            self.mechanism.release(
                self.case.private[self.case.codes == label], Simulation(seed).child(f"label {label}")
            )
            for label in self.labels
        ]
        return made if self._spectrum is None else [part.denoised(self._spectrum) for part in made]

    @cached_property
    def _tags(self) -> np.ndarray:
        return self.buckets.assign(self.case.private)

    def members(self, label: int, cell: Sequence[int]) -> np.ndarray:
        """Places of the records that carry the label and lie in the cell."""
        return np.flatnonzero((self.case.codes == label) & (self._tags == cell).all(axis=1))

    def exact(self) -> tuple[np.ndarray, np.ndarray]:
        """Means of the cells that t records of a label share, without any privacy, and their labels."""
        means, labels = [], []
        for label in self.labels:
            mine = self.case.codes == label
            rows = self.case.private[mine]
            _, owners, counts = np.unique(self._tags[mine], axis=0, return_inverse=True, return_counts=True)
            for place in np.flatnonzero(counts >= self.setting.frequency):
                means.append(rows[owners.ravel() == place].mean(axis=0))
                labels.append(label)
        return np.array(means), np.array(labels)

    def picked(self, count: int) -> list[Centroid]:
        """`count` released centroids, by turns of the labels, largest released counts first, each of another seed.

        A label whose cells are used up is passed over; ValueError when all are.
        """
        seeds, chosen, turn, passed = self.setting.seeds, [], 0, 0
        runs: dict[int, list[synthesis.Centroids]] = {}
        while len(chosen) < count:
            label, rank = turn % len(self.labels), turn // len(self.labels)
            seed = seeds[turn % len(seeds)]
            turn += 1
            if seed not in runs:
                runs[seed] = self.run(seed)
            part = runs[seed][label]
            if rank >= len(part):
                passed += 1
                if passed == len(self.labels):
                    raise ValueError(f"count must be at most the released cells, {len(chosen)}: invert fewer")
                continue
            passed = 0
            place = np.argsort(-part.counts, kind="stable")[rank]
            cell = tuple(part.cells[place].tolist())
            exact = self.case.private[self.members(label, cell)].mean(axis=0)
            chosen.append(Centroid(seed, label, cell, part.centroids[place], exact))
        return chosen


@dataclass(frozen=True, eq=False)
class Published:
    """vec2text as the search is used: the nearest public text of each centroid stands beside what it wrote.

    `inverter` writes and embeds; the other arguments are as for `SearchInverter`.
    """

    inverter: Vec2TextInverter
    pool: Sequence[str]
    pool_vectors: np.ndarray

    def search(self, centroids: np.ndarray) -> list[Inversion]:
        aimed, pool = unit_rows(centroids), unit_rows(self.pool_vectors)
        began = time.process_time()
        written = self.inverter.invert(centroids)
        seconds = (time.process_time() - began) / max(1, len(written))
        cosines = np.einsum("ij,ij->i", unit_rows(self.inverter.embed(written)), aimed)
        nearest = (aimed @ pool.T).argmax(axis=1)
        starts = np.einsum("ij,ij->i", pool[nearest], aimed)
        return [
            Inversion(text, cosine, self.pool[place], start, (("nearest", start), ("vec2text", cosine)), seconds)
            for text, cosine, place, start in zip(written, cosines.tolist(), nearest, starts.tolist(), strict=True)
        ]


def finders(
    name: str, case: Case, encoder: Encoder, model: LanguageModel, weights: Sequence[float], seed: int, **settings
) -> dict[float, SearchInverter | Published]:
    """An inverter a fluency weight: "search" with `settings`, or "vec2text" with the paper's correctors by name.

    vec2text knows no fluency weight and inverts gtr-t5-base alone, so it is the same for all `weights`. What a search
    has found it keeps in `assets.cache_dir()/inversions`, for the encoder, the model and the code that searched: a
    killed run resumes.
    """
    from privlib import models

    if name not in ("search", "vec2text"):
        raise ValueError(f"name must be 'search' or 'vec2text', got {name!r}")
    if name == "vec2text":
        return dict.fromkeys(weights, Published(models.vec2text_inverter(), case.public, case.pool))
    public = {"pool": case.public, "pool_vectors": case.pool, "writer": model, "seed": seed}
    public |= {"cache": assets.cache_dir() / "inversions", "label": _searched_by(encoder, model)}
    return {weight: SearchInverter(encoder, **public, fluency=weight, **settings) for weight in weights}


def _searched_by(encoder: Encoder, model: LanguageModel) -> str:
    """A name for what decides a text beside settings, pool and centroid: both models, and the code of the search."""
    code = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(Path(synthesis.__file__).parent.glob("*.py"))))
    return json.dumps([encoder.checksum, encoder.pooled, model.name, model.checksum, code.hexdigest()])


def invert(
    picked: Sequence[Centroid], finder: SearchInverter | Published
) -> tuple[dict[str, list[Inversion]], list[dict[str, object]]]:
    """What is found for exact and for released centroids, in the order of `picked`; and the CPU time that it took.

    One row a kind: kind, texts, seconds (CPU, a text). What a search does once, it does for the first kind.
    """
    found, spent = {}, []
    for kind in (EXACT, RELEASED):
        found[kind] = finder.search(np.array([getattr(one, kind) for one in picked]))
        seconds = float(np.mean([one.seconds for one in found[kind]]))
        spent.append({"kind": kind, "texts": len(picked), "seconds": seconds})
    return found, spent


def reworded(
    found: Sequence[Inversion], generate: Generate, count: int, temperature: float, seed: int
) -> list[tuple[str, ...]]:
    """Up to `count` paraphrases of each text that was found."""
    told = [one.text for one in found]
    return list(
        synthesis.paraphrase(told, generate, count, max_new_tokens=32, temperature=temperature, seed=seed).texts
    )


def texts(
    case: Case,
    picked: Sequence[Centroid],
    found: Mapping[str, Sequence[Inversion]],
    again: Mapping[str, Sequence[Sequence[str]]],
    releases: Releases,
    seed: int,
) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """(kind, method) -> (place in `picked`, text), of what was `found` and of its paraphrases, `again`, by kind.

    A paraphrase is missing where the model gave none.
    "a private member" is a protected text of the cell, drawn at random: what a text of it is like. Never released.
    """
    rng = np.random.default_rng(seed)
    made: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for kind, inversions in found.items():
        made[kind, NEAREST] = [(i, one.start) for i, one in enumerate(inversions)]
        made[kind, SEARCH] = [(i, one.text) for i, one in enumerate(inversions)]
    for kind, groups in again.items():
        made[kind, AGAIN] = [(i, group[0]) for i, group in enumerate(groups) if group]
    members = [releases.members(one.label, one.cell) for one in picked]
    made[EXACT, MEMBER] = [(i, case.target[rng.choice(rows)]) for i, rows in enumerate(members)]
    return {name: some for name, some in made.items() if some}


def learnable(
    picked: Sequence[Centroid],
    found: Mapping[str, Sequence[Inversion]],
    again: Mapping[float, Sequence[Sequence[str]]],
    members: Sequence[str],
) -> dict[str, tuple[list[str], list[int]]]:
    """Texts of released centroids with their labels: as found, and with their paraphrases at each temperature.

    Beside them as many real texts, `members`: one of each centroid's cell.
    """
    labels, plain = [one.label for one in picked], [one.text for one in found[RELEASED]]
    groups = {SEARCH: (plain, labels), MEMBER: (list(members), labels)}
    for heat, told in again.items():
        more = [(text, label) for group, label in zip(told, labels, strict=True) for text in group]
        groups[f"{AGAIN} at {heat:g}"] = (plain + [text for text, _ in more], labels + [label for _, label in more])
    return groups


def clusters(
    case: Case,
    picked: Sequence[Centroid],
    found: Mapping[str, Sequence[Inversion]],
    again: Mapping[float, Sequence[Sequence[str]]],
    releases: Releases,
) -> dict[str, tuple[list[str], list[int]]]:
    """Texts of each picked cell with their paraphrases, by temperature, and as many real ones: texts, cell of each."""
    groups = {}
    for heat, told in again.items():
        whole = [(place, [one.text, *told[place]]) for place, one in enumerate(found[RELEASED])]
        groups[f"{AGAIN} at {heat:g}"] = (
            [text for _, group in whole for text in group],
            [place for place, group in whole for _ in group],
        )
    most = 1 + max(len(group) for told in again.values() for group in told)
    real, places = [], []
    for place, one in enumerate(picked):
        rows = releases.members(one.label, one.cell)[:most]
        real += [case.target[row] for row in rows]
        places += [place] * len(rows)
    return groups | {"real texts": (real, places)}


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Rows, none of them zero, at length 1."""
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
