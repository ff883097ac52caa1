"""Answers of a language model on disk, so that a long run that broke off goes on where it was.

A file an answer, named by the SHA-256 of everything the answer depends on: checksum of the weights, way of asking,
prompt, seed of that prompt, temperature, length. It begins with the SHA-256 of the answer; a damaged one is asked for
again. The folder is readable by its owner only, and is as private as the prompts are.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from privlib import assets
from privlib.models import prompts as shared
from privlib.models.language_models import LanguageModel

_AT_ONCE = 16  # distinct prompts between two commits


@dataclass(frozen=True)
class RememberedModel:
    """A language model whose answers are looked up first; the interface of `LanguageModel`, and `complete`.

    Needs weights with a checksum: a served model may change under its name.
    """

    model: LanguageModel
    folder: Path = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.model.checksum is None:
            raise ValueError("model must have a checksum: answers of weights that may change are not kept")

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def checksum(self) -> str:
        return self.model.checksum

    def generate(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """See `LanguageModel.generate`."""
        return self._answers("generate", prompts, max_new_tokens, temperature, seed)

    def complete(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """See `LocalLanguageModel.complete`."""
        return self._answers("complete", prompts, max_new_tokens, temperature, seed)

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """See `LanguageModel.score`; not kept."""
        return self.model.score(texts)

    def _answers(self, way: str, prompts: Sequence[str], max_new_tokens: int, temperature: float, seed: int):
        texts = shared.check(prompts, max_new_tokens, temperature)
        keys = [
            hashlib.sha256(
                "\0".join((self.checksum, way, str(drawn), repr(float(temperature)), str(max_new_tokens), text)).encode(
                    "utf-8", "surrogatepass"
                )
            ).hexdigest()
            for text, drawn in zip(texts, shared.seeds(texts, seed), strict=True)
        ]
        found = [self._read(key) for key in keys]
        # The draws of a repeated prompt depend on how often it came before, so all its places are asked together.
        asked = list(dict.fromkeys(text for text, answer in zip(texts, found, strict=True) if answer is None))
        for start in range(0, len(asked), _AT_ONCE):
            wanted = set(asked[start : start + _AT_ONCE])
            places = [place for place, text in enumerate(texts) if text in wanted]
            answers = getattr(self.model, way)([texts[p] for p in places], max_new_tokens, temperature, seed)
            for place, answer in zip(places, answers, strict=True):
                found[place] = answer
                self._write(keys[place], answer)
        return found

    def _read(self, key: str) -> str | None:
        try:
            mark, answer = self._file(key).read_bytes().decode("utf-8", "surrogatepass").split("\n", 1)
        except (FileNotFoundError, ValueError):
            return None
        return answer if mark == _mark(answer) else None

    def _write(self, key: str, answer: str) -> None:
        target = self._file(key)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(f"{_mark(answer)}\n{answer}".encode("utf-8", "surrogatepass"))
        os.replace(temporary, target)

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / key


def remembered(model: LanguageModel, folder: str | os.PathLike | None = None) -> RememberedModel:
    """`model` with its answers kept in `folder`, by default `privlib.assets.cache_dir()/answers`.

    Raises ValueError for a model without a checksum.
    """
    place = assets.cache_dir() / "answers" if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return RememberedModel(model, place)


def _mark(answer: str) -> str:
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
