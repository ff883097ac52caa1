"""The rules by which a domain profile makes a dictionary, one test a sentence of DP-SPIN's Appendices E.4 and F.4."""

from __future__ import annotations

import dataclasses

import pytest

from privlib import corpora, plans
from privlib.plans.phrases import DomainProfile, canonical_forms, phrases, singular

DOMAINS = ("beauty", "restaurants")
SKIN = ("dry skin", "sensitive skin", "skin irritation")
HAIR = ("hair loss", "dry hair", "hair growth")
PRINTED = {  # labels that the paper shows as kept
    "beauty": (
        *SKIN,
        *HAIR,
        "pump dispenser",
        "strong smell",
        "absorbs quickly",
        "fast shipping",
        "waste money",
        "customer service",
    ),
    "restaurants": (
        "friendly staff",
        "delicious food",
        "long wait",
        "food quality",
        "outdoor seating",
        "reasonable prices",
        "portion size",
        "breakfast burrito",
        "coffee shop",
        "sushi bar",
        "food truck",
    ),
}


def universe(texts, profile):
    return plans.phrase_universe(texts, profile=profile, size=100, support_threshold=1)


def test_texts_are_lower_cased_and_cut_into_two_word_phrases():
    assert phrases("DRY Skin, dry") == ["dry skin"]
    labels = universe(["DRY Skin", "dry skin", "Dry SKIN!"], "beauty").labels
    assert labels == ("dry skin",)


def test_support_counts_texts_and_not_mentions():
    manifest = universe(["dry skin and dry skin, dry skin", "dry skin", "hair loss"], "beauty").manifest
    assert manifest["support"] == {"dry skin": 2, "hair loss": 1}
    # three mentions in one text do not outvote two texts when a word order is chosen
    assert universe(["skin dry, skin dry, skin dry", "dry skin", "dry skin"], "beauty").labels == ("dry skin",)


@pytest.mark.parametrize(
    ("profile", "phrase"),
    [
        ("beauty", "great product"),  # generic
        ("beauty", "highly recommend"),
        ("restaurants", "great place"),
        ("restaurants", "definitely recommend"),
        ("beauty", "love love"),
        ("beauty", "absolutely gorgeous"),  # sentiment only
        ("restaurants", "pleasant solid"),
        ("beauty", "fried chicken"),  # of another domain
        ("beauty", "pizza delivery"),
        ("restaurants", "hair loss"),
        ("restaurants", "nail polish"),
    ],
)
def test_generic_sentiment_and_foreign_phrases_are_dropped(profile, phrase):
    assert not DomainProfile.load(profile).keeps(phrase)


@pytest.mark.parametrize(("profile", "label"), [(name, label) for name in DOMAINS for label in PRINTED[name]])
def test_the_labels_that_the_paper_shows_are_kept_as_they_are(profile, label):
    rules = DomainProfile.load(profile)
    assert rules.keeps(label)
    assert canonical_forms({label: 3}, rules.variants) == {label: label}


@pytest.mark.parametrize(
    ("profile", "variant", "label"),
    [
        ("beauty", "easy apply", "easy application"),
        ("beauty", "quality hair", "hair quality"),
        ("beauty", "wasted money", "waste money"),
        ("restaurants", "staff friendly", "friendly staff"),
        ("restaurants", "food delicious", "delicious food"),
    ],
)
def test_variants_are_made_canonical(profile, variant, label):
    found = universe([variant, variant, label], profile)
    assert found.labels == (label,)
    assert found.manifest["support"] == {label: 3}
    assert variant in found.descriptions[0] or found.manifest["support"][label] == 3
    assert universe([variant], profile).labels == (label,)  # even where nobody wrote the canonical words


@pytest.mark.parametrize("profile", DOMAINS)
@pytest.mark.parametrize("concerns", [SKIN, HAIR])
def test_distinct_concerns_stay_distinct(profile, concerns):
    """Both groups in every domain whose filter lets them through; a merge of any two would lose a label."""
    rules = DomainProfile.load(profile)
    forms = canonical_forms(dict.fromkeys(concerns, 5), rules.variants)
    assert sorted(forms.values()) == sorted(concerns)
    if profile == "beauty":
        assert set(universe(list(concerns), profile).labels) == set(concerns)


@pytest.mark.parametrize("profile", [*DOMAINS, "health"])
def test_no_variant_leads_to_another_variant(profile):
    """One step makes a phrase canonical, so merging does not depend on the order of steps."""
    variants = DomainProfile.load(profile).variants
    assert {label: variants[label] for label in variants.values() if variants.get(label, label) != label} == {}
    assert all(len(label.split()) == 2 for label in variants.values())


def test_plurals_with_es_are_merged():
    assert [singular(word) for word in ("dishes", "washes", "boxes", "glasses", "peaches")] == [
        "dish",
        "wash",
        "box",
        "glass",
        "peach",
    ]
    assert [singular(word) for word in ("kids", "hair", "gloss", "is", "does")] == ["kid", "hair", "gloss", "is", "doe"]
    assert universe(["body washes", "body wash", "body wash"], "beauty").labels == ("body wash",)


def test_support_decides_what_is_kept_and_in_which_order():
    texts = ["dry skin"] * 3 + ["hair loss"] * 5 + ["strong smell"] * 2
    kept = plans.phrase_universe(texts, profile="beauty", size=10, support_threshold=3)
    assert kept.labels == ("hair loss", "dry skin")
    assert kept.manifest["support_threshold"] == 3
    assert (kept.manifest["size"], kept.manifest["shortfall"]) == (2, 8)
    assert plans.phrase_universe(texts, profile="beauty", size=1, support_threshold=3).manifest["shortfall"] == 0


@pytest.mark.parametrize("build", [plans.phrase_universe, plans.metadata_universe])
def test_labels_are_never_taken_from_a_corpus_that_says_it_is_private(build):
    public, _ = corpora.generate(n_users=30)
    private = dataclasses.replace(public, provenance=dataclasses.replace(public.provenance, public=False))
    settings = {} if build is plans.phrase_universe else {"fields": ("topic",)}
    assert len(build(public, **settings)) > 0
    with pytest.raises(ValueError, match="auxiliary must be public") as caught:
        build(private, **settings)
    assert not any(text in str(caught.value) for text in private)
