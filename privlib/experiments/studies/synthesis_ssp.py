"""Who lands near texts that few others resemble: repeated runs of our release, Aug-PE, local and central baselines.

Distances, neighbour counts and heavy cells are measured on the protected texts: curator-side figures on public corpora.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from privlib import baselines, synthesis
from privlib.dp import Simulation
from privlib.experiments.studies import synthesis as base
from privlib.experiments.studies.synthesis_paper import OlderBill, as_published, distance_paid
from privlib.synthesis.buckets import clipped

if TYPE_CHECKING:
    from privlib.corpora import Corpus
    from privlib.models import Encoder

PLAIN, DENOISED, TEXTS = "centroids", "centroids, denoised", "texts of them"
AUG_PE, CENTRAL, OUE, LOCAL = "Aug-PE", "central DP", "local DP, counts", "local DP, embeddings"
GRID, GRID_DENOISED = "the paper's grid", "the paper's grid, denoised"
METHODS = (PLAIN, DENOISED, TEXTS, AUG_PE, CENTRAL, OUE, LOCAL, GRID, GRID_DENOISED)


@dataclass(frozen=True)
class Case:
    """Protected texts, planted probes last, and public ones; float[n, d] embeddings; `probe` bool[n] marks probes.

    `encoder`: what made them; None where no text is made anew.
    """

    target: Corpus
    auxiliary: Corpus
    probes: Corpus
    private: np.ndarray
    public: np.ndarray
    probe: np.ndarray
    encoder: Encoder | None = None


@dataclass(frozen=True)
class Setting(base.Setting):
    """The same, how many runs the local methods get, and k of the paper's grid, 0 for none."""

    local_runs: int
    dims: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Evolving:
    """Aug-PE's public sizes: texts kept, candidates a text (itself and its rewrites), rounds, texts near enough."""

    population: int
    variations: int
    iterations: int
    near: int = 10


def prepare(
    encoder: Encoder, corpora_of: tuple[str, str, str], data: str, sizes: tuple[int, int, int], split_seed: int
) -> Case:
    """Texts of protected, public and probe corpus (`corpora_of`), embedded.

    `sizes`: about how many protected and public texts, and exactly how many probes, planted among the protected ones.
    """
    from privlib import corpora

    (corpus, auxiliary, probes), (records, public, planted) = corpora_of, sizes
    target, aside = base.target_and_auxiliary(corpus, auxiliary, data, records, public, split_seed)
    strangers = corpora.load(probes, data=data).exactly(planted, seed=split_seed, unit="record")
    private, odd, near = (encoder.embed(part).astype(np.float64) for part in (target, strangers, aside))
    mask = np.arange(len(private) + len(odd)) >= len(private)
    return Case(target, aside, strangers, np.concatenate([private, odd]), near, mask, encoder)


class Methods:
    """Every mechanism at one epsilon, around the same public cells; `runs` repeats one of them on the same data.

    With `setting.dims` the paper's grid at its p_s and v, too, as released and denoised; raises as `as_published` where
    it cannot be.
    """

    def __init__(self, case: Case, setting: Setting, epsilon: float, evolving: baselines.AugPE):
        self.case, self.setting = case, setting
        buckets = setting.anchored(case.public)
        residuals = case.public - buckets.origins(buckets.assign(case.public))
        rate, threshold, _ = synthesis.best_rate(epsilon, setting.delta, setting.frequency)
        bill = (epsilon, setting.delta)
        every = np.arange(setting.cells)[:, None]
        self.spectrum = synthesis.PublicSpectrum.fit(residuals)
        self.ours = synthesis.CentroidRelease(buckets, *bill, rate, threshold)
        self.evolving = evolving
        self.central = baselines.CuratorRelease(buckets, *bill, threshold=setting.frequency)
        self.oue = baselines.LocalBuckets(buckets, every, *bill, threshold=setting.frequency)
        self.local = baselines.LocalEmbeddings(buckets, *bill, setting.frequency, setting.max_norm)
        self.grid = None
        if setting.dims:  # whose origin is zero
            self.grid_spectrum = synthesis.PublicSpectrum.fit(case.public)
            self.grid = as_published(setting.grid(setting.dims, case.public.shape[1]), *bill, setting.frequency)

    @property
    def guarantees(self) -> list:
        mechanisms = (self.ours, self.evolving, self.central, self.oue, self.local, self.grid)
        return [made.guarantee for made in mechanisms if made]

    @property
    def distances_paid(self) -> dict[str, float]:
        """method -> the distance that its noise on sums, or on each embedding, pays for, whatever the data."""
        found = {PLAIN: paid(self.ours), CENTRAL: self.central.buckets.clip_norm, OUE: self.oue.sums(1).l2_sensitivity}
        found[LOCAL] = self.local.message.l2_sensitivity
        return found | ({GRID: paid(self.grid)} if self.grid else {})

    def released(self, method: str, seed: int):
        """What one run of a method that names cells releases."""
        made = {PLAIN: self.ours, CENTRAL: self.central, OUE: self.oue, LOCAL: self.local, GRID: self.grid}[method]
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
        if self.grid:
            made = self.released(GRID, seed)
            found |= {GRID: made.centroids, GRID_DENOISED: made.denoised(self.grid_spectrum).centroids}
        return found

    def runs(self) -> dict[str, list[np.ndarray]]:
        """method -> outputs of its independent runs, one a seed."""
        made = [self.outputs(seed) for seed in self.setting.seeds]
        found = {method: [run[method] for run in made if method in run] for method in METHODS}
        return {method: outputs for method, outputs in found.items() if outputs}

    def nearest_texts(self, centroids: np.ndarray) -> np.ndarray:
        """Embeddings of the public texts nearest the centroids: the cheapest inverter."""
        return self.case.public[np.argmax(nearness(centroids, self.case.public), axis=1)]

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


def paid(mechanism: synthesis.CentroidRelease) -> float:
    """The distance inside a cell that the noise pays for: 2 r of anchored cells, u r or 2 R of the paper's grid."""
    return distance_paid(mechanism.buckets)[0] if isinstance(mechanism, OlderBill) else mechanism.buckets.diameter


def nearness(rows: np.ndarray, public: np.ndarray) -> np.ndarray:
    """float[n, m], the larger the nearer `rows` float[n, d] lie to `public` float[m, d]: (|x|^2 - |x - y|^2) / 2."""
    return rows @ public.T - np.einsum("ij,ij->i", public, public) / 2


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
        order = np.argsort(-nearness(case.public[rows], case.public), axis=1)[:, 1 : sizes.near + 1]
        return [texts[row[place]] for row, place in zip(order, rng.integers(sizes.near, size=len(rows)), strict=True)]

    def embed(some: Sequence[str]) -> np.ndarray:
        return np.array([known[text] for text in some])

    if writer == "model":
        near, embed = _by_model(known, case.encoder, seed)
    elif writer != "near texts":
        raise ValueError(f"writer must be 'near texts' or 'model', got {writer!r}")
    models = {"generate": generate, "vary": near, "embed": embed, "public_seed": seed}
    public = {"population": sizes.population, "variations": sizes.variations, "iterations": sizes.iterations}
    return baselines.AugPE(**models, epsilon=epsilon, delta=delta, **public)


def _by_model(known: Mapping[str, np.ndarray], encoder: Encoder, seed: int) -> tuple[Callable, Callable]:
    """Rewrites by the packaged model, empty where it gave none, and an embedder that knows the public texts.

    A rewrite hangs on its text and its seed alone, and every run of one mechanism asks with the same seeds: each is
    written once.
    """
    from privlib import models

    model, raw, met = models.language_model(), replace(encoder, cached=False), dict(known)
    told: dict[tuple[str, int], str] = {}

    def vary(some: Sequence[str], drawn: int) -> list[str]:
        fresh = [text for text in dict.fromkeys(some) if (text, drawn) not in told]
        if fresh:
            chosen = (seed + drawn) % 2**31
            made = synthesis.paraphrase(fresh, model.complete, attempts=1, max_new_tokens=32, seed=chosen)
            told.update(
                ((text, drawn), group[0] if group else "") for text, group in zip(fresh, made.texts, strict=True)
            )
        return [told[text, drawn] for text in some]

    def embed(some: Sequence[str]) -> np.ndarray:
        fresh = [text for text in some if text not in met]
        met.update(zip(fresh, raw.embed(fresh), strict=True))
        return np.array([met[text] for text in some], dtype=np.float64)

    return vary, embed
