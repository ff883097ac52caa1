"""Bills for users of several records."""

from __future__ import annotations

import math

import pytest

from privlib.dp import ZCDP, Guarantee, threshold_delta
from privlib.synthesis import lemma1
from privlib.synthesis.protocol import several

RECORD = Guarantee(2.0, 1e-7, "record", "replace_with_null")


def test_one_record_is_the_known_case():
    assert several.lemma_for_user(1, 4, 0.5, 50) == pytest.approx(lemma1(4, 0.5, 50), rel=1e-9)
    for epsilon in (0.3, 1.0, 2.5):
        assert several.threshold_delta_for_user(epsilon, 0.4, 12, 1) == pytest.approx(
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
    assert several.threshold_delta_for_user(epsilon, rate, threshold, records) == pytest.approx(worst, rel=1e-6)


@pytest.mark.parametrize("records", [1, 2, 3])
def test_the_papers_lemma_covers_the_exact_count(records):
    for rate, threshold, v in ((0.3, 30, 2.0), (0.5, 50, 3.0)):
        epsilon, delta = several.lemma_for_user(records, v, rate, threshold)
        assert several.threshold_delta_for_user(epsilon, rate, threshold, records) <= delta


def test_the_lemma_says_when_it_says_nothing():
    with pytest.raises(ValueError, match="above rate"):
        several.lemma_for_user(80, 1.0, 0.5, 50)


def test_more_records_cost_more_and_the_group_bill_explodes():
    """Why the second bill is hopeless: its delta is near 1 while the capped one has only grown six times."""
    capped, group = several.capped_bill(RECORD, 6), several.group_bill(RECORD, 6)
    assert (capped.epsilon, capped.unit) == (12.0, "user")
    assert capped.delta == pytest.approx(6e-7)
    assert group.epsilon == 12.0
    assert group.delta == pytest.approx(1e-7 * math.expm1(12) / math.expm1(2))
    assert group.delta > 0.002
    assert several.group_bill(Guarantee(8.0, 1e-6, "record", "add_drop"), 3).delta == 1.0
    counts = [several.threshold_delta_for_user(3.0, 0.3, 20, records) for records in (1, 2, 4, 8)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] / 100


def test_the_direct_bill_adds_its_parts():
    record = ZCDP(0.1, "record", "replace")
    bill = several.direct_bill(2.0, 0.3, 25, 3, record, 1e-7)
    assert bill.epsilon == pytest.approx(2.0 + ZCDP(0.9, "record", "replace").epsilon(1e-7))
    assert bill.delta == pytest.approx(several.threshold_delta_for_user(2.0, 0.3, 25, 3) + 1e-7)
    assert bill.unit == "user"
