"""A language model of word pairs, counted in public texts: it speaks the interface of the real ones in milliseconds.

It writes worse than any of them. It stands in for one where a run must be short, and is told from one by its name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from itertools import pairwise

import numpy as np

from privlib.dp import checks
from privlib.models import prompts as shared
from privlib.models.encoders import strings

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_END = ""


@dataclass(frozen=True, eq=False)
class BigramModel:
    """Chances of a word after a word: half the pair's share and half the word's own, one added to each count.

    `texts`: public ones, at least one word in them. Only the last word of a beginning counts, and of a prompt nothing.
    """

    texts: InitVar[Sequence[str]]
    name: str = "word pairs of public texts"
    checksum: str = field(init=False)
    _after: dict[str, Counter] = field(init=False, repr=False)
    _words: Counter = field(init=False, repr=False)

    def __post_init__(self, texts: Sequence[str]) -> None:
        listed = strings(texts)
        after: dict[str, Counter] = defaultdict(Counter)
        words: Counter = Counter()
        for text in listed:
            said = [_END, *_said(text), _END]
            words.update(said[1:])
            for first, second in pairwise(said):
                after[first][second] += 1
        if len(words) < 2:
            raise ValueError(f"texts must hold words, got {len(listed)} texts without any")
        object.__setattr__(self, "_after", dict(after))
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "checksum", hashlib.sha256(json.dumps(listed).encode()).hexdigest())

    def continuations(self, prompt: str, beginnings: Sequence[str], count: int) -> list[list[tuple[str, float]]]:
        """See `LocalLanguageModel.continuations`; a piece is a word with a space before it."""
        count = checks.whole("count", count)
        out = []
        for beginning in strings(beginnings):
            last = (_said(beginning) or [_END])[-1]
            known = [word for word, _ in self._after.get(last, Counter()).most_common(count + 1)]
            known += [word for word, _ in self._words.most_common(count + 1)]
            pieces = [word for word in dict.fromkeys(known) if word != _END][:count]
            found = [(f" {word}", float(np.log(self._chance(last, word)))) for word in pieces]
            out.append(sorted(found, key=lambda piece: -piece[1]))
        return out

    def complete(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """Words after the last word of each prompt, see `LanguageModel.generate`; at most 12, as pairs have no plan."""
        listed = shared.check(prompts, max_new_tokens, temperature)
        out = []
        for prompt, drawn in zip(listed, shared.seeds(listed, seed), strict=True):
            rng, said = np.random.default_rng(drawn), [(_said(prompt) or [_END])[-1]]
            for _ in range(min(max_new_tokens, 12)):
                (proposed,) = self.continuations(prompt, [said[-1]], 20)
                logs = np.array([log_chance for _, log_chance in proposed])
                place = int(np.argmax(logs if not temperature else logs / temperature + rng.gumbel(size=len(logs))))
                said.append(proposed[place][0].strip())
            out.append(" ".join(said[1:]))
        return out

    generate = complete

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Mean negative log-likelihood a word, in nats: float64[n]; the end of a text counts as a word."""
        out = []
        for text in strings(texts):
            said = [_END, *_said(text), _END]
            out.append(-np.mean([np.log(self._chance(first, second)) for first, second in pairwise(said)]))
        return np.array(out)

    def _chance(self, first: str, second: str) -> float:
        pairs, size = self._after.get(first, Counter()), len(self._words)
        paired = (pairs[second] + 1) / (pairs.total() + size)
        return 0.5 * paired + 0.5 * (self._words[second] + 1) / (self._words.total() + size)


def _said(text: str) -> list[str]:
    return _WORD.findall(text.lower())
