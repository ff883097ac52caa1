"""Edits of single words, and which of the many to try: what the text lacks at each place decides, then what was seen.

The vector of a text without one of its words tells what is lacking there; a word put there adds its own vector to
it. That guesses the cosine of every edit for the price of embedding the text once without each word. What a word does
in its context is another thing, so the cosines of edits that were tried correct the guesses of the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from privlib.synthesis.pulls import Pulls

Edit = tuple[int, str, str]  # position, kind, word: one change of a text's words
_TIMES = 4  # places at which a round tries one word at most
_EXPLORED = 4  # of so many edits one is drawn from the next best, so that learning sees more than the best


class Guesses:
    """Which edits of a text would bring its vector near to `target`, of one centroid's search.

    Args:
        words, units: words that edits may use, and their unit vectors float[v, d].
        target: unit vector float[d].
    """

    def __init__(self, words: Sequence[str], units: np.ndarray, target: np.ndarray):
        self._words, self._units, self._target = words, units, target
        self._columns = {word: column for column, word in enumerate(words)}
        self._pulls, self._tried = Pulls(), set()

    def cosines(self, text: str, vector: np.ndarray, without: np.ndarray) -> np.ndarray:
        """Guessed cosine of each edit of a text of n words: float64[2 n + 1, v].

        Row i < n puts a word in place of the i-th, row n + i inserts it before the i-th or at the end. `vector` is the
        text's unit vector, `without` those of the text without each of its words, float[n, d].
        """
        learnt = self._pulls.expected(self._units, [(text, row) for row in range(2 * len(without) + 1)])
        return self._plain(vector, without) + learnt

    def chosen(
        self,
        text: str,
        vector: np.ndarray,
        without: np.ndarray,
        count: int,
        inserts: bool,
        excluded: Collection[str],
        rng: np.random.Generator,
    ) -> list[Edit]:
        """At most `count` edits not tried yet: mostly those guessed best, the others drawn from the next best.

        `inserts`: whether words may be inserted; `excluded` words are not used. The rest is as for `cosines`.
        """
        guesses, n = self.cosines(text, vector, without), len(without)
        guesses[:, [self._columns[word] for word in excluded if word in self._columns]] = -np.inf
        if not inserts:
            guesses[n:] = -np.inf
        ranked, times = [], Counter()
        for place in np.argsort(-guesses, axis=None, kind="stable").tolist():
            row, column = divmod(place, len(self._words))
            if guesses[row, column] == -np.inf or len(ranked) == _EXPLORED * count:
                break
            word = self._words[column]
            if times[word] < _TIMES and (text, row, word) not in self._tried:
                times[word] += 1
                ranked.append((row, "replace", word) if row < n else (row - n, "insert", word))
        best = min(len(ranked), count - count // _EXPLORED)
        drawn = rng.choice(len(ranked) - best, min(count, len(ranked)) - best, replace=False) + best
        return [ranked[i] for i in [*range(best), *sorted(drawn)]]

    def learn(
        self, text: str, vector: np.ndarray, without: np.ndarray, edits: Sequence[Edit], cosines: np.ndarray
    ) -> None:
        """True `cosines` of edits with listed words, for later guesses; the rest is as for `cosines`."""
        rows = [place if kind == "replace" else len(without) + place for place, kind, _ in edits]
        columns = [self._columns[word] for _, _, word in edits]
        self._tried.update((text, row, word) for row, (_, _, word) in zip(rows, edits, strict=True))
        missed = cosines - self._plain(vector, without)[rows, columns]
        self._pulls.learn(self._units[columns], [(text, row) for row in rows], missed)

    def _plain(self, vector: np.ndarray, without: np.ndarray) -> np.ndarray:
        # A unit vector plus a word's, as long as most of the text's own words would have to be to turn it as they do.
        shares = np.clip(without @ vector, 0.1, 1 - 1e-6)
        length = float(np.quantile(np.sqrt(1 - shares**2) / shares, 0.75))
        bases = np.vstack([without, vector])
        sizes = np.sqrt(1 + length**2 + 2 * length * (bases @ self._units.T))
        found = ((bases @ self._target)[:, None] + length * (self._units @ self._target)) / sizes
        return np.vstack([found[:-1], np.repeat(found[-1:], len(without) + 1, axis=0)])


def edited(words: Sequence[str], edits: Sequence[Edit]) -> str:
    """The text after edits at places of their own; "insert" puts its word before the place, which may be the end.

    A word that replaces another takes over its capital and the marks around it.
    """
    changes = {place: (kind, word) for place, kind, word in edits}
    out = []
    for place, old in enumerate([*words, None]):
        kind, word = changes.get(place, ("keep", ""))
        if kind != "keep" and word:
            out.append(_dressed(word, old) if kind == "replace" else word)
        if kind in ("keep", "insert") and old is not None:
            out.append(old)
    return " ".join(out)


def _dressed(word: str, old: str) -> str:
    before, core, after = re.fullmatch(r"(\W*)(.*?)(\W*)", old, re.DOTALL).groups()
    return before + (word[:1].upper() + word[1:] if core[:1].isupper() else word) + after
