"""Corpora of the chapter ready for a study: public halves, units chosen by hash, no size that changes in silence."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from privlib import corpora, dp, plans
from privlib.experiments.studies import plans as base
from privlib.experiments.studies import plans_corpora as study


@pytest.fixture(scope="module")
def case():
    return study.prepare("generated", "packaged", universe_size=40)


def test_a_case_is_two_halves_with_atoms_of_one_and_rows_of_the_other(case):
    assert set(case.auxiliary.record_ids) | set(case.target.record_ids) == set(case.corpus.record_ids)
    assert not set(case.auxiliary.unit_ids) & set(case.target.unit_ids)
    assert case.universe.fingerprint == study.atoms(case.auxiliary, "generated", 40).fingerprint
    assert case.vectors.shape == (len(case.target), len(case.universe))


def test_dictionary_and_representation_do_not_look_at_the_target(case):
    """Other target texts, same auxiliary half: same labels and the same vectors of any text."""
    other = study.atoms(case.auxiliary, "generated", 40)
    text = ["the friendly staff of the clinic", "nothing at all"]
    assert (plans.assign(text, other) != plans.assign(text, case.universe)).nnz == 0
    assert len(study.atoms(case.target, "generated", 40)) > 0  # the control: the target half would give another list
    assert study.atoms(case.target, "generated", 40).fingerprint != case.universe.fingerprint


def test_selection_is_by_hash_of_the_seed_alone(case):
    first, again, other = (case.select(300, seed, "user") for seed in (1, 1, 2))
    assert first.corpus.record_ids == again.corpus.record_ids
    assert first.corpus.record_ids != other.corpus.record_ids
    for row, record in enumerate(first.corpus.record_ids[:20]):
        place = case.target.record_ids.index(record)
        assert np.array_equal(first.vectors[[row]].toarray(), case.vectors[[place]].toarray())


def test_users_are_kept_whole_and_their_number_of_records_varies(case):
    runs = [case.select(300, seed, "user").corpus for seed in range(1, 9)]
    whole = {user: case.target.unit_ids.count(user) for user in set(runs[0].unit_ids)}
    assert {user: runs[0].unit_ids.count(user) for user in whole} == whole
    assert len({len(run) for run in runs}) > 1


def test_strict_sampling_keeps_exactly_what_was_asked_for_or_stops(case):
    assert len(set(case.select(120, 1, "user", strict_sample_size=True).corpus.unit_ids)) == 120
    assert len(case.select(75, 1, "record", strict_sample_size=True).corpus) == 75
    users = case.units("user")
    with pytest.raises(corpora.TooFewUnits, match=f"n={users + 1} asked for, {users} there"):
        case.select(users + 1, 1, "user", strict_sample_size=True)
    assert case.select(users + 1, 1, "user").corpus.record_ids == case.target.record_ids  # not strict: all there are


def test_a_strict_run_is_billed_as_replacement(case):
    """One more unit pushes another out, so the noise follows the replace row: sqrt 2 times the deviation's input."""
    assert study.relation_of(False) == "add_drop"
    settings = [base.mechanism("gaussian", case.universe, 1.0, 1e-6, 5, study.relation_of(s)) for s in (False, True)]
    assert settings[1].relation == "replace"
    assert settings[1].sensitivity.l2 == pytest.approx(math.sqrt(2) * settings[0].sensitivity.l2)


def test_exactly_n_units_under_the_noise_of_an_independent_sample_would_cost_half_as_much_again(case):
    """Adding a record to exactly n pushes one out: with the noise of epsilon 1, l2 sqrt 2 costs 1.4547 and not 1."""
    target, n, seed = case.target, 75, 3
    before = set(case.select(n, seed, "record", strict_sample_size=True).corpus.record_ids)
    everyone = list(target.record_ids)
    without = target.where([record != min(before) for record in everyone])
    after = set(study.selected(without, n, seed, "record", strict_sample_size=True).record_ids)
    assert len(before - after) == len(after - before) == 1  # one record fewer, and another came in
    loose = set(study.selected(target, n, seed, "record").record_ids)
    gone = min(loose)
    kept = target.where([record != gone for record in everyone])
    there = len(everyone)
    assert set(kept.sample(n, seed, public_size=there, unit="record").record_ids) == loose - {gone}  # none came in

    wrong, right = (
        base.mechanism("gaussian", case.universe, 1.0, 1e-6, 5, study.relation_of(s)) for s in (False, True)
    )
    noise = dp.Simulation(1)
    deviation, needed = (setting.noise_law(noise).scale for setting in (wrong, right))
    assert dp.gaussian_epsilon(1e-6, deviation, wrong.sensitivity.l2) == pytest.approx(1.0, abs=1e-6)
    assert dp.gaussian_epsilon(1e-6, deviation, right.sensitivity.l2) == pytest.approx(1.4547, abs=5e-5)
    assert dp.gaussian_epsilon(1e-6, needed, right.sensitivity.l2) == pytest.approx(1.0, abs=1e-6)


def test_no_release_knows_of_strict_sampling():
    for kind in (plans.GaussianPlan, plans.LaplacePlan, plans.PrivateTopLPlan, plans.sketch, plans.user_sketch):
        assert "strict_sample_size" not in inspect.signature(kind).parameters
    assert "strict_sample_size" in inspect.signature(study.selected).parameters


def test_about_as_many_texts_as_asked_for_by_whole_users():
    some = study.load("generated", "packaged", texts=600)
    everything = study.load("generated", "packaged")
    assert 300 < len(some) < 900
    for user in list(set(some.unit_ids))[:20]:
        assert some.unit_ids.count(user) == everything.unit_ids.count(user)


def test_a_smaller_dictionary_is_the_best_supported_part(case):
    small = study.first(case.universe, 7)
    assert small.labels == case.universe.labels[:7]
    assert small.representation is case.universe.representation
    assert study.first(case.universe, 10**6).labels == case.universe.labels


def test_unknown_corpora_are_refused():
    with pytest.raises(ValueError, match="corpus must be among"):
        study.load("letters", "packaged")


def test_every_recipe_names_a_profile_that_exists():
    from privlib.plans.phrases import DomainProfile

    for name, recipe in study.RECIPES.items():
        if recipe.atoms != "metadata":
            assert DomainProfile.load(recipe.atoms).name == recipe.atoms, name


def test_spread_and_extent_of_known_numbers():
    row = study.spread("x", [1.0, 2.0, 3.0])
    assert row == {"x": 2.0, "x_sd": 1.0, "x_low": pytest.approx(1.1), "x_high": pytest.approx(2.9)}
    assert study.extent("n", [4, 6]) == {"n_mean": 5, "n_sd": pytest.approx(math.sqrt(2)), "n_min": 4, "n_max": 6}
