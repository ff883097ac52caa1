"""URANIA-style summary: private clusters of embeddings, told by public keywords, all from one budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from privlib.baselines.keywords import check_texts, check_vocabulary, keyword_rows
from privlib.baselines.space import AT_ONCE, PublicSpace, inside
from privlib.baselines.themes import Theme
from privlib.dp import ZCDP, Budget, Guarantee, NoiseSource, checks, largest_rho
from privlib.dp.budget import Entry

UNIT, RELATION = "record", "add_drop"
ENCODER_ASSUMPTION = "the vector of a text depends on no other text"


@dataclass(frozen=True)
class Stage:
    """Gaussian noise of a stated zCDP cost on one array: `l2_sensitivity`^2 / (2 std^2) <= `rho`.

    `name` for the ledger's reader, `shape` of the array, all public. Inequality: rho-zCDP for arrays that move by at
    most `l2_sensitivity` in the l2 norm between neighbours under add/drop of a record.
    """

    name: str
    rho: float
    l2_sensitivity: float
    shape: tuple[int, ...]

    def noise_std(self, noise: NoiseSource) -> float:
        """Smallest deviation (to 1e-9) that the source bills at most `rho`: a grid may cost a little more."""
        std, size = self.l2_sensitivity / math.sqrt(2 * self.rho), math.prod(self.shape)
        while (bill := noise.gaussian_rho(std, self.l2_sensitivity, size)) > self.rho:
            std *= math.sqrt(bill / self.rho) * (1 + 2.0**-40)
        return std

    def zcdp_under(self, noise: NoiseSource) -> ZCDP:
        """The bill of a release through `noise`."""
        bill = noise.gaussian_rho(self.noise_std(noise), self.l2_sensitivity, math.prod(self.shape))
        return ZCDP(bill, UNIT, RELATION, (*noise.assumptions, ENCODER_ASSUMPTION), (self.name,))

    def release(self, private: np.ndarray, noise: NoiseSource) -> np.ndarray:
        """`private` float[shape], finite, plus noise."""
        return noise.add_gaussian(checks.private_floats("private", private, self.shape), self.noise_std(noise))


@dataclass(frozen=True)
class UraniaRelease:
    """Released: `centres` float[k, q], noisy `sizes` float[k], the `kept` clusters int[j], their noisy keyword
    `counts` float[j, V] over the public `vocabulary`, what was spent, and the ledger that adds it up."""

    centres: np.ndarray
    sizes: np.ndarray
    kept: np.ndarray
    counts: np.ndarray
    vocabulary: tuple[str, ...]
    guarantee: Guarantee
    ledger: tuple[Entry, ...]

    def themes(self, keywords: int) -> tuple[Theme, ...]:
        """Per kept cluster, largest noisy size first: its `keywords` >= 1 words of the largest noisy counts above 0.

        Post-processing. A cluster without such a word is not told.
        """
        keywords = checks.whole("keywords", keywords, at_least=1)
        told = []
        for row in np.argsort(-self.sizes[self.kept], kind="stable"):
            best = np.argsort(-self.counts[row], kind="stable")[:keywords]
            text = ", ".join(self.vocabulary[j] for j in best if self.counts[row, j] > 0)
            if text:
                told.append(Theme(text, float(self.sizes[self.kept[row]])))
        return tuple(told)


@dataclass(frozen=True, kw_only=True)
class UraniaStyle:
    """DP clustering, noisy-size filter, DP keyword histogram of each kept cluster: (epsilon, delta)-DP in total.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one record more or less
    (`unit` record only: no bound for a user of several records beyond group privacy).
    Stages, each a Gaussian array, paid in rho of zCDP out of the largest rho that (epsilon, delta) allows:
      clustering  `rounds` Lloyd steps from public centres; a step releases counts and sums, one cluster a record,
                  l2 <= sqrt(1 + 1); `shares[0]` of rho, evenly over the steps;
      sizes       one cluster a record, l2 <= 1; `shares[1]`; clusters of noisy size below `smallest` are dropped;
      keywords    the first `max_keywords` = c vocabulary words of a record, in its cluster, l2 <= sqrt(c); `shares[2]`.
    Arguments, all public: `space`, `encoder` (`.embed(texts) -> float[n, d]`), `vocabulary`, `epsilon` > 0,
    0 < `delta` < 1, `rounds` >= 1, `smallest`, `max_keywords` >= 1, `shares` > 0 of sum at most 1.
    Source: the stages that DP-SPIN, Section 6 lists of URANIA. URANIA-style, implemented from the description; not a
    reproduction: clustering algorithm, projection, split of the budget and keyword rule are ours.
    """

    space: PublicSpace
    encoder: Any
    vocabulary: tuple[str, ...]
    epsilon: float
    delta: float
    rounds: int = 2
    smallest: float = 20.0
    max_keywords: int = 5
    shares: tuple[float, float, float] = (0.3, 0.1, 0.6)

    def __post_init__(self) -> None:
        checks.instance("space", self.space, PublicSpace)
        checks.offers("encoder", self.encoder, "embed")
        object.__setattr__(self, "vocabulary", check_vocabulary("vocabulary", self.vocabulary))
        largest_rho(self.epsilon, self.delta)
        checks.whole("rounds", self.rounds, at_least=1)
        checks.whole("max_keywords", self.max_keywords, at_least=1)
        checks.nonnegative("smallest", self.smallest)
        if len(checks.sequence("shares", self.shares, "numbers")) != 3:
            raise ValueError(f"shares must be three numbers, got {self.shares!r}")
        if math.fsum(checks.positive("shares", share) for share in self.shares) > 1:
            raise ValueError(f"shares must add up to at most 1, got {self.shares!r}")

    @property
    def clusters(self) -> int:
        """k, the number of public centres."""
        return len(self.space.centres)

    def stage(self, name: str, clusters: int) -> Stage:
        """The stage `name` ("clustering": one Lloyd step, "sizes" or "keywords") over so many `clusters`."""
        share = dict(zip(("clustering", "sizes", "keywords"), self.shares, strict=True))[name]
        parts = self.rounds if name == "clustering" else 1
        rho = float(Fraction(largest_rho(self.epsilon, self.delta)) * Fraction(share) / parts) * (1 - 2.0**-50)
        width = {"clustering": 1 + self.space.centres.shape[1], "sizes": 1, "keywords": len(self.vocabulary)}[name]
        squared = {"clustering": 2, "sizes": 1, "keywords": min(self.max_keywords, len(self.vocabulary))}[name]
        root = math.sqrt(squared)
        sensitivity = root if root * root >= squared else math.nextafter(root, math.inf)
        return Stage(name, rho, sensitivity, (clusters, width))

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages in order, when every cluster is kept."""
        names = ("clustering",) * self.rounds + ("sizes", "keywords")
        return tuple(self.stage(name, self.clusters) for name in names)

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of all stages through `noise`, converted at `delta`; at most (epsilon, delta)."""
        return reduce(ZCDP.compose, (stage.zcdp_under(noise) for stage in self.stages)).guarantee(self.delta)

    def release(self, private: Sequence[str], noise: NoiseSource) -> UraniaRelease:
        """`private`: n texts. Every stage goes through one `Budget` of (epsilon, delta).

        Raises TypeError by type only, and on noise that is no source; BudgetExceeded before the noise of a stage that
        would pass the total.
        """
        checks.noise_source("noise", noise)
        texts = check_texts(private)
        points = self._points(texts)
        words = keyword_rows(texts, self.vocabulary, self.max_keywords)
        with Budget(self.epsilon, self.delta, UNIT, RELATION, accountant="zcdp") as budget:
            centres = self.space.centres
            for _ in range(self.rounds):
                stage = self.stage("clustering", self.clusters)
                exact = cluster_sums(
                    np.column_stack([np.ones(len(points)), points]), self._owners(points, centres), self.clusters
                )
                centres = _moved(
                    centres, budget.release(stage, exact, noise.child("clustering")), stage.noise_std(noise)
                )
            owners = self._owners(points, centres)
            exact = cluster_sums(np.ones((len(points), 1)), owners, self.clusters)
            sizes = budget.release(self.stage("sizes", self.clusters), exact, noise.child("sizes"))[:, 0]
            kept = np.flatnonzero(sizes >= self.smallest)
            counts = np.zeros((0, len(self.vocabulary)))
            if len(kept):
                exact = cluster_sums(words, owners, self.clusters)[kept]
                counts = budget.release(self.stage("keywords", len(kept)), exact, noise.child("keywords"))
        return UraniaRelease(centres, sizes, kept, counts, self.vocabulary, self.guarantee_under(noise), budget.ledger)

    def _points(self, texts: list[str]) -> np.ndarray:
        """float64[n, q]. Of a large collection no more than `AT_ONCE` embeddings are held beside the points."""
        blocks = [texts[start : start + AT_ONCE] for start in range(0, max(1, len(texts)), AT_ONCE)]
        wide = len(self.space.mean)
        return np.concatenate(
            [self.space.points(np.asarray(self.encoder.embed(some)).reshape(len(some), wide)) for some in blocks]
        )

    def _owners(self, points: np.ndarray, centres: np.ndarray) -> np.ndarray:
        return self.space.nearest(points, centres)


def cluster_sums(rows: Any, owners: np.ndarray, clusters: int) -> np.ndarray:
    """float64[clusters, width]: sum of the rows (float or CSR (n, width)) of each owner: one row moves one cluster."""
    from scipy import sparse

    n = len(owners)
    membership = sparse.csr_array((np.ones(n), (owners, np.arange(n))), (clusters, n))
    sums = membership @ rows
    return sums.toarray() if sparse.issparse(sums) else np.asarray(sums)


def _moved(centres: np.ndarray, noisy: np.ndarray, noise_std: float) -> np.ndarray:
    """New centres from noisy counts and sums; a count within two deviations of 0 leaves its centre where it was."""
    counts = noisy[:, :1]
    enough = counts > 2 * noise_std
    return np.where(enough, inside(noisy[:, 1:] / np.where(enough, counts, 1.0)), centres)
