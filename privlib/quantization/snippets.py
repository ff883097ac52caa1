"""Snippets: the parts of a text that fit a combination of categories.

Source: QuanText Algorithm 1, line 16, where a language model extracts them. The extractor here needs none: it
counts, on public labelled rows, which words go with which category.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from privlib.dp import checks

from .tree import checked_labels

FEWEST_WORDS = 3  # shorter pieces are joined to the one before
_BREAK = re.compile(r"(?<=[.!?;:])\s+|(?<=,)\s+|\s*\n+\s*|\s+[-\u2013\u2014]+\s+")
_WORD = re.compile(r"[#@]?\w+(?:['\u2019]\w+)*")


class SnippetExtractor(Protocol):
    """Takes from a text what fits a combination, in the order of the text; nothing where nothing does."""

    def extract(self, text: str, target: Sequence[int]) -> tuple[str, ...]: ...


def clauses(text: str) -> tuple[str, ...]:
    """Pieces of a text between stops, commas, dashes and line breaks, each of three words or more where there are."""
    pieces: list[str] = []
    lengths: list[int] = []
    for piece in filter(None, (part.strip() for part in _BREAK.split(text))):
        length = len(words(piece))
        if pieces and min(length, lengths[-1]) < FEWEST_WORDS:
            pieces[-1] += " " + piece
            lengths[-1] += length
        else:
            pieces.append(piece)
            lengths.append(length)
    return tuple(pieces)


def kept(extractor: SnippetExtractor, text: str, target: Sequence[int], changed: bool) -> tuple[str, ...]:
    """Snippets of a private text to reuse; never all of a text whose combination changes.

    Such a text expressed another combination, so it holds something that must go, whatever the extractor says.
    """
    found = extractor.extract(text, target)
    return found[:-1] if changed and words(" ".join(found)) == words(text) else found


def words(text: str) -> list[str]:
    """Words of a text in lower case, hashtags and mentions with their sign."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True)
class WordCounts:
    """Snippets by word counts of public rows: a clause fits when no other category explains it much better.

    The evidence of a clause for a category is the log-probability of its distinct words, in nats, by smoothed
    counts of the public rows of that category. A clause fits a combination when, for every attribute, the evidence
    for the wanted category is within `tolerance` of the best one. Clauses that speak of no category fit all.

    Args:
        tolerance: nats, >= 0. Larger keeps more of a text and more that contradicts the combination.
        vocabulary: word to column.
        log_probability: one float[categories, columns] an attribute. Made by `WordCounts.learn`.
    """

    tolerance: float
    vocabulary: dict[str, int] = field(repr=False, compare=False)
    log_probability: tuple[np.ndarray, ...] = field(repr=False, compare=False)

    @classmethod
    def learn(
        cls, texts: Sequence[str], labels: np.ndarray, sizes: Sequence[int], tolerance: float = 3.0
    ) -> WordCounts:
        """Counts of public rows. Never of private ones: the extractor is applied to every row of a release.

        Args:
            texts: n public texts; labels: int[n, a], their combinations, below `sizes`.
        """
        texts, labels = checks.texts("texts", texts), checked_labels(labels, sizes, "labels")
        if len(texts) != len(labels) or not len(labels):
            raise ValueError(f"texts: expected one public text a row of labels ({len(labels)} >= 1), got {len(texts)}")
        checks.nonnegative("tolerance", tolerance)
        bags = [set(words(text)) for text in texts]
        vocabulary = {word: column for column, word in enumerate(sorted(set().union(*bags)))}
        columns = [[vocabulary[word] for word in bag] for bag in bags]
        tables = []
        for attribute, size in enumerate(sizes):
            counts = np.full((size, len(vocabulary)), 0.5)
            for category, bag in zip(labels[:, attribute], columns, strict=True):
                counts[category, bag] += 1
            tables.append(np.log(counts / (np.bincount(labels[:, attribute], minlength=size)[:, None] + 1.0)))
        return cls(float(tolerance), vocabulary, tuple(tables))

    def evidence(self, text: str) -> tuple[np.ndarray, ...]:
        """float[categories] an attribute: nats for each category, up to a constant of the text."""
        columns = [self.vocabulary[word] for word in sorted(set(words(text))) if word in self.vocabulary]
        return tuple(table[:, columns].sum(axis=1) for table in self.log_probability)

    def shortfall(self, text: str, target: Sequence[int]) -> float:
        """Largest, over attributes, of best evidence minus evidence for the wanted category; 0 where it is best."""
        return max(
            float(found.max() - found[wanted]) for found, wanted in zip(self.evidence(text), target, strict=True)
        )

    def extract(self, text: str, target: Sequence[int]) -> tuple[str, ...]:
        return tuple(clause for clause in clauses(text) if self.shortfall(clause, target) <= self.tolerance)
