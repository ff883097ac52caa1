"""Low-rank adapters with a gradient of each text of its own, on a tiny model with random weights (the code path)."""

from __future__ import annotations

import dataclasses
import types

import numpy as np
import pytest

from privlib.baselines import DPFineTuning
from privlib.dp import Simulation
from privlib.models import LoraLearner, language_model
from privlib.models.local import _load

TEXTS = ["the patient said tea", "a long wait for the late delivery", "coffee", ""]


@pytest.fixture(scope="module")
def learner(tiny_lm):
    return LoraLearner(language_model(tiny_lm), opening="the doctor said", rank=2, layers=2, learning_rate=0.05)


@pytest.fixture(scope="module")
def moved(learner):
    """A session whose adapters are no longer at their start, where half of all gradients are zero."""
    session = learner(3)
    session.step(np.random.default_rng(1).standard_normal(session.size))
    return session


def loss(session, text):
    """Mean negative log-likelihood of one text, by the model's own loss and without hooks."""
    import torch

    ids = torch.tensor([session._tokens(text)])
    session._hooked.disable_hooks()
    found = session._model(input_ids=ids, labels=ids).loss
    session._hooked.enable_hooks()
    return found


def _moved_by(session, start, change):
    import torch

    place = 0
    with torch.no_grad():
        for p, origin in zip(session._trained, start, strict=True):
            p.copy_(origin + torch.from_numpy(change[place : place + p.numel()].reshape(p.shape)))
            place += p.numel()


def test_each_text_has_the_gradient_it_has_alone(moved):
    """The slow twin: the slope of one text's loss along random directions, by differences, without any hook."""
    together = moved.gradients(TEXTS)
    assert together.shape == (4, moved.size)
    coins = np.random.default_rng(5)
    for _ in range(4):
        direction = coins.standard_normal(moved.size)
        start = [p.detach().clone() for p in moved._trained]
        ends = []
        for sign in (1e-3, -1e-3):
            _moved_by(moved, start, sign * direction)
            ends.append([loss(moved, text).item() for text in TEXTS])
        _moved_by(moved, start, 0 * direction)
        slopes = (np.array(ends[0]) - np.array(ends[1])) / 2e-3
        np.testing.assert_allclose(together @ direction, slopes, rtol=0.02, atol=0.01)
        assert np.abs(slopes).max() > 0.1


def test_a_gradient_does_not_change_with_the_texts_beside_it(moved):
    together = moved.gradients(TEXTS)
    for place, text in enumerate(TEXTS):
        np.testing.assert_allclose(moved.gradients([text])[0], together[place], atol=1e-5)
    np.testing.assert_allclose(moved.gradients(TEXTS[::-1])[::-1], together, atol=1e-5)


def test_steps_lower_the_loss_and_leave_the_shared_model_alone(learner):
    model = learner.model
    before = model.score(TEXTS[:3])
    session = learner(3)
    weights = {name: p.clone() for name, p in _load(model.folder)[1].named_parameters()}
    first = loss(session, TEXTS[0]).item()
    for _ in range(40):
        session.step(session.gradients(TEXTS[:1]).sum(axis=0))
    assert loss(session, TEXTS[0]).item() < 0.7 * first
    np.testing.assert_array_equal(model.score(TEXTS[:3]), before)
    assert all((weights[name] == p).all() for name, p in _load(model.folder)[1].named_parameters())
    assert session.size < sum(p.numel() for p in weights.values()) / 5


def test_samples_follow_the_seed_and_the_training(learner):
    session = learner(3)
    assert session.sample(5, 1) == session.sample(5, 1) != session.sample(5, 2)
    before = session.sample(30, 1)
    for _ in range(60):
        session.step(session.gradients(["coffee coffee coffee"]).sum(axis=0))
    after = session.sample(30, 1)
    assert sum(text.count("coffee") for text in after) > 2 * sum(text.count("coffee") for text in before) + 10


def test_public_texts_are_learnt_before_the_session_is_handed_over(learner):
    text = "the patient said tea"
    warm = dataclasses.replace(learner, public_texts=(text,) * 12, batch=4)
    plain = learner(3)
    for _ in range(3):
        plain.step(plain.gradients([text] * 4).mean(axis=0))
    read = loss(warm(3), text).item()
    assert read < 0.9 * loss(learner(3), text).item()
    assert read == pytest.approx(loss(plain, text).item(), rel=1e-5)


def test_the_whole_baseline_runs_on_it(learner):
    tuning = DPFineTuning(
        learner=learner, epsilon=4.0, delta=1e-5, rate=0.5, epochs=2, expected_records=4, samples=6, public_seed=1
    )
    out = tuning.release(TEXTS, Simulation(2))
    assert len(out.ledger) == 4
    assert len(out.texts) + out.dropped == 6
    assert out.ledger[0].candidates == learner(1).size
    assert tuning.release(TEXTS, Simulation(2)).texts == out.texts


def test_public_texts_of_a_learner_are_an_assumption_of_the_guarantee(learner):
    """No release: the bill is stated beforehand."""
    settings = dict(epsilon=4.0, delta=1e-5, rate=0.5, epochs=2, expected_records=4, samples=6)
    warm = dataclasses.replace(learner, public_texts=("the patient said tea",))
    said = DPFineTuning(learner=warm, **settings).guarantee
    assert "the learner's public texts are public" in said.assumptions
    assert "public" in str(said)
    assert not any("public" in each for each in DPFineTuning(learner=learner, **settings).guarantee.assumptions)


def test_arguments_are_checked(learner, moved):
    for name in ("rank", "layers", "max_tokens", "learning_rate", "temperature", "batch"):
        with pytest.raises(ValueError, match=name):
            LoraLearner(learner.model, **{name: 0})
    with pytest.raises(ValueError, match="opening"):
        LoraLearner(learner.model, opening=" ")
    with pytest.raises(ValueError, match="learning_rate"):
        LoraLearner(learner.model, learning_rate=float("inf"))
    with pytest.raises(TypeError, match="texts"):
        LoraLearner(learner.model, public_texts="the patient")
    private = types.SimpleNamespace(texts=("tea",), provenance=types.SimpleNamespace(public=False))
    with pytest.raises(ValueError, match="public_texts must be public"):
        LoraLearner(learner.model, public_texts=private)
    with pytest.raises(ValueError, match="gradient"):
        moved.step(np.zeros(3))
