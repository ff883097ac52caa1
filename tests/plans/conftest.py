"""A released plan of three themes, of which two are nearer than the margin, for tests of the verifier's rules."""

from __future__ import annotations

import pytest

from privlib import plans
from privlib.dp import Guarantee
from privlib.plans.plan import Atom, Noise


@pytest.fixture
def universe() -> tuple[str, ...]:
    return ("long wait", "rude staff", "cold food", "dirty room", "billing error")


@pytest.fixture
def three_themes() -> plans.SemanticPlan:
    atoms = (
        Atom(1, "long wait", "", 482.3, 0.24115, "high"),
        Atom(2, "rude staff", "", 120.6, 0.0603, "moderate"),
        Atom(3, "cold food", "", 115.0, 0.0575, "moderate"),
    )
    guarantee, noise = Guarantee(1.0, 1e-6, "record", "add_drop"), Noise("gaussian", 3.9)
    return plans.SemanticPlan("gaussian", guarantee, 2000.0, 5, 3, 9.1, atoms, noise=noise)
