"""Additive shares: a proper part of them says nothing, all of them add up, and nothing else is accepted."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privlib.dp import Secure, Simulation
from privlib.synthesis.protocol.shares import Share, combine, split


class Coins:
    """A source whose uniform draws are dictated, so that a test can go through all of them."""

    def __init__(self, coins):
        self.coins = list(coins)

    def integers(self, high, size):
        count = int(np.prod(size))
        drawn, self.coins = self.coins[:count], self.coins[count:]
        assert len(drawn) == count
        assert all(0 <= coin < high for coin in drawn)
        return np.array(drawn, dtype=np.int64).reshape(size)


def laws_of_parts(splitter, modulus, parties):
    """For every proper part of the parties and every secret: how often each view occurs over all coins."""
    for held in range(1, parties):
        for part in itertools.combinations(range(parties), held):
            yield (
                [
                    Counter(
                        tuple(int(shares[index].values[0]) for index in part)
                        for coins in itertools.product(range(modulus), repeat=parties - 1)
                        for shares in [splitter(np.array([secret]), modulus, parties, Coins(coins))]
                    )
                    for secret in range(modulus)
                ],
                held,
            )


@pytest.mark.parametrize("modulus", [5, 7])
@pytest.mark.parametrize("parties", [2, 3])
def test_any_share_alone_says_nothing(modulus, parties):
    """Every coin of the sharing: any proper part of the shares is uniform, for every secret. Exact."""
    for laws, held in laws_of_parts(split, modulus, parties):
        for law in laws:
            assert len(law) == modulus**held
            assert set(law.values()) == {modulus ** (parties - 1 - held)}


def test_the_enumeration_sees_a_share_that_leaks():
    """Negative control: noise of one value too few, so one share is never equal to the secret."""

    def leaking(values, modulus, parties, coins):
        uniform = np.minimum(coins.integers(modulus, values.shape), modulus - 2)
        return Share(0, 2, modulus, uniform), Share(1, 2, modulus, (values - uniform) % modulus)

    laws = [law for laws, _ in laws_of_parts(leaking, 5, 2) for law in laws]
    assert any(len(law) < 5 for law in laws)


@given(
    st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5),
    st.integers(2, 5),
    st.sampled_from([2**42, 2**62, 2**61 - 1, 2**41 + 1]),
    st.integers(0, 1000),
)
def test_all_shares_add_up_to_the_secret_in_any_order(values, parties, modulus, seed):
    shares = split(np.array(values), modulus, parties, Simulation(seed))
    assert combine(shares[::-1]).tolist() == values


@pytest.mark.parametrize("modulus", [2, 5, 6, 7])
def test_every_residue_comes_back_as_its_representative_nearest_zero(modulus):
    values = np.arange(-3 * modulus, 3 * modulus)
    back = combine(split(values, modulus, 2, Simulation(1)))
    assert ((back - values) % modulus == 0).all()
    assert (2 * back >= -modulus).all()
    assert (2 * back < modulus).all()


def test_sums_of_shares_are_shares_of_the_sum():
    secrets = np.array([[3, -4, 2**40], [5, 1, -(2**41)], [-9, 0, 7]])
    first, second = zip(*(split(row, 2**62, 2, Secure()) for row in secrets), strict=True)
    total = [parts[0].plus(parts[1]).plus(parts[2]) for parts in (first, second)]
    assert combine(total).tolist() == secrets.sum(axis=0).tolist()


def test_a_sum_beyond_half_the_modulus_wraps_round():
    """What the protocol's modulus is chosen to avoid, and its guard band to detect."""
    shares = split(np.array([40]), 100, 2, Simulation(1)), split(np.array([20]), 100, 2, Simulation(2))
    assert combine([a.plus(b) for a, b in zip(*shares, strict=True)]).tolist() == [-40]


def refused(shares, word):
    with pytest.raises(ValueError, match=word):
        combine(shares)


def test_anything_but_one_share_of_each_party_is_refused():
    a, b, c = split(np.array([1, 2]), 7, 3, Simulation(3))
    refused([], "none")
    refused([a, b], "indices")
    refused([a, b, b], "indices")
    refused([a, b, c, c], "indices")
    refused([a, b, Share(2, 4, 7, c.values)], "parties")
    refused([a, b, Share(2, 3, 11, c.values)], "modulus")
    refused([a, b, Share(2, 3, 7, c.values[:1])], "length")


def test_shares_that_do_not_belong_together_do_not_add():
    a, b = split(np.array([1, 2]), 7, 2, Simulation(3))
    for other in (b, Share(0, 3, 7, a.values), Share(0, 2, 11, a.values), Share(0, 2, 7, a.values[:1])):
        with pytest.raises(ValueError, match="add up"):
            a.plus(other)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((2, 2, 7, [1]), ValueError),
        ((-1, 2, 7, [1]), ValueError),
        ((0, 1, 7, [1]), ValueError),
        ((0, 2, 1, [0]), ValueError),
        ((0, 2, 2**62 + 1, [0]), ValueError),
        ((0, 2, 7, [7]), ValueError),
        ((0, 2, 7, [-1]), ValueError),
        ((0, 2, 7, np.array([], dtype=np.int64)), ValueError),
        ((0, 2, 7, [[1]]), ValueError),
        ((0, 2, 7, [1.0]), TypeError),
        ((0.0, 2, 7, [1]), TypeError),
        ((0, True, 7, [1]), TypeError),
        ((0, 2, 7.0, [1]), TypeError),
    ],
)
def test_bad_shares_are_refused(arguments, error):
    index, parties, modulus, values = arguments
    with pytest.raises(error):
        Share(index, parties, modulus, np.asarray(values))


def test_a_refusal_of_private_values_shows_none_of_them():
    with pytest.raises(ValueError, match="shape") as caught:
        Share(0, 2, 7, np.array([123456]))
    assert "123456" not in str(caught.value)


@pytest.mark.parametrize(("modulus", "parties"), [(1, 2), (7, 1), (2**63, 2)])
def test_bad_sharings_are_refused(modulus, parties):
    with pytest.raises(ValueError, match="must be"):
        split(np.array([1]), modulus, parties, Simulation(1))
