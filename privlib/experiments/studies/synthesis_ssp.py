"""Who lands near texts that few others resemble: repeated runs of our release, Aug-PE, local and central baselines.

Distances, neighbour counts and heavy cells are measured on the protected texts: curator-side figures on public corpora.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib import baselines, synthesis
from privlib.dp import Simulation
from privlib.experiments.studies import synthesis as base
from privlib.synthesis.buckets import clipped

if TYPE_CHECKING:
    from privlib.corpora import Corpus

PLAIN, DENOISED, TEXTS = "centroids", "centroids, denoised", "texts of them"
AUG_PE, CENTRAL, OUE, LOCAL = "Aug-PE", "central DP", "local DP, counts", "local DP, embeddings"
METHODS = (PLAIN, DENOISED, TEXTS, AUG_PE, CENTRAL, OUE, LOCAL)


@dataclass(frozen=True)
class Case:
    """Protected texts, planted probes last, and public ones; float[n, d] embeddings; `probe` bool[n] marks probes."""

    target: Corpus
    auxiliary: Corpus
    probes: Corpus
    private: np.ndarray
    public: np.ndarray
    probe: np.ndarray


@dataclass(frozen=True)
class Setting(base.Setting):
    """The same, and how many runs the local methods get."""

    local_runs: int


@dataclass(frozen=True)
class Evolving:
    """Aug-PE's public sizes: texts kept, candidates a text (itself and its rewrites), rounds, texts near enough."""

    population: int
    variations: int
    iterations: int
    near: int = 10


def prepare(
    corpus: str, auxiliary: str, probes: str, data: str, records: int, public: int, planted: int, split_seed: int
) -> Case:
    """About `records` protected and `public` public texts, and `planted` ones of another corpus among the protected."""
    from privlib import corpora, models

    target, aside = base.target_and_auxiliary(corpus, auxiliary, data, records, public, split_seed)
    strangers = corpora.load(probes, data=data).exactly(planted, seed=split_seed, unit="record")
    encoder = models.encoder()
    private, odd, near = (encoder.embed(part).astype(np.float64) for part in (target, strangers, aside))
    mask = np.arange(len(private) + len(odd)) >= len(private)
    return Case(target, aside, strangers, np.concatenate([private, odd]), near, mask)


class Methods:
    """Every mechanism at one epsilon, around the same public cells; `runs` repeats one of them on the same data."""

    def __init__(self, case: Case, setting: Setting, epsilon: float, evolving: baselines.AugPE):
        self.case, self.setting = case, setting
        buckets = synthesis.AnchoredBuckets(case.public, setting.cells, setting.radius)
        residuals = case.public - buckets.origins(buckets.assign(case.public))
        rate, threshold, _ = synthesis.best_rate(epsilon, setting.delta, setting.frequency)
        bill = (epsilon, setting.delta)
        every = np.arange(setting.cells)[:, None]
        self.spectrum = synthesis.PublicSpectrum.fit(residuals)
        self.ours = synthesis.CentroidRelease(buckets, *bill, rate, threshold)
        self.evolving = evolving
        self.central = baselines.CuratorRelease(buckets, *bill, threshold=setting.frequency)
        self.oue = baselines.LocalBuckets(buckets, every, *bill, threshold=setting.frequency)
        self.local = baselines.LocalEmbeddings(buckets, *bill, threshold=setting.frequency)

    @property
    def guarantees(self) -> list:
        return [made.guarantee for made in (self.ours, self.evolving, self.central, self.oue, self.local)]

    def released(self, method: str, seed: int):
        """What one run of a method with tags releases: `tags` or `cells`, and `centroids`."""
        made = {PLAIN: self.ours, CENTRAL: self.central, OUE: self.oue, LOCAL: self.local}[method]
        return made.release(self.case.private, Simulation(seed).child(method))

    def outputs(self, seed: int, local: bool = True) -> dict[str, np.ndarray]:
        """Outputs of one run of each method, float[m, d]; ours thrice: as released, denoised, and as public texts."""
        ours = self.released(PLAIN, seed)
        clean = ours.denoised(self.spectrum).centroids
        texts = self.evolving.release(self.case.private, Simulation(seed).child(AUG_PE)).texts
        found = {PLAIN: ours.centroids, DENOISED: clean, TEXTS: self.nearest_texts(clean)}
        found |= {AUG_PE: np.asarray(self.evolving.embed(texts)), CENTRAL: self.released(CENTRAL, seed).centroids}
        found[OUE] = self.released(OUE, seed).centroids
        if local and seed in self.setting.seeds[: self.setting.local_runs]:
            found[LOCAL] = self.released(LOCAL, seed).centroids
        return found

    def runs(self) -> dict[str, list[np.ndarray]]:
        """method -> outputs of its independent runs, one a seed."""
        made = [self.outputs(seed) for seed in self.setting.seeds]
        return {method: [run[method] for run in made if method in run] for method in METHODS}

    def nearest_texts(self, centroids: np.ndarray) -> np.ndarray:
        """Embeddings of the public texts nearest the centroids' directions: the cheapest inverter."""
        return self.case.public[np.argmax(centroids @ self.case.public.T, axis=1)]

    def exact_means(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Means of what the run of `seed` kept, before noise, and each one's deviation a coordinate: never released."""
        noise = Simulation(seed).child(PLAIN)
        kept = self.case.private[noise.child("sample").bernoulli(self.ours.rate, len(self.case.private))]
        cells = self.ours.buckets.assign(kept)
        tags, owners, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        heavy = np.flatnonzero(counts >= self.ours.threshold)
        means = self.ours.buckets.origins(tags[heavy])
        for row, place in enumerate(heavy):
            means[row] += clipped(kept[owners.ravel() == place] - means[row], self.setting.radius).mean(axis=0)
        return means, self.ours.noise_std(noise) / counts[heavy]


def evolving(case: Case, sizes: Evolving, epsilon: float, delta: float, writer: str, seed: int) -> baselines.AugPE:
    """Aug-PE that starts from public texts and varies them by near public texts, or by the packaged model ("model")."""
    texts = [text.strip() for text in case.auxiliary.texts]
    known = dict(zip(texts, case.public, strict=True))
    places = {text: place for place, text in enumerate(texts)}

    def generate(count: int, drawn: int) -> list[str]:
        rng = np.random.default_rng(drawn)
        return [texts[i] for i in rng.choice(len(texts), count, replace=False)]

    def near(some: Sequence[str], drawn: int) -> list[str]:
        rows, rng = [places[text] for text in some], np.random.default_rng(drawn)
        order = np.argsort(-(case.public[rows] @ case.public.T), axis=1)[:, 1 : sizes.near + 1]
        return [texts[row[place]] for row, place in zip(order, rng.integers(sizes.near, size=len(rows)), strict=True)]

    def embed(some: Sequence[str]) -> np.ndarray:
        return np.array([known[text] for text in some])

    if writer == "model":
        near, embed = _by_model(known, seed)
    elif writer != "near texts":
        raise ValueError(f"writer must be 'near texts' or 'model', got {writer!r}")
    models = {"generate": generate, "vary": near, "embed": embed, "public_seed": seed}
    public = {"population": sizes.population, "variations": sizes.variations, "iterations": sizes.iterations}
    return baselines.AugPE(**models, epsilon=epsilon, delta=delta, **public)


def _by_model(known: Mapping[str, np.ndarray], seed: int) -> tuple[Callable, Callable]:
    """Rewrites by the packaged model, empty where it gave none, and an embedder that knows the public texts."""
    from privlib import models

    model, raw, met = models.language_model(), models.encoder(cache=False), dict(known)

    def vary(some: Sequence[str], drawn: int) -> list[str]:
        made = synthesis.paraphrase(some, model.complete, attempts=1, max_new_tokens=32, seed=(seed + drawn) % 2**31)
        return [group[0] if group else "" for group in made.texts]

    def embed(some: Sequence[str]) -> np.ndarray:
        fresh = [text for text in some if text not in met]
        met.update(zip(fresh, raw.embed(fresh), strict=True))
        return np.array([met[text] for text in some], dtype=np.float64)

    return vary, embed
