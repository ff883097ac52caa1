r"""Private evolution of a population of texts (Aug-PE): public rewrites, private votes, T rounds on one bill.

Every round, each private record votes for its nearest candidate, the vote counts are released with fresh Gaussian
noise, and the candidates with the most noisy votes live on. One record more or less moves one count of a round by 1.

**Bill.** Round i is a Gaussian mechanism of sensitivity 1 and deviation sigma, fixed beforehand; what it counts depends
on earlier outputs. T of them compose to the Gaussian privacy mu = sqrt(T) / sigma, also when chosen adaptively (Dong,
Roth and Su 2022, Corollary 3.3), hence delta(epsilon) is `gaussian_delta(epsilon, sigma, sqrt(T))`, exactly. Under
`Secure` the rounds' rhos add (zCDP), each by OpenDP's map. Rewrites, embeddings of candidates and ranking are
post-processing of noisy votes and public randomness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from privlib.baselines.space import inside
from privlib.dp import ZCDP, Guarantee, NoiseSource, Simulation, checks, gaussian_epsilon, largest_rho
from privlib.dp.budget import Counted

UNIT, RELATION = "record", "add_drop"
DOMAIN = "embeddings computed record by record"

Generate = Callable[[int, int], Sequence[str]]
"""(how many, seed) -> that many texts, from a public prompt."""
Vary = Callable[[Sequence[str], int], Sequence[str]]
"""(texts, seed) -> one rewrite a text, in order; an empty one counts as none."""
Embed = Callable[[Sequence[str]], np.ndarray]
"""n texts -> float[n, d], each row from its text alone."""


@dataclass(frozen=True)
class Round:
    """One line of the ledger: the deviation of a vote count, how many candidates, and the noise calls it made."""

    noise_std: float
    candidates: int
    draws: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Evolution:
    """Released: the last population's `texts`, most noisy `votes` (float64) first, and the ledger that was billed.

    `dropped`: rewrites that came back empty, or equal to another candidate, and so were no candidates.
    """

    texts: tuple[str, ...]
    votes: np.ndarray
    ledger: tuple[Round, ...]
    dropped: int
    guarantee: Guarantee
    kind: str


@dataclass(frozen=True)
class AugPE:
    """(epsilon, delta)-DP texts by private evolution, without labels.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one record more or less.
    An iteration makes `variations` - 1 rewrites of each of the `population` texts, lets the records vote among texts
    and rewrites, and keeps the `population` candidates with the most noisy votes: `iterations` T, as many noisy
    releases, and as many lines in the ledger, whose length is what the guarantee of a release bills.
    Arguments, all public: `generate`, `vary`, `embed` (see their types; models that never saw the private texts),
    `epsilon` > 0, 0 < `delta` < 1, `iterations`, `population` >= 1, `variations` L >= 2, `max_norm` > 0 (embeddings are
    scaled down to it before distances are taken), `public_seed`.
    Source: Xie and others 2024 (Aug-PE, selection by rank, no threshold on votes); the paper's run: population 3,000,
    L = 7, T = 20, no labels (Fre-E2T, Section 7 and Appendix B.1).
    """

    generate: Generate
    vary: Vary
    embed: Embed
    epsilon: float
    delta: float
    iterations: int = 20
    population: int = 3000
    variations: int = 7
    max_norm: float = 1.0
    public_seed: int = 0

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        checks.whole("iterations", self.iterations, at_least=1)
        checks.whole("population", self.population, at_least=1)
        checks.whole("variations", self.variations, at_least=2)
        checks.positive("max_norm", self.max_norm)
        checks.whole("public_seed", self.public_seed, at_least=0)

    @property
    def candidates(self) -> int:
        """Length of every released vector of votes: `population` times `variations`; dropped places hold noise only."""
        return self.population * self.variations

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of all iterations through `noise`; never above (epsilon, delta)."""
        return self.bill(self.iterations, noise)

    def noise_std(self, noise: NoiseSource) -> float:
        """Deviation of the noise on a vote count of a release through `noise`, the same in every iteration."""
        if noise.kind == Simulation.kind:
            return noise.gaussian_std(self.epsilon, self.delta, _root(self.iterations), self.candidates)
        share = largest_rho(self.epsilon, self.delta) / self.iterations * (1 - 2.0**-40)
        std = 1 / math.sqrt(2 * share)
        while (rho := noise.gaussian_rho(std, 1.0, self.candidates)) > share:
            std *= math.sqrt(rho / share) * (1 + 2.0**-40)
        return std

    def bill(self, rounds: int, noise: NoiseSource) -> Guarantee:
        """What a ledger of `rounds` >= 1 noisy vote vectors through `noise` costs, at `delta`."""
        rounds, std = checks.whole("rounds", rounds, at_least=1), self.noise_std(noise)
        assumptions, part = (*noise.assumptions, DOMAIN), (f"Gaussian votes, {rounds} rounds",)
        if noise.kind == Simulation.kind:
            exact = self.epsilon if rounds == self.iterations else gaussian_epsilon(self.delta, std, _root(rounds))
            return Guarantee(exact, self.delta, UNIT, RELATION, assumptions, part)
        one = ZCDP(noise.gaussian_rho(std, 1.0, self.candidates), UNIT, RELATION, assumptions, part)
        epsilon = reduce(ZCDP.compose, [one] * rounds).epsilon(self.delta)
        return Guarantee(epsilon, self.delta, UNIT, RELATION, assumptions, part)

    def release(self, private: np.ndarray, noise: NoiseSource) -> Evolution:
        """`private`: embeddings of the records, float[n, d], n >= 0, of the same encoder as `embed`.

        Raises TypeError or ValueError on another dtype, shape or non-finite numbers, without naming any value, and
        ValueError when `generate`, `vary` or `embed` return another number of items than asked for.
        """
        rows = np.asarray(private)
        rows = checks.private_floats("private", rows, (None, rows.shape[-1] if rows.ndim else None))
        public, std = Simulation(self.public_seed), self.noise_std(noise)
        asked = self.generate(self.population, public.child("generate").integers(1 << 31))
        population, dropped = _distinct(_counted("generate", asked, self.population))
        if not population:
            raise ValueError("generate must return at least one text that is not empty")
        ledger = []
        for _ in range(self.iterations):
            pool = list(population)
            for _ in range(self.variations - 1):
                asked = self.vary(population, public.child("vary").integers(1 << 31))
                pool += _counted("vary", asked, len(population))
            pool, lost = _distinct(pool)
            dropped += lost
            embedded = np.asarray(self.embed(pool), dtype=np.float64)
            if embedded.shape != (len(pool), rows.shape[1]):
                raise ValueError(f"embed must return shape {(len(pool), rows.shape[1])}, got {embedded.shape}")
            votes = np.bincount(nearest_candidates(rows, embedded, self.max_norm), minlength=self.candidates)
            source = Counted(noise.child("votes"))
            noisy = source.add_gaussian(votes, std)[: len(pool)]
            ledger.append(Round(std, len(pool), tuple(sorted(source.draws.items()))))
            order = np.argsort(-noisy, kind="stable")[: self.population]
            population = [pool[place] for place in order]
        return Evolution(
            tuple(population), noisy[order], tuple(ledger), dropped, self.bill(len(ledger), noise), noise.kind
        )


def nearest_candidates(rows: np.ndarray, candidates: np.ndarray, max_norm: float) -> np.ndarray:
    """Index of the nearest candidate of each row, int64[n], ties to the lower one; a function of that row alone.

    float[n, d] and float[m, d], scaled down to `max_norm` and cut to a grid on which every product is exact: a vote
    that changed by rounding when another record joined would break the sensitivity.
    """
    targets = inside(candidates, max_norm)
    squares = np.einsum("ij,ij->i", targets, targets)
    block = max(1, (1 << 23) // max(1, len(targets)))
    nearest = [
        np.argmax(2 * (inside(rows[start : start + block], max_norm) @ targets.T) - squares, axis=1)
        for start in range(0, len(rows), block)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *nearest]).astype(np.int64)


def _distinct(texts: Sequence[str]) -> tuple[list[str], int]:
    """Stripped texts that are not empty, each once, in order; and how many were left out."""
    kept = list(dict.fromkeys(stripped for text in texts if (stripped := text.strip())))
    return kept, len(texts) - len(kept)


def _counted(name: str, texts: Sequence[str], wanted: int) -> list[str]:
    if isinstance(texts, str) or len(texts) != wanted or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must return {wanted} texts, got {type(texts).__name__} of length {len(texts)}")
    return list(texts)


def _root(rounds: int) -> float:
    """sqrt(rounds), rounded up."""
    root = math.sqrt(rounds)
    return root if root * root >= rounds else math.nextafter(root, math.inf)
