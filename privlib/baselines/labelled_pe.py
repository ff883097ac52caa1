r"""Private evolution with labels: a population for each category, whose sizes are paid for like a round of votes.

**Bill.** A record has one category. It moves one place of the noisy label counts by 1, and one place of each round's
votes, since it votes only among texts of its category. Counts and T rounds have the same deviation sigma, so they are
T + 1 Gaussian releases of sensitivity 1: mu = sqrt(T + 1) / sigma. Sizes are computed from noisy counts. Sizes taken
from the private labels, or labels handed to the generator, would be on nobody's bill.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from privlib.baselines.aug_pe import Group, Round, Voting, embeddings
from privlib.dp import Guarantee, NoiseSource, Simulation, checks
from privlib.dp.budget import Counted

GenerateFor = Callable[[int, int, int], Sequence[str]]
"""(category, how many, seed) -> that many texts of that category, from a public prompt."""


@dataclass(frozen=True, eq=False)
class LabelledEvolution:
    """Released: `texts`, the category each was grown for (`labels` int64[m]), their noisy `votes`, and the bill.

    `label_counts` float64[c]: noisy counts of the categories, from which the sizes were taken. `ledger`: its first
    line is that of the label counts. `dropped`: see `Evolution`.
    """

    texts: tuple[str, ...]
    labels: np.ndarray
    votes: np.ndarray
    label_counts: np.ndarray
    ledger: tuple[Round, ...]
    dropped: int
    guarantee: Guarantee
    kind: str


@dataclass(frozen=True, kw_only=True)
class LabelledPE(Voting):
    """(epsilon, delta)-DP labelled texts by private evolution, one population a category.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one labelled record.
    Noisy label counts come first and share out `population` among the categories; then `iterations` rounds of votes.
    Arguments, public: `generate` (see `GenerateFor`), `categories` >= 1, how many there are, and those of `Voting`.
    Source: Xie and others 2024 (Aug-PE, conditional generation); there the shares of labels are taken as known, here
    they are paid for.
    """

    generate: GenerateFor
    categories: int

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.function("generate", self.generate)
        if checks.whole("categories", self.categories, at_least=1) > self.candidates:
            raise ValueError(f"categories must be at most population * variations, got {self.categories}")

    @property
    def rounds(self) -> int:
        """Label counts, then `iterations` votes."""
        return self.iterations + 1

    def release(self, private: tuple[np.ndarray, np.ndarray], noise: NoiseSource) -> LabelledEvolution:
        """`private`: (embeddings float[n, d], category int[n]); a record of no public category counts for nothing.

        Raises TypeError or ValueError on other dtypes, shapes or non-finite numbers, without naming any value, and
        TypeError on noise that is no source.
        """
        checks.noise_source("noise", noise)
        rows, labels = embeddings(private[0]), np.asarray(private[1])
        if labels.shape != rows.shape[:1] or labels.dtype.kind not in "iu":
            raise ValueError(
                f"private must hold one whole category a row {rows.shape[:1]}, got {labels.dtype} {labels.shape}"
            )
        std, source = self.noise_std(noise), Counted(noise.child("labels"))
        known = labels[(labels >= 0) & (labels < self.categories)]
        noisy = source.add_gaussian(np.bincount(known, minlength=self.categories), std)
        first = Round(std, self.categories, tuple(sorted(source.draws.items())))
        sizes = apportioned(noisy, self.population)
        grown = np.flatnonzero(sizes)
        groups = [Group(rows[labels == c], self._generating(c), int(sizes[c])) for c in grown]
        populations, votes, ledger, dropped = self.evolve(groups, noise, Simulation(self.public_seed))
        ledger = (first, *ledger)
        return LabelledEvolution(
            texts=tuple(text for population in populations for text in population),
            labels=np.repeat(grown, [len(population) for population in populations]),
            votes=np.concatenate(votes),
            label_counts=noisy,
            ledger=ledger,
            dropped=dropped,
            guarantee=self.bill(len(ledger), noise),
            kind=noise.kind,
        )

    def _generating(self, category: int):
        return lambda count, seed: self.generate(category, count, seed)


def apportioned(weights: np.ndarray, total: int) -> np.ndarray:
    """int64[c] >= 0 that sum to `total` in proportion to the positive weights, by largest remainders; ties to the
    first. Where no weight is positive the shares are equal."""
    shares = np.maximum(np.asarray(weights, dtype=float), 0.0)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
    whole = np.floor(shares * total).astype(np.int64)
    rest = np.argsort(whole - shares * total, kind="stable")[: total - int(whole.sum())]
    whole[rest] += 1
    return whole
