"""Inversion: a text for each released centroid, by search with the encoder alone; no trained inverter is needed.

A centroid is a point of the encoder's space. The search starts from the nearest public text, and keeps whatever is
worth more: pieces of near public texts and two of them spliced, rewrites and texts written towards the centroid by a
language model where one is given, then edits of single words with words that point from the text to the centroid.
A text's worth is its cosine to the centroid less `fluency` times its negative log-likelihood a token. At fluency 0
what comes out is near, not fluent: it reads as a list of topical words. Score both, and show the trade-off.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Protocol

import numpy as np

from privlib.dp import checks
from privlib.synthesis.paraphrase import Generate, paraphrase
from privlib.synthesis.writing import Writer, written

Edit = tuple[int, str, str]  # position, kind, word: one change of a text's words
_COMBINED = 8  # the best edits of a round, of places and words of their own, are also tried together
_SHOWN = 10  # words shown to the writer
_SEARCH = 2  # raised when the search changes what it finds, so that old cache entries are not taken


class Inverter(Protocol):
    """Centroids, float[n, d], to n texts. `SearchInverter` and `privlib.models.vec2text_inverter` are such."""

    def invert(self, centroids: np.ndarray) -> list[str]: ...


@dataclass(frozen=True)
class Inversion:
    """The text found for one centroid.

    Attributes:
        text, cosine: what was found, and its cosine to the centroid.
        start, start_cosine: the nearest public text, which at fluency 0 `text` is never farther than.
        steps: (stage, cosine of the best after it), in order; the stages are "nearest", "pieces", "rewrite", "draft",
            "words".
    """

    text: str
    cosine: float
    start: str
    start_cosine: float
    steps: tuple[tuple[str, float], ...]


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
        near_words: words tried at each place, those nearest the way from the text to the centroid, >= 1.
        edits: rounds of word edits at most, >= 0; two rounds that find nothing end them.
        batch: candidates embedded a round, >= 1.
        rewrites: rounds of rewriting, >= 0; each asks two rewrites of each of the three nearest texts.
        writer: language model that writes towards the centroid and judges fluency (see `Writer`); None for none.
        fluency: what one nat of negative log-likelihood a token counts against a cosine, >= 0; above 0 needs `writer`.
        judged: of the texts tried together, how many of the nearest are judged for fluency, >= 1; judging one costs as
            much as embedding ten, and those not judged are not taken.
        drafts: texts written, one after another, >= 0; each is shown the words that the last one lacks.
        beams, choices, length: of a draft, each >= 1; texts carried on, pieces tried for each, pieces at most.
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
    near_words: int = 60
    edits: int = 12
    batch: int = 256
    rewrites: int = 2
    writer: Writer | None = field(default=None, repr=False)
    fluency: float = 0.0
    judged: int = 8
    drafts: int = 2
    beams: int = 3
    choices: int = 16
    length: int = 18
    cache: str | os.PathLike | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        if getattr(getattr(self.pool, "provenance", None), "public", True) is not True:
            raise ValueError("pool must be public text: this corpus is marked private, and its texts would be released")
        pool = tuple(checks.texts("pool", self.pool))
        for name in ("near", "vocabulary", "near_words", "batch", "judged", "beams", "choices", "length"):
            checks.whole(name, getattr(self, name))
        checks.whole("max_words", self.max_words, at_least=2)
        for name in ("seed", "edits", "rewrites", "drafts"):
            checks.whole(name, getattr(self, name), at_least=0)
        if checks.nonnegative("fluency", self.fluency) and self.writer is None:
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

        `progress` shows a bar. Raises ValueError for other centroids, or vectors from `embed` that are not finite, of
        another shape or zero.
        """
        centroids = np.asarray(centroids, dtype=np.float64)
        if centroids.ndim != 2 or not np.isfinite(centroids).all() or not centroids.any(axis=1).all():
            raise ValueError(f"centroids must be finite float[n, d] without zero rows, got shape {centroids.shape}")
        rows = list(centroids / np.linalg.norm(centroids, axis=1, keepdims=True))
        if progress:
            from tqdm.auto import tqdm

            rows = tqdm(rows, unit="centroid", desc="inverting")
        return [self._resumed(row) for row in rows]

    def _resumed(self, target: np.ndarray) -> Inversion:
        if self.cache is None:
            return self._search(target)
        file = Path(self.cache) / f"{self._digest(target, self.label).hex()}.json"
        if file.is_file():
            try:
                kept = json.loads(file.read_text("utf-8"))
                return Inversion(**kept | {"steps": tuple(map(tuple, kept["steps"]))})
            except (ValueError, TypeError, KeyError):
                pass  # a damaged entry is searched and written again
        found = self._search(target)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, part = tempfile.mkstemp(dir=file.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(asdict(found), stream)
        os.replace(part, file)  # whole or not at all: a killed run leaves no half entry
        return found

    def _search(self, target: np.ndarray) -> Inversion:
        if target.shape != self._pool_units.shape[1:]:
            raise ValueError(
                f"centroids must have the encoder's {self._pool_units.shape[1]} columns, got {len(target)}"
            )
        rng = np.random.default_rng(int.from_bytes(self._digest(target)))
        cosines = self._pool_units @ target
        nearest = np.argsort(-cosines, kind="stable")[: self.near]
        start, start_cosine = self.pool[nearest[0]], float(cosines[nearest[0]])
        judge = self.writer.score if self.fluency else None
        best = _Best(self._units, target, self.batch, judge, self.fluency, self.judged)
        steps = [("nearest", start_cosine)]
        self._splice(best, [self.pool[i] for i in nearest])
        steps.append(("pieces", best.cosine))
        for _ in range(self.rewrites if self.generate else 0):
            self._rewrite(best, rng)
            steps.append(("rewrite", best.cosine))
        for draft in range(self.drafts if self.writer else 0):
            self._draft(best, again=draft > 0)
            steps.append(("draft", best.cosine))
        stale = 0
        for _ in range(self.edits):
            before = best.worth
            self._edit(best, rng)
            steps.append(("words", best.cosine))
            stale = 0 if best.worth > before else stale + 1
            if stale == 2:
                break
        if not self.fluency and start_cosine > best.cosine:
            return Inversion(start, start_cosine, start, start_cosine, tuple(steps))
        return Inversion(best.text, best.cosine, start, start_cosine, tuple(steps))

    def _splice(self, best: _Best, texts: Sequence[str]) -> None:
        parts = list(dict.fromkeys(piece for text in texts for piece in pieces(text, self.max_words)))
        best.score(parts)
        pairs = (f"{first} {second}" for first, second in permutations(best.top(self.near // 2), 2))
        best.score([pair for pair in pairs if len(pair.split()) <= self.max_words])

    def _rewrite(self, best: _Best, rng: np.random.Generator) -> None:
        made = paraphrase(best.top(3), self.generate, 2, attempts=1, seed=int(rng.integers(2**31)))
        lines = [line for group in made.texts for line in group if len(line.split()) <= self.max_words]
        best.score(lines)

    def _draft(self, best: _Best, again: bool) -> None:
        """Shows the writer words near the centroid; later ones near the way from the best to it, and its own."""
        listed, units = self._word_list
        if again:
            near, own = self._near_words(best), [word for word in _words([best.text]) if len(word) > 3]
            shown = near[: _SHOWN // 2] + list(dict.fromkeys(own))[: _SHOWN // 2]
        else:
            shown = [listed[i] for i in np.argsort(-(units @ best.target), kind="stable")[:_SHOWN]]
        settings = {"beams": self.beams, "choices": self.choices, "length": self.length, "weight": self.fluency}
        best.score(written(self.writer, shown, best.cosines, **settings)[: 4 * self.judged])

    def _edit(self, best: _Best, rng: np.random.Generator) -> None:
        words, before = best.text.split(), best.worth
        tried = self._proposals(words, best, rng)
        worths = best.score([edited(words, [edit]) for edit in tried])
        together: list[Edit] = []
        for i in np.argsort(-worths, kind="stable"):
            place, _, word = tried[i]
            taken = any(place == other or word == said != "" for other, _, said in together)
            if worths[i] > before and not taken and len(together) < _COMBINED:
                together.append(tried[i])
        several = [edited(words, together[:count]) for count in range(2, len(together) + 1)]
        best.score([text for text in several if len(text.split()) <= self.max_words])

    def _proposals(self, words: list[str], best: _Best, rng: np.random.Generator) -> list[Edit]:
        near = self._near_words(best)
        dropped = [(place, "delete", "") for place in range(len(words))] if len(words) > 1 else []
        changes = [(place, "replace", word) for place in range(len(words)) for word in near]
        if len(words) < self.max_words:
            changes += [(place, "insert", word) for place in range(len(words) + 1) for word in near]
        room = max(1, self.batch - len(dropped))
        picked = rng.choice(len(changes), min(room, len(changes)), replace=False)
        return dropped + [changes[i] for i in sorted(picked)]

    def _near_words(self, best: _Best) -> list[str]:
        """Words nearest the way from the best text to the centroid, without those that it has."""
        listed, units = self._word_list
        # A text's vector has length 1: what it lacks of the centroid is the centroid less its share along the text.
        lacking = best.target - best.cosine * best.vector
        there = set(_words([best.text]))
        order = np.argsort(-(units @ (best.target + 2 * lacking)), kind="stable")[: self.near_words + len(there)]
        return [listed[i] for i in order if listed[i] not in there][: self.near_words]

    @cached_property
    def _pool_units(self) -> np.ndarray:
        if self.pool_vectors is None:
            return self._units(self.pool)
        return _unit_rows(self.pool_vectors, len(self.pool), "pool_vectors")

    @cached_property
    def _word_list(self) -> tuple[list[str], np.ndarray]:
        counts = Counter(_words(self.pool))
        listed = sorted(counts, key=lambda word: (-counts[word], word))[: self.vocabulary]
        return listed, self._units(listed)

    def _digest(self, target: np.ndarray, label: str | None = None) -> bytes:
        return hashlib.sha256(json.dumps(label).encode() + self._settings + target.tobytes()).digest()

    @cached_property
    def _settings(self) -> bytes:
        """Everything but models and centroid that decides a text, the way of searching included."""
        names = ("seed", "near", "max_words", "vocabulary", "near_words", "edits", "batch", "rewrites")
        names += ("fluency", "judged", "drafts", "beams", "choices", "length")
        public = {name: getattr(self, name) for name in names}
        return json.dumps([_SEARCH, public, self.generate is not None, self.writer is not None, self.pool]).encode()

    def _units(self, texts: Sequence[str]) -> np.ndarray:
        return _unit_rows(self.embed(texts), len(texts), "embed")


class _Best:
    """The text worth most so far, and every candidate's cosine: no text is embedded or read twice for one centroid.

    Worth is the cosine, less `weight` times what `judge` says where there is one: then only the nearest few of the
    texts scored together are judged, and the others count for nothing.
    """

    def __init__(self, units, target: np.ndarray, batch: int, judge, weight: float, judged: int):
        self._units, self._batch, self._judge, self._weight, self._judged = units, batch, judge, weight, judged
        self._vectors: dict[str, np.ndarray] = {}
        self._cosines: dict[str, float] = {}
        self._likelihoods: dict[str, float] = {}
        self.target, self.text, self.cosine, self.worth = target, "", -np.inf, -np.inf
        self.vector = np.zeros_like(target)

    def cosines(self, texts: Sequence[str]) -> np.ndarray:
        """Cosine of each text to the target: float64[n]."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._cosines]
        for first in range(0, len(fresh), self._batch):
            some = fresh[first : first + self._batch]
            vectors = self._units(some)
            self._vectors.update(zip(some, vectors, strict=True))
            self._cosines.update(zip(some, (vectors @ self.target).tolist(), strict=True))
        return np.array([self._cosines[text] for text in texts])

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Worth of each text, -inf where it was not judged; the worthiest becomes the best, when it beats the best."""
        worths = self.cosines(texts)
        if self._judge is not None:
            read = {texts[i]: worths[i] for i in np.argsort(-worths, kind="stable")[: self._judged]}
            fresh = [text for text in read if text not in self._likelihoods]
            if fresh:
                self._likelihoods.update(zip(fresh, np.asarray(self._judge(fresh)).tolist(), strict=True))
            known = self._likelihoods
            worths = np.array([
                cosine - self._weight * known[text] if text in known else -np.inf
                for text, cosine in zip(texts, worths.tolist(), strict=True)
            ])  # fmt: skip
        if len(texts) and worths.max() > self.worth:
            top = int(np.argmax(worths))
            self.text, self.worth = texts[top], float(worths[top])
            self.cosine, self.vector = self._cosines[self.text], self._vectors[self.text]
        return worths

    def top(self, count: int) -> list[str]:
        """The nearest texts so far, nearest first."""
        return sorted(self._cosines, key=lambda text: -self._cosines[text])[:count]


def pieces(text: str, max_words: int) -> list[str]:
    """A text's sentences, cut further to at most `max_words` words each, and the text itself where it is no longer."""
    whole = text.split()
    sentences = [part.split() for part in re.split(r"(?<=[.!?;])\s+|\n+", text)]
    cut = [words[i : i + max_words] for words in sentences for i in range(0, len(words), max_words)]
    return [" ".join(words) for words in ([whole] if 0 < len(whole) <= max_words else []) + cut]


def edited(words: Sequence[str], edits: Sequence[Edit]) -> str:
    """The text after edits at places of their own; "insert" puts its word before the place, which may be the end."""
    changes = {place: (kind, word) for place, kind, word in edits}
    out = []
    for place, old in enumerate([*words, None]):
        kind, word = changes.get(place, ("keep", ""))
        out += [word] if kind in ("insert", "replace") else []
        out += [old] if kind in ("insert", "keep") and old is not None else []
    return " ".join(out)


def _words(texts: Sequence[str]) -> list[str]:
    return [word for text in texts for word in re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.lower())]


def _unit_rows(vectors: np.ndarray, rows: int, source: str) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != rows or not np.isfinite(vectors).all():
        raise ValueError(f"{source} must give finite float[{rows}, d], got shape {vectors.shape}")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not norms.all():
        raise ValueError(f"{source} must give no zero vector: it has no direction")
    return vectors / norms
