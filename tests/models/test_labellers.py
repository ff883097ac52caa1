from __future__ import annotations

import types

import numpy as np
import pytest

from privlib import models

HEALTH = ["the doctor said sleep is good", "new study shows heart disease risk", "patient risk falls with more sleep"]
SHOP = ["late delivery and refund", "bad phone bill", "a long wait for a refund of the phone"]
TEXTS, LABELS = HEALTH + SHOP, ["health"] * 3 + ["shop"] * 3
UNSEEN = ["study of sleep and disease", "refund for late phone delivery", "patient and doctor"]
GOLD = ["health", "shop", "health"]


@pytest.fixture(params=["linear", "bayes", "neighbours"])
def family(request, cache):
    return models.labeller(request.param, neighbours=3)


def test_each_family_learns_public_labels(family):
    fitted = family.fit(TEXTS, LABELS)
    assert fitted.labels == ("health", "shop")
    assert fitted.predict(UNSEEN).tolist() == GOLD
    assert fitted.accuracy(UNSEEN, GOLD) == 1.0
    assert fitted.predict([]).shape == (0,)


def test_training_is_deterministic_and_leaves_the_family_as_it_was(family):
    one, two = family.fit(TEXTS, LABELS), family.fit(types.SimpleNamespace(texts=TEXTS), LABELS)
    np.testing.assert_array_equal(one.predict(UNSEEN), two.predict(UNSEEN))
    assert family == one.family


def test_confusion_counts_gold_in_rows_and_predictions_in_columns(cache):
    fitted = models.labeller("bayes").fit(TEXTS, LABELS)
    gold = ["health", "shop", "shop"]  # the third is labelled health
    np.testing.assert_array_equal(fitted.confusion(UNSEEN, gold), [[1, 0], [1, 1]])
    assert fitted.accuracy(UNSEEN, gold) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: models.labeller("forest"), "kind must be one of linear, bayes, neighbours; got 'forest'"),
        (lambda: models.labeller("neighbours", neighbours=0), "neighbours must be an integer of at least 1"),
        (lambda: models.labeller("linear", encoder=object()), "takes no encoder"),
        (lambda: models.labeller("bayes").fit(TEXTS, LABELS[1:]), r"labels must have shape \(6,\)"),
        (lambda: models.labeller("bayes").fit(HEALTH, LABELS[:3]), "two values or more"),
        (lambda: models.labeller("bayes").fit(TEXTS, LABELS).accuracy([], []), "gold must have one label a text"),
        (lambda: models.labeller("bayes").fit(TEXTS, LABELS).confusion(["tea"], ["other"]), "labels trained on"),
    ],
)
def test_what_cannot_be_learned_or_judged_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
