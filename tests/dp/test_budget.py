"""The budget and its ledger: refused before noise, billed before the release, counted by the source itself."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from privlib.dp import (
    Budget,
    BudgetExceeded,
    ExponentialRounds,
    GaussianMechanism,
    Guarantee,
    LaplaceMechanism,
    OneShotGumbel,
    PermuteAndFlip,
    SampleAndThreshold,
    Secure,
    Simulation,
)
from privlib.dp import budget as budgets

WHO = {"unit": "record", "relation": "add_drop"}
LAPLACE = LaplaceMechanism(0.4, 1.0, 3, **WHO)
GAUSSIAN = GaussianMechanism(0.5, 1e-7, 1.0, 3, **WHO)
VECTOR = np.array([1.0, 2.0, 3.0])


class NeverDraws:
    """A source from which any draw, even a child, is a failure of the test."""

    kind, assumptions = "simulation", ("idealized numerics",)

    def laplace_scale(self, epsilon, l1_sensitivity, size):
        return l1_sensitivity / epsilon

    def __getattr__(self, name):
        def draw(*args, **keywords):
            raise AssertionError(f"{name} was called after a refusal")

        return draw


@dataclass(frozen=True)
class Breaks:
    """Draws, then fails: what it drew may have been seen."""

    draws: int
    error: type[BaseException] = RuntimeError

    def guarantee_under(self, noise):
        return Guarantee(0.4, 0.0, **WHO, assumptions=noise.assumptions, composed=("breaks",))

    def release(self, private, noise):
        for _ in range(self.draws):
            noise.add_laplace(private, 1.0)
        raise self.error("lost")


def test_a_release_is_billed_and_returned():
    with Budget(1.0, 1e-6, **WHO) as budget:
        released = budget.release(LAPLACE, VECTOR, Simulation(3))
        budget.release(GAUSSIAN, VECTOR, Simulation(4))
    assert np.array_equal(released, LAPLACE.release(VECTOR, Simulation(3)))  # the same draws as without a budget
    assert (budget.spent.epsilon, budget.spent.delta) == (0.9, 1e-7)
    assert budget.spent.composed == ("Laplace vector", "Gaussian vector")
    assert budget.spent.assumptions == Simulation(0).assumptions
    assert [(entry.mechanism, entry.state, entry.draws) for entry in budget.ledger] == [
        ("LaplaceMechanism", "released", (("add_laplace", 1),)),
        ("GaussianMechanism", "released", (("add_gaussian", 1),)),
    ]
    lines = json.loads(json.dumps([entry.to_json() for entry in budget.ledger], allow_nan=False))
    assert lines[0]["bill"]["epsilon"] == 0.4
    assert budget.spent == LAPLACE.guarantee.compose(GAUSSIAN.guarantee)


def test_the_overspending_call_is_refused_before_any_draw():
    budget = Budget(1.0, 0.0, **WHO)
    for seed in range(2):
        budget.release(LAPLACE, VECTOR, Simulation(seed))
    before = budget.ledger
    with pytest.raises(BudgetExceeded, match=r"\(1.2, 0\), the budget is \(1, 0\): refused, nothing was drawn"):
        budget.release(LAPLACE, VECTOR, NeverDraws())
    with pytest.raises(BudgetExceeded, match="GaussianMechanism"):
        budget.release(GAUSSIAN, VECTOR, Simulation(1))  # any delta is too much
    assert budget.ledger == before
    budget.release(dataclasses.replace(LAPLACE, epsilon=0.2), VECTOR, Simulation(5))  # what still fits is let through
    assert len(budget.ledger) == 3


def test_the_source_of_the_refusal_test_can_fail():
    with pytest.raises(AssertionError, match="add_laplace"):
        LAPLACE.release(VECTOR, NeverDraws())


@pytest.mark.parametrize("draws", [0, 1, 3])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_release_that_fails_stays_billed(draws, error):
    budget = Budget(1.0, 0.0, **WHO)
    with pytest.raises(error, match="lost"):
        budget.release(Breaks(draws, error), VECTOR, Simulation(1))
    (entry,) = budget.ledger
    assert (entry.state, dict(entry.draws)) == ("failed", {"add_laplace": draws} if draws else {})
    assert budget.spent.epsilon == 0.4
    budget.release(LAPLACE, VECTOR, Simulation(1))
    with pytest.raises(BudgetExceeded):
        budget.release(LAPLACE, VECTOR, NeverDraws())


def test_malformed_private_data_stays_billed_too():
    """That the data were malformed is itself an answer about them."""
    budget = Budget(1.0, 0.0, **WHO)
    with pytest.raises(ValueError, match="private"):
        budget.release(LAPLACE, VECTOR * np.nan, Simulation(1))
    assert (budget.ledger[0].state, budget.ledger[0].draws, budget.spent.epsilon) == ("failed", (), 0.4)


def test_it_is_billed_before_the_noise_and_one_release_can_start_another():
    seen = []

    @dataclass(frozen=True)
    class Looks:
        def guarantee_under(self, noise):
            return Guarantee(0.4, 0.0, **WHO)

        def release(self, private, noise):
            seen.append([entry.state for entry in budget.ledger])
            return budget.release(LAPLACE, private, noise)

    budget = Budget(1.0, 0.0, **WHO)
    budget.release(Looks(), VECTOR, Simulation(1))
    assert seen == [["billed"]]
    assert [entry.state for entry in budget.ledger] == ["released", "released"]


def test_threads_cannot_overspend_together(monkeypatch):
    """Eight threads each see room for one of two releases and ask at once; a slowed comparison lets them race."""
    workers, fits = 8, budgets._fits

    def slow(total, limit):
        time.sleep(0.002)
        return fits(total, limit)

    monkeypatch.setattr(budgets, "_fits", slow)
    for _ in range(3):
        budget, barrier, outcomes = Budget(1.0, 0.0, **WHO), threading.Barrier(workers), []

        @dataclass(frozen=True)
        class Slow:
            def guarantee_under(self, noise, barrier=barrier):
                barrier.wait(20)
                return Guarantee(0.4, 0.0, **WHO)

            def release(self, private, noise):
                return noise.add_laplace(private, 1.0)

        def ask(seed, budget=budget, outcomes=outcomes, slow=Slow):
            try:
                budget.release(slow(), VECTOR, Simulation(seed))
                outcomes.append(True)
            except BudgetExceeded:
                outcomes.append(False)

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == [False] * (workers - 2) + [True] * 2
        assert budget.spent.epsilon == 0.8


@pytest.mark.parametrize("field", ["unit", "relation"])
def test_a_bill_of_another_kind_is_refused_before_any_draw(field):
    other = {"unit": "user", "relation": "replace"}
    with pytest.raises(ValueError, match=f"the budget is for {field}"):
        Budget(1.0, 0.0, **(WHO | {field: other[field]})).release(LAPLACE, VECTOR, NeverDraws())


def test_a_closed_budget_releases_nothing():
    with Budget(1.0, 0.0, **WHO) as budget:
        pass
    with pytest.raises(BudgetExceeded, match="closed"):
        budget.release(LAPLACE, VECTOR, NeverDraws())
    with pytest.raises(RuntimeError, match="lost"), Budget(1.0, 0.0, **WHO) as budget:
        budget.release(Breaks(1), VECTOR, Simulation(1))
    with pytest.raises(BudgetExceeded, match="closed"):
        budget.release(LAPLACE, VECTOR, NeverDraws())


@pytest.mark.parametrize("parts", [1, 3, 10, 77])
def test_shares_fit_and_nothing_more(parts):
    budget = Budget(1.0, 1e-6, **WHO)
    budget.release(GaussianMechanism(0.1, 1e-7, 1.0, 3, **WHO), VECTOR, Simulation(1))
    epsilon, delta = budget.share(parts)
    assert (epsilon * parts, delta * parts) == pytest.approx((0.9, 9e-7), rel=1e-12)
    for seed in range(parts):
        budget.release(GaussianMechanism(epsilon, delta, 1.0, 3, **WHO), VECTOR, Simulation(seed))
    assert budget.spent.epsilon <= 1.0 + 1e-12
    with pytest.raises(BudgetExceeded):
        budget.release(GaussianMechanism(epsilon, delta, 1.0, 3, **WHO), VECTOR, NeverDraws())


def test_decimal_fractions_fit_and_a_billionth_more_does_not():
    budget, tenth = Budget(1.0, 0.0, **WHO), LaplaceMechanism(0.1, 1.0, 3, **WHO)
    for seed in range(10):
        budget.release(tenth, VECTOR, Simulation(seed))
    assert budget.spent.epsilon == pytest.approx(1.0, rel=1e-14)
    for epsilon in (0.1, 1e-9):
        with pytest.raises(BudgetExceeded):
            budget.release(dataclasses.replace(tenth, epsilon=epsilon), VECTOR, NeverDraws())


SCORES = np.arange(12.0)
ROUNDS = {"rounds": 5, "epsilon": 0.5, "coordinate_sensitivity": 1.0} | WHO
COUNTED = [
    (ExponentialRounds(**ROUNDS), SCORES, {"argmax_gumbel": 5}),
    (PermuteAndFlip(**ROUNDS), SCORES, {"argmax_exponential": 5}),
    (OneShotGumbel(**ROUNDS), SCORES, {"top_gumbel": 1}),
    (LAPLACE, VECTOR, {"add_laplace": 1}),
    (GAUSSIAN, VECTOR, {"add_gaussian": 1}),
    (SampleAndThreshold(0.5, 0.3, 20, **WHO), np.zeros(50, dtype=np.int64), {"bernoulli": 1}),
]


@pytest.mark.parametrize(("mechanism", "private", "draws"), COUNTED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("kind", [Simulation, Secure])
def test_dpimagebench_1_rounds_accounted_are_rounds_noised(mechanism, private, draws, kind):
    """The ledger counts what the source was asked for; the bill's rounds are the mechanism's own."""
    budget = Budget(10.0, 0.5, **WHO)
    for _ in range(3):
        budget.release(mechanism, private, Simulation(1) if kind is Simulation else Secure())
    assert [dict(entry.draws) for entry in budget.ledger] == [draws] * 3
    assert [entry.bill.epsilon for entry in budget.ledger] == [0.5 if mechanism is not LAPLACE else 0.4] * 3
    assert len(budget.spent.composed) == 3


def test_a_round_too_many_is_seen_in_the_ledger():
    @dataclass(frozen=True)
    class OffByOne(ExponentialRounds):
        def release(self, private, noise):
            noise.argmax_gumbel(private, self.gumbel_scale)
            return super().release(private, noise)

    budget = Budget(1.0, 0.0, **WHO)
    budget.release(OffByOne(**ROUNDS), SCORES, Simulation(1))
    assert dict(budget.ledger[0].draws) != {"argmax_gumbel": 5}


def test_draws_of_children_are_counted_and_drawn_from_the_same_streams():
    @dataclass(frozen=True)
    class Branches:
        def guarantee_under(self, noise):
            return Guarantee(0.1, 0.0, **WHO)

        def release(self, private, noise):
            return [
                noise.child("a").child("b").integers(1000),
                noise.child("a").integers(1000),
                noise.bernoulli(0.5, 3),
            ]

    budget = Budget(1.0, 0.0, **WHO)
    released = budget.release(Branches(), VECTOR, Simulation(2))
    assert dict(budget.ledger[0].draws) == {"bernoulli": 1, "integers": 2}
    assert released[:2] == Branches().release(VECTOR, Simulation(2))[:2]


def test_zcdp_lets_more_through_and_never_more_than_it_may():
    counts = {}
    for accountant in ("basic", "zcdp"):
        budget, counts[accountant] = Budget(2.0, 1e-5, **WHO, accountant=accountant), 0
        small = GaussianMechanism(0.1, 1e-7, 1.0, 3, **WHO)
        refused = False
        while not refused:
            try:
                budget.release(small, VECTOR, Simulation(counts[accountant]))
                counts[accountant] += 1
            except BudgetExceeded:
                refused = True
        assert budget.spent.epsilon <= 2.0 * (1 + 1e-12)
        assert len(budget.ledger) == counts[accountant]
    assert counts["basic"] == 20
    assert counts["zcdp"] > 100
    assert (budget.spent.delta, budget.spent.composed[0]) == (1e-5, "Gaussian vector")


def test_zcdp_takes_pure_bills_and_refuses_what_it_cannot_add():
    budget = Budget(2.0, 1e-5, **WHO, accountant="zcdp")
    assert budget.spent.epsilon == 0.0
    budget.release(LAPLACE, VECTOR, Simulation(1))
    budget.release(ExponentialRounds(**ROUNDS), SCORES, Simulation(1))
    assert [entry.bill.rho for entry in budget.ledger] == pytest.approx([0.4**2 / 2, 5 * 0.1**2 / 8], rel=1e-14)
    assert json.dumps(budget.ledger[0].to_json())
    with pytest.raises(ValueError, match="delta"):
        budget.release(SampleAndThreshold(0.5, 0.3, 20, **WHO), np.zeros(5, dtype=np.int64), NeverDraws())
    with pytest.raises(ValueError, match="shares"):
        budget.share(2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"unit": "row"}, "unit"),
        ({"relation": "swap"}, "relation"),
        ({"accountant": "exact"}, "accountant"),
        ({"accountant": "zcdp", "delta": 0.0}, "delta"),
    ],
)
def test_budgets_that_bound_nothing_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Budget(**({"epsilon": 1.0, "delta": 1e-6} | WHO | changes))
