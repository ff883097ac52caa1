"""What DP-SPIN says of its own boundary: what is private, what post-processing may touch, where that ends.

Claims P002, P024, P041, P043, P055, P059, P060, P064, P065, P071, P075, P076, P077; statistical tests
state their false-alarm rate.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from privlib import plans
from privlib.dp import GaussianMechanism, Simulation
from privlib.plans.assign import GRID, keep_largest
from privlib.plans.plan import DEFAULT_BIN_EDGES, bin_of
from privlib.plans.sensitivity import sensitivity
from privlib.plans.sketch import user_sketch

LABELS = ("long wait", "rude staff", "cold food", "parking fee")
UNIVERSE = plans.AtomUniverse(LABELS, manifest={"auxiliary_records": 50})
RECORD = {"unit": "record", "relation": "add_drop"}
GAUSSIAN = plans.GaussianPlan(UNIVERSE, epsilon=1.0, delta=1e-6, plan_size=3, public_denominator=50.0, **RECORD)
ADMISSION = plans.PrivateTopLPlan(UNIVERSE, epsilon=2.0, delta=1e-6, plan_size=3, public_denominator=50.0, **RECORD)


class Replayed(Simulation):
    """A noise source whose noisy masses are fixed, whatever the private ones were."""

    def __init__(self, noisy):
        super().__init__(1)
        self.noisy = np.array(noisy, dtype=float)

    def add_gaussian(self, values, std):
        return self.noisy


class Counting(Simulation):
    """Remembers how many scores each draw of an index looked at."""

    def __init__(self):
        super().__init__(1)
        self.seen = []

    def argmax_gumbel(self, scores, scale):
        self.seen.append(len(scores))
        return super().argmax_gumbel(scores, scale)


def sketch_of(*masses: float) -> plans.Sketch:
    return plans.Sketch(np.array(masses), "record", 1.0, UNIVERSE.fingerprint)


def replayed(*noisy: float, private=(1.0, 2.0, 3.0, 4.0)) -> plans.SemanticPlan:
    return GAUSSIAN.release(sketch_of(*private), Replayed(noisy))


noisy_masses = st.lists(st.floats(-50, 500, allow_nan=False), min_size=4, max_size=4)


@given(noisy_masses)
def test_the_plan_of_a_full_sketch_is_a_function_of_the_noisy_vector(noisy):
    """P055: atoms, ranks, supports and bins follow from the noisy masses; the bill is the vector's own."""
    plan = replayed(*noisy)
    assert plan == replayed(*noisy, private=(400.0, 0.0, 9.0, 0.0))
    order = sorted(range(4), key=lambda j: (-noisy[j], j))[:3]
    assert [(a.label, a.mass) for a in plan.atoms] == [(LABELS[j], noisy[j]) for j in order]
    vector = GaussianMechanism(1.0, 1e-6, 1.0, 4, **RECORD).guarantee
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (vector.epsilon, vector.delta)


@given(noisy_masses)
def test_support_and_bin_follow_from_mass_and_public_denominator(noisy):
    """P064: support is max(0, mass) / d and may exceed one; the bin is a function of it."""
    for atom in replayed(*noisy).atoms:
        assert atom.support == max(0.0, atom.mass) / 50.0
        assert atom.bin == bin_of(atom.support, DEFAULT_BIN_EDGES)
    assert replayed(75.0, 0.0, 0.0, 0.0).atoms[0].support == 1.5


def test_labels_taken_from_the_protected_records_are_not_covered():
    """P060: with atoms read off the protected records, one record more makes a plan of probability 0 one of 1."""

    def universe(issues):
        texts = [f"text about {issue}" for issue in issues]
        return plans.metadata_universe(_Tagged(texts, issues), fields=("issue",), size=10)

    without, with_it = universe(["fees", "wait", "fees"]), universe(["fees", "wait", "fees", "one rare secret"])
    settings = {"epsilon": 0.1, "delta": 1e-6, "public_denominator": 50.0, **RECORD}
    for seed in range(20):
        shown = [
            {
                a.label
                for a in plans.GaussianPlan(u, plan_size=len(u), **settings)
                .release(plans.Sketch(np.ones(len(u)), "record", 1.0, u.fingerprint), Simulation(seed))
                .atoms
            }
            for u in (without, with_it)
        ]
        assert "one rare secret" not in shown[0]
        assert "one rare secret" in shown[1]


class _Tagged(list):
    """Texts with one attribute: what `metadata_universe` reads."""

    unit_ids = None

    def __init__(self, texts, issues):
        super().__init__(texts)
        self.attributes = {"issue": issues}


def test_an_atom_outside_the_public_list_is_never_admitted():
    """P024: a theme that all protected texts share appears in no plan unless it was a public coordinate before."""
    texts = ["the lift was broken"] * 30
    auxiliary = ["long wait", "rude staff", "cold food", "parking fee"]
    plain = plans.AtomUniverse(LABELS, manifest={"auxiliary_records": 50}, representation=plans.Tfidf.fit(auxiliary))
    probed = plans.AtomUniverse(
        (*LABELS, "broken lift"),
        manifest={"auxiliary_records": 50},
        representation=plans.Tfidf.fit([*auxiliary, "broken lift"]),
    )
    assert plans.sketch(texts, plain).masses.tolist() == [0, 0, 0, 0]
    assert plans.sketch(texts, probed).masses.argmax() == 4


def test_the_worked_assignments_of_appendices_D4_and_F6():
    """P041: three atoms that add up to one stay what they are, to the grid."""
    for scores in ([0.58, 0.27, 0.15], [0.45, 0.35, 0.20]):
        row = keep_largest(np.array([[*scores, 0.0]]), 3)[0]
        assert row == pytest.approx([*scores, 0.0], abs=GRID)
        assert 1 - 3 * GRID <= row.sum() <= 1.0


def test_the_admission_budget_is_split_evenly():
    """P043: every round draws at 2 Delta / eps_t with eps_t = eps_sel / L."""
    scales = []

    class Scales(Simulation):
        def argmax_gumbel(self, scores, scale):
            scales.append(scale)
            return super().argmax_gumbel(scores, scale)

    ADMISSION.draw(np.array([4.0, 3.0, 2.0, 1.0]), Scales(1))
    assert scales == pytest.approx([2 / (2.0 * 0.5 / 3)] * 3, rel=1e-12)


def test_admission_scans_the_universe_in_every_round():
    """P075: L rounds look at m scores each, L m in all; a full sketch looks at m."""
    noise = Counting()
    ADMISSION.draw(np.array([4.0, 3.0, 2.0, 1.0]), noise)
    assert noise.seen == [4, 4, 4]


def test_admission_has_values_for_admitted_atoms_only():
    """P076: no full-vector error exists; errors come from raw noisy masses, negative ones included."""
    masses = np.array([4.0, 3.0, 2.0, 1.0])
    chosen, values = ADMISSION.draw(masses, Simulation(3))
    assert len(chosen) == len(values) == 3
    assert plans.value_errors(masses, chosen, values)["linf"] == np.abs(values - masses[chosen]).max()
    with pytest.raises(ValueError, match="one an index"):
        plans.value_errors(masses, np.arange(4), values)
    plan = replayed(5.0, -7.0, -9.0, -8.0)
    assert [a.mass for a in plan.atoms] == [5.0, -7.0, -8.0]
    assert [a.support for a in plan.atoms] == [0.1, 0.0, 0.0]


def test_template_texts_differ_exactly_when_their_plans_do():
    """P077, for plans that differ by more than the template's rounding."""
    one, same, other = (replayed(*noisy) for noisy in ([40, 30, 20, 1], [40, 30, 20, 1], [40, 30, 1, 20]))
    decode = plans.template()
    assert decode(one, ()) == decode(same, ())
    assert decode(one, ()) != decode(other, ())


@pytest.mark.parametrize(
    ("supported", "twin", "kind"),
    [
        ("Long wait is a theme.", "Parking fee is a theme.", "atom"),
        ("Long wait has a mass of 40.", "Long wait has a mass of 55.", "number"),
        ("Long wait: high.", "Long wait: trace.", "bin"),
        ("Long wait is more common than cold food.", "Cold food is more common than long wait.", "comparison"),
        ("The most common theme is long wait.", "The most common theme is cold food.", "rank"),
        ("The values are noisy and epsilon is 1.", "The values are exact and epsilon is 0.1.", "number"),
    ],
)
def test_the_kinds_of_supported_claims_and_their_unsupported_twins(supported, twin, kind):
    """P065: label, released value (mass, bin), comparison beyond the margin, rank, public setting."""
    plan = replayed(40.0, 30.0, 3.0, 1.0)
    assert plans.verify(supported, plan, UNIVERSE).violations == ()
    assert kind in {violation.kind for violation in plans.verify(twin, plan, UNIVERSE).violations}


one_row = st.lists(st.floats(0, 1, allow_nan=False), min_size=4, max_size=4)


@given(st.lists(one_row, max_size=5), st.lists(one_row, max_size=5), st.sets(st.integers(0, 3), min_size=1))
def test_restriction_to_admitted_atoms_raises_no_sensitivity(old, new, admitted):
    """P059: on any admitted set the values move by at most B (add/drop), sqrt(2) B (replace) in l2."""
    keep, bound = sorted(admitted), 1.5

    def masses(rows):
        vectors = sparse.csr_array(keep_largest(np.array(rows, dtype=float).reshape(-1, 4), 3))
        return user_sketch(vectors, ["u"] * len(rows), bound).masses[keep]

    add_drop, replace = np.linalg.norm(masses(new)), np.linalg.norm(masses(new) - masses(old))
    assert add_drop <= sensitivity("user", "add_drop", bound).l2
    assert replace <= sensitivity("user", "replace", bound).l2


def test_admitted_values_pay_the_restricted_l2_sensitivity():
    """P059, the bill: noise for replace is sqrt(2) times that for add/drop, and neither depends on L."""
    scale = {
        (relation, size): plans.PrivateTopLPlan(
            UNIVERSE, epsilon=1.0, delta=1e-6, plan_size=size, unit="record", relation=relation
        )
        .noise_law(Simulation(1))
        .scale
        for relation in ("add_drop", "replace")
        for size in (1, 3)
    }
    assert scale["add_drop", 1] == scale["add_drop", 3]
    assert scale["replace", 3] / scale["add_drop", 3] == pytest.approx(math.sqrt(2), rel=1e-9)


def test_loss_and_recovery_hold_for_released_full_sketches():
    """P071: with tau = std sqrt(2 ln(2m/beta)), Loss > 2 L tau, or a missed set at a gap > 2 tau, in at most a share
    beta of draws. False alarm below 1e-6 (Hoeffding, 3,000 draws); at tau / 20 the test fails, so it has power."""
    m, size, beta, draws = 12, 3, 0.05, 3000
    universe = plans.AtomUniverse(tuple(f"theme {k}" for k in range(m)), manifest={"auxiliary_records": 50})
    mechanism = plans.GaussianPlan(universe, epsilon=1.0, delta=1e-6, plan_size=size, **RECORD)
    noise = Simulation(29)
    tau = mechanism.noise_law(noise).scale * math.sqrt(2 * math.log(2 * m / beta))
    masses = np.concatenate([np.full(size, 10 + 2.01 * tau), np.full(m - size, 10.0)])
    masses[:size] += np.arange(size)[::-1]

    def failures(bound, scale):
        failed = 0
        for _ in range(draws):
            indices, values = mechanism.draw(scale * masses, noise)
            admitted = indices[plans.top(values, size)]
            gap = scale * (masses[size - 1] - masses[size])
            lost = plans.loss(scale * masses, admitted) > 2 * size * bound
            failed += lost or (gap > 2 * bound and plans.overlap(scale * masses, admitted) < 1)
        return failed / draws

    slack = math.sqrt(math.log(1e6) / (2 * draws))
    assert failures(tau, 1.0) <= beta + slack
    assert failures(tau / 20, 1 / 15) > beta + slack
