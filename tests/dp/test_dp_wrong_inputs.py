"""Wrong arguments of releases and sources: noise that is none, and private data that is no number."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from privlib.dp import (
    ZCDP,
    Budget,
    DiscreteGaussianMechanism,
    ExponentialRounds,
    GaussianMechanism,
    Guarantee,
    LaplaceMechanism,
    NoiseSource,
    RandomizedResponse,
    SampleAndThreshold,
    Secure,
    Simulation,
    checks,
)
from privlib.dp.budget import Counted

WHO = dict(unit="record", relation="add_drop")
LAPLACE = LaplaceMechanism(1.0, 1.0, 2, **WHO)
MECHANISMS = {
    "laplace": LAPLACE,
    "gaussian": GaussianMechanism(1.0, 1e-6, 1.0, 2, **WHO),
    "discrete gaussian": DiscreteGaussianMechanism(1.0, 1e-6, 1.0, 2, **WHO),
    "rounds": ExponentialRounds(1, 1.0, 1.0, monotone=False, **WHO),
    "response": RandomizedResponse(1.0, 2, 2, unit="record", relation="replace"),
    "threshold": SampleAndThreshold(1.0, 0.1, 20, **WHO),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(
    ("noise", "got"),
    [
        (7, "int"),
        (None, "NoneType"),
        (Simulation, "the class Simulation"),
        (LAPLACE.guarantee, "Guarantee"),  # states assumptions, as a source does
        (Simulation(1).generator, "Generator"),
        (SimpleNamespace(kind="simulation", assumptions=(), child=Simulation(1).child), "SimpleNamespace"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_noise_that_is_no_source_is_refused_by_name(name, noise, got):
    with pytest.raises(
        TypeError, match=rf"^noise must be a source, dp.Simulation\(seed\) or dp.Secure\(\), got {got}$"
    ):
        MECHANISMS[name].release(np.array([0, 1]), noise)


def test_what_is_asked_of_a_source_is_what_the_protocol_says():
    said = {*NoiseSource.__annotations__, *(name for name in vars(NoiseSource) if not name.startswith("_"))}
    assert sorted(checks.SOURCE) == sorted(said)
    for source in (Simulation(1), Secure(), Counted(Secure())):
        checks.noise_source("noise", source)


def test_a_budget_refuses_such_noise_before_it_bills():
    budget = Budget(2.0, 0.0, **WHO)
    with pytest.raises(TypeError, match=r"^noise must be a source"):
        budget.release(LAPLACE, np.zeros(2), 7)
    assert budget.ledger == ()


@pytest.mark.parametrize("kind", [Guarantee, ZCDP])
@pytest.mark.parametrize("field", ["assumptions", "composed"])
def test_assumptions_that_can_be_read_once_only_are_refused(kind, field):
    """The check used a generator up, and the guarantee then stated no assumption."""
    numbers = (1.0, 1e-6) if kind is Guarantee else (1.0,)
    assert getattr(kind(*numbers, **WHO, **{field: ["secret seed"]}), field) == ("secret seed",)
    with pytest.raises(TypeError, match=rf"^{field} must be a tuple of texts, got <generator"):
        kind(*numbers, **WHO, **{field: (name for name in ["secret seed"])})


@pytest.mark.parametrize("name", MECHANISMS)
def test_private_rows_of_different_lengths_are_refused_by_name(name):
    with pytest.raises(ValueError, match=r"^private must be an array, got rows of different lengths$"):
        MECHANISMS[name].release([[1], [1, 2]], Simulation(1))


@pytest.mark.parametrize("name", MECHANISMS)
def test_private_texts_are_refused_without_the_length_of_the_longest(name):
    """numpy names an array of texts by its longest entry, a private fact."""
    with pytest.raises(TypeError, match=r"^private must be an array of .*, got texts$"):
        MECHANISMS[name].release(["abc", "x" * 57], Simulation(1))


@pytest.mark.parametrize("noise", [Simulation(1), Secure()], ids=["simulation", "secure"])
@pytest.mark.parametrize("draw", ["add_laplace", "add_gaussian"])
def test_a_source_shows_no_value_that_is_no_number(noise, draw):
    with pytest.raises(TypeError, match=r"^values must be real numbers, got texts \(shape \(2,\)\)$"):
        getattr(noise, draw)(["secret", "x" * 57], 1.0)


def test_scores_that_are_texts_are_refused_without_the_length_of_the_longest():
    with pytest.raises(ValueError, match=r"got texts, shape \(2,\)$"):
        Simulation(1).argmax_gumbel(["abc", "x" * 57], 1.0)
