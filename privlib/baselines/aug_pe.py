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
    """One line of the ledger: the deviation of a noisy count, of how many places, and the noise calls it made."""

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


@dataclass(frozen=True, eq=False)
class Group:
    """Private `rows` float[n, d] that vote among `size` >= 1 texts of their own, begun by the public `generate`."""

    rows: np.ndarray
    generate: Generate
    size: int


@dataclass(frozen=True, kw_only=True)
class Voting:
    """What every private evolution has: public settings, and the bill of equally noisy rounds.

    Arguments, all public: `vary`, `embed` (see their types; models that never saw the private texts), `epsilon` > 0,
    0 < `delta` < 1, `iterations`, `population` >= 1, `variations` L >= 2, `max_norm` > 0 (embeddings are scaled down
    to it before distances are taken), `public_seed`.
    """

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
        checks.function("vary", self.vary)
        checks.function("embed", self.embed)
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
    def rounds(self) -> int:
        """Noisy vectors that a release lets out."""
        return self.iterations

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of all rounds through `noise`; never above (epsilon, delta)."""
        return self.bill(self.rounds, noise)

    def noise_std(self, noise: NoiseSource) -> float:
        """Deviation of the noise on a count of a release through `noise`, the same in every round."""
        if noise.kind == Simulation.kind:
            return noise.gaussian_std(self.epsilon, self.delta, _root(self.rounds), self.candidates)
        return std_by_rho(self.epsilon, self.delta, self.rounds, 1.0, self.candidates, noise)

    def bill(self, rounds: int, noise: NoiseSource) -> Guarantee:
        """What a ledger of `rounds` >= 1 noisy vectors through `noise` costs, at `delta`."""
        rounds, std = checks.whole("rounds", rounds, at_least=1), self.noise_std(noise)
        assumptions, part = (*noise.assumptions, DOMAIN), (f"Gaussian votes, {rounds} rounds",)
        if noise.kind == Simulation.kind:
            exact = self.epsilon if rounds == self.rounds else gaussian_epsilon(self.delta, std, _root(rounds))
            return Guarantee(exact, self.delta, UNIT, RELATION, assumptions, part)
        one = ZCDP(noise.gaussian_rho(std, 1.0, self.candidates), UNIT, RELATION, assumptions, part)
        epsilon = reduce(ZCDP.compose, [one] * rounds).epsilon(self.delta)
        return Guarantee(epsilon, self.delta, UNIT, RELATION, assumptions, part)

    def evolve(self, groups: Sequence[Group], noise: NoiseSource, public: Simulation):
        """Every group's last population with its noisy votes, the ledger, and how many rewrites were dropped.

        A record is in one group, so it moves one place of one vector a round; the vector of all groups' votes is
        noised at once. Raises ValueError when `generate`, `vary` or `embed` return another number of items than asked.
        """
        std, populations, dropped, ledger = self.noise_std(noise), [], 0, []
        for group in groups:
            asked = group.generate(group.size, public.child("generate").integers(1 << 31))
            population, lost = _distinct(_counted("generate", asked, group.size))
            if not population:
                raise ValueError("generate must return at least one text that is not empty")
            populations.append(population)
            dropped += lost
        starts = np.cumsum([0] + [group.size * self.variations for group in groups])
        for _ in range(self.iterations):
            pools = []
            for population in populations:
                pool, lost = self._varied(population, public)
                dropped += lost
                pools.append(pool)
            embedded = self._embedded([text for pool in pools for text in pool], groups[0].rows.shape[1])
            votes, place = np.zeros(self.candidates), 0
            for group, pool, start in zip(groups, pools, starts[:-1], strict=True):
                nearest = nearest_candidates(group.rows, embedded[place : place + len(pool)], self.max_norm)
                votes[start : start + len(pool)] = np.bincount(nearest, minlength=len(pool))
                place += len(pool)
            source = Counted(noise.child("votes"))
            noisy = source.add_gaussian(votes, std)
            ledger.append(Round(std, sum(map(len, pools)), tuple(sorted(source.draws.items()))))
            populations, told = [], []
            for group, pool, start in zip(groups, pools, starts[:-1], strict=True):
                here = noisy[start : start + len(pool)]
                order = np.argsort(-here, kind="stable")[: group.size]
                populations.append([pool[place] for place in order])
                told.append(here[order])
        return populations, told, ledger, dropped

    def _varied(self, population: list[str], public: Simulation) -> tuple[list[str], int]:
        pool = list(population)
        for _ in range(self.variations - 1):
            asked = self.vary(population, public.child("vary").integers(1 << 31))
            pool += _counted("vary", asked, len(population))
        return _distinct(pool)

    def _embedded(self, texts: list[str], dimension: int) -> np.ndarray:
        found = np.asarray(self.embed(texts), dtype=np.float64)
        if found.shape != (len(texts), dimension):
            raise ValueError(f"embed must return shape {(len(texts), dimension)}, got {found.shape}")
        return found


@dataclass(frozen=True, kw_only=True)
class AugPE(Voting):
    """(epsilon, delta)-DP texts by private evolution, without labels.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one record more or less.
    An iteration makes `variations` - 1 rewrites of each of the `population` texts, lets the records vote among texts
    and rewrites, and keeps the `population` candidates with the most noisy votes: `iterations` T, as many noisy
    releases, and as many lines in the ledger, whose length is what the guarantee of a release bills.
    Arguments, public: `generate` (see its type), and those of `Voting`.
    Source: Xie and others 2024 (Aug-PE, selection by rank, no threshold on votes); the paper's run: population 3,000,
    L = 7, T = 20, no labels (Fre-E2T, Section 7 and Appendix B.1).
    """

    generate: Generate

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.function("generate", self.generate)

    def release(self, private: np.ndarray, noise: NoiseSource) -> Evolution:
        """`private`: embeddings of the records, float[n, d], n >= 0, of the same encoder as `embed`.

        Raises TypeError or ValueError on another dtype, shape or non-finite numbers, without naming any value, on noise
        that is no source, and ValueError when `generate`, `vary` or `embed` return another number of items than asked.
        """
        checks.noise_source("noise", noise)
        group = Group(embeddings(private), self.generate, self.population)
        populations, votes, ledger, dropped = self.evolve([group], noise, Simulation(self.public_seed))
        bill = self.bill(len(ledger), noise)
        return Evolution(tuple(populations[0]), votes[0], tuple(ledger), dropped, bill, noise.kind)


def std_by_rho(
    epsilon: float, delta: float, rounds: int, l2_sensitivity: float, size: int, noise: NoiseSource
) -> float:
    """Deviation at which `rounds` >= 1 vectors of `size` places fit (epsilon, delta), by the rhos of the noise."""
    share = largest_rho(epsilon, delta) / rounds * (1 - 2.0**-40)
    std = l2_sensitivity / math.sqrt(2 * share)
    while (rho := noise.gaussian_rho(std, l2_sensitivity, size)) > share:
        std *= math.sqrt(rho / share) * (1 + 2.0**-40)
    return std


def embeddings(private: np.ndarray) -> np.ndarray:
    """Private embeddings as finite float64[n, d]; errors name type and shape only."""
    rows = np.asarray(private)
    return checks.private_floats("private", rows, (None, rows.shape[-1] if rows.ndim else None))


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
