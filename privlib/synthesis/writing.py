"""Text written towards a point of the encoder's space: a language model proposes, the encoder chooses.

A beam search. The model, shown words that lie near the point, proposes likely next pieces of each text; those texts
stay whose embedding is nearest, with a weight on how likely they are. Whatever comes out is something the model would
have said, so it reads better than words put together by nearness alone.
Source: beyond Fre-E2T; the way of adversarial decoding (Zhang, Morris and Shmatikov 2025, "Universal zero-shot
embedding inversion"), without its trained correction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

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


def written(
    writer: Writer,
    words: Sequence[str],
    nearness: Callable[[Sequence[str]], np.ndarray],
    *,
    beams: int,
    choices: int,
    length: int,
    weight: float,
) -> list[str]:
    """Texts met on the way, the worthiest first: nearness plus `weight` times the mean log-chance of a piece.

    Args:
        words: shown to the model in a prompt with two fixed examples, at least one.
        nearness: texts -> float[n], larger is nearer.
        beams, choices, length: texts carried on, pieces tried for each, pieces of a text at most; each >= 1.
    A new line ends a text. Deterministic where `writer` and `nearness` are.
    """
    prompt, carried, worths = _prompt(words), [("", 0.0)], {}
    best, stale = -np.inf, 0
    for pieces in range(1, length + 1):
        found = writer.continuations(prompt, [text for text, _ in carried], choices)
        longer = [
            (text + piece, log_chance + more)
            for (text, log_chance), proposed in zip(carried, found, strict=True)
            for piece, more in proposed
            if "\n" not in piece and (text + piece).strip() and not repetitive(text + piece)
        ]
        if not longer:
            break
        bare = [text.strip() for text, _ in longer]
        worth = nearness(bare) + weight * np.array([log_chance for _, log_chance in longer]) / pieces
        for text, value in zip(bare, worth.tolist(), strict=True):
            worths[text] = max(value, worths.get(text, -np.inf))
        order = np.argsort(-worth, kind="stable")
        stale = 0 if worth[order[0]] > best else stale + 1
        best = max(best, float(worth[order[0]]))
        if stale == _PATIENCE:
            break
        distinct: dict[str, tuple[str, float]] = {}
        for i in order:
            distinct.setdefault(longer[i][0].lower(), longer[i])
        carried = list(distinct.values())[:beams]
    return sorted(worths, key=lambda text: -worths[text])


def repetitive(text: str) -> bool:
    """Whether a word stands twice in a row, or one of four letters or more for the third time: models like to loop."""
    words = re.findall(r"\w+", text.lower())
    often = any(count > 2 and len(word) > 3 for word, count in Counter(words).items())
    return often or any(first == second for first, second in pairwise(words))


def _prompt(words: Sequence[str]) -> str:
    shown = "".join(f"Words: {', '.join(said)}\nSentence: {sentence}\n\n" for said, sentence in EXAMPLES)
    return f"{shown}Words: {', '.join(words)}\nSentence:"
