"""Inversion: a text for each released centroid, by search with the encoder alone; no trained inverter is needed.

A centroid is a point of the encoder's space. The search starts from the nearest public text, and keeps whatever is
worth more: pieces of near public texts and two of them spliced, rewrites and texts written towards the centroid by a
language model where one is given, then edits of single words, those guessed best at each place. A text's worth is its
cosine to the centroid less `fluency` times the nats a token by which it is less likely than a natural text. At fluency
0 what comes out is near, not fluent: it reads as a list of topical words. Score both, and show the trade-off.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import permutations
from pathlib import Path
from typing import Protocol

import numpy as np

from privlib.dp import checks
from privlib.synthesis.candidates import Candidates, Fluency
from privlib.synthesis.edits import Edit, Guesses, edited
from privlib.synthesis.paraphrase import Generate, paraphrase
from privlib.synthesis.writing import Writer, written

_COUNTS = ("near", "vocabulary", "batch", "judged", "beams", "choices", "tried", "length")
_COUNTS_FROM_NONE = ("seed", "edits", "rewrites", "drafts")
_COMBINED = 8  # the best edits of a round, of places and words of their own, are also tried together
_SHOWN = 10  # words shown to the writer
_SMALL = 1e-140  # the largest entry of a vector whose squares vanish
_SEARCH = 4  # raised when the search changes what it finds, so that old cache entries are not taken


class Inverter(Protocol):
    """Centroids, float[n, d], to n texts. `SearchInverter` and `privlib.models.vec2text_inverter` are such."""

    def invert(self, centroids: np.ndarray) -> list[str]: ...


@dataclass(frozen=True)
class Inversion:
    """The text found for one centroid.

    Attributes:
        text, cosine: what was found, and its cosine to the centroid.
        start, start_cosine: the nearest public text, which at fluency 0 `text` is never farther than.
        steps: (stage, cosine of the best after it), in order; the search's are "nearest", "pieces", "rewrite", "draft",
            "words".
        seconds: CPU time of the process that found it, a cached one's included; no part of what is compared.
    """

    text: str
    cosine: float
    start: str
    start_cosine: float
    steps: tuple[tuple[str, float], ...]
    seconds: float = field(compare=False)


@dataclass(frozen=True, eq=False)
class SearchInverter:
    """Finds for each centroid a text whose embedding is near it.

    Privacy: post-processing. Only the public pool, the released centroid and seeded randomness enter, so the promise
    of the centroids holds for the texts. It holds no longer when the pool holds private text: a corpus that is
    marked so is refused, a list of strings cannot be.
    A centroid's text depends on that centroid, the pool and the seed, not on the other centroids (but for float noise
    of encoders, some 1e-7, that may decide between two texts as near as each other).

    Args:
        embed: texts -> finite float[n, d], or an object with such an `embed` (an encoder). Some thousand made-up
            texts a centroid go through it: `privlib.models.encoder(cache=False)` keeps them off the disk.
        pool: public texts, or a corpus that is public.
        generate: language model for rewrites, as `paraphrase` takes it; None for none.
        seed: of the choice of edits and of the rewrites.
        pool_vectors: float[n, d], the pool's embeddings where they are at hand; else computed on first use.
        near: nearest public texts whose pieces are tried, >= 1.
        max_words: longest text made, in words, >= 2.
        vocabulary: commonest words of the pool that edits may use, >= 1.
        edits: rounds of word edits at most, >= 0; two rounds that find nothing end them.
        batch: candidates embedded a round, >= 1: the text without each word, then the edits guessed best.
        rewrites: rounds of rewriting, >= 0; each asks two rewrites of each of the three nearest texts.
        writer: language model that writes towards the centroid and judges fluency (see `Writer`); None for none.
        fluency: what one nat of negative log-likelihood a token above `natural` counts against a cosine, >= 0; above 0
            needs `writer`.
        natural: nats a token that count nothing, >= 0: a text as likely as real ones is likely enough.
        judged: of the texts tried together, how many of the nearest are judged for fluency, >= 1; judging one costs as
            much as embedding twenty, and those not judged are not taken.
        drafts: texts written, one after another, >= 0: from words near the centroid, from those that the best text
            lacks and its own, and then from words drawn near the centroid. Where there are drafts, only the nearest
            piece is judged before them.
        beams, choices, tried, length: of a draft, each >= 1; texts carried on, pieces proposed for each, how many of
            them are embedded, pieces at most.
        cache: folder of found texts, one file a centroid, so that a killed run resumes; None for none. What lies there
            is as private as the centroids.
        label: names `embed`, `generate` and `writer` in the cache, e.g. by checksums; needed with `cache`, as
            callables have no name that lasts.
    Raises:
        ValueError: a pool marked private or without words, an argument out of range; TypeError: a wrong type.
    Source: none; beyond Fre-E2T, which inverts with vec2text.
    """

    embed: Callable[[Sequence[str]], np.ndarray]
    pool: Sequence[str] = field(repr=False)
    generate: Generate | None = None
    seed: int = 0
    pool_vectors: np.ndarray | None = field(default=None, repr=False)
    near: int = 24
    max_words: int = 24
    vocabulary: int = 4000
    edits: int = 12
    batch: int = 256
    rewrites: int = 2
    writer: Writer | None = field(default=None, repr=False)
    fluency: float = 0.0
    natural: float = 4.0
    judged: int = 8
    drafts: int = 2
    beams: int = 3
    choices: int = 40
    tried: int = 12
    length: int = 18
    cache: str | os.PathLike | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        if getattr(getattr(self.pool, "provenance", None), "public", True) is not True:
            raise ValueError("pool must be public text: this corpus is marked private, and its texts would be released")
        pool = tuple(checks.texts("pool", self.pool))
        at_least = dict.fromkeys(_COUNTS, 1) | {"max_words": 2} | dict.fromkeys(_COUNTS_FROM_NONE, 0)
        kinds = {name: partial(checks.whole, at_least=least) for name, least in at_least.items()}
        checks.settle(self, **kinds, natural=checks.nonnegative, fluency=checks.nonnegative)
        if self.fluency and self.writer is None:
            raise ValueError(f"fluency above 0 needs a writer that judges it, got {self.fluency!r} and none")
        if self.cache is not None and not self.label:
            raise ValueError("cache needs a label that names embed and generate, got none")
        object.__setattr__(self, "embed", getattr(self.embed, "embed", self.embed))
        object.__setattr__(self, "pool", pool)
        if not _words(self.pool):
            raise ValueError(f"pool must hold words, got {len(self.pool)} texts without any")

    def invert(self, centroids: np.ndarray, progress: bool = False) -> list[str]:
        """The texts alone of `search`."""
        return [found.text for found in self.search(centroids, progress)]

    def search(self, centroids: np.ndarray, progress: bool = False) -> list[Inversion]:
        """One `Inversion` a row of released `centroids`, finite float[n, d], no row zero.

        `progress` shows a bar. Raises ValueError for other centroids, or vectors from `embed` that are not finite or
        of another shape, or a pool whose vectors are all zero; another text's zero vector only makes it infinitely far.
        """
        centroids = np.asarray(centroids, dtype=np.float64)
        if centroids.ndim != 2 or not np.isfinite(centroids).all() or not centroids.any(axis=1).all():
            raise ValueError(f"centroids must be finite float[n, d] without zero rows, got shape {centroids.shape}")
        rows = list(_unit_rows(centroids, len(centroids), "centroids"))
        if progress:
            from tqdm.auto import tqdm

            rows = tqdm(rows, unit="centroid", desc="inverting")
        return [self._resumed(row) for row in rows]

    def _resumed(self, target: np.ndarray) -> Inversion:
        if self.cache is None:
            return self._timed(target)
        file = Path(self.cache) / f"{self._digest(target, self.label).hex()}.json"
        if file.is_file():
            try:
                return _kept(json.loads(file.read_text("utf-8")))
            except (ValueError, TypeError, KeyError, RecursionError):
                pass  # a damaged entry is searched and written again
        found = self._timed(target)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, part = tempfile.mkstemp(dir=file.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(asdict(found), stream)
        os.replace(part, file)  # whole or not at all: a killed run leaves no half entry
        return found

    def _timed(self, target: np.ndarray) -> Inversion:
        began = time.process_time()
        found = self._search(target)
        return Inversion(**found, seconds=time.process_time() - began)

    def _search(self, target: np.ndarray) -> dict[str, object]:
        """All of an `Inversion` but its time."""
        if target.shape != self._pool_units.shape[1:]:
            raise ValueError(
                f"centroids must have the encoder's {self._pool_units.shape[1]} columns, got {len(target)}"
            )
        rng = np.random.default_rng(int.from_bytes(self._digest(target)))
        cosines = np.where(self._pool_units.any(axis=1), self._pool_units @ target, -np.inf)
        nearest = [i for i in np.argsort(-cosines, kind="stable")[: self.near] if cosines[i] > -np.inf]
        start, start_cosine = self.pool[nearest[0]], float(cosines[nearest[0]])
        judged = Fluency(self.writer.score, self.fluency, self.natural, self.judged) if self.fluency else None
        best = Candidates(self._units, target, self.batch, self._known, judged)
        steps = [("nearest", start_cosine)]
        self._splice(best, [self.pool[i] for i in nearest])
        steps.append(("pieces", best.cosine))
        for _ in range(self.rewrites if self.generate else 0):
            self._rewrite(best, rng)
            steps.append(("rewrite", best.cosine))
        for draft in range(self.drafts if self.writer else 0):
            self._draft(best, draft, rng)
            steps.append(("draft", best.cosine))
        stale, guesses = 0, Guesses(*self._word_list, target)
        for _ in range(self.edits if best.text else 0):
            before = best.worth
            self._edit(best, guesses, rng)
            steps.append(("words", best.cosine))
            stale = 0 if best.worth > before else stale + 1
            if stale == 2:
                break
        if not best.text or (not self.fluency and start_cosine > best.cosine):
            text, cosine = start, start_cosine
        else:
            text, cosine = best.text, best.cosine
        return dict(text=text, cosine=cosine, start=start, start_cosine=start_cosine, steps=tuple(steps))

    def _splice(self, best: Candidates, texts: Sequence[str]) -> None:
        parts = list(dict.fromkeys(piece for text in texts for piece in pieces(text, self.max_words)))
        pairs = (f"{first} {second}" for first, second in permutations(best.nearest(parts, self.near // 2), 2))
        parts += [pair for pair in pairs if len(pair.split()) <= self.max_words]
        # Drafts come much nearer: what they follow is seldom worth judging, but for one text, as they may fail.
        best.score(best.nearest(parts, 1) if self.drafts and self.writer else parts)

    def _rewrite(self, best: Candidates, rng: np.random.Generator) -> None:
        made = paraphrase(best.top(3), self.generate, 2, attempts=1, seed=int(rng.integers(2**31)))
        lines = [line for group in made.texts for line in group if len(line.split()) <= self.max_words]
        best.score(lines)

    def _draft(self, best: Candidates, draft: int, rng: np.random.Generator) -> None:
        """Shows the writer words: near the centroid; near the way from the best to it, and its own; then drawn ones."""
        listed, units = self._word_list
        if draft > 1:
            near = np.argsort(-(units @ best.target), kind="stable")[: 4 * _SHOWN]
            shown = [listed[i] for i in rng.choice(near, min(_SHOWN, len(near)), replace=False)]
        elif draft and best.text:
            near, own = self._near_words(best), [word for word in _words([best.text]) if len(word) > 3]
            shown = near[: _SHOWN // 2] + list(dict.fromkeys(own))[: _SHOWN // 2]
        else:
            shown = [listed[i] for i in np.argsort(-(units @ best.target), kind="stable")[:_SHOWN]]
        settings = {"beams": self.beams, "choices": self.choices, "tried": self.tried, "length": self.length}
        best.score(written(self.writer, shown, best, **settings)[: 4 * self.judged])

    def _edit(self, best: Candidates, guesses: Guesses, rng: np.random.Generator) -> None:
        text, before, words = best.text, best.worth, best.text.split()
        dropped = [(place, "delete", "") for place in range(len(words))] if len(words) > 1 else []
        (vector,) = best.vectors([text])
        without = best.vectors([edited(words, [edit]) for edit in dropped])
        if not dropped:  # a lone word leaves nothing to embed: what replaces it is ranked as what stands beside it
            without = vector[None]
        about = (text, vector, without)
        room, inserts = max(1, self.batch - len(dropped)), len(words) < self.max_words
        changed = guesses.chosen(*about, room, inserts, set(_words([text])), rng)
        tried = dropped + changed
        made = [edited(words, [edit]) for edit in tried]
        worths = best.score(made)
        guesses.learn(*about, changed, best.cosines(made[len(dropped) :]))
        together: list[Edit] = []
        for i in np.argsort(-worths, kind="stable"):
            place, _, word = tried[i]
            taken = any(place == other or word == said != "" for other, _, said in together)
            if worths[i] > before and not taken and len(together) < _COMBINED:
                together.append(tried[i])
        several = [edited(words, together[:count]) for count in range(2, len(together) + 1)]
        best.score([text for text in several if len(text.split()) <= self.max_words])

    def _near_words(self, best: Candidates) -> list[str]:
        """Words nearest the way from the best text to the centroid, without those that it has."""
        listed, units = self._word_list
        (vector,) = best.vectors([best.text])
        # A text's vector has length 1: what it lacks of the centroid is the centroid less its share along the text.
        lacking = best.target - best.cosine * vector
        there = set(_words([best.text]))
        order = np.argsort(-(units @ (best.target + 2 * lacking)), kind="stable")[: _SHOWN + len(there)]
        return [listed[i] for i in order if listed[i] not in there]

    @cached_property
    def _pool_units(self) -> np.ndarray:
        source = "embed" if self.pool_vectors is None else "pool_vectors"
        vectors = self.embed(self.pool) if self.pool_vectors is None else self.pool_vectors
        units = _unit_rows(vectors, len(self.pool), source)
        if not units.any():
            raise ValueError(f"{source} must give the pool vectors that are not all zero: none has a direction")
        return units

    @cached_property
    def _word_list(self) -> tuple[list[str], np.ndarray]:
        counts = Counter(_words(self.pool))
        listed = sorted(counts, key=lambda word: (-counts[word], word))[: self.vocabulary]
        return listed, self._units(listed)

    @cached_property
    def _known(self) -> dict[str, np.ndarray]:
        """Vectors of words and of the writer's pieces, which come back with every centroid."""
        return dict(zip(*self._word_list, strict=True))

    def _digest(self, target: np.ndarray, label: str | None = None) -> bytes:
        return hashlib.sha256(json.dumps(label).encode() + self._settings + target.tobytes()).digest()

    @cached_property
    def _settings(self) -> bytes:
        """Everything but models and centroid that decides a text, the way of searching included."""
        names = (*_COUNTS, *_COUNTS_FROM_NONE, "max_words", "fluency", "natural")
        public = {name: getattr(self, name) for name in names}
        return json.dumps([_SEARCH, public, self.generate is not None, self.writer is not None, self.pool]).encode()

    def _units(self, texts: Sequence[str]) -> np.ndarray:
        return _unit_rows(self.embed(texts), len(texts), "embed")


def _kept(entry: dict) -> Inversion:
    """A cache entry as it was written; ValueError, TypeError or KeyError for anything else."""
    kept = Inversion(**entry | {"steps": tuple((stage, cosine) for stage, cosine in entry["steps"])})
    stages, cosines = [stage for stage, _ in kept.steps], [cosine for _, cosine in kept.steps]
    told, numbers = [kept.text, kept.start, *stages], [kept.cosine, kept.start_cosine, kept.seconds, *cosines]
    if not all(type(each) is str for each in told) or not all(type(each) is float for each in numbers):
        raise TypeError("entry must hold texts and floats")
    return kept


def pieces(text: str, max_words: int) -> list[str]:
    """A text's sentences, cut further to at most `max_words` words each, and the text itself where it is no longer."""
    whole = text.split()
    sentences = [part.split() for part in re.split(r"(?<=[.!?;])\s+|\n+", text)]
    cut = [words[i : i + max_words] for words in sentences for i in range(0, len(words), max_words)]
    return [" ".join(words) for words in ([whole] if 0 < len(whole) <= max_words else []) + cut]


def _words(texts: Sequence[str]) -> list[str]:
    return [word for text in texts for word in re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.lower())]


def _unit_rows(vectors: np.ndarray, rows: int, source: str) -> np.ndarray:
    """Rows of length 1; a zero vector stays zero, and its text is infinitely far from everything."""
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != rows or not np.isfinite(vectors).all():
        raise ValueError(f"{source} must give finite float[{rows}, d], got shape {vectors.shape}")
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if not ((largest == 0) | ((largest > _SMALL) & (largest < 1 / _SMALL))).all():
        raise ValueError(f"{source} must give vectors with a largest entry from {_SMALL:g} to {1 / _SMALL:g}, or zeros")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms, norms, 1.0)
