r"""DP fine-tuning of a language model (DP-SGD), and texts sampled from it: the baseline that trains.

**Bill.** In each of T steps every record is in the batch with probability q, by a coin of its own (Poisson sampling);
the gradients of those in it are clipped to norm C and summed; noise of deviation z C is added to the sum. A record
more or less is a Poisson-subsampled Gaussian of sensitivity C in each step, T of them compose adaptively, and the
privacy loss distribution of dp-accounting bounds the whole from above, for continuous noise. Under `Secure` the
steps' rhos add and nothing is taken off for the sampling: valid, and much more noise. The step's size divides by
q times the public `expected_records`, never by the batch at hand: how many were in it is private. Sampling texts from
the trained model is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Protocol

import numpy as np

from privlib.baselines.aug_pe import RELATION, UNIT, Round, std_by_rho
from privlib.baselines.keywords import check_texts
from privlib.baselines.space import inside
from privlib.dp import ZCDP, Guarantee, NoiseSource, Simulation, checks
from privlib.dp.budget import Counted

DOMAIN = "gradients computed record by record"
AT_ONCE = 8  # records whose gradients are held together


class Session(Protocol):
    """A model in training. `size`: how many numbers are trained."""

    size: int

    def gradients(self, texts: Sequence[str]) -> np.ndarray:
        """float[n, size]: gradient of each text's own loss, from that text and the model alone."""
        ...

    def step(self, gradient: np.ndarray) -> None:
        """Move the trained numbers against float[size]."""
        ...

    def sample(self, count: int, seed: int) -> Sequence[str]:
        """`count` texts of the model as it is; an empty one counts as none."""
        ...


Learner = Callable[[int], Session]
"""public seed -> a new session of a public model.

A learner may state `assumptions`, a tuple of texts: what must hold besides, of texts it read beforehand for instance.
The guarantee then lists them among its own.
"""


@dataclass(frozen=True, eq=False)
class TunedTexts:
    """Released: sampled `texts`, the ledger that was billed, how many samples were empty, and the bill."""

    texts: tuple[str, ...]
    ledger: tuple[Round, ...]
    dropped: int
    guarantee: Guarantee
    kind: str


@dataclass(frozen=True, kw_only=True)
class DPFineTuning:
    """(epsilon, delta)-DP texts of a language model trained by DP-SGD.

    Inequality: Pr[M(D) in S] <= exp(epsilon) Pr[M(D') in S] + delta for D, D' that differ by one record more or less.
    Arguments, all public: `learner` (see its type; a model that never saw the private texts), `epsilon` > 0,
    0 < `delta` < 1, `rate` q in (0, 1], `epochs` >= 1 (T = ceil(epochs / q) steps), `expected_records` >= 1,
    `clip_norm` C > 0, `samples` >= 1 texts to release, `public_seed`.
    Source: Abadi and others 2016, Algorithm 1; for texts, Yue and others 2023. The paper's run: 15 epochs, epsilon 1
    to 4 (QuanText, section V-B).
    """

    learner: Learner
    epsilon: float
    delta: float
    rate: float
    epochs: int = 15
    expected_records: int
    clip_norm: float = 1.0
    samples: int
    public_seed: int = 0

    def __post_init__(self) -> None:
        checks.function("learner", self.learner)
        checks.texts("learner.assumptions", getattr(self.learner, "assumptions", ()))
        checks.positive("epsilon", self.epsilon)
        checks.open_probability("delta", self.delta)
        if not checks.probability("rate", self.rate):
            raise ValueError("rate must be above 0, got 0")
        for name in ("epochs", "expected_records", "samples"):
            checks.whole(name, getattr(self, name), at_least=1)
        checks.positive("clip_norm", self.clip_norm)
        checks.whole("public_seed", self.public_seed, at_least=0)

    @property
    def steps(self) -> int:
        """T, the noisy sums that a release lets out."""
        return math.ceil(self.epochs / self.rate)

    @property
    def guarantee(self) -> Guarantee:
        """The bill of continuous noise, with "idealized numerics" among the assumptions."""
        return self.guarantee_under(Simulation(0))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of all steps through a `Simulation`; that through `Secure` needs the model's size, see `bill`."""
        if noise.kind != Simulation.kind:
            raise ValueError("noise must be a simulation: a secure bill is stated by the release, which knows the size")
        return self.bill(self.steps, noise, 1)

    def noise_std(self, noise: NoiseSource, size: int) -> float:
        """Deviation of the noise on each of `size` numbers of a sum, the same in every step."""
        if noise.kind == Simulation.kind:
            return noise_multiplier(self.epsilon, self.delta, self.rate, self.steps) * self.clip_norm
        return std_by_rho(self.epsilon, self.delta, self.steps, self.clip_norm, size, noise)

    def bill(self, steps: int, noise: NoiseSource, size: int) -> Guarantee:
        """What a ledger of `steps` >= 1 noisy sums of `size` numbers through `noise` costs, at `delta`."""
        steps = checks.whole("steps", steps, at_least=1)
        part = (f"DP-SGD, {steps} steps",)
        assumptions = (*noise.assumptions, DOMAIN, *getattr(self.learner, "assumptions", ()))
        std = self.noise_std(noise, size)
        if noise.kind == Simulation.kind:
            exact = self.epsilon
            if steps != self.steps:
                exact = sampled_epsilon(std / self.clip_norm, self.delta, self.rate, steps)
            return Guarantee(exact, self.delta, UNIT, RELATION, assumptions, part)
        one = ZCDP(noise.gaussian_rho(std, self.clip_norm, size), UNIT, RELATION, assumptions, part)
        epsilon = reduce(ZCDP.compose, [one] * steps).epsilon(self.delta)
        return Guarantee(epsilon, self.delta, UNIT, RELATION, assumptions, part)

    def release(self, private: Sequence[str], noise: NoiseSource) -> TunedTexts:
        """`private`: one text a record, n >= 0. Raises TypeError by type only, and on noise that is no source.

        A record whose gradient is not finite counts for nothing; an empty batch gets its noise like any other.
        """
        checks.noise_source("noise", noise)
        records = check_texts(private)
        session = self.learner(self.public_seed)
        std, ledger = self.noise_std(noise, session.size), []
        for _ in range(self.steps):
            batch = np.flatnonzero(noise.child("batch").bernoulli(self.rate, len(records)))
            total = np.zeros(session.size)
            for start in range(0, len(batch), AT_ONCE):
                total += self.clipped(session.gradients([records[row] for row in batch[start : start + AT_ONCE]]))
            source = Counted(noise.child("gradients"))
            noisy = source.add_gaussian(total, std)
            ledger.append(Round(std, session.size, tuple(sorted(source.draws.items()))))
            session.step(noisy / (self.rate * self.expected_records))
        sampled = [text.strip() for text in session.sample(self.samples, self.public_seed)]
        kept = tuple(text for text in sampled if text)
        bill = self.bill(len(ledger), noise, session.size)
        return TunedTexts(kept, tuple(ledger), len(sampled) - len(kept), bill, noise.kind)

    def clipped(self, gradients: np.ndarray) -> np.ndarray:
        """float64[size]: sum of the rows, each cut to norm `clip_norm`, on a grid on which sums do not round."""
        rows = np.array(gradients, dtype=np.float64)
        rows[~np.isfinite(rows).all(axis=1)] = 0.0
        return inside(rows, self.clip_norm).sum(axis=0) * self.clip_norm


@lru_cache(maxsize=64)
def noise_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Smallest z (to a thousandth, rounded up) whose `steps` sampled Gaussians are (epsilon, delta)-DP."""
    low, high = 0.0, 1.0
    while sampled_epsilon(high, delta, rate, steps) > epsilon:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if sampled_epsilon(middle, delta, rate, steps) <= epsilon else (middle, high)
    return high


@lru_cache(maxsize=256)
def sampled_epsilon(multiplier: float, delta: float, rate: float, steps: int) -> float:
    """Upper bound of epsilon at `delta` of `steps` Poisson-sampled Gaussians, add/drop of one record."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    if multiplier < 0.2:  # the distribution would be as wide as the memory; more than anyone would accept
        return math.inf
    one = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    accountant = PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE, 1e-3)
    return float(accountant.compose(dp_accounting.SelfComposedDpEvent(one, steps)).get_epsilon(delta))
