"""The secure source: one grid whatever the input, OpenDP's own bill, exact coins word by word."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from privlib.dp import Secure, Simulation, gaussian_noise_std, secure


@pytest.fixture
def words(monkeypatch):
    """Feeds chosen 64-bit words to the coins; the list must be used up exactly."""
    queue: list[int] = []

    def take(count: int) -> np.ndarray:
        taken = [queue.pop(0) for _ in range(count)]
        return np.array(taken, dtype=np.uint64)

    monkeypatch.setattr(secure, "_words", take)
    return queue


def test_a_coin_compares_exactly(words):
    third = 1 / 3
    digits = Fraction(third) * 2**64
    assert digits.denominator == 1  # a float in [1/4, 1/2) has 54 binary digits, so one word decides all but a tie
    words += [int(digits) - 1, int(digits), int(digits) + 1, 0, 2**64 - 1]
    assert Secure().bernoulli(third, 5).tolist() == [True, False, False, True, False]
    assert words == []


def test_a_coin_draws_more_bits_on_a_tie(words):
    tiny = 2.0**-70  # first word all zero, then the second below 2^58
    words += [0, 1, 0, 0]  # entries 0, 2 and 3 tie
    words += [2**58 - 1, 2**58, 2**58 + 1]
    assert Secure().bernoulli(tiny, 4).tolist() == [True, False, False, False]
    assert words == []


def test_integers_redraw_past_the_last_multiple(words):
    # 2^64 = 1 mod 3: the single word 2^64 - 1 is one too many
    words += [2**64 - 1, 2**64 - 2, 5, 2**64 - 1, 4]
    assert Secure().integers(3, 3).tolist() == [1, 2, 2]
    assert words == []
    words += [2**64 - 1, 2**63]  # a power of two divides 2^64: nothing is redrawn
    assert Secure().integers(1 << 63, 2).tolist() == [2**63 - 1, 0]
    with pytest.raises(ValueError, match="high"):
        Secure().integers((1 << 63) + 1)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("exponent", [-40, -10, 3])
def test_outputs_lie_on_one_grid_whatever_the_input(law, exponent):
    inputs = np.array([0.0, 1.0, 1 / 3, 1e-9, np.pi, 12345.678, -1e7 / 3, 2.0**-60, 5e-324])
    for scale in (1.0, 1000 / 7):
        noisy = getattr(Secure(exponent), f"add_{law}")(inputs, scale)
        assert all((Fraction(value) / Fraction(2) ** exponent).denominator == 1 for value in noisy.tolist())


def test_neighbours_share_their_residues():
    """Low-order bits of the noisy answer must not tell 0 from 1 or 1/3: all answers leave the same residues."""
    noisy = {answer: Secure(-20).add_laplace(np.full(3000, answer), 1.0) for answer in (0.0, 1.0, 1 / 3)}
    residues = {answer: {math.fmod(value * 2.0**20, 1) for value in values} for answer, values in noisy.items()}
    assert set.union(*residues.values()) == {0.0}


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_bills_by_opendp_never_exceed_the_budget_and_are_tight(size):
    source = Secure()
    scale = source.laplace_scale(1.0, 2.0, size)
    assert source.bill_laplace(scale, 2.0, size) <= 1.0 < source.bill_laplace(scale * (1 - 1e-8), 2.0, size)
    std = source.gaussian_std(1.0, 1e-6, 2.0, size)
    assert source.bill_gaussian(1e-6, std, 2.0, size) <= 1.0 < source.bill_gaussian(1e-6, std * (1 - 1e-8), 2.0, size)
    assert 2.0 < scale < 2.0 * (1 + 1e-6)
    assert gaussian_noise_std(1.0, 1e-6, 2.0) < std < 1.2 * gaussian_noise_std(1.0, 1e-6, 2.0)


def test_granularity_is_in_the_bill():
    """On a grid of 1/4, rounding moves each of 16 coordinates: l1 grows by 16/4, l2 by sqrt(16)/4."""
    coarse = Secure(-2)
    assert coarse.laplace_scale(1.0, 1.0, 16) == pytest.approx(1 + 16 / 4, rel=1e-6)
    fine = Secure(-60).gaussian_std(1.0, 1e-6, 1.0, 16)
    assert coarse.gaussian_std(1.0, 1e-6, 1.0, 16) == pytest.approx(fine * (1 + 4 / 4), rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e-3, 0.25, 8.0, 50.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-2])
def test_the_secure_deviation_is_never_below_the_exact_one(epsilon, delta):
    std = Secure().gaussian_std(epsilon, delta, 1.0, 3)
    assert std >= gaussian_noise_std(epsilon, delta, 1.0)
    assert Secure().bill_gaussian(delta, std, 1.0, 3) <= epsilon


def test_draws_are_not_replayed():
    source = Secure()
    draws = {tuple(part.integers(1 << 62, 2).tolist()) for part in (source, source.child("a"), source.child("a"))}
    assert len(draws) == 3


def test_coins_for_a_large_file_take_a_moment():
    start = time.process_time()
    Secure().bernoulli(0.3, 1_000_000)
    Secure().permutation(100_000)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("exponent", [-1001, 101])
def test_absurd_grids_are_refused(exponent):
    with pytest.raises(ValueError, match="granularity_exponent"):
        Secure(exponent)


def test_refuses_no_noise_and_values_that_are_not_finite():
    for add in (Secure().add_laplace, Secure().add_gaussian):
        with pytest.raises(ValueError, match="must be a finite number above 0"):
            add([1.0], 0.0)
        with pytest.raises(ValueError, match=r"values must be finite \(array of shape \(2,\)\)"):
            add([np.nan, 987654.25], 1.0)


def test_the_two_sources_offer_the_same_methods():
    def public(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(Simulation(1)) - public(Secure()) == {"generator"}
    assert public(Secure()) - public(Simulation(1)) == {"granularity_exponent", "bill_laplace", "bill_gaussian"}
    assert Simulation(1).assumptions == ("idealized numerics", "secret seed (simulation)")
    assert "2^-40" in Secure().assumptions[0]
