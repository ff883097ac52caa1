"""Splice: rewriting without a model. Keep the clauses that fit the target, fill up from public texts of the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import checks

from .schema import Schema, checked_schema
from .snippets import SnippetExtractor, WordCounts, clauses, kept, words


def splice(
    public, schema: Schema, extractor: SnippetExtractor | None = None, fresh_share: float | None = None
) -> Splice:
    """The `Splice` rewriter on a public labelled corpus.

    Args:
        public: auxiliary corpus with `.texts` and `.attributes`, at least one row.
        schema: attributes with public category lists.
        extractor: of snippets; None for `WordCounts` of the public rows.
        fresh_share: see `Splice`.
    """
    if getattr(getattr(public, "provenance", None), "public", True) is not True:
        raise ValueError("public: expected public texts, got a corpus whose provenance is not public")
    labels = checked_schema(schema).encode(public)
    extractor = WordCounts.learn(public.texts, labels, schema.sizes) if extractor is None else extractor
    return Splice(tuple(public.texts), labels, extractor, fresh_share)


@dataclass(frozen=True, eq=False)
class Splice:
    """Rewriter: snippets of the private text that fit the target, then snippets of a public text of the target.

    For each row a public text is drawn among those with the target combination (with the fewest differing
    attributes where there is none). Its fitting clauses are the filling, and its number of words is the wanted
    length, so length does not come from the private row. A row whose combination changes takes at least one public
    clause, and never all clauses of the private text.

    **Not covered by the bound**: private clauses are released as they are, and which rows hold them tells which rows
    were changed (`provenance_attack`). `fresh_share` is the defence: of each released combination at least this
    share of rows, changed ones first, then others by secret coins, is written from public text alone. At 1 every
    text is drawn given its target and nothing else, so the bound for ideal rewriting holds again. Below 1 a
    combination of which more than this share was changed still shows how many were.

    Args:
        texts, labels: public rows; labels int[n, a].
        extractor: of snippets.
        fresh_share: None for the plain rewriter; else in [0, 1], rows of public text alone, changed rows among them.
    """

    texts: tuple[str, ...] = field(repr=False)
    labels: np.ndarray = field(repr=False)
    extractor: SnippetExtractor
    fresh_share: float | None = None

    def __post_init__(self) -> None:
        checks.texts("texts", self.texts)
        if len(self.texts) != len(self.labels) or not len(self.texts):
            raise ValueError(
                f"texts: expected one a row of labels, at least one, got {len(self.texts)} beside {len(self.labels)}"
            )
        if not all(clauses(text) for text in self.texts):
            raise ValueError("texts: expected public texts that are not blank")
        if self.fresh_share is not None:
            checks.probability("fresh_share", self.fresh_share)

    @property
    def not_covered(self) -> str:
        """What a release adds to its assumptions: "" only where every text is written from public text alone."""
        return "" if self.fresh_share == 1 else "kept clauses, which tell changed rows, are not covered by the bound"

    def rewrite(self, texts, labels: np.ndarray, targets: np.ndarray, noise) -> tuple[str, ...]:
        """See `Rewriter.rewrite`; texts are needed, one a row, else ValueError."""
        if texts is None or len(texts) != len(labels):
            raise ValueError(
                f"texts: expected one private text a row ({len(labels)}), got {'none' if texts is None else len(texts)}"
            )
        changed = (labels != targets).any(axis=1)
        fresh = changed & (self.fresh_share is not None)
        if self.fresh_share is not None:
            fresh = quota(targets, changed, self.fresh_share, noise.child("quota"))
        written: list[str] = []
        combinations, codes = np.unique(targets, axis=0, return_inverse=True)
        pools = [[self._filling(text, target) for text in self.pool(target)] for target in combinations]
        draws = noise.child("filling")
        for row, code in enumerate(codes.ravel()):
            filling = pools[code][draws.integers(len(pools[code]))]
            own = () if fresh[row] else kept(self.extractor, texts[row], targets[row], bool(changed[row]))
            written.append(_joined(own, filling, bool(changed[row] or fresh[row])))
        return tuple(written)

    def pool(self, target: Sequence[int]) -> tuple[str, ...]:
        """Public texts of the combination, or those with the fewest differing attributes."""
        differing = (self.labels != np.asarray(target)).sum(axis=1)
        return tuple(self.texts[row] for row in np.flatnonzero(differing == differing.min()))

    def _filling(self, text: str, target: Sequence[int]) -> tuple[str, ...]:
        return self.extractor.extract(text, target) or clauses(text)


def quota(targets: np.ndarray, changed: np.ndarray, share: float, noise) -> np.ndarray:
    """bool[n]: rows to write afresh. Of m rows with one target, the changed ones and others up to ceil(share m).

    Args:
        targets: int[n, a]; changed: bool[n].
        share: in [0, 1].
        noise: of the coins that pick among unchanged rows (`permutation`).
    """
    fresh = changed.copy()
    for combination in np.unique(targets, axis=0):
        rows = np.flatnonzero((targets == combination).all(axis=1))
        missing = math.ceil(share * len(rows)) - int(changed[rows].sum())
        others = rows[~changed[rows]]
        if missing > 0:
            fresh[others[noise.permutation(len(others))[:missing]]] = True
    return fresh


def _joined(own: Sequence[str], filling: Sequence[str], changed: bool) -> str:
    """Own clauses, then filling, up to the filling's number of words; of a changed or fresh row one of filling."""
    lengths = [len(words(clause)) for clause in filling]
    wanted, length, taken = sum(lengths), 0, []
    for clause in own:
        if length < wanted:
            taken.append(clause)
            length += len(words(clause))
    for place, clause in enumerate(filling):
        if length < wanted or (changed and place == 0):
            taken.append(clause)
            length += lengths[place]
    return " ".join(taken)
