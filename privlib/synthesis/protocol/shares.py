"""Additive secret sharing of integer vectors: each share alone is uniform, all of them add up to the secret.

All parties are needed. There is no threshold scheme: two servers that do not collude need none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privlib.dp import NoiseSource, checks

LARGEST_MODULUS = 1 << 62
"""The sum of two residues still fits a 64-bit integer."""


@dataclass(frozen=True, eq=False)
class Share:
    """What one party holds: `values` int64[m], m >= 1, residues in [0, modulus), for party `index` of `parties`.

    Any parties - 1 shares of one secret are independent and uniform whatever the secret.
    Raises TypeError or ValueError: `parties` >= 2, `index` in [0, parties), `modulus` in [2, 2^62], and for `values`
    by type and shape only.
    """

    index: int
    parties: int
    modulus: int
    values: np.ndarray

    def __post_init__(self) -> None:
        _checked(self.modulus, self.parties)
        index = checks.whole("index", self.index, at_least=0)
        if index >= self.parties:
            raise ValueError(f"index must be below parties = {self.parties}, got {index}")
        values = checks.private_integers("values", self.values, (None,))
        if not len(values):
            raise ValueError("values must hold at least one integer, got shape (0,)")
        if (values < 0).any() or (values >= self.modulus).any():
            raise ValueError(f"values must be residues in [0, modulus) (array of shape {values.shape})")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def plus(self, other: Share) -> Share:
        """The same party's share of the sum of both secrets. Raises ValueError when the two do not belong together."""
        for name in ("index", "parties", "modulus"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"shares of one {name} add up, got {mine} and {theirs}")
        if self.values.shape != other.values.shape:
            raise ValueError(f"shares of one length add up, got {self.values.shape} and {other.values.shape}")
        return Share(self.index, self.parties, self.modulus, (self.values + other.values) % self.modulus)


def split(values, modulus: int, parties: int, noise: NoiseSource) -> tuple[Share, ...]:
    """Shares of private integers `values` int[m], taken modulo `modulus`: parties - 1 uniform ones, and what is left.

    Arguments, public: `modulus` in [2, 2^62], `parties` >= 2; `noise` gives the uniform residues, so only `Secure`
    hides anything. Raises TypeError or ValueError, for `values` by type and shape only.
    Source: Cramer, Damgard and Nielsen 2015, Section 1.3.
    """
    _checked(modulus, parties)
    left = checks.private_integers("values", values, (None,)) % modulus
    shares = []
    for index in range(parties - 1):
        uniform = noise.integers(modulus, left.shape)
        left = (left - uniform) % modulus
        shares.append(Share(index, parties, modulus, uniform))
    return (*shares, Share(parties - 1, parties, modulus, left))


def combine(shares: Sequence[Share]) -> np.ndarray:
    """The secret, int64[m] in [-modulus/2, modulus/2): of the residue's representatives the one nearest zero.

    `shares`: one of each party, in any order. Raises ValueError when one is missing, doubled, or of another modulus,
    number of parties or length: a sum of fewer shares is a uniform vector that says nothing.
    """
    if not shares:
        raise ValueError("shares must hold one share of each party, got none")
    first = shares[0]
    for name in ("parties", "modulus"):
        found = {getattr(share, name) for share in shares}
        if len(found) > 1:
            raise ValueError(f"shares must agree on {name}, got {sorted(found)}")
    if sorted(share.index for share in shares) != list(range(first.parties)):
        raise ValueError(
            f"shares must be one of each of {first.parties} parties, got indices {[share.index for share in shares]}"
        )
    if len({share.values.shape for share in shares}) > 1:
        raise ValueError(f"shares must have one length, got {[len(share.values) for share in shares]}")
    total = np.zeros_like(first.values)
    for share in shares:
        total = (total + share.values) % first.modulus
    return np.where(total >= (first.modulus + 1) // 2, total - first.modulus, total)


def _checked(modulus: int, parties: int) -> None:
    checks.whole("parties", parties, at_least=2)
    if checks.whole("modulus", modulus, at_least=2) > LARGEST_MODULUS:
        raise ValueError(f"modulus must be at most 2^62, got {modulus}")
