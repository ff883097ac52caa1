"""Text written towards a point of the encoder's space: a language model proposes, the encoder chooses.

A beam search. The model, shown words that lie near the point, proposes likely next pieces of each text; those that
promise most are embedded, and the texts stay whose embedding is nearest, less what being unlikely costs. Whatever comes
out is something the model would have said, so it reads better than words put together by nearness alone.
Source: beyond Fre-E2T; the way of adversarial decoding (Zhang, Morris and Shmatikov 2025, "Universal zero-shot
embedding inversion"), without its trained correction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from privlib.synthesis.pulls import Pulls

EXAMPLES = (
    (("rain", "home", "day"), "It rained all day and we stayed at home."),
    (("bus", "late", "morning"), "The morning bus was late again, as it so often is."),
)
_PATIENCE = 4  # pieces added without coming nearer before a text is given up


class Writer(Protocol):
    """What the search needs of a language model; `privlib.models.language_model()` has it."""

    def continuations(
        self, prompt: str, beginnings: Sequence[str], count: int
    ) -> Sequence[Sequence[tuple[str, float]]]:
        """For each beginning, the `count` likeliest next pieces after prompt and beginning, with log-chances."""
        ...

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Mean negative log-likelihood a token, in nats: float64[n]."""
        ...


class Aim(Protocol):
    """A point of the encoder's space, `target`, a unit vector float[d], and what is known of texts there."""

    target: np.ndarray

    def cosines(self, texts: Sequence[str]) -> np.ndarray:
        """Cosine of each text to the target: float64[n]."""
        ...

    def piece_vectors(self, pieces: Sequence[str]) -> np.ndarray:
        """Vectors of pieces by themselves, of length 1, or 0 for marks without a word: float64[n, d]."""
        ...

    def cost(self, likelihoods: np.ndarray) -> np.ndarray:
        """What a negative log-likelihood a piece counts against a cosine: float64[n]."""
        ...


def written(
    writer: Writer,
    words: Sequence[str],
    aim: Aim,
    *,
    beams: int,
    choices: int,
    tried: int,
    length: int,
) -> list[str]:
    """Texts met on the way, the worthiest first: cosine, less what the mean log-chance of a piece costs.

    Args:
        words: shown to the model in a prompt with two fixed examples, at least one.
        aim: the point of the encoder's space, see `Aim`.
        beams, choices, length: texts carried on, pieces proposed for each, pieces of a text at most; each >= 1.
        tried: pieces a text that are embedded, those of which the vectors of pieces and what earlier ones did promise
            most, >= 1.
    A new line ends a text. Deterministic where `writer` and `aim` are.
    """
    prompt, carried, worths = _prompt(words), [("", 0.0, 0.0)], {}
    best, stale, pulls = -np.inf, 0, Pulls()
    for size in range(1, length + 1):
        longer = _promising(
            writer.continuations(prompt, [one[0] for one in carried], choices), carried, size, aim, pulls
        )
        longer = longer[: tried * len(carried)]
        if not longer:
            break
        bare = [one.text.strip() for one in longer]
        cosines = aim.cosines(bare)
        vectors, missed = np.array([one.vector for one in longer]), cosines - [one.guess for one in longer]
        pulls.learn(vectors, [one.beginning for one in longer], missed * size)
        worth = cosines - aim.cost(-np.array([one.log_chance for one in longer]) / size)
        for text, value in zip(bare, worth.tolist(), strict=True):
            worths[text] = max(value, worths.get(text, -np.inf))
        order = [i for i in np.argsort(-worth, kind="stable") if worth[i] > -np.inf]
        if not order:
            break
        stale = 0 if worth[order[0]] > best else stale + 1
        best = max(best, float(worth[order[0]]))
        if stale == _PATIENCE:
            break
        distinct: dict[str, tuple[str, float, float]] = {}
        for i in order:
            distinct.setdefault(longer[i].text.lower(), (longer[i].text, longer[i].log_chance, float(cosines[i])))
        carried = list(distinct.values())[:beams]
    return sorted(worths, key=lambda text: -worths[text])


@dataclass(frozen=True)
class _Longer:
    """A text with a piece more, that piece's vector, and the cosine guessed without what was learnt."""

    text: str
    beginning: str
    log_chance: float
    vector: np.ndarray
    guess: float


def _promising(found, carried: Sequence[tuple[str, float, float]], size: int, aim: Aim, pulls: Pulls) -> list[_Longer]:
    """Every carried text with every piece `found` for it that may stand there, the most promising first."""
    longer, promise = [], []
    for (text, log_chance, cosine), proposed in zip(carried, found, strict=True):
        some = [
            (piece, log_chance + more)
            for piece, more in proposed
            if "\n" not in piece and (text + piece).strip() and not repetitive(text + piece)
        ]
        if not some:
            continue
        vectors = aim.piece_vectors([piece for piece, _ in some])
        # A piece is one of `size`, so it moves the cosine by about that share of the way to its own.
        guesses = cosine + (vectors @ aim.target - cosine) / size
        chances = np.array([chance for _, chance in some])
        promise += (guesses + pulls.expected(vectors, [text])[0] / size - aim.cost(-chances / size)).tolist()
        for (piece, chance), vector, guess in zip(some, vectors, guesses.tolist(), strict=True):
            longer.append(_Longer(text + piece, text, chance, vector, guess))
    return [longer[i] for i in np.argsort(-np.array(promise), kind="stable")]


def repetitive(text: str) -> bool:
    """Whether a word stands twice in a row, or one of four letters or more for the third time: models like to loop."""
    words = re.findall(r"\w+", text.lower())
    often = any(count > 2 and len(word) > 3 for word, count in Counter(words).items())
    return often or any(first == second for first, second in pairwise(words))


def _prompt(words: Sequence[str]) -> str:
    shown = "".join(f"Words: {', '.join(said)}\nSentence: {sentence}\n\n" for said, sentence in EXAMPLES)
    return f"{shown}Words: {', '.join(words)}\nSentence:"
