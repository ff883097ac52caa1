"""Bills for users of several records."""

from __future__ import annotations

import math

import pytest

from privlib.dp import ZCDP, Guarantee
from privlib.synthesis.protocol import several
from privlib.synthesis.user_counts import threshold_delta_for_user

RECORD = Guarantee(2.0, 1e-7, "record", "replace_with_null")


def test_more_records_cost_more_and_the_group_bill_explodes():
    """Why the second bill is hopeless: its delta is near 1 while the capped one has only grown six times."""
    capped, group = several.capped_bill(RECORD, 6), several.group_bill(RECORD, 6)
    assert (capped.epsilon, capped.unit) == (12.0, "user")
    assert capped.delta == pytest.approx(6e-7)
    assert group.epsilon == 12.0
    assert group.delta == pytest.approx(1e-7 * math.expm1(12) / math.expm1(2))
    assert group.delta > 0.002
    assert several.group_bill(Guarantee(8.0, 1e-6, "record", "add_drop"), 3).delta == 1.0
    counts = [threshold_delta_for_user(3.0, 0.3, 20, records) for records in (1, 2, 4, 8)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] / 100


def test_the_direct_bill_adds_its_parts():
    record = ZCDP(0.1, "record", "replace")
    bill = several.direct_bill(2.0, 0.3, 25, 3, record, 1e-7)
    assert bill.epsilon == pytest.approx(2.0 + ZCDP(0.9, "record", "replace").epsilon(1e-7))
    assert bill.delta == pytest.approx(threshold_delta_for_user(2.0, 0.3, 25, 3) + 1e-7)
    assert bill.unit == "user"
