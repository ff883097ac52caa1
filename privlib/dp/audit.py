"""Audits: attacks on a mechanism's outputs that end in a statistical LOWER bound on its epsilon.

An audit can refute a guarantee, never prove one: a bound of 0 says that this attack found nothing. The datasets
audited are made up, so scores and messages here are not private data.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv, gammaln, xlogy

from privlib.dp import checks


@dataclass(frozen=True)
class EpsilonLowerBound:
    """With probability at least `confidence` over the audit's samples, no epsilon below `epsilon` is true at `delta`.

    `found` says in words on which event or guesses the bound rests. 0.0 means that nothing was found.
    """

    epsilon: float
    delta: float
    confidence: float
    found: str

    def refutes(self, epsilon: float) -> bool:
        """Whether the bound contradicts a stated `epsilon` (at this delta or a smaller one)."""
        return self.epsilon > checks.nonnegative("epsilon", epsilon, infinite=True)


def clopper_pearson(successes: int, trials: int, failure: float) -> tuple[float, float]:
    """(lower, upper) bounds of a binomial probability; each one alone fails with probability at most `failure`.

    Source: Clopper and Pearson 1934. `successes` in 0..trials, `trials` >= 1, `failure` in (0, 1).
    """
    trials = checks.whole("trials", trials, at_least=1)
    successes = checks.whole("successes", successes, at_least=0)
    if successes > trials:
        raise ValueError(f"successes must be at most trials = {trials}, got {successes}")
    low, high = _clopper_pearson(trials, checks.open_probability("failure", failure))
    return float(low[successes]), float(high[successes])


@functools.lru_cache(maxsize=64)  # an audit looks at every count, a study repeats the audit
def _clopper_pearson(trials: int, failure: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds for every count 0..trials."""
    counts = np.arange(1, trials + 1, dtype=np.float64)
    low = np.concatenate([[0.0], betaincinv(counts, trials - counts + 1, failure)])
    return low, 1 - low[::-1]


def audit_lower_bound(first, second, delta: float = 0.0, failure: float = 0.05) -> EpsilonLowerBound:
    """Lower bound on epsilon from outputs of a mechanism on two neighbouring datasets: event search, split sample.

    On the first half of the rows the event {score_j <= t} or {score_j > t}, with j, t and the direction (first against
    second or back), is chosen that would give the largest bound; on the other half alone it is counted. With
    Clopper-Pearson bounds p_low of its probability under one law and q_high under the other, each failing with
    probability at most failure/2, the bound ln((p_low - delta) / q_high), at least 0, is at most the true epsilon with
    probability at least 1 - failure jointly, whatever was searched: (epsilon, delta)-DP says that
    p <= exp(epsilon) q + delta for this event too. Counting on the half that chose would report an epsilon for two
    equal laws.

    Arguments: `first`, `second` float[n] or float[n, f], f scores of each of n and n' independent outputs of the
    mechanism on each dataset, in the order they were drawn (a sorted list breaks the split), at least 4 rows each;
    infinities are allowed, NaN is not. `delta` in [0, 1), `failure` in (0, 1).
    Raises TypeError or ValueError on anything else.
    Source: Jagielski, Ullman and Oprea 2020, Section 4, with the event chosen on separate samples.
    """
    delta, failure = checks.nonnegative("delta", delta), checks.open_probability("failure", failure)
    if delta >= 1:
        raise ValueError(f"delta must be below 1, got {delta!r}")
    first, second = _scores("first", first), _scores("second", second)
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"first and second must have one number of scores, got {first.shape[1]}, {second.shape[1]}")
    halves = [(scores[: len(scores) // 2], scores[len(scores) // 2 :]) for scores in (first, second)]
    column, cut, inside, more, less = _chosen_event([half[0] for half in halves], delta, failure)
    rest = [(halves[k][1][:, column] <= cut) == inside for k in (more, less)]
    bound = _log_ratio([part.sum() for part in rest], [len(part) for part in rest], delta, failure)
    found = f"score {column} {'<=' if inside else '>'} {cut:g}, likelier under {('first', 'second')[more]}"
    return EpsilonLowerBound(max(0.0, float(bound)), delta, 1 - failure, found)


def one_run_lower_bound(included, guesses, delta: float = 0.0, failure: float = 0.05) -> EpsilonLowerBound:
    """Lower bound on epsilon from ONE run of a mechanism with many canaries, each put in by a fair coin of its own.

    Of m canaries r are guessed and v of these correctly. If the mechanism is (epsilon, delta)-DP for adding or dropping
    (or replacing by a null) one canary, then with W ~ Bin(r, 1 / (1 + exp(-epsilon)))
    Pr[v or more correct] <= Pr[W >= v] + 2 m delta max_{1 <= i <= v} Pr[v - i <= W < v] / i.
    The bound returned is an epsilon at which the right side still is at most `failure`; larger epsilons hold whenever
    smaller ones do, so it lies below the true epsilon with probability at least 1 - failure.

    Assumes: the coins are fair, independent of each other and of everything else; guesses depend on the output and on
    public facts only, never on the coins; how many are guessed was not tuned on the result.
    Arguments: `included` bool[m], the coins; `guesses` int[m], 1 (in), -1 (out), 0 (abstain); m >= 1;
    `delta` in [0, 1), `failure` in (0, 1). Raises TypeError or ValueError on anything else.
    Source: Steinke, Nasr and Jagielski 2023, main theorem (at delta = 0 the binomial tail alone).
    """
    delta, failure = checks.nonnegative("delta", delta), checks.open_probability("failure", failure)
    if delta >= 1:
        raise ValueError(f"delta must be below 1, got {delta!r}")
    included, guesses = np.asarray(included), np.asarray(guesses)
    if included.dtype != bool or included.ndim != 1 or not included.size:
        raise ValueError(f"included must be bool[m], m >= 1; got dtype {included.dtype}, shape {included.shape}")
    if guesses.shape != included.shape or guesses.dtype.kind != "i" or np.abs(guesses).max() > 1:
        came = f"dtype {guesses.dtype}, shape {guesses.shape}"
        raise ValueError(f"guesses must be int[{included.size}] out of -1, 0, 1; got {came}")
    guessed, correct = int((guesses != 0).sum()), int((guesses == np.where(included, 1, -1)).sum())

    def excluded(epsilon: float) -> bool:
        return one_run_tail(epsilon, delta, included.size, guessed, correct) <= failure

    low, high = 0.0, 1.0
    if excluded(0.0):
        while excluded(high):
            low, high = high, 2 * high
        while high - low > 1e-9 * (1 + high):
            middle = (low + high) / 2
            low, high = (middle, high) if excluded(middle) else (low, middle)
    found = f"{correct} of {guessed} guesses correct, {included.size} canaries"
    return EpsilonLowerBound(low, delta, 1 - failure, found)


def one_run_tail(epsilon: float, delta: float, canaries: int, guessed: int, correct: int) -> float:
    """Largest probability that an (epsilon, delta)-DP mechanism lets `correct` or more of `guessed` guesses be right.

    The right side in `one_run_lower_bound`, cut at 1. Source: Steinke, Nasr and Jagielski 2023, main theorem.
    """
    epsilon = checks.nonnegative("epsilon", epsilon)
    if correct == 0:
        return 1.0
    rate = 1 / (1 + math.exp(-epsilon))
    tail = float(betainc(correct, guessed - correct + 1, rate))  # Pr[W >= correct]
    if delta:
        fewer = np.arange(correct - 1, -1, -1.0)
        mass = gammaln(guessed + 1) - gammaln(fewer + 1) - gammaln(guessed - fewer + 1)
        log_missed = math.log(rate) - epsilon  # ln(1 - rate), without cancellation
        mass = np.exp(mass + xlogy(fewer, rate) + (guessed - fewer) * log_missed)
        tail += 2 * canaries * delta * float((np.cumsum(mass) / np.arange(1, correct + 1)).max())
    return min(1.0, tail)


def guess_extremes(scores, guessed_in: int, guessed_out: int) -> np.ndarray:
    """Guesses for `one_run_lower_bound`: 1 for the `guessed_in` highest scores, -1 for the `guessed_out` lowest.

    `scores` float[m], one a canary, from the mechanism's output alone, larger where it seems to be in; no NaN. Both
    counts are public and fixed beforehand, together at most m; the rest is 0. Ties go by position. Returns int64[m].
    """
    scores = _scores("scores", scores, rows=1)[:, 0]
    top = checks.whole("guessed_in", guessed_in, at_least=0)
    bottom = checks.whole("guessed_out", guessed_out, at_least=0)
    if top + bottom > len(scores):
        raise ValueError(f"guessed_in + guessed_out must be at most {len(scores)}, got {top} + {bottom}")
    order, guesses = np.argsort(scores, kind="stable"), np.zeros(len(scores), dtype=np.int64)
    guesses[order[:bottom]], guesses[order[len(scores) - top :]] = -1, 1
    return guesses


def _chosen_event(samples: list[np.ndarray], delta: float, failure: float) -> tuple[int, float, bool, int, int]:
    """(score, threshold, whether below it, likelier law, other law) of the largest bound on `samples`.

    Events are compared by bounds that would hold for all of them at once, or rare events that were lucky here would
    win. Only the power of the audit depends on this choice.
    """
    largest = 4 * samples[0].shape[1] * (len(samples[0]) + len(samples[1]))  # number of events, at most
    chosen, best = None, -math.inf
    for column in range(samples[0].shape[1]):
        parts = [np.sort(part[:, column]) for part in samples]
        cuts = np.unique(np.concatenate(parts))
        below = [np.searchsorted(part, cuts, side="right") for part in parts]
        for inside, (more, less) in ((True, (0, 1)), (True, (1, 0)), (False, (0, 1)), (False, (1, 0))):
            counts = [below[k] if inside else len(parts[k]) - below[k] for k in (more, less)]
            bounds = _log_ratio(counts, (len(parts[more]), len(parts[less])), delta, failure / largest)
            if chosen is None or bounds.max() > best:
                best, chosen = bounds.max(), (column, cuts[int(bounds.argmax())], inside, more, less)
    return chosen


def _scores(name: str, values, rows: int = 4) -> np.ndarray:
    scores = np.asarray(values)
    if scores.dtype.kind not in "fiub" or scores.ndim not in (1, 2) or len(scores) < rows or not scores.size:
        came = f"dtype {scores.dtype}, shape {scores.shape}"
        raise ValueError(f"{name} must be float[n] or float[n, f], n >= {rows}; got {came}")
    scores = scores.astype(np.float64).reshape(len(scores), -1)
    if np.isnan(scores).any():
        raise ValueError(f"{name} must hold no NaN (array of shape {scores.shape})")
    return scores


def _log_ratio(counts, trials, delta: float, failure: float):
    """ln((p_low - delta) / q_high), -inf where p_low does not exceed delta."""
    low = _clopper_pearson(int(trials[0]), failure / 2)[0][counts[0]] - delta
    high = _clopper_pearson(int(trials[1]), failure / 2)[1][counts[1]]
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(low, 0.0)) - np.log(high)
