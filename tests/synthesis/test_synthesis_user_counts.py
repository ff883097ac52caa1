"""The thresholded count of a bucket for several records of one user: exact bill, rounded up, and the paper's lemma."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privlib.dp import threshold_delta
from privlib.synthesis import lemma1, user_counts
from privlib.synthesis.user_counts import lemma_for_user, threshold_delta_for_user


def test_one_record_is_the_known_case():
    assert lemma_for_user(1, 4, 0.5, 50) == pytest.approx(lemma1(4, 0.5, 50), rel=1e-9)
    for epsilon in (0.3, 1.0, 2.5):
        assert threshold_delta_for_user(epsilon, 0.4, 12, 1) == pytest.approx(
            threshold_delta(epsilon, 0.4, 12), rel=1e-6
        )


@pytest.mark.parametrize("records", [1, 2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_scan_over_sizes_misses_none(records, epsilon):
    """Against every size up to 120, by plain sums of binomial terms."""
    rate, threshold = 0.3, 6

    def law(size):
        merged = [0.0] * (121 - threshold + 1)
        for n in range(size + 1):
            chance = math.comb(size, n) * rate**n * (1 - rate) ** (size - n)
            merged[0 if n < threshold else n - threshold + 1] += chance
        return merged

    worst = 0.0
    for size in range(records, 121):
        p, q = law(size), law(size - records)
        for a, b in ((p, q), (q, p)):
            worst = max(worst, sum(max(0.0, x - math.exp(epsilon) * y) for x, y in zip(a, b, strict=True)))
    assert threshold_delta_for_user(epsilon, rate, threshold, records) == pytest.approx(worst, rel=1e-6)


@pytest.mark.parametrize("records", [1, 2, 3])
def test_the_papers_lemma_covers_the_exact_count(records):
    for rate, threshold, v in ((0.3, 30, 2.0), (0.5, 50, 3.0)):
        epsilon, delta = lemma_for_user(records, v, rate, threshold)
        assert threshold_delta_for_user(epsilon, rate, threshold, records) <= delta


def test_the_lemma_says_when_it_says_nothing():
    with pytest.raises(ValueError, match="above rate"):
        lemma_for_user(80, 1.0, 0.5, 50)


# rounding


def exact_law(size, rate, threshold):
    """Probabilities of the merged count as fractions: below the threshold first."""
    chance, other = Fraction(rate), 1 - Fraction(rate)
    each = [math.comb(size, n) * chance**n * other ** (size - n) for n in range(size + 1)]
    return [sum(each[:threshold], Fraction(0)), *each[threshold:]]


def exact(epsilon, rate, threshold, size, records):
    """The divergence as a fraction, for exp(epsilon) as the float that it is."""
    factor = Fraction(math.exp(epsilon))
    larger, smaller = exact_law(size, rate, threshold), exact_law(size - records, rate, threshold)
    smaller += [Fraction(0)] * (len(larger) - len(smaller))
    pairs = list(zip(larger, smaller, strict=True))
    both = (pairs, [(b, a) for a, b in pairs])
    return max(sum(max(a - factor * b, Fraction(0)) for a, b in one) for one in both)


CASES = [
    (0.05, 0.3, 0, 150, 1),
    (0.3, 0.3, 20, 100, 2),
    (1.0, 0.5, 60, 120, 3),
    (2.0, 0.3, 60, 200, 2),
    (0.7, 0.6, 9, 90, 1),
    (0.2, 0.7, 3, 15, 5),  # here the larger direction is that of records that go
]


@pytest.mark.parametrize("case", CASES)
def test_a_divergence_is_never_rounded_down(case):
    """Held against exact fractions, small deltas and near cancellation among them; and not far above."""
    truth, bound = exact(*case), user_counts._divergence(*case)
    assert truth <= Fraction(bound) <= truth * Fraction(1 + 1e-8)


def test_without_the_slack_some_would_be(monkeypatch):
    """Power: the same sums with no slack fall below the exact value somewhere."""
    monkeypatch.setattr(user_counts, "_FEW_ULPS", 0.0)
    cases = [(epsilon, rate, 0, size, 1) for epsilon in (0.05, 0.2) for rate in (0.3, 0.45) for size in (80, 120, 160)]
    assert any(Fraction(user_counts._divergence(*case)) < exact(*case) for case in cases)


def test_the_slack_covers_the_log_gammas_of_the_largest_buckets():
    """ln Pr at 2^14 records against a sum of logarithms: off by less than the slack that is taken for it."""
    size, rate, counts = (1 << 14) - 1, 0.3, np.array([0, 40, 5000, 9000, 16383])
    logs = user_counts._log_binomial(counts, size, rate)
    slack = user_counts._FEW_ULPS * (1 + math.lgamma(size + 1.0) - size * math.log(rate))
    assert slack < 1e-9
    for count, found in zip(counts.tolist(), logs.tolist(), strict=True):
        terms = [math.log(size - j) - math.log(j + 1) for j in range(count)]
        terms += [count * math.log(rate), (size - count) * math.log1p(-rate)]
        assert abs(found - math.fsum(terms)) < slack
