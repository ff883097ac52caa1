"""Audits: false alarms on mechanisms that keep their word, power on broken ones, exact laws behind one-run bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privlib.dp import LaplaceMechanism, Simulation, audit_lower_bound, gaussian_epsilon, one_run_lower_bound
from privlib.dp.audit import clopper_pearson, guess_extremes, one_run_tail

WHO = {"unit": "record", "relation": "add_drop"}
RUNS, FAILURE = 1000, 0.05


def too_many(failures: int, runs: int = RUNS, rate: float = FAILURE) -> bool:
    """More failures than a correct audit shows with probability 1e-7."""
    from scipy.stats import binom

    return failures > binom.isf(1e-7, runs, rate)


def test_the_band_of_the_null_audits():
    """Of 1,000 audits at 5 % a correct one exceeds 89 times with probability below 1e-7; 12 % is far outside."""
    assert not too_many(50)
    assert too_many(120)


# --------------------------------------------------------------------------------------------------- intervals
@pytest.mark.parametrize("failure", [0.05, 1e-3])
def test_clopper_pearson_covers_at_every_probability(failure):
    """Exact coverage for 12 trials on a grid of probabilities: each bound alone fails at most as often as stated."""
    trials = 12
    bounds = [clopper_pearson(count, trials, failure) for count in range(trials + 1)]
    worst = 0.0
    for p in np.linspace(0, 1, 401):
        law = [math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]
        below = sum(mass for mass, (low, _) in zip(law, bounds, strict=True) if low > p)
        above = sum(mass for mass, (_, high) in zip(law, bounds, strict=True) if high < p)
        worst = max(worst, below, above)
    assert worst <= failure
    assert worst > failure / 3
    assert bounds[0][0] == 0
    assert bounds[-1][1] == 1
    with pytest.raises(ValueError, match="successes"):
        clopper_pearson(13, 12, failure)


# ------------------------------------------------------------------------------------------------ event search
def test_jax_privacy_270_equal_score_distributions_report_no_epsilon():
    """1,000 null audits: two equal laws of five scores each, true epsilon 0, exceedances within the binomial band.

    Power: the audit that counts on the samples that chose the event exceeds far too often.
    """
    source, exceeded, naive = Simulation(270), 0, 0
    for _ in range(RUNS):
        first, second = source.add_gaussian(np.zeros((2, 60, 5)), 1.0)
        exceeded += audit_lower_bound(first, second).epsilon > 0
        naive += counted_where_chosen(first, second) > 0
    assert not too_many(exceeded)
    assert too_many(naive)


def counted_where_chosen(first, second) -> float:
    """The broken audit: the largest bound of all events, each at the confidence of one, on the samples that chose."""
    best, n = -math.inf, len(first)
    bounds = np.array([clopper_pearson(count, n, FAILURE / 2) for count in range(n + 1)])
    for column in range(first.shape[1]):
        cuts = np.concatenate([first[:, column], second[:, column]])
        p, q = ((scores[:, column, None] <= cuts).sum(axis=0) for scores in (first, second))
        for more, less in ((p, q), (q, p), (n - p, n - q), (n - q, n - p)):
            with np.errstate(divide="ignore"):
                best = max(best, float(np.log(bounds[more, 0] / bounds[less, 1]).max()))
    return best


def test_null_audits_of_a_tight_mechanism_stay_below_its_epsilon():
    """1,000 audits of randomized response, whose true epsilon 1 is attained by one event: no slack hides errors."""
    source, truth, exceeded, largest = Simulation(1), 1.0, 0, 0.0
    for _ in range(RUNS):
        first, second = (source.bernoulli(p, 400) for p in (1 / (1 + math.exp(-truth)), 1 / (1 + math.exp(truth))))
        bound = audit_lower_bound(first, second, failure=FAILURE).epsilon
        exceeded, largest = exceeded + (bound > truth), max(largest, bound)
    assert not too_many(exceeded)
    assert largest > 0.8  # and the bounds are not vacuous


def test_null_audits_with_delta_stay_below_the_exact_curve():
    """1,000 audits of Gaussian noise at its own delta: the true epsilon is the closed form's."""
    source, delta, std = Simulation(2), 0.05, 1.2
    truth, exceeded, found = gaussian_epsilon(delta, std, 1.0), 0, 0
    for _ in range(RUNS):
        first, second = source.add_gaussian(np.zeros(300), std), source.add_gaussian(np.ones(300), std)
        bound = audit_lower_bound(first, second, delta).epsilon
        exceeded, found = exceeded + (bound > truth), found + (bound > 0)
    assert not too_many(exceeded)
    assert found > 0.7 * RUNS


def laplace_pair(release, runs, seed):
    """Outputs on neighbours of l1 distance 1 that differ in two of three coordinates, and scores of each output.

    Scores: the coordinates, and the differences of all two of them (which a shared stream leaves without noise).
    """
    source, answers = Simulation(seed), (np.array([4.0, 2.0, 3.0]), np.array([3.5, 2.5, 3.0]))
    outputs = [np.array([release(answer, source) for _ in range(runs)]) for answer in answers]
    return [np.column_stack([out, *(out[:, i] - out[:, j] for i, j in ((0, 1), (0, 2), (1, 2)))]) for out in outputs]


MECHANISM = LaplaceMechanism(1.0, 1.0, 3, **WHO)


def half_noise(answer, source):
    return source.add_laplace(answer, 0.5 * MECHANISM.noise_scale(source))


def bare_coordinate(answer, source):
    noisy = MECHANISM.release(answer, source)
    noisy[0] = answer[0]
    return noisy


def shared_stream(answer, source):
    """Every coordinate's source is made from the same seed: one draw, added three times."""
    seed = source.integers(1 << 60)
    return np.array([float(Simulation(seed).add_laplace(value, MECHANISM.noise_scale(source))) for value in answer])


@pytest.mark.parametrize("broken", [half_noise, bare_coordinate, shared_stream], ids=lambda f: f.__name__)
def test_broken_mechanisms_are_refuted(broken):
    """Noise x 0.5, one coordinate bare, one stream for all coordinates: each bound is above the stated epsilon 1."""
    first, second = laplace_pair(broken, 6000, 3)
    bound = audit_lower_bound(first, second, failure=1e-6)
    assert bound.refutes(MECHANISM.epsilon), bound
    assert bound.epsilon <= 2.0 or broken is not half_noise  # the true epsilon of half the noise


def test_the_correct_mechanism_is_not_refuted():
    first, second = laplace_pair(MECHANISM.release, 6000, 4)
    bound = audit_lower_bound(first, second, failure=1e-6)
    assert not bound.refutes(MECHANISM.epsilon)
    assert bound.epsilon > 0.25
    assert "score" in bound.found
    assert bound.confidence == 1 - 1e-6


def test_an_event_is_counted_on_the_samples_that_did_not_choose_it():
    """First halves that separate the two perfectly, second halves that are equal: nothing is left, in either
    direction; halves that both tell give a large bound."""
    apart, alike = np.concatenate([np.zeros(500), np.zeros(500)]), np.concatenate([np.ones(500), np.zeros(500)])
    assert audit_lower_bound(apart, alike).epsilon == 0
    assert audit_lower_bound(alike, apart).epsilon == 0
    assert audit_lower_bound(np.zeros(1000), np.ones(1000)).epsilon > 4  # power: both halves tell


@pytest.mark.parametrize("value", [0.0, math.inf, -math.inf])
def test_constant_scores_say_nothing(value):
    assert audit_lower_bound(np.full(50, value), np.full(50, value)).epsilon == 0


def test_perfectly_separated_scores_are_bounded_by_the_number_of_samples():
    """All 500 counted samples on one side: epsilon cannot be shown to exceed what 500 samples can show."""
    bound = audit_lower_bound(np.zeros(1000), np.ones(1000)).epsilon
    assert bound == pytest.approx(math.log(0.025 ** (1 / 500) / (1 - 0.025 ** (1 / 500))))


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        (np.zeros(3), np.zeros(10), {}),
        (np.zeros((10, 2)), np.zeros((10, 3)), {}),
        (np.array([np.nan] * 10), np.zeros(10), {}),
        (np.array(["a"] * 10), np.zeros(10), {}),
        (np.zeros(10), np.zeros(10), {"delta": 1.0}),
        (np.zeros(10), np.zeros(10), {"failure": 0.0}),
    ],
)
def test_what_cannot_be_audited_is_refused(first, second, options):
    with pytest.raises(ValueError, match="must"):
        audit_lower_bound(first, second, **options)


# ----------------------------------------------------------------------------------------------------- one run
def slow_tail(epsilon, delta, canaries, guessed, correct):
    """The theorem's right side, term by term."""
    rate = math.exp(epsilon) / (1 + math.exp(epsilon))
    law = [math.comb(guessed, k) * rate**k * (1 - rate) ** (guessed - k) for k in range(guessed + 1)]
    worst = max((sum(law[correct - i : correct]) / i for i in range(1, correct + 1)), default=0)
    return min(1.0, sum(law[correct:]) + 2 * canaries * delta * worst)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_tail_is_the_theorems(epsilon, delta):
    for guessed, correct in itertools.product((1, 7, 20), range(21)):
        if correct <= guessed:
            fast = one_run_tail(epsilon, delta, 25, guessed, correct)
            assert fast == pytest.approx(slow_tail(epsilon, delta, 25, guessed, correct), rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.1])
def test_the_tail_holds_for_mechanisms_that_attain_their_guarantee(delta):
    """Exact laws of the number of right guesses on 12 canaries of two (1, delta)-DP mechanisms: randomized response
    that with probability delta gives every coin away at once, or each coin by itself."""
    canaries, epsilon = 12, 1.0
    rate = 1 / (1 + math.exp(-epsilon))

    def tail(p, correct):
        return sum(math.comb(canaries, k) * p**k * (1 - p) ** (canaries - k) for k in range(correct, canaries + 1))

    exceeded_without_delta = False
    for correct in range(canaries + 1):
        bound = one_run_tail(epsilon, delta, canaries, canaries, correct)
        together = delta + (1 - delta) * tail(rate, correct)
        apart = tail(delta + (1 - delta) * rate, correct)
        assert max(together, apart) <= bound * (1 + 1e-12)
        exceeded_without_delta |= max(together, apart) > one_run_tail(epsilon, 0.0, canaries, canaries, correct) + 1e-9
    assert exceeded_without_delta == (delta > 0)  # negative control: without its delta term the bound is false


def test_null_one_run_audits_stay_below_the_true_epsilon():
    """1,000 runs of randomized response on 200 canaries, true epsilon 1; every canary guessed: the tail is exact."""
    source, truth, exceeded, sum_of_bounds = Simulation(5), 1.0, 0, 0.0
    for _ in range(RUNS):
        coins = source.bernoulli(0.5, 200)
        answers = coins ^ source.bernoulli(1 / (1 + math.exp(truth)), 200)
        bound = one_run_lower_bound(coins, np.where(answers, 1, -1), failure=FAILURE).epsilon
        exceeded, sum_of_bounds = exceeded + (bound > truth), sum_of_bounds + bound
    assert not too_many(exceeded)
    assert sum_of_bounds / RUNS > 0.6


def test_null_one_run_audits_of_pure_guessing_report_no_epsilon():
    """1,000 runs of an output that holds nothing (epsilon 0), the 30 most extreme of 100 canaries guessed each way.

    Power: guessing after a look at the coins exceeds every time.
    """
    source, exceeded, peeked = Simulation(6), 0, 0
    for _ in range(RUNS):
        coins, scores = source.bernoulli(0.5, 100), source.add_gaussian(np.zeros(100), 1.0)
        exceeded += one_run_lower_bound(coins, guess_extremes(scores, 30, 30)).epsilon > 0
        peeked += one_run_lower_bound(coins, guess_extremes(scores + coins, 30, 30)).epsilon > 0
    assert not too_many(exceeded)
    assert too_many(peeked)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_one_run_of_many_canaries_refutes_half_the_noise_only(factor):
    """One release of 2,000 counts, each moved by its own canary: Laplace at epsilon 1, and with half the noise."""
    mechanism, source = LaplaceMechanism(1.0, 1.0, 2000, **WHO), Simulation(7)
    coins = source.child("coins").bernoulli(0.5, 2000)
    noisy = source.add_laplace(coins.astype(float), factor * mechanism.noise_scale(source))
    bound = one_run_lower_bound(coins, guess_extremes(noisy, 400, 400), failure=1e-6)
    assert bound.refutes(1.0) == (factor == 0.5)
    assert 0.3 < bound.epsilon < 1 / factor


def test_all_guesses_right_gives_the_closed_form():
    """v = r: the tail is rate^r, so the bound is the logit of failure^(1/r): never infinity."""
    coins = np.arange(80) % 3 == 0
    rate = 0.05 ** (1 / 80)
    bound = one_run_lower_bound(coins, np.where(coins, 1, -1))
    assert bound.epsilon == pytest.approx(math.log(rate / (1 - rate)), rel=1e-7)
    assert bound.found == "80 of 80 guesses correct, 80 canaries"
    assert one_run_lower_bound(coins, np.where(coins, -1, 1)).epsilon == 0
    assert one_run_lower_bound(coins, np.zeros(80, dtype=int)).epsilon == 0
    assert one_run_tail(1000.0, 1e-9, 80, 80, 80) == 1.0


def test_a_larger_delta_never_gives_a_larger_bound():
    coins = np.ones(100, dtype=bool)
    guesses = np.where(np.arange(100) < 90, 1, -1)
    bounds = [one_run_lower_bound(coins, guesses, delta).epsilon for delta in (0.0, 1e-6, 1e-4, 1e-3, 0.1)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[2] > bounds[-1] == 0


@pytest.mark.parametrize(
    ("included", "guesses"),
    [
        (np.array([1, 0]), np.array([1, -1])),
        (np.array([], dtype=bool), np.array([], dtype=int)),
        (np.array([True, False]), np.array([1, -1, 1])),
        (np.array([True, False]), np.array([1, 2])),
        (np.array([True, False]), np.array([1.0, -1.0])),
    ],
)
def test_malformed_canaries_are_refused(included, guesses):
    with pytest.raises(ValueError, match="must"):
        one_run_lower_bound(included, guesses)


def test_guess_extremes():
    assert guess_extremes([0.3, -1.0, 2.0, 0.1, 0.2], 1, 2).tolist() == [0, -1, 1, -1, 0]
    assert guess_extremes([1.0, 2.0], 0, 0).tolist() == [0, 0]
    with pytest.raises(ValueError, match="at most 2"):
        guess_extremes([1.0, 2.0], 2, 1)
    with pytest.raises(ValueError, match="NaN"):
        guess_extremes([1.0, math.nan], 1, 1)
