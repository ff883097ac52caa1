"""Atoms from metadata and from phrases: public, ordered, merged by rule, never by target."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from privlib import plans
from privlib.plans.phrases import DomainProfile, canonical_forms, phrases, scaled_threshold
from privlib.plans.universe import default_denominator


class Texts(list):
    """A corpus as plans sees one: a sequence of texts with attributes and unit ids."""

    def __init__(self, texts, attributes=None, unit_ids=None):
        super().__init__(texts)
        self.attributes, self.unit_ids = attributes or {}, unit_ids


COMPLAINTS = Texts(
    ["the debt is not mine", "late fee charged", "debt again not mine", "card was lost", "no idea"],
    {
        "product": ("Debt", "Card", "Debt", "Card", ""),
        "issue": ("Not owed", "Fees", "Not owed", "Lost", ""),
        "sub_issue": ("Not yours", "", "Not yours", "", ""),
    },
)


def test_metadata_labels_are_ordered_by_support_and_leave_missing_parts_out():
    universe = plans.metadata_universe(COMPLAINTS, size=10)
    assert universe.labels == ("Debt / Not owed / Not yours", "Card / Fees", "Card / Lost")
    assert universe.manifest["size"] == 3  # realized, not requested
    assert universe.manifest["requested"] == 10
    assert universe.manifest["support"]["Debt / Not owed / Not yours"] == 2
    assert json.loads(json.dumps(universe.manifest)) == universe.manifest


def test_metadata_refuses_fields_that_are_not_there():
    with pytest.raises(ValueError, match="fields must name attributes"):
        plans.metadata_universe(COMPLAINTS, fields=("colour",))


REVIEWS = [
    "flu shots and flu shot days",
    "flu shot works",
    "breast cancer study",
    "cancer breast news",
    "dry skin again",
    "dry skin now",
    "sensitive skin",
    "sensitive skin here",
    "new study finds",
    "study finds more",
]


def test_phrases_merge_variants_but_keep_concerns_apart():
    universe = plans.phrase_universe(REVIEWS, profile="health", size=10, support_threshold=2)
    assert set(universe.labels) == {"flu vaccine", "breast cancer", "dry skin", "sensitive skin"}
    assert universe.manifest["support"]["flu vaccine"] == 2
    assert universe.manifest["support"]["breast cancer"] == 2  # both word orders
    assert universe.manifest["profile"] == "health"
    assert list(universe.labels) == sorted(universe.labels, key=lambda a: (-universe.manifest["support"][a], a))


def test_the_builder_is_deterministic_and_blind_to_order():
    first = plans.phrase_universe(REVIEWS, profile="health", support_threshold=2)
    second = plans.phrase_universe(REVIEWS[::-1], profile="health", support_threshold=2)
    assert first.fingerprint == second.fingerprint
    assert first.manifest == second.manifest


def test_phrases_do_not_cross_marks_links_or_handles():
    assert phrases("Heart, attack! see https://t.co/x flu shot @who cares") == ["flu shot"]


def test_canonical_forms_follow_the_profiles_list_first():
    forms = canonical_forms({"staff friendly": 9, "friendly staff": 2}, {"staff friendly": "friendly staff"})
    assert forms == {"staff friendly": "friendly staff", "friendly staff": "friendly staff"}
    merged = canonical_forms({"heart attacks": 3, "heart attack": 3, "attack heart": 1}, {})
    assert set(merged.values()) == {"heart attack"}


@pytest.mark.parametrize(("records", "threshold"), [(100, 3), (3000, 3), (10_000, 10), (25_000, 25), (10**6, 25)])
def test_support_threshold_scales_with_the_auxiliary_split(records, threshold):
    assert scaled_threshold(records) == threshold


def test_profiles_are_data_files_and_unknown_names_are_refused():
    assert DomainProfile.load("health").keeps("heart attack")
    assert not DomainProfile.load("health").keeps("study finds")
    assert DomainProfile.load("generic").keeps("friendly staff")
    with pytest.raises(ValueError, match=r"profile must be one of .*'generic', 'health'"):
        DomainProfile.load("astrology")


def test_no_phrase_left_is_an_error_about_public_text():
    with pytest.raises(ValueError, match="no phrase of profile"):
        plans.phrase_universe(["a b"], profile="health")


@pytest.mark.parametrize("labels", [(), ("",), ("a", "A"), ("heart attack", "Heart-attack"), ("two\nlines",), ("...",)])
def test_labels_that_cannot_be_told_apart_are_refused(labels):
    with pytest.raises(ValueError, match="labels must"):
        plans.AtomUniverse(labels)


def test_the_default_denominator_is_public_or_missing():
    universe = plans.AtomUniverse(("a",), manifest={"auxiliary_records": 40, "auxiliary_users": 10})
    assert default_denominator(universe, "record", 1.0) == 40
    assert default_denominator(universe, "user", 2.0) == 20
    with pytest.raises(ValueError, match="public_denominator must be given"):
        default_denominator(plans.AtomUniverse(("a",)), "record", 1.0)


def test_importing_plans_does_not_load_scikit_learn():
    import subprocess
    import sys

    code = "import privlib.plans, sys; sys.exit('sklearn' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_encoder_may_stand_in_for_tfidf():
    vectors = {"cat": [1.0, 0.0], "dog": [0.0, 2.0], "both": [1.0, 1.0], "none": [0.0, 0.0]}
    encoder = SimpleNamespace(embed=lambda texts: [vectors[text] for text in texts])
    universe = plans.AtomUniverse(("cat", "dog"), representation=plans.Embedding(encoder))
    assert plans.assign(["both", "none", "dog"], universe, 2).toarray().tolist() == [[0.5, 0.5], [0, 0], [0, 1]]


def test_no_text_is_embedded_beside_another():
    """A batch moves a vector in its last bits by what lies beside it, and the sketch with it."""
    seen = []

    def batched(texts):
        seen.append(len(texts))
        return [[1.0, len(texts)] for _ in texts]

    def offers(texts, alone=False):
        return [[1.0, 1.0 if alone else len(texts)] for _ in texts]

    for embed in (batched, offers):
        few, many = (plans.Embedding(SimpleNamespace(embed=embed)).transform(["x"] * n) for n in (1, 3))
        assert (many == few[0]).all()
    assert set(seen) == {1}
