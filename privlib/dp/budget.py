"""A budget that releases: it bills a release before any noise is drawn, and writes the ledger as it goes."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privlib.dp import checks
from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource
from privlib.dp.zcdp import ZCDP

ACCOUNTANTS = ("basic", "zcdp")
ROUNDING = 1e-12
"""A total this close (relative) above the limit fits: ten times the binary 0.1 is a little more than 1."""


class BudgetExceeded(ValueError):
    """A release was refused, before any noise was drawn, because its bill does not fit what is left."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: `bill` of one release, `state` and the noise calls it made.

    `state`: "billed" while it runs, "released" when it came back, "failed" when it raised (it stays paid: noise or a
    message may have told something). `draws`: each method of the noise source that drew, with its number of calls.
    """

    mechanism: str
    bill: Guarantee | ZCDP
    state: str
    draws: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`; holds public parameters and counts only."""
        bill = self.bill.to_json() if isinstance(self.bill, Guarantee) else {"zcdp": str(self.bill)}
        return {
            "mechanism": self.mechanism,
            "bill": bill,
            "state": self.state,
            "draws": dict(self.draws),
        }


class Budget:
    """At most (epsilon, delta) for everything released through it; not a guarantee of anything released beside it.

    Inequality: whatever is released through one budget, each mechanism and its parameters chosen after seeing earlier
    outputs, the whole is (epsilon, delta)-DP for `unit` under `relation`. accountant "basic": epsilons and deltas add
    (Rogers, Roth, Ullman and Vadhan 2016, Theorem 3.6: addition stays valid under adaptive choice); "zcdp": rhos add
    and are converted at `delta` (Feldman and Zrnic 2021, Theorem 3.1), for mechanisms that state `zcdp_under(noise)`
    and for pure ones. Exact curves are no accountant here: for them adaptively chosen parameters are not proved.

    `release(mechanism, private, noise)` takes the bill from the mechanism itself, refuses it (BudgetExceeded, or
    ValueError for another unit or relation) or enters it, all under one lock and before noise; only then the mechanism
    runs, through a source that counts its draws. A release that fails stays billed. As a context manager it closes at
    the end of the block; a closed budget releases nothing. No state outside the object; one process.
    Arguments: `epsilon` > 0, `delta` in [0, 1) (above 0 for "zcdp"), `unit`, `relation` as in `Guarantee`.
    """

    def __init__(self, epsilon: float, delta: float, unit: str, relation: str, *, accountant: str = "basic") -> None:
        delta = checks.nonnegative("delta", delta)
        if delta:
            checks.open_probability("delta", delta)
        self._limit = Guarantee(checks.positive("epsilon", epsilon), delta, unit, relation)
        self.accountant = checks.one_of("accountant", accountant, ACCOUNTANTS)
        if accountant == "zcdp" and delta == 0:
            raise ValueError("delta must be above 0 for the accountant zcdp, got 0")
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._total = Guarantee(0.0, 0.0, unit, relation) if accountant == "basic" else ZCDP(0.0, unit, relation)
        self._closed = False

    def __enter__(self) -> Budget:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Budget({self._limit}; spent {self.spent})"

    @property
    def limit(self) -> Guarantee:
        """What may be spent."""
        return self._limit

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Every release that was let through, in the order of billing."""
        with self._lock:
            return tuple(self._entries)

    @property
    def spent(self) -> Guarantee:
        """Guarantee of everything billed so far, failed releases included, with assumptions and parts by name."""
        with self._lock:
            return self._stated(self._total)

    def share(self, parts: int) -> tuple[float, float]:
        """(epsilon, delta) of which `parts` releases fit into what is left; for the accountant basic."""
        if self.accountant != "basic":
            raise ValueError("share is for the accountant basic: under zcdp shares of epsilon do not add")
        parts, spent = checks.whole("parts", parts, at_least=1), self.spent
        left = [Fraction(getattr(self._limit, name)) - Fraction(getattr(spent, name)) for name in ("epsilon", "delta")]
        return tuple(max(0.0, float(rest / parts)) for rest in left)

    def close(self) -> None:
        """Refuse every later release."""
        with self._lock:
            self._closed = True

    def release(self, mechanism, private, noise: NoiseSource):
        """What `mechanism.release(private, noise)` returns, billed first. Raises BudgetExceeded, or what it raises."""
        checks.noise_source("noise", noise)
        bill = self._bill(mechanism, noise)
        counted = Counted(noise)
        with self._lock:
            if self._closed:
                raise BudgetExceeded("the budget is closed")
            total = self._total.compose(bill) if self._entries else bill
            stated = self._stated(total)
            if not (_fits(stated.epsilon, self._limit.epsilon) and _fits(stated.delta, self._limit.delta)):
                raise BudgetExceeded(
                    f"{type(mechanism).__name__} would bring the bill to ({stated.epsilon:g}, {stated.delta:g}), "
                    f"the budget is ({self._limit.epsilon:g}, {self._limit.delta:g}): refused, nothing was drawn"
                )
            self._total = total
            place = len(self._entries)
            self._entries.append(Entry(type(mechanism).__name__, bill, "billed"))
        state = "failed"
        try:
            released = mechanism.release(private, counted)
            state = "released"
        finally:
            with self._lock:
                draws = tuple(sorted(counted.draws.items()))
                self._entries[place] = replace(self._entries[place], state=state, draws=draws)
        return released

    def _bill(self, mechanism, noise: NoiseSource) -> Guarantee | ZCDP:
        if self.accountant == "basic":
            bill = mechanism.guarantee_under(noise)
        elif hasattr(mechanism, "zcdp_under"):
            bill = mechanism.zcdp_under(noise)
        else:
            bill = ZCDP.from_pure(mechanism.guarantee_under(noise))
        for name in ("unit", "relation"):
            mine, theirs = getattr(self._limit, name), getattr(bill, name)
            if mine != theirs:
                raise ValueError(f"the budget is for {name} {mine!r}, the mechanism for {theirs!r}")
        return bill

    def _stated(self, total: Guarantee | ZCDP) -> Guarantee:
        if isinstance(total, Guarantee):
            return total
        if total.rho == 0:
            return Guarantee(0.0, 0.0, total.unit, total.relation, total.assumptions, total.composed)
        return total.guarantee(self._limit.delta)


def _fits(total: float, limit: float) -> bool:
    return total <= limit * (1 + ROUNDING)


class Counted:
    """A noise source that counts the calls that draw, its children's included; all else is the source's own."""

    def __init__(self, source: NoiseSource, draws: Counter | None = None) -> None:
        self._source = source
        self.draws: Counter = Counter() if draws is None else draws

    def child(self, name: str) -> Counted:
        """The source's child, counted with its parent."""
        return Counted(self._source.child(name), self.draws)

    def __getattr__(self, name: str):
        value = getattr(self._source, name)
        if not callable(value) or name.endswith(("_scale", "_std", "_rho")) or name.startswith("bill_"):
            return value

        def draw(*args, **keywords):
            self.draws[name] += 1
            return value(*args, **keywords)

        return draw
